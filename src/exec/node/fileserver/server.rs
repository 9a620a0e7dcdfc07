//! Serves files below the roots, and nothing else.

use super::hashes::Hashes;
use super::ignore::Ignore;
use super::links::{self, Follow};
use super::lists::{self, Found, Kept, Rules};
use super::names::below_root;
use super::roots::Roots;
use halite_core::Fault;
use halite_core::files::{Entries, FileHash, Listing};
use halite_core::host::own::{self, File, FileExt, Metadata, MetadataExt};
use halite_lang::digest::HashType;
use halite_value::{Map, Value};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How long lists are kept where the configuration does not say.
const LIST_TIME: Duration = Duration::from_secs(20);

/// A file server. What it does may block.
#[derive(Debug)]
pub struct FileServer {
    roots: Roots,
    rules: Rules,
    hash_type: HashType,
    kept: Option<Kept>,
    /// False where the configuration names other sources only.
    serves_roots: bool,
    hashes: Hashes,
}

/// Whether lists may be some seconds old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// As old as `fileserver_list_cache_time` says.
    Kept,
    Always,
}

/// Tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version([u8; 40]);

impl Version {
    pub const BYTES: usize = 40;

    fn of(data: &Metadata) -> Version {
        let nanoseconds = |seconds: i64, rest: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(rest) as u64;
        let parts = [
            data.dev(),
            data.ino(),
            data.size(),
            nanoseconds(data.mtime(), data.mtime_nsec()),
            nanoseconds(data.ctime(), data.ctime_nsec()),
        ];
        let mut bytes = [0; Version::BYTES];
        for (place, part) in bytes.chunks_exact_mut(8).zip(parts) {
            place.copy_from_slice(&part.to_be_bytes());
        }
        Version(bytes)
    }

    /// For how long a file has been in this version; nothing where that begins in the future.
    pub fn age(&self, now: SystemTime) -> Option<Duration> {
        let [.., a, b, c, d, e, f, g, h] = self.0;
        let changed = SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::from_be_bytes([a, b, c, d, e, f, g, h]));
        now.duration_since(changed).ok()
    }

    pub fn from_bytes(bytes: [u8; Version::BYTES]) -> Version {
        Version(bytes)
    }

    pub fn to_bytes(self) -> [u8; Version::BYTES] {
        self.0
    }
}

/// A file that was found, open.
#[derive(Debug)]
pub struct Opened {
    pub file: File,
    data: Metadata,
    path: PathBuf,
}

impl Opened {
    pub fn size(&self) -> u64 {
        self.data.size()
    }

    pub fn version(&self) -> Version {
        Version::of(&self.data)
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What Python's `os.stat` says of it.
    pub fn stat(&self) -> Vec<i64> {
        stat_numbers(&self.data)
    }
}

/// The ten numbers of `os.stat`, in Python's order.
fn stat_numbers(data: &Metadata) -> Vec<i64> {
    let plain = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    vec![
        i64::from(data.mode()),
        plain(data.ino()),
        plain(data.dev()),
        plain(data.nlink()),
        i64::from(data.uid()),
        i64::from(data.gid()),
        plain(data.size()),
        data.atime(),
        data.mtime(),
        data.ctime(),
    ]
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    Bytes(Vec<u8>),
    /// The file is another one by now.
    Changed,
    Gone,
}

impl FileServer {
    pub fn new(opts: &Map, freshness: Freshness) -> Result<FileServer, Fault> {
        let on = |name: &str, default: bool| opts.at(name).map_or(default, Value::truthy);
        let hash_type = opts.str_at("hash_type").unwrap_or("sha256");
        let hash_type = HashType::named(hash_type)
            .ok_or_else(|| Fault::execution(format!("hash_type: there is no hash '{hash_type}' for files")))?;
        let time = opts.at("fileserver_list_cache_time").and_then(Value::as_float);
        let time = time.map_or(LIST_TIME, |seconds| Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
        let cachedir = opts.str_at("cachedir").unwrap_or_default();
        Ok(FileServer {
            roots: Roots::new(opts.at("file_roots")),
            rules: Rules {
                ignore: Ignore::new(opts)?,
                follow: if on("fileserver_followsymlinks", true) { Follow::Links } else { Follow::Inside },
                without_links: on("fileserver_ignoresymlinks", false),
            },
            hash_type,
            kept: (freshness == Freshness::Kept).then(|| Kept::new(Path::new(cachedir), time)),
            serves_roots: backends(opts).iter().any(|backend| matches!(backend.as_str(), "roots" | "file_roots")),
            hashes: Hashes::default(),
        })
    }

    pub fn environments(&self) -> Vec<String> {
        if self.serves_roots { self.roots.environments() } else { Vec::new() }
    }

    pub fn list(&self, listing: Listing, saltenv: &str, prefix: &str) -> Entries {
        if !self.serves_roots || !self.roots.has(saltenv) {
            return Vec::new();
        }
        let roots = self.roots.of(saltenv);
        // Anybody can ask for an environment that may be, where there is a directory for any: nothing is kept of those.
        if !roots.iter().any(|root| own::is_directory(root)) {
            return Vec::new();
        }
        let make = || -> Found { lists::walk(&roots, &self.rules) };
        let found = match &self.kept {
            Some(kept) => kept.list(saltenv, make),
            None => Arc::new(make()),
        };
        found.entries(listing, prefix.trim_matches('/'))
    }

    /// Opens the file that a path means: the first one that the roots of the environment have. A path may have a
    /// question mark with an environment behind it, unless it begins with `|`.
    pub fn open(&self, path: &str, saltenv: &str) -> io::Result<Option<Opened>> {
        let (path, saltenv) = match path.strip_prefix('|') {
            Some(rest) => (rest.trim_start_matches('|'), saltenv),
            None => {
                let (path, query) = path.split_once('?').unwrap_or((path, ""));
                let named = query.split('&').find_map(|pair| pair.strip_prefix("saltenv="));
                (path, named.unwrap_or(saltenv))
            }
        };
        let Some(below) = below_root(path).filter(|_| self.serves_roots) else {
            return Ok(None);
        };
        for root in self.roots.of(saltenv) {
            if let Some(opened) = self.open_below(&root, &below)? {
                return Ok(Some(opened));
            }
        }
        Ok(None)
    }

    fn open_below(&self, root: &Path, below: &Path) -> io::Result<Option<Opened>> {
        let path = root.join(below);
        // Looked at before it is opened: to open a device or a pipe may already do something.
        if !own::is_file(&path) {
            return Ok(None);
        }
        let ignored = |path: &Path| path.to_str().is_none_or(|path| self.rules.ignore.covers(path));
        if ignored(&path) || ignored(below) {
            return Ok(None);
        }
        let file = own::open_served(&path)?;
        let data = file.metadata()?;
        if !data.is_file() || (self.rules.follow == Follow::Inside && !links::is_inside(root, &path, &data)?) {
            return Ok(None);
        }
        Ok(Some(Opened { file, data, path }))
    }

    pub fn hash_type(&self) -> HashType {
        self.hash_type
    }

    /// The hash of a file, made once for each of its states. Nothing while another thread makes it.
    pub fn hash(&self, opened: &Opened) -> io::Result<Option<FileHash>> {
        let digest = self.hashes.of(&opened.path, opened.version(), || {
            let digest = self.hash_type.of(&opened.file)?;
            Ok((Version::of(&opened.file.metadata()?), digest))
        })?;
        Ok(digest.map(|digest| FileHash { kind: self.hash_type, digest }))
    }

    /// Reads a part of a file, provided that it is still the one of this version. Past its end there are no bytes.
    pub fn read(&self, path: &str, saltenv: &str, version: Version, offset: u64, length: usize) -> io::Result<Chunk> {
        let Some(opened) = self.open(path, saltenv)? else {
            return Ok(Chunk::Gone);
        };
        if opened.version() != version {
            return Ok(Chunk::Changed);
        }
        let left = usize::try_from(opened.size().saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length.min(left)];
        match opened.file.read_exact_at(&mut bytes, offset) {
            Ok(()) => Ok(Chunk::Bytes(bytes)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Chunk::Changed),
            Err(error) => Err(error),
        }
    }

    /// The directories of the environments that are named, and what is left out of them.
    pub(super) fn watched(&self) -> (impl Iterator<Item = PathBuf>, &Ignore) {
        (self.roots.all(), &self.rules.ignore)
    }
}

/// The sources that the configuration names.
pub fn backends(opts: &Map) -> Vec<String> {
    match opts.at("fileserver_backend") {
        Some(Value::List(names)) => names.iter().map(Value::to_text).collect(),
        Some(Value::Str(names)) => names.split(',').map(|name| name.trim().to_owned()).collect(),
        _ => vec!["roots".to_owned()],
    }
}

#[cfg(test)]
mod tests;
