//! The job database: one SQLite file with Salt's tables `jids`, `salt_returns` and `salt_events`.
//!
//! One thread writes, in groups of what has come meanwhile, without waiting for the disk (WAL, `synchronous = NORMAL`): a
//! job is written before it is sent. Another thread brings the log to the disk: a return is there before its minion is
//! told. No fsync stands between a client and its answer, nor between one job and the next.

mod archive;
mod load;
mod questions;
mod schema;
mod write;
mod writer;

pub use archive::{Archive, Kept, Unfinished};

use halite_value::{Map, Value};
use halite_wire::link::Local;
use halite_wire::message::{EndState, Job, Return};
use questions::{Question, answer_questions};
use smol::channel::{Sender, bounded};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use write::Write;
use writer::{Order, sync_log, write_groups};

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

/// To whom a job was sent, as one minion sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    ToIt,
    ToOthers,
    /// Nobody has published it.
    Never,
}

/// The writing end. Dropping it writes what is left and ends the thread.
pub struct Database {
    orders: Sender<Order>,
    questions: Sender<Question>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Database {
    pub fn open(path: &Path) -> Result<Database, DatabaseError> {
        let failed = |error| DatabaseError { path: path.to_owned(), error };
        let connection = schema::open(path).map_err(failed)?;
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let log = File::open(&log).map_err(|error| failed(schema::io(error)))?;
        let (orders, incoming) = smol::channel::unbounded();
        let (questions, asked) = smol::channel::unbounded();
        let own = path.to_owned();
        let (written, to_sync) = smol::channel::unbounded();
        let start = |name: &str, work: Box<dyn FnOnce() + Send>| {
            let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(512 * 1024);
            thread.spawn(work).map_err(|error| failed(schema::io(error)))
        };
        let threads = vec![
            start("database", Box::new(move || write_groups(connection, incoming, written)))?,
            start("disk", Box::new(move || sync_log(log, to_sync)))?,
            start("questions", Box::new(move || answer_questions(&own, asked)))?,
        ];
        Ok(Database { orders, questions, threads })
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

    /// Keeps a value for others (`salt-run cache.store`). Ready when it is written.
    pub fn save_kept(&self, bank: String, key: String, data: Value) -> Local<Result<(), String>> {
        self.order(Write::Keep { bank, key, data })
    }

    /// Removes a key of a bank, or all of them. Ready when that is written.
    pub fn flush_kept(&self, bank: String, key: Option<String>) -> Local<Result<(), String>> {
        self.order(Write::Flush { bank, key })
    }

    /// Forgets what grains a minion has. Ready when that is written.
    pub fn forget_grains(&self, id: String) -> Local<Result<(), String>> {
        self.order(Write::Grains { id, grains: Map::new() })
    }

    /// Removes the jobs that are older than this jid.
    pub fn prune(&self, before: String) {
        self.order_quietly(Write::Prune { before });
    }

    /// To whom a job was sent, as this minion sees it. What was ordered a moment ago may not count yet.
    pub fn sent(&self, jid: String, id: String) -> Local<Result<Sent, String>> {
        let (answer, answered) = bounded(1);
        let _ = self.questions.try_send(Question { jid, id, answer });
        Box::pin(async move { answered.recv().await.map_err(|_| "the job database has stopped".to_owned())? })
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
        self.questions.close();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
