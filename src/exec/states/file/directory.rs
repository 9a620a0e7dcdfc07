//! `file.directory`.

use super::super::{Look, Outcome, Plan, State, already, change, failed};
use super::owner::Owner;
use super::{absolute, is_folder, mode, refused};
use crate::exec::fileserver::client::make_folders;
use crate::exec::host::{FileKind, Stat};
use crate::exec::{Ctx, Fault};
use crate::record;
use crate::wire::record::Keywords;
use crate::wire::value::{Map, Value};
use std::path::{Path, PathBuf};

record! {
    /// Makes sure that there is a folder, and whose it is.
    ///
    ///   /srv/stuff:
    ///     file.directory:
    ///       - user: fred
    ///       - mode: '0755'
    ///       - makedirs: True
    pub struct Directory {
        /// The path.
        name: String,
        /// The owner.
        user: Value = (),
        /// The group.
        group: Value = (),
        /// What of owner and mode is set below it too: a list of user, group, mode, ignore_files, ignore_dirs.
        recurse: Value = (),
        /// The mode of the folder, and of those below it.
        dir_mode: Value = (),
        /// The mode of files below it.
        file_mode: Value = (),
        /// Another name of `dir_mode`.
        mode: Value = (),
        /// Make the folders above that are missing.
        makedirs: bool = false,
        /// Remove what is in it.
        clean: bool = false,
        kwargs: Keywords,
    }
}

impl State for Directory {
    fn plan(self, look: &Look) -> Result<Plan, Fault> {
        let ctx = look.ctx;
        let name = if self.name.len() > 1 { self.name.trim_end_matches('/').to_owned() } else { self.name.clone() };
        if self.clean {
            return Ok(failed("file.directory: this version cannot clean folders yet: leave out 'clean'"));
        }
        let dir_mode = if self.dir_mode.truthy() { &self.dir_mode } else { &self.mode };
        let file_mode = if self.file_mode.truthy() { &self.file_mode } else { dir_mode };
        let modes = mode(dir_mode).and_then(|dir_mode| Ok((absolute(&name, "directory")?, dir_mode, mode(file_mode)?)));
        let (path, dir_mode, file_mode) = match modes {
            Ok(modes) => modes,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let owner = match Owner::new(ctx, &self.user, &self.group, dir_mode) {
            Ok(owner) => owner,
            Err(missing) => {
                let wanted = if missing.starts_with("User") { ("user", self.user) } else { ("group", self.group) };
                let comment =
                    format!("The following files will be changed:\n{name}: {} - {}\n", wanted.0, wanted.1.to_text());
                let changes = Map::from_iter([(name.as_str(), Map::from_iter([wanted]))]);
                return Ok(change(changes, comment, move |_| Ok(Outcome::new(Some(false), missing))));
            }
        };
        let of_files = owner.with_mode(file_mode);
        let mut changes = Map::new();
        match ctx.host.stat(&path) {
            Ok(stat) if stat.kind == FileKind::Link && is_folder(ctx, &path) => {}
            Ok(stat) if stat.kind == FileKind::Link => {
                return Ok(failed(format!("Specified location {name} exists and is a symlink")));
            }
            Ok(stat) if stat.kind != FileKind::Folder => {
                return Ok(failed(format!("Specified location {name} exists and is a file")));
            }
            Ok(stat) => {
                note(&mut changes, &path, owner.differences(&stat));
            }
            Err(_) => {
                changes.insert(name.as_str(), Map::from_iter([("directory", "new")]));
            }
        }
        let is_new = changes.at(&name).is_some_and(|change| change.at("directory").is_some());
        let recursion = Recursion::of(&self.recurse);
        if let (Some(recursion), false) = (&recursion, is_new) {
            recursion.differences(ctx, &path, &owner, &of_files, &mut changes);
        }
        if changes.is_empty() {
            return Ok(already(format!("The directory {name} is in the correct state")));
        }
        let mut comment = "The following files will be changed:\n".to_owned();
        for (path, change) in &changes {
            for (key, value) in change.as_map().into_iter().flatten() {
                comment.push_str(&format!("{}: {} - {}\n", path.to_text(), key.to_text(), value.to_text()));
            }
        }
        let folder = Folder { name, path, owner, of_files, makedirs: self.makedirs, changes: changes.clone() };
        let would = Outcome::new(None, comment).with_changes(changes);
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| Ok(folder.make(ctx, is_new))) })
    }
}

fn note(changes: &mut Map, path: &Path, change: Map) {
    if !change.is_empty() {
        changes.insert(path.to_string_lossy().as_ref(), change);
    }
}

/// What is set below a folder.
struct Recursion {
    files: bool,
    folders: bool,
}

impl Recursion {
    fn of(value: &Value) -> Option<Recursion> {
        let words = value.as_list().filter(|words| !words.is_empty())?;
        let has = |word: &str| words.iter().any(|item| item.as_str() == Some(word));
        Some(Recursion { files: !has("ignore_files"), folders: !has("ignore_dirs") })
    }

    fn differences(&self, ctx: &Ctx, folder: &Path, owner: &Owner, of_files: &Owner, changes: &mut Map) {
        for name in ctx.host.list(folder).unwrap_or_default() {
            let path = folder.join(name);
            let Ok(stat) = ctx.host.stat(&path) else { continue };
            match stat.kind {
                FileKind::Folder => {
                    if self.folders {
                        note(changes, &path, owner.differences(&stat));
                    }
                    self.differences(ctx, &path, owner, of_files, changes);
                }
                // The mode of a link is of no use.
                FileKind::Link if self.files => {
                    note(changes, &path, of_files.with_mode(None).differences(&stat));
                }
                _ if self.files => note(changes, &path, of_files.differences(&stat)),
                _ => {}
            }
        }
    }
}

/// A folder that is to be made or changed.
struct Folder {
    name: String,
    path: PathBuf,
    owner: Owner,
    of_files: Owner,
    makedirs: bool,
    changes: Map,
}

impl Folder {
    fn make(self, ctx: &Ctx, is_new: bool) -> Outcome {
        let Folder { name, path, owner, of_files, makedirs, changes } = self;
        if !is_new {
            for path in changes.keys().map(Value::to_text) {
                let path = Path::new(&path);
                let is_folder = ctx.host.stat(path).is_ok_and(|stat: Stat| stat.kind == FileKind::Folder);
                let owner = if is_folder { &owner } else { &of_files };
                if let Err(error) = ctx.host.set(path, owner.attributes()) {
                    return refused(&format!("Failed to change {}", path.display()), &error);
                }
            }
            // What was set stands beside the paths too, as Salt has it.
            let mut all = changes.clone();
            for change in changes.values().filter_map(Value::as_map) {
                all.extend(change.clone());
            }
            let changes = all;
            return Outcome::new(Some(true), format!("Directory {name} updated")).with_changes(changes);
        }
        if let Some(above) = path.parent().filter(|above| !is_folder(ctx, above)) {
            if !makedirs {
                return Outcome::new(Some(false), format!("No directory to create {name} in")).with_changes(changes);
            }
            if let Err(error) = make_folders(ctx.host, above) {
                return refused(&format!("Failed to create directory {}", above.display()), &error);
            }
        }
        let made = ctx.host.make_folder(&path, 0o755);
        match made.and_then(|()| ctx.host.set(&path, owner.attributes())) {
            Ok(()) => Outcome::new(Some(true), "").with_changes(changes),
            Err(error) => refused(&format!("Failed to create directory {name}"), &error),
        }
    }
}
