//! `file.prepend`.

use super::super::{Look, Outcome, Plan, State, already, change, failed};
use super::append::{chunks, created, missing, text_at};
use super::source::{Template, Texts};
use super::{own_name, refused, single};
use crate::exec::modules::file::difference::{Shown, between};
use crate::exec::{Ctx, Fault, paths};
use crate::record;
use crate::wire::value::{Map, Value};
use std::path::Path;

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
        /// Make the folders above that are missing.
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
    fn plan(self, look: &Look) -> Result<Plan, Fault> {
        let ctx = look.ctx;
        let name = own_name(ctx, &self.name);
        let given = Texts {
            source: self.source,
            source_hash: self.source_hash,
            sources: self.sources,
            source_hashes: self.source_hashes,
            template: Template::new(&self.template, &self.defaults, &self.context),
        };
        let chunks = match chunks(look, &name, "prepend", &self.text, &given)? {
            Ok(chunks) => chunks,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let shown = Shown::when(self.show_changes);
        let header = self.header;
        if !paths::exists(ctx.host, &name) {
            let makedirs = self.makedirs;
            let would = format!("File {name} is set to be created");
            return Ok(change(single("new", name.as_str()), would, move |ctx| {
                if let Some(outcome) = created(ctx, &name, makedirs) {
                    return Ok(outcome);
                }
                let lines = wanted(&chunks, "", header)?;
                Ok(write(ctx, &name, "", &lines, shown))
            }));
        }
        let old = match text_at(ctx, &name)? {
            Ok(old) => old,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let lines = wanted(&chunks, &old, header)?;
        if lines.is_empty() {
            return Ok(already(format!("File {name} is in correct state")));
        }
        let new = with_lines(&old, &lines);
        let changes = single("diff", between(ctx, old.as_bytes(), new.as_bytes(), shown, None).text);
        Ok(change(changes, format!("File {name} is set to be updated"), move |ctx| {
            Ok(write(ctx, &name, &old, &lines, shown))
        }))
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

fn with_lines(old: &str, lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).chain([old]).collect()
}

fn write(ctx: &Ctx, name: &str, old: &str, lines: &[String], shown: Shown) -> Outcome {
    let new = with_lines(old, lines);
    let real = paths::real(ctx.host, name);
    if let Err(error) = ctx.host.write(Path::new(&real), new.as_bytes(), Default::default()) {
        return refused(&format!("{name} cannot be written"), &error);
    }
    let changes = match old == new {
        true => Map::new(),
        false => single("diff", between(ctx, old.as_bytes(), new.as_bytes(), shown, None).text),
    };
    Outcome::done(format!("Prepended {} lines", lines.len())).with_changes(changes)
}
