//! Files that are left out: `file_ignore_regex` and `file_ignore_glob`.

use halite_core::Fault;
use halite_lang::regex::Regex;
use halite_lang::target::fnmatch::Pattern;
use halite_value::{Map, Value};

/// Which files are left out.
#[derive(Debug, Default)]
pub struct Ignore {
    expressions: Vec<Regex>,
    globs: Vec<Pattern>,
}

impl Ignore {
    /// The rules of the configuration; an expression that cannot be read is an error, since what it was to hide would
    /// be served.
    pub fn new(opts: &Map) -> Result<Ignore, Fault> {
        let expression = |text: String| {
            Regex::new(&text).map_err(|error| Fault::execution(format!("file_ignore_regex: '{text}': {error}")))
        };
        Ok(Ignore {
            expressions: texts(opts, "file_ignore_regex").map(expression).collect::<Result<_, _>>()?,
            globs: texts(opts, "file_ignore_glob").map(|glob| Pattern::new(&glob)).collect(),
        })
    }

    /// Whether a path is left out. An expression that gives up on a path leaves it out.
    pub fn covers(&self, path: &str) -> bool {
        self.expressions.iter().any(|expression| expression.search(path).map_or(true, |found| found.is_some()))
            || self.globs.iter().any(|glob| glob.matches(path))
    }
}

/// The texts of an option: a list of them, or one.
fn texts(opts: &Map, name: &str) -> impl Iterator<Item = String> {
    let texts = match opts.at(name) {
        Some(Value::List(items)) => items.iter().map(Value::to_text).collect(),
        Some(Value::Str(text)) if !text.is_empty() => vec![text.to_string()],
        _ => Vec::new(),
    };
    texts.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_search_and_globs_match_whole() {
        let opts = Map::from_iter([
            ("file_ignore_regex", Value::list([r"/\.git($|/)"])),
            ("file_ignore_glob", Value::list(["*.swp", "tmp/?"])),
        ]);
        let ignore = Ignore::new(&opts).unwrap();
        for path in ["x/.git", "x/.git/config", "a.swp", "d/a.swp", "tmp/a"] {
            assert!(ignore.covers(path), "{path}");
        }
        for path in ["x/.gitignore", "a.swp.txt", "tmp/ab", ".hidden"] {
            assert!(!ignore.covers(path), "{path}");
        }
        let broken = Map::from_iter([("file_ignore_regex", Value::list(["("]))]);
        assert!(Ignore::new(&broken).unwrap_err().to_string().starts_with("file_ignore_regex: '('"));
    }
}
