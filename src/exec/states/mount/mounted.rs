//! `mount.mounted`.

use super::options::Known;
use super::{active, bare, listed};
use halite_core::program::Program;
use halite_core::state::{Outcome, Plan, PlanContext, State, ask, failed, given};
use halite_core::{Ctx, Fault, paths};
use halite_lang::regex::Regex;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

record! {
    /// Makes sure that a file system is mounted, now and from the next boot on.
    ///
    ///   /mnt/sdb:
    ///     mount.mounted:
    ///       - device: /dev/sdb1
    ///       - fstype: ext4
    ///       - mkmnt: True
    ///       - opts:
    ///         - defaults
    pub struct Mounted {
        /// The place.
        name: String,
        /// The device, `UUID=...`, `LABEL=...` or the like.
        device: Option<String>,
        /// The kind of the file system.
        fstype: Option<String>,
        /// Make the directory where it is missing.
        mkmnt: bool = false,
        /// The options: a list, or a text with commas.
        opts: Value = "defaults",
        /// Whether dump(8) saves it.
        dump: Value = 0,
        /// When fsck(8) checks it.
        pass_num: Value = 0,
        /// The file that says what is mounted at boot.
        config: String = "/etc/fstab",
        /// Whether it stands in that file.
        persist: bool = true,
        /// Whether it is mounted now.
        mount: bool = true,
        /// The account that does it.
        user: Option<String> = (),
        /// What makes an entry of that file the same one.
        match_on: Value = "auto",
        /// Patterns for devices that are as good as the one that is named.
        device_name_regex: Value = (),
        /// More options that a mount does not show.
        extra_mount_invisible_options: Value = (),
        /// More options whose value it does not show.
        extra_mount_invisible_keys: Value = (),
        /// Options that do not matter, by kind of the file system.
        extra_mount_ignore_fs_keys: Map = Value::Map(Map::new()),
        /// How options are shown, by how they are given.
        extra_mount_translate_options: Map = Value::Map(Map::new()),
        /// Options that are for the file alone.
        hidden_opts: Value = (),
        /// Whether a bind mount has the options of what it shows.
        bind_mount_copy_active_opts: bool = true,
        kwargs: Keywords,
    }
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        Value::Null => Vec::new(),
        other => other.to_text().split(',').map(str::to_owned).collect(),
    }
}

/// Adds what became of the entry for the boot.
pub fn note_kept(outcome: &mut Outcome, status: &str) {
    let (change, note) = match status {
        "new" => (Some("new"), ". Added new entry to the fstab."),
        "change" => (Some("update"), ". Updated the entry in the fstab."),
        "bad config" => {
            outcome.result = Some(false);
            (None, ". However, the fstab was not found.")
        }
        _ => return,
    };
    outcome.comment.push_str(note);
    if let Some(change) = change {
        outcome.changes.insert("persist", change);
    }
}

impl State for Mounted {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if self.name.is_empty() {
            return Ok(failed("Must provide name to mount.mounted"));
        }
        let Some(device) = given(&self.device) else {
            return Ok(failed("Must provide device to mount.mounted"));
        };
        let Some(fstype) = given(&self.fstype) else {
            return Ok(failed("Must provide fstype to mount.mounted"));
        };
        let name = bare(&self.name);
        let mut work = Work { options: texts(&self.opts), name, device, fstype, state: self };
        let seen = work.look(context.ctx)?;
        let would = work.would(context.ctx, &seen)?;
        if would.result == Some(true) && seen.now == Now::Mounted {
            let kept = if work.state.persist { ". Entry already exists in the fstab." } else { "" };
            let done = format!("{}{kept}", would.comment);
            let cached = work.writes_cache(context.ctx)?;
            if !cached {
                return Ok(halite_core::state::stands(would, Outcome::done(done)));
            }
        }
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| work.mount(ctx, seen)) })
    }
}

struct Work {
    name: String,
    device: String,
    fstype: String,
    options: Vec<String>,
    state: Mounted,
}

/// How it is now.
#[derive(Debug, PartialEq, Eq)]
enum Now {
    Absent,
    Mounted,
    /// Another device is there.
    Other(Vec<String>),
    /// A device is there that a pattern says is as good.
    AsGood(String),
    /// It is there without some options.
    Without(Vec<String>),
}

struct Seen {
    now: Now,
    /// The device without links.
    real_device: String,
    real_name: String,
}

impl Work {
    /// The error is for whoever wrote the SLS.
    fn look(&mut self, ctx: &Ctx) -> Result<Seen, Fault> {
        let all = active(ctx)?;
        let real_name = paths::real(ctx.host, &self.name);
        let entry = all.at(&listed(&real_name)).cloned();
        let mut real_device = self.real_device(ctx)?;
        if self.device.starts_with('/') && self.options.iter().any(|option| option == "bind") && entry.is_some() {
            real_device = self.bound(&all, entry.as_ref()).unwrap_or(real_device);
        }
        let Some(entry) = entry.filter(|_| self.state.mount) else {
            let now = if all.contains(&listed(&real_name)) { Now::Mounted } else { Now::Absent };
            return Ok(Seen { now, real_device, real_name });
        };
        let mut devices = Vec::new();
        for key in ["device", "alt_device", "device_uuid", "device_label"] {
            if let Some(device) = entry.at(key).filter(|device| device.truthy()).map(Value::to_text) {
                if key == "device" {
                    devices.push(paths::real(ctx.host, &device));
                }
                devices.insert(0, device);
            }
        }
        devices.dedup();
        let mut known = Known {
            invisible: texts(&self.state.extra_mount_invisible_options),
            invisible_keys: texts(&self.state.extra_mount_invisible_keys),
            ignored: self.state.extra_mount_ignore_fs_keys.clone(),
            translated: self.state.extra_mount_translate_options.clone(),
        };
        known.invisible.extend(texts(&self.state.hidden_opts));
        let missing = known.missing(ctx, &self.fstype, &self.options, &entry)?;
        let now = if !missing.is_empty() {
            Now::Without(missing)
        } else if devices.contains(&real_device) || devices.contains(&self.device) {
            Now::Mounted
        } else {
            match self.as_good(&devices)? {
                Some(device) => Now::AsGood(device),
                None => Now::Other(devices),
            }
        };
        Ok(Seen { now, real_device, real_name })
    }

    fn real_device(&self, ctx: &Ctx) -> Result<String, Fault> {
        let device = &self.device;
        let upper = device.to_uppercase();
        if device.starts_with('/') {
            let parts: Vec<&str> = device.trim_start_matches('/').split('/').collect();
            if let ["dev", group, volume] = parts.as_slice() {
                let mapper = format!("/dev/mapper/{}-{}", group.replace('-', "--"), volume.replace('-', "--"));
                if paths::exists(ctx.host, &mapper) {
                    return Ok(mapper);
                }
            }
            return Ok(paths::real(ctx.host, device));
        }
        let value = device.split_once('=').map(|(_, value)| value.trim_matches('"').to_owned()).unwrap_or_default();
        if upper.starts_with("UUID=") {
            return Ok(value.to_lowercase());
        }
        if upper.starts_with("LABEL=") {
            let answer = Program::new(["blkid".to_owned(), "-t".to_owned(), format!("LABEL={value}")]).query(ctx)?;
            let first = answer.stdout.lines().next().and_then(|line| line.split(':').next()).map(str::to_owned);
            return first
                .filter(|_| answer.is_success())
                .ok_or_else(|| Fault::comment(format!("Unable to find device with label {value}.")));
        }
        // `sshfs#user@host:/path` is the device behind the sign.
        match device.split_once('#') {
            Some((program, rest)) if !program.is_empty() => Ok(rest.to_owned()),
            _ => Ok(device.clone()),
        }
    }

    /// The device below a directory that is shown at another place, whose options count too.
    fn bound(&mut self, all: &Map, entry: Option<&Value>) -> Option<String> {
        let shown = entry?.at("device")?.to_text();
        let mut path = listed(&self.device);
        loop {
            if let Some(below) = all.at(&path) {
                if self.state.bind_mount_copy_active_opts {
                    let list = |key: &str| below.at(key).map(texts).unwrap_or_default();
                    self.options.extend(list("opts").into_iter().chain(list("superopts")));
                    self.options.sort();
                    self.options.dedup();
                }
                return Some(if shown.starts_with('/') { below.at("device")?.to_text() } else { shown });
            }
            if path == "/" || path.is_empty() {
                return (!shown.starts_with('/')).then_some(shown);
            }
            path = paths::directory_of(&path);
        }
    }

    fn as_good(&self, devices: &[String]) -> Result<Option<String>, Fault> {
        for pattern in texts(&self.state.device_name_regex) {
            let regex = Regex::new(&pattern).map_err(|error| Fault::invocation(format!("{pattern}: {error}")))?;
            for device in devices {
                if regex.match_start(device).map_err(|error| Fault::invocation(error.to_string()))?.is_some() {
                    return Ok(Some(device.clone()));
                }
            }
        }
        Ok(None)
    }

    fn would(&self, ctx: &Ctx, seen: &Seen) -> Result<Outcome, Fault> {
        let name = &self.name;
        let is_there = paths::exists(ctx.host, name);
        let mut outcome = match &seen.now {
            Now::Without(options) => {
                let options = options.join(",");
                return Ok(Outcome::new(None, format!("Remount would be forced because options ({options}) changed")));
            }
            Now::Other(_) => Outcome::new(
                None,
                format!("An umount would have been forced because devices do not match.  Watched: {}", self.device),
            ),
            Now::AsGood(device) => Outcome::done(as_good(device)),
            Now::Mounted if self.state.mount => Outcome::done("Target was already mounted"),
            Now::Mounted => Outcome::done(""),
            Now::Absent => {
                let comment = match (self.state.mount, is_there, self.state.mkmnt) {
                    (true, true, _) => format!("{name} would be mounted"),
                    (true, false, true) => format!("{name} would be created and mounted"),
                    (true, false, false) => format!("{name} does not exist and would not be created"),
                    (false, true, _) => format!("{name} would not be mounted"),
                    (false, false, true) => format!("{name} would be created, but not mounted"),
                    (false, false, false) => {
                        format!("{name} does not exist and would neither be created nor mounted")
                    }
                };
                if self.state.mount {
                    return Ok(Outcome::new(None, comment));
                }
                Outcome::new(is_there.then_some(true), comment)
            }
        };
        if !self.state.persist {
            return Ok(outcome);
        }
        let status = ctx.run("mount.set_fstab", self.fstab().with("test", true))?.to_text();
        let comment = match (status.as_str(), self.state.mount) {
            ("present", _) => return Ok(outcome),
            ("new", true) => {
                format!("{name} is mounted, but needs to be written to the fstab in order to be made persistent.")
            }
            ("new", false) => format!("{name} needs to be written to the fstab in order to be made persistent."),
            ("change", true) => format!("{name} is mounted, but its fstab entry must be updated."),
            ("change", false) => format!("The {name} fstab entry must be updated."),
            (other, _) => {
                outcome.result = Some(false);
                outcome.comment = format!(
                    "{}. Unable to detect fstab status for mount point {name} due to unexpected output '{other}' from call \
                     to mount.set_fstab. This is most likely a bug.",
                    outcome.comment
                );
                return Ok(outcome);
            }
        };
        outcome.result = None;
        outcome.comment = format!("{}. {comment}", outcome.comment);
        Ok(outcome)
    }

    fn fstab(&self) -> Arguments {
        Arguments::keywords(given([
            ("name", self.name.as_str().into()),
            ("device", self.device.as_str().into()),
            ("fstype", self.fstype.as_str().into()),
            ("opts", self.shown_options()),
            ("dump", self.state.dump.clone()),
            ("pass_num", self.state.pass_num.clone()),
            ("config", self.state.config.as_str().into()),
            ("match_on", self.state.match_on.clone()),
        ]))
    }

    fn shown_options(&self) -> Value {
        Value::list(self.options.iter().map(String::as_str))
    }

    /// Whether what it is mounted with is not noted yet.
    fn writes_cache(&self, ctx: &Ctx) -> Result<bool, Fault> {
        let real = paths::real(ctx.host, &self.name);
        let noted = ask(ctx, "mount.read_mount_cache", [("name", real.into())])?;
        Ok(self.state.mount && noted.at("opts").is_none())
    }

    fn how(&self, name: &str) -> Arguments {
        Arguments::keywords(given([
            ("name", name.into()),
            ("device", self.device.as_str().into()),
            ("mkmnt", self.state.mkmnt.into()),
            ("fstype", self.fstype.as_str().into()),
            ("opts", self.shown_options()),
            ("user", self.state.user.clone().into()),
        ]))
    }

    fn mount(self, ctx: &Ctx, seen: Seen) -> Result<Outcome, Fault> {
        let name = self.name.clone();
        let mut outcome = Outcome::done("");
        let mut is_absent = seen.now == Now::Absent;
        match &seen.now {
            Now::Without(options) => {
                outcome = self.remount(ctx, &seen, &options.join(","))?;
                if outcome.result == Some(false) {
                    return Ok(outcome);
                }
            }
            Now::Other(devices) => {
                let real = match seen.real_device == self.device {
                    true => String::new(),
                    false => format!(" ({})", seen.real_device),
                };
                outcome.changes.insert(
                    "umount",
                    format!(
                        "Forced unmount because devices don't match. Wanted: {}{real}, current: {}",
                        self.device,
                        devices.join(", ")
                    ),
                );
                let user = self.state.user.clone().into();
                ask(ctx, "mount.umount", [("name", seen.real_name.as_str().into()), ("user", user)])?;
                if active(ctx)?.contains(&listed(&seen.real_name)) {
                    return Ok(Outcome { result: Some(false), comment: "Unable to unmount".to_owned(), ..outcome });
                }
                is_absent = true;
            }
            Now::AsGood(device) => outcome.comment = as_good(device),
            Now::Mounted if self.state.mount => outcome.comment = "Target was already mounted".to_owned(),
            Now::Mounted | Now::Absent => {}
        }
        if is_absent {
            let there = paths::exists(ctx.host, &name);
            if self.state.mount && !there && !self.state.mkmnt {
                return Ok(Outcome::failed("Mount directory is not present").with_changes(outcome.changes));
            }
            if self.state.mount {
                match ctx.run("mount.mount", self.how(&name))? {
                    Value::Str(error) => return Ok(Outcome::failed(error).with_changes(outcome.changes)),
                    _ if active(ctx)?.contains(&listed(&paths::real(ctx.host, &name))) => {
                        outcome.comment = "Target was successfully mounted".to_owned();
                        outcome.changes.insert("mount", true);
                    }
                    _ => {}
                }
            } else {
                outcome.comment = match (there, self.state.mkmnt) {
                    (true, _) => format!("{name} not mounted"),
                    (false, true) => {
                        ask(ctx, "file.mkdir", [("dir_path", name.as_str().into())])?;
                        format!("{name} was created, not mounted")
                    }
                    (false, false) => format!("{name} not present and not mounted"),
                };
            }
        }
        if self.state.persist {
            let status = ctx.run("mount.set_fstab", self.fstab())?.to_text();
            match status.as_str() {
                "present" => outcome.comment.push_str(". Entry already exists in the fstab."),
                other => note_kept(&mut outcome, other),
            }
            if self.state.mount {
                let noted = given([
                    ("real_name", paths::real(ctx.host, &name).into()),
                    ("device", self.device.as_str().into()),
                    ("mkmnt", self.state.mkmnt.into()),
                    ("fstype", self.fstype.as_str().into()),
                    ("mount_opts", self.shown_options()),
                ]);
                ctx.run("mount.write_mount_cache", Arguments::keywords(noted))?;
            }
        }
        Ok(outcome)
    }

    fn remount(&self, ctx: &Ctx, seen: &Seen, options: &str) -> Result<Outcome, Fault> {
        let apart = matches!(self.fstype.as_str(), "nfs" | "cvfs") || self.fstype.starts_with("fuse");
        let mut outcome = Outcome::done("");
        if !apart {
            outcome.changes.insert("umount", format!("Forced remount because options ({options}) changed"));
            let done = ctx.run("mount.remount", self.how(&seen.real_name))?;
            return Ok(match done {
                Value::Bool(true) => outcome,
                other => Outcome { result: Some(false), comment: other.to_text(), ..outcome },
            });
        }
        outcome.changes.insert("umount", format!("Forced unmount and mount because options ({options}) changed"));
        let name = || ("name", Value::from(seen.real_name.as_str()));
        let mut gone = ask(ctx, "mount.umount", [name()])?;
        if gone != Value::Bool(true) {
            outcome.changes.insert(
                "umount",
                format!(
                    "Forced a lazy unmount and mount because the previous unmount failed and because the options \
                     ({options}) changed"
                ),
            );
            gone = ask(ctx, "mount.umount", [name(), ("lazy", true.into())])?;
        }
        if gone != Value::Bool(true) {
            let comment = format!("Unable to unmount {}: {}.", seen.real_name, gone.to_text());
            return Ok(Outcome { result: Some(false), comment, ..outcome });
        }
        let done = ctx.run("mount.mount", self.how(&seen.real_name))?;
        outcome.result = Some(done == Value::Bool(true));
        Ok(outcome)
    }
}

fn as_good(device: &str) -> String {
    format!("An umount will not be forced because device matched device_name_regex: {device}")
}
