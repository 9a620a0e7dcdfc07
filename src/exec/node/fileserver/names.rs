//! Names that a peer sends: paths below a root, and environments. What could lead out of a root is no name.

use std::path::PathBuf;

/// The longest path that is looked at; file systems take 4095 bytes.
const LONGEST: usize = 4095;

/// A path below a root, with its empty and `.` steps left out. Nothing for one that is absolute, has a `..` step or a
/// NUL, or names nothing.
pub fn below_root(path: &str) -> Option<PathBuf> {
    if path.starts_with('/') || path.contains('\0') || path.len() > LONGEST {
        return None;
    }
    let steps: Vec<&str> = path.split('/').filter(|step| !matches!(*step, "" | ".")).collect();
    if steps.is_empty() || steps.contains(&"..") {
        return None;
    }
    Some(steps.iter().collect())
}

/// Whether an environment may stand in the path of a root or of a cache. A slash is allowed, since branches have it.
pub fn is_saltenv(name: &str) -> bool {
    below_root(name).is_some_and(|path| path.as_os_str() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_a_root() {
        for path in ["", ".", "/", "/etc/passwd", "..", "../x", "a/../b", "a/..", "./..", "a\0b", "//x"] {
            assert_eq!(below_root(path), None, "{path:?}");
        }
        for (path, clean) in [("a", "a"), ("./a//b/", "a/b"), ("..a/b..", "..a/b.."), (".hidden", ".hidden")] {
            assert_eq!(below_root(path), Some(PathBuf::from(clean)), "{path:?}");
        }
        assert_eq!(below_root(&"x/".repeat(3000)), None);
    }

    #[test]
    fn an_environment_is_one_name_or_a_branch() {
        for name in ["base", "dev-1", "feature/x", "__env__", "3.14"] {
            assert!(is_saltenv(name), "{name}");
        }
        for name in ["", ".", "..", "../..", "a/../..", "/etc", "a/", "a//b", "./a", "x\0"] {
            assert!(!is_saltenv(name), "{name:?}");
        }
    }
}
