//! `file.touch`.

use super::{absolute, is_directory, made_above, own_name, single};
use halite_core::state::{Outcome, Plan, PlanContext, State, failed};
use halite_core::{Ctx, Fault, paths};
use halite_file::owner::Owner;
use halite_value::Value;
use halite_value::record;
use halite_value::record::Arguments;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

record! {
    /// Makes sure that there is a file, and says that it was read and written now. It changes something each time.
    ///
    ///   /var/log/httpd/logrotate.empty:
    ///     file.touch: []
    pub struct Touch {
        /// The path.
        name: String,
        /// When it was last read, in seconds since 1970; now, if neither is given.
        atime: Value = (),
        /// When it was last written.
        mtime: Value = (),
        /// Make the directories above that are missing.
        makedirs: bool = false,
    }
}

impl State for Touch {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = own_name(context.ctx, &self.name);
        let path = match absolute(&name, "touch") {
            Ok(path) => path,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let would = match context.ctx.host.stat(&path) {
            _ if !paths::exists(context.ctx.host, &name) => {
                let comment = format!("File {name} is set to be created");
                Outcome::new(None, comment).with_changes(single("new", name.as_str()))
            }
            Ok(stat) if is_other(&self.atime, stat.accessed) || is_other(&self.mtime, stat.modified) => {
                let comment = format!("Times set to be updated on file {name}");
                Outcome::new(None, comment).with_changes(single("touched", name.as_str()))
            }
            _ => {
                let comment = format!("File {name} exists and has the correct times");
                Outcome::done(comment).with_changes(single("new", name.as_str()))
            }
        };
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| self.touch(ctx, &name)) })
    }
}

/// Whether a time is wanted that the file does not have.
fn is_other(wanted: &Value, time: SystemTime) -> bool {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let given = match wanted {
        Value::Str(text) => text.parse().ok(),
        number => number.as_float(),
    };
    !wanted.is_null() && given != Some(seconds)
}

impl Touch {
    fn touch(&self, ctx: &Ctx, name: &str) -> Result<Outcome, Fault> {
        if self.makedirs {
            made_above(ctx, name, &Owner::default())?;
        }
        if Path::new(name).parent().is_some_and(|directory| !is_directory(ctx, directory)) {
            return Ok(Outcome::failed(format!("Directory not present to touch file {name}")));
        }
        let is_new = !paths::exists(ctx.host, name);
        let arguments = Arguments::positional([Value::from(name), self.atime.clone(), self.mtime.clone()]);
        if !ctx.run("file.touch", arguments)?.truthy() {
            return Ok(Outcome::failed(""));
        }
        if is_new {
            return Ok(Outcome::done(format!("Created empty file {name}")).with_changes(single("new", name)));
        }
        let kind = if paths::is_directory(ctx.host, name) { "directory" } else { "file" };
        Ok(Outcome::done(format!("Updated times on {kind} {name}")).with_changes(single("touched", name)))
    }
}
