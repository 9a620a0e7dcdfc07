//! `file.symlink`.

use super::super::{Look, Outcome, Plan, State, failed};
use super::owner::Owner;
use super::{absolute, is_folder, refused, single};
use crate::exec::fileserver::client::make_folders;
use crate::exec::host::FileKind;
use crate::exec::{Ctx, Fault};
use crate::record;
use crate::wire::record::Keywords;
use crate::wire::value::Value;
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
        /// Replace a file or a folder that is in the way.
        force: bool = false,
        /// Make the folders that are missing.
        makedirs: bool = false,
        /// The owner of the link; the one of the minion if not given.
        user: Value = (),
        /// The group of the link.
        group: Value = (),
        /// The mode of folders that are made.
        mode: Value = (),
        kwargs: Keywords,
    }
}

impl State for Symlink {
    fn plan(self, look: &Look) -> Result<Plan, Fault> {
        let ctx = look.ctx;
        let path = match absolute(&self.name, "symlink") {
            Ok(path) => path,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let user = if self.user.truthy() { self.user.clone() } else { "root".into() };
        let group = if self.group.truthy() { self.group.clone() } else { group_of(ctx, &user) };
        let owner = match Owner::new(ctx, &user, &group, None) {
            Ok(owner) => owner,
            Err(missing) => return Ok(failed(missing.replace("is not available", "does not exist"))),
        };
        let owned_by = format!("{}:{}", user.to_text(), group.to_text());
        let (name, target) = (&self.name, &self.target);
        let stat = ctx.host.stat(&path).ok();
        let has_folder = path.parent().is_none_or(|folder| is_folder(ctx, folder));
        let mut would = match &stat {
            None => {
                let comment = format!("Symlink {name} to {target} is set for creation");
                Outcome::new(None, comment).with_changes(single("new", name.as_str()))
            }
            Some(stat) if stat.kind == FileKind::Link && stat.target.as_deref() == Some(Path::new(target)) => {
                if owner.differences(stat).is_empty() {
                    return Ok(Plan::Changes {
                        would: Outcome::new(Some(true), format!("The symlink {name} is present")),
                        apply: unchanged(name, owned_by),
                    });
                }
                let comment = format!(
                    "The symlink {name} is present, but the ownership of the symlink would be changed from {}:{} to \
                     {owned_by}",
                    stat.uid, stat.gid
                );
                let comment = Outcome::new(None, comment);
                comment.with_changes(single("ownership", format!("{}:{}", stat.uid, stat.gid)))
            }
            Some(stat) if stat.kind == FileKind::Link => {
                let comment = format!("Link {name} target is set to be changed to {target}");
                Outcome::new(None, comment).with_changes(single("change", name.as_str()))
            }
            Some(_) if self.force => Outcome::new(
                None,
                format!(
                    "The file or directory {name} is set for removal to make way for a new symlink targeting {target}"
                ),
            ),
            Some(stat) => {
                let would =
                    format!("File or directory exists where the symlink {name} should be. Did you mean to use force?");
                let kind = match stat.kind {
                    FileKind::File => "File",
                    FileKind::Folder => "Directory",
                    _ => "File system entry",
                };
                let comment = format!("{kind} exists where the symlink {name} should be");
                let done = Outcome::new(Some(false), comment);
                return Ok(Plan::Changes {
                    would: Outcome::new(Some(false), would),
                    apply: Box::new(move |_| Ok(done)),
                });
            }
        };
        if !has_folder {
            let folder = path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
            would.comment.push_str(&match self.makedirs {
                true => format!("\n{folder} will be created"),
                false => format!("\nDirectory {folder} for symlink is not present"),
            });
            if !self.makedirs {
                let done = Outcome::new(Some(false), format!("Directory {folder} for symlink is not present"));
                return Ok(Plan::Changes { would, apply: Box::new(move |_| Ok(done)) });
            }
        }
        let link = Link { name: self.name, target: PathBuf::from(self.target), path, owner, owned_by };
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| Ok(link.make(ctx))) })
    }
}

fn unchanged(name: &str, owned_by: String) -> super::super::Apply {
    let done = Outcome::new(Some(true), format!("Symlink {name} is present and owned by {owned_by}"));
    Box::new(move |_| Ok(done))
}

/// The first group of a user, by its name if it has one.
fn group_of(ctx: &Ctx, user: &Value) -> Value {
    let gid = ctx.host.user(&user.to_text()).ok().flatten().map(|user| user.gid);
    match gid {
        Some(0) | None => "root".into(),
        Some(gid) => gid.into(),
    }
}

/// A link that is to be made.
struct Link {
    name: String,
    target: PathBuf,
    path: PathBuf,
    owner: Owner,
    owned_by: String,
}

impl Link {
    fn make(self, ctx: &Ctx) -> Outcome {
        let Link { name, target, path, owner, owned_by } = self;
        let what = format!("Unable to create new symlink {name} -> {}", target.display());
        if let Some(folder) = path.parent()
            && let Err(error) = make_folders(ctx.host, folder)
        {
            return refused(&what, &error);
        }
        let stat = ctx.host.stat(&path).ok();
        let stands = stat.as_ref().is_some_and(|stat| stat.target.as_ref() == Some(&target));
        let cleared = match &stat {
            Some(stat) if stat.kind == FileKind::Folder => super::absent::remove_all(ctx.host, &path),
            Some(stat) if stat.kind != FileKind::Link => ctx.host.remove(&path),
            _ => Ok(()),
        };
        let made = cleared.and_then(|()| if stands { Ok(()) } else { ctx.host.link(&target, &path) });
        if let Err(error) = made.and_then(|()| ctx.host.set(&path, owner.attributes())) {
            return refused(&what, &error);
        }
        if stands {
            let comment = format!("Set ownership of symlink {name} to {owned_by}");
            return Outcome::new(Some(true), comment).with_changes(single("ownership", owned_by));
        }
        let comment = format!("Created new symlink {name} -> {}", target.display());
        Outcome::new(Some(true), comment).with_changes(single("new", name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Function, Look, Plan};
    use super::*;
    use crate::exec::context::NoMaster;
    use crate::exec::host::ReadOnly;
    use crate::exec::host::fake::Fake;
    use crate::exec::modules::tests::World;
    use crate::wire::record::Arguments;
    use crate::wire::value::Map;

    fn made(world: &World, arguments: Arguments) -> (Outcome, Outcome) {
        let ctx = world.ctx(&NoMaster);
        let view = ReadOnly(ctx.host);
        let looking = ctx.on(&view);
        let look = Look { ctx: &looking, low: &Map::new(), saltenv: "base", changed: &[] };
        let function: Function = super::super::super::state::<Symlink>("symlink");
        match (function.run)(arguments, &look).unwrap().unwrap() {
            Plan::Stands(outcome) => (outcome.clone(), outcome),
            Plan::Changes { would, apply } => (would, apply(&ctx).unwrap()),
        }
    }

    #[test]
    fn a_link_is_made_once_and_a_file_is_not_lost() {
        let root = |name: &str| crate::exec::host::User { name: name.to_owned(), ..Default::default() };
        let host = Fake::new().folder("/d").file("/d/file", "x").user(root("root")).group("root", 0);
        let world = World::on(host);
        let arguments = |name: &str| Arguments::default().with("name", name).with("target", "/etc");
        let (would, done) = made(&world, arguments("/d/l"));
        assert_eq!((would.result, would.comment.as_str()), (None, "Symlink /d/l to /etc is set for creation"));
        assert_eq!((done.result, done.comment.as_str()), (Some(true), "Created new symlink /d/l -> /etc"));
        let (would, done) = made(&world, arguments("/d/l"));
        assert_eq!((would.result, done.changes.len()), (Some(true), 0));
        assert_eq!(done.comment, "Symlink /d/l is present and owned by root:root");
        let (_, done) = made(&world, arguments("/d/file"));
        assert_eq!((done.result, world.host.text("/d/file").as_deref()), (Some(false), Some("x")));
        let (_, done) = made(&world, arguments("/d/file").with("force", true));
        assert_eq!((done.result, world.host.text("/d/file")), (Some(true), None));
    }
}
