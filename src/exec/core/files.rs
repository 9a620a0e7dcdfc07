//! Where the files of a node come from, as those who want some see it.

use super::Fault;
use halite_lang::digest::HashType;
use halite_value::{Map, Value};
use std::path::{Path, PathBuf};

/// Where files come from.
pub trait Files {
    /// The environments that there are, sorted.
    fn environments(&self) -> Result<Vec<String>, Fault>;
    /// What an environment has: names below its roots that begin with `prefix`, sorted.
    fn list(&self, listing: Listing, saltenv: &str, prefix: &str) -> Result<Entries, Fault>;
    /// The ten numbers that describe a file, as Python's `os.stat` orders them; nothing where there is no such file.
    fn find(&self, path: &str, saltenv: &str) -> Result<Option<Vec<i64>>, Fault>;
    fn hash(&self, path: &str, saltenv: &str) -> Result<Option<FileHash>, Fault>;
    /// Brings a file here, whole and checked by its hash, as `into`, which is replaced. False where there is no such
    /// file.
    fn fetch(&self, path: &str, saltenv: &str, into: &Path) -> Result<bool, Fault>;
    /// Where a file stands that is on this host anyway and needs no copy to be read; nothing for all others.
    fn here(&self, _path: &str, _saltenv: &str) -> Result<Option<PathBuf>, Fault> {
        Ok(None)
    }
    /// Sends a file to the master, which keeps it under these names below the minion's own directory. False: it does not
    /// take it.
    fn push(&self, from: &Path, names: &[String]) -> Result<bool, Fault>;
}

/// The hash of a file and its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHash {
    pub kind: HashType,
    pub digest: String,
}

impl FileHash {
    /// As `cp.hash_file` answers.
    pub fn shown(&self) -> Map {
        Map::from_iter([("hash_type", self.kind.name()), ("hsum", &self.digest)])
    }
}

/// What is listed of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    Files,
    Directories,
    EmptyDirectories,
    Links,
}

impl Listing {
    pub const ALL: [Listing; 4] = [Listing::Files, Listing::Directories, Listing::EmptyDirectories, Listing::Links];

    pub fn name(self) -> &'static str {
        match self {
            Listing::Files => "files",
            Listing::Directories => "dirs",
            Listing::EmptyDirectories => "empty_dirs",
            Listing::Links => "links",
        }
    }
}

/// Names of an environment, sorted; where links are listed, each with where it points.
pub type Entries = Vec<(String, Option<String>)>;

/// A list of names, or for links a map to where they point.
pub fn shown(listing: Listing, entries: Entries) -> Value {
    match listing {
        Listing::Links => Value::Map(entries.into_iter().map(|(name, target)| (name, Value::from(target))).collect()),
        _ => Value::list(entries.into_iter().map(|(name, _)| name)),
    }
}
