//! `file.directory`.

mod below;

use super::clean::{Kept, removals, remove};
use super::{absolute, is_directory, made_above, mode, own_name, refused, single};
use below::{Below, Recursion};
use halite_core::host::FileKind;
use halite_core::paths::remove_all;
use halite_core::state::{Outcome, Plan, PlanContext, State, commented, failed, stands};
use halite_core::{Ctx, Fault, paths};
use halite_file::owner::Owner;
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};
use std::path::{Path, PathBuf};

record! {
    /// Makes sure that there is a directory, and whose it is.
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
        /// What of owner and mode is set below it too: a list of user, group, mode, ignore_files, ignore_dirs, silent.
        recurse: Value = (),
        /// How many levels below it.
        max_depth: Option<i64> = (),
        /// The mode of the directory, and of those below it.
        dir_mode: Value = (),
        /// The mode of files below it.
        file_mode: Value = (),
        /// Make the directories above that are missing.
        makedirs: bool = false,
        /// Remove what is in it and what no state that this one requires has put there.
        clean: bool = false,
        /// What it requires.
        require: Value = (),
        /// What is not removed: a glob, or a regular expression behind E@.
        exclude_pat: Value = (),
        /// Whether owner and mode are those of what links point to.
        follow_symlinks: bool = false,
        /// Replace a file that is in the way.
        force: bool = false,
        /// Another name for what is in the way.
        backupname: Option<String> = (),
        /// Whether a link to a directory is good enough.
        allow_symlink: bool = true,
        /// Leave the directory itself alone.
        children_only: bool = false,
        kwargs: Keywords,
    }
}

impl State for Directory {
    fn plan(mut self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = own_name(ctx, &self.name);
        let name = if name.len() > 1 { name.trim_end_matches('/').to_owned() } else { name };
        if name.is_empty() {
            return Ok(failed("Must provide name to file.directory"));
        }
        if self.max_depth.is_some() && self.clean {
            return Ok(failed("Cannot specify both max_depth and clean"));
        }
        if !self.dir_mode.truthy() {
            self.dir_mode = self.kwargs.0.at("mode").cloned().unwrap_or_default();
        }
        if !self.file_mode.truthy() {
            self.file_mode = self.dir_mode.clone();
        }
        let modes = mode(&self.dir_mode).and_then(|dir_mode| Ok((dir_mode, mode(&self.file_mode)?)));
        let (dir_mode, file_mode) = match modes {
            Ok(modes) => modes,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let user = if self.user.truthy() { &self.user } else { self.kwargs.0.at("owner").unwrap_or(&self.user) };
        let owner = Owner::new(ctx, user, &self.group, dir_mode);
        let path = match absolute(&name, "directory") {
            Ok(path) => path,
            Err(wrong) => return Ok(failed(owner.missing().unwrap_or(wrong))),
        };
        let missing = owner.missing();
        let plan = commented(self.examined(context, name, path, owner, file_mode))?;
        Ok(match (missing, plan) {
            (Some(missing), Plan::Changes { would, .. }) => stands(would, Outcome::failed(missing)),
            (Some(missing), _) => failed(missing),
            (None, plan) => plan,
        })
    }
}

impl Directory {
    fn examined(
        self,
        context: &PlanContext,
        name: String,
        path: PathBuf,
        owner: Owner,
        file_mode: Option<u32>,
    ) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let mut changes = Map::new();
        let in_the_way = match ctx.host.stat(&path) {
            Ok(stat) if stat.kind == FileKind::Link => {
                (!is_directory(ctx, &path) || !self.allow_symlink || self.force).then_some("symlink")
            }
            Ok(stat) if stat.kind != FileKind::Directory => Some("file"),
            _ => None,
        };
        let way = match in_the_way.map(|kind| self.way(ctx, &name, kind)) {
            None => Way::Free,
            Some(Ok(way)) => way,
            Some(Err(wrong)) => return Ok(failed(wrong)),
        };
        match &way {
            Way::Free => {}
            Way::Backup { backup, replaces } => {
                if *replaces {
                    let text = format!("Existing file at backup path {backup} would be removed");
                    changes.insert("forced", text);
                }
                changes.insert("backup", format!("{name} would be renamed to {backup}"));
                changes.insert(name.as_str(), single("directory", "new"));
                let comment = format!("{name} would be backed up and replaced with a new directory");
                let would = Outcome::new(None, comment).with_changes(changes);
                let work = self.work(name, path, owner, Below::default(), Vec::new());
                return Ok(Plan::Changes { would, apply: Box::new(move |ctx| work.make(ctx, way, true, Map::new())) });
            }
            Way::Remove(kind) => drop(changes.insert("forced", format!("{kind} would be forcibly replaced"))),
        }
        let is_new = !matches!(way, Way::Free) || !is_directory(ctx, &path);
        let recursion = match Recursion::of(&self.recurse) {
            Ok(recursion) => recursion,
            Err(wrong) => {
                // Salt makes the directory, and says then what is wrong.
                return Ok(failed(wrong));
            }
        };
        let mut below = Below::default();
        if let Some(recursion) = recursion.filter(|_| !is_new) {
            below = Below::new(recursion, &owner, file_mode, self.max_depth, self.follow_symlinks);
            changes.extend(below.differences(ctx, &name));
        }
        if is_new {
            changes.insert(name.as_str(), single("directory", "new"));
        } else if !self.children_only {
            let owner = below.own(&owner);
            let stat = match self.follow_symlinks {
                true => paths::followed(ctx.host, &path),
                false => ctx.host.stat(&path),
            };
            let found = stat.map(|stat| owner.differences(&stat)).unwrap_or_default();
            if !found.is_empty() {
                changes.insert(name.as_str(), found);
            }
        }
        let removed = match self.clean && !is_new {
            true => Kept::required(context, &name)?.others(ctx, &name, &self.exclude_pat)?,
            false => Vec::new(),
        };
        changes.extend(removals(&removed));
        if changes.is_empty() {
            return Ok(stands(correct(&name), correct(&name)));
        }
        let comment: String = std::iter::once("The following files will be changed:\n".to_owned())
            .chain(changes.iter().flat_map(|(path, change)| {
                let entries = change.as_map().cloned().unwrap_or_default();
                let lines = entries
                    .iter()
                    .map(|(key, value)| format!("{}: {} - {}\n", path.to_text(), key.to_text(), value.to_text()));
                lines.collect::<Vec<String>>()
            }))
            .collect();
        let would = Outcome::new(None, comment).with_changes(changes.clone());
        changes.remove("forced");
        let work = self.work(name, path, owner, below, removed);
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| work.make(ctx, way, is_new, changes)) })
    }

    fn way(&self, ctx: &Ctx, name: &str, kind: &str) -> Result<Way, String> {
        if let Some(backup) = self.backupname.clone() {
            let replaces = ctx.host.stat(Path::new(&backup)).is_ok();
            if replaces && !self.force {
                return Err(format!("File exists where the backup target {backup} should go"));
            }
            return Ok(Way::Backup { backup, replaces });
        }
        match (self.force, kind) {
            (true, "symlink") => Ok(Way::Remove("Symlink")),
            (true, _) => Ok(Way::Remove("File")),
            (false, kind) => Err(format!("Specified location {name} exists and is a {kind}")),
        }
    }

    fn work(self, name: String, path: PathBuf, owner: Owner, below: Below, removed: Vec<String>) -> Work {
        Work {
            name,
            path,
            owner,
            below,
            removed,
            makedirs: self.makedirs,
            children_only: self.children_only,
            follow: self.follow_symlinks,
        }
    }
}

fn correct(name: &str) -> Outcome {
    Outcome::done(format!("The directory {name} is in the correct state"))
}

/// What is done about what is in the way.
enum Way {
    Free,
    Backup { backup: String, replaces: bool },
    Remove(&'static str),
}

/// A directory that is to be made or changed.
struct Work {
    name: String,
    path: PathBuf,
    owner: Owner,
    below: Below,
    removed: Vec<String>,
    makedirs: bool,
    children_only: bool,
    follow: bool,
}

impl Work {
    fn make(self, ctx: &Ctx, way: Way, is_new: bool, mut changes: Map) -> Result<Outcome, Fault> {
        let name = &self.name;
        let cleared = match &way {
            Way::Free => Ok(()),
            Way::Backup { backup, replaces } => {
                let gone = if *replaces { remove_all(ctx.host, Path::new(backup)) } else { Ok(()) };
                gone.and_then(|()| ctx.host.rename(&self.path, Path::new(backup)))
            }
            Way::Remove(kind) => {
                changes.insert("forced", format!("{kind} was forcibly replaced"));
                remove_all(ctx.host, &self.path)
            }
        };
        if let Err(error) = cleared {
            return Ok(refused(&format!("{name} cannot be taken out of the way"), &error));
        }
        if is_new {
            return self.make_new(ctx, changes);
        }
        let mut failures = Vec::new();
        if !self.children_only {
            let owner = &self.owner;
            self.set(ctx, name, owner, &mut changes, &mut failures);
        }
        let owned = changes.clone();
        if self.below.is_silent() {
            changes = single("recursion", "Changes silenced");
        }
        for (path, change) in owned.iter().filter(|(path, _)| path.as_str() != Some(name)) {
            let path = path.to_text();
            let is_removed = change.at("removed").is_some();
            if path.starts_with('/') && !is_removed {
                let is_directory = ctx.host.stat(Path::new(&path)).is_ok_and(|stat| stat.kind == FileKind::Directory);
                let owner = self.below.owner(is_directory);
                self.set(ctx, &path, &owner, &mut changes, &mut failures);
            }
        }
        let mut comment = failures.join("; ");
        if !self.removed.is_empty() {
            changes.insert("removed", Value::list(remove(ctx, &self.removed)?));
            comment = format!("Files cleaned from directory {name}");
        }
        if comment.is_empty() {
            comment = match self.children_only {
                true => format!("Directory {name}/* updated"),
                false => format!("Directory {name} updated"),
            };
        }
        Ok(Outcome::new(Some(failures.is_empty()), comment).with_changes(changes))
    }

    /// Sets owner and mode of one path. What was set stands beside the paths too, as Salt has it.
    fn set(&self, ctx: &Ctx, path: &str, owner: &Owner, changes: &mut Map, failures: &mut Vec<String>) {
        let real = if self.follow { paths::real(ctx.host, path) } else { path.to_owned() };
        let Ok(stat) = ctx.host.stat(Path::new(&real)) else { return };
        let found = owner.differences(&stat);
        if found.is_empty() {
            return;
        }
        match ctx.host.set(Path::new(&real), owner.attributes()) {
            Ok(()) => changes.extend(found),
            Err(_) => {
                let failure = |(key, value): (&Value, &Value)| {
                    format!("Failed to change {} to {}", key.to_text(), value.to_text())
                };
                failures.extend(found.iter().map(failure));
            }
        }
    }

    fn make_new(self, ctx: &Ctx, mut changes: Map) -> Result<Outcome, Fault> {
        let Work { name, path, owner, makedirs, .. } = self;
        if path.parent().is_some_and(|above| !is_directory(ctx, above)) {
            if !makedirs {
                return Ok(Outcome::failed(format!("No directory to create {name} in")).with_changes(changes));
            }
            made_above(ctx, &name, &owner)?;
        }
        let made = ctx.host.make_directory(&path, 0o777).and_then(|()| ctx.host.set(&path, owner.attributes()));
        if let Err(error) = made {
            return Ok(refused(&format!("Failed to create directory {name}"), &error));
        }
        changes.insert(name.as_str(), single("directory", "new"));
        Ok(Outcome::done("").with_changes(changes))
    }
}
