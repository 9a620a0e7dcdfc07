//! `file.append`.

use super::super::{Look, Outcome, Plan, State, already, change, failed};
use super::{absolute, followed, refused, single};
use crate::exec::diff::unified;
use crate::exec::fileserver::client::make_folders;
use crate::exec::host::FileKind;
use crate::exec::regex::Regex;
use crate::exec::{Ctx, Fault};
use crate::record;
use crate::wire::record::Keywords;
use crate::wire::value::{Map, Value};
use std::path::Path;

record! {
    /// Makes sure that a file has some lines; those that it has not are put at its end.
    ///
    ///   /etc/motd:
    ///     file.append:
    ///       - text:
    ///         - Thou hadst better eat salt with the Philosophers of Greece,
    ///         - than sugar with the Courtiers of Italy.
    pub struct Append {
        /// The path.
        name: String,
        /// The lines: a text, or a list of texts.
        text: Value = (),
        /// Make the folders above that are missing.
        makedirs: bool = false,
        /// Whether lines are the same that differ in blanks alone.
        ignore_whitespace: bool = true,
        /// Whether the difference is shown.
        show_changes: bool = true,
        kwargs: Keywords,
    }
}

impl State for Append {
    fn plan(self, look: &Look) -> Result<Plan, Fault> {
        let ctx = look.ctx;
        let path = match absolute(&self.name, "append") {
            Ok(path) => path,
            Err(wrong) => return Ok(failed(wrong)),
        };
        if let Some(other) =
            ["source", "sources"].iter().find(|other| self.kwargs.0.at(other).is_some_and(Value::truthy))
        {
            return Ok(failed(format!("file.append: this version does not have '{other}' yet: give the text")));
        }
        let chunks: Vec<String> = match &self.text {
            Value::Null => return Ok(failed("No text found to append. Nothing appended")),
            Value::List(items) => items.iter().map(Value::to_text).collect(),
            text => vec![text.to_text()],
        };
        let name = self.name;
        match followed(ctx, &path) {
            Some(stat) if stat.kind == FileKind::Folder => return Ok(failed(format!("{name} is not a file"))),
            Some(_) => {}
            None => {
                let (lines, makedirs) = (missing(&chunks, "", self.ignore_whitespace)?, self.makedirs);
                let would = format!("File {name} is set to be created");
                let shows = self.show_changes;
                return Ok(change(single("new", name.as_str()), would, move |ctx| {
                    if let Some(folder) = path.parent().filter(|folder| ctx.host.stat(folder).is_err()) {
                        if !makedirs {
                            return Ok(Outcome::new(Some(false), format!("{name}: file not found")));
                        }
                        if let Err(error) = make_folders(ctx.host, folder) {
                            return Ok(refused(&format!("{name} cannot be made"), &error));
                        }
                    }
                    Ok(write(ctx, &path, &name, "", &lines, shows))
                }));
            }
        }
        let bytes = ctx.host.read(&path).map_err(|error| Fault::execution(format!("{name}: {error}")))?;
        let Ok(old) = String::from_utf8(bytes) else {
            return Ok(failed(format!("{name} is not text in UTF-8")));
        };
        let lines = missing(&chunks, &old, self.ignore_whitespace)?;
        if lines.is_empty() {
            return Ok(already(format!("File {name} is in correct state")));
        }
        let would = single("diff", difference(&old, &lines, self.show_changes));
        let shows = self.show_changes;
        Ok(change(would, format!("File {name} is set to be updated"), move |ctx| {
            Ok(write(ctx, &path, &name, &old, &lines, shows))
        }))
    }
}

/// The lines of those texts that are not there yet.
fn missing(chunks: &[String], old: &str, ignore_whitespace: bool) -> Result<Vec<String>, Fault> {
    let mut lines = Vec::new();
    for chunk in chunks {
        let pattern = if ignore_whitespace { with_blanks(chunk) } else { format!("(?m){chunk}") };
        let regex = Regex::new(&pattern).map_err(|error| Fault::invocation(format!("{chunk}: {error}")))?;
        let found = regex.search(old).map_err(|error| Fault::execution(format!("{chunk}: {error}")))?;
        if found.is_none() {
            lines.extend(chunk.lines().map(str::to_owned));
        }
    }
    Ok(lines)
}

/// A pattern for a text with any blanks, or none, between its words.
fn with_blanks(text: &str) -> String {
    const BLANKS: &str = r"(?:[\s]+)?";
    let line = |line: &str| {
        let words: Vec<String> = line.split_whitespace().map(escaped).collect();
        format!("{BLANKS}{}{BLANKS}", words.join(BLANKS))
    };
    format!("(?m)^{}$", text.lines().map(line).collect::<String>())
}

/// A word that a pattern takes as it is.
fn escaped(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || !c.is_ascii();
    word.chars().flat_map(|c| (!is_plain(c)).then_some('\\').into_iter().chain([c])).collect()
}

fn with_lines(old: &str, lines: &[String]) -> String {
    let mut new = old.to_owned();
    if !new.is_empty() && !new.ends_with('\n') {
        new.push('\n');
    }
    lines.iter().for_each(|line| {
        new.push_str(line);
        new.push('\n');
    });
    new
}

/// What is added, as Salt shows it here: an empty line behind each heading.
fn difference(old: &str, lines: &[String], shows: bool) -> String {
    if !shows {
        return "<show_changes=False>".to_owned();
    }
    let old = with_lines(old, &[]);
    let diff = unified(&old, &with_lines(&old, lines));
    let spaced = diff.lines().enumerate().map(|(at, line)| match at < 2 || line.starts_with("@@") {
        true => format!("{line}\n"),
        false => line.to_owned(),
    });
    spaced.collect::<Vec<String>>().join("\n")
}

fn write(ctx: &Ctx, path: &Path, name: &str, old: &str, lines: &[String], shows: bool) -> Outcome {
    let new = with_lines(old, lines);
    if let Err(error) = ctx.host.write(path, new.as_bytes(), Default::default()) {
        return refused(&format!("{name} cannot be written"), &error);
    }
    let changes: Map = single("diff", difference(old, lines, shows));
    Outcome::new(Some(true), format!("Appended {} lines", lines.len())).with_changes(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_there_are_not_added_whatever_their_blanks() {
        let chunks = ["a  b".to_owned(), "c\nd".to_owned(), "e".to_owned()];
        let told = |old: &str| missing(&chunks, old, true).unwrap();
        assert_eq!(told("  a b\nc\nd\n"), ["e"]);
        assert_eq!(told("x a b\ne\n"), ["a  b", "c", "d"]);
        assert_eq!(difference("x\n", &["y".to_owned()], true), "--- \n\n+++ \n\n@@ -1 +1,2 @@\n\n x\n+y");
    }
}
