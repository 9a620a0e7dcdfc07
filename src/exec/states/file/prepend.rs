//! `file.prepend`.

use super::append::{Side, add, missing};
use super::single;
use super::source::Texts;
use halite_core::state::{Outcome, Plan, PlanContext, State};
use halite_core::{Ctx, Fault};
use halite_file::difference::{Shown, between_bytes};
use halite_file::template::Template;
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Makes sure that a file has some lines; those that it has not are put at its beginning.
    ///
    ///   /etc/motd:
    ///     file.prepend:
    ///       - text:
    ///         - Trust no one unless you have eaten much salt with him.
    pub struct Prepend {
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
        /// The lines must be the very first ones.
        header: bool = false,
        /// Whether the difference is shown.
        show_changes: bool = true,
    }
}

impl State for Prepend {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let given = Texts {
            source: self.source,
            source_hash: self.source_hash,
            sources: self.sources,
            source_hashes: self.source_hashes,
            template: Template::new(&self.template, &self.defaults, &self.context),
        };
        let beginning = Beginning { header: self.header, shown: Shown::when(self.show_changes) };
        add(context, &self.name, &self.text, &given, self.makedirs, beginning)
    }
}

/// The beginning of a file.
struct Beginning {
    /// Whether the lines must be the very first ones.
    header: bool,
    shown: Shown,
}

impl Side for Beginning {
    const FUNCTION: &'static str = "prepend";

    fn missing(&self, chunks: &[String], old: &str) -> Result<Vec<String>, Fault> {
        wanted(chunks, old, self.header)
    }

    fn with_lines(&self, old: &str, lines: &[String]) -> String {
        lines.iter().flat_map(|line| [line.as_str(), "\n"]).chain([old]).collect()
    }

    fn difference(&self, ctx: &Ctx, old: &str, lines: &[String]) -> String {
        let new = self.with_lines(old, lines);
        between_bytes(ctx, old.as_bytes(), new.as_bytes(), self.shown, None).text
    }

    fn done(&self, ctx: &Ctx, old: &str, lines: &[String]) -> Outcome {
        let changes = match lines.is_empty() {
            true => Map::new(),
            false => single("diff", self.difference(ctx, old, lines)),
        };
        Outcome::done(format!("Prepended {} lines", lines.len())).with_changes(changes)
    }
}

/// The lines that are to be put at the beginning.
fn wanted(chunks: &[String], old: &str, header: bool) -> Result<Vec<String>, Fault> {
    if !header {
        return missing(chunks, old, true);
    }
    let lines: Vec<String> = chunks.iter().flat_map(|chunk| chunk.lines().map(str::to_owned)).collect();
    let stands = old.lines().take(lines.len()).eq(lines.iter().map(String::as_str));
    Ok(if stands { Vec::new() } else { lines })
}
