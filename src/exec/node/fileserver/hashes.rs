//! Hashes of files that were made before: a large file is read once for all minions that ask.

use super::server::Version;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant, SystemTime};

/// Hashes that are remembered.
const MOST: usize = 20_000;
/// File systems count time in ticks (of 10 ms at most), and two writes in one tick leave the same version.
const TICK: Duration = Duration::from_millis(10);
/// A file that has been in its version for so long is not being written any more.
const SETTLED: Duration = Duration::from_secs(60);

/// What was hashed, by path.
#[derive(Debug, Default)]
pub struct Hashes(Mutex<HashMap<PathBuf, Arc<Mutex<Known>>>>);

/// The hash of a file in one of its states; locked while it is made.
#[derive(Debug, Default)]
struct Known(Option<Made>);

#[derive(Debug)]
struct Made {
    version: Version,
    digest: String,
    /// From when on it is to be made again; nothing: it is right for good.
    until: Option<Instant>,
}

impl Hashes {
    /// The digest of a file in this version, made where it is not known. Nothing while another thread makes it. `make`
    /// gives the version that the file has when it was read: what changed meanwhile is not remembered, nor what was
    /// changed so shortly before that a later write may have left the same version.
    ///
    /// A call that writes much gives a file its times as it begins, and has it in that version with any content until it
    /// ends. So a digest counts for as long as its file had been in the version; from a minute on, for good.
    pub fn of(
        &self,
        path: &Path,
        version: Version,
        make: impl FnOnce() -> io::Result<(Version, String)>,
    ) -> io::Result<Option<String>> {
        let place = self.place(path);
        let mut known = match place.try_lock() {
            Ok(known) => known,
            Err(TryLockError::Poisoned(known)) => known.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        if let Some(made) = &known.0
            && made.version == version
            && made.until.is_none_or(|until| Instant::now() < until)
        {
            return Ok(Some(made.digest.clone()));
        }
        let age = version.age(SystemTime::now());
        let (now, digest) = make()?;
        if let Some(age) = age.filter(|age| now == version && *age > 2 * TICK) {
            let until = (age < SETTLED).then(|| Instant::now() + age);
            known.0 = Some(Made { version, digest: digest.clone(), until });
        }
        Ok(Some(digest))
    }

    fn place(&self, path: &Path) -> Arc<Mutex<Known>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.clear();
        }
        all.entry(path.to_owned()).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_made_once_a_version_and_by_one_at_a_time() {
        let hashes = Hashes::default();
        let (old, new) = (Version::from_bytes([1; 40]), Version::from_bytes([2; 40]));
        let path = Path::new("/f");
        let made = |version, as_of, digest: &str| hashes.of(path, version, || Ok((as_of, digest.to_owned()))).unwrap();
        assert_eq!(made(old, new, "changed meanwhile").as_deref(), Some("changed meanwhile"));
        assert_eq!(made(old, old, "old").as_deref(), Some("old"));
        assert_eq!(made(old, old, "not made").as_deref(), Some("old"));
        let outer = hashes.of(path, new, || {
            assert_eq!(hashes.of(path, new, || panic!("made twice at once")).unwrap(), None);
            Ok((new, "new".to_owned()))
        });
        assert_eq!(outer.unwrap().as_deref(), Some("new"));
    }

    /// The version of a file that was changed so long ago.
    fn changed(age: Duration) -> Version {
        let since = (SystemTime::now() - age).duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let mut bytes = [0; Version::BYTES];
        bytes[32..].copy_from_slice(&(since.as_nanos() as u64).to_be_bytes());
        Version::from_bytes(bytes)
    }

    #[test]
    fn what_was_hashed_during_one_long_write_was_the_hash_of_the_file_for_good() {
        let hashes = Hashes::default();
        let of = |path: &str, version, digest: &str| {
            hashes.of(Path::new(path), version, || Ok((version, digest.to_owned()))).unwrap().unwrap()
        };
        let (young, old) = (changed(Duration::from_secs(1)), changed(2 * SETTLED));
        let begun = Instant::now();
        assert_eq!(of("/young", young, "half"), "half");
        while of("/young", young, "whole") == "half" {
            assert!(begun.elapsed() < Duration::from_secs(30));
            // The pace of looking: what is seen is that it ends, and not before its time.
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(begun.elapsed() >= Duration::from_millis(900), "it counts for a while: {:?}", begun.elapsed());
        assert_eq!(of("/old", old, "whole"), "whole");
        let places = hashes.0.lock().unwrap();
        assert!(places[Path::new("/old")].lock().unwrap().0.as_ref().unwrap().until.is_none());
    }

    #[test]
    fn the_hash_of_a_file_that_is_being_written_is_not_remembered() {
        let (hashes, version, path) = (Hashes::default(), changed(Duration::ZERO), Path::new("/f"));
        for digest in ["half", "whole"] {
            let made = hashes.of(path, version, || Ok((version, digest.to_owned()))).unwrap();
            assert_eq!(made.as_deref(), Some(digest));
        }
    }
}
