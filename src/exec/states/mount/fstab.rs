//! `mount.fstab_present`, `mount.fstab_absent`: what is mounted at boot.

use super::bare;
use halite_core::state::{Outcome, Plan, PlanContext, State, ask, failed, given, single};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

/// The entry of a place; nothing where there is none.
pub fn entry(ctx: &Ctx, config: &str, name: &str) -> Result<Option<Value>, Fault> {
    Ok(ask(ctx, "mount.fstab", [("config", config.into())])?.at(name).cloned())
}

record! {
    /// Makes sure that a file system has an entry in /etc/fstab.
    ///
    ///   /dev/sda1:
    ///     mount.fstab_present:
    ///       - fs_file: /mnt
    ///       - fs_vfstype: ext4
    ///       - mount: False
    pub struct FstabPresent {
        /// The device, or `UUID=...` and the like.
        name: String,
        /// The place.
        fs_file: String,
        /// The kind of the file system.
        fs_vfstype: String,
        /// The options.
        fs_mntops: Value = "defaults",
        /// Whether dump(8) saves it.
        fs_freq: Value = 0,
        /// When fsck(8) checks it.
        fs_passno: Value = 0,
        /// By what it stands there: device, label, uuid, partlabel or partuuid; as the name says, if not given.
        mount_by: Option<String> = (),
        /// The file.
        config: String = "/etc/fstab",
        /// Whether a new entry is mounted, too.
        mount: bool = true,
        /// What makes an entry the same one.
        match_on: Value = "auto",
        /// Leave an entry that is there as it is.
        not_change: bool = false,
        /// Taken, not used: for AIX.
        fs_mount: bool = true,
    }
}

impl State for FstabPresent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let (name, place, config) = (self.name, bare(&self.fs_file), self.config);
        let Some(device) = converted(context.ctx, &name, self.mount_by.as_deref())? else {
            let by = self.mount_by.unwrap_or_default();
            return Ok(listed(Outcome::failed(""), vec![format!("Device {name} cannot be converted to {by}")]));
        };
        let arguments = given([
            ("name", place.as_str().into()),
            ("device", device.into()),
            ("fstype", self.fs_vfstype.into()),
            ("opts", self.fs_mntops),
            ("dump", self.fs_freq),
            ("pass_num", self.fs_passno),
            ("config", config.as_str().into()),
            ("match_on", self.match_on),
            ("not_change", self.not_change.into()),
        ]);
        let status = context.ctx.run("mount.set_fstab", Arguments::keywords(arguments.clone()).with("test", true))?;
        let status = status.to_text();
        let mount = self.mount;
        let would = match status.as_str() {
            "present" => {
                let would = commented(Outcome::done(""), vec![format!("{place} entry is already in {config}.")]);
                let done = commented(Outcome::done(""), vec![format!("{place} entry was already in {config}.")]);
                return Ok(halite_core::state::stands(would, done));
            }
            "new" => {
                let mut comment = vec![format!("{place} entry will be written in {config}.")];
                comment.extend(mount.then(|| format!("Will mount {name} on {place}")));
                commented(Outcome::new(None, ""), comment)
            }
            "change" => commented(Outcome::new(None, ""), vec![format!("{place} entry will be updated in {config}.")]),
            other => {
                let comment = vec![format!("{place} entry cannot be created in {config}: {other}.")];
                return Ok(listed(Outcome::failed(""), comment));
            }
        };
        let apply = move |ctx: &Ctx| {
            let status = ctx.run("mount.set_fstab", Arguments::keywords(arguments))?.to_text();
            let changed = single("persist", status.as_str());
            Ok(match status.as_str() {
                "present" => commented(Outcome::done(""), vec![format!("{place} entry was already in {config}.")]),
                "new" => {
                    let mut outcome = Outcome::done("").with_changes(changed);
                    let mut comment = vec![format!("{place} entry added in {config}.")];
                    if mount {
                        comment.push(match ask(ctx, "mount.mount", [("name", place.as_str().into())])? {
                            Value::Str(error) => {
                                outcome.result = Some(false);
                                let error = error.split_once(':').map_or(error.as_str(), |(_, error)| error);
                                format!("Error while mounting {error}")
                            }
                            _ => format!("Mounted {name} on {place}"),
                        });
                    }
                    commented(outcome, comment)
                }
                "change" => commented(
                    Outcome::done("").with_changes(changed),
                    vec![format!("{place} entry updated in {config}.")],
                ),
                other => commented(
                    Outcome::failed(""),
                    vec![format!("{place} entry cannot be changed in {config}: {other}.")],
                ),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

/// These states say one thing a line.
fn commented(outcome: Outcome, comments: Vec<String>) -> Outcome {
    Outcome { comment: comments.join("\n"), ..outcome }
}

fn listed(outcome: Outcome, comments: Vec<String>) -> Plan {
    Plan::Stands(commented(outcome, comments))
}

/// A device by another of its names; nothing where it has none of that kind.
fn converted(ctx: &Ctx, device: &str, by: Option<&str>) -> Result<Option<String>, Fault> {
    let Some(by) = by.filter(|by| !by.is_empty()) else { return Ok(Some(device.to_owned())) };
    let upper = by.to_uppercase();
    if by == "device" && device.starts_with('/') || device.starts_with(&format!("{upper}=")) {
        return Ok(Some(device.to_owned()));
    }
    let word = if device.starts_with('/') { "device" } else { "token" };
    let found = ask(ctx, "disk.blkid", [(word, device.into())])?;
    let Some(found) = found.as_map().filter(|found| found.len() == 1).and_then(Map::first) else { return Ok(None) };
    Ok(match by {
        "device" => Some(found.0.to_text()),
        _ => found.1.at(&upper).map(|value| format!("{upper}={}", value.to_text())),
    })
}

record! {
    /// Makes sure that a file system has no entry in /etc/fstab.
    ///
    ///   /dev/sda1:
    ///     mount.fstab_absent:
    ///       - fs_file: /mnt
    pub struct FstabAbsent {
        /// The device, or `UUID=...` and the like.
        name: String,
        /// The place.
        fs_file: String,
        /// By what it stands there; as the name says, if not given.
        mount_by: Option<String> = (),
        /// The file.
        config: String = "/etc/fstab",
    }
}

impl State for FstabAbsent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let (place, config) = (bare(&self.fs_file), self.config);
        let Some(device) = converted(context.ctx, &self.name, self.mount_by.as_deref())? else {
            let by = self.mount_by.unwrap_or_default();
            return Ok(failed(format!("Device {} cannot be converted to {by}", self.name)));
        };
        if entry(context.ctx, &config, &place)?.is_none() {
            let comment = vec![format!("{place} entry is already missing in {config}.")];
            return Ok(listed(Outcome::done(""), comment));
        }
        let would = commented(Outcome::new(None, ""), vec![format!("{place} entry will be removed from {config}.")]);
        let apply = move |ctx: &Ctx| {
            let arguments =
                [("name", place.as_str().into()), ("device", device.into()), ("config", config.as_str().into())];
            let done = ask(ctx, "mount.rm_fstab", arguments)? == Value::Bool(true);
            Ok(match done {
                true => commented(
                    Outcome::done("").with_changes(single("persist", "removed")),
                    vec![format!("{place} entry removed from {config}.")],
                ),
                false => {
                    commented(Outcome::failed(""), vec![format!("{place} entry failed when removing from {config}.")])
                }
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
