//! Which files below the roots have changed since the last look: what `fileserver.update` and the event
//! `salt/fileserver/roots/update` are about.
//!
//! What was seen is kept in `<cachedir>/roots/mtime_map`, a line a file: path, colon, time of the last change.

use super::server::FileServer;
use halite_core::host::own::{self, MetadataExt};
use halite_value::{Map, Value};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// What has changed, paths sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub changed: Vec<String>,
    pub removed: Vec<String>,
    pub added: Vec<String>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.removed.is_empty() && self.added.is_empty()
    }

    /// As the event has it.
    pub fn shown(&self) -> Map {
        let list = |paths: &[String]| Value::list(paths.iter().map(String::as_str));
        let files = Map::from_iter([
            ("changed", list(&self.changed)),
            ("removed", list(&self.removed)),
            ("added", list(&self.added)),
        ]);
        Map::from_iter([
            ("changed", Value::from(!self.is_empty())),
            ("files", files.into()),
            ("backend", "roots".into()),
        ])
    }
}

impl FileServer {
    /// Looks at every file and compares with the last look, which is replaced.
    pub fn update(&self, cachedir: &Path) -> io::Result<Changes> {
        let path = cachedir.join("roots/mtime_map");
        let before = own::read_text(&path).map(|text| parse(&text)).unwrap_or_default();
        let now = self.times();
        let text: String = now.iter().map(|(file, time)| format!("{file}:{time}\n")).collect();
        own::replace(&path, text.as_bytes())?;
        let only_in = |one: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
            one.keys().filter(|file| !other.contains_key(*file)).cloned().collect()
        };
        let differs = |(file, time): (&String, &String)| before.get(file).is_some_and(|before| before != time);
        Ok(Changes {
            changed: now.iter().filter(|(file, time)| differs((file, time))).map(|(file, _)| file.clone()).collect(),
            removed: only_in(&before, &now),
            added: only_in(&now, &before),
        })
    }

    fn times(&self) -> BTreeMap<String, String> {
        let (directories, ignore) = self.watched();
        let mut times = BTreeMap::new();
        let mut todo: Vec<_> = directories.collect();
        while let Some(directory) = todo.pop() {
            for entry in own::entries(&directory).into_iter().flatten().flatten() {
                let path = entry.path();
                // A link to a directory is no directory here: it may lead in a circle.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    todo.push(path);
                    continue;
                }
                let Some(name) = path.to_str().filter(|name| !ignore.covers(name) && !name.contains('\n')) else {
                    continue;
                };
                if let Ok(data) = own::look(&path) {
                    times.insert(name.to_owned(), format!("{}.{:09}", data.mtime(), data.mtime_nsec()));
                }
            }
        }
        times
    }
}

fn parse(text: &str) -> BTreeMap<String, String> {
    text.lines().filter_map(|line| line.rsplit_once(':')).map(|(file, time)| (file.into(), time.into())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::server::Freshness;
    use super::*;
    use halite_core::host::fake::Directory;
    use std::fs;

    #[test]
    fn each_look_finds_what_has_changed_since_the_one_before() {
        let directory = Directory::new();
        let root = directory.path().join("root");
        fs::create_dir_all(root.join("sub")).unwrap();
        let roots = Map::from_iter([("base", Value::list([root.display().to_string()]))]);
        let server = FileServer::new(&Map::from_iter([("file_roots", roots)]), Freshness::Always).unwrap();
        let update = || server.update(directory.path()).unwrap();
        let names = |names: &[&str]| names.iter().map(|name| root.join(name).display().to_string()).collect::<Vec<_>>();
        assert!(update().is_empty());
        fs::write(root.join("a"), "a").unwrap();
        fs::write(root.join("sub/b"), "b").unwrap();
        assert_eq!(update().added, names(&["a", "sub/b"]));
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
        fs::File::options().write(true).open(root.join("a")).unwrap().set_modified(later).unwrap();
        fs::remove_file(root.join("sub/b")).unwrap();
        let changes = update();
        assert_eq!((changes.changed.clone(), changes.removed.clone()), (names(&["a"]), names(&["sub/b"])));
        assert_eq!(changes.shown().at("changed"), Some(&Value::from(true)));
        assert!(update().is_empty());
    }
}
