//! Templates that this thread has read lately: many SLS files import the same map and the same macros, and a master renders
//! the same pillar for each minion.

use super::ast::Tree;
use super::error::Res;
use super::options::Options;
use super::{lexer, parser};
use std::cell::RefCell;
use std::rc::Rc;

/// How many are kept, the latest.
const KEPT: usize = 64;

/// Longer texts are seldom read twice, and are not kept.
const LONGEST: usize = 256 << 10;

thread_local! {
    /// The latest last.
    static KNOWN: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
}

struct Known {
    text: String,
    options: Options,
    tree: Rc<Tree>,
}

/// What a text means.
pub fn tree(text: &str, options: &Options) -> Res<Rc<Tree>> {
    let is_it = |known: &Known| known.text == text && known.options == *options;
    let known = KNOWN.with_borrow_mut(|all| {
        let at = all.iter().rposition(is_it)?;
        let found = all.remove(at);
        let tree = found.tree.clone();
        all.push(found);
        Some(tree)
    });
    if let Some(tree) = known {
        return Ok(tree);
    }
    let tree = Rc::new(parser::parse(&lexer::normalize(text, options), options)?);
    if text.len() <= LONGEST {
        let known = Known { text: text.to_owned(), options: options.clone(), tree: tree.clone() };
        let oldest = KNOWN.with_borrow_mut(|all| {
            all.push(known);
            (all.len() > KEPT).then(|| all.remove(0))
        });
        drop(oldest);
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_once_for_each_way_to_write() {
        let (plain, trimmed) = (Options::default(), Options { trim_blocks: true, ..Options::default() });
        let first = tree("{% if a %}\n{% endif %}", &plain).unwrap();
        assert!(Rc::ptr_eq(&first, &tree("{% if a %}\n{% endif %}", &plain).unwrap()));
        assert!(!Rc::ptr_eq(&first, &tree("{% if a %}\n{% endif %}", &trimmed).unwrap()));
        assert!(tree("{% if", &plain).is_err() && tree("{% if", &plain).is_err());
        for number in 0..=KEPT {
            tree(&format!("{number}"), &plain).unwrap();
        }
        assert!(!Rc::ptr_eq(&first, &tree("{% if a %}\n{% endif %}", &plain).unwrap()), "the oldest went");
        assert!(KNOWN.with_borrow(|all| all.len() <= KEPT));
    }
}
