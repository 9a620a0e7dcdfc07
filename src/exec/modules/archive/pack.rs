//! A zip archive is made, file by file, as a stream.

use super::zipped::words;
use halite_core::host::{Attributes, FileKind, Host, Stat};
use halite_core::paths;
use jiff::tz::TimeZone;
use std::io;
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Something that goes into an archive.
struct Source {
    /// Where it is.
    path: String,
    /// What it is called in the archive; a directory with a slash behind it.
    name: String,
    stat: Stat,
}

/// Makes an archive of files and of directories with all that is in them. `cwd` is the directory that names in the archive begin
/// in where they can. The names are returned; what is wrong is said in Python's words.
pub fn pack(host: &dyn Host, zip_file: &str, paths: &[String], cwd: Option<&str>) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for path in paths {
        gather(host, path, cwd, &mut found).map_err(|(error, path)| words(&error, &path))?;
    }
    // An archive that was made into one of the directories before is no part of the new one.
    let own = paths::real(host, zip_file);
    found.retain(|source| paths::real(host, &source.path) != own);
    let mut unreadable = None;
    let written = host.write_with(Path::new(zip_file), Attributes::default(), &mut |out| {
        let mut writer = ZipWriter::new_stream(out);
        for source in &found {
            if let Err(error) = source.add(host, &mut writer) {
                unreadable = Some(words(&error, &source.path));
                return Err(error);
            }
        }
        writer.finish().map(drop).map_err(io::Error::from)
    });
    match (unreadable, written) {
        (Some(why), _) => Err(why),
        (None, written) => {
            written.map_err(|error| words(&error, zip_file))?;
            Ok(found.into_iter().map(|source| source.name).collect())
        }
    }
}

/// A directory comes before what is in it, its files before the directories in it. Links to files are followed, links to directories
/// within a directory are left out, as Python walks.
fn gather(host: &dyn Host, path: &str, cwd: Option<&str>, found: &mut Vec<Source>) -> Result<(), (io::Error, String)> {
    let failed = |error| (error, path.to_owned());
    let stat = paths::followed(host, Path::new(path)).map_err(failed)?;
    let name = name_of(path, cwd);
    match stat.kind {
        FileKind::File => found.push(Source { path: path.to_owned(), name, stat }),
        FileKind::Directory => {
            found.push(Source { path: path.to_owned(), name: format!("{name}/"), stat });
            let inside = |name: String| paths::join(&[path.to_owned(), name]);
            let inner: Vec<String> = host.list(Path::new(path)).map_err(failed)?.into_iter().map(inside).collect();
            let (directories, others): (Vec<String>, Vec<String>) =
                inner.into_iter().partition(|path| paths::is_directory(host, path));
            for path in others {
                gather(host, &path, cwd, found)?;
            }
            for path in directories.into_iter().filter(|path| !paths::is_link(host, path)) {
                gather(host, &path, cwd, found)?;
            }
        }
        // To read a pipe or a device has no end.
        _ => log::warn!("{path} is neither file nor directory: it does not go into the archive"),
    }
    Ok(())
}

/// Without a slash before it: a name begins in `cwd` where the path does, else in the root.
fn name_of(path: &str, cwd: Option<&str>) -> String {
    let path = paths::normal(path);
    let below = cwd.and_then(|cwd| Path::new(&path).strip_prefix(paths::normal(cwd)).ok());
    match below.and_then(Path::to_str) {
        Some("") => ".".to_owned(),
        Some(below) => below.to_owned(),
        None => path.trim_start_matches('/').to_owned(),
    }
}

impl Source {
    fn add<W: io::Write + io::Seek>(&self, host: &dyn Host, writer: &mut ZipWriter<W>) -> io::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .unix_permissions(self.stat.mode)
            .last_modified_time(self.modified())
            // Whoever reads it must know larger archives then; it may grow until it is packed.
            .large_file(self.stat.size >= u64::from(u32::MAX) / 2);
        let name = self.name.strip_prefix("./").unwrap_or(&self.name);
        if self.name.ends_with('/') {
            let name = if name.is_empty() { "./" } else { name };
            return writer.add_directory(name, options).map_err(io::Error::from);
        }
        writer.start_file(name, options)?;
        io::copy(&mut host.open(Path::new(&self.path))?, writer).map(drop)
    }

    /// In the time of this host; what is older than the form knows is from its first day.
    fn modified(&self) -> DateTime {
        let local = jiff::Timestamp::try_from(self.stat.modified).ok().map(|time| TimeZone::system().to_datetime(time));
        let known = local.and_then(|time| {
            let number = |number: i8| u8::try_from(number).ok();
            let (month, day) = (number(time.month())?, number(time.day())?);
            let (hour, minute, second) = (number(time.hour())?, number(time.minute())?, number(time.second())?);
            DateTime::from_date_and_time(u16::try_from(time.year()).ok()?, month, day, hour, minute, second).ok()
        });
        known.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::unpack::{Modes, Unpack};
    use super::super::zipped;
    use super::*;
    use halite_core::host::Machine;
    use halite_core::host::fake::Directory;
    use halite_core::testing::{Need, host_has};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_directory_goes_into_an_archive_and_comes_out_the_same() {
        let directory = Directory::new();
        let at = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        fs::create_dir_all(at("in/sub")).unwrap();
        fs::write(at("in/sub/two"), "2".repeat(100_000)).unwrap();
        fs::write(at("in/one"), "1").unwrap();
        fs::set_permissions(at("in/one"), fs::Permissions::from_mode(0o750)).unwrap();
        symlink("one", at("in/link")).unwrap();
        symlink("sub", at("in/directory-link")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("in/fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        fs::write(at("in/old.zip"), "an archive that was made before").unwrap();
        let cwd = at("");
        let names = pack(&Machine, &at("in/old.zip"), &[at("in")], Some(&cwd)).unwrap();
        assert_eq!(names, ["in/", "in/link", "in/one", "in/sub/", "in/sub/two"]);
        let zip_file = at("in/old.zip");
        let members = zipped::members(&zipped::open(&Machine, &zip_file).unwrap());
        assert_eq!(members[0].mode & 0o170_000, 0o040_000);
        let dest = at("out");
        let job = Unpack { zip_file: &zip_file, dest: &dest, excludes: &[], password: None, modes: Modes::OfArchive };
        assert_eq!(job.run(&Machine).unwrap(), names);
        assert_eq!(fs::read_to_string(at("out/in/sub/two")).unwrap().len(), 100_000);
        assert_eq!(fs::metadata(at("out/in/one")).unwrap().permissions().mode() & 0o777, 0o750);
        assert!(fs::symlink_metadata(at("out/in/link")).unwrap().is_file());
    }

    #[test]
    fn the_host_s_unzip_reads_what_was_packed() {
        if !host_has(&[Need::Program("unzip")]) {
            return;
        }
        let directory = Directory::new();
        let at = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        fs::create_dir(at("d")).unwrap();
        fs::write(at("d/f"), "text").unwrap();
        pack(&Machine, &at("x.zip"), &[at("d")], Some(&at("d"))).unwrap();
        let told = std::process::Command::new("unzip").args(["-p", &at("x.zip"), "f"]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&told.stdout), "text", "{told:?}");
    }

    #[test]
    fn names_begin_in_the_directory_or_in_the_root() {
        assert_eq!(name_of("/srv/a/one", Some("/srv/a")), "one");
        assert_eq!(name_of("/srv/a/../b", Some("/srv/a/")), "srv/b");
        assert_eq!(name_of("/srv/ab", Some("/srv/a")), "srv/ab");
        assert_eq!(name_of("/srv/a", Some("/srv/a")), ".");
        assert_eq!(name_of("/srv/a", None), "srv/a");
    }
}
