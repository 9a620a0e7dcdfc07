//! The files that a pillar comes from, and whether they have changed.

use super::external;
use halite_core::host::own::{self, MetadataExt};
use halite_value::{Map, Value};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Deeper than this nothing is looked at.
const DEPTH: usize = 64;
/// A file that was written later than this before a look may be written once more without a sign of it: clocks of file
/// systems are coarse.
const SETTLED: Duration = Duration::from_millis(50);

/// Where the pillars of a configuration come from.
#[derive(Clone, Debug)]
pub struct Sources {
    directories: Vec<PathBuf>,
}

/// How the sources were at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    state: u64,
    /// False: something has just changed, and may change again unseen.
    pub is_settled: bool,
}

impl Seen {
    /// Whether the sources are still what they were then.
    pub fn is_same(self, then: Seen) -> bool {
        then.is_settled && self.state == then.state
    }
}

impl Sources {
    pub fn of(opts: &Map) -> Sources {
        let roots = opts.at("pillar_roots").and_then(Value::as_map);
        let named = roots.into_iter().flat_map(Map::values).flat_map(|list| list.as_list().unwrap_or_default());
        let mut directories: Vec<PathBuf> = named.map(|directory| above_environment(&directory.to_text())).collect();
        directories.extend(external::directories(opts));
        directories.sort();
        directories.dedup();
        Sources { directories }
    }

    /// Looks at every file; blocks.
    pub fn look(&self) -> Seen {
        let mut hasher = DefaultHasher::new();
        let mut newest = SystemTime::UNIX_EPOCH;
        for directory in &self.directories {
            look(directory, DEPTH, &mut hasher, &mut newest);
        }
        let age = SystemTime::now().duration_since(newest).unwrap_or_default();
        Seen { state: hasher.finish(), is_settled: age > SETTLED }
    }
}

/// The directory that has the environments where `__env__` stands in a path.
fn above_environment(directory: &str) -> PathBuf {
    let fixed = directory.split("__env__").next().unwrap_or(directory);
    match fixed.len() == directory.len() {
        true => PathBuf::from(directory),
        false => PathBuf::from(fixed.rsplit_once('/').map_or(".", |(above, _)| above)),
    }
}

fn look(path: &Path, depth: usize, hasher: &mut DefaultHasher, newest: &mut SystemTime) {
    path.hash(hasher);
    let Ok(data) = own::look(path) else {
        return;
    };
    (data.dev(), data.ino(), data.mode(), data.size()).hash(hasher);
    (data.mtime(), data.mtime_nsec(), data.ctime(), data.ctime_nsec()).hash(hasher);
    let changed =
        Duration::new(u64::try_from(data.ctime()).unwrap_or(0), data.ctime_nsec().clamp(0, 999_999_999) as u32);
    *newest = (*newest).max(SystemTime::UNIX_EPOCH + changed);
    if !data.is_dir() || depth == 0 {
        return;
    }
    let mut entries: Vec<PathBuf> =
        own::entries(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        look(&entry, depth - 1, hasher, newest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Directory;
    use std::fs;

    #[test]
    fn what_changes_is_seen() {
        let directory = Directory::new();
        let (base, sls) = (directory.path().join("base/a"), directory.path().join("base/a/x.sls"));
        fs::create_dir_all(&base).unwrap();
        let roots = Map::from_iter([("base", Value::list([directory.path().join("base").to_str().unwrap()]))]);
        let sources = Sources::of(&Map::from_iter([("pillar_roots", roots)]));
        let first = sources.look();
        assert_eq!(sources.look().state, first.state);
        fs::write(&sls, "a: 1").unwrap();
        let second = sources.look();
        assert_ne!(second.state, first.state);
        assert!(!second.is_settled && !second.is_same(second), "it may be written again in the same moment");
        fs::write(&sls, "a: 12").unwrap();
        assert_ne!(sources.look().state, second.state);
        fs::remove_file(&sls).unwrap();
        assert_ne!(sources.look().state, second.state);
    }

    #[test]
    fn the_directory_above_any_environment_is_looked_at() {
        assert_eq!(above_environment("/srv/pillar"), Path::new("/srv/pillar"));
        assert_eq!(above_environment("/srv/env-__env__/pillar"), Path::new("/srv"));
    }
}
