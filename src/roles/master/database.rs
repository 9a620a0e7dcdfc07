//! The job database: one SQLite file with Salt's tables `jids`, `salt_returns` and `salt_events`.
//!
//! One thread writes, in groups of what has come meanwhile, without waiting for the disk (WAL, `synchronous = NORMAL`): a
//! job is written before it is sent. Another thread brings the log to the disk: a return is there before its minion is
//! told. No fsync stands between a client and its answer, nor between one job and the next.
//!
//! It is long because what is written and what is read again stand together: each row has its two ends in one file.

use halite_value::{Map, Value, parse_json};
use halite_wire::link::Local;
use halite_wire::message::{AtFailure, Batch, BatchSize, EndState, Job, Return};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use smol::channel::{Receiver, Sender, bounded};
use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How many writes one group takes at most.
const GROUP: usize = 512;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS jids (jid TEXT PRIMARY KEY, load TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS salt_returns (fun TEXT NOT NULL, jid TEXT NOT NULL, \"return\" TEXT NOT NULL, id TEXT NOT NULL,
  success TEXT NOT NULL, full_ret TEXT NOT NULL, alter_time TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (jid, id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS salt_returns_id ON salt_returns (id);
CREATE INDEX IF NOT EXISTS salt_returns_fun ON salt_returns (fun);
CREATE TABLE IF NOT EXISTS salt_events (id INTEGER PRIMARY KEY, tag TEXT NOT NULL, data TEXT NOT NULL,
  alter_time TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, master_id TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS salt_events_tag ON salt_events (tag);
CREATE TABLE IF NOT EXISTS halite_ends (jid TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL,
  PRIMARY KEY (jid, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS halite_open (jid TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS halite_started (jid TEXT NOT NULL, id TEXT NOT NULL, at REAL NOT NULL,
  PRIMARY KEY (jid, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS halite_kept (bank TEXT NOT NULL, key TEXT NOT NULL, data TEXT NOT NULL,
  PRIMARY KEY (bank, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS halite_minions (id TEXT PRIMARY KEY, boot TEXT, grains TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS halite_environments (id TEXT PRIMARY KEY, saltenv TEXT, pillarenv TEXT) WITHOUT ROWID;
";

/// What went wrong with the database, with its file.
#[derive(Debug)]
pub struct DatabaseError {
    path: PathBuf,
    error: rusqlite::Error,
}

impl std::fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for DatabaseError {}

fn io(error: std::io::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

/// The environments that a minion's configuration names for its states and its pillar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environments {
    pub saltenv: Option<String>,
    pub pillarenv: Option<String>,
}

/// Where the database of a master is.
pub fn path_in(cachedir: &Path) -> PathBuf {
    cachedir.join("jobs.sqlite")
}

enum Write {
    Job {
        job: Box<Job>,
        minions: Vec<String>,
        absent: Vec<String>,
    },
    Return {
        id: String,
        ret: Box<Return>,
        full: Map,
        over: Over,
        closes: Closes,
        valid: Arc<AtomicBool>,
    },
    End {
        jid: String,
        id: String,
        state: EndState,
    },
    Started {
        jid: String,
        ids: Vec<String>,
        at: f64,
    },
    Close {
        jid: String,
    },
    Boot {
        id: String,
        boot: String,
    },
    Grains {
        id: String,
        grains: Map,
    },
    Environments {
        id: String,
        environments: Environments,
    },
    Event {
        tag: String,
        data: Map,
        master: String,
    },
    Prune {
        before: String,
    },
    ForgetMinion {
        id: String,
    },
    Keep {
        bank: String,
        key: String,
        data: Value,
    },
    Flush {
        bank: String,
        key: Option<String>,
    },
    /// Nothing: whoever waits for it knows that all before it is written.
    Reach,
}

/// What a return does to an earlier one of the same minion and job.
#[derive(Clone, Copy)]
pub enum Over {
    Replaces,
    GivesWay,
}

/// Whether a return is the last outcome of its job.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Closes {
    Yes,
    No,
}

struct Order {
    write: Write,
    done: Option<Sender<Result<(), String>>>,
}

/// The writing end. Dropping it writes what is left and ends the thread.
pub struct Database {
    orders: Sender<Order>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Database {
    pub fn open(path: &Path) -> Result<Database, DatabaseError> {
        let failed = |error| DatabaseError { path: path.to_owned(), error };
        let connection = Connection::open(path).map_err(failed)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
        connection.pragma_update(None, "wal_autocheckpoint", 4000).map_err(failed)?;
        connection.execute_batch(SCHEMA).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(32);
        // The first write makes the log; it stays the same file for as long as this connection is open.
        connection.execute_batch("BEGIN IMMEDIATE; PRAGMA user_version = 1; COMMIT").map_err(failed)?;
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let log = File::open(&log).map_err(|error| failed(io(error)))?;
        let (orders, incoming) = smol::channel::unbounded();
        let (written, to_sync) = smol::channel::unbounded();
        let start = |name: &str, work: Box<dyn FnOnce() + Send>| {
            let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(512 * 1024);
            thread.spawn(work).map_err(|error| failed(io(error)))
        };
        let threads = vec![
            start("database", Box::new(move || write_groups(connection, incoming, written)))?,
            start("disk", Box::new(move || sync_log(log, to_sync)))?,
        ];
        Ok(Database { orders, threads })
    }

    /// Ready when the job is written.
    pub async fn save_job(&self, job: Job, minions: Vec<String>, absent: Vec<String>) -> Result<(), String> {
        self.order(Write::Job { job: Box::new(job), minions, absent }).await
    }

    /// Ready when the return is on the disk. One that came before gives way to what the earlier write put there. What is
    /// not `valid` any more when its turn comes is not written.
    pub fn save_return(
        &self,
        id: &str,
        ret: Return,
        full: Map,
        over: Over,
        closes: Closes,
        valid: Arc<AtomicBool>,
    ) -> Local<Result<(), String>> {
        self.order(Write::Return { id: id.to_owned(), ret: Box::new(ret), full, over, closes, valid })
    }

    pub fn save_end(&self, jid: String, id: String, state: EndState) {
        self.order_quietly(Write::End { jid, id, state });
    }

    /// These targets of a batch had their turn, so many seconds after 1970.
    pub fn save_started(&self, jid: String, ids: Vec<String>, at: f64) {
        self.order_quietly(Write::Started { jid, ids, at });
    }

    /// Every target of the job has its outcome.
    pub fn close_job(&self, jid: &str) {
        self.order_quietly(Write::Close { jid: jid.to_owned() });
    }

    pub fn save_boot(&self, id: String, boot: String) {
        self.order_quietly(Write::Boot { id, boot });
    }

    pub fn save_grains(&self, id: String, grains: Map) {
        self.order_quietly(Write::Grains { id, grains });
    }

    pub fn save_environments(&self, id: String, environments: Environments) {
        self.order_quietly(Write::Environments { id, environments });
    }

    pub fn save_event(&self, tag: String, data: Map, master: String) {
        self.order_quietly(Write::Event { tag, data, master });
    }

    /// What is known of a minion goes with its key.
    pub fn forget_minion(&self, id: String) {
        self.order_quietly(Write::ForgetMinion { id });
    }

    /// Keeps a value for others (`salt-run cache.store`).
    pub fn save_kept(&self, bank: String, key: String, data: Value) {
        self.order_quietly(Write::Keep { bank, key, data });
    }

    /// Removes a key of a bank, or all of them.
    pub fn flush_kept(&self, bank: String, key: Option<String>) {
        self.order_quietly(Write::Flush { bank, key });
    }

    /// Ready when all that was ordered before is written.
    pub async fn reach(&self) -> Result<(), String> {
        self.order(Write::Reach).await
    }

    /// Removes the jobs that are older than this jid.
    pub fn prune(&self, before: String) {
        self.order_quietly(Write::Prune { before });
    }

    fn order(&self, write: Write) -> Local<Result<(), String>> {
        let (sender, done) = bounded(1);
        // A thread that has stopped drops the order, and with it the sender.
        let _ = self.orders.try_send(Order { write, done: Some(sender) });
        Box::pin(async move { done.recv().await.map_err(|_| "the job database has stopped".to_owned())? })
    }

    fn order_quietly(&self, write: Write) {
        let _ = self.orders.try_send(Order { write, done: None });
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.orders.close();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn write_groups(mut connection: Connection, incoming: Receiver<Order>, written: Sender<Written>) {
    while let Ok(first) = incoming.recv_blocking() {
        let mut group = vec![first];
        fill(&mut group, &incoming);
        commit(&mut connection, group, &written);
    }
}

/// What is written and has to be on the disk before it is told.
type Written = Vec<Sender<Result<(), String>>>;

/// Brings the log to the disk for whoever waits, all at once, while the writer goes on. What stands in the log is there
/// after a crash; before the log is overwritten, SQLite has brought its content into the database and that to the disk.
fn sync_log(log: File, written: Receiver<Written>) {
    while let Ok(mut waiting) = written.recv_blocking() {
        while let Ok(more) = written.try_recv() {
            waiting.extend(more);
        }
        let synced = log.sync_data().map_err(|error| error.to_string());
        if let Err(error) = &synced {
            log::error!("the job database cannot be brought to the disk: {error}");
        }
        for done in waiting {
            let _ = done.try_send(synced.clone());
        }
    }
}

fn is_return(order: &Order) -> bool {
    matches!(order.write, Write::Return { .. })
}

fn fill(group: &mut Vec<Order>, incoming: &Receiver<Order>) {
    while group.len() < GROUP {
        let Ok(order) = incoming.try_recv() else {
            return;
        };
        group.push(order);
    }
}

fn commit(connection: &mut Connection, orders: Vec<Order>, written: &Sender<Written>) {
    let result = write_all(connection, &orders).map_err(|error| error.to_string());
    if let Err(error) = &result {
        log::error!("the job database cannot be written: {error}");
    }
    let mut to_disk = Vec::new();
    for order in orders {
        let lasting = is_return(&order) && result.is_ok();
        match order.done {
            Some(done) if lasting => to_disk.push(done),
            Some(done) => drop(done.try_send(result.clone())),
            None => {}
        }
    }
    if !to_disk.is_empty() {
        let _ = written.try_send(to_disk);
    }
}

fn write_all(connection: &mut Connection, orders: &[Order]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for order in orders {
        write(&transaction, &order.write)?;
    }
    transaction.commit()
}

fn write(connection: &Connection, write: &Write) -> rusqlite::Result<()> {
    match write {
        Write::Job { job, minions, absent } => {
            let load = load_of(job, minions).to_json();
            connection.prepare_cached("INSERT OR REPLACE INTO jids VALUES (?, ?)")?.execute(params![job.jid, load])?;
            for id in absent {
                save_end(connection, &job.jid, id, EndState::Absent)?;
            }
            if !minions.is_empty() {
                connection.prepare_cached("INSERT OR IGNORE INTO halite_open VALUES (?)")?.execute([&job.jid])?;
            }
            Ok(())
        }
        Write::Return { valid, .. } if !valid.load(Ordering::Acquire) => Ok(()),
        Write::Return { id, ret, full, over, closes, .. } => {
            if *closes == Closes::Yes {
                close_job(connection, &ret.jid)?;
            }
            let verb = match over {
                Over::Replaces => "INSERT OR REPLACE",
                Over::GivesWay => "INSERT OR IGNORE",
            };
            let sql = format!(
                "{verb} INTO salt_returns (fun, jid, \"return\", id, success, full_ret) VALUES (?, ?, ?, ?, ?, ?)"
            );
            let success = if ret.success { "1" } else { "0" };
            let row = params![
                ret.fun.to_text(),
                ret.jid,
                ret.value.to_json(),
                id,
                success,
                Value::Map(full.clone()).to_json()
            ];
            let written = connection.prepare_cached(&sql)?.execute(row)?;
            if written == 0 {
                return Ok(());
            }
            // A return of a job that nobody published here: a minion started it by itself (salt-call).
            let load = own_load(id, ret).to_json();
            connection.prepare_cached("INSERT OR IGNORE INTO jids VALUES (?, ?)")?.execute(params![ret.jid, load])?;
            if ret.killed {
                return save_end(connection, &ret.jid, id, EndState::Killed);
            }
            let sql = "DELETE FROM halite_ends WHERE jid = ? AND id = ?";
            connection.prepare_cached(sql)?.execute(params![ret.jid, id]).map(drop)
        }
        Write::Close { jid } => close_job(connection, jid),
        Write::End { jid, id, state } => save_end(connection, jid, id, *state),
        Write::Started { jid, ids, at } => {
            let mut statement = connection.prepare_cached("INSERT OR REPLACE INTO halite_started VALUES (?, ?, ?)")?;
            ids.iter().try_for_each(|id| statement.execute(params![jid, id, at]).map(drop))
        }
        Write::Boot { id, boot } => {
            let sql = "INSERT INTO halite_minions (id, boot) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET boot = ?2";
            connection.prepare_cached(sql)?.execute(params![id, boot]).map(drop)
        }
        Write::Grains { id, grains } => {
            let sql =
                "INSERT INTO halite_minions (id, grains) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET grains = ?2";
            connection.prepare_cached(sql)?.execute(params![id, Value::Map(grains.clone()).to_json()]).map(drop)
        }
        Write::Environments { id, environments: Environments { saltenv, pillarenv } } => {
            let sql = "INSERT OR REPLACE INTO halite_environments VALUES (?, ?, ?)";
            connection.prepare_cached(sql)?.execute(params![id, saltenv, pillarenv]).map(drop)
        }
        Write::Event { tag, data, master } => {
            let sql = "INSERT INTO salt_events (tag, data, master_id) VALUES (?, ?, ?)";
            connection.prepare_cached(sql)?.execute(params![tag, Value::Map(data.clone()).to_json(), master]).map(drop)
        }
        Write::Prune { before } => {
            connection.execute("DELETE FROM jids WHERE jid < ?", [before])?;
            connection.execute("DELETE FROM salt_returns WHERE jid < ?", [before])?;
            connection.execute("DELETE FROM halite_open WHERE jid < ?", [before])?;
            connection.execute("DELETE FROM halite_started WHERE jid < ?", [before])?;
            connection.execute("DELETE FROM halite_ends WHERE jid < ?", [before]).map(drop)
        }
        Write::ForgetMinion { id } => {
            connection.execute("DELETE FROM halite_environments WHERE id = ?", [id])?;
            connection.execute("DELETE FROM halite_minions WHERE id = ?", [id]).map(drop)
        }
        Write::Keep { bank, key, data } => {
            let sql = "INSERT OR REPLACE INTO halite_kept VALUES (?, ?, ?)";
            connection.execute(sql, params![bank, key, data.to_json()]).map(drop)
        }
        Write::Flush { bank, key: None } => {
            connection.execute("DELETE FROM halite_kept WHERE bank = ?", [bank]).map(drop)
        }
        Write::Flush { bank, key: Some(key) } => {
            connection.execute("DELETE FROM halite_kept WHERE bank = ? AND key = ?", [bank, key]).map(drop)
        }
        Write::Reach => Ok(()),
    }
}

fn close_job(connection: &Connection, jid: &str) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM halite_open WHERE jid = ?")?.execute([jid]).map(drop)
}

fn save_end(connection: &Connection, jid: &str, id: &str, state: EndState) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO halite_ends VALUES (?, ?, ?)";
    connection.prepare_cached(sql)?.execute(params![jid, id, state.name()]).map(drop)
}

/// A job as Salt's job cache keeps it (its `load`), with the minions that are expected to answer.
fn load_of(job: &Job, minions: &[String]) -> Value {
    let mut load = Map::from_iter([
        ("cmd", Value::from("publish")),
        ("fun", job.fun.clone()),
        ("arg", Value::List(job.arg.clone())),
        ("tgt", job.tgt.clone()),
        ("tgt_type", Value::from(&job.tgt_type)),
        ("jid", Value::from(&job.jid)),
        ("ret", Value::from(&job.ret)),
        ("user", Value::from(&job.user)),
        ("Minions", Value::list(minions.iter().map(String::as_str))),
    ]);
    if let Some(metadata) = &job.metadata {
        load.insert("metadata", metadata.clone());
    }
    if !job.extra.is_empty() {
        load.insert("extra", job.extra.clone());
    }
    if let Some(batch) = &job.batch {
        load.insert("batch", kept_batch(batch));
    }
    Value::Map(load)
}

/// How a batch stands in the load of its job. Its size was made a number before.
fn kept_batch(batch: &Batch) -> Map {
    let size = match batch.size {
        BatchSize::Count(count) => Value::from(count),
        BatchSize::Percent(percent) => Value::from(format!("{percent}%")),
    };
    Map::from_iter([
        ("size", size),
        ("wait", batch.wait_s.into()),
        ("failhard", (batch.at_failure == AtFailure::Stop).into()),
        ("timeout", batch.patience_s.into()),
    ])
}

fn batch_of(kept: &Map) -> Batch {
    let number = |key: &str| kept.at(key).and_then(Value::as_int).and_then(|n| u64::try_from(n).ok());
    Batch {
        size: BatchSize::Count(number("size").unwrap_or(1)),
        wait_s: number("wait").unwrap_or_default(),
        at_failure: if kept.at("failhard").is_some_and(Value::truthy) { AtFailure::Stop } else { AtFailure::GoOn },
        patience_s: number("timeout").unwrap_or_default(),
    }
}

/// The load of a job that a minion started by itself, from what it returned.
fn own_load(id: &str, ret: &Return) -> Value {
    let job = Job {
        jid: ret.jid.clone(),
        fun: ret.fun.clone(),
        arg: ret.fun_args.clone(),
        tgt: id.into(),
        tgt_type: "list".to_owned(),
        metadata: ret.metadata.clone(),
        ..Job::default()
    };
    load_of(&job, &[id.to_owned()])
}

// ---- reading ----

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

fn job_of(kept: &Kept) -> Job {
    let text = |key: &str| kept.load.str_at(key).unwrap_or_default().to_owned();
    Job {
        jid: kept.jid.clone(),
        fun: kept.load.at("fun").cloned().unwrap_or_default(),
        arg: kept.load.at("arg").and_then(Value::as_list).unwrap_or_default().to_vec(),
        tgt: kept.load.at("tgt").cloned().unwrap_or_default(),
        tgt_type: text("tgt_type"),
        ret: text("ret"),
        user: text("user"),
        metadata: kept.load.at("metadata").cloned(),
        extra: kept.load.at("extra").and_then(Value::as_map).cloned().unwrap_or_default(),
        batch: kept.load.at("batch").and_then(Value::as_map).map(batch_of),
    }
}

#[cfg(test)]
mod tests;
