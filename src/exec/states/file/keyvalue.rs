//! `file.keyvalue`.

use super::{own_name, single};
use halite_core::state::{Outcome, Plan, PlanContext, State, failed};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Makes sure that keys of a file have their values: `key=value`, one a line.
    ///
    ///   /etc/ssh/sshd_config:
    ///     file.keyvalue:
    ///       - key_values:
    ///           permitrootlogin: 'without-password'
    ///       - separator: ' '
    ///       - uncomment: '# '
    ///       - key_ignore_case: True
    ///       - append_if_not_found: True
    pub struct Keyvalue {
        /// The path.
        name: String,
        /// A key.
        key: Value = (),
        /// Its value.
        value: Value = (),
        /// Several keys with their values.
        key_values: Value = (),
        /// What stands between key and value.
        separator: String = "=",
        /// Put keys that are not there at the end.
        append_if_not_found: bool = false,
        /// Put them at the beginning.
        prepend_if_not_found: bool = false,
        /// Taken, not used.
        search_only: bool = false,
        /// Whether the difference is shown.
        show_changes: bool = true,
        /// A file that is not there is no failure.
        ignore_if_missing: bool = false,
        /// How many lines of a key may stand; -1: any number.
        count: i64 = 1,
        /// Signs at the beginning of a line that are taken away, so that it counts.
        uncomment: Option<String> = (),
        /// Whether keys are the same that differ in case alone.
        key_ignore_case: bool = false,
        /// The same for values.
        value_ignore_case: bool = false,
        /// Make the file where it is missing.
        create_if_missing: bool = false,
        /// Remove lines of other keys.
        prune: bool = false,
    }
}

impl State for Keyvalue {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = own_name(context.ctx, &self.name);
        if name.is_empty() {
            return Ok(failed("Must provide name to file.keyvalue"));
        }
        let pairs = match (&self.key, &self.value, &self.key_values) {
            (key, value, Value::Map(_)) if !key.is_null() && !value.is_null() => {
                return Ok(failed("file.keyvalue can not combine key_values with key and value"));
            }
            (key, value, _) if !key.is_null() && !value.is_null() => Map::from_iter([(key.to_text(), value.clone())]),
            (_, _, Value::Map(pairs)) if !pairs.is_empty() => pairs.clone(),
            (_, _, other) => {
                let why = if other.truthy() { "is not a dictionary" } else { "is empty" };
                return Ok(failed(format!("file.keyvalue key and value not supplied and key_values {why}")));
            }
        };
        let (text, appends) = match context.ctx.host.read(Path::new(&name)) {
            Ok(bytes) => (String::from_utf8_lossy(&bytes).into_owned(), self.append_if_not_found),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && self.create_if_missing => {
                (String::new(), true)
            }
            Err(_) => {
                return Ok(Plan::Stands(Outcome::new(Some(self.ignore_if_missing), format!("unable to open {name}"))));
            }
        };
        let edited = self.edit(&text, &pairs, appends);
        if edited.changed == 0 && edited.deleted == 0 {
            return Ok(Plan::Stands(Outcome::done("")));
        }
        let (changed, deleted, shows) = (edited.changed, edited.deleted, self.show_changes);
        let difference = edited.difference.concat();
        let mut would = Outcome::new(
            None,
            format!("File {name} is set to be changed ({changed} lines modified, {deleted} deleted)"),
        );
        let mut done = Outcome::done(format!("Changed {changed}, deleted {deleted} lines"));
        if shows {
            would.comment.push_str("\nPredicted diff:\n\r\t\t");
            would.comment.push_str(&edited.difference.join("\r\t\t"));
            would.changes = single("diff", difference.as_str());
            done.changes = single("diff", difference);
        }
        let apply = move |ctx: &Ctx| {
            let real = halite_core::paths::real(ctx.host, &name);
            match ctx.host.write(Path::new(&real), edited.text.as_bytes(), Default::default()) {
                Ok(()) => Ok(done),
                Err(_) => Ok(Outcome::failed(format!("{name} not writable"))),
            }
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

/// The file as it is to be.
struct Edited {
    text: String,
    difference: Vec<String>,
    changed: usize,
    deleted: usize,
}

impl Keyvalue {
    fn edit(&self, text: &str, pairs: &Map, appends: bool) -> Edited {
        let mut left: Vec<i64> = vec![self.count; pairs.len()];
        let mut edited = Edited { text: String::new(), difference: Vec::new(), changed: 0, deleted: 0 };
        let mut unmatched = Vec::new();
        for line in text.split_inclusive('\n') {
            let bare = self.uncommented(line);
            if self.prune && !pairs.keys().any(|key| self.folded(bare).starts_with(&self.folded(&key.to_text()))) {
                unmatched.push(line);
                continue;
            }
            let new = self.edited_line(line, bare, pairs, &mut left, &mut edited);
            edited.text.push_str(&new);
        }
        let line = |key: &Value, value: &Value| format!("{}{}{}\n", key.to_text(), self.separator, value.to_text());
        let missing: Vec<String> =
            pairs.iter().zip(&left).filter(|(_, left)| **left > 0).map(|((key, value), _)| line(key, value)).collect();
        if !missing.is_empty() && appends {
            edited.changed += missing.len();
            edited.difference.push("- <EOF>\n".to_owned());
            edited.difference.extend(missing.iter().map(|line| format!("+ {line}")));
            edited.difference.push("+ <EOF>\n".to_owned());
            // A last line without an end is one all the same.
            if !edited.text.is_empty() && !edited.text.ends_with('\n') {
                edited.text.push('\n');
            }
            edited.text.push_str(&missing.concat());
        } else if !missing.is_empty() && self.prepend_if_not_found {
            edited.changed += missing.len();
            let shown = missing.iter().rev().map(|line| format!("+ {line}"));
            let shown: Vec<String> = std::iter::once("  <SOF>\n".to_owned()).chain(shown).collect();
            edited.difference.splice(0..0, shown);
            edited.text = missing.iter().rev().map(String::as_str).chain([edited.text.as_str()]).collect();
        }
        edited.deleted = unmatched.len();
        for line in unmatched {
            let at = edited.difference.len().min(1);
            edited.difference.insert(at, format!("- {line}"));
        }
        edited
    }

    /// A line with the value that its key should have, blanks as they were; empty: it goes.
    fn edited_line(&self, line: &str, bare: &str, pairs: &Map, left: &mut [i64], edited: &mut Edited) -> String {
        let was_comment = self.is_comment(line);
        let indent = if was_comment { "" } else { &line[..line.len() - line.trim_start().len()] };
        let mut line = line.to_owned();
        let Some((own_key, own_value)) = bare.split_once(self.separator.as_str()) else { return line };
        for ((key, value), left) in pairs.iter().zip(left) {
            if self.folded(own_key.trim()) != self.folded(key.to_text().trim()) {
                continue;
            }
            let (have, want) = (own_value.trim().to_owned(), value.to_text().trim().to_owned());
            let matches = match self.value_ignore_case {
                true => have.to_lowercase() == want.to_lowercase(),
                false => have == want,
            };
            // A comment counts only where its key is still wanted; another one of it is left alone.
            let changes = match was_comment {
                true => *left > 0,
                false => *left == 0 || !matches,
            };
            if changes {
                edited.difference.push(format!("- {line}"));
                line.clear();
                if *left != 0 {
                    let gap = match own_value.trim() {
                        "" => "",
                        _ => &own_value[..own_value.len() - own_value.trim_start().len()],
                    };
                    line = format!("{indent}{own_key}{}{gap}{}\n", self.separator, value.to_text());
                    edited.difference.push(match value {
                        Value::Str(_) => format!("+ {line}"),
                        _ => format!("+ {} (from {} type)\n", line.trim_end(), value.type_name()),
                    });
                }
                edited.changed += 1;
            }
            if *left > 0 {
                *left -= 1;
            }
        }
        line
    }

    /// Whether a line begins with one of the signs that make it a comment, blanks aside.
    fn is_comment(&self, line: &str) -> bool {
        let signs = self.uncomment.as_deref().unwrap_or_default();
        line.trim_start().starts_with(|c: char| signs.contains(c))
    }

    fn uncommented<'l>(&self, line: &'l str) -> &'l str {
        match &self.uncomment {
            Some(signs) => line.trim_start_matches(|c| signs.contains(c)),
            None => line.trim_start(),
        }
    }

    fn folded(&self, key: &str) -> String {
        if self.key_ignore_case { key.to_lowercase() } else { key.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_value::record::{Arguments, Record};

    fn edited(text: &str, more: &[(&str, Value)]) -> Edited {
        let arguments = Arguments::default().with("name", "/f");
        let arguments = more.iter().fold(arguments, |all, (key, value)| all.with(key, value.clone()));
        let state = Keyvalue::bind(arguments).unwrap();
        let pairs = state.key_values.as_map().cloned().unwrap();
        let appends = state.append_if_not_found;
        state.edit(text, &pairs, appends)
    }

    #[test]
    fn a_value_is_changed_a_comment_counts_and_what_is_missing_is_added() {
        let pairs = ("key_values", Value::from(Map::from_iter([("a", "1"), ("b", "2")])));
        let done = edited("a=0\n#b=2\nc=3\n", &[pairs.clone(), ("uncomment", "#".into())]);
        assert_eq!(done.text, "a=1\nb=2\nc=3\n");
        assert_eq!(done.difference, ["- a=0\n", "+ a=1\n", "- #b=2\n", "+ b=2\n"]);
        let blanks = edited("# a = 0\n    b = 0\n", &[pairs.clone(), ("uncomment", "# ".into())]);
        assert_eq!(blanks.text, "a = 1\n    b = 2\n");
        let done = edited("a=1", &[pairs.clone(), ("append_if_not_found", true.into())]);
        assert_eq!((done.text.as_str(), done.changed), ("a=1\nb=2\n", 1));
        let done = edited("a=1\nx=1\nb=2\n", &[pairs, ("prune", true.into())]);
        assert_eq!((done.text.as_str(), done.changed, done.deleted), ("a=1\nb=2\n", 0, 1));
    }
}
