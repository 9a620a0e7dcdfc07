//! Results that the master has not acknowledged yet: a file each, in `<cachedir>/spool`.
//!
//! Whoever ends a job (the daemon, or a worker that outlives it) puts its result here in one step: as a second name of
//! the job's own file, or as a file of its own where there is none. It is removed when the master has it on disk. No fsync: a kill loses nothing, and after a crash of the host nothing is offered again. The
//! spool is bounded in number, size and age, and says so when it drops something.

use halite_core::jid::Jid;
use halite_core::jobs::Jobs;
use halite_wire::cbor;
use halite_wire::message::Return;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

#[derive(Clone, Debug)]
pub struct Spool {
    directory: PathBuf,
    jobs: Jobs,
}

/// Bounds of a spool.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub results: usize,
    pub bytes: u64,
    pub age: Duration,
}

pub const BOUNDS: Bounds = Bounds { results: 10_000, bytes: 1 << 30, age: Duration::from_secs(7 * 86_400) };

impl Spool {
    pub fn open(cachedir: &Path) -> io::Result<Spool> {
        let directory = cachedir.join("spool");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        Ok(Spool { directory, jobs: Jobs::new(cachedir) })
    }

    /// Puts a result in place, whole.
    pub fn put(&self, jid: &Jid, ret: &Return) -> io::Result<()> {
        let result = cbor::encode(ret).map_err(io::Error::other)?;
        if self.jobs.put_result(jid, &result, &self.path(jid))? {
            return Ok(());
        }
        let beside = self.directory.join(format!(".{jid}.{}", std::process::id()));
        let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(&result)?;
        fs::rename(&beside, self.path(jid))
    }

    pub fn holds(&self, jid: &Jid) -> bool {
        self.path(jid).exists()
    }

    /// The result of a job; nothing where there is none, or where it cannot be read.
    pub fn take(&self, jid: &Jid) -> Option<Return> {
        let path = self.path(jid);
        let bytes = fs::read(&path).ok()?;
        if bytes.is_empty() {
            // The master has it; only its removal was interrupted.
            self.remove(jid);
            return None;
        }
        match cbor::decode(Jobs::result_in(&bytes)) {
            Ok(ret) => Some(ret),
            Err(error) => {
                log::error!("{} is not a result: {error}", path.display());
                None
            }
        }
    }

    /// Emptied first: a job whose file is described and has no result here would count as left behind.
    pub fn remove(&self, jid: &Jid) {
        if let Err(error) = self.jobs.finish(jid) {
            log::warn!("job {jid} cannot be marked as finished: {error}");
        }
        let _ = fs::remove_file(self.path(jid));
    }

    /// The jobs that have a result here, oldest first.
    pub fn jids(&self) -> Vec<Jid> {
        let names = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut jids: Vec<Jid> = names.filter_map(|entry| Jid::parse(entry.file_name().to_str()?).ok()).collect();
        jids.sort();
        jids
    }

    /// Drops the oldest results until the rest keeps the bounds.
    pub fn prune(&self, bounds: Bounds, now: SystemTime) {
        let jids = self.jids();
        let data = |jid: &Jid| fs::metadata(self.path(jid)).ok();
        let mut left = jids.len();
        let mut bytes: u64 = jids.iter().filter_map(data).map(|data| data.len()).sum();
        for jid in &jids {
            let Some(data) = data(jid) else {
                continue;
            };
            let old = data.modified().is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > bounds.age));
            if !old && left <= bounds.results && bytes <= bounds.bytes {
                continue;
            }
            log::error!(
                "the result of job {jid} is dropped: the spool holds {left} results of {bytes} bytes, and the master does not take them"
            );
            self.remove(jid);
            left -= 1;
            bytes -= data.len();
        }
    }

    fn path(&self, jid: &Jid) -> PathBuf {
        self.directory.join(jid.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_wait_in_order_and_the_oldest_go_first() {
        let directory = std::env::temp_dir().join(format!("halite-spool-{}", std::process::id()));
        let spool = Spool::open(&directory).unwrap();
        let jid = |at: u32| Jid::parse(&format!("2026010100000000000{at}")).unwrap();
        for at in [2, 0, 1] {
            let ret = Return { jid: jid(at).to_string(), retcode: at.into(), ..Return::default() };
            spool.put(&jid(at), &ret).unwrap();
        }
        assert_eq!(spool.jids(), [jid(0), jid(1), jid(2)]);
        assert_eq!(spool.take(&jid(2)).unwrap().retcode, 2);
        spool.prune(Bounds { results: 2, ..BOUNDS }, SystemTime::now());
        assert_eq!(spool.jids(), [jid(1), jid(2)]);
        spool.prune(Bounds { bytes: 1, ..BOUNDS }, SystemTime::now());
        assert!(spool.jids().is_empty());
        fs::write(spool.path(&jid(5)), b"not a result").unwrap();
        assert_eq!(spool.take(&jid(5)), None);
        fs::remove_dir_all(&directory).unwrap();
    }
}
