//! A zip archive is unpacked, file by file, as a stream. Nothing in it comes to lie outside of the directory it goes to.

use super::zipped::{self, Member, Zipped, words};
use halite_core::host::{Attributes, FileKind, Host};
use halite_core::paths::make_directories;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use zip::result::ZipError;

/// Whose rights files get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modes {
    OfArchive,
    /// As any new file.
    OfHost,
}

/// What is asked for.
pub struct Unpack<'a> {
    pub zip_file: &'a str,
    pub dest: &'a str,
    pub excludes: &'a [String],
    pub password: Option<&'a str>,
    pub modes: Modes,
}

const LINK: u32 = 0o120_000;
/// setuid, setgid and the sticky bit are not taken from an archive.
const RIGHTS: u32 = 0o777;
/// No name of a link's target is longer.
const PATH_MAX: u64 = 4096;

impl Unpack<'_> {
    /// The names of what was unpacked; what is wrong is said in Python's words.
    pub fn run(&self, host: &dyn Host) -> Result<Vec<String>, String> {
        let mut archive = zipped::open(host, self.zip_file)?;
        let members = zipped::members(&archive);
        let mut names = Vec::new();
        let (mut links, mut directories) = (Vec::new(), Vec::new());
        for (at, member) in members.iter().enumerate().filter(|(_, member)| !self.excludes.contains(&member.name)) {
            names.push(member.name.clone());
            let Some(path) = self.place(&member.name) else { continue };
            match () {
                () if member.mode & 0o170_000 == LINK => links.push((at, member, path)),
                () if member.name.ends_with('/') => {
                    make_directories(host, &path).map_err(|error| told(&error, &path))?;
                    directories.push((member, path));
                }
                () => self.file(host, &mut archive, at, member, &path)?,
            }
        }
        // Links last, so that nothing of the archive is written through one that it has brought itself.
        let mut made = BTreeSet::new();
        for (at, member, path) in links {
            if path.ancestors().skip(1).any(|above| made.contains(above)) {
                return Err(format!("'{}' lies behind a link that the archive has brought", member.name));
            }
            self.link(host, &mut archive, at, member, &path)?;
            made.insert(path);
        }
        // A directory into which nobody may write has its files by now.
        for (member, path) in directories.into_iter().rev().filter(|_| self.modes == Modes::OfArchive) {
            let mode = Some(mode_of(host, member, 0o777));
            host.set(&path, Attributes { mode, ..Attributes::default() }).map_err(|error| told(&error, &path))?;
        }
        Ok(names)
    }

    /// Where a name leads: below the directory, whatever it says; nothing for one that says no more than that.
    fn place(&self, name: &str) -> Option<PathBuf> {
        let parts: PathBuf = name.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
        (!parts.as_os_str().is_empty()).then(|| Path::new(self.dest).join(parts))
    }

    fn file(
        &self,
        host: &dyn Host,
        archive: &mut Zipped,
        at: usize,
        member: &Member,
        path: &Path,
    ) -> Result<(), String> {
        if let Some(directory) = path.parent() {
            make_directories(host, directory).map_err(|error| told(&error, directory))?;
        }
        let mode = (self.modes == Modes::OfArchive).then(|| mode_of(host, member, 0o666));
        let mut content = self.open(archive, at, member)?;
        let mut unreadable = None;
        let written = host.write_with(path, Attributes { mode, ..Attributes::default() }, &mut |out| {
            copied(&mut content, out, &mut unreadable)
        });
        match (unreadable, written) {
            (Some(why), _) => Err(format!("{why} for file '{}'", member.name)),
            (None, written) => written.map_err(|error| told(&error, path)),
        }
    }

    fn link(
        &self,
        host: &dyn Host,
        archive: &mut Zipped,
        at: usize,
        member: &Member,
        path: &Path,
    ) -> Result<(), String> {
        let mut target = Vec::new();
        let read = self.open(archive, at, member)?.take(PATH_MAX).read_to_end(&mut target);
        read.map_err(|error| format!("{error} for file '{}'", member.name))?;
        if let Some(directory) = path.parent() {
            make_directories(host, directory).map_err(|error| told(&error, directory))?;
        }
        let is_in_the_way = |kind| kind != FileKind::Link && kind != FileKind::Directory;
        if host.stat(path).is_ok_and(|stat| is_in_the_way(stat.kind)) {
            host.remove(path).map_err(|error| told(&error, path))?;
        }
        let target = String::from_utf8_lossy(&target).into_owned();
        host.link(Path::new(&target), path).map_err(|error| told(&error, path))
    }

    /// The content of a member, as it was before it was packed.
    fn open<'z>(&self, archive: &'z mut Zipped, at: usize, member: &Member) -> Result<Box<dyn Read + 'z>, String> {
        let name = &member.name;
        let opened = match self.password.filter(|_| member.is_encrypted) {
            None if member.is_encrypted => {
                return Err(format!("File '{name}' is encrypted, password required for extraction"));
            }
            None => archive.by_index(at),
            Some(password) => archive.by_index_decrypt(at, password.as_bytes()),
        };
        match opened {
            Ok(content) => Ok(Box::new(content)),
            Err(ZipError::InvalidPassword) => Err(format!("Bad password for file '{name}'")),
            Err(ZipError::CompressionMethodNotSupported(_)) => {
                Err("That compression method is not supported".to_owned())
            }
            Err(error) => Err(format!("{error} for file '{name}'")),
        }
    }
}

/// Copies what is unpacked; an error of the archive is told apart from one of the file that it goes to.
fn copied(from: &mut dyn Read, to: &mut dyn io::Write, unreadable: &mut Option<io::Error>) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => to.write_all(&buffer[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                *unreadable = Some(error);
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }
}

/// The archive's rights for a member, else those of any new one.
fn mode_of(host: &dyn Host, member: &Member, new: u32) -> u32 {
    if member.mode == 0 { new & !host.umask() } else { member.mode & RIGHTS }
}

fn told(error: &io::Error, path: &Path) -> String {
    words(error, &path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Directory;
    use halite_core::host::{Machine, ReadOnly};
    use halite_core::testing::{Need, host_has};
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    /// An archive with these members: name, kind and rights, content.
    fn archive(directory: &Directory, members: &[(&str, u32, &str)]) -> String {
        let path = directory.path().join("a.zip");
        let mut writer = ZipWriter::new(fs::File::create(&path).unwrap());
        for (name, mode, content) in members {
            let options = SimpleFileOptions::default().external_attributes(mode << 16);
            writer.start_file(*name, options).unwrap();
            writer.write_all(content.as_bytes()).unwrap();
        }
        writer.finish().unwrap();
        path.to_string_lossy().into_owned()
    }

    fn unpacked(directory: &Directory, zip_file: &str, modes: Modes) -> Result<Vec<String>, String> {
        let dest = directory.path().join("out").to_string_lossy().into_owned();
        Unpack { zip_file, dest: &dest, excludes: &["left out".to_owned()], password: None, modes }.run(&Machine)
    }

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn files_directories_and_links_come_out_with_their_rights() {
        let directory = Directory::new();
        let members = [
            ("sub/", 0o040_500, ""),
            ("sub/one", 0o104_750, "1"),
            ("sub/link", 0o120_777, "one"),
            ("plain", 0, "p"),
            ("left out", 0o100_644, "x"),
        ];
        let zip_file = archive(&directory, &members);
        let names = unpacked(&directory, &zip_file, Modes::OfArchive).unwrap();
        assert_eq!(names, ["sub/", "sub/one", "sub/link", "plain"]);
        let out = directory.path().join("out");
        assert_eq!(fs::read_to_string(out.join("sub/link")).unwrap(), "1");
        assert_eq!((mode(&out.join("sub")), mode(&out.join("sub/one"))), (0o500, 0o750), "no setuid");
        assert_eq!(fs::read_link(out.join("sub/link")).unwrap(), Path::new("one"));
        assert!(!out.join("left out").exists());
        fs::set_permissions(out.join("sub"), fs::Permissions::from_mode(0o700)).unwrap();
        unpacked(&directory, &zip_file, Modes::OfArchive).unwrap();
    }

    #[test]
    fn rights_of_the_archive_are_left_where_they_are_not_wanted() {
        let directory = Directory::new();
        let zip_file = archive(&directory, &[("x", 0o100_700, "")]);
        unpacked(&directory, &zip_file, Modes::OfHost).unwrap();
        assert_eq!(mode(&directory.path().join("out/x")) & 0o100, 0);
    }

    #[test]
    fn names_that_lead_out_of_the_directory_stay_in_it() {
        let directory = Directory::new();
        let zip_file =
            archive(&directory, &[("../up", 0, "u"), ("/etc/x", 0, "e"), ("a/../../b", 0, "b"), ("../", 0, "")]);
        unpacked(&directory, &zip_file, Modes::OfArchive).unwrap();
        let out = directory.path().join("out");
        assert!(out.join("up").exists() && out.join("etc/x").exists() && out.join("a/b").exists());
        assert!(!directory.path().join("up").exists());
    }

    #[test]
    fn nothing_is_written_through_a_link_that_the_archive_has_brought() {
        let directory = Directory::new();
        let away = directory.path().join("away");
        fs::create_dir(&away).unwrap();
        let target = away.to_string_lossy().into_owned();
        let link = ("l", 0o120_777, target.as_str());
        let zip_file = archive(&directory, &[link, ("l/file", 0, "x")]);
        unpacked(&directory, &zip_file, Modes::OfArchive).unwrap_err();
        let zip_file = archive(&directory, &[("m", 0o120_777, &target), ("m/inner", 0o120_777, "x")]);
        let said = unpacked(&directory, &zip_file, Modes::OfArchive).unwrap_err();
        assert_eq!(said, "'m/inner' lies behind a link that the archive has brought");
        assert_eq!(fs::read_dir(&away).unwrap().count(), 0);
        // A link that is there already is replaced, not followed.
        let file = away.join("kept");
        fs::write(&file, "kept").unwrap();
        std::os::unix::fs::symlink(&file, directory.path().join("out/name")).unwrap();
        let zip_file = archive(&directory, &[("name", 0o100_644, "new")]);
        unpacked(&directory, &zip_file, Modes::OfArchive).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    }

    #[test]
    fn an_archive_with_a_password_opens_with_it_alone() {
        if !host_has(&[Need::Program("zip")]) {
            return;
        }
        let directory = Directory::new();
        fs::write(directory.path().join("f"), "content").unwrap();
        let packed = std::process::Command::new("zip")
            .args(["-q", "-P", "secret", "p.zip", "f"])
            .current_dir(directory.path())
            .status();
        assert!(packed.unwrap().success());
        let zip_file = directory.path().join("p.zip").to_string_lossy().into_owned();
        let dest = directory.path().join("out").to_string_lossy().into_owned();
        let tried = |password| {
            Unpack { zip_file: &zip_file, dest: &dest, excludes: &[], password, modes: Modes::OfHost }.run(&Machine)
        };
        assert_eq!(tried(None).unwrap_err(), "File 'f' is encrypted, password required for extraction");
        // One in 256 wrong ones is only found out at the end.
        assert!(tried(Some("wrong")).unwrap_err().contains("for file 'f'"));
        assert!(!directory.path().join("out/f").exists());
        tried(Some("secret")).unwrap();
        assert_eq!(fs::read_to_string(directory.path().join("out/f")).unwrap(), "content");
    }

    #[test]
    fn a_damaged_file_is_told_and_nothing_is_left_of_it() {
        let directory = Directory::new();
        let zip_file = archive(&directory, &[("f", 0o100_644, &"some text ".repeat(500))]);
        let mut bytes = fs::read(&zip_file).unwrap();
        bytes[40] ^= 0x55;
        fs::write(&zip_file, bytes).unwrap();
        assert!(unpacked(&directory, &zip_file, Modes::OfArchive).unwrap_err().ends_with("for file 'f'"));
        assert_eq!(fs::read_dir(directory.path().join("out")).unwrap().count(), 0);
    }

    #[test]
    fn test_mode_unpacks_nothing() {
        let directory = Directory::new();
        let zip_file = archive(&directory, &[("f", 0o100_644, "x")]);
        let dest = directory.path().join("out").to_string_lossy().into_owned();
        let job = Unpack { zip_file: &zip_file, dest: &dest, excludes: &[], password: None, modes: Modes::OfHost };
        assert!(job.run(&ReadOnly(&Machine)).is_err());
        assert!(!directory.path().join("out").exists());
    }
}
