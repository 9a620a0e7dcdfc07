//! What is told of a file that is made what it should be: by `file.managed`, `file.recurse` and `file.serialize`.

use super::single;
use halite_core::state::Outcome;
use halite_core::{Ctx, Fault};
use halite_file::desired::{Above, Delta, Desired, Refusal};
use halite_file::owner::Owner;
use halite_value::Map;

/// What is there before anything is done.
pub struct Seen {
    delta: Delta,
    /// What test mode shows.
    pub changes: Map,
    /// Something has changed beyond what does not matter.
    matters: bool,
}

impl Seen {
    /// Compares the file with what it should be.
    pub fn of(desired: &Desired, ctx: &Ctx) -> Result<Seen, Fault> {
        let mut delta = desired.compare(ctx)?;
        let difference = delta.difference.take().unwrap_or_default();
        if delta.stat.is_none() {
            let changes = match &desired.body {
                Some(_) if desired.shows_new.is_some() => single("diff", difference.text),
                _ => single("newfile", desired.name.as_str()),
            };
            return Ok(Seen { delta, changes, matters: true });
        }
        let mut changes = Map::new();
        if delta.writes {
            let replaced = || "Replace symbolic link with regular file".to_owned();
            let shown = Some(difference.text).filter(|text| !text.is_empty() || !delta.replaces_link);
            changes.insert("diff", shown.unwrap_or_else(replaced));
        }
        changes.extend(delta.others.clone());
        let matters = desired.ignored.is_none() || (difference.counts && !delta.replaces_link);
        Ok(Seen { delta, changes, matters })
    }

    pub fn is_new(&self) -> bool {
        self.delta.stat.is_none()
    }

    /// Makes the file what it should be.
    pub fn make(self, ctx: &Ctx, desired: &Desired) -> Result<Outcome, Fault> {
        let outcome = self.made(ctx, desired)?;
        Ok(match !self.matters && !outcome.changes.is_empty() {
            true => outcome.with("skip_req", true),
            false => outcome,
        })
    }

    fn made(&self, ctx: &Ctx, desired: &Desired) -> Result<Outcome, Fault> {
        let mut changes = self.changes.clone();
        let applied = match self.delta.apply(ctx, desired)? {
            Ok(applied) => applied,
            Err(Refusal::NoDirectory) => return Ok(Outcome::failed("Parent directory not present")),
            Err(Refusal::Uncommitted { path, error }) => {
                return Ok(Outcome::failed(format!("Failed to commit change: {error}: {path}")));
            }
            Err(Refusal::Owner { kind, wanted }) => {
                changes.remove(kind);
                return Ok(Outcome::failed(format!("Failed to change {kind} to {wanted}")).with_changes(changes));
            }
            Err(Refusal::Mode(mode)) => {
                return Ok(Outcome::failed(format!("Failed to change mode to {}", super::shown(mode))));
            }
        };
        let name = &desired.name;
        if self.is_new() {
            let mut changes = match &desired.body {
                None => single("new", format!("file {name} created")),
                Some(_) if desired.shows_new.is_some() => changes,
                Some(_) => single("diff", "New file"),
            };
            changes.extend(applied.changes);
            let comment = match &desired.body {
                None => "Empty file".to_owned(),
                Some(_) => format!("File {name} updated"),
            };
            return Ok(Outcome::done(comment).with_changes(changes));
        }
        ["attrs", "selinux"].iter().for_each(|key| drop(changes.remove(key)));
        changes.extend(applied.changes);
        if !applied.failures.is_empty() {
            return Ok(Outcome::failed(applied.failures).with_changes(changes));
        }
        let comment = match changes.is_empty() {
            true => format!("File {name} is in the correct state"),
            false => format!("File {name} updated"),
        };
        Ok(Outcome::done(comment).with_changes(changes))
    }
}

/// Whose directories are that are made above a file, and their mode: the one that is given, else that of the file, with the
/// right to enter.
pub fn above(owner: &Owner, dir_mode: Option<u32>) -> Above {
    let [(_, user), (_, group), (_, mode)] = owner.with_mode(dir_mode.or_else(|| owner.mode.map(with_entry))).values();
    Above { user, group, mode }
}

/// The mode of a directory for a file with this mode: who may do anything with the file may enter.
pub fn with_entry(mode: u32) -> u32 {
    let digits = [6, 3, 0].into_iter().map(|shift| (mode >> shift & 7, shift));
    digits.filter(|(bits, _)| *bits != 0).map(|(bits, shift)| (bits | 1) << shift).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::fake::Fake;
    use halite_value::record::Arguments;

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
