//! One package as a user names it for pip: `django`, `flask[async]>=2,<3`, `git+https://...`, a path.

use pep440_rs::{Version, VersionSpecifiers};
use std::str::FromStr;

/// What is asked of a package.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// As the user wrote it.
    pub text: String,
    /// The name as packages are compared by; nothing for a file or an address, whose name is known once it is there.
    pub name: Option<String>,
    /// The versions that will do; any, if there are none.
    pub versions: Option<VersionSpecifiers>,
}

const SYSTEMS: [&str; 4] = ["git+", "svn+", "hg+", "bzr+"];

impl Requirement {
    pub fn parse(text: &str) -> Result<Requirement, String> {
        let unnamed = || Requirement { text: text.to_owned(), name: None, versions: None };
        if SYSTEMS.iter().any(|system| text.starts_with(system)) || text.contains("://") && !text.contains(" @ ") {
            return Ok(unnamed());
        }
        if text.starts_with(['.', '/']) {
            return Ok(unnamed());
        }
        let is_of_name = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
        let (name, rest) = text.split_at(text.find(|char| !is_of_name(char)).unwrap_or(text.len()));
        let wrong = |why: &str| Err(format!("pip raised an exception while parsing '{text}': {why}"));
        if name.is_empty() {
            return wrong("it begins with no name of a package");
        }
        let named = |versions| Requirement { text: text.to_owned(), name: Some(name.to_owned()), versions };
        let rest = rest.trim_start();
        let rest = match rest.strip_prefix('[') {
            None => rest,
            Some(extras) => match extras.split_once(']') {
                Some((_, rest)) => rest.trim_start(),
                None => return wrong("']' is missing"),
            },
        };
        if rest.starts_with('@') {
            return Ok(named(None));
        }
        let versions = rest.split(';').next().unwrap_or_default().trim();
        let versions = versions.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(versions);
        if versions.is_empty() {
            return Ok(named(None));
        }
        match VersionSpecifiers::from_str(versions) {
            Ok(versions) => Ok(named(Some(versions))),
            Err(_) if text.contains('=') && !text.contains("==") => {
                Err(format!("Invalid version specification in package {text}. '=' is not supported, use '==' instead."))
            }
            Err(error) => wrong(error.to_string().lines().next().unwrap_or_default()),
        }
    }

    /// Whether a version will do.
    pub fn takes(&self, version: &str) -> bool {
        let Some(versions) = &self.versions else {
            return true;
        };
        Version::from_str(version).is_ok_and(|version| versions.contains(&version))
    }

    /// Whether some kind of versions that are not final is asked for by name: `a`, `b` or `rc`.
    pub fn names(&self, kind: &str) -> bool {
        self.versions.iter().flat_map(|versions| versions.iter()).any(|one| one.version().to_string().contains(kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_versions_are_read_as_pip_reads_them() {
        for (text, name, good, bad) in [
            ("django", Some("django"), "1.0", ""),
            ("Flask[async] >=2,<3", Some("Flask"), "2.1", "3.0"),
            ("six == 1.16.0", Some("six"), "1.16", "1.15"),
            ("six==1.16.*", Some("six"), "1.16.7", "1.17"),
            ("x~=1.4 ; python_version < '3'", Some("x"), "1.9", "2.0"),
            ("x @ https://example.org/x.whl", Some("x"), "1", ""),
            ("git+https://example.org/x#egg=x", None, "1", ""),
            ("./directory", None, "1", ""),
        ] {
            let read = Requirement::parse(text).unwrap();
            assert_eq!(read.name.as_deref(), name, "{text}");
            assert!(read.takes(good) && (bad.is_empty() || !read.takes(bad)), "{text}");
        }
        let wrong = Requirement::parse("six=1.0").unwrap_err();
        assert_eq!(wrong, "Invalid version specification in package six=1.0. '=' is not supported, use '==' instead.");
        assert!(Requirement::parse("=1").is_err() && Requirement::parse("six[x").is_err());
        assert!(Requirement::parse("x==1.0rc1").unwrap().names("rc"));
    }
}
