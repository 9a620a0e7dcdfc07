//! What an environment has: walks its roots, and keeps what it found for `fileserver_list_cache_time` seconds in
//! `<cachedir>/file_lists/roots/<saltenv>.p`, where Salt keeps it too (in another form).

use super::ignore::Ignore;
use super::links::{self, Follow};
use halite_core::files::{Entries, Listing};
use halite_core::host::own::{self, DirEntry, MetadataExt};
use halite_value::{Map, Value, parse_json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Deeper than this no directory is walked.
const DEPTH: usize = 128;

/// What was found below the roots of an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    files: BTreeSet<String>,
    directories: BTreeSet<String>,
    empty_directories: BTreeSet<String>,
    links: BTreeMap<String, String>,
}

impl Found {
    /// The entries of one kind whose names begin with a prefix.
    pub fn entries(&self, listing: Listing, prefix: &str) -> Entries {
        let names = match listing {
            Listing::Files => &self.files,
            Listing::Directories => &self.directories,
            Listing::EmptyDirectories => &self.empty_directories,
            Listing::Links => {
                let links = self.links.iter().filter(|(name, _)| name.starts_with(prefix));
                return links.map(|(name, target)| (name.clone(), Some(target.clone()))).collect();
            }
        };
        names.iter().filter(|name| name.starts_with(prefix)).map(|name| (name.clone(), None)).collect()
    }

    fn to_json(&self) -> String {
        let list = |names: &BTreeSet<String>| Value::list(names.iter().map(String::as_str));
        let links: Map = self.links.iter().map(|(name, target)| (name.as_str(), target.as_str())).collect();
        let all = Map::from_iter([
            ("files", list(&self.files)),
            ("dirs", list(&self.directories)),
            ("empty_dirs", list(&self.empty_directories)),
            ("links", links.into()),
        ]);
        Value::Map(all).to_json()
    }

    fn from_json(text: &str) -> Option<Found> {
        let all = parse_json(text).ok()?;
        let set = |name: &str| -> Option<BTreeSet<String>> {
            Some(all.at(name)?.as_list()?.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
        };
        let links = all.at("links")?.as_map()?;
        Some(Found {
            files: set("files")?,
            directories: set("dirs")?,
            empty_directories: set("empty_dirs")?,
            links: links.iter().map(|(name, target)| (name.to_text(), target.to_text())).collect(),
        })
    }
}

/// What decides what is found.
#[derive(Debug)]
pub struct Rules {
    pub ignore: Ignore,
    pub follow: Follow,
    /// Links are left out (`fileserver_ignoresymlinks`).
    pub without_links: bool,
}

/// Walks the roots of an environment. A directory that cannot be read is left out.
pub fn walk(roots: &[PathBuf], rules: &Rules) -> Found {
    let mut found = Found::default();
    for root in roots {
        Walk { root, rules, found: &mut found, above: Vec::new() }.directory(root);
    }
    found
}

struct Walk<'a> {
    root: &'a Path,
    rules: &'a Rules,
    found: &'a mut Found,
    /// The directories that are being walked: a link to one of them is not followed again.
    above: Vec<(u64, u64)>,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &Path) {
        let Ok(data) = own::look(directory) else {
            return;
        };
        let here = (data.dev(), data.ino());
        if self.above.contains(&here) || self.above.len() >= DEPTH {
            return;
        }
        let entries = match own::entries(directory) {
            Ok(entries) => entries,
            Err(error) => return log::debug!("{} is not listed: {error}", directory.display()),
        };
        self.above.push(here);
        for entry in entries.flatten() {
            self.entry(&entry);
        }
        self.above.pop();
    }

    fn entry(&mut self, entry: &DirEntry) {
        let path = &entry.path();
        // The directory itself knows what is a link and what a directory: only what a link leads to has to be looked at.
        let kind = entry.file_type().ok();
        let is_link = kind.is_some_and(|kind| kind.is_symlink());
        if is_link && self.rules.without_links {
            return;
        }
        let Some(name) = path.strip_prefix(self.root).ok().and_then(Path::to_str).map(str::to_owned) else {
            return log::debug!("{} is left out: its name is not UTF-8", path.display());
        };
        let is_directory = if is_link { own::is_directory(path) } else { kind.is_some_and(|kind| kind.is_dir()) };
        // Files inside of an ignored directory are asked about themselves, as Salt does it.
        if !self.rules.ignore.covers(&name) {
            self.note(path, name, is_link, is_directory);
        }
        if is_directory && (!is_link || self.rules.follow == Follow::Links) {
            self.directory(path);
        }
    }

    fn note(&mut self, path: &Path, name: String, is_link: bool, is_directory: bool) {
        if is_link
            && let Ok(target) = own::link_target(path)
            && links::is_listed(self.root, path, &target, self.rules.follow)
        {
            self.found.links.insert(name.clone(), target.to_string_lossy().into_owned());
        }
        if !is_directory {
            self.found.files.insert(name);
            return;
        }
        if own::entries(path).is_ok_and(|mut entries| entries.next().is_none()) {
            self.found.empty_directories.insert(name.clone());
        }
        self.found.directories.insert(name);
    }
}

/// Lists that were made lately, in memory and on disk. Whoever removes the file makes it be made anew.
#[derive(Debug)]
pub struct Kept {
    directory: PathBuf,
    time: Duration,
    memory: Mutex<HashMap<String, (Stamp, Arc<Found>)>>,
}

/// Which file on disk a list in memory belongs to.
type Stamp = (u64, SystemTime);

impl Kept {
    pub fn new(cachedir: &Path, time: Duration) -> Kept {
        Kept { directory: directory_in(cachedir), time, memory: Mutex::default() }
    }

    /// The list of an environment: the one that is kept, else a new one. Those who ask meanwhile wait for it.
    pub fn list(&self, saltenv: &str, make: impl FnOnce() -> Found) -> Arc<Found> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.directory.join(format!("{}.p", file_name(saltenv)));
        if let Some(stamp) = self.stamp_if_fresh(&path) {
            if let Some((of, found)) = memory.get(saltenv)
                && *of == stamp
            {
                return found.clone();
            }
            if let Some(found) = own::read_text(&path).ok().as_deref().and_then(Found::from_json) {
                let found = Arc::new(found);
                memory.insert(saltenv.to_owned(), (stamp, found.clone()));
                return found;
            }
        }
        let found = Arc::new(make());
        match self.write(&path, &found) {
            Ok(stamp) => {
                memory.insert(saltenv.to_owned(), (stamp, found.clone()));
            }
            Err(error) => log::debug!("the list of '{saltenv}' is not kept in {}: {error}", path.display()),
        }
        found
    }

    fn stamp_if_fresh(&self, path: &Path) -> Option<Stamp> {
        let data = own::look(path).ok()?;
        let made = data.modified().ok()?;
        // One from the future is of no use.
        let age = SystemTime::now().duration_since(made).ok()?;
        (age < self.time).then_some((data.ino(), made))
    }

    fn write(&self, path: &Path, found: &Found) -> io::Result<Stamp> {
        own::replace(path, found.to_json().as_bytes())?;
        let data = own::look(path)?;
        Ok((data.ino(), data.modified()?))
    }
}

/// Removes lists that are kept: of these environments, or of all. The environments whose lists were removed, sorted.
pub fn clear(cachedir: &Path, saltenvs: Option<&[String]>) -> io::Result<Vec<String>> {
    let entries = match own::entries(&directory_in(cachedir)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut cleared = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(saltenv) = name.strip_suffix(".p") else {
            continue;
        };
        if saltenvs.is_none_or(|wanted| wanted.iter().any(|wanted| file_name(wanted) == saltenv)) {
            own::remove(&entry.path())?;
            cleared.push(saltenv.replace("%2F", "/").replace("%25", "%"));
        }
    }
    cleared.sort();
    Ok(cleared)
}

fn directory_in(cachedir: &Path) -> PathBuf {
    cachedir.join("file_lists/roots")
}

/// A name for a file: an environment may have a slash in it.
fn file_name(saltenv: &str) -> String {
    saltenv.replace('%', "%25").replace('/', "%2F")
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Directory;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn rules(follow: Follow) -> Rules {
        Rules { ignore: Ignore::default(), follow, without_links: false }
    }

    fn names(found: &Found, listing: Listing) -> Vec<String> {
        found.entries(listing, "").into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn a_walk_finds_files_directories_and_links() {
        let directory = Directory::new();
        let root = directory.path().join("root");
        fs::create_dir_all(root.join("sub/deep")).unwrap();
        fs::create_dir_all(root.join("empty")).unwrap();
        fs::create_dir_all(directory.path().join("outside")).unwrap();
        for file in ["a", "sub/b", "../outside/secret"] {
            fs::write(root.join(file), file).unwrap();
        }
        for (target, link) in [("a", "inner"), ("../outside", "out"), ("..", "sub/up"), ("nowhere", "dangling")] {
            symlink(target, root.join(link)).unwrap();
        }
        let found = walk(std::slice::from_ref(&root), &rules(Follow::Links));
        let files = ["a", "dangling", "inner", "out/secret", "sub/b"];
        assert_eq!(names(&found, Listing::Files), files, "sub/up leads back and is not walked again");
        assert_eq!(names(&found, Listing::Directories), ["empty", "out", "sub", "sub/deep", "sub/up"]);
        assert_eq!(names(&found, Listing::EmptyDirectories), ["empty", "sub/deep"]);
        assert_eq!(found.entries(Listing::Files, "sub").len(), 1);
        assert_eq!(Found::from_json(&found.to_json()), Some(found.clone()));
        let inside = walk(std::slice::from_ref(&root), &rules(Follow::Inside));
        assert!(!names(&inside, Listing::Files).contains(&"out/secret".to_owned()));
        assert_eq!(names(&inside, Listing::Links), ["dangling", "inner", "out", "sub/up"]);
        let bare = walk(std::slice::from_ref(&root), &Rules { without_links: true, ..rules(Follow::Links) });
        assert_eq!(names(&bare, Listing::Files), ["a", "sub/b"]);
    }

    #[test]
    fn a_list_is_kept_until_it_is_cleared() {
        let directory = Directory::new();
        let kept = Kept::new(directory.path(), Duration::from_secs(60));
        let with = |name: &str| Found { files: BTreeSet::from([name.to_owned()]), ..Found::default() };
        assert_eq!(*kept.list("base", || with("one")), with("one"));
        assert_eq!(*kept.list("base", || with("two")), with("one"));
        assert_eq!(*Kept::new(directory.path(), Duration::from_secs(60)).list("base", || with("two")), with("one"));
        assert_eq!(*Kept::new(directory.path(), Duration::ZERO).list("a/b", || with("two")), with("two"));
        assert_eq!(clear(directory.path(), Some(&["dev".to_owned()])).unwrap(), Vec::<String>::new());
        assert_eq!(clear(directory.path(), None).unwrap(), ["a/b", "base"]);
        assert_eq!(*kept.list("base", || with("two")), with("two"));
        fs::write(directory_in(directory.path()).join("base.p"), "broken").unwrap();
        assert_eq!(*kept.list("base", || with("three")), with("three"));
    }
}
