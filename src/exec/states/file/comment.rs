//! `file.comment`, `file.uncomment`.

use super::{existing, own_name, single};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, change, failed};
use halite_core::{Ctx, Fault};
use halite_file::difference::{Shown, between_bytes};
use halite_lang::regex::Regex;
use halite_value::Value;
use halite_value::record;
use halite_value::record::Arguments;
use std::path::Path;

record! {
    /// Puts a sign before lines of a file.
    ///
    ///   /etc/fstab:
    ///     file.comment:
    ///       - regex: ^bind 127.0.0.1
    pub struct Comment {
        /// The path.
        name: String,
        /// A pattern for the lines.
        regex: String,
        /// The sign.
        char: String = "#",
        /// The ending of the backup's name; False: none is made.
        backup: Value = ".bak",
        /// Lines that are not there are no failure.
        ignore_missing: bool = false,
    }
}

impl State for Comment {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = own_name(context.ctx, &self.name);
        if let Err(wrong) = existing(context.ctx, &name, "comment") {
            return Ok(failed(wrong));
        }
        let bare = without_anchors(&self.regex)?;
        let commented = format!("{}{bare}", self.char);
        if !found(context.ctx, &name, &format!("^(?!\\s*{})\\s*{bare}", self.char))? {
            return Ok(if found(context.ctx, &name, &commented)? {
                already("Pattern already commented")
            } else if self.ignore_missing {
                already("Pattern not found and ignore_missing set to True")
            } else {
                failed(format!("{bare}: Pattern not found"))
            });
        }
        let edit = Edit { name, regex: self.regex, char: self.char, backup: self.backup, comments: true };
        Ok(edit.plan(commented, ["Commented lines successfully", "Expected commented lines not found"]))
    }
}

record! {
    /// Takes a sign away from lines of a file.
    ///
    ///   /etc/adduser.conf:
    ///     file.uncomment:
    ///       - regex: EXTRA_GROUPS
    pub struct Uncomment {
        /// The path.
        name: String,
        /// A pattern for the lines, without the sign.
        regex: String,
        /// The sign.
        char: String = "#",
        /// The ending of the backup's name; False: none is made.
        backup: Value = ".bak",
    }
}

impl State for Uncomment {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = own_name(context.ctx, &self.name);
        if let Err(wrong) = existing(context.ctx, &name, "uncomment") {
            return Ok(failed(wrong));
        }
        let bare = self.regex.trim_start_matches('^');
        let uncommented = format!("^[ \t]*{bare}");
        if !found(context.ctx, &name, &format!("{}[ \t]*{bare}", self.char))? {
            return Ok(match found(context.ctx, &name, &uncommented)? {
                true => already("Pattern already uncommented"),
                false => failed(format!("{}: Pattern not found", self.regex)),
            });
        }
        let edit = Edit { name, regex: self.regex, char: self.char, backup: self.backup, comments: false };
        Ok(edit.plan(uncommented, ["Uncommented lines successfully", "Expected uncommented lines not found"]))
    }
}

/// The core of a pattern that is meant for a whole line.
fn without_anchors(regex: &str) -> Result<String, Fault> {
    let wrong = |error: halite_lang::regex::RegexError| Fault::Internal(error.to_string());
    let whole = Regex::new(r"^(\(\?[iLmsux]\))?\^?(.*?)\$?$").map_err(wrong)?;
    let found = whole.search(regex).map_err(wrong)?;
    Ok(found.and_then(|found| found.group(2).map(str::to_owned)).unwrap_or_else(|| regex.to_owned()))
}

fn found(ctx: &Ctx, name: &str, pattern: &str) -> Result<bool, Fault> {
    let arguments = Arguments::positional([name, pattern]).with("multiline", true);
    ctx.run("file.search", arguments).map(|found| found.truthy())
}

struct Edit {
    name: String,
    regex: String,
    char: String,
    backup: Value,
    comments: bool,
}

impl Edit {
    /// `proof` is what must be found when it is done.
    fn plan(self, proof: String, [done, undone]: [&'static str; 2]) -> Plan {
        let would = format!("File {} is set to be updated", self.name);
        change(single(&self.name, "updated"), would, move |ctx| {
            let read = || ctx.host.read(Path::new(&self.name)).map_err(|error| super::fault(&self.name, &error));
            let old = read()?;
            let arguments = Arguments::positional([self.name.as_str(), &self.regex, &self.char]);
            ctx.run("file.comment_line", arguments.with("cmnt", self.comments).with("backup", self.backup.clone()))?;
            let new = read()?;
            let outcome = match found(ctx, &self.name, &proof)? {
                true => Outcome::done(done),
                false => Outcome::failed(undone),
            };
            Ok(match old != new {
                true => outcome.with_changes(single("diff", between_bytes(ctx, &old, &new, Shown::ALL, None).text)),
                false => outcome,
            })
        })
    }
}
