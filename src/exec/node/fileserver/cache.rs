//! What a minion keeps of files: below `<cachedir>/files/SALTENV` those of the file server, below `localfiles` copies of
//! its own, below `extrn_files/SALTENV/HOST` those from elsewhere. Private to the minion's account.
//!
//! A file comes in under a name of its own below `incoming` and is renamed when it is whole and checked, so that nobody
//! sees half of one.

use super::address::Url;
use super::names::{below_root, is_saltenv};
use halite_core::Fault;
use halite_core::host::own;
use halite_lang::digest::HashType;
use halite_lang::random;
use halite_value::Map;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

/// File systems take names of this many bytes.
const LONGEST_NAME: usize = 255;
/// What came in halfway and was given up.
const LEFT_OVER: Duration = Duration::from_secs(86_400);

/// The caches of one minion.
#[derive(Clone, Debug)]
pub struct Cache {
    cachedir: PathBuf,
}

impl Cache {
    pub fn new(opts: &Map) -> Cache {
        Cache::at(opts.str_at("cachedir").unwrap_or("/var/cache/salt/minion"))
    }

    pub fn at(cachedir: impl Into<PathBuf>) -> Cache {
        Cache { cachedir: cachedir.into() }
    }

    /// Whether a path is one of the cache.
    pub fn has(&self, path: &Path) -> bool {
        path.starts_with(&self.cachedir)
    }

    /// Where a file of the file server is kept; nothing for what is no path or no environment.
    pub fn file(&self, path: &str, saltenv: &str) -> Option<PathBuf> {
        let path = below_root(path.trim_start_matches(['|', '/']))?;
        Some(self.saltenv(saltenv)?.join(path))
    }

    /// Where the files of an environment are kept.
    pub fn saltenv(&self, saltenv: &str) -> Option<PathBuf> {
        is_saltenv(saltenv).then(|| self.cachedir.join("files").join(saltenv))
    }

    /// Where the copy of a file of this host is kept.
    pub fn local(&self, path: &str) -> PathBuf {
        self.locals().join(path.trim_start_matches(['|', '/']))
    }

    pub fn locals(&self) -> PathBuf {
        self.cachedir.join("localfiles")
    }

    /// Where a file from elsewhere is kept; nothing for an address that leads out of its host's directory.
    pub fn external(&self, address: &str, saltenv: &str) -> Option<PathBuf> {
        let url = Url::parse(address);
        let host = url.host().replace(':', "");
        let name = if url.query.is_empty() { url.path } else { format!("{}-{}", url.path, url.query) };
        let mut below = PathBuf::new();
        for step in Path::new(name.trim_start_matches('/')).components() {
            match step {
                Component::Normal(step) => below.push(step),
                Component::ParentDir if !below.pop() => return None,
                _ => {}
            }
        }
        if !is_saltenv(saltenv) || host.contains(['/', '\0']) || host == ".." || name.contains('\0') {
            return None;
        }
        let directory = self.cachedir.join("extrn_files").join(saltenv).join(host);
        match name.len() > LONGEST_NAME {
            true => Some(directory.join(HashType::Sha256.of(name.as_bytes()).ok()?)),
            false if below.as_os_str().is_empty() => Some(directory),
            false => Some(directory.join(below)),
        }
    }

    /// A name that nothing has, for a file that comes in.
    pub fn incoming(&self) -> Result<PathBuf, Fault> {
        let directory = self.cachedir.join("incoming");
        own::make_directories(&directory).map_err(|error| failed(&directory, &error))?;
        Ok(directory.join(format!("{:016x}{:016x}", random::bits(), random::bits())))
    }

    /// Keeps a content that is to be read as a file, under a name of its own.
    pub fn hold(&self, bytes: &[u8]) -> Result<PathBuf, Fault> {
        let place = self.incoming()?;
        own::write(&place, bytes).map_err(|error| failed(&place, &error))?;
        Ok(place)
    }

    /// Puts a file that came in where it is kept. A directory that is in its way goes, and so does a file where a directory has
    /// to be: the file server has it so by now.
    pub fn keep(&self, incoming: &Path, place: &Path) -> Result<(), Fault> {
        let put = || {
            if let Some(directory) = place.parent() {
                self.clear_way(directory)?;
                own::make_directories(directory)?;
            }
            if own::look_at_link(place).is_ok_and(|data| data.is_dir()) {
                own::remove_directory(place)?;
            }
            own::rename(incoming, place)
        };
        put().map_err(|error: io::Error| {
            let _ = own::remove(incoming);
            failed(place, &error)
        })
    }

    /// Makes an empty directory among the files.
    pub fn keep_directory(&self, place: &Path) -> Result<(), Fault> {
        own::make_directories(place).map_err(|error| failed(place, &error))
    }

    fn clear_way(&self, directory: &Path) -> io::Result<()> {
        for above in
            directory.ancestors().take_while(|above| above.starts_with(&self.cachedir) && *above != self.cachedir)
        {
            if own::look_at_link(above).is_ok_and(|data| !data.is_dir()) {
                own::remove(above)?;
            }
        }
        Ok(())
    }

    /// Removes what came in halfway a day ago and more.
    pub fn prune(&self, now: SystemTime) {
        for entry in own::entries(&self.cachedir.join("incoming")).into_iter().flatten().flatten() {
            let modified = entry.metadata().and_then(|data| data.modified());
            let age = modified.ok().and_then(|modified| now.duration_since(modified).ok());
            if age.is_some_and(|age| age > LEFT_OVER) {
                let _ = own::remove(&entry.path());
            }
        }
    }
}

/// The files below a directory, links followed, sorted.
pub fn files_below(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = todo.pop() {
        for entry in own::entries(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if own::is_directory(&path) {
                // A link may lead in a circle.
                if depth < 64 {
                    todo.push((path, depth + 1));
                }
            } else {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

fn failed(path: &Path, error: &io::Error) -> Fault {
    Fault::execution(format!("the file cache: {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Directory;
    use std::fs;

    #[test]
    fn every_file_has_its_place_and_none_is_outside() {
        let cache = Cache::at("/c");
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(cache.file("a/b", "base"), path("/c/files/base/a/b"));
        assert_eq!(cache.file("|a?b", "dev"), path("/c/files/dev/a?b"));
        for (name, saltenv) in [("../x", "base"), ("a/../../x", "base"), ("a", "../x"), ("a", ".."), ("a\0", "base")] {
            assert_eq!(cache.file(name, saltenv), None, "{name:?} {saltenv:?}");
        }
        let external = |address: &str| cache.external(address, "base");
        assert_eq!(external("https://me:pw@h:80/d/f?a=b"), path("/c/extrn_files/base/h80/d/f-a=b"));
        assert_eq!(external("https://h/d/../f"), path("/c/extrn_files/base/h/f"));
        assert_eq!(external("salt://f"), path("/c/extrn_files/base/f"));
        for address in ["https://h/../../etc/shadow", "https://../x", "https://h/x\0"] {
            assert_eq!(external(address), None, "{address:?}");
        }
        let long = external(&format!("https://h/{}", "x".repeat(300))).unwrap();
        assert_eq!(long.file_name().unwrap().len(), 64);
    }

    #[test]
    fn a_file_takes_the_place_of_whatever_is_in_its_way() {
        let directory = Directory::new();
        let cache = Cache::at(directory.path());
        let put = |path: &str, text: &str| {
            let incoming = cache.incoming().unwrap();
            fs::write(&incoming, text).unwrap();
            cache.keep(&incoming, &cache.file(path, "base").unwrap()).unwrap();
        };
        for (path, text) in [("a", "file"), ("a/b", "below"), ("a/b/c", "deeper"), ("a", "file again")] {
            put(path, text);
            assert_eq!(fs::read_to_string(cache.file(path, "base").unwrap()).unwrap(), text);
        }
        assert_eq!(files_below(directory.path()), [directory.path().join("files/base/a").display().to_string()]);
        fs::write(cache.incoming().unwrap(), "half").unwrap();
        cache.prune(SystemTime::now());
        assert_eq!(files_below(directory.path()).len(), 2);
        cache.prune(SystemTime::now() + 2 * LEFT_OVER);
        assert_eq!(files_below(directory.path()).len(), 1);
    }
}
