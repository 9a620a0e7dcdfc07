//! Reading the job database.

use super::load::job_of;
use super::{DatabaseError, Environments};
use halite_value::{Map, Value, parse_json};
use halite_wire::message::Job;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A reader of the job database, for runners and for a master that starts. Reads what is committed, whoever writes.
pub struct Archive {
    connection: Connection,
    path: PathBuf,
}

/// One job as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub jid: String,
    pub load: Map,
}

impl Kept {
    /// The minions that the job was sent to.
    pub fn minions(&self) -> Vec<String> {
        self.load.at("Minions").and_then(Value::as_list).unwrap_or_default().iter().map(Value::to_text).collect()
    }
}

/// A job that had targets without an outcome when the master stopped.
pub struct Unfinished {
    pub job: Job,
    pub open: Vec<String>,
}

impl Archive {
    /// Nothing where there is no database yet.
    pub fn open(path: &Path) -> Result<Option<Archive>, DatabaseError> {
        if !path.exists() {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let failed = |error| DatabaseError { path: path.to_owned(), error };
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(Duration::from_secs(5)).map_err(failed)?;
        connection.pragma_update(None, "query_only", true).map_err(failed)?;
        Ok(Some(Archive { connection, path: path.to_owned() }))
    }

    /// All jobs, oldest first.
    pub fn jobs(&self) -> Result<Vec<Kept>, DatabaseError> {
        self.rows("SELECT jid, load FROM jids ORDER BY jid", [])
    }

    /// Hands over what [`jobs`](Archive::jobs) lists, one after the other.
    pub fn each_job(&self, take: &mut dyn FnMut(&str, &Map)) -> Result<(), DatabaseError> {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached("SELECT jid, load FROM jids ORDER BY jid")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                take(row.get_ref(0)?.as_str()?, &map_of(row.get_ref(1)?.as_str()?));
            }
            Ok(())
        };
        read().map_err(|error| self.failed(error))
    }

    pub fn job(&self, jid: &str) -> Result<Option<Kept>, DatabaseError> {
        Ok(self.rows("SELECT jid, load FROM jids WHERE jid = ?", [jid])?.pop())
    }

    /// The full returns of a job, by minion.
    pub fn returns(&self, jid: &str) -> Result<Vec<(String, Map)>, DatabaseError> {
        let rows = self.rows("SELECT id, full_ret FROM salt_returns WHERE jid = ? ORDER BY id", [jid])?;
        Ok(rows.into_iter().map(|row| (row.jid, row.load)).collect())
    }

    /// The targets of a job that ended without a return, with the name of their state.
    pub fn ends(&self, jid: &str) -> Result<Vec<(String, String)>, DatabaseError> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            let mut statement =
                self.connection.prepare_cached("SELECT id, state FROM halite_ends WHERE jid = ? ORDER BY id")?;
            let rows = statement.query_map([jid], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// The targets of a batch that had their turn, and when, in seconds after 1970.
    pub fn started(&self, jid: &str) -> Result<Vec<(String, f64)>, DatabaseError> {
        let read = || -> rusqlite::Result<Vec<(String, f64)>> {
            let mut statement = self.connection.prepare_cached("SELECT id, at FROM halite_started WHERE jid = ?")?;
            let rows = statement.query_map([jid], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// What a bank keeps, by key.
    pub fn kept(&self, bank: &str) -> Result<Vec<(String, Value)>, DatabaseError> {
        let read = || -> rusqlite::Result<Vec<(String, Value)>> {
            let sql = "SELECT key, data FROM halite_kept WHERE bank = ? ORDER BY key";
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map([bank], |row| {
                let text: String = row.get(1)?;
                Ok((row.get(0)?, parse_json(&text).unwrap_or_default()))
            })?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// The grains that a minion sent last.
    pub fn grains(&self, id: &str) -> Result<Option<Map>, DatabaseError> {
        let sql = "SELECT grains FROM halite_minions WHERE id = ?";
        let text: Option<Option<String>> =
            self.connection.query_row(sql, [id], |row| row.get(0)).optional().map_err(|error| self.failed(error))?;
        Ok(text.flatten().map(|text| map_of(&text)))
    }

    /// What is remembered of each minion: its boot id and its grains.
    pub fn minions(&self) -> Result<Vec<(String, Option<String>, Map)>, DatabaseError> {
        let read = || -> rusqlite::Result<Vec<(String, Option<String>, Map)>> {
            let mut statement = self.connection.prepare_cached("SELECT id, boot, grains FROM halite_minions")?;
            let rows = statement.query_map([], |row| {
                let grains: Option<String> = row.get(2)?;
                Ok((row.get(0)?, row.get(1)?, grains.map_or_else(Map::new, |text| map_of(&text))))
            })?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// The environments of those minions that have some of their own.
    pub fn environments(&self) -> Result<Vec<(String, Environments)>, DatabaseError> {
        let read = || -> rusqlite::Result<Vec<(String, Environments)>> {
            let mut statement =
                self.connection.prepare_cached("SELECT id, saltenv, pillarenv FROM halite_environments")?;
            let rows = statement.query_map([], |row| {
                Ok((row.get(0)?, Environments { saltenv: row.get(1)?, pillarenv: row.get(2)? }))
            })?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// The jobs that have targets without an outcome. A job that is closed is not looked at, so that the start of a master
    /// does not depend on how many it keeps.
    pub fn unfinished(&self) -> Result<Vec<Unfinished>, DatabaseError> {
        let mut unfinished = Vec::new();
        let sql = "SELECT jid, load FROM jids WHERE jid IN (SELECT jid FROM halite_open) ORDER BY jid";
        for kept in self.rows(sql, [])? {
            let mut open = kept.minions();
            let (returned, ended) = (self.returns(&kept.jid)?, self.ends(&kept.jid)?);
            let done: HashSet<&String> =
                returned.iter().map(|(id, _)| id).chain(ended.iter().map(|(id, _)| id)).collect();
            open.retain(|id| !done.contains(id));
            if !open.is_empty() {
                unfinished.push(Unfinished { job: job_of(&kept), open });
            }
        }
        Ok(unfinished)
    }

    /// Reads rows of a name and a JSON map.
    fn rows<P: rusqlite::Params>(&self, sql: &str, parameters: P) -> Result<Vec<Kept>, DatabaseError> {
        let read = || -> rusqlite::Result<Vec<Kept>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map(parameters, |row| {
                let text: String = row.get(1)?;
                Ok(Kept { jid: row.get(0)?, load: map_of(&text) })
            })?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    fn failed(&self, error: rusqlite::Error) -> DatabaseError {
        DatabaseError { path: self.path.clone(), error }
    }
}

fn map_of(json: &str) -> Map {
    match parse_json(json) {
        Ok(Value::Map(map)) => map,
        _ => Map::new(),
    }
}
