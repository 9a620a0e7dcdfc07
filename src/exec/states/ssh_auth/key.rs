//! A key as an SLS gives it: alone, with a comment, or as a whole line of authorized_keys.

use halite_core::state::given;
use halite_lang::regex::Regex;
use halite_value::{Map, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key itself, in Base64.
    pub name: String,
    enc: String,
    comment: String,
    options: Vec<String>,
}

impl Key {
    pub fn read(text: &str, enc: &str, comment: &str, options: Vec<String>) -> Key {
        let mut key = Key { name: String::new(), enc: enc.to_owned(), comment: comment.to_owned(), options };
        let line = Regex::new(r"^(.*?)\s?((?:sk-)?(?:ssh\-|ecds)[\w@.-]+\s.+)$");
        let found = line.as_ref().ok().and_then(|line| line.search(text).ok().flatten());
        let Some(found) = found else {
            let (name, comment) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
            key.name = name.to_owned();
            if !comment.trim().is_empty() {
                key.comment = comment.trim_start().to_owned();
            }
            return key;
        };
        if let Some(options) = found.group(1).filter(|options| !options.is_empty()) {
            key.options = options.split(',').map(str::to_owned).collect();
        }
        let mut parts = found.group(2).unwrap_or_default().trim().splitn(2, char::is_whitespace);
        key.enc = parts.next().unwrap_or_default().to_owned();
        let rest = parts.next().unwrap_or_default().trim_start();
        let (name, comment) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        key.name = name.to_owned();
        if !comment.trim().is_empty() {
            key.comment = comment.trim_start().to_owned();
        }
        key
    }

    /// The arguments of `ssh.check_key` and `ssh.set_auth_key`.
    pub fn arguments(&self) -> Map {
        given([
            ("key", self.name.as_str().into()),
            ("enc", self.enc.as_str().into()),
            ("comment", self.comment.as_str().into()),
            ("options", Value::list(self.options.iter().map(String::as_str))),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_from_all_that_users_write() {
        let read = |text: &str| {
            let key = Key::read(text, "ssh-rsa", "c", Vec::new());
            (key.options.join(","), key.enc, key.name, key.comment)
        };
        let told = |options: &str, enc: &str, name: &str, comment: &str| {
            (options.to_owned(), enc.to_owned(), name.to_owned(), comment.to_owned())
        };
        assert_eq!(read("AAAA"), told("", "ssh-rsa", "AAAA", "c"));
        assert_eq!(read("AAAA me@here"), told("", "ssh-rsa", "AAAA", "me@here"));
        assert_eq!(read("ssh-ed25519 AAAA me here"), told("", "ssh-ed25519", "AAAA", "me here"));
        assert_eq!(read("no-pty,command=\"x\" ssh-rsa AAAA"), told("no-pty,command=\"x\"", "ssh-rsa", "AAAA", "c"));
        assert_eq!(read("sk-ssh-ed25519@openssh.com AAAA"), told("", "sk-ssh-ed25519@openssh.com", "AAAA", "c"));
    }
}
