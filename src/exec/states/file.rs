//! `file.*`: files, folders and links.

mod absent;
mod append;
mod directory;
mod managed;
mod owner;
mod presence;
mod symlink;

use super::{Function, Module, Outcome, state};
use crate::exec::Ctx;
use crate::exec::host::{FileKind, Stat};
use crate::wire::value::{Map, Value};
use std::path::{Path, PathBuf};

pub const MODULE: Module = Module { name: "file", doc: "Files, folders and links.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    state::<absent::Absent>("absent"),
    state::<append::Append>("append"),
    state::<directory::Directory>("directory"),
    state::<presence::Exists>("exists"),
    state::<managed::Managed>("managed"),
    state::<presence::Missing>("missing"),
    state::<symlink::Symlink>("symlink"),
];

/// A path that is not absolute is refused; the error says so to whoever wrote the SLS.
fn absolute(name: &str, function: &str) -> Result<PathBuf, String> {
    match Path::new(name) {
        _ if name.is_empty() => Err(format!("Must provide name to file.{function}")),
        path if path.is_absolute() => Ok(path.to_owned()),
        _ => Err(format!("Specified file {name} is not an absolute path")),
    }
}

/// What stands at a path, links followed.
fn followed(ctx: &Ctx, path: &Path) -> Option<Stat> {
    let mut path = path.to_owned();
    for _ in 0..40 {
        let stat = ctx.host.stat(&path).ok()?;
        match (stat.kind, &stat.target) {
            (FileKind::Link, Some(target)) => {
                path = path.parent().map_or_else(|| target.clone(), |folder| folder.join(target));
            }
            _ => return Some(stat),
        }
    }
    None
}

fn is_folder(ctx: &Ctx, path: &Path) -> bool {
    followed(ctx, path).is_some_and(|stat| stat.kind == FileKind::Folder)
}

/// A failure in words, for what the host refuses.
fn refused(what: &str, error: &std::io::Error) -> Outcome {
    Outcome::new(Some(false), format!("{what}: {error}"))
}

/// A mode as an SLS gives it: text or digits that YAML took for a number, `keep` or nothing for none.
fn mode(value: &Value) -> Result<Option<u32>, String> {
    let text = value.to_text();
    if !value.truthy() || text == "keep" {
        return Ok(None);
    }
    let digits = text.trim_start_matches("0o");
    match u32::from_str_radix(digits, 8) {
        Ok(mode) if mode <= 0o7777 => Ok(Some(mode)),
        _ => Err(format!("the mode '{text}' is no octal number such as '0644'")),
    }
}

/// A mode as Salt shows it.
fn shown(mode: u32) -> String {
    format!("{mode:04o}")
}

/// One change under a key.
fn single(key: &str, value: impl Into<Value>) -> Map {
    Map::from_iter([(key, value.into())])
}
