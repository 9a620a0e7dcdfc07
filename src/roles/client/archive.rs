//! What runners read of the master's job database.

use crate::master::database::{Archive, DatabaseError, path_in};
use halite_core::Fault;
use halite_run::runners;
use halite_value::{Map, Value};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// The database of a master, opened when it is first read. Where there is none yet, nothing is kept.
pub struct Kept {
    path: PathBuf,
    archive: OnceCell<Option<Archive>>,
}

impl Kept {
    pub fn new(cachedir: &Path) -> Kept {
        Kept { path: path_in(cachedir), archive: OnceCell::new() }
    }

    fn read<T: Default>(&self, read: impl FnOnce(&Archive) -> Result<T, DatabaseError>) -> Result<T, Fault> {
        if self.archive.get().is_none() {
            let opened = Archive::open(&self.path).map_err(unreadable)?;
            let _ = self.archive.set(opened);
        }
        match self.archive.get() {
            Some(Some(archive)) => read(archive).map_err(unreadable),
            _ => Ok(T::default()),
        }
    }
}

fn unreadable(error: DatabaseError) -> Fault {
    Fault::execution(format!("the job database cannot be read: {error}"))
}

impl runners::Archive for Kept {
    fn jobs(&self) -> Result<Vec<(String, Map)>, Fault> {
        let jobs = self.read(Archive::jobs)?;
        Ok(jobs.into_iter().map(|kept| (kept.jid, kept.load)).collect())
    }

    fn each_job(&self, take: &mut dyn FnMut(&str, &Map)) -> Result<(), Fault> {
        self.read(|archive| archive.each_job(take))
    }

    fn job(&self, jid: &str) -> Result<Option<Map>, Fault> {
        Ok(self.read(|archive| archive.job(jid))?.map(|kept| kept.load))
    }

    fn returns(&self, jid: &str) -> Result<Vec<(String, Map)>, Fault> {
        self.read(|archive| archive.returns(jid))
    }

    fn ends(&self, jid: &str) -> Result<Vec<(String, String)>, Fault> {
        self.read(|archive| archive.ends(jid))
    }

    fn grains(&self) -> Result<Vec<(String, Map)>, Fault> {
        let minions = self.read(Archive::minions)?;
        Ok(minions.into_iter().map(|(id, _, grains)| (id, grains)).collect())
    }

    fn kept(&self, bank: &str) -> Result<Vec<(String, Value)>, Fault> {
        self.read(|archive| archive.kept(bank))
    }
}
