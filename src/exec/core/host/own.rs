//! The node's own files: what it keeps for itself below its `cachedir`, its `sock_dir` and the directory for temporary files,
//! and what it was set up to serve and to compile from (`file_roots`, `pillar_roots`). No state changes them, so they are
//! not the [`Host`](super::Host)'s: a function in test mode still takes a file into the cache.
//!
//! They are private to the account of the node where the caller says so, and always the real machine's: a test gives a
//! directory of its own.

mod below;
mod locks;

pub use below::put_below;
pub use locks::{is_locked, lock, lock_shared, try_lock};
pub use std::fs::{DirEntry, File, Metadata, ReadDir};
pub use std::os::unix::fs::{FileExt, MetadataExt};

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What only the node's account may do with a file, and with a directory.
const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_DIRECTORY: u32 = 0o700;

pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}

/// What is in a file, which must be UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    fs::read_to_string(path)
}

/// Writes a file in place, for what nobody reads before it has its name.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(path, bytes)
}

/// Replaces a file whole, in a directory that is made where it is missing. Nobody reads half of it.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    fs::write(&beside, bytes)?;
    fs::rename(&beside, path)
}

/// The same with a private file, by a hidden name that whoever lists the directory passes over.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}", std::process::id()));
    create_private(&beside)?.write_all(bytes)?;
    fs::rename(&beside, path)
}

/// Opens a file to read it.
pub fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a file that is served: what should be a device or a pipe by now makes nobody wait.
pub fn open_served(path: &Path) -> io::Result<File> {
    let flags = (rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY).bits();
    OpenOptions::new().read(true).custom_flags(flags as i32).open(path)
}

/// Opens a file that is there, to read and change it.
pub fn open_to_change(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// Makes an empty file, or empties the one that is there.
pub fn create(path: &Path) -> io::Result<File> {
    File::create(path)
}

/// The same, private where it is new.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(PRIVATE_FILE).open(path)
}

/// Makes a private file that there must not be yet.
pub fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(PRIVATE_FILE).open(path)
}

/// Opens a file to read and change it; a private one is made where there is none. A link in its place is refused.
pub fn open_or_create(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(PRIVATE_FILE).custom_flags(flags).open(path)
}

/// What stands at a path, links followed.
pub fn look(path: &Path) -> io::Result<Metadata> {
    fs::metadata(path)
}

/// The same without following a link at its end.
pub fn look_at_link(path: &Path) -> io::Result<Metadata> {
    fs::symlink_metadata(path)
}

/// Where a link points.
pub fn link_target(path: &Path) -> io::Result<PathBuf> {
    fs::read_link(path)
}

/// The path with every link in it resolved; there must be something.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Whether there is something, links followed.
pub fn exists(path: &Path) -> bool {
    path.exists()
}

pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

pub fn is_directory(path: &Path) -> bool {
    path.is_dir()
}

/// What is in a directory, in no order.
pub fn entries(directory: &Path) -> io::Result<ReadDir> {
    fs::read_dir(directory)
}

/// Makes a private directory and those above it that are missing.
pub fn make_directories(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(PRIVATE_DIRECTORY).create(directory)
}

/// The same with the mode that the process gives.
pub fn make_public_directories(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}

/// Gives a file another name; what has that name is replaced.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Gives a file a second name, which nothing must have.
pub fn hard_link(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to)
}

/// The file of the program that runs.
pub fn program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// The number of the process that runs, for what has to say who made it.
pub fn pid() -> u32 {
    std::process::id()
}

/// Where what is needed for a moment is kept.
pub fn temporary_directory() -> PathBuf {
    std::env::temp_dir()
}

/// Removes a file.
pub fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

/// Removes a directory with all that is in it.
pub fn remove_directory(path: &Path) -> io::Result<()> {
    fs::remove_dir_all(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fake::Directory;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_is_private_is_nobody_elses_to_read() {
        let directory = Directory::new();
        let mode = |path: &Path| look(path).unwrap().permissions().mode() & 0o777;
        let inner = directory.path().join("a/b");
        make_directories(&inner).unwrap();
        assert_eq!((mode(&inner), mode(&directory.path().join("a"))), (0o700, 0o700));
        create_private(&inner.join("created")).unwrap();
        create_new(&inner.join("new")).unwrap();
        open_or_create(&inner.join("opened")).unwrap();
        replace_private(&inner.join("replaced"), b"x").unwrap();
        for name in ["created", "new", "opened", "replaced"] {
            assert_eq!(mode(&inner.join(name)), 0o600, "{name}");
        }
        assert!(create_new(&inner.join("new")).is_err());
    }

    #[test]
    fn what_is_replaced_leaves_nothing_beside_it() {
        let directory = Directory::new();
        let path = directory.path().join("kept/list.p");
        for text in ["one", "two"] {
            replace(&path, text.as_bytes()).unwrap();
            assert_eq!(read_text(&path).unwrap(), text);
            replace_private(&path, text.as_bytes()).unwrap();
            assert_eq!(read(&path).unwrap(), text.as_bytes());
        }
        assert_eq!(entries(&directory.path().join("kept")).unwrap().count(), 1);
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_not_followed() {
        let directory = Directory::new();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        write(&file, b"kept").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(open_or_create(&link).is_err());
        assert_eq!((link_target(&link).unwrap(), real(&link).unwrap()), (file.clone(), real(&file).unwrap()));
        assert!(look_at_link(&link).unwrap().is_symlink() && look(&link).unwrap().is_file());
    }
}
