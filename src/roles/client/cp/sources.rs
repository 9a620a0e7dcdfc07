//! What `salt-cp` copies: the files that were named, and those below the directories that were.

use crate::cli::{Exit, Trouble};
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Deeper than this no directory is walked: links may lead in a circle.
const DEPTH: usize = 64;

/// Files and directories of this host.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub files: Vec<Source>,
    /// The directories that were named.
    pub directories: Vec<PathBuf>,
    pub empty_directories: Vec<Source>,
}

/// A file, or an empty directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub path: PathBuf,
    /// Below which named directory it was found; nothing: it was named itself.
    below: Option<PathBuf>,
    pub mode: u32,
    pub size: u64,
}

impl Source {
    /// Where it goes on a minion.
    pub fn place(&self, dest: &str, into_directory: bool) -> String {
        let joined = |path: &Path| Path::new(dest).join(path).to_string_lossy().into_owned();
        match &self.below {
            Some(directory) => {
                let inside = self.path.strip_prefix(directory).unwrap_or(&self.path);
                joined(&Path::new(directory.file_name().unwrap_or_default()).join(inside))
            }
            None if into_directory => joined(Path::new(self.path.file_name().unwrap_or_default())),
            None => dest.to_owned(),
        }
    }
}

impl Sources {
    /// Finds what was named. What is not there ends the command before anything is sent.
    pub fn find(named: &[String]) -> Result<Sources, Trouble> {
        let mut sources = Sources::default();
        for name in named {
            let path = fs::canonicalize(name).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => Trouble::new(Exit::Incomplete, format!("{name} does not exist")),
                _ => Trouble::new(Exit::Failed, format!("{name}: {error}")),
            })?;
            let failed = |error: io::Error| Trouble::new(Exit::Failed, format!("{}: {error}", path.display()));
            match path.is_dir() {
                true => {
                    sources.walk(&path, &path, DEPTH).map_err(failed)?;
                    sources.directories.push(path);
                }
                false => sources.files.push(source(&path, None).map_err(failed)?),
            }
        }
        Ok(sources)
    }

    fn walk(&mut self, directory: &Path, named: &Path, depth: usize) -> io::Result<()> {
        if depth == 0 {
            return Err(io::Error::other(format!("more than {DEPTH} directories inside each other")));
        }
        let mut entries: Vec<PathBuf> =
            fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
        entries.sort();
        if entries.is_empty() {
            self.empty_directories.push(source(directory, Some(named))?);
        }
        for path in entries {
            if path.is_dir() {
                self.walk(&path, named, depth - 1)?;
            } else if path.is_file() {
                self.files.push(source(&path, Some(named))?);
            } else {
                log::warn!("{} is left out: it is no file", path.display());
            }
        }
        Ok(())
    }
}

fn source(path: &Path, below: Option<&Path>) -> io::Result<Source> {
    let data = fs::metadata(path)?;
    let (mode, size) = (data.permissions().mode() & 0o7777, data.size());
    Ok(Source { path: path.to_owned(), below: below.map(Path::to_owned), mode, size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Directory;

    #[test]
    fn directories_go_with_their_names_and_files_where_they_are_wanted() {
        let directory = Directory::new();
        fs::create_dir_all(directory.path().join("d/sub/empty")).unwrap();
        fs::write(directory.path().join("d/sub/f"), "f").unwrap();
        fs::write(directory.path().join("one"), "one").unwrap();
        let named = |names: &[&str]| {
            let names: Vec<String> =
                names.iter().map(|name| directory.path().join(name).display().to_string()).collect();
            Sources::find(&names)
        };
        let sources = named(&["one", "d"]).unwrap();
        let places: Vec<String> = sources.files.iter().map(|source| source.place("/x", true)).collect();
        assert_eq!(places, ["/x/one", "/x/d/sub/f"]);
        assert_eq!(sources.empty_directories[0].place("/x", true), "/x/d/sub/empty");
        assert_eq!(sources.files[0].place("/x/other", false), "/x/other");
        assert!(named(&["none"]).is_err());
        std::os::unix::fs::symlink("..", directory.path().join("d/sub/up")).unwrap();
        assert!(named(&["d"]).is_err(), "a circle ends");
    }
}
