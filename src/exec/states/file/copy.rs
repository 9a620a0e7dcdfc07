//! `file.copy`.

use super::{absolute, group_of, is_directory, made_above, mode, own_name, single, user_or_own};
use halite_core::host::Host;
use halite_core::paths::remove_all;
use halite_core::state::{Outcome, Plan, PlanContext, State, failed, stands};
use halite_core::{Ctx, Fault, paths};
use halite_file::content::Part;
use halite_file::owner::Owner;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Makes a copy of a file or a directory, if there is nothing of its name.
    ///
    ///   /etc/example.conf:
    ///     file.copy:
    ///       - source: /srv/example.conf
    pub struct Copy {
        /// The path of the copy.
        name: String,
        /// What is copied.
        source: String,
        /// Replace what is there, each time.
        force: bool = false,
        /// Make the directories above that are missing.
        makedirs: bool = false,
        /// The copy has owner and mode of what is copied.
        preserve: bool = false,
        /// The owner of the copy.
        user: Value = (),
        /// Its group.
        group: Value = (),
        /// Its mode.
        mode: Value = (),
        /// The mode of directories that are made.
        dir_mode: Value = (),
        /// Where the name is a directory, the copy goes into it.
        subdir: bool = false,
        kwargs: Keywords,
    }
}

impl State for Copy {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let (mut name, source) = (own_name(ctx, &self.name), own_name(ctx, &self.source));
        if let Err(wrong) = absolute(&name, "copy") {
            return Ok(failed(wrong));
        }
        let Ok(stat) = paths::followed(ctx.host, Path::new(&source)) else {
            return Ok(failed(format!("Source file \"{source}\" is not present")));
        };
        let modes = mode(&self.mode).and_then(|own| Ok((own, mode(&self.dir_mode)?)));
        let (own_mode, dir_mode) = match modes {
            Ok(modes) => modes,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let owner = if self.preserve {
            Owner::new(ctx, &stat.uid.into(), &stat.gid.into(), Some(stat.mode))
        } else {
            let given = if self.user.truthy() { &self.user } else { self.kwargs.0.at("owner").unwrap_or(&self.user) };
            let user = user_or_own(ctx, given);
            let group = if self.group.is_null() { group_of(ctx, &user) } else { self.group.clone() };
            Owner::new(ctx, &user, &group, own_mode.or(Some(stat.mode)))
        };
        let missing = owner.missing();
        let given = name.clone();
        if paths::is_directory(ctx.host, &name) && self.subdir {
            name = paths::join(&[name, paths::name_of(&source).to_owned()]);
        }
        let is_there = ctx.host.stat(Path::new(&name)).is_ok();
        if is_there && !self.force {
            let comment = format!("The target file \"{name}\" exists and will not be overwritten");
            let done = missing.map_or_else(|| Outcome::done(comment.as_str()), Outcome::failed);
            return Ok(stands(Outcome::done(comment), done));
        }
        let would = Outcome::new(None, format!("File \"{source}\" is set to be copied to \"{name}\""));
        let work = Work { given, name, source, owner, dir_mode, makedirs: self.makedirs, preserve: self.preserve };
        Ok(match missing {
            Some(missing) => stands(would, Outcome::failed(missing)),
            None => Plan::Changes { would, apply: Box::new(move |ctx| work.copy(ctx)) },
        })
    }
}

struct Work {
    /// The path as the SLS has it.
    given: String,
    name: String,
    source: String,
    owner: Owner,
    dir_mode: Option<u32>,
    makedirs: bool,
    preserve: bool,
}

impl Work {
    fn copy(self, ctx: &Ctx) -> Result<Outcome, Fault> {
        let Work { given, name, source, owner, dir_mode, makedirs, preserve } = self;
        let path = Path::new(&name);
        let mut comment = format!("Copied \"{source}\" to \"{given}\"");
        if ctx.host.stat(path).is_ok() {
            let is_same = || Part::At(&name).is_same(Part::At(&source), ctx.host).unwrap_or(false);
            if paths::is_file(ctx.host, &name) && is_same() {
                comment.push_str(" - files are identical but force flag is set");
            }
            if remove_all(ctx.host, path).is_err() {
                return Ok(Outcome::failed(format!("Failed to delete \"{name}\" in preparation for forced move")));
            }
        }
        if let Some(directory) = path.parent().filter(|directory| !is_directory(ctx, directory)) {
            if !makedirs {
                return Ok(Outcome::failed(format!("The target directory {} is not present", directory.display())));
            }
            let derived = owner.mode.map(|mode| mode & 0o777).map(super::target::with_entry);
            made_above(ctx, &name, &owner.with_mode(dir_mode.or(derived)))?;
        }
        let is_tree = paths::is_directory(ctx.host, &source);
        let copied = ctx.run("file.copy", Arguments::positional([source.as_str(), &name]).with("recurse", true));
        let before = ctx.host.stat(path).ok();
        let owned = match is_tree {
            true => own_below(ctx.host, path, &owner),
            false => Ok(()),
        };
        if copied.is_err() || owned.is_err() {
            return Ok(Outcome::failed(format!("Failed to copy \"{source}\" to \"{name}\"")));
        }
        let mut changes: Map = single(&name, source.as_str());
        if !preserve {
            // What the copy had of its own process before it was given away is what Salt compares with.
            let own = ctx.host.stat(Path::new("/proc/self")).map_or((0, 0), |own| (own.uid, own.gid));
            let before = before.map(|stat| halite_core::host::Stat { uid: own.0, gid: own.1, ..stat });
            if let Err(error) = ctx.host.set(path, owner.attributes()) {
                return Ok(super::refused(&format!("{name} cannot be given away"), &error).with_changes(changes));
            }
            changes.extend(before.map(|stat| owner.differences(&stat)).unwrap_or_default());
        }
        Ok(Outcome::done(comment).with_changes(changes))
    }
}

/// Gives away what is in a directory; modes stay.
fn own_below(host: &dyn Host, directory: &Path, owner: &Owner) -> std::io::Result<()> {
    for name in host.list(directory)? {
        let path = directory.join(name);
        host.set(&path, owner.with_mode(None).attributes())?;
        if host.stat(&path)?.kind == halite_core::host::FileKind::Directory {
            own_below(host, &path, owner)?;
        }
    }
    Ok(())
}
