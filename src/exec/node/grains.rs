//! Grains: what a minion knows of the machine it runs on.
//!
//! A family of grains is one file and one line in [`FAMILIES`]. All are read from files of the kernel and the system:
//! a minion must be ready in milliseconds. The static grains of the configuration (`grains:`, and the file `grains`
//! beside it) come over what was found.

mod disks;
mod hardware;
mod kept;
mod kernel;
mod locale;
mod network;
mod os;
mod process;
mod program;
mod storage;
mod virtualization;

pub use kept::{forget, keep, known, renew};

use halite_core::host::Host;
use halite_lang::merge::{Lists, update};
use halite_lang::regex::Regex;
use halite_lang::target::fnmatch::fnmatch;
use halite_lang::yaml;
use halite_value::{Map, Value};
use std::path::Path;

/// What a family reads: the machine, the options, and the grains of the families before it.
struct Look<'a> {
    host: &'a dyn Host,
    opts: &'a Map,
    found: &'a Map,
}

type Family = fn(&Look) -> Map;

/// In the order in which they are read: a later one may look at what an earlier one found.
const FAMILIES: &[(&str, Family)] = &[
    ("kernel", kernel::grains),
    ("os", os::grains),
    ("hardware", hardware::grains),
    ("disks", disks::grains),
    ("network", network::grains),
    ("storage", storage::grains),
    ("virtualization", virtualization::grains),
    ("locale", locale::grains),
    ("process", process::grains),
    ("program", program::grains),
];

/// All grains of this machine. A family that finds nothing is left out; nothing here fails.
pub fn collect(host: &dyn Host, opts: &Map) -> Map {
    if is_on(opts, "skip_grains") {
        return Map::new();
    }
    let mut grains = Map::new();
    for (_, family) in FAMILIES {
        let found = family(&Look { host, opts, found: &grains });
        grains.extend(found);
    }
    put(&mut grains, static_file(host, opts), opts);
    // Only now: a family may look at what nobody wants to see.
    for pattern in opts.at("grains_blacklist").and_then(Value::as_list).unwrap_or_default() {
        let pattern = pattern.to_text();
        grains.retain(|name, _| !is_meant(&name.to_text(), &pattern));
    }
    // What the configuration says stands above the file that `grains.setval` writes.
    if let Some(configured) = opts.at("grains").and_then(Value::as_map) {
        put(&mut grains, configured.clone(), opts);
    }
    grains
}

/// Puts grains over others; maps are merged where `grains_deep_merge` says so.
fn put(grains: &mut Map, over: Map, opts: &Map) {
    match is_on(opts, "grains_deep_merge") {
        true => update(grains, over, Lists::Replace),
        false => grains.extend(over),
    }
}

/// Whether a pattern means a name: as a glob, or as an expression for the whole of it.
fn is_meant(name: &str, pattern: &str) -> bool {
    let expression = || Regex::new(&format!(r"\A(?:{pattern})\Z")).and_then(|expression| expression.search(name));
    fnmatch(name, pattern) || expression().is_ok_and(|found| found.is_some())
}

fn is_on(opts: &Map, name: &str) -> bool {
    opts.at(name).is_some_and(Value::truthy)
}

/// Where a job notes the grains that it has written: each in a list, which is empty if the grain is gone.
pub const WRITTEN: &str = "__grains_written__";

/// The file that `grains.setval` writes: `grains`, in the directory of the configuration.
pub fn file(opts: &Map) -> std::path::PathBuf {
    let conf_file = opts.str_at("conf_file").unwrap_or("/etc/salt/minion");
    Path::new(conf_file).with_file_name("grains")
}

fn static_file(host: &dyn Host, opts: &Map) -> Map {
    let path = file(opts);
    let Ok(bytes) = host.read(&path) else {
        return Map::new();
    };
    match yaml::load(&String::from_utf8_lossy(&bytes)) {
        Ok(Value::Map(grains)) => grains,
        Ok(Value::Null) => Map::new(),
        Ok(other) => {
            log::error!("{}: the grains are a {}, not a map: they are not used", path.display(), other.type_name());
            Map::new()
        }
        Err(error) => {
            log::error!("{}: {error}: the grains in it are not used", path.display());
            Map::new()
        }
    }
}

impl Look<'_> {
    /// A file's text; nothing where it cannot be read.
    fn text(&self, path: &str) -> Option<String> {
        self.host.read(Path::new(path)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The text of a file that holds one line.
    fn line(&self, path: &str) -> Option<String> {
        self.text(path).map(|text| text.trim().to_owned())
    }

    fn exists(&self, path: &str) -> bool {
        self.host.stat(Path::new(path)).is_ok()
    }

    fn names(&self, directory: &str) -> Vec<String> {
        self.host.list(Path::new(directory)).unwrap_or_default()
    }

    fn found(&self, grain: &str) -> &str {
        self.found.str_at(grain).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
