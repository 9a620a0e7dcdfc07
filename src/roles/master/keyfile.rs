//! The files of the master's own key pair, as in Salt 3008: `ID.pem` and `ID.pub`, the id without `_master`, and the
//! links `master.pem` and `master.pub`, the names of earlier versions, which scripts and people know.

use halite_keys::Identity;
use halite_keys::identity::KeyError;
use halite_keys::store::valid_id;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Loads the pair of the master with this id, or makes it. A pair under an earlier name is taken over, so that a host
/// that is renamed keeps its identity.
pub fn load_or_make(pki_dir: &Path, id: &str) -> Result<Identity, KeyError> {
    let name = id.strip_suffix("_master").filter(|name| valid_id(name)).unwrap_or(id);
    if name == "master" || !valid_id(name) {
        return Identity::load_or_make(pki_dir, "master");
    }
    for end in ["pem", "pub"] {
        take_over(pki_dir, &format!("master.{end}"), &format!("{name}.{end}"))?;
    }
    let identity = Identity::load_or_make(pki_dir, name)?;
    for end in ["pem", "pub"] {
        link(pki_dir, &format!("master.{end}"), &format!("{name}.{end}"))?;
    }
    Ok(identity)
}

/// Gives the file that the known name means the new name, where there is none of that name yet.
fn take_over(pki_dir: &Path, known: &str, new: &str) -> Result<(), KeyError> {
    let (known, new) = (pki_dir.join(known), pki_dir.join(new));
    match known.canonicalize() {
        Ok(old) if new.symlink_metadata().is_err() => fs::rename(&old, &new).map_err(|error| failed(&old, error)),
        _ => Ok(()),
    }
}

/// Makes the known name a link. A file that is still there under it is another key: it is left, and told.
fn link(pki_dir: &Path, known: &str, name: &str) -> Result<(), KeyError> {
    let path = pki_dir.join(known);
    if fs::read_link(&path).is_ok_and(|target| target == Path::new(name)) {
        return Ok(());
    }
    match path.symlink_metadata() {
        Ok(meta) if !meta.is_symlink() => {
            log::warn!("{} is not used: the key of this master is in {name}", path.display());
            return Ok(());
        }
        Ok(_) => fs::remove_file(&path).map_err(|error| failed(&path, error))?,
        Err(_) => {}
    }
    symlink(name, &path).map_err(|error| failed(&path, error))
}

fn failed(path: &Path, error: io::Error) -> KeyError {
    KeyError::Io { path: path.to_owned(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_keeps_its_identity_under_every_name() {
        let directory = std::env::temp_dir().join(format!("halite-keyfile-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        let before = Identity::load_or_make(&directory, "master").unwrap().public();
        for id in ["vm_master", "vm_master", "renamed_master", "salt.example.com"] {
            assert_eq!(load_or_make(&directory, id).unwrap().public(), before, "{id}");
            assert_eq!(Identity::load(&directory.join("master.pem")).unwrap().public(), before, "{id}");
        }
        let mut names: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["master.pem", "master.pub", "salt.example.com.pem", "salt.example.com.pub"]);
        for id in ["master", "../x", "_master"] {
            assert_eq!(load_or_make(&directory, id).unwrap().public(), before, "{id}");
        }
        fs::remove_dir_all(&directory).unwrap();
    }
}
