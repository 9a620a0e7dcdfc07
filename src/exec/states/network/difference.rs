//! How configuration that is there differs from that which is wanted.

use halite_lang::diff;
use halite_value::Value;

/// What is to change.
#[derive(Debug, PartialEq, Eq)]
pub enum Difference {
    None,
    /// There is nothing yet.
    Added,
    /// Something else is there: a unified diff.
    Changed(String),
}

impl Difference {
    /// Both are lists of lines, as functions of `ip` show them, or nothing.
    pub fn of(old: &Value, new: &Value) -> Difference {
        match (old.truthy(), new.truthy()) {
            (false, true) => Difference::Added,
            (false, false) => Difference::None,
            _ if old == new => Difference::None,
            _ => Difference::Changed(difference(&lines(old), &lines(new))),
        }
    }
}

fn lines(shown: &Value) -> Vec<String> {
    match shown {
        Value::List(lines) => lines.iter().map(Value::to_text).collect(),
        text => text.as_str().unwrap_or_default().lines().map(str::to_owned).collect(),
    }
}

/// Lines that have ends keep them, as Salt shows them: an empty line is behind each.
fn difference(old: &[String], new: &[String]) -> String {
    let text =
        |lines: &[String]| lines.iter().map(|line| format!("{}\n", line.trim_end_matches('\n'))).collect::<String>();
    let has_end = |line: &str| old.iter().chain(new).any(|known| known.strip_suffix('\n') == Some(line));
    let diff = diff::unified(&text(old), &text(new));
    let shown = diff.lines().enumerate().map(|(at, line)| {
        let is_head = at < 2 || line.starts_with("@@");
        let content = line.get(1..).unwrap_or_default();
        if !is_head && has_end(content) { format!("{line}\n") } else { line.to_owned() }
    });
    shown.collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_shown_with_the_ends_that_lines_have() {
        let list = |lines: &[&str]| Value::list(lines.iter().copied());
        assert_eq!(Difference::of(&list(&[]), &list(&["a"])), Difference::Added);
        assert_eq!(Difference::of(&"".into(), &list(&["a"])), Difference::Added);
        assert_eq!(Difference::of(&list(&["a"]), &list(&["a"])), Difference::None);
        assert_eq!(Difference::of(&list(&[]), &"".into()), Difference::None);
        let without = "--- \n+++ \n@@ -1,2 +1,2 @@\n a\n-b\n+c";
        assert_eq!(Difference::of(&list(&["a", "b"]), &list(&["a", "c"])), Difference::Changed(without.to_owned()));
        let with = "--- \n+++ \n@@ -1,2 +1,2 @@\n a\n\n-b\n\n+c\n";
        assert_eq!(
            Difference::of(&list(&["a\n", "b\n"]), &list(&["a\n", "c\n"])),
            Difference::Changed(with.to_owned())
        );
    }
}
