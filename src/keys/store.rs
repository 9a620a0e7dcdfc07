//! The keys that a master knows: one PEM file per minion, named by its id, in the directory of its standing.
//!
//! The directories are Salt's (`minions`, `minions_pre`, `minions_rejected`, `minions_denied`), so that what an admin does
//! with files by hand counts too. Every change is one rename: a reader sees the old file or the new one. What is no
//! regular file with a valid id for its name is not there.

use super::identity::{KeyError, PublicKey};
use std::collections::HashMap;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// What the admin, or a rule of theirs, has decided on a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyStatus {
    /// A minion of this master.
    Accepted,
    /// Nobody has decided yet.
    Pending,
    /// Turned away.
    Rejected,
    /// Came under an id that belongs to another key.
    Denied,
}

/// What is known of an id together with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nobody has come under this id.
    Unknown,
    /// This very key.
    Is(KeyStatus),
    /// The id belongs to another key, which has this standing.
    Taken(KeyStatus),
}

/// What became of a key that came for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pended {
    Written,
    /// The id already waits, with this key or another one.
    Waiting,
    /// As many wait as may; see [`KeyStore::open`].
    Full,
}

/// All accepted keys at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    pub keys: HashMap<String, PublicKey>,
    /// Files that hold no usable key, to be told to the admin.
    pub unusable: Vec<KeyError>,
}

/// When the directories last changed; see [`KeyStore::stamp`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    changed: [Option<(i64, i64)>; 4],
    settled: bool,
}

/// Why the store did not do what it was asked.
#[derive(Debug)]
pub enum StoreError {
    /// No file may have this name.
    Id(String),
    /// No such key in this standing.
    Missing {
        id: String,
        standing: KeyStatus,
    },
    Key(KeyError),
}

/// The `pki_dir` of a master.
#[derive(Clone, Debug)]
pub struct KeyStore {
    directory: PathBuf,
    pending_max: usize,
}

/// How many keys may wait where nobody says otherwise: more than an admin looks through, less than fills a disk.
pub const PENDING_MAX: usize = 10_000;

/// The kernel stamps changes with a clock that ticks this often at the slowest: two changes closer together look alike.
const CLOCK_TICK: Duration = Duration::from_millis(20);

impl KeyStatus {
    /// In the order in which Salt names them to programs.
    pub const ALL: [KeyStatus; 4] = [KeyStatus::Pending, KeyStatus::Rejected, KeyStatus::Accepted, KeyStatus::Denied];

    /// The directory below `pki_dir`, which is also the name in Salt's data.
    pub fn directory(self) -> &'static str {
        match self {
            KeyStatus::Accepted => "minions",
            KeyStatus::Pending => "minions_pre",
            KeyStatus::Rejected => "minions_rejected",
            KeyStatus::Denied => "minions_denied",
        }
    }
}

impl KeyStore {
    /// The store below a `pki_dir`. At most `pending_max` keys wait for a decision: whoever can connect can make one.
    pub fn open(pki_dir: &Path, pending_max: usize) -> KeyStore {
        KeyStore { directory: pki_dir.to_owned(), pending_max }
    }

    pub fn pki_dir(&self) -> &Path {
        &self.directory
    }

    /// Where the keys of this standing are.
    pub fn directory_of(&self, standing: KeyStatus) -> PathBuf {
        self.directory.join(standing.directory())
    }

    /// Makes the directories that are missing, readable by their owner alone.
    pub fn make_directories(&self) -> Result<(), StoreError> {
        for standing in KeyStatus::ALL {
            let directory = self.directory.join(standing.directory());
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&directory)
                .map_err(|error| io_error(&directory, error))?;
        }
        Ok(())
    }

    /// The ids in this standing, sorted without regard to case, as Salt lists them.
    pub fn list(&self, standing: KeyStatus) -> Result<Vec<String>, StoreError> {
        let mut ids = self.ids(standing)?.collect::<Result<Vec<String>, StoreError>>()?;
        ids.sort_by_cached_key(|id| (id.to_lowercase(), id.clone()));
        Ok(ids)
    }

    /// The key of an id in this standing.
    pub fn key(&self, standing: KeyStatus, id: &str) -> Result<PublicKey, StoreError> {
        let path = self.path(standing, id)?;
        if !is_key_file(&path) {
            return Err(StoreError::Missing { id: id.to_owned(), standing });
        }
        PublicKey::load(&path).map_err(StoreError::Key)
    }

    /// What is known of an id that shows this key. A rejection weighs more than an acceptance, should an admin have left
    /// both. A file that holds no key belongs to nobody: the id counts as taken.
    pub fn standing(&self, id: &str, key: &PublicKey) -> Result<Known, StoreError> {
        for standing in [KeyStatus::Rejected, KeyStatus::Accepted, KeyStatus::Pending] {
            match self.key(standing, id) {
                Ok(found) if found == *key => return Ok(Known::Is(standing)),
                Ok(_) | Err(StoreError::Key(KeyError::Form { .. })) => return Ok(Known::Taken(standing)),
                Err(StoreError::Missing { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        match self.key(KeyStatus::Denied, id) {
            Ok(found) if found == *key => Ok(Known::Is(KeyStatus::Denied)),
            _ => Ok(Known::Unknown),
        }
    }

    /// Lets a new key wait. Not synced to disk: a key that is lost in a crash comes again by itself.
    pub fn put_pending(&self, id: &str, key: &PublicKey) -> Result<Pended, StoreError> {
        let path = self.path(KeyStatus::Pending, id)?;
        if path.symlink_metadata().is_ok() {
            return Ok(Pended::Waiting);
        }
        if self.ids(KeyStatus::Pending)?.take(self.pending_max).count() >= self.pending_max {
            return Ok(Pended::Full);
        }
        let new = self.write_beside(KeyStatus::Pending, key)?;
        // A link never replaces: of two that come at once, one waits.
        let linked = fs::hard_link(&new, &path);
        let _ = fs::remove_file(&new);
        match linked {
            Ok(()) => Ok(Pended::Written),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Pended::Waiting),
            Err(error) => Err(io_error(&path, error)),
        }
    }

    /// Accepts a key that nobody has to look at first, because a rule says so. Thousands may come at once, so it is not
    /// on the disk yet: see [`KeyStore::settle`].
    pub fn put_accepted(&self, id: &str, key: &PublicKey) -> Result<(), StoreError> {
        let path = self.path(KeyStatus::Accepted, id)?;
        let new = self.write_beside(KeyStatus::Accepted, key)?;
        fs::rename(&new, &path).map_err(|error| io_error(&path, error))?;
        let pending = self.path(KeyStatus::Pending, id)?;
        match fs::remove_file(&pending) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(&pending, error)),
            _ => Ok(()),
        }
    }

    /// Puts what was accepted by rule on the disk, all of it in one go. It may take a while.
    pub fn settle(&self) -> Result<(), StoreError> {
        let directory = self.directory.join(KeyStatus::Accepted.directory());
        let settled = File::open(&directory).and_then(|opened| Ok(rustix::fs::syncfs(&opened)?));
        settled.map_err(|error| io_error(&directory, error))
    }

    /// Keeps the latest key that came under a taken id, for the admin to see.
    pub fn deny(&self, id: &str, key: &PublicKey) -> Result<(), StoreError> {
        let path = self.path(KeyStatus::Denied, id)?;
        let new = self.write_beside(KeyStatus::Denied, key)?;
        fs::rename(&new, &path).map_err(|error| io_error(&path, error))
    }

    /// Accepts the key of an id that has another standing. It takes the place of the one accepted before, if any.
    pub fn accept(&self, id: &str, from: KeyStatus) -> Result<PublicKey, StoreError> {
        let key = self.key(from, id)?;
        self.change(id, from, KeyStatus::Accepted)?;
        Ok(key)
    }

    /// Rejects the key of an id that has another standing.
    pub fn reject(&self, id: &str, from: KeyStatus) -> Result<(), StoreError> {
        self.change(id, from, KeyStatus::Rejected)
    }

    /// Removes the key of an id: whoever shows it is an unauthenticated connection again.
    pub fn delete(&self, id: &str, from: KeyStatus) -> Result<(), StoreError> {
        let path = self.path(from, id)?;
        if !is_key_file(&path) {
            return Err(StoreError::Missing { id: id.to_owned(), standing: from });
        }
        fs::remove_file(&path).map_err(|error| io_error(&path, error))?;
        self.sync_directory(from)
    }

    /// All accepted keys, read from their files: some 10,000 in a fifth of a second.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let mut snapshot = Snapshot::default();
        for id in self.ids(KeyStatus::Accepted)? {
            let id = id?;
            match self.key(KeyStatus::Accepted, &id) {
                Ok(key) => {
                    snapshot.keys.insert(id, key);
                }
                // Deleted since the directory was read.
                Err(StoreError::Missing { .. }) => {}
                Err(StoreError::Key(error)) => snapshot.unusable.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(snapshot)
    }

    /// The state of the directories, to be taken before they are read; see [`KeyStore::changed`].
    pub fn stamp(&self) -> Stamp {
        let modified = KeyStatus::ALL.map(|standing| fs::metadata(self.directory.join(standing.directory())).ok());
        let settled = modified.iter().flatten().all(|meta| {
            meta.modified().is_ok_and(|time| SystemTime::now().duration_since(time).unwrap_or_default() > CLOCK_TICK)
        });
        Stamp { changed: modified.map(|meta| meta.map(|meta| (meta.mtime(), meta.mtime_nsec()))), settled }
    }

    /// True when a key may have come, gone or moved since the stamp, by whatever hand. Four looks at directories; a key file
    /// that was overwritten in place is not noticed.
    pub fn changed(&self, since: &Stamp) -> bool {
        !since.settled || self.stamp().changed != since.changed
    }

    fn ids(&self, standing: KeyStatus) -> Result<impl Iterator<Item = Result<String, StoreError>> + use<>, StoreError> {
        let directory = self.directory.join(standing.directory());
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => Some(entries),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(io_error(&directory, error)),
        };
        Ok(entries.into_iter().flatten().filter_map(move |entry| match entry {
            Ok(entry) if entry.file_type().is_ok_and(|kind| kind.is_file()) => {
                entry.file_name().into_string().ok().filter(|id| valid_id(id)).map(Ok)
            }
            Ok(_) => None,
            Err(error) => Some(Err(io_error(&directory, error))),
        }))
    }

    fn path(&self, standing: KeyStatus, id: &str) -> Result<PathBuf, StoreError> {
        if !valid_id(id) {
            return Err(StoreError::Id(id.to_owned()));
        }
        Ok(self.directory.join(standing.directory()).join(id))
    }

    fn change(&self, id: &str, from: KeyStatus, to: KeyStatus) -> Result<(), StoreError> {
        let (old, new) = (self.path(from, id)?, self.path(to, id)?);
        if !is_key_file(&old) {
            return Err(StoreError::Missing { id: id.to_owned(), standing: from });
        }
        self.make_directories()?;
        fs::rename(&old, &new).map_err(|error| io_error(&old, error))?;
        self.sync_directory(to)?;
        self.sync_directory(from)
    }

    /// Writes a key to a file with no id's name, in the directory where it will be renamed.
    fn write_beside(&self, standing: KeyStatus, key: &PublicKey) -> Result<PathBuf, StoreError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        self.make_directories()?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = self.directory.join(standing.directory()).join(format!(".new.{}.{number}", std::process::id()));
        let _ = fs::remove_file(&path);
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o644)
            .open(&path)
            .and_then(|mut file| file.write_all(key.to_pem().as_bytes()));
        written.map_err(|error| io_error(&path, error))?;
        Ok(path)
    }

    fn sync_directory(&self, standing: KeyStatus) -> Result<(), StoreError> {
        let directory = self.directory.join(standing.directory());
        File::open(&directory).and_then(|opened| opened.sync_all()).map_err(|error| io_error(&directory, error))
    }
}

/// An id names a file, appears in paths, tags and on terminals: text of 1 to 255 bytes without a slash of either kind,
/// without control characters, and not hidden.
pub fn valid_id(id: &str) -> bool {
    (1..=255).contains(&id.len())
        && !id.starts_with('.')
        && !id.chars().any(|c| c == '/' || c == '\\' || c.is_control())
}

fn is_key_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_file())
}

fn io_error(path: &Path, error: io::Error) -> StoreError {
    StoreError::Key(KeyError::Io { path: path.to_owned(), error })
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Id(id) => write!(
                f,
                "{id:?} is no minion id: 1 to 255 bytes, no slash, backslash or control character, no dot in front"
            ),
            StoreError::Missing { id, standing } => write!(f, "no key of {id} in {}", standing.directory()),
            StoreError::Key(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for StoreError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Identity;

    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Directory {
            let path = std::env::temp_dir().join(format!("halite-store-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Directory(path)
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn key() -> PublicKey {
        Identity::generate().public()
    }

    #[test]
    fn a_key_goes_through_its_standings() {
        let directory = Directory::new("life");
        let store = KeyStore::open(&directory.0, 10);
        let (mine, other) = (key(), key());
        assert_eq!(store.list(KeyStatus::Pending).unwrap(), Vec::<String>::new());
        assert_eq!(store.standing("web1", &mine).unwrap(), Known::Unknown);
        assert_eq!(store.put_pending("web1", &mine).unwrap(), Pended::Written);
        assert_eq!(store.put_pending("web1", &other).unwrap(), Pended::Waiting);
        assert_eq!(store.standing("web1", &mine).unwrap(), Known::Is(KeyStatus::Pending));
        assert_eq!(store.standing("web1", &other).unwrap(), Known::Taken(KeyStatus::Pending));
        assert_eq!(store.accept("web1", KeyStatus::Pending).unwrap(), mine);
        assert_eq!(store.standing("web1", &mine).unwrap(), Known::Is(KeyStatus::Accepted));
        assert_eq!(store.list(KeyStatus::Pending).unwrap(), Vec::<String>::new());
        store.deny("web1", &other).unwrap();
        assert_eq!(store.standing("web1", &other).unwrap(), Known::Taken(KeyStatus::Accepted));
        assert_eq!(store.key(KeyStatus::Denied, "web1").unwrap(), other);
        store.reject("web1", KeyStatus::Accepted).unwrap();
        assert_eq!(store.standing("web1", &mine).unwrap(), Known::Is(KeyStatus::Rejected));
        store.delete("web1", KeyStatus::Rejected).unwrap();
        assert_eq!(store.standing("web1", &mine).unwrap(), Known::Unknown);
        assert_eq!(store.standing("web1", &other).unwrap(), Known::Is(KeyStatus::Denied));
        assert!(matches!(store.delete("web1", KeyStatus::Rejected), Err(StoreError::Missing { .. })));
        assert!(matches!(store.accept("web1", KeyStatus::Pending), Err(StoreError::Missing { .. })));
    }

    #[test]
    fn waiting_keys_are_bounded_and_nothing_is_left_behind() {
        let directory = Directory::new("bound");
        let store = KeyStore::open(&directory.0, 2);
        assert_eq!(store.put_pending("a", &key()).unwrap(), Pended::Written);
        assert_eq!(store.put_pending("b", &key()).unwrap(), Pended::Written);
        assert_eq!(store.put_pending("c", &key()).unwrap(), Pended::Full);
        store.accept("a", KeyStatus::Pending).unwrap();
        assert_eq!(store.put_pending("c", &key()).unwrap(), Pended::Written);
        let mut names: Vec<String> = fs::read_dir(directory.0.join("minions_pre"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["b", "c"]);
    }

    #[test]
    fn odd_files_are_not_there_and_broken_ones_are_named() {
        let directory = Directory::new("odd");
        let store = KeyStore::open(&directory.0, 10);
        store.put_accepted("Beta", &key()).unwrap();
        store.put_accepted("alpha", &key()).unwrap();
        let accepted = directory.0.join("minions");
        fs::create_dir(accepted.join("directory")).unwrap();
        fs::write(accepted.join(".hidden"), "x").unwrap();
        fs::write(accepted.join("broken"), "x").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", accepted.join("link")).unwrap();
        assert_eq!(store.list(KeyStatus::Accepted).unwrap(), ["alpha", "Beta", "broken"]);
        assert!(matches!(store.key(KeyStatus::Accepted, "link"), Err(StoreError::Missing { .. })));
        assert_eq!(store.standing("broken", &key()).unwrap(), Known::Taken(KeyStatus::Accepted));
        let snapshot = store.snapshot().unwrap();
        assert_eq!(snapshot.keys.len(), 2);
        assert!(snapshot.unusable[0].to_string().contains("broken"), "{:?}", snapshot.unusable);
    }

    #[test]
    fn ids_that_would_leave_their_directory_are_refused() {
        let directory = Directory::new("ids");
        let store = KeyStore::open(&directory.0, 10);
        for id in ["", ".", "..", "../x", "a/b", "a\\b", "a\0b", "a\nb", ".x", &"x".repeat(256)] {
            assert!(matches!(store.put_pending(id, &key()), Err(StoreError::Id(_))), "{id:?}");
            assert!(matches!(store.delete(id, KeyStatus::Accepted), Err(StoreError::Id(_))), "{id:?}");
        }
        let long = "x".repeat(255);
        for id in ["web1", "web1.example.com", "zürich", "a b", "a..b", long.as_str()] {
            assert_eq!(store.put_pending(id, &key()).unwrap(), Pended::Written, "{id}");
        }
    }

    #[test]
    fn a_stamp_notices_a_change_by_another_hand() {
        let directory = Directory::new("stamp");
        let store = KeyStore::open(&directory.0, 10);
        store.make_directories().unwrap();
        // Just made: the clock may not have ticked, so nothing can be ruled out.
        assert!(store.changed(&store.stamp()));
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        for standing in KeyStatus::ALL {
            File::open(directory.0.join(standing.directory())).unwrap().set_modified(long_ago).unwrap();
        }
        let stamp = store.stamp();
        assert!(!store.changed(&stamp));
        fs::write(directory.0.join("minions/web1"), key().to_pem()).unwrap();
        assert!(store.changed(&stamp));
    }
}
