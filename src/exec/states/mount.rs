//! `mount.*`: file systems and swap, as they are and as they are at boot.

mod fstab;
mod mounted;
mod options;
mod swap;

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, ask, failed, given, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

pub const MODULE: Module =
    Module { name: "mount", doc: "File systems and swap, as they are and as they are at boot.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    state::<fstab::FstabAbsent>("fstab_absent"),
    state::<fstab::FstabPresent>("fstab_present"),
    state::<Watched>("mod_watch"),
    state::<mounted::Mounted>("mounted"),
    state::<swap::Swap>("swap"),
    state::<Unmounted>("unmounted"),
];

/// What is mounted, by its place.
fn active(ctx: &Ctx) -> Result<Map, Fault> {
    let answer = ask(ctx, "mount.active", [("extended", true.into())])?;
    Ok(answer.as_map().cloned().unwrap_or_default())
}

/// A path as the kernel lists it.
fn listed(path: &str) -> String {
    path.replace(' ', "\\040")
}

/// A path without slashes at its end.
fn bare(path: &str) -> String {
    if path == "/" { path.to_owned() } else { path.trim_end_matches('/').to_owned() }
}

record! {
    /// Makes sure that a file system is not mounted, and with `persist` that it is not at boot either.
    ///
    ///   /mnt/sdb:
    ///     mount.unmounted:
    ///       - device: /dev/sdb
    ///       - persist: True
    pub struct Unmounted {
        /// The place.
        name: String,
        /// Only if it is this device.
        device: Option<String> = (),
        /// The file that says what is mounted at boot.
        config: String = "/etc/fstab",
        /// Take it out of that file, too.
        persist: bool = false,
        /// The account that does it.
        user: Option<String> = (),
        kwargs: Keywords,
    }
}

impl State for Unmounted {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name.clone();
        if name.is_empty() {
            return Ok(failed("Must provide name to mount.unmounted"));
        }
        let is_mounted = active(context.ctx)?.contains(&listed(&name));
        let entry = match self.persist {
            true => fstab::entry(context.ctx, &self.config, &name)?,
            false => None,
        };
        let already = "Target was already unmounted";
        let device = entry.as_ref().and_then(|entry| entry.at("device")).map(Value::to_text);
        let is_other = device.is_some() && self.device.is_some() && device != self.device;
        let note = match (self.persist, &entry) {
            (true, None) => ". fstab entry not found".to_owned(),
            (true, Some(_)) if is_other => {
                format!(". fstab entry for device {} not found", self.device.as_deref().unwrap_or_default())
            }
            _ => String::new(),
        };
        let purges = entry.is_some() && !is_other;
        if !is_mounted && !purges {
            return Ok(halite_core::state::already(format!("{already}{note}")));
        }
        let would = match is_mounted {
            true => format!("Mount point {name} is mounted but should not be"),
            false => format!(
                "Mount point {name} is unmounted but needs to be purged from {} to be made persistent",
                self.config
            ),
        };
        let apply = move |ctx: &Ctx| {
            let mut outcome = Outcome::done(already);
            if is_mounted {
                let arguments = given([
                    ("name", name.as_str().into()),
                    ("device", self.device.clone().into()),
                    ("user", self.user.clone().into()),
                ]);
                outcome = match ctx.run("mount.umount", Arguments::keywords(arguments))? {
                    Value::Bool(true) => {
                        let changes = halite_core::state::single("umount", true);
                        Outcome::done("Target was successfully unmounted").with_changes(changes)
                    }
                    Value::Str(error) => Outcome::failed(error),
                    _ => Outcome::done("Execute set to False, Target was not unmounted"),
                };
                ask(ctx, "mount.delete_mount_cache", [("real_name", name.as_str().into())])?;
            }
            outcome.comment.push_str(&note);
            if purges {
                let arguments: [(&str, Value); 3] = [
                    ("name", name.as_str().into()),
                    ("device", self.device.clone().into()),
                    ("config", self.config.as_str().into()),
                ];
                match ctx.run("mount.rm_fstab", Arguments::keywords(Map::from_iter(arguments)))? {
                    Value::Bool(true) => {
                        outcome.comment.push_str(". Removed target from fstab");
                        outcome.changes.insert("persist", "purged");
                    }
                    _ => {
                        outcome.result = Some(false);
                        outcome.comment.push_str(". Failed to persist purge");
                    }
                }
            }
            Ok(outcome)
        };
        Ok(Plan::Changes { would: Outcome::new(None, would), apply: Box::new(apply) })
    }
}

record! {
    /// Mounts a file system anew when something that it watches has changed.
    ///
    ///   /mnt/sdb:
    ///     mount.mounted:
    ///       - device: /dev/sdb1
    ///       - fstype: ext4
    ///       - watch:
    ///         - file: /etc/mke2fs.conf
    pub struct Watched {
        /// The place.
        name: String,
        /// The function of the state.
        sfun: Option<String> = (),
        /// The device.
        device: Value = (),
        /// The kind of the file system.
        fstype: Value = (),
        /// The options.
        opts: Value = "defaults",
        /// The account that does it.
        user: Option<String> = (),
        kwargs: Keywords,
    }
}

impl State for Watched {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name.clone();
        if self.sfun.as_deref() != Some("mounted") {
            let sfun = self.sfun.as_deref().unwrap_or("None");
            return Ok(halite_core::state::already(format!("Watch not supported in {sfun} at this time")));
        }
        let would = Outcome::new(None, format!("{name} would be remounted"));
        let apply = move |ctx: &Ctx| {
            let arguments = given([
                ("name", name.as_str().into()),
                ("device", self.device),
                ("mkmnt", false.into()),
                ("fstype", self.fstype),
                ("opts", self.opts),
                ("user", self.user.into()),
            ]);
            let done = ctx.run("mount.remount", Arguments::keywords(arguments))?;
            Ok(match done.truthy() {
                true => Outcome::done(format!("{name} remounted")),
                false => Outcome::failed(format!("{name} failed to remount: {}", done.to_text())),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
