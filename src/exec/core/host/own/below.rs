//! A path that a stranger chose, below a directory of the node.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, openat, renameat, statat};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Renames a file to the path that these names make below a directory; directories on the way are made where they are missing,
/// private to the node's account. No step is followed through a link, whoever made it, and no directory is replaced.
pub fn put_below(directory: &Path, names: &[&str], file: &Path) -> io::Result<()> {
    let Some((name, directories)) = names.split_last() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut here = OwnedFd::from(File::open(directory)?);
    for directory in directories {
        here = step(&here, directory)?;
    }
    if statat(&here, *name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_dir())
    {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(renameat(rustix::fs::CWD, file, &here, *name)?)
}

/// The directory of this name, made where it is missing; a link is no directory.
fn step(above: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    match mkdirat(above, name, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    Ok(openat(above, name, flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fake::Directory;
    use std::fs;

    #[test]
    fn no_step_goes_through_a_link() {
        let directory = Directory::new();
        let (inside, outside, file) =
            (directory.path().join("inside"), directory.path().join("outside"), directory.path().join("file"));
        fs::create_dir(&inside).unwrap();
        fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        fs::write(&file, "x").unwrap();
        assert!(put_below(&inside, &["link", "name"], &file).is_err());
        assert!(put_below(&inside, &[], &file).is_err());
        assert!(put_below(directory.path(), &["inside"], &file).is_err(), "a directory is not replaced");
        put_below(&inside, &["a", "b", "name"], &file).unwrap();
        assert_eq!(fs::read_to_string(inside.join("a/b/name")).unwrap(), "x");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
}
