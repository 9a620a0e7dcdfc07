//! Hashes of files that were made before: a large file is read once for all minions that ask.

use super::server::Version;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::SystemTime;

/// Hashes that are remembered.
const MOST: usize = 20_000;

/// What was hashed, by path.
#[derive(Debug, Default)]
pub struct Hashes(Mutex<HashMap<PathBuf, Arc<Mutex<Known>>>>);

/// The hash of a file in one of its states; locked while it is made.
#[derive(Debug, Default)]
struct Known(Option<(Version, String)>);

impl Hashes {
    /// The digest of a file in this version, made where it is not known. Nothing while another thread makes it. `make`
    /// gives the version that the file has when it was read: what changed meanwhile is not remembered, nor what was
    /// changed so shortly before that a later write may have left the same version.
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
        if let Some((of, digest)) = &known.0
            && *of == version
        {
            return Ok(Some(digest.clone()));
        }
        let is_settled = version.is_settled(SystemTime::now());
        let (now, digest) = make()?;
        if now == version && is_settled {
            known.0 = Some((version, digest.clone()));
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

    #[test]
    fn the_hash_of_a_file_that_is_being_written_is_not_remembered() {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
        let mut bytes = [0; Version::BYTES];
        bytes[32..].copy_from_slice(&since.to_be_bytes());
        let (hashes, version, path) = (Hashes::default(), Version::from_bytes(bytes), Path::new("/f"));
        for digest in ["half", "whole"] {
            let made = hashes.of(path, version, || Ok((version, digest.to_owned()))).unwrap();
            assert_eq!(made.as_deref(), Some(digest));
        }
    }
}
