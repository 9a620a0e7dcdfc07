//! Maps of the automounter.

use super::joined;
use halite_core::module::Run;
use halite_core::{Ctx, Reply, paths, text_file};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

/// Place, options and device of a line.
fn parse(line: &str) -> Option<[&str; 3]> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [place, opts, device] if !line.starts_with('#') => Some([place, opts, device]),
        _ => None,
    }
}

record! {
    /// Shows what the automounter mounts, by place.
    ///
    ///   salt '*' mount.automaster
    pub struct Automaster {
        /// The map.
        config: String = "/etc/auto_salt",
    }
}

impl Run for Automaster {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut shown = Map::new();
        for [place, opts, device] in text_file::read(ctx.host, &self.config)?.lines().filter_map(parse) {
            let mut opts = opts.split(',');
            let entry = [
                ("device", Value::from(device.split(':').nth(1).unwrap_or_default())),
                ("fstype", opts.next().unwrap_or_default().into()),
                ("opts", Value::list(opts)),
            ];
            shown.insert(place.replace("/..", ""), Map::from_iter(entry));
        }
        Ok(shown.into())
    }
}

record! {
    /// Lets the automounter mount something. Returns `new`, `change` or `present`.
    ///
    ///   salt '*' mount.set_automaster /mnt/foo /dev/sdz1 ext4
    pub struct SetAutomaster {
        /// The place.
        name: String,
        /// The device.
        device: String,
        /// The kind of file system.
        fstype: String,
        /// Options: a list, or text with commas.
        opts: Value = "",
        /// The map.
        config: String = "/etc/auto_salt",
        /// Say what would be done.
        test: bool = false,
        /// Do not change a line that is there.
        not_change: bool = false,
        kwargs: Keywords,
    }
}

impl Run for SetAutomaster {
    fn run(self, ctx: &Ctx) -> Reply {
        let is_test = self.test || ctx.opt("test").is_some_and(Value::truthy);
        let is_new = !paths::is_file(ctx.host, &self.config);
        let place = format!("/..{}", self.name);
        let kind = if self.fstype == "smbfs" { "" } else { self.fstype.as_str() };
        let device = format!("{kind}:{}", self.device);
        let opts = format!("-fstype={},{}", self.fstype, joined(&self.opts));
        let line = format!("{place}\t{opts}\t{device}\n");
        let mut word = "new";
        let mut new = String::new();
        for old in text_file::read(ctx.host, &self.config)?.split_inclusive('\n') {
            match parse(old) {
                Some([own, _, at]) if own == place || at == device => {
                    let same = parse(old) == Some([place.as_str(), opts.as_str(), device.as_str()]);
                    word = if same || self.not_change { "present" } else { "change" };
                    new.push_str(if word == "present" { old } else { &line });
                }
                _ => new.push_str(old),
            }
        }
        if word == "new" {
            new.push_str(&line);
        }
        if word != "present" && !is_test {
            text_file::write(ctx.host, &self.config, &new)?;
            if is_new {
                let master = text_file::read(ctx.host, "/etc/auto_master")?;
                text_file::write(ctx.host, "/etc/auto_master", &format!("{master}/-\t\t\t{}\n", self.config))?;
            }
        }
        Ok(word.into())
    }
}

record! {
    /// Lets the automounter mount something no more.
    ///
    ///   salt '*' mount.rm_automaster /mnt/foo /dev/sdg
    pub struct RmAutomaster {
        /// The place.
        name: String,
        /// The device; empty: any.
        device: Option<String>,
        /// The map.
        config: String = "/etc/auto_salt",
    }
}

impl Run for RmAutomaster {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = text_file::read(ctx.host, &self.config)?;
        let device = self.device.filter(|device| !device.is_empty());
        let is_it = |line: &&str| {
            parse(line).is_some_and(|[place, _, at]| {
                let same = device.as_ref().is_none_or(|device| at.split(':').nth(1) == Some(device));
                place.replace("/..", "") == self.name && same
            })
        };
        let kept: String = text.split_inclusive('\n').filter(|line| !is_it(line)).collect();
        if kept != text {
            text_file::write(ctx.host, &self.config, &kept)?;
        }
        Ok(true.into())
    }
}
