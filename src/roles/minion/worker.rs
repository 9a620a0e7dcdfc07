//! A job in a process of its own: it can be killed, gives its memory back and outlives the daemon.
//!
//! The daemon starts the same binary again and writes an [`Order`] to its standard input. The worker inherits the lock
//! of the jid, becomes the leader of its own session and renames its result into the spool itself: a daemon that ends
//! meanwhile loses nothing, the next one finds the result.

use super::execute::{World, execute};
use super::spool::Spool;
use crate::logging;
use crate::minion::local::MinionSocket;
use async_io::Async;
use halite_core::context::Master;
use halite_core::host::Machine;
use halite_core::jid::Jid;
use halite_core::jobs::Lock;
use halite_core::{Fault, NoMaster};
use halite_value::{Map, Value};
use halite_wire::cbor;
use halite_wire::message::{Job, Return};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, pidfd_open, setrlimit};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The name under which the binary is a worker. Not a program for people.
pub const NAME: &str = "halite-worker";

/// What a worker is told.
#[derive(Serialize, Deserialize)]
pub struct Order<'d> {
    job: Cow<'d, Job>,
    cachedir: Cow<'d, Path>,
    sock_dir: Option<Cow<'d, Path>>,
    /// The inherited handle of the jid's lock.
    lock: i32,
    opts: Cow<'d, Map>,
    grains: Cow<'d, Map>,
    pillar: Cow<'d, Map>,
}

/// What the daemon gives to its workers.
#[derive(Clone)]
pub struct Background {
    pub cachedir: PathBuf,
    pub sock_dir: Option<PathBuf>,
    pub opts: Arc<Map>,
    pub grains: Arc<Map>,
    pub pillar: Arc<Map>,
}

/// How a worker ended.
pub struct Ended {
    /// The signal that killed it.
    pub signal: Option<i32>,
    pub code: Option<i32>,
}

/// Starts a worker and tells it its job. Blocks for a moment.
pub fn start(background: &Background, job: &Job, lock: &Lock) -> std::io::Result<Child> {
    let order = Order {
        job: Cow::Borrowed(job),
        cachedir: Cow::Borrowed(&background.cachedir),
        sock_dir: background.sock_dir.as_deref().map(Cow::Borrowed),
        lock: lock.raw(),
        opts: Cow::Borrowed(&background.opts),
        grains: Cow::Borrowed(&background.grains),
        pillar: Cow::Borrowed(&background.pillar),
    };
    // Before there is a worker: half an order is none.
    let order = cbor::encode(&order).map_err(std::io::Error::other)?;
    // The running file, even when another version has taken its place on disk.
    let mut command = Command::new("/proc/self/exe");
    command.arg0(NAME).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::inherit());
    // What a job starts must not speak to the service manager in the daemon's name.
    command.env_remove(crate::daemon::notify::VARIABLE);
    lock.inherit(&mut command);
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A worker that ended already tells more by its end than by this.
        let _ = stdin.write_all(&order);
    }
    Ok(child)
}

/// Waits for the end of a worker. The kernel tells it by a handle, so that a thousand jobs need no thousand threads; a
/// kernel without such handles (before 5.3) costs a thread.
pub async fn ended(mut child: Child) -> std::io::Result<Ended> {
    let handle = Pid::from_raw(child.id() as i32).map(|pid| pidfd_open(pid, PidfdFlags::NONBLOCK));
    let status = match handle {
        Some(Ok(handle)) => {
            Async::new(handle)?.readable().await?;
            child.wait()?
        }
        _ => smol::unblock(move || child.wait()).await?,
    };
    Ok(Ended { signal: status.signal(), code: status.code() })
}

/// The worker itself. Its exit code is for the daemon: 0 when a result is in the spool.
pub fn main(_: &[String]) -> u8 {
    // A job that is killed takes what it has started along, and a signal for the daemon's group does not reach it.
    let _ = rustix::process::setsid();
    match work() {
        Ok(()) => 0,
        Err(message) => {
            eprintln!("{NAME}: {message}");
            70
        }
    }
}

fn work() -> Result<(), String> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let order: Order = cbor::decode(&bytes).map_err(|error| error.to_string())?;
    drop(bytes);
    logging::start_in_worker(&order.job.jid, &order.opts);
    limit_memory(&order.opts);
    let jid = Jid::parse(&order.job.jid).map_err(|error| error.to_string())?;
    let _lock = Lock::adopt(order.lock).map_err(|error| format!("the lock of job {jid}: {error}"))?;
    let master: Box<dyn Master> = match &order.sock_dir {
        Some(sock_dir) => Box::new(MinionSocket::new(sock_dir)),
        None => Box::new(NoMaster),
    };
    let world = World {
        host: &Machine,
        master: master.as_ref(),
        grains: &order.grains,
        pillar: &order.pillar,
        opts: &order.opts,
        cancelled: &AtomicBool::new(false),
    };
    let ret = execute(&world, &order.job);
    Spool::open(&order.cachedir)
        .and_then(|spool| spool.put(&jid, &ret))
        .map_err(|error| format!("the result of job {jid} cannot be written: {error}"))
}

/// Keeps the job, with what it starts, from more memory than `modules_max_memory` beyond what this process has already.
fn limit_memory(opts: &Map) {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let Some(limit) = memory_limit(opts, &statm, rustix::param::page_size() as u64) else { return };
    let limit = Rlimit { current: Some(limit), maximum: Some(limit) };
    if let Err(error) = setrlimit(Resource::As, limit) {
        log::warn!("modules_max_memory: the memory of this job is not limited: {error}");
    }
}

/// Bytes of address space; nothing where there is no limit.
fn memory_limit(opts: &Map, statm: &str, page: u64) -> Option<u64> {
    let more = opts.at("modules_max_memory").and_then(Value::as_int).and_then(|bytes| u64::try_from(bytes).ok())?;
    let has: u64 = statm.split_whitespace().next()?.parse().ok()?;
    (more > 0).then(|| more.saturating_add(has.saturating_mul(page)))
}

/// The return of a job whose worker ended without one.
pub fn without_result(job: &Job, ended: &Ended) -> Return {
    let (text, retcode, killed) = match (ended.signal, ended.code) {
        (Some(signal), _) => (format!("The job was killed by signal {signal}"), i64::from(128 + signal), true),
        (None, Some(code)) => {
            (format!("The process of the job ended with exit code {code} and left no result"), 1, false)
        }
        (None, None) => ("The process of the job ended and left no result".to_owned(), 1, false),
    };
    let value = Fault::execution(text).shown(&job.fun.to_text()).0;
    Return {
        jid: job.jid.clone(),
        fun: job.fun.clone(),
        fun_args: job.arg.clone(),
        value,
        retcode,
        killed,
        metadata: job.metadata.clone(),
        ..Return::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_may_have_so_much_memory_beyond_that_of_its_process() {
        let limit =
            |bytes: i64| memory_limit(&Map::from_iter([("modules_max_memory", bytes)]), "100 20 10 5 0 9 0", 4096);
        assert_eq!(limit(1000), Some(100 * 4096 + 1000));
        assert_eq!((limit(-1), limit(0)), (None, None));
        assert_eq!(memory_limit(&Map::new(), "100", 4096), None);
    }
}
