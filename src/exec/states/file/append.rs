//! `file.append`.

use super::source::{Texts, texts};
use super::{existing, own_name, refused, single};
use halite_core::paths::make_directories;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, change};
use halite_core::{Ctx, Fault, paths};
use halite_file::difference::Shown;
use halite_file::template::Template;
use halite_lang::diff::unified;
use halite_lang::regex::Regex;
use halite_value::record;
use halite_value::{Map, Value};
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
        /// Make the directories above that are missing.
        makedirs: bool = false,
        /// The address of the text.
        source: Value = (),
        /// Its hash, where it comes from elsewhere.
        source_hash: Value = (),
        /// The template engine for it.
        template: Option<String> = "jinja",
        /// Several addresses.
        sources: Value = (),
        /// Their hashes.
        source_hashes: Value = (),
        /// Variables of the template that are not in `context`.
        defaults: Map = Value::Map(Map::new()),
        /// Variables of the template.
        context: Map = Value::Map(Map::new()),
        /// Whether lines are the same that differ in blanks alone.
        ignore_whitespace: bool = true,
        /// Whether the difference is shown.
        show_changes: bool = true,
    }
}

impl State for Append {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let given = Texts {
            source: self.source,
            source_hash: self.source_hash,
            sources: self.sources,
            source_hashes: self.source_hashes,
            template: Template::new(&self.template, &self.defaults, &self.context),
        };
        let end = End { ignores: self.ignore_whitespace, shown: Shown::when(self.show_changes) };
        add(context, &self.name, &self.text, &given, self.makedirs, end)
    }
}

/// Where in a file lines are added, and which.
pub trait Side: 'static {
    /// The state: `append`.
    const FUNCTION: &'static str;

    /// The lines of these texts that are to be added.
    fn missing(&self, chunks: &[String], old: &str) -> Result<Vec<String>, Fault>;
    fn with_lines(&self, old: &str, lines: &[String]) -> String;
    /// What is added, as it is shown.
    fn difference(&self, ctx: &Ctx, old: &str, lines: &[String]) -> String;
    fn done(&self, ctx: &Ctx, old: &str, lines: &[String]) -> Outcome;
}

/// The way of `file.append` and `file.prepend`.
pub fn add<S: Side>(
    context: &PlanContext,
    name: &str,
    text: &Value,
    given: &Texts,
    makedirs: bool,
    side: S,
) -> Result<Plan, Fault> {
    let ctx = context.ctx;
    let name = own_name(ctx, name);
    let chunks = chunks(context, &name, S::FUNCTION, text, given)?;
    if !paths::exists(ctx.host, &name) {
        let would = format!("File {name} is set to be created");
        return Ok(change(single("new", name.as_str()), would, move |ctx| {
            if let Some(outcome) = created(ctx, &name, makedirs) {
                return Ok(outcome);
            }
            let lines = side.missing(&chunks, "")?;
            Ok(write(ctx, &name, "", &lines, &side))
        }));
    }
    let old = text_at(ctx, &name)?;
    let lines = side.missing(&chunks, &old)?;
    if lines.is_empty() {
        return Ok(already(format!("File {name} is in correct state")));
    }
    let would = single("diff", side.difference(ctx, &old, &lines));
    Ok(change(would, format!("File {name} is set to be updated"), move |ctx| {
        Ok(write(ctx, &name, &old, &lines, &side))
    }))
}

/// The end of a file.
struct End {
    /// Whether lines are the same that differ in blanks alone.
    ignores: bool,
    shown: Shown,
}

impl Side for End {
    const FUNCTION: &'static str = "append";

    fn missing(&self, chunks: &[String], old: &str) -> Result<Vec<String>, Fault> {
        missing(chunks, old, self.ignores)
    }

    fn with_lines(&self, old: &str, lines: &[String]) -> String {
        with_lines(old, lines)
    }

    fn difference(&self, _: &Ctx, old: &str, lines: &[String]) -> String {
        difference(old, lines, self.shown)
    }

    fn done(&self, ctx: &Ctx, old: &str, lines: &[String]) -> Outcome {
        let changes: Map = single("diff", self.difference(ctx, old, lines));
        Outcome::done(format!("Appended {} lines", lines.len())).with_changes(changes)
    }
}

/// The texts of a state: its own, or those of its sources. The error is for whoever wrote the SLS.
fn chunks(
    context: &PlanContext,
    name: &str,
    function: &str,
    text: &Value,
    given: &Texts,
) -> Result<Vec<String>, Fault> {
    match existing(context.ctx, name, function) {
        Err(wrong) if !wrong.ends_with(": file not found") => return Err(Fault::comment(wrong)),
        _ => {}
    }
    if let Some(texts) = texts(context, given)? {
        return Ok(texts);
    }
    match text {
        Value::Null => Err(Fault::comment(format!("No text found to {function}. Nothing {function}ed"))),
        Value::List(items) => Ok(items.iter().map(Value::to_text).collect()),
        text => Ok(vec![text.to_text()]),
    }
}

/// The text of a file.
fn text_at(ctx: &Ctx, name: &str) -> Result<String, Fault> {
    if paths::is_directory(ctx.host, name) {
        return Err(Fault::comment(format!("{name} is not a file")));
    }
    let bytes = ctx.host.read(Path::new(name)).map_err(|error| super::fault(name, &error))?;
    String::from_utf8(bytes).map_err(|_| Fault::comment(format!("{name} is not text in UTF-8")))
}

/// Makes the directories above a file. What comes back is why there is none.
fn created(ctx: &Ctx, name: &str, makedirs: bool) -> Option<Outcome> {
    let directory = Path::new(name).parent().filter(|directory| !super::is_directory(ctx, directory))?;
    if !makedirs {
        return Some(Outcome::failed(format!("{name}: file not found")));
    }
    make_directories(ctx.host, directory).err().map(|error| refused(&format!("{name} cannot be made"), &error))
}

/// The lines of those texts that are not there yet.
pub fn missing(chunks: &[String], old: &str, ignore_whitespace: bool) -> Result<Vec<String>, Fault> {
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
fn difference(old: &str, lines: &[String], shown: Shown) -> String {
    if !shown.changes {
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

fn write(ctx: &Ctx, name: &str, old: &str, lines: &[String], side: &impl Side) -> Outcome {
    let new = side.with_lines(old, lines);
    let real = paths::real(ctx.host, name);
    match ctx.host.write(Path::new(&real), new.as_bytes(), Default::default()) {
        Ok(()) => side.done(ctx, old, lines),
        Err(error) => refused(&format!("{name} cannot be written"), &error),
    }
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
        assert_eq!(difference("x\n", &["y".to_owned()], Shown::ALL), "--- \n\n+++ \n\n@@ -1 +1,2 @@\n\n x\n+y");
    }
}
