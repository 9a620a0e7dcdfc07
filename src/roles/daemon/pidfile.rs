//! The pid file: held by a lock, so that a number which is left over blocks nobody.

use super::Failure;
use crate::cli::Exit;
use halite_core::host::User;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::{Gid, Uid};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A pid file that this process holds. Dropping it removes the file.
#[derive(Debug)]
pub struct PidFile {
    path: PathBuf,
    file: File,
}

impl PidFile {
    /// Takes the file, so that no other daemon can; the number is written later. An account that the daemon is going to
    /// run as becomes its owner.
    pub fn hold(path: &Path, program: &str, account: Option<&User>) -> Result<PidFile, Failure> {
        let failed = |error: io::Error| {
            Failure::new(Exit::CannotCreate, format!("the pid file {} cannot be written: {error}", path.display()))
        };
        loop {
            let mut file = open(path).map_err(failed)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    let mut number = String::new();
                    let _ = (&mut file).take(20).read_to_string(&mut number);
                    let who = match number.trim() {
                        "" => "another process, which is starting,".to_owned(),
                        number => format!("process {number}"),
                    };
                    return Err(Failure::new(
                        Exit::Failed,
                        format!("{program} runs already: {who} holds {}", path.display()),
                    ));
                }
                Err(error) => return Err(failed(error.into())),
            }
            // Whoever held it may have removed it between our open and our lock.
            if !is_still(path, &file).map_err(failed)? {
                continue;
            }
            file.set_len(0).map_err(failed)?;
            if let Some(user) = account {
                let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
                rustix::fs::fchown(&file, Some(uid), Some(gid)).map_err(|error| failed(error.into()))?;
            }
            return Ok(PidFile { path: path.to_owned(), file });
        }
    }

    /// Writes our number.
    pub fn write(&mut self) -> Result<(), Failure> {
        let line = format!("{}\n", std::process::id());
        let written =
            self.file.set_len(0).and_then(|()| self.file.rewind()).and_then(|()| self.file.write_all(line.as_bytes()));
        written
            .map_err(|error| Failure::new(Exit::CannotCreate, format!("the pid file {}: {error}", self.path.display())))
    }
}

impl Drop for PidFile {
    /// In a directory that is not ours to write to, an empty file is left, which holds nobody up.
    fn drop(&mut self) {
        if is_still(&self.path, &self.file).unwrap_or(false) && fs::remove_file(&self.path).is_err() {
            let _ = self.file.set_len(0);
        }
    }
}

/// A link in the place of the file could point at anything.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.bits() as i32;
    let mut options = OpenOptions::new();
    let file =
        options.read(true).write(true).create(true).truncate(false).mode(0o644).custom_flags(flags).open(path)?;
    // Whoever looks for the daemon may read it, whatever our umask is.
    let _ = rustix::fs::fchmod(&file, rustix::fs::Mode::from_raw_mode(0o644));
    Ok(file)
}

fn is_still(path: &Path, file: &File) -> io::Result<bool> {
    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_held_by_one_and_a_stale_one_by_nobody() {
        let path = std::env::temp_dir().join(format!("halite-pidfile-{}", std::process::id()));
        // A process that lives, but holds nothing.
        fs::write(&path, "1\n").unwrap();
        let mut first = PidFile::hold(&path, "salt-master", None).unwrap();
        let refused = PidFile::hold(&path, "salt-master", None).unwrap_err();
        assert_eq!(refused.exit, Exit::Failed);
        assert!(refused.message.contains("which is starting"), "{}", refused.message);
        first.write().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", std::process::id()));
        let refused = PidFile::hold(&path, "salt-master", None).unwrap_err();
        assert!(refused.message.contains(&format!("process {} holds", std::process::id())), "{}", refused.message);
        drop(first);
        assert!(!path.exists());
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        assert_eq!(PidFile::hold(&path, "salt-master", None).unwrap_err().exit, Exit::CannotCreate);
        fs::remove_file(&path).unwrap();
    }
}
