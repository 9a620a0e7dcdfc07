//! `file.symlink`.

use super::owner::owned;
use super::{absolute, group_of, is_directory, made_above, mode, own_name, refused, single, user_or_own};
use halite_core::host::{FileKind, Stat};
use halite_core::paths::remove_all;
use halite_core::state::{Outcome, Plan, PlanContext, State, failed, stands};
use halite_core::{Ctx, Fault, paths};
use halite_file::owner::Owner;
use halite_value::Value;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use std::path::{Path, PathBuf};

record! {
    /// Makes sure that there is a symbolic link.
    ///
    ///   /etc/grub.conf:
    ///     file.symlink:
    ///       - target: /boot/grub/grub.conf
    pub struct Symlink {
        /// The path of the link.
        name: String,
        /// Where it points to.
        target: String,
        /// Replace a file or a directory that is in the way.
        force: bool = false,
        /// Another name for what is in the way.
        backupname: Option<String> = (),
        /// Make the directories that are missing.
        makedirs: bool = false,
        /// The owner of the link; the one of the minion if not given.
        user: Value = (),
        /// The group of the link.
        group: Value = (),
        /// The mode of directories that are made.
        mode: Value = (),
        /// Replace a file in one step; here that is always so.
        atomic: bool = false,
        /// A backup on another file system is a failure.
        disallow_copy_and_unlink: bool = false,
        /// Owner and group of a link that is there stay.
        inherit_user_and_group: bool = false,
        /// Whether a link that points nowhere counts as nothing.
        follow_symlinks: bool = true,
        kwargs: Keywords,
    }
}

impl State for Symlink {
    fn plan(mut self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        self.name = own_name(ctx, &self.name);
        if self.name.is_empty() {
            return Ok(failed("Must provide name to file.symlink"));
        }
        let dir_mode = match mode(&self.mode) {
            Ok(mode) => mode,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let path = PathBuf::from(&self.name);
        let stat = ctx.host.stat(&path).ok();
        let (user, group) = self.owner(ctx, stat.as_ref());
        let owner = Owner::new(ctx, &user, &group, dir_mode);
        let relative = absolute(&self.name, "symlink").err();
        let is_relative = relative.is_some();
        let wrong = owner.wrong(relative);
        if is_relative {
            return Ok(failed(wrong.unwrap_or_default()));
        }
        let owned_by = format!("{}:{}", user.to_text(), group.to_text());
        let mut would = self.checked(ctx, stat.as_ref(), &owner, &owned_by);
        if let Some(directory) = path.parent().filter(|directory| !is_directory(ctx, directory)) {
            let directory = directory.display();
            if !self.makedirs {
                let missing = format!("Directory {directory} for symlink is not present");
                would.comment.push_str(&format!("\n{missing}"));
                return Ok(stands(would, Outcome::failed(wrong.unwrap_or(missing))));
            }
            would.comment.push_str(&format!("\n{directory} will be created"));
        }
        let link = Link { state: self, path, owner, owned_by };
        Ok(owned(wrong, Plan::Changes { would, apply: Box::new(move |ctx| link.make(ctx)) }))
    }
}

impl Symlink {
    /// Owner and group of the link: those that are given, those that it has, those of the minion.
    fn owner(&self, ctx: &Ctx, stat: Option<&Stat>) -> (Value, Value) {
        let own = stat.filter(|stat| self.inherit_user_and_group && stat.kind == FileKind::Link);
        let given = if self.user.truthy() { &self.user } else { self.kwargs.0.at("owner").unwrap_or(&self.user) };
        let user = match own.filter(|_| given.is_null()) {
            Some(stat) => shown_user(ctx, stat.uid),
            None => user_or_own(ctx, given),
        };
        let group = match own.filter(|_| self.group.is_null()) {
            Some(stat) => shown_group(ctx, stat.gid),
            None if self.group.is_null() => group_of(ctx, &user),
            None => self.group.clone(),
        };
        (user, group)
    }

    /// What test mode says, missing directories left aside.
    fn checked(&self, ctx: &Ctx, stat: Option<&Stat>, owner: &Owner, owned_by: &str) -> Outcome {
        let (name, target) = (&self.name, &self.target);
        match stat {
            None => {
                let comment = format!("Symlink {name} to {target} is set for creation");
                Outcome::new(None, comment).with_changes(single("new", name.as_str()))
            }
            Some(stat) if stat.kind == FileKind::Link && stat.target.as_deref() != Some(Path::new(target)) => {
                let comment = format!("Link {name} target is set to be changed to {target}");
                Outcome::new(None, comment).with_changes(single("change", name.as_str()))
            }
            Some(stat) if stat.kind == FileKind::Link => {
                let comment = format!("The symlink {name} is present");
                if owner.differences(stat).is_empty() {
                    return Outcome::done(comment);
                }
                let own = format!("{}:{}", shown_user(ctx, stat.uid).to_text(), shown_group(ctx, stat.gid).to_text());
                let more = format!(", but the ownership of the symlink would be changed from {own} to {owned_by}");
                Outcome::new(None, comment + &more).with_changes(single("ownership", own))
            }
            Some(_) if self.force => {
                let comment = format!(
                    "The file or directory {name} is set for removal to make way for a new symlink targeting {target}"
                );
                Outcome::new(None, comment)
            }
            Some(_) => Outcome::failed(format!(
                "File or directory exists where the symlink {name} should be. Did you mean to use force?"
            )),
        }
    }
}

fn shown_user(ctx: &Ctx, uid: u32) -> Value {
    ctx.host.user_by_uid(uid).ok().flatten().map_or(uid.into(), |user| user.name.into())
}

fn shown_group(ctx: &Ctx, gid: u32) -> Value {
    ctx.host.group_by_gid(gid).ok().flatten().map_or(gid.into(), Value::from)
}

/// A link that is to be made.
struct Link {
    state: Symlink,
    path: PathBuf,
    owner: Owner,
    owned_by: String,
}

impl Link {
    fn make(self, ctx: &Ctx) -> Result<Outcome, Fault> {
        let Link { state, path, owner, owned_by } = self;
        let (name, target) = (&state.name, &state.target);
        let owner_of_link = owner.with_mode(None);
        if state.makedirs {
            made_above(ctx, name, &owner)?;
        }
        let stat = ctx.host.stat(&path).ok();
        let points = stat.as_ref().filter(|stat| stat.kind == FileKind::Link).and_then(|stat| stat.target.as_ref());
        if points.is_some_and(|own| paths::normal(&own.to_string_lossy()) == paths::normal(target)) {
            let unowned = stat.filter(|stat| !owner_of_link.differences(stat).is_empty());
            let Some(_) = unowned else {
                return Ok(Outcome::done(format!("Symlink {name} is present and owned by {owned_by}")));
            };
            return Ok(match ctx.host.set(&path, owner_of_link.attributes()) {
                Ok(()) => Outcome::done(format!("Set ownership of symlink {name} to {owned_by}"))
                    .with_changes(single("ownership", owned_by)),
                Err(_) => Outcome::failed(format!("Failed to set ownership of symlink {name} to {owned_by}")),
            });
        }
        if let Some(stat) = stat.filter(|stat| stat.kind != FileKind::Link)
            && let Some(outcome) = state.make_way(ctx, &stat)?
        {
            return Ok(outcome);
        }
        let what = format!("Unable to create new symlink {name} -> {target}");
        if let Err(error) = ctx.host.link(Path::new(target), &path) {
            return Ok(refused(&what, &error));
        }
        let comment = format!("Created new symlink {name} -> {target}");
        let changes = single("new", name.as_str());
        Ok(match ctx.host.set(&path, owner_of_link.attributes()) {
            Ok(()) => Outcome::done(comment).with_changes(changes),
            Err(_) => Outcome::failed(format!("{comment}, but was unable to set ownership to {owned_by}"))
                .with_changes(changes),
        })
    }
}

impl Symlink {
    /// Takes what is there out of the way; what comes back is why it stays.
    fn make_way(&self, ctx: &Ctx, stat: &Stat) -> Result<Option<Outcome>, Fault> {
        let name = &self.name;
        let Some(backup) = self.backupname.as_deref() else {
            if !self.force && !self.atomic {
                let kind = match stat.kind {
                    FileKind::File => "File",
                    FileKind::Directory => "Directory",
                    _ => "File system entry",
                };
                return Ok(Some(Outcome::failed(format!("{kind} exists where the symlink {name} should be"))));
            }
            let what = format!("Unable to create new symlink {name} -> {}", self.target);
            return Ok(remove_all(ctx.host, Path::new(name)).err().map(|error| refused(&what, &error)));
        };
        let backup = match backup {
            path if path.starts_with('/') => path.to_owned(),
            bare if !bare.contains('/') => paths::join(&[paths::directory_of(&paths::normal(name)), bare.to_owned()]),
            other => {
                let comment = format!("Backupname must be an absolute path or a file name: {other}");
                return Ok(Some(Outcome::failed(comment)));
            }
        };
        if ctx.host.stat(Path::new(&backup)).is_ok() {
            if !self.force {
                return Ok(Some(Outcome::failed(format!(
                    "Symlink & backup dest exists and Force not set. {name} -> {} - backup: {backup}",
                    self.target
                ))));
            }
            remove_all(ctx.host, Path::new(&backup)).map_err(|error| super::fault(&backup, &error))?;
        }
        let arguments = Arguments::positional([name.as_str(), &backup]);
        let arguments = arguments.with("disallow_copy_and_unlink", self.disallow_copy_and_unlink);
        Ok(ctx
            .run("file.move", arguments)
            .err()
            .map(|fault| Outcome::failed(format!("Unable to rename {name} to backup {backup} -> : {fault}"))))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::User;
    use halite_core::host::fake::Fake;
    use halite_value::record::Arguments;

    #[test]
    fn a_link_is_made_once_and_a_file_is_not_lost() {
        let root = User { name: "root".to_owned(), ..User::default() };
        let host = Fake::new().directory("/d").file("/d/file", "x").user(root).group("root", 0);
        let world = World::on(host);
        let arguments = |name: &str| Arguments::default().with("name", name).with("target", "/etc");
        let made = |arguments| both(&world, planned(&world, "file.symlink", arguments));
        let (would, done) = made(arguments("/d/l"));
        assert_eq!((would.result, would.comment.as_str()), (None, "Symlink /d/l to /etc is set for creation"));
        assert_eq!((done.result, done.comment.as_str()), (Some(true), "Created new symlink /d/l -> /etc"));
        let (would, done) = made(arguments("/d/l"));
        assert_eq!((would.result, done.changes.len()), (Some(true), 0));
        assert_eq!(done.comment, "Symlink /d/l is present and owned by root:root");
        let (_, done) = made(arguments("/d/file"));
        assert_eq!((done.result, world.host.text("/d/file").as_deref()), (Some(false), Some("x")));
        let (_, done) = made(arguments("/d/file").with("force", true));
        assert_eq!((done.result, world.host.text("/d/file")), (Some(true), None));
    }
}
