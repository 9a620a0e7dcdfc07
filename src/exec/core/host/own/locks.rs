//! Locks (flock) on the node's own files: they end with the last process that has the file open, a crash too.

use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;

/// Waits until nobody else has a lock on the file, and takes it.
pub fn lock(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::LockExclusive)?)
}

/// Waits until nobody has the file for himself. A signal does not end the waiting.
pub fn lock_shared(file: &File) -> io::Result<()> {
    loop {
        match flock(file, FlockOperation::LockShared) {
            Err(rustix::io::Errno::INTR) => {}
            done => return Ok(done?),
        }
    }
}

/// Takes a lock that nobody has; false: somebody has one.
pub fn try_lock(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Whether somebody has the file for himself. The look takes a shared lock, which goes when the file is closed.
pub fn is_locked(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockShared).is_err()
}

#[cfg(test)]
mod tests {
    use super::super::{create_new, open};
    use super::*;
    use crate::host::fake::Directory;

    #[test]
    fn a_lock_ends_with_its_file() {
        let directory = Directory::new();
        let path = directory.path().join("file");
        let held = create_new(&path).unwrap();
        lock(&held).unwrap();
        let other = open(&path).unwrap();
        assert!(is_locked(&other) && !try_lock(&other));
        drop(held);
        assert!(!is_locked(&other));
        let third = open(&path).unwrap();
        assert!(!try_lock(&third), "the look has a shared lock for as long as its file is open");
        lock_shared(&third).unwrap();
        drop((other, third));
        assert!(try_lock(&open(&path).unwrap()));
    }
}
