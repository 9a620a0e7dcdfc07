//! The files of this node itself: `file_client: local`, `salt-call --local`.

use super::server::{FileServer, Freshness};
use halite_core::Fault;
use halite_core::files::{Entries, FileHash, Files, Listing};
use halite_core::host::own;
use halite_value::Map;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How often a file is copied anew that changes while it is copied.
const TRIES: usize = 5;

/// The `file_roots` of a node's own configuration.
pub struct LocalFiles(FileServer);

impl LocalFiles {
    pub fn new(opts: &Map) -> Result<LocalFiles, Fault> {
        FileServer::new(opts, Freshness::Always).map(LocalFiles)
    }

    fn copy(&self, path: &str, saltenv: &str, into: &Path) -> io::Result<bool> {
        for _ in 0..TRIES {
            let Some(opened) = self.0.open(path, saltenv)? else {
                return Ok(false);
            };
            let mut to = own::create_private(into)?;
            let copied = io::copy(&mut (&opened.file).take(opened.size()), &mut to)?;
            let now = self.0.open(path, saltenv)?;
            if copied == opened.size() && now.is_some_and(|now| now.version() == opened.version()) {
                return Ok(true);
            }
        }
        Err(io::Error::other("it changes while it is copied"))
    }
}

impl Files for LocalFiles {
    fn environments(&self) -> Result<Vec<String>, Fault> {
        Ok(self.0.environments())
    }

    fn list(&self, listing: Listing, saltenv: &str, prefix: &str) -> Result<Entries, Fault> {
        Ok(self.0.list(listing, saltenv, prefix))
    }

    fn find(&self, path: &str, saltenv: &str) -> Result<Option<Vec<i64>>, Fault> {
        let opened = self.0.open(path, saltenv).map_err(|error| failed(path, &error))?;
        Ok(opened.map(|opened| opened.stat()))
    }

    fn hash(&self, path: &str, saltenv: &str) -> Result<Option<FileHash>, Fault> {
        let hashed = || match self.0.open(path, saltenv)? {
            Some(opened) => self.0.hash(&opened),
            None => Ok(None),
        };
        hashed().map_err(|error| failed(path, &error))
    }

    fn fetch(&self, path: &str, saltenv: &str, into: &Path) -> Result<bool, Fault> {
        self.copy(path, saltenv, into).map_err(|error| failed(path, &error))
    }

    fn here(&self, path: &str, saltenv: &str) -> Result<Option<PathBuf>, Fault> {
        let opened = self.0.open(path, saltenv).map_err(|error| failed(path, &error))?;
        Ok(opened.map(|opened| opened.path().to_owned()))
    }

    fn push(&self, _: &Path, _: &[String]) -> Result<bool, Fault> {
        Err(Fault::execution("no master: this call runs locally"))
    }
}

fn failed(path: &str, error: &io::Error) -> Fault {
    Fault::execution(format!("salt://{path}: {error}"))
}
