//! `file.rename`.

use super::{absolute, is_directory, made_above, own_name, single};
use halite_core::paths::remove_all;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, failed};
use halite_core::{Ctx, Fault, paths};
use halite_file::owner::Owner;
use halite_value::Map;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use std::path::Path;

record! {
    /// Gives a file or a directory another name. Once that is done it stays so.
    ///
    ///   /etc/sudoers:
    ///     file.rename:
    ///       - source: /etc/sudoers.new
    pub struct Rename {
        /// The new path.
        name: String,
        /// The old path.
        source: String,
        /// Replace what is there.
        force: bool = false,
        /// Make the directories above that are missing.
        makedirs: bool = false,
        kwargs: Keywords,
    }
}

impl State for Rename {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = with_variables(ctx, &own_name(ctx, &self.name));
        let source = with_variables(ctx, &own_name(ctx, &self.source));
        let path = match absolute(&name, "rename") {
            Ok(path) => path,
            Err(wrong) => return Ok(failed(wrong)),
        };
        if ctx.host.stat(Path::new(&source)).is_err() {
            return Ok(already(format!("Source file \"{source}\" has already been moved out of place")));
        }
        if ctx.host.stat(&path).is_ok() && !self.force {
            return Ok(already(format!("The target file \"{name}\" exists and will not be overwritten")));
        }
        let would = Outcome::new(None, format!("File \"{source}\" is set to be moved to \"{name}\""));
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| rename(ctx, &source, &name, self.makedirs)) })
    }
}

fn rename(ctx: &Ctx, source: &str, name: &str, makedirs: bool) -> Result<Outcome, Fault> {
    let path = Path::new(name);
    if ctx.host.stat(path).is_ok() && remove_all(ctx.host, path).is_err() {
        return Ok(Outcome::failed(format!("Failed to delete \"{name}\" in preparation for forced move")));
    }
    if let Some(directory) = path.parent().filter(|directory| !is_directory(ctx, directory)) {
        if !makedirs {
            return Ok(Outcome::failed(format!("The target directory {} is not present", directory.display())));
        }
        made_above(ctx, name, &Owner::default())?;
    }
    let moved = match paths::is_link(ctx.host, source) {
        true => ctx.host.rename(Path::new(source), path).map_err(|error| super::fault(source, &error)),
        false => ctx.run("file.move", Arguments::positional([source, name])).map(drop),
    };
    Ok(match moved {
        Ok(()) => Outcome::done(format!("Moved \"{source}\" to \"{name}\"")).with_changes(single(name, source)),
        Err(fault) => {
            log::error!("file.rename: {fault}");
            Outcome::failed(format!("Failed to move \"{source}\" to \"{name}\"")).with_changes(Map::new())
        }
    })
}

/// A path with the values of `$NAME` and `${NAME}` in it; variables that there are not stay as they stand.
fn with_variables(ctx: &Ctx, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let (name, length) = match tail.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((name, _)) => (name, name.len() + 2),
            None => {
                let end = tail.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(tail.len());
                (&tail[..end], end)
            }
        };
        match ctx.host.env(name).filter(|_| !name.is_empty()) {
            Some(value) => out.push_str(&value),
            None => out.push_str(&rest[at..at + 1 + length]),
        }
        rest = &tail[length..];
    }
    out + rest
}
