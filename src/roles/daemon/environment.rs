//! What must be right on disk before a daemon starts: directories, their owners and modes, and who wrote the configuration.
//!
//! As root, all of this acts on directories that another account may write to. So nothing follows a link: each name is
//! opened by its directory's handle, and a file with a second name (a hard link) is left alone.

use super::Failure;
use crate::cli::Exit;
use crate::config::{CommonOptions, Config};
use halite_core::host::User;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, chownat, fchmod, fchown, fstat, openat};
use rustix::process::{Gid, Uid, geteuid};
use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Makes what is missing and sets right what is wrong (`verify_env`; without it, makes what is missing). What is odd and
/// no obstacle comes back as warnings.
pub fn prepare(config: &Config, common: &CommonOptions, account: Option<&User>) -> Result<Vec<String>, Failure> {
    if geteuid().is_root() {
        check_configuration(config)?;
    }
    // Everybody may reach the sockets; who may ask what is not for the directory to say.
    for (directory, mode) in [(&common.pki_dir, 0o700), (&common.cachedir, 0o750), (&common.sock_dir, 0o755)] {
        make_directory(directory, mode)?;
    }
    if let Some(directory) = common.pidfile.parent() {
        make_directory(directory, 0o755)?;
    }
    let mut warnings = prepare_log(&common.log.file, account);
    if !common.verify_env {
        return Ok(warnings);
    }
    warnings.extend(check_pki(&common.pki_dir, common.permissive_pki_access)?);
    if let Some(user) = account {
        for directory in [&common.pki_dir, &common.cachedir, &common.sock_dir] {
            give(directory, user).map_err(|error| {
                let what = format!("{} cannot be given to '{}': {error}", directory.display(), user.name);
                Failure::new(Exit::NotAllowed, what)
            })?;
        }
    }
    Ok(warnings)
}

/// Makes a directory and those above it.
fn make_directory(path: &Path, mode: u32) -> Result<(), Failure> {
    if path.is_dir() {
        return Ok(());
    }
    // Those above are for everybody to pass through.
    let above = path.parent().map_or(Ok(()), |above| DirBuilder::new().recursive(true).mode(0o755).create(above));
    above.and_then(|()| DirBuilder::new().mode(mode).create(path)).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists if path.is_dir() => Ok(()),
        _ => Err(Failure::new(Exit::CannotCreate, format!("the directory {} cannot be made: {error}", path.display()))),
    })
}

/// A configuration that others can write makes them root: whoever left it there before Salt was installed, or whoever
/// may write to it now (CVE-2021-22004). It names the directories that are given away and the account that gets them, so
/// that account may not write it either, and no option in it can turn this off.
fn check_configuration(config: &Config) -> Result<(), Failure> {
    let read: BTreeSet<&Path> =
        config.origins.values().map(|origin| origin.file.as_path()).chain([config.file.as_path()]).collect();
    for file in read {
        let directory = file.parent().unwrap_or(Path::new("/"));
        for path in [file, directory] {
            let Ok(data) = fs::metadata(path) else {
                continue;
            };
            if let Some(why) = distrust(&data) {
                let path = path.display();
                let what = format!("{path} {why}: root does not act on what others can change (chown root, chmod o-w)");
                return Err(Failure::new(Exit::Configuration, what));
            }
        }
    }
    Ok(())
}

fn distrust(data: &fs::Metadata) -> Option<String> {
    if data.uid() != 0 {
        return Some(format!("belongs to the account with the number {}, not to root", data.uid()));
    }
    // In a sticky directory nobody can replace what belongs to root.
    let sticky = data.is_dir() && data.mode() & 0o1000 != 0;
    (data.mode() & 0o002 != 0 && !sticky).then(|| "can be written by everybody".to_owned())
}

/// The keys' directory is for its owner, and for its group where somebody has set it so. Private keys must not be for
/// others to read, whatever the directory's mode is.
fn check_pki(directory: &Path, permissive: bool) -> Result<Vec<String>, Failure> {
    let handle = match open_configured(directory) {
        Ok(handle) => handle,
        Err(error) => {
            return Err(Failure::new(Exit::NotAllowed, format!("the keys in {}: {error}", directory.display())));
        }
    };
    let mut warnings = Vec::new();
    let mode = fstat(&handle).map(|data| data.st_mode & 0o7777).unwrap_or_default();
    if mode != 0o700 && mode != 0o750 && fchmod(&handle, Mode::from_raw_mode(0o700)).is_err() {
        warnings.push(format!("{} has the mode {mode:o} and cannot be given 700", directory.display()));
    }
    for name in names(&handle).unwrap_or_default() {
        if !name.ends_with(".pem") {
            continue;
        }
        let Ok(file) = openat(&handle, &name, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK, Mode::empty())
        else {
            continue;
        };
        let Ok(data) = fstat(&file) else { continue };
        let loose = if permissive { 0o037 } else { 0o077 };
        if FileType::from_raw_mode(data.st_mode) == FileType::RegularFile && data.st_mode & loose != 0 {
            let tight = Mode::from_raw_mode(data.st_mode & 0o7777 & !loose);
            let path = directory.join(&name);
            warnings.push(match fchmod(&file, tight) {
                Ok(()) => format!("{} could be read by others; its mode is {tight:?} now", path.display()),
                Err(error) => format!("{} can be read by others: {error}", path.display()),
            });
        }
    }
    Ok(warnings)
}

/// The log file exists and belongs to whoever is going to write it; so does its directory, when we have made it.
fn prepare_log(file: &str, account: Option<&User>) -> Vec<String> {
    if file.is_empty() || file.contains("://") {
        return Vec::new();
    }
    let path = PathBuf::from(file);
    if path.is_symlink() {
        // To /dev/stdout, or to a place of the admin's choice: whoever opens it will see.
        return Vec::new();
    }
    let directory = path.parent().unwrap_or(Path::new("/"));
    let new = !directory.is_dir();
    let prepared = make_directory(directory, 0o755).map_err(|failure| failure.message).and_then(|()| {
        let flags = OFlags::NOFOLLOW.bits() as i32;
        let opened = OpenOptions::new().append(true).create(true).mode(0o640).custom_flags(flags).open(&path);
        let handle = opened.map_err(|error| error.to_string())?;
        if let Some(user) = account {
            let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
            fchown(&handle, Some(uid), Some(gid)).map_err(|error| error.to_string())?;
            if new {
                chownat(CWD, directory, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)
                    .map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    });
    // A daemon without its log is better than none.
    prepared.err().map(|error| format!("the log file {file} cannot be used: {error}")).into_iter().collect()
}

/// Makes an account the owner of a directory and of everything in it.
fn give(path: &Path, user: &User) -> io::Result<()> {
    give_all(open_configured(path)?, user)
}

fn give_all(directory: OwnedFd, user: &User) -> io::Result<()> {
    give_one(&directory, user)?;
    for name in names(&directory)? {
        let Ok(found) = openat(&directory, &name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
        else {
            // It is gone again.
            continue;
        };
        let data = fstat(&found)?;
        match FileType::from_raw_mode(data.st_mode) {
            FileType::Directory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                give_all(openat(&directory, &name, flags, Mode::empty())?, user)?;
            }
            FileType::RegularFile if data.st_nlink == 1 => give_one(&found, user)?,
            FileType::Socket => give_one(&found, user)?,
            _ => {}
        }
    }
    Ok(())
}

fn give_one(handle: &OwnedFd, user: &User) -> io::Result<()> {
    let data = fstat(handle)?;
    if (data.st_uid, data.st_gid) == (user.uid, user.gid) {
        return Ok(());
    }
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    Ok(chownat(handle, c"", Some(uid), Some(gid), AtFlags::EMPTY_PATH)?)
}

/// A directory that the configuration names may be a link: the admin has made it.
fn open_configured(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

fn names(directory: &OwnedFd) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{KeepId, Role, Surroundings};
    use halite_core::testing::{Need, host_has};
    use std::os::unix::fs::PermissionsExt;

    struct Root(PathBuf);

    impl Root {
        fn new(name: &str) -> Root {
            let path = std::env::temp_dir().join(format!("halite-environment-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            DirBuilder::new().mode(0o755).create(&path).unwrap();
            fs::write(path.join("minion"), format!("root_dir: {}\nid: web1\nmaster: localhost\n", path.display()))
                .unwrap();
            set(&path.join("minion"), 0o644);
            Root(path)
        }

        fn config(&self) -> (Config, CommonOptions) {
            let around = Surroundings { config_dir: Some(self.0.clone()), ..Surroundings::default() };
            let mut config = Config::load(Role::Minion, &around).unwrap();
            let names = crate::config::id::Names::of_this_host();
            config.resolve_id(&names, KeepId::No).unwrap();
            let common = config.minion().unwrap().common;
            (config, common)
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn directories_are_made_and_keys_are_closed() {
        let root = Root::new("made");
        let (config, common) = root.config();
        assert_eq!(prepare(&config, &common, None), Ok(Vec::new()));
        assert_eq!(mode(&common.pki_dir), 0o700);
        assert_eq!(mode(&common.cachedir) & 0o7, 0);
        assert!(common.pidfile.parent().unwrap().is_dir() && Path::new(&common.log.file).is_file());
        let key = common.pki_dir.join("minion.pem");
        fs::write(&key, "secret").unwrap();
        set(&key, 0o644);
        set(&common.pki_dir, 0o755);
        let warnings = prepare(&config, &common, None).unwrap();
        assert!(warnings.len() == 1 && warnings[0].contains("could be read by others"), "{warnings:?}");
        assert_eq!((mode(&key), mode(&common.pki_dir)), (0o600, 0o700));
        set(&common.pki_dir, 0o750);
        set(&key, 0o640);
        let permissive = CommonOptions { permissive_pki_access: true, ..common };
        assert_eq!(prepare(&config, &permissive, None), Ok(Vec::new()));
        assert_eq!((mode(&key), mode(&permissive.pki_dir)), (0o640, 0o750));
    }

    #[test]
    fn root_does_not_trust_what_others_can_write() {
        if !host_has(&[Need::Root]) {
            return;
        }
        let root = Root::new("trust");
        let file = root.0.join("minion");
        let (config, common) = root.config();
        set(&file, 0o666);
        let refused = prepare(&config, &common, None).unwrap_err();
        assert!(refused.message.contains("can be written by everybody"), "{}", refused.message);
        set(&file, 0o644);
        std::os::unix::fs::chown(&file, Some(12_345), None).unwrap();
        let refused = prepare(&config, &common, None).unwrap_err();
        assert!(refused.message.contains("12345") && refused.exit == Exit::Configuration, "{}", refused.message);
        let off = CommonOptions { verify_env: false, ..common };
        let user = User { name: "x".to_owned(), uid: 12_345, gid: 12_345, ..User::default() };
        assert!(prepare(&config, &off, Some(&user)).is_err(), "a file turns off what protects from itself");
        std::os::unix::fs::chown(&file, Some(0), None).unwrap();
        assert!(prepare(&config, &off, None).is_ok());
    }

    #[test]
    fn an_account_gets_its_directories_and_nothing_that_a_link_shows() {
        if !host_has(&[Need::Root]) {
            return;
        }
        let root = Root::new("give");
        let (config, common) = root.config();
        fs::create_dir_all(common.cachedir.join("deep/er")).unwrap();
        let (own, linked, other) =
            (common.cachedir.join("deep/file"), common.cachedir.join("hard"), root.0.join("other"));
        fs::write(&own, "").unwrap();
        fs::write(&other, "").unwrap();
        fs::hard_link(&other, &linked).unwrap();
        std::os::unix::fs::symlink(&other, common.cachedir.join("soft")).unwrap();
        let user = User { name: "x".to_owned(), uid: 12_345, gid: 12_346, ..User::default() };
        prepare(&config, &common, Some(&user)).unwrap();
        for path in
            [&common.pki_dir, &common.sock_dir, &common.cachedir.join("deep/er"), &own, Path::new(&common.log.file)]
        {
            let data = fs::metadata(path).unwrap();
            assert_eq!((data.uid(), data.gid()), (12_345, 12_346), "{}", path.display());
        }
        assert_eq!(fs::metadata(&other).unwrap().uid(), 0);
    }
}
