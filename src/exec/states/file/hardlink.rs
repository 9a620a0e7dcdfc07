//! `file.hardlink`.

use super::owner::owned;
use super::{group_of, is_directory, made_above, mode, own_name, single, user_or_own};
use halite_core::state::{Outcome, Plan, PlanContext, State, failed};
use halite_core::{Ctx, Fault, paths};
use halite_file::owner::Owner;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Makes sure that a file has a second name.
    ///
    ///   /etc/grub.conf:
    ///     file.hardlink:
    ///       - target: /boot/grub/grub.conf
    pub struct Hardlink {
        /// The second name.
        name: String,
        /// The file.
        target: String,
        /// Replace a file that is in the way.
        force: bool = false,
        /// Make the directories above that are missing.
        makedirs: bool = false,
        /// The owner of directories that are made.
        user: Value = (),
        /// Their group.
        group: Value = (),
        /// Their mode.
        dir_mode: Value = (),
        kwargs: Keywords,
    }
}

impl State for Hardlink {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = own_name(ctx, &self.name);
        if name.is_empty() {
            return Ok(failed("Must provide name to file.hardlink"));
        }
        let user = user_or_own(ctx, &self.user);
        let group = if self.group.is_null() { group_of(ctx, &user) } else { self.group.clone() };
        let dir_mode = match mode(&self.dir_mode) {
            Ok(mode) => mode,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let owner = Owner::new(ctx, &user, &group, dir_mode);
        let target = self.target;
        let relative: Vec<String> = [
            (&name, format!("Specified file {name} is not an absolute path")),
            (&target, format!("Specified target {target} is not an absolute path")),
        ]
        .into_iter()
        .filter_map(|(path, complaint)| (!path.starts_with('/')).then_some(complaint))
        .collect();
        let is_relative = !relative.is_empty();
        let wrong = owner.wrong(relative);
        if is_relative {
            return Ok(failed(wrong.unwrap_or_default()));
        }
        let link = Link { would: checked(ctx, &name, &target, self.force), name, target, owner };
        let (force, makedirs) = (self.force, self.makedirs);
        let would = link.would.clone();
        Ok(owned(wrong, Plan::Changes { would, apply: Box::new(move |ctx| link.make(ctx, force, makedirs)) }))
    }
}

/// What test mode says.
fn checked(ctx: &Ctx, name: &str, target: &str, force: bool) -> Outcome {
    let host = ctx.host;
    if !paths::exists(host, target) {
        return Outcome::failed(format!("Target {target} for hard link does not exist"));
    }
    if paths::is_directory(host, target) {
        return Outcome::failed(format!("Unable to hard link from directory {target}"));
    }
    if paths::is_directory(host, name) {
        return Outcome::failed(format!("Unable to hard link to directory {name}"));
    }
    if !paths::exists(host, name) {
        let comment = format!("Hard link {name} to {target} is set for creation");
        return Outcome::new(None, comment).with_changes(single("new", name));
    }
    if has_other_names(ctx, name) {
        if are_one(ctx, name, target) {
            return Outcome::done(format!("The hard link {name} is presently targetting {target}"));
        }
        let comment = format!("Link {name} target is set to be changed to {target}");
        return Outcome::new(None, comment).with_changes(single("change", name));
    }
    match force {
        true => Outcome::new(
            None,
            format!(
                "The file or directory {name} is set for removal to make way for a new hard link targeting {target}"
            ),
        ),
        false => Outcome::failed(format!(
            "File or directory exists where the hard link {name} should be. Did you mean to use force?"
        )),
    }
}

fn has_other_names(ctx: &Ctx, path: &str) -> bool {
    ctx.host.stat(Path::new(path)).is_ok_and(|stat| stat.links > 1)
}

fn are_one(ctx: &Ctx, one: &str, other: &str) -> bool {
    let inode = |path: &str| ctx.host.stat(Path::new(path)).ok().map(|stat| (stat.device, stat.inode));
    inode(one).is_some() && inode(one) == inode(other)
}

struct Link {
    name: String,
    target: String,
    owner: Owner,
    would: Outcome,
}

impl Link {
    fn make(self, ctx: &Ctx, force: bool, makedirs: bool) -> Result<Outcome, Fault> {
        let Link { name, target, owner, .. } = self;
        for (direction, path) in [("to", &name), ("from", &target)] {
            if paths::is_directory(ctx.host, path) {
                return Ok(Outcome::failed(format!("Unable to hard link {direction} directory {path}")));
            }
        }
        if !paths::exists(ctx.host, &target) {
            return Ok(Outcome::failed(format!("Target {target} for hard link does not exist")));
        }
        let path = Path::new(&name);
        if let Some(directory) = path.parent().filter(|directory| !is_directory(ctx, directory)) {
            if !makedirs {
                return Ok(Outcome::failed(format!("Directory {} for hard link is not present", directory.display())));
            }
            made_above(ctx, &name, &owner)?;
        }
        let mut changes = Map::new();
        let mut is_there = ctx.host.stat(path).is_ok();
        let removed = |ctx: &Ctx| ctx.host.remove(path).map_err(|error| super::fault(&name, &error));
        if paths::is_file(ctx.host, &name) && !has_other_names(ctx, &name) {
            if !force {
                return Ok(Outcome::failed(format!("File exists where the hard link {name} should be")));
            }
            removed(ctx)?;
            is_there = false;
            changes.insert("forced", "File for hard link was forcibly replaced");
        }
        let (done, undone) = match is_there {
            true if are_one(ctx, &name, &target) => {
                return Ok(Outcome::done(format!("Target of hard link {name} is already pointing to {target}")));
            }
            true => {
                removed(ctx)?;
                ("Set target of hard link", "Unable to set target of hard link")
            }
            false => ("Created new hard link", "Unable to create new hard link"),
        };
        Ok(match ctx.run("file.link", Arguments::positional([target.as_str(), &name])) {
            Ok(_) => {
                changes.insert("new", name.as_str());
                Outcome::done(format!("{done} {name} -> {target}")).with_changes(changes)
            }
            Err(fault) => Outcome::failed(format!("{undone} {name} -> {target}: {fault}")).with_changes(changes),
        })
    }
}
