//! Where faults stand: the files and lines that belong to what an error says.
//!
//! Errors name SLS and IDs, in Salt's words. Files are found by the one and lines by the other when something is wrong,
//! and only then: an SLS file is a template, so the data that it becomes knows no lines.

use super::Compiler;
use halite_core::host::own;
use halite_lang::regex::Regex;
use std::path::Path;

/// How errors name SLS, with or without their environment.
const SLS: &str = r"SLS (?:\[([^\]]+)\]|'([^']+)'|([\w.:/-]+))|in '([\w-]+:[\w./-]+)'";
/// How they name IDs.
const ID: &str = r"ID (?:is )?'([^']+)'|ID (\S+) in|state '([^']+)'|state \[([^\]]+)\]|'ID': '([^']+)'|State '([^']+)'";

impl Compiler<'_> {
    /// Tells the log where the faults stand that errors speak of, and gives the errors back.
    pub fn located(&self, errors: Vec<String>) -> Vec<String> {
        for error in &errors {
            let places = self.places(error);
            if !places.is_empty() {
                log::error!("{error}\n    see {}", places.join(", "));
            }
        }
        errors
    }

    /// `FILE, line N` for what an error names, in its order.
    pub fn places(&self, error: &str) -> Vec<String> {
        let ids = captured(ID, error);
        let mut places: Vec<String> = Vec::new();
        for sls in captured(SLS, error) {
            let (saltenv, name) = match sls.split_once(':') {
                Some((saltenv, name)) => (saltenv.to_owned(), name.to_owned()),
                None => (self.saltenv().unwrap_or("base").to_owned(), sls.clone()),
            };
            let Ok(Some(found)) = self.tree.find(&name, &saltenv) else { continue };
            let text = own::read_text(Path::new(&found.path)).unwrap_or_default();
            let lines: Vec<usize> = ids.iter().filter_map(|id| line_of(&text, id)).collect();
            let place = match lines.as_slice() {
                [] => found.path,
                [one] => format!("{}, line {one}", found.path),
                several => {
                    let lines: Vec<String> = several.iter().map(usize::to_string).collect();
                    format!("{}, lines {}", found.path, lines.join(", "))
                }
            };
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }
}

fn captured(pattern: &str, text: &str) -> Vec<String> {
    let Ok(regex) = Regex::new(pattern) else {
        return Vec::new();
    };
    let mut all: Vec<String> = Vec::new();
    let mut offset = 0;
    while let Ok(Some(found)) = regex.search_from(text, offset) {
        for group in (1..=regex.group_count()).filter_map(|group| found.group(group)) {
            if !all.iter().any(|known| known == group) {
                all.push(group.to_owned());
            }
        }
        offset = found.range().end.max(offset + 1);
    }
    all
}

/// The line, counted from 1, on which an ID is declared; nothing for one that a template makes.
fn line_of(text: &str, id: &str) -> Option<usize> {
    let declares = |line: &str| {
        let line = line.trim_end();
        let bare = ["'", "\""].iter().find_map(|quote| line.strip_prefix(quote)?.strip_prefix(id)?.strip_prefix(quote));
        bare.or_else(|| line.strip_prefix(id)).is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    text.lines().position(declares).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_sls_are_found_in_the_words_of_errors() {
        for (error, sls, ids) in [
            ("ID 'a' in SLS 'x.y' is not formed as a string", vec!["x.y"], vec!["a"]),
            (
                "The conflicting ID is 'a' and is found in SLS 'base:b' and SLS 'dev:c'",
                vec!["base:b", "dev:c"],
                vec!["a"],
            ),
            ("Referenced state ... requisite [require: (test: x)] in state [a] in SLS [b]", vec!["b"], vec!["a"]),
            ("State 'a b' in SLS 'c' is not formed as a list", vec!["c"], vec!["a b"]),
            ("Cannot extend ID 'a' in 'base:b.c'. It is not part", vec!["base:b.c"], vec!["a"]),
        ] {
            assert_eq!((captured(SLS, error), captured(ID, error)), (owned(&sls), owned(&ids)), "{error}");
        }
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| text.to_string()).collect()
    }

    #[test]
    fn an_id_is_found_where_it_is_declared() {
        let text = "# a: x\ninclude: [b]\na: test.nop\n'b c':\n  test.nop: []\n\"d\" : test.nop\n{{ x }}: test.nop\n";
        for (id, line) in [("a", Some(3)), ("b c", Some(4)), ("d", Some(6)), ("x", None), ("test.nop", None)] {
            assert_eq!(line_of(text, id), line, "{id}");
        }
    }
}
