//! Files of the real machine.

use crate::host::{Attributes, FileKind, Fill, Stat, umask};
use halite_lang::random;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// So much is copied at a time.
const PIECE: usize = 256 * 1024;

/// Replaces a file whole. Nobody sees it half-written, or with an owner or mode that it should not have.
pub(super) fn write(path: &Path, bytes: &[u8], attributes: Attributes) -> io::Result<()> {
    replace(path, attributes, |file| file.write_all(bytes))
}

/// As [`write`], piece by piece.
pub(super) fn write_with(path: &Path, attributes: Attributes, fill: Fill) -> io::Result<()> {
    replace(path, attributes, |file| {
        let mut buffered = io::BufWriter::with_capacity(PIECE, file);
        fill(&mut buffered)?;
        buffered.flush()
    })
}

fn replace(path: &Path, attributes: Attributes, fill: impl FnOnce(&mut fs::File) -> io::Result<()>) -> io::Result<()> {
    let attributes = filled_in(path, attributes)?;
    let (beside, mut file) = open_beside(path)?;
    let written = fill(&mut file).and_then(|()| settle(&file, attributes)).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // The first error is the one to tell; a leftover is only untidy.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Adds to the end of a file.
pub(super) fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().append(true).create(true).open(path)?.write_all(bytes)
}

/// Moves a file where it belongs: by its name on one file system, else as a copy that takes the place of what was there
/// when it is whole. A link there stays, and what it points to is replaced.
pub(super) fn place(from: &Path, path: &Path, attributes: Attributes) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let attributes = filled_in(&target, attributes)?;
    settle(&fs::File::open(from)?, attributes)?;
    match fs::rename(from, &target) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
        renamed => return renamed,
    }
    let (beside, mut file) = open_beside(&target)?;
    let copied = io::copy(&mut fs::File::open(from)?, &mut file)
        .and_then(|_| settle(&file, attributes))
        .and_then(|()| fs::rename(&beside, &target));
    if copied.is_err() {
        let _ = fs::remove_file(&beside);
    }
    copied.and_then(|()| fs::remove_file(from))
}

pub(super) fn stat(path: &Path) -> io::Result<Stat> {
    let data = fs::symlink_metadata(path)?;
    let kind = kind_of(data.file_type());
    Ok(Stat {
        kind,
        mode: data.mode() & 0o7777,
        uid: data.uid(),
        gid: data.gid(),
        size: data.size(),
        modified: data.modified()?,
        accessed: data.accessed()?,
        changed: super::nodes::moment(data.ctime(), data.ctime_nsec()),
        inode: data.ino(),
        device: data.dev(),
        links: data.nlink(),
        node: super::nodes::numbers(data.rdev()),
        target: match kind {
            FileKind::Link => Some(fs::read_link(path)?),
            _ => None,
        },
    })
}

pub(super) fn list(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) }
}

pub(super) fn make_directory(path: &Path, mode: u32) -> io::Result<()> {
    fs::DirBuilder::new().mode(mode).create(path)
}

/// Makes a link under another name and puts it in its place, so that there is always one.
pub(super) fn link(target: &Path, path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path).is_ok_and(|data| data.is_symlink()) {
        return std::os::unix::fs::symlink(target, path);
    }
    let (beside, ()) = new_beside(path, |beside| std::os::unix::fs::symlink(target, beside))?;
    let renamed = fs::rename(&beside, path);
    if renamed.is_err() {
        let _ = fs::remove_file(&beside);
    }
    renamed
}

pub(super) fn set(path: &Path, attributes: Attributes) -> io::Result<()> {
    if attributes.uid.is_some() || attributes.gid.is_some() {
        std::os::unix::fs::lchown(path, attributes.uid, attributes.gid)?;
    }
    match attributes.mode {
        Some(mode) if !fs::symlink_metadata(path)?.is_symlink() => {
            fs::set_permissions(path, fs::Permissions::from_mode(mode))
        }
        _ => Ok(()),
    }
}

fn kind_of(kind: fs::FileType) -> FileKind {
    if kind.is_dir() {
        FileKind::Directory
    } else if kind.is_symlink() {
        FileKind::Link
    } else if kind.is_fifo() {
        FileKind::Fifo
    } else if kind.is_socket() {
        FileKind::Socket
    } else if kind.is_char_device() {
        FileKind::CharDevice
    } else if kind.is_block_device() {
        FileKind::BlockDevice
    } else {
        FileKind::File
    }
}

/// What is not asked for stays as the file has it.
fn filled_in(path: &Path, asked: Attributes) -> io::Result<Attributes> {
    let had = match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => return Err(rustix::io::Errno::ISDIR.into()),
        Ok(data) if data.is_file() => data,
        Ok(_) => return Ok(asked),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(asked),
        Err(error) => return Err(error),
    };
    Ok(Attributes {
        mode: asked.mode.or(Some(had.mode() & 0o7777)),
        uid: asked.uid.or(Some(had.uid())),
        gid: asked.gid.or(Some(had.gid())),
    })
}

/// A new file in the same directory, private until it is settled. A name that somebody has put there already is not opened.
fn open_beside(path: &Path) -> io::Result<(PathBuf, fs::File)> {
    path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    new_beside(path, |beside| OpenOptions::new().write(true).create_new(true).mode(0o600).open(beside))
}

/// Makes something in the same directory under a name that is free. The first name that is tried is the same for all that
/// this process makes: a directory grows with the names that it has had, and the next file costs more in a larger one.
fn new_beside<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    static OWN: LazyLock<u64> = LazyLock::new(random::bits);
    let mut bits = *OWN;
    loop {
        let beside = path.with_file_name(format!(".halite.{bits:016x}"));
        match make(&beside) {
            Ok(made) => return Ok((beside, made)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => bits = random::bits(),
            Err(error) => return Err(error),
        }
    }
}

/// Owner before mode: a change of owner clears setuid and setgid.
fn settle(file: &fs::File, attributes: Attributes) -> io::Result<()> {
    let had = file.metadata()?;
    let uid = attributes.uid.filter(|uid| *uid != had.uid());
    let gid = attributes.gid.filter(|gid| *gid != had.gid());
    if uid.is_some() || gid.is_some() {
        std::os::unix::fs::fchown(file, uid, gid)?;
    }
    let mode = attributes.mode.unwrap_or_else(|| 0o666 & !umask::current());
    rustix::fs::fchmod(file, rustix::fs::Mode::from_raw_mode(mode))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fake::Directory;
    use crate::host::{HostFiles, Machine};
    use std::io::Read;

    #[test]
    fn a_written_file_has_its_mode_and_nothing_is_left_beside_it() {
        let directory = Directory::new();
        let path = directory.path().join("secret");
        write(&path, b"one", Attributes { mode: Some(0o640), ..Attributes::default() }).unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), stat(&path).unwrap().mode), (&b"one"[..], 0o640));
        write(&path, b"two", Attributes::default()).unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), stat(&path).unwrap().mode), (&b"two"[..], 0o640));
        assert_eq!(list(directory.path()).unwrap(), ["secret"]);
    }

    #[test]
    fn what_cannot_be_read_to_its_end_leaves_what_was_there() {
        struct Cut(usize);
        impl Read for Cut {
            fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
                let count = bytes.len().min(self.0);
                self.0 -= count;
                if count == 0 { Err(io::Error::other("cut")) } else { Ok(count) }
            }
        }
        let directory = Directory::new();
        let path = directory.path().join("file");
        let long = vec![b'x'; 3 * PIECE + 1];
        Machine
            .write_from(&path, &mut long.as_slice(), Attributes { mode: Some(0o604), ..Attributes::default() })
            .unwrap();
        assert_eq!((fs::read(&path).unwrap() == long, stat(&path).unwrap().mode), (true, 0o604));
        assert!(Machine.write_from(&path, &mut Cut(2 * PIECE), Attributes::default()).is_err());
        assert!(fs::read(&path).unwrap() == long);
        assert_eq!(list(directory.path()).unwrap(), ["file"]);
    }

    #[test]
    fn a_directory_is_not_replaced_and_a_failure_leaves_nothing() {
        let directory = Directory::new();
        let inner = directory.path().join("inner");
        make_directory(&inner, 0o700).unwrap();
        assert_eq!(write(&inner, b"x", Attributes::default()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert!(write(&directory.path().join("no/file"), b"x", Attributes::default()).is_err());
        assert_eq!(list(directory.path()).unwrap(), ["inner"]);
        remove(&inner).unwrap();
        assert!(stat(&inner).is_err());
    }

    #[test]
    fn a_file_that_is_placed_keeps_owner_mode_and_links_of_its_place() {
        let directory = Directory::new();
        let (from, path, link) =
            (directory.path().join("from"), directory.path().join("file"), directory.path().join("link"));
        fs::write(&path, "").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        // /dev/shm is another file system than the one for temporary files, on most hosts.
        let far = Path::new("/dev/shm").join(format!("halite-{:016x}", random::bits()));
        for (number, from) in [&from, &far, &from].into_iter().enumerate() {
            if fs::write(from, format!("{number}")).is_err() {
                continue;
            }
            place(from, &link, Attributes { mode: (number == 0).then_some(0o640), ..Attributes::default() }).unwrap();
            assert_eq!((fs::read_to_string(&path).unwrap(), stat(&path).unwrap().mode), (format!("{number}"), 0o640));
            assert!(!from.exists() && fs::symlink_metadata(&link).unwrap().is_symlink());
        }
        append(&path, b"more").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "2more");
    }

    #[test]
    fn what_is_beside_a_file_already_is_left_alone() {
        let directory = Directory::new();
        let path = directory.path().join("file");
        let (first, _) = open_beside(&path).unwrap();
        let (second, _) = open_beside(&path).unwrap();
        assert_ne!(first, second);
        write(&path, b"x", Attributes::default()).unwrap();
        assert_eq!(list(directory.path()).unwrap().len(), 3);
    }

    #[test]
    fn the_longest_name_can_be_written() {
        let directory = Directory::new();
        let path = directory.path().join("x".repeat(255));
        write(&path, b"x", Attributes::default()).unwrap();
        assert_eq!(list(directory.path()).unwrap().len(), 1);
    }

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let directory = Directory::new();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "kept").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(stat(&link).unwrap().target.as_deref(), Some(file.as_path()));
        write(&link, b"new", Attributes::default()).unwrap();
        assert_eq!((fs::read(&file).unwrap(), stat(&link).unwrap().kind), (b"kept".to_vec(), FileKind::File));
    }
}
