//! `file.*`: files, directories and links.

mod absent;
mod accumulated;
mod append;
mod blockreplace;
pub mod cached;
mod check_cmd;
mod clean;
mod comment;
mod copy;
mod decode;
pub mod directory;
mod edit;
mod hardlink;
mod keyvalue;
mod line;
mod managed;
mod mknod;
pub mod owner;
mod patch;
mod prepend;
mod presence;
mod pruned;
mod recurse;
mod rename;
mod replace;
mod retention;
mod run_check_cmd;
mod serialize;
mod shortcut;
pub mod source;
mod symlink;
mod target;
mod tidied;
mod touch;

use halite_core::host::{FileKind, Stat};
use halite_core::state::{Function, Module, Outcome, single, state};
use halite_core::{Ctx, Fault, paths};
use halite_file::encoding;
use halite_file::owner::Owner;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::path::{Path, PathBuf};

pub const MODULE: Module = Module { name: "file", doc: "Files, directories and links.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    state::<absent::Absent>("absent"),
    state::<accumulated::Accumulated>("accumulated"),
    state::<append::Append>("append"),
    state::<blockreplace::Blockreplace>("blockreplace"),
    state::<cached::Cached>("cached"),
    state::<comment::Comment>("comment"),
    state::<copy::Copy>("copy"),
    state::<decode::Decode>("decode"),
    state::<directory::Directory>("directory"),
    state::<presence::Exists>("exists"),
    state::<hardlink::Hardlink>("hardlink"),
    state::<keyvalue::Keyvalue>("keyvalue"),
    state::<line::Line>("line"),
    state::<managed::Managed>("managed"),
    state::<presence::Missing>("missing"),
    state::<mknod::Mknod>("mknod"),
    state::<run_check_cmd::RunCheckCmd>("mod_run_check_cmd"),
    state::<cached::NotCached>("not_cached"),
    state::<patch::Patch>("patch"),
    state::<prepend::Prepend>("prepend"),
    state::<pruned::Pruned>("pruned"),
    state::<recurse::Recurse>("recurse"),
    state::<rename::Rename>("rename"),
    state::<replace::Replace>("replace"),
    state::<retention::RetentionSchedule>("retention_schedule"),
    state::<serialize::Serialize>("serialize"),
    state::<shortcut::Shortcut>("shortcut"),
    state::<symlink::Symlink>("symlink"),
    state::<tidied::Tidied>("tidied"),
    state::<touch::Touch>("touch"),
    state::<comment::Uncomment>("uncomment"),
];

/// A path as it is meant: `~` is somebody's home.
fn own_name(ctx: &Ctx, name: &str) -> String {
    paths::expand_user(ctx.host, name)
}

/// A path that is not absolute is refused; the error says so to whoever wrote the SLS.
fn absolute(name: &str, function: &str) -> Result<PathBuf, String> {
    match Path::new(name) {
        _ if name.is_empty() => Err(format!("Must provide name to file.{function}")),
        path if path.is_absolute() => Ok(path.to_owned()),
        _ => Err(format!("Specified file {name} is not an absolute path")),
    }
}

/// A path where there is something; the error is for whoever wrote the SLS.
fn existing(ctx: &Ctx, name: &str, function: &str) -> Result<(), String> {
    absolute(name, function)?;
    match paths::exists(ctx.host, name) {
        true => Ok(()),
        false => Err(format!("{name}: file not found")),
    }
}

/// What stands at a path, links followed.
fn followed(ctx: &Ctx, path: &Path) -> Option<Stat> {
    paths::followed(ctx.host, path).ok()
}

fn is_directory(ctx: &Ctx, path: &Path) -> bool {
    followed(ctx, path).is_some_and(|stat| stat.kind == FileKind::Directory)
}

/// A failure in words, for what the host refuses.
fn refused(what: &str, error: &std::io::Error) -> Outcome {
    Outcome::failed(format!("{what}: {error}"))
}

/// What the host refuses about a path.
fn fault(path: &str, error: &std::io::Error) -> Fault {
    halite_file::refused(path, error)
}

/// Makes the directories above a path that are missing.
fn made_above(ctx: &Ctx, path: &str, owner: &Owner) -> Result<(), Fault> {
    let arguments = Arguments::keywords(Map::from_iter(owner.values())).with("path", path);
    ctx.run("file.makedirs", arguments).map(drop)
}

/// A mode as an SLS gives it: text or digits that YAML took for a number, `keep` or nothing for none.
fn mode(value: &Value) -> Result<Option<u32>, String> {
    let text = value.to_text();
    if !value.truthy() || text == "keep" {
        return Ok(None);
    }
    let digits = text.trim_matches(['"', '\'']).trim_start_matches("0o");
    match u32::from_str_radix(digits, 8) {
        Ok(mode) if mode <= 0o7777 => Ok(Some(mode)),
        _ => Err(format!("the mode '{text}' is no octal number such as '0644'")),
    }
}

/// A mode as Salt shows it.
fn shown(mode: u32) -> String {
    format!("{mode:04o}")
}

/// Whether a copy of what is replaced is kept: as the state says, else as the configuration does.
fn keeps_backup(ctx: &Ctx, given: Option<&str>) -> bool {
    let given = given.filter(|given| !given.is_empty()).or_else(|| ctx.opts.str_at("backup_mode"));
    matches!(given, Some("minion" | "both"))
}

/// A text in an encoding; in UTF-8 where none is given.
fn encoded(text: String, encoding: Option<&str>, errors: &str) -> Result<Vec<u8>, String> {
    match encoding.filter(|encoding| !encoding.is_empty()) {
        Some(encoding) => encoding::encoded(&text, encoding, errors).map_err(|fault| fault.to_string()),
        None => Ok(text.into_bytes()),
    }
}

/// The user that a state means: the one that is given, else the one that the minion runs as.
fn user_or_own(ctx: &Ctx, given: &Value) -> Value {
    let own = || ctx.opts.str_at("user").filter(|user| !user.is_empty()).unwrap_or("root").into();
    if given.is_null() { own() } else { given.clone() }
}

/// The first group of a user, by its name if it has one.
fn group_of(ctx: &Ctx, user: &Value) -> Value {
    let gid = ctx.host.user(&user.to_text()).ok().flatten().map_or(0, |user| user.gid);
    match ctx.host.group_by_gid(gid).ok().flatten() {
        Some(name) => name.into(),
        None => gid.into(),
    }
}
