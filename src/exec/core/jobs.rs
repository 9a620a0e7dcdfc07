//! The jobs of this minion (and the runs of runners of a master), on disk: one file for each jid that was taken, in `<cachedir>/proc`.
//!
//! A jid runs once per minion: whoever makes its file first has the job. The file describes the job and is locked
//! (flock) for as long as somebody works on it; a worker process inherits the lock, so it outlives the daemon. The
//! result is written behind the description and gets a second name, in the spool, when it is whole. A file that is
//! described but not locked, and has no second name, belongs to a worker that died; an empty one to a job whose result
//! is with the master.
//!
//! One file a job: file systems are slow to make files where many were just removed.

use super::host::own::{self, File, FileExt};
use super::jid::Jid;
use halite_value::{Map, Value, parse_json};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The directory of jobs.
#[derive(Clone, Debug)]
pub struct Jobs {
    directory: PathBuf,
}

/// A job that somebody works on, or worked on.
#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    pub jid: Jid,
    pub fun: String,
    /// As they were published: keyword arguments stand last, in a map with `__kwarg__`.
    pub fun_args: Vec<Value>,
    pub tgt: Value,
    pub tgt_type: String,
    pub ret: String,
    pub user: String,
    /// The process that works on it.
    pub pid: u32,
    /// The boot of the machine in which it was taken; empty where the kernel does not tell.
    pub boot: String,
}

impl Running {
    /// What `saltutil.running` shows.
    pub fn shown(&self) -> Map {
        let mut map = Map::new();
        map.insert("tgt_type", self.tgt_type.as_str());
        map.insert("jid", self.jid.as_str());
        map.insert("tgt", self.tgt.clone());
        map.insert("pid", self.pid);
        map.insert("ret", self.ret.as_str());
        map.insert("user", self.user.as_str());
        map.insert("arg", Value::List(self.fun_args.clone()));
        map.insert("fun", self.fun.as_str());
        map
    }

    fn to_json(&self) -> String {
        let mut map = self.shown();
        map.insert("boot", self.boot.as_str());
        map.remove("pid");
        let rest = Value::from(map).to_json();
        // The pid comes first and has a fixed width, so that it can be replaced in place by one write.
        format!("{{\"pid\": {:>PID_WIDTH$}, {}\n", self.pid, &rest[1..])
    }

    fn from_json(jid: Jid, text: &str) -> Option<Running> {
        let mut map = match parse_json(text).ok()? {
            Value::Map(map) => map,
            _ => return None,
        };
        let mut text_at = |key: &str| match map.remove(key) {
            Some(Value::Str(text)) => text.into(),
            _ => String::new(),
        };
        let (fun, tgt_type, ret) = (text_at("fun"), text_at("tgt_type"), text_at("ret"));
        let (user, boot) = (text_at("user"), text_at("boot"));
        let pid = map.at("pid").and_then(Value::as_int).and_then(|pid| u32::try_from(pid).ok())?;
        let fun_args = map.at("arg").and_then(Value::as_list).unwrap_or_default().to_vec();
        let tgt = map.remove("tgt").unwrap_or_default();
        Some(Running { jid, fun, fun_args, tgt, tgt_type, ret, user, pid, boot })
    }
}

const PID_WIDTH: usize = 10;
const PID_AT: u64 = "{\"pid\": ".len() as u64;

/// The right to work on a job; it ends when the last process that has it open closes it.
#[derive(Clone, Debug)]
pub struct Lock(Arc<OwnedFd>);

impl Lock {
    /// The number of the handle, which a worker is told; see [`Lock::inherit`].
    pub fn raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Passes the lock on to the process that `command` starts, under the number [`Lock::raw`].
    pub fn inherit(&self, command: &mut std::process::Command) {
        super::host::keep_open(command, Arc::clone(&self.0));
    }

    /// In the worker: takes over the lock that was inherited under this number, so that the commands which the job
    /// runs do not hold it too.
    pub fn adopt(number: RawFd) -> io::Result<Lock> {
        super::host::adopt(number).map(|handle| Lock(Arc::new(handle)))
    }
}

impl Jobs {
    /// The jobs under a minion's `cachedir`.
    pub fn new(cachedir: &Path) -> Jobs {
        Jobs { directory: cachedir.join("proc") }
    }

    /// Takes a job. Nothing when it was taken before, be it running, finished or failed.
    ///
    /// The file appears under its name when it is described and locked, never earlier.
    pub fn take(&self, job: &Running) -> io::Result<Option<Lock>> {
        own::make_directories(&self.directory)?;
        let path = self.path(&job.jid);
        let draft = self.directory.join(format!(".{}.{}.{}", job.jid, own::pid(), serial()));
        let mut file = own::create_new(&draft)?;
        own::lock(&file)?;
        let linked = file.write_all(job.to_json().as_bytes()).and_then(|()| match own::hard_link(&draft, &path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        });
        own::remove(&draft)?;
        Ok(linked?.then(|| Lock(Arc::new(file.into()))))
    }

    /// Notes the process that works on a job, once it is known.
    pub fn update_pid(&self, jid: &Jid, pid: u32) -> io::Result<()> {
        let file = own::open_to_change(&self.path(jid))?;
        if file.metadata()?.len() == 0 {
            return Ok(());
        }
        file.write_all_at(format!("{pid:>PID_WIDTH$}").as_bytes(), PID_AT)
    }

    /// Writes a job's result behind its description and makes it appear at `place`, whole. False when the job has no
    /// file, or none that is described.
    pub fn put_result(&self, jid: &Jid, result: &[u8], place: &Path) -> io::Result<bool> {
        let path = self.path(jid);
        let mut file = match own::open_to_change(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            return Ok(false);
        };
        if own::exists(place) {
            return Ok(true);
        }
        // What a worker left that was killed here counts for nothing.
        file.set_len(end as u64 + 1)?;
        file.write_all_at(result, end as u64 + 1)?;
        own::hard_link(&path, place)?;
        Ok(true)
    }

    /// The result in what [`Jobs::put_result`] made.
    pub fn result_in(bytes: &[u8]) -> &[u8] {
        match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) if bytes.first() == Some(&b'{') => &bytes[end + 1..],
            _ => bytes,
        }
    }

    /// Notes that the job's result is safe. Whoever removes a result must have called this before, else the job would
    /// count as left behind.
    pub fn finish(&self, jid: &Jid) -> io::Result<()> {
        match own::open_to_change(&self.path(jid)) {
            Ok(file) => file.set_len(0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes a job that has no result to wait for.
    pub fn forget(&self, jid: &Jid) -> io::Result<()> {
        own::remove(&self.path(jid))
    }

    /// The jobs that somebody works on, oldest first.
    pub fn running(&self) -> io::Result<Vec<Running>> {
        self.described(Held::Yes)
    }

    /// The jobs whose process died before it had a result, oldest first. `has_result`: whether one is waiting to be
    /// sent all the same.
    pub fn left_behind(&self, has_result: impl Fn(&Jid) -> bool) -> io::Result<Vec<Running>> {
        let mut jobs = self.described(Held::No)?;
        jobs.retain(|job| !has_result(&job.jid));
        Ok(jobs)
    }

    /// Forgets the jobs that were taken longer ago than `age` and that nobody works on.
    pub fn prune(&self, now: SystemTime, age: Duration) -> io::Result<()> {
        for name in self.names()? {
            let path = self.directory.join(&name);
            let Ok(modified) = own::look(&path).and_then(|data| data.modified()) else {
                continue;
            };
            let is_old = now.duration_since(modified).is_ok_and(|past| past > age);
            if is_old && own::open(&path).is_ok_and(|file| held(&file) == Held::No) {
                own::remove(&path)?;
            }
        }
        Ok(())
    }

    fn described(&self, wanted: Held) -> io::Result<Vec<Running>> {
        let mut jobs = Vec::new();
        for name in self.names()? {
            let Ok(jid) = Jid::parse(&name) else {
                continue;
            };
            let mut file = match own::open(&self.directory.join(&name)) {
                Ok(file) => file,
                // It was pruned meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            if held(&file) != wanted {
                continue;
            }
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let description = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
            jobs.extend(Running::from_json(jid, &String::from_utf8_lossy(description)));
        }
        Ok(jobs)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match own::entries(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort();
        Ok(names)
    }

    fn path(&self, jid: &Jid) -> PathBuf {
        self.directory.join(jid.as_str())
    }
}

/// The boot that this machine is in; empty where the kernel does not tell. After a crash of the host it differs.
pub fn boot_id() -> String {
    own::read_text(Path::new("/proc/sys/kernel/random/boot_id")).map(|id| id.trim().to_owned()).unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq)]
enum Held {
    Yes,
    No,
}

/// Whether somebody has the lock. The look takes a shared lock for a moment, which no taker meets: a job's file is
/// locked before it has its name.
fn held(file: &File) -> Held {
    if own::is_locked(file) { Held::Yes } else { Held::No }
}

fn serial() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fake::Directory;
    use std::fs;

    fn job(jid: &str) -> Running {
        Running {
            jid: Jid::parse(jid).unwrap(),
            fun: "test.sleep".to_owned(),
            fun_args: vec![Value::from(30)],
            tgt: Value::from("*"),
            tgt_type: "glob".to_owned(),
            ret: String::new(),
            user: "root".to_owned(),
            pid: 7,
            boot: boot_id(),
        }
    }

    const JID: &str = "20261129205033700833";

    #[test]
    fn a_jid_is_taken_once() {
        let directory = Directory::new();
        let jobs = Jobs::new(directory.path());
        assert_eq!(jobs.running().unwrap(), []);
        let lock = jobs.take(&job(JID)).unwrap();
        assert!(lock.is_some());
        assert!(jobs.take(&job(JID)).unwrap().is_none());
        assert_eq!(jobs.running().unwrap(), [job(JID)]);
        assert_eq!(jobs.left_behind(|_| false).unwrap(), []);
        drop(lock);
        assert!(jobs.take(&job(JID)).unwrap().is_none());
        assert_eq!(fs::read_dir(directory.path().join("proc")).unwrap().count(), 1);
    }

    #[test]
    fn a_job_without_worker_and_result_is_left_behind() {
        let directory = Directory::new();
        let jobs = Jobs::new(directory.path());
        drop(jobs.take(&job(JID)).unwrap());
        assert_eq!(jobs.running().unwrap(), []);
        assert_eq!(jobs.left_behind(|_| false).unwrap(), [job(JID)]);
        assert_eq!(jobs.left_behind(|jid| jid.as_str() == JID).unwrap(), []);
        jobs.finish(&job(JID).jid).unwrap();
        assert_eq!(jobs.left_behind(|_| false).unwrap(), []);
        assert!(jobs.take(&job(JID)).unwrap().is_none());
    }

    #[test]
    fn a_result_appears_whole_and_once() {
        let directory = Directory::new();
        let jobs = Jobs::new(directory.path());
        let place = directory.path().join("result");
        assert!(!jobs.put_result(&job(JID).jid, b"early", &place).unwrap(), "nobody has taken the job");
        let lock = jobs.take(&job(JID)).unwrap();
        // A worker was killed before its result was whole.
        fs::OpenOptions::new().append(true).open(jobs.path(&job(JID).jid)).unwrap().write_all(b"half").unwrap();
        assert_eq!(jobs.running().unwrap(), [job(JID)]);
        assert!(jobs.put_result(&job(JID).jid, b"\xa1\n{", &place).unwrap());
        assert_eq!(Jobs::result_in(&fs::read(&place).unwrap()), b"\xa1\n{");
        assert!(jobs.put_result(&job(JID).jid, b"another", &place).unwrap());
        assert_eq!(Jobs::result_in(&fs::read(&place).unwrap()), b"\xa1\n{", "the first one stays");
        drop(lock);
        assert_eq!(jobs.left_behind(|_| true).unwrap(), []);
        jobs.finish(&job(JID).jid).unwrap();
        assert_eq!(jobs.left_behind(|_| false).unwrap(), []);
        assert!(!jobs.put_result(&job(JID).jid, b"late", &place).unwrap());
    }

    #[test]
    fn the_pid_can_be_noted_later() {
        let directory = Directory::new();
        let jobs = Jobs::new(directory.path());
        let _lock = jobs.take(&job(JID)).unwrap();
        jobs.update_pid(&job(JID).jid, 4_194_304).unwrap();
        assert_eq!(jobs.running().unwrap()[0].pid, 4_194_304);
        assert_eq!(jobs.running().unwrap()[0].fun_args, [Value::from(30)]);
    }

    #[test]
    fn a_worker_that_inherited_the_lock_holds_the_job() {
        let directory = Directory::new();
        let jobs = Jobs::new(directory.path());
        let lock = jobs.take(&job(JID)).unwrap().unwrap();
        let mut command = std::process::Command::new("/bin/cat");
        command.stdin(std::process::Stdio::piped());
        lock.inherit(&mut command);
        let mut worker = command.spawn().unwrap();
        drop(command);
        drop(lock);
        assert_eq!(jobs.running().unwrap().len(), 1);
        drop(worker.stdin.take());
        worker.wait().unwrap();
        assert_eq!(jobs.running().unwrap(), []);
    }

    #[test]
    fn a_lock_that_was_not_passed_is_refused() {
        assert!(Lock::adopt(1).is_err());
        assert!(Lock::adopt(1_000_000).is_err());
    }

    #[test]
    fn old_jobs_are_forgotten_unless_somebody_works_on_them() {
        let directory = Directory::new();
        let jobs = Jobs::new(directory.path());
        let lock = jobs.take(&job(JID)).unwrap();
        drop(jobs.take(&job("20261129205033700834")).unwrap());
        let day = Duration::from_secs(24 * 3600);
        jobs.prune(SystemTime::now(), day).unwrap();
        assert_eq!(jobs.names().unwrap().len(), 2);
        jobs.prune(SystemTime::now() + day * 2, day).unwrap();
        assert_eq!(jobs.names().unwrap(), [JID]);
        drop(lock);
    }
}
