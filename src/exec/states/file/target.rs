//! A file with content, owner and mode as it should be: what `file.managed`, `file.recurse` and `file.serialize` make.

use super::owner::Owner;
use super::{made_above, single};
use halite_core::host::{Attributes, FileKind, Stat};
use halite_core::state::Outcome;
use halite_core::{Ctx, Fault, paths};
use halite_modules::file::attributes::SelinuxContext;
use halite_modules::file::backups;
use halite_modules::file::difference::{Difference, Ignored, Shown, between};
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::path::Path;

/// A file as it should be.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// The path as the SLS gives it.
    pub name: String,
    /// None is given: what is there stays, and what is not is empty.
    pub content: Option<Content>,
    pub owner: Owner,
    /// Of folders that are made above it; nothing: as the mode of the file, with the right to enter.
    pub dir_mode: Option<u32>,
    /// The letters that lsattr(1) should show.
    pub attrs: Option<String>,
    /// The context that SELinux should know.
    pub selinux: SelinuxContext,
    pub makedirs: bool,
    /// A copy of what is replaced is kept.
    pub keeps_backup: bool,
    pub shown: Shown,
    /// A link is replaced and not followed.
    pub replaces_link: bool,
    /// What a new file has in it is shown as a difference to nothing.
    pub shows_new: bool,
    /// Differences that do not count for those that require a change.
    pub ignored: Option<Ignored>,
}

#[derive(Clone, Debug)]
pub struct Content {
    pub bytes: Vec<u8>,
    pub origin: Origin,
}

/// Where a content comes from, which decides on the mode that a new file begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Sls,
    Source,
}

/// What is there before anything is done.
pub struct Seen {
    /// Where the file stands, links followed.
    real: String,
    stat: Option<Stat>,
    /// What test mode shows.
    pub changes: Map,
    writes: bool,
    /// Something has changed beyond what does not matter.
    matters: bool,
}

impl Seen {
    pub fn is_new(&self) -> bool {
        self.stat.is_none()
    }
}

impl Target {
    /// Compares the file with what it should be.
    pub fn seen(&self, ctx: &Ctx) -> Result<Seen, Fault> {
        let own = ctx.host.stat(Path::new(&self.name)).ok();
        let (real, stat) = match own {
            Some(stat) if stat.kind == FileKind::Link && !self.replaces_link => {
                let real = paths::real(ctx.host, &self.name);
                let stat = ctx.host.stat(Path::new(&real)).ok();
                (real, stat)
            }
            own => (self.name.clone(), own),
        };
        let Some(stat) = stat else { return Ok(self.unseen(ctx, real)) };
        let mut seen = Seen { real, changes: Map::new(), writes: false, matters: self.ignored.is_none(), stat: None };
        if let Some(content) = &self.content {
            if stat.kind == FileKind::Link {
                let old = ctx.host.read(Path::new(&paths::real(ctx.host, &seen.real))).unwrap_or_default();
                let found = Some(self.difference(ctx, &old, content).text).filter(|found| !found.is_empty());
                let replaced = || "Replace symbolic link with regular file".to_owned();
                seen.changes.insert("diff", found.unwrap_or_else(replaced));
                seen.writes = true;
            } else {
                let refused = |error| Fault::execution(format!("{}: {error}", self.name));
                let old = ctx.host.read(Path::new(&seen.real)).map_err(refused)?;
                seen.writes = old != content.bytes;
                if seen.writes {
                    let difference = self.difference(ctx, &old, content);
                    seen.changes.insert("diff", difference.text);
                    seen.matters |= difference.counts;
                }
            }
        }
        seen.changes.extend(self.owner.differences(&stat));
        if let Some(attrs) = self.attrs.as_ref().filter(|_| self.other_attributes(ctx, &seen.real)) {
            seen.changes.insert("attrs", attrs.as_str());
        }
        if !self.selinux.is_empty() {
            let unknown = || Fault::execution(format!("SELinux knows no context of {}", self.name));
            for part in self.selinux.differences(ctx, &seen.real)?.ok_or_else(unknown)? {
                seen.changes.insert("selinux", Map::from_iter([(part.part, part.wished)]));
            }
        }
        seen.stat = Some(stat);
        Ok(seen)
    }

    fn difference(&self, ctx: &Ctx, old: &[u8], content: &Content) -> Difference {
        between(ctx, old, &content.bytes, Shown { of_template: true, ..self.shown }, self.ignored.as_ref())
    }

    /// What is in a new file.
    fn shown_new(ctx: &Ctx, content: &Content) -> Map {
        single("diff", between(ctx, b"", &content.bytes, Shown::ALL, None).text)
    }

    fn unseen(&self, ctx: &Ctx, real: String) -> Seen {
        let changes = match &self.content {
            Some(content) if self.shows_new => Self::shown_new(ctx, content),
            _ => single("newfile", self.name.as_str()),
        };
        Seen { real, stat: None, changes, writes: true, matters: true }
    }

    /// Whether lsattr(1) shows something else than is wanted.
    fn other_attributes(&self, ctx: &Ctx, path: &str) -> bool {
        let opts = with_test(ctx.opts.clone());
        let checked = attributes(&ctx.with(ctx.pillar, &opts), path, self.attrs.as_deref(), &SelinuxContext::default());
        checked.is_ok_and(|(changes, _)| !changes.is_empty())
    }

    /// Makes the file what it should be.
    pub fn make(self, ctx: &Ctx, seen: Seen) -> Result<Outcome, Fault> {
        let outcome = match seen.stat {
            Some(_) => self.change(ctx, &seen)?,
            None => self.create(ctx, &seen)?,
        };
        Ok(match !seen.matters && !outcome.changes.is_empty() {
            true => outcome.with("skip_req", true),
            false => outcome,
        })
    }

    fn change(&self, ctx: &Ctx, seen: &Seen) -> Result<Outcome, Fault> {
        let path = Path::new(&seen.real);
        if seen.writes
            && let Some(content) = &self.content
        {
            if self.keeps_backup {
                backups::keep(ctx, &seen.real)?;
            }
            if let Err(error) = ctx.host.write(path, &content.bytes, self.owner.attributes()) {
                return Ok(Outcome::failed(format!("Failed to commit change: {error}: {}", seen.real)));
            }
        }
        let mut changes = seen.changes.clone();
        if !seen.writes {
            for (kind, wanted) in [("user", seen.changes.at("user")), ("group", seen.changes.at("group"))] {
                let Some(wanted) = wanted else { continue };
                let all = self.owner.attributes();
                let one = match kind {
                    "user" => Attributes { uid: all.uid, ..Attributes::default() },
                    _ => Attributes { gid: all.gid, ..Attributes::default() },
                };
                if ctx.host.set(path, one).is_err() {
                    changes.remove(kind);
                    let comment = format!("Failed to change {kind} to {}", wanted.to_text());
                    return Ok(Outcome::failed(comment).with_changes(changes));
                }
            }
            // Again where the owner has changed: that clears setuid and setgid.
            let mode = self.owner.mode.or(seen.stat.as_ref().map(|stat| stat.mode));
            let is_link = seen.stat.as_ref().is_some_and(|stat| stat.kind == FileKind::Link);
            if changes.keys().any(|key| key.as_str().is_some_and(|key| !matches!(key, "attrs" | "selinux")))
                && !is_link
                && ctx.host.set(path, Attributes { mode, ..Attributes::default() }).is_err()
            {
                let mode = mode.map(super::shown).unwrap_or_default();
                return Ok(Outcome::failed(format!("Failed to change mode to {mode}")));
            }
        }
        let others = ["attrs", "selinux"].map(|key| changes.remove(key).is_some());
        // A file that is written anew has the context that its folder gives.
        if others.contains(&true) || (seen.writes && !self.selinux.is_empty()) {
            let (found, failures) = attributes(ctx, &seen.real, self.attrs.as_deref(), &self.selinux)?;
            changes.extend(found);
            if !failures.is_empty() {
                return Ok(Outcome::failed(failures).with_changes(changes));
            }
        }
        let comment = match changes.is_empty() {
            true => format!("File {} is in the correct state", self.name),
            false => format!("File {} updated", self.name),
        };
        Ok(Outcome::done(comment).with_changes(changes))
    }

    fn create(&self, ctx: &Ctx, seen: &Seen) -> Result<Outcome, Fault> {
        let folder = paths::folder_of(&seen.real);
        let mut above = folder_at(ctx, &folder);
        if above.is_none() {
            if !self.makedirs {
                return Ok(Outcome::failed("Parent directory not present"));
            }
            let owner = self.owner.with_mode(self.dir_mode.or_else(|| self.owner.mode.map(with_entry)));
            made_above(ctx, &seen.real, &owner)?;
            above = folder_at(ctx, &folder);
        }
        let before = self.begins_with(ctx, above);
        let bytes = self.content.as_ref().map_or(&[][..], |content| &content.bytes);
        if let Err(error) = ctx.host.write(Path::new(&seen.real), bytes, self.owner.attributes()) {
            return Ok(Outcome::failed(format!("Failed to commit change: {error}: {}", seen.real)));
        }
        let mut changes = match (&self.content, self.shows_new) {
            (None, _) => single("new", format!("file {} created", self.name)),
            (Some(content), true) => Self::shown_new(ctx, content),
            (Some(_), false) => single("diff", "New file"),
        };
        let stat = ctx.host.stat(Path::new(&seen.real)).map_err(|error| super::fault(&self.name, &error))?;
        changes.extend(self.owner.with_mode(Some(stat.mode)).differences(&before));
        if self.attrs.is_some() || !self.selinux.is_empty() {
            changes.extend(attributes(ctx, &seen.real, self.attrs.as_deref(), &self.selinux)?.0);
        }
        let comment = match self.content {
            None => "Empty file".to_owned(),
            Some(_) => format!("File {} updated", self.name),
        };
        Ok(Outcome::done(comment).with_changes(changes))
    }

    /// What a new file of this process begins with, before it gets owner and mode: what Salt names as changes are the
    /// differences to that.
    fn begins_with(&self, ctx: &Ctx, above: Option<Stat>) -> Stat {
        let own = ctx.host.stat(Path::new("/proc/self"));
        let (uid, gid) = own.map_or((0, 0), |own| (own.uid, own.gid));
        let inherited = above.filter(|above| above.mode & 0o2000 != 0).map(|above| above.gid);
        let is_source = self.content.as_ref().is_some_and(|content| content.origin == Origin::Source);
        let mode = if is_source || self.owner.mode.is_some() { 0o600 } else { 0o666 & !ctx.host.umask() };
        Stat {
            kind: FileKind::File,
            mode,
            uid,
            gid: inherited.unwrap_or(gid),
            size: 0,
            modified: ctx.host.now(),
            accessed: ctx.host.now(),
            changed: ctx.host.now(),
            inode: 0,
            device: 0,
            links: 1,
            node: (0, 0),
            target: None,
        }
    }
}

/// What a path leads to, where that is a folder.
fn folder_at(ctx: &Ctx, path: &str) -> Option<Stat> {
    paths::followed(ctx.host, Path::new(path)).ok().filter(|stat| stat.kind == FileKind::Folder)
}

/// The mode of a folder for a file with this mode: who may do anything with the file may enter.
pub fn with_entry(mode: u32) -> u32 {
    let digits = [6, 3, 0].into_iter().map(|shift| (mode >> shift & 7, shift));
    digits.filter(|(bits, _)| *bits != 0).map(|(bits, shift)| (bits | 1) << shift).sum()
}

fn with_test(mut opts: Map) -> Map {
    opts.insert("test", true);
    opts
}

/// Makes the attributes of a file and its SELinux context those that are wanted: what has changed, and what has failed.
fn attributes(ctx: &Ctx, path: &str, wanted: Option<&str>, selinux: &SelinuxContext) -> Result<(Map, String), Fault> {
    let arguments = Arguments::positional([path]).with("ret", ()).with("user", ()).with("group", ()).with("mode", ());
    let mut arguments = arguments.with("attrs", wanted.map(Value::from));
    let parts =
        [("seuser", &selinux.user), ("serole", &selinux.role), ("setype", &selinux.kind), ("serange", &selinux.range)];
    for (name, part) in parts {
        arguments = arguments.with(name, part.clone());
    }
    let answer = ctx.run("file.check_perms", arguments)?;
    let ret = answer.as_list().and_then(<[Value]>::first).cloned().unwrap_or_default();
    let changes = ret.at("changes").and_then(Value::as_map).cloned().unwrap_or_default();
    let failed = ret.at("result") == Some(&Value::Bool(false));
    Ok((changes, if failed { ret.at("comment").map(Value::to_text).unwrap_or_default() } else { String::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::fake::Fake;

    fn wanted(setype: &str) -> Arguments {
        let arguments = Arguments::default().with("name", "/etc/app.conf").with("contents", "a");
        arguments.with("selinux", Map::from_iter([("setype", setype)]))
    }

    #[test]
    fn a_file_gets_the_context_that_selinux_should_know() {
        let host = Fake::new().file("/etc/app.conf", "a\n");
        let host = host.answers(["stat", "-c", "%C", "/etc/app.conf"], "system_u:object_r:etc_t:s0\n");
        let host = host.answers(["chcon", "-t", "httpd_config_t", "/etc/app.conf"], "");
        let policy = ["semanage", "fcontext", "--add", "--type", "httpd_config_t", "/etc/app.conf"];
        let world = World::on(host.answers(policy, ""));
        let (same, _) = both(&world, planned(&world, "file.managed", wanted("etc_t")));
        assert_eq!(same.comment, "The file /etc/app.conf is in the correct state");
        let (would, done) = both(&world, planned(&world, "file.managed", wanted("httpd_config_t")));
        assert_eq!(would.changes.at("selinux").unwrap().to_json(), r#"{"type": "httpd_config_t"}"#);
        // On this host stat(1) shows the old context whatever is done, and that is told.
        assert!(done.comment.ends_with("Unable to update setype context"), "{}", done.comment);
        let ran = world.host.ran();
        assert!(ran.iter().any(|command| command.argv.first().is_some_and(|word| word == "chcon")), "{ran:?}");
    }

    #[test]
    fn a_context_that_is_no_map_is_refused() {
        let world = World::on(Fake::new());
        let words = Arguments::default().with("name", "/f").with("selinux", "etc_t");
        let (_, done) = both(&world, planned(&world, "file.managed", words));
        assert_eq!(done.comment, "selinux must be a map of seuser, serole, setype and serange");
    }
}
