//! `/etc/fstab`.

use super::joined;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths, text_file};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

/// A line that mounts something.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    device: String,
    name: String,
    fstype: String,
    opts: String,
    dump: String,
    pass: String,
}

impl Entry {
    fn parse(line: &str) -> Option<Entry> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with('#') || !(4..=6).contains(&words.len()) {
            return None;
        }
        let word = |at: usize| words.get(at).copied().unwrap_or("0").to_owned();
        Some(Entry { device: word(0), name: word(1), fstype: word(2), opts: word(3), dump: word(4), pass: word(5) })
    }

    fn line(&self) -> String {
        let Entry { device, name, fstype, opts, dump, pass } = self;
        format!("{device}\t\t{name}\t{fstype}\t{opts}\t{dump} {pass}\n")
    }

    /// The same but for the order of its options.
    fn is_same(&self, other: &Entry) -> bool {
        let sorted = |entry: &Entry| {
            let mut opts: Vec<String> = entry.opts.split(',').map(str::to_owned).collect();
            opts.sort();
            Entry { opts: opts.join(","), ..entry.clone() }
        };
        sorted(self) == sorted(other)
    }
}

record! {
    /// Shows what is mounted at boot, by place.
    ///
    ///   salt '*' mount.fstab
    pub struct Fstab {
        /// The file.
        config: String = "/etc/fstab",
    }
}

impl Run for Fstab {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut shown = Map::new();
        for entry in text_file::read(ctx.host, &self.config)?.lines().filter_map(Entry::parse) {
            let mut name = entry.name.clone();
            while shown.contains(&name) {
                name.push('_');
            }
            let fields = [
                ("device", Value::from(entry.device)),
                ("fstype", entry.fstype.into()),
                ("opts", Value::list(entry.opts.split(','))),
                ("dump", entry.dump.into()),
                ("pass", entry.pass.into()),
            ];
            shown.insert(name, Map::from_iter(fields));
        }
        Ok(shown.into())
    }
}

record! {
    /// Mounts something at boot no more.
    ///
    ///   salt '*' mount.rm_fstab /mnt/foo /dev/sdg
    pub struct RmFstab {
        /// The place.
        name: String,
        /// The device; without it any.
        device: Option<String>,
        /// The file.
        config: String = "/etc/fstab",
    }
}

impl Run for RmFstab {
    fn run(self, ctx: &Ctx) -> Reply {
        if !paths::exists(ctx.host, &self.config) {
            return Err(Fault::execution(format!("Couldn't read from {}: it is not there", self.config)));
        }
        let text = text_file::read(ctx.host, &self.config)?;
        let is_it = |line: &&str| {
            Entry::parse(line).is_some_and(|entry| {
                entry.name == self.name && self.device.as_ref().is_none_or(|device| *device == entry.device)
            })
        };
        let kept: String = text.split_inclusive('\n').filter(|line| !is_it(line)).collect();
        if kept != text {
            text_file::write(ctx.host, &self.config, &kept)?;
        }
        Ok(true.into())
    }
}

record! {
    /// Mounts something at boot. Returns `new`, `change` or `present`.
    ///
    ///   salt '*' mount.set_fstab /mnt/foo /dev/sdz1 ext4
    pub struct SetFstab {
        /// The place.
        name: String,
        /// The device.
        device: String,
        /// The kind of file system.
        fstype: String,
        /// Options: a list, or text with commas.
        opts: Value = "defaults",
        /// Whether dump(8) saves it.
        dump: Value = 0,
        /// When fsck(8) checks it.
        pass_num: Value = 0,
        /// The file.
        config: String = "/etc/fstab",
        /// Say what would be done.
        test: bool = false,
        /// What a line is known by: `auto` (the place, for some kinds of file system or the device), or names of fields.
        match_on: Value = "auto",
        /// Do not change a line that is there.
        not_change: bool = false,
        kwargs: Keywords,
    }
}

/// File systems whose device says nothing of the place: a line for one is known by its place.
const BY_NAME: [&str; 14] = [
    "none",
    "tmpfs",
    "sysfs",
    "proc",
    "fusectl",
    "debugfs",
    "securityfs",
    "devtmpfs",
    "cgroup",
    "nfs",
    "nfs4",
    "glusterfs",
    "btrfs",
    "ceph",
];

impl SetFstab {
    /// Whether a line is the one that is meant.
    fn is_meant(&self, entry: &Entry, wanted: &Entry) -> Result<bool, Fault> {
        let keys: Vec<String> = match &self.match_on {
            Value::Str(auto) if auto == "auto" => {
                vec![if BY_NAME.contains(&wanted.fstype.as_str()) { "name" } else { "device" }.to_owned()]
            }
            Value::List(keys) => keys.iter().map(Value::to_text).collect(),
            Value::Str(key) => vec![key.to_string()],
            _ => return Err(Fault::execution("match_on must be a string or list of strings")),
        };
        for key in &keys {
            let same = match key.as_str() {
                "device" => entry.device == wanted.device,
                "name" => entry.name == wanted.name,
                "fstype" => entry.fstype == wanted.fstype,
                "opts" => entry.opts == wanted.opts,
                "dump" => entry.dump == wanted.dump,
                "pass_num" => entry.pass == wanted.pass,
                _ => {
                    return Err(Fault::execution(format!("Unrecognized keys in match_on: \"{key}\"")));
                }
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Run for SetFstab {
    fn run(self, ctx: &Ctx) -> Reply {
        let wanted = Entry {
            device: self.device.replace("\\ ", "\\040"),
            name: self.name.clone(),
            fstype: self.fstype.clone(),
            opts: joined(&self.opts).replace("\\ ", "\\040"),
            dump: self.dump.to_text(),
            pass: self.pass_num.to_text(),
        };
        for field in [&wanted.device, &wanted.name, &wanted.fstype, &wanted.opts] {
            if field.is_empty() || field.contains(char::is_whitespace) {
                return Err(Fault::invocation(format!("'{field}' cannot stand in fstab: a blank is written \\040")));
            }
        }
        if !paths::is_file(ctx.host, &self.config) {
            return Err(Fault::execution(format!("Bad config file \"{}\"", self.config)));
        }
        let text = text_file::read(ctx.host, &self.config)?;
        let mut word = "new";
        let mut new = String::new();
        for line in text.split_inclusive('\n') {
            match Entry::parse(line) {
                Some(entry) if self.is_meant(&entry, &wanted)? => {
                    if self.not_change || entry.is_same(&wanted) {
                        word = if word == "change" { word } else { "present" };
                        new.push_str(line);
                    } else {
                        word = "change";
                        new.push_str(&wanted.line());
                    }
                }
                _ => new.push_str(line),
            }
        }
        if word == "new" {
            if !new.is_empty() && !new.ends_with('\n') {
                new.push('\n');
            }
            new.push_str(&wanted.line());
        }
        let is_test = self.test || ctx.opt("test").is_some_and(Value::truthy);
        if word != "present" && !is_test {
            text_file::write(ctx.host, &self.config, &new)?;
        }
        Ok(word.into())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_core::module::call;
    use halite_value::record::Arguments;

    #[test]
    fn lines_are_added_changed_and_left_alone() {
        let world = World::on(Fake::new().file("/etc/fstab", "# mine\n/dev/sda1 / ext4 rw,noatime 0 1\n"));
        let run = |fun: &str, words: &[&str], opts: &str| {
            let arguments = Arguments::positional(words.iter().copied());
            let arguments = if opts.is_empty() { arguments } else { arguments.with("opts", opts).with("pass_num", 1) };
            call(&world.ctx(&NoMaster), fun, arguments).unwrap().value
        };
        assert_eq!(run("mount.set_fstab", &["/", "/dev/sda1", "ext4"], "noatime,rw"), "present".into());
        assert_eq!(run("mount.set_fstab", &["/", "/dev/sda1", "ext4"], "ro"), "change".into());
        assert_eq!(run("mount.set_fstab", &["/mnt", "/dev/sdb1", "xfs"], ""), "new".into());
        let text = world.host.text("/etc/fstab").unwrap();
        assert_eq!(text, "# mine\n/dev/sda1\t\t/\text4\tro\t0 1\n/dev/sdb1\t\t/mnt\txfs\tdefaults\t0 0\n");
        assert_eq!(run("mount.rm_fstab", &["/mnt", "/dev/sdb1"], ""), true.into());
        assert!(!world.host.text("/etc/fstab").unwrap().contains("sdb1"));
    }
}
