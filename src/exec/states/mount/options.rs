//! Options of a mount as an SLS gives them, compared with those that the kernel shows.

use halite_core::state::ask;
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

/// Options that a mount does not show.
const INVISIBLE: [&str; 23] = [
    "_netdev",
    "actimeo",
    "auto",
    "backup-volfile-servers",
    "bg",
    "bind",
    "comment",
    "defaults",
    "delay_connect",
    "direct-io-mode",
    "intr",
    "loop",
    "nobootwait",
    "nofail",
    "nointr",
    "nonempty",
    "password",
    "port",
    "reconnect",
    "retry",
    "soft",
    "transform_symlinks",
    "users",
];

/// Options whose value it does not show.
const INVISIBLE_KEYS: [&str; 8] =
    ["actimeo", "comment", "credentials", "direct-io-mode", "password", "port", "retry", "secretfile"];

/// What an SLS adds to these lists.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub invisible: Vec<String>,
    pub invisible_keys: Vec<String>,
    /// Options that do not matter, by kind of the file system.
    pub ignored: Map,
    /// How an option is shown by the kernel, by how it is given.
    pub translated: Map,
}

impl Known {
    /// The options that are wanted and that a mount does not have.
    pub fn missing(&self, ctx: &Ctx, fstype: &str, wanted: &[String], entry: &Value) -> Result<Vec<String>, Fault> {
        let shown = |key: &str| -> Vec<String> {
            entry
                .at(key)
                .and_then(Value::as_list)
                .unwrap_or_default()
                .iter()
                .map(Value::to_text)
                .map(in_kilobytes)
                .collect()
        };
        let own: Vec<String> = shown("opts").into_iter().chain(shown("superopts")).collect();
        let mut missing = Vec::new();
        for option in wanted {
            let option = self.normal(ctx, fstype, option)?;
            let is_known = own.contains(&option)
                || INVISIBLE.contains(&option.as_str())
                || INVISIBLE_KEYS.contains(&option.as_str())
                || self.invisible.contains(&option)
                || self.invisible_keys.contains(&option)
                || self.is_ignored(fstype, &option);
            if !is_known {
                missing.push(option);
            }
        }
        missing.sort();
        Ok(missing)
    }

    fn is_ignored(&self, fstype: &str, option: &str) -> bool {
        let given = self.ignored.at(fstype).and_then(Value::as_list).unwrap_or_default();
        fstype == "ramfs" && option == "size" || given.iter().any(|ignored| ignored.as_str() == Some(option))
    }

    /// An option as the kernel shows it.
    fn normal(&self, ctx: &Ctx, fstype: &str, option: &str) -> Result<String, Fault> {
        let option = match (self.translated.at(option), option) {
            (Some(other), _) => other.to_text(),
            (None, "tcp") => "proto=tcp".to_owned(),
            (None, "udp") => "proto=udp".to_owned(),
            (None, other) => in_kilobytes(other.to_owned()),
        };
        let Some((key, value)) = option.split_once('=') else { return Ok(option) };
        if INVISIBLE_KEYS.contains(&key)
            || self.invisible_keys.iter().any(|own| own == key)
            || self.is_ignored(fstype, key)
        {
            return Ok(key.to_owned());
        }
        Ok(match key {
            "user" if fstype == "cifs" => format!("username={value}"),
            "uid" | "gid" if value.parse::<u32>().is_err() => {
                let function = if key == "uid" { "user.info" } else { "group.info" };
                let info = ask(ctx, function, [("name", value.into())])?;
                let id = info.at(key).map_or_else(|| value.to_owned(), Value::to_text);
                format!("{key}={id}")
            }
            _ => option,
        })
    }
}

/// Sizes are shown in kilobytes.
fn in_kilobytes(option: String) -> String {
    let Some(size) = option.strip_prefix("size=") else { return option };
    let unit = size.chars().last().filter(char::is_ascii_alphabetic);
    let number = size.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse::<u64>().ok();
    let factor = match unit {
        Some('k') => 1,
        Some('m') => 1024,
        Some('g') => 1024 * 1024,
        _ => return option,
    };
    number.and_then(|number| number.checked_mul(factor)).map_or(option.clone(), |size| format!("size={size}k"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::context::NoMaster;

    #[test]
    fn options_are_compared_as_the_kernel_shows_them() {
        let world = World::new();
        let entry = Value::from(Map::from_iter([
            ("opts", Value::list(["rw", "size=1048576k"])),
            ("superopts", Value::list(["proto=tcp"])),
        ]));
        let missing = |fstype: &str, wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|option| (*option).to_owned()).collect();
            Known::default().missing(&world.ctx(&NoMaster), fstype, &wanted, &entry).unwrap()
        };
        assert!(missing("tmpfs", &["defaults", "rw", "size=1g", "tcp", "comment=x"]).is_empty());
        assert_eq!(missing("tmpfs", &["noexec", "size=2g", "ro"]), ["noexec", "ro", "size=2097152k"]);
        assert!(missing("ramfs", &["size=2g"]).is_empty());
    }
}
