//! Symbolic links below a root: which of them are listed, and whether a file may be reached through them.

use halite_core::host::own::{self, Metadata, MetadataExt};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Whether links lead on (`fileserver_followsymlinks`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// As the admin has laid them, out of the root too.
    Links,
    /// Only to what is inside of the same root.
    Inside,
}

/// Whether the file that was opened by this path is inside of the root, with every link on the way resolved. It is
/// compared with what was opened, so that nobody can put another file in between.
pub fn is_inside(root: &Path, path: &Path, opened: &Metadata) -> io::Result<bool> {
    let (root, real) = (own::real(root)?, own::real(path)?);
    let found = own::look_at_link(&real)?;
    Ok(real.starts_with(root) && (found.dev(), found.ino()) == (opened.dev(), opened.ino()))
}

/// Whether Salt lists a link that points out of its root or stays inside: it lists those that stay inside, and the
/// others only where they are not followed. It reads a target that begins with `..` from the link instead of from its
/// directory, which is kept: formulas count on the lists.
pub fn is_listed(root: &Path, link: &Path, target: &Path, follow: Follow) -> bool {
    let from = if target.starts_with("..") { link } else { link.parent().unwrap_or(root) };
    let inside = resolved(&from.join(target)).starts_with(resolved(root));
    inside || follow == Follow::Inside
}

/// As far as a path leads: what exists with its links resolved, the rest as written.
fn resolved(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for step in path.components() {
        match step {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            step => plain.push(step),
        }
    }
    let mut rest = Vec::new();
    let mut here = plain.as_path();
    loop {
        if let Ok(real) = own::real(here) {
            return rest.iter().rev().fold(real, |path, name| path.join(name));
        }
        let (Some(parent), Some(name)) = (here.parent(), here.file_name()) else {
            return plain;
        };
        rest.push(name);
        here = parent;
    }
}
