//! `file.absent`.

use super::super::{Look, Outcome, Plan, State, already, change, failed};
use super::{absolute, refused, single};
use crate::exec::host::{FileKind, Host};
use crate::exec::{Ctx, Fault};
use crate::record;
use crate::wire::record::Keywords;
use std::io;
use std::path::Path;

record! {
    /// Makes sure that there is no file, link or folder of a name; a folder is removed with all that is in it.
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
    fn plan(self, look: &Look) -> Result<Plan, Fault> {
        let path = match absolute(&self.name, "absent") {
            Ok(path) => path,
            Err(wrong) => return Ok(failed(wrong)),
        };
        if path == Path::new("/") {
            return Ok(failed("Refusing to make \"/\" absent"));
        }
        let name = self.name;
        let Ok(stat) = look.ctx.host.stat(&path) else {
            return Ok(already(format!("File {name} is not present")));
        };
        let kind = if stat.kind == FileKind::Folder { "Directory" } else { "File" };
        let would = format!("{kind} {name} is set for removal");
        Ok(change(single("removed", name.as_str()), would, move |ctx: &Ctx| {
            let removed = match kind {
                "File" => ctx.host.remove(&path),
                _ => remove_all(ctx.host, &path),
            };
            Ok(match removed {
                Ok(()) => {
                    let comment = format!("Removed {} {name}", kind.to_lowercase());
                    Outcome::new(Some(true), comment).with_changes(single("removed", name.as_str()))
                }
                Err(error) => refused(&format!("{name} cannot be removed"), &error),
            })
        }))
    }
}

/// Removes a folder with all that is in it; links are removed and not followed.
pub fn remove_all(host: &dyn Host, folder: &Path) -> io::Result<()> {
    for name in host.list(folder)? {
        let path = folder.join(name);
        match host.stat(&path)?.kind {
            FileKind::Folder => remove_all(host, &path)?,
            _ => host.remove(&path)?,
        }
    }
    host.remove(folder)
}
