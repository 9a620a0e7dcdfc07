//! How a file differs from what it should be, as results show it.

use crate::exec::Ctx;
use crate::exec::diff::unified;
use crate::wire::value::Value;

/// Whether a difference is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    #[default]
    Yes,
    No,
}

impl Shown {
    pub fn when(shows: bool) -> Shown {
        if shows { Shown::Yes } else { Shown::No }
    }
}

/// Who can say whether differences may be shown at all.
pub trait Discretion {
    fn hides(&self) -> bool;
}

impl Discretion for Ctx<'_> {
    fn hides(&self) -> bool {
        self.opt("obfuscate_templates").is_some_and(Value::truthy)
    }
}

/// Nobody hides anything.
impl Discretion for () {
    fn hides(&self) -> bool {
        false
    }
}

/// The difference between two contents; empty where they are the same.
pub fn between(old: &[u8], new: &[u8], shown: Shown, discretion: &dyn Discretion) -> String {
    if old == new {
        return String::new();
    }
    if discretion.hides() {
        return "<Obfuscated Template>".to_owned();
    }
    if shown == Shown::No {
        return "<show_changes=False>".to_owned();
    }
    let is_binary = |bytes: &[u8]| bytes.contains(&0) || std::str::from_utf8(bytes).is_err();
    match (is_binary(old), is_binary(new)) {
        (true, true) => "Replace binary file".to_owned(),
        (true, false) => "Replace binary file with text file".to_owned(),
        (false, true) => "Replace text file with binary file".to_owned(),
        (false, false) => unified(&String::from_utf8_lossy(old), &String::from_utf8_lossy(new)),
    }
}

/// What does not matter when contents are compared: then who requires a change of the file is not run.
#[derive(Clone, Debug, Default)]
pub struct Likeness {
    pub any_order: bool,
    pub any_blanks: bool,
    /// What begins a comment, up to the end of its line.
    pub comments: Vec<String>,
}

impl Likeness {
    /// All matters.
    pub fn is_strict(&self) -> bool {
        !self.any_order && !self.any_blanks && self.comments.is_empty()
    }

    /// Whether two contents differ in what matters.
    pub fn differ(&self, old: &[u8], new: &[u8]) -> bool {
        let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
        let shown = unified(&old, &new);
        let changed = |sign: char| {
            let mut lines: Vec<&str> = shown
                .lines()
                .filter(|line| !line.starts_with("+++") && !line.starts_with("---"))
                .filter_map(|line| line.strip_prefix(sign))
                .map(|line| self.core(line))
                .filter(|line| !line.is_empty())
                .collect();
            lines.sort_unstable();
            lines
        };
        changed('+') != changed('-')
    }

    fn core<'l>(&self, line: &'l str) -> &'l str {
        let end = self.comments.iter().filter_map(|begin| line.find(begin.as_str())).min().unwrap_or(line.len());
        let line = &line[..end];
        if self.any_blanks { line.trim() } else { line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_not_a_difference() {
        let any = Likeness { any_order: true, any_blanks: true, comments: vec!["#".to_owned()] };
        assert!(!any.differ(b"a\nb # one\n", b"  b\na # two\n"));
        assert!(any.differ(b"a\nb\n", b"a\nc\n"));
        let strict = Likeness::default();
        assert!(strict.is_strict() && strict.differ(b"a\n", b" a\n"));
    }

    #[test]
    fn binary_content_is_not_shown() {
        assert_eq!(between(b"\0", b"x", Shown::Yes, &()), "Replace binary file with text file");
        assert_eq!(between(b"a\n", b"b\n", Shown::No, &()), "<show_changes=False>");
        assert_eq!(between(b"a\n", b"b\n", Shown::Yes, &()), "--- \n+++ \n@@ -1 +1 @@\n-a\n+b\n");
    }
}
