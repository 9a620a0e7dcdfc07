//! The configuration of a minion that joins a master.

use super::{Change, Trouble, put};
use crate::cli::Exit;
use crate::generate;
use std::io;
use std::path::Path;

/// What the minion is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub master: String,
    id: Option<String>,
    finger: Option<String>,
}

/// Beside the administrator's own file, before all others in its directory: who says something else there has the last word.
const FILE: &str = "etc/salt/minion.d/00-install.conf";

impl Wanted {
    /// The words of a command line, checked: they are written into a file of YAML.
    pub fn read(master: &str, id: Option<&str>, finger: Option<&str>) -> Result<Wanted, Trouble> {
        for (option, word) in [("--master", Some(master)), ("--id", id), ("--finger", finger)] {
            if let Some(word) = word.filter(|word| !is_plain(word)) {
                let message = format!("{option} takes letters, digits and . _ : @ [ ] - only, not '{word}'");
                return Err(Trouble::new(Exit::Usage, message));
            }
        }
        let owned = |word: Option<&str>| word.map(str::to_owned);
        Ok(Wanted { master: master.to_owned(), id: owned(id), finger: owned(finger) })
    }

    /// Writes it below a root; beside it the sample of all options, if there is no file yet.
    pub fn write(&self, root: &Path) -> io::Result<Change> {
        let minion = root.join("etc/salt/minion");
        if !minion.exists() {
            put(&minion, &generate::sample("minion"), 0o640)?;
        }
        put(&root.join(FILE), &self.text(), 0o640)
    }

    fn text(&self) -> String {
        let mut text = format!("# Written by halite install, and again by its next run.\nmaster: '{}'\n", self.master);
        for (option, word) in [("id", &self.id), ("master_finger", &self.finger)] {
            if let Some(word) = word {
                text.push_str(&format!("{option}: '{word}'\n"));
            }
        }
        text
    }
}

fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|char| char.is_ascii_alphanumeric() || "._:@[]-".contains(char))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Directory;

    #[test]
    fn words_that_yaml_would_read_otherwise_are_refused() {
        for word in ["", "a b", "a'", "a\nuser: x", "{a}", "#"] {
            let trouble = Wanted::read("master", Some(word), None).unwrap_err();
            assert!(trouble.exit == Exit::Usage && trouble.message.starts_with("--id"), "{}", trouble.message);
        }
        assert!(Wanted::read("[2001:db8::1]:4606", Some("web1.example.org"), Some("aa:bb")).is_ok());
    }

    #[test]
    fn what_is_said_once_is_not_written_again() {
        let root = Directory::new();
        std::fs::create_dir_all(root.path().join("etc/salt")).unwrap();
        std::fs::write(root.path().join("etc/salt/minion"), "id: mine\n").unwrap();
        let wanted = Wanted::read("192.0.2.10", Some("007"), Some("aa:bb")).unwrap();
        assert_eq!(wanted.write(root.path()).unwrap(), Change::Made);
        assert_eq!(wanted.write(root.path()).unwrap(), Change::None);
        let text = std::fs::read_to_string(root.path().join(FILE)).unwrap();
        assert!(text.ends_with("\nmaster: '192.0.2.10'\nid: '007'\nmaster_finger: 'aa:bb'\n"), "{text}");
        assert_eq!(std::fs::read_to_string(root.path().join("etc/salt/minion")).unwrap(), "id: mine\n");
        let other = Wanted::read("192.0.2.11", None, None).unwrap();
        assert_eq!(other.write(root.path()).unwrap(), Change::Made);
    }
}
