//! Files that minions send to the master (`cp.push`): below `<cachedir>/minions/ID/files`, private to the master's
//! account.
//!
//! A file comes in parts, named by the hash of the whole, below `minions/ID/incoming`; when its hash is right it is
//! renamed. No step of a minion's path is followed through a link, whoever made it.

use halite_core::host::own::{self, File, FileExt};
use halite_lang::digest::HashType;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Files of one minion that are under way.
const UNFINISHED: usize = 8;
/// After this long without a part a file is given up.
const PATIENCE: Duration = Duration::from_secs(3600);
/// Steps of a path.
const DEPTH: usize = 128;

/// Where one minion's files go. `id` must be a valid id.
pub struct Received {
    directory: PathBuf,
    /// The longest file, in bytes (`file_recv_max_size`).
    most: u64,
}

/// The digest of a whole file, SHA-256, hexadecimal.
pub type Digest = str;

impl Received {
    pub fn new(cachedir: &Path, id: &str, most: u64) -> Received {
        Received { directory: cachedir.join("minions").join(id), most }
    }

    /// Takes a part. The error is a sentence for the minion.
    pub fn part(&self, digest: &Digest, offset: u64, bytes: &[u8]) -> Result<(), String> {
        let end = offset.checked_add(bytes.len() as u64).filter(|end| *end <= self.most);
        if end.is_none() {
            return Err(format!("the file is longer than file_recv_max_size, {} bytes", self.most));
        }
        let path = self.unfinished(digest)?;
        if !own::exists(&path) && self.under_way().map_err(text)? >= UNFINISHED {
            return Err(format!("{UNFINISHED} files are under way already"));
        }
        self.open(&path).and_then(|file| file.write_all_at(bytes, offset)).map_err(text)
    }

    /// All parts are there: checks the whole and puts it in place.
    pub fn whole(&self, digest: &Digest, size: u64, names: &[String]) -> Result<(), String> {
        check(names)?;
        if size > self.most {
            return Err(format!("the file is longer than file_recv_max_size, {} bytes", self.most));
        }
        let path = self.unfinished(digest)?;
        let file = self.open(&path).map_err(text)?;
        file.set_len(size).map_err(text)?;
        if HashType::Sha256.of(&file).map_err(text)? != digest {
            own::remove(&path).map_err(text)?;
            return Err("its parts do not fit together".to_owned());
        }
        self.put(&path, names).map_err(text)
    }

    fn put(&self, from: &Path, names: &[String]) -> io::Result<()> {
        let mut steps = vec!["files"];
        steps.extend(names.iter().map(String::as_str));
        own::put_below(&self.directory, &steps, from)
    }

    fn unfinished(&self, digest: &Digest) -> Result<PathBuf, String> {
        match digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            true => Ok(self.directory.join("incoming").join(digest)),
            false => Err("that is no digest".to_owned()),
        }
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        if let Some(directory) = path.parent() {
            own::make_directories(directory)?;
        }
        own::open_or_create(path)
    }

    /// How many files are under way; those that were given up are removed.
    fn under_way(&self) -> io::Result<usize> {
        let entries = match own::entries(&self.directory.join("incoming")) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error),
        };
        let mut count = 0;
        for entry in entries.flatten() {
            let modified = entry.metadata().and_then(|data| data.modified());
            let age = modified.ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
            match age.is_some_and(|age| age > PATIENCE) {
                true => own::remove(&entry.path())?,
                false => count += 1,
            }
        }
        Ok(count)
    }
}

fn check(names: &[String]) -> Result<(), String> {
    let is_name =
        |name: &String| !matches!(name.as_str(), "" | "." | "..") && !name.contains(['/', '\0']) && name.len() <= 255;
    match !names.is_empty() && names.len() <= DEPTH && names.iter().all(is_name) {
        true => Ok(()),
        false => Err("that is no path below the minion's directory".to_owned()),
    }
}

fn text(error: io::Error) -> String {
    // Paths of the master are not the minion's business; the kind of trouble is.
    error.kind().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Directory;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn digest(bytes: &[u8]) -> String {
        HashType::Sha256.of(bytes).unwrap()
    }

    fn names(path: &str) -> Vec<String> {
        path.split('/').map(str::to_owned).collect()
    }

    #[test]
    fn parts_come_in_any_order_and_again_and_make_a_file() {
        let directory = Directory::new();
        let received = Received::new(directory.path(), "web1", 100);
        let of = digest(b"hello world");
        for (offset, part) in [(6, &b"world"[..]), (0, b"hello "), (6, b"world")] {
            received.part(&of, offset, part).unwrap();
        }
        received.whole(&of, 11, &names("etc/motd")).unwrap();
        let path = directory.path().join("minions/web1/files/etc/motd");
        assert_eq!(fs::read(&path).unwrap(), b"hello world");
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        received.whole(&digest(b""), 0, &names("empty")).unwrap();
        assert!(received.whole(&digest(b"other"), 5, &names("x")).unwrap_err().contains("do not fit"));
    }

    #[test]
    fn no_path_leads_out_of_the_minions_directory() {
        let directory = Directory::new();
        let received = Received::new(directory.path(), "web1", 100);
        let of = digest(b"x");
        for path in ["..", "../x", "a/../x", "", "/etc/x", "a//b", "a\0b", "."] {
            received.part(&of, 0, b"x").unwrap();
            assert!(received.whole(&of, 1, &names(path)).is_err(), "{path:?}");
        }
        assert!(received.whole(&of, 1, &["a/b".to_owned()]).is_err());
        assert!(received.whole(&of, 1, &[]).is_err());
        for bad in ["", "../../../x", &"z".repeat(64), &of[..63]] {
            assert!(received.part(bad, 0, b"x").is_err(), "{bad}");
        }
        fs::create_dir_all(directory.path().join("outside")).unwrap();
        fs::create_dir_all(directory.path().join("minions/web1/files/real")).unwrap();
        symlink(directory.path().join("outside"), directory.path().join("minions/web1/files/link")).unwrap();
        assert!(received.whole(&of, 1, &names("link/x")).is_err());
        assert!(received.whole(&of, 1, &names("real")).is_err(), "a directory is not replaced");
        assert_eq!(fs::read_dir(directory.path().join("outside")).unwrap().count(), 0);
    }

    #[test]
    fn what_is_too_long_or_too_much_is_refused() {
        let directory = Directory::new();
        let received = Received::new(directory.path(), "web1", 10);
        assert!(received.part(&digest(b"a"), 5, b"123456").unwrap_err().contains("file_recv_max_size"));
        assert!(received.part(&digest(b"a"), u64::MAX, b"1").is_err());
        assert!(received.whole(&digest(b"a"), 11, &names("x")).is_err());
        for number in 0..UNFINISHED {
            received.part(&digest(&[number as u8]), 0, b"x").unwrap();
        }
        assert!(received.part(&digest(b"one more"), 0, b"x").unwrap_err().contains("under way"));
    }
}
