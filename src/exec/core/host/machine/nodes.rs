//! Files of the real machine that are neither text nor directory, their times, and the file systems that they are on.

use crate::host::{Access, FileSystem, Node};
use rustix::fs::{CWD, Dev, FileType, Mode, Timespec, Timestamps};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) fn make(path: &Path, node: Node, mode: u32) -> io::Result<()> {
    let (kind, device) = match node {
        Node::Fifo => (FileType::Fifo, 0),
        Node::CharDevice(major, minor) => (FileType::CharacterDevice, device(major, minor)),
        Node::BlockDevice(major, minor) => (FileType::BlockDevice, device(major, minor)),
    };
    rustix::fs::mknodat(CWD, path, kind, Mode::from_raw_mode(mode), device)?;
    Ok(())
}

fn device(major: u32, minor: u32) -> Dev {
    rustix::fs::makedev(major, minor)
}

/// Major and minor number of a device.
pub(super) fn numbers(device: u64) -> (u32, u32) {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

/// A moment as the kernel gives it; before 1970 it is negative.
pub(super) fn moment(seconds: i64, nanoseconds: i64) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let whole = if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    let part = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0));
    whole.and_then(|whole| whole.checked_add(part)).unwrap_or(UNIX_EPOCH)
}

pub(super) fn set_times(path: &Path, accessed: SystemTime, modified: SystemTime) -> io::Result<()> {
    let times = Timestamps { last_access: of(accessed), last_modification: of(modified) };
    rustix::fs::utimensat(CWD, path, &times, rustix::fs::AtFlags::empty())?;
    Ok(())
}

fn of(time: SystemTime) -> Timespec {
    let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => Timespec { tv_sec: seconds(since), tv_nsec: since.subsec_nanos().into() },
        Err(before) => Timespec { tv_sec: -seconds(before.duration()), tv_nsec: 0 },
    }
}

pub(super) fn file_system(path: &Path) -> io::Result<FileSystem> {
    let told = rustix::fs::statvfs(path)?;
    Ok(FileSystem {
        block_size: told.f_bsize,
        fragment_size: told.f_frsize,
        blocks: told.f_blocks,
        blocks_free: told.f_bfree,
        blocks_available: told.f_bavail,
        files: told.f_files,
        files_free: told.f_ffree,
        files_available: told.f_favail,
        flags: told.f_flag.bits(),
        name_max: told.f_namemax,
    })
}

pub(super) fn may(path: &Path, access: Access) -> bool {
    let wanted = match access {
        Access::Exist => rustix::fs::Access::EXISTS,
        Access::Read => rustix::fs::Access::READ_OK,
        Access::Write => rustix::fs::Access::WRITE_OK,
        Access::Execute => rustix::fs::Access::EXEC_OK,
    };
    rustix::fs::access(path, wanted).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fake::Directory;
    use crate::host::{FileKind, HostFiles, Machine};

    #[test]
    fn a_pipe_is_made_and_a_file_has_the_times_it_was_given() {
        let directory = Directory::new();
        let pipe = directory.path().join("pipe");
        Machine.make_node(&pipe, Node::Fifo, 0o600).unwrap();
        assert_eq!(Machine.stat(&pipe).unwrap().kind, FileKind::Fifo);
        let file = directory.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let (read, written) = (moment(1_000_000_000, 5), moment(-5, 0));
        Machine.set_times(&file, read, written).unwrap();
        let stat = Machine.stat(&file).unwrap();
        assert_eq!((stat.accessed, stat.modified), (read, written));
        assert!(Machine.may(&file, Access::Read) && !Machine.may(&file, Access::Execute));
        assert!(!Machine.may(&directory.path().join("none"), Access::Exist));
        assert!(Machine.file_system(directory.path()).unwrap().blocks > 0);
        assert_eq!(numbers(device(8, 3)), (8, 3));
    }
}
