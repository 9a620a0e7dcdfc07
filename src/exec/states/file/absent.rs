//! `file.absent`.

use super::{absolute, own_name, refused, single};
use halite_core::host::FileKind;
use halite_core::paths::remove_all;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, change, failed};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::Keywords;
use std::path::Path;

record! {
    /// Makes sure that there is no file, link or directory of a name; a directory is removed with all that is in it.
    ///
    ///   /tmp/foo:
    ///     file.absent: []
    pub struct Absent {
        /// The path.
        name: String,
        kwargs: Keywords,
    }
}

impl State for Absent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = own_name(context.ctx, &self.name);
        let path = match absolute(&name, "absent") {
            Ok(path) => path,
            Err(wrong) => return Ok(failed(wrong)),
        };
        // However it is written: the root is never removed.
        if halite_core::paths::normal(&name).trim_matches('/').is_empty() {
            return Ok(failed("Refusing to make \"/\" absent"));
        }
        // A slash at the end would have a link followed.
        let path = Path::new(path.to_string_lossy().trim_end_matches('/')).to_owned();
        let Ok(stat) = context.ctx.host.stat(&path) else {
            return Ok(already(format!("File {name} is not present")));
        };
        let kind = if stat.kind == FileKind::Directory { "Directory" } else { "File" };
        let would = format!("{kind} {name} is set for removal");
        Ok(change(single("removed", name.as_str()), would, move |ctx: &Ctx| {
            Ok(match remove_all(ctx.host, &path) {
                Ok(()) => {
                    let comment = format!("Removed {} {name}", kind.to_lowercase());
                    Outcome::done(comment).with_changes(single("removed", name.as_str()))
                }
                Err(error) if kind == "File" => refused(&format!("{name} cannot be removed"), &error),
                Err(error) => refused(&format!("Failed to remove directory {name}"), &error),
            })
        }))
    }
}
