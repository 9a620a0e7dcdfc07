//! Which new keys are accepted or rejected without an admin: `autosign_file`, `autoreject_file`, and the one-time
//! permissions in `pki_dir/minions_autosign`.

use crate::exec::regex::Regex;
use crate::exec::target::fnmatch::Pattern;
use crate::wire::value::{Map, Value};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What the rules say of an id that nobody knows yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accept,
    Reject,
    /// No rule: an admin decides.
    Wait,
}

/// The rules, as the configuration names them. Files are read again when they have changed.
#[derive(Debug)]
pub struct Autosign {
    sign: Rules,
    reject: Rules,
    /// Files in it are named by the id that may come once.
    folder: PathBuf,
    /// How long such a file counts; nothing: for ever.
    lifetime: Option<Duration>,
    access: Access,
}

/// Who may have written a file of rules.
#[derive(Clone, Debug)]
struct Access {
    /// `permissive_pki_access`: members of the master's groups, too.
    group: bool,
    /// The groups of the user that the master runs as.
    groups: Vec<u32>,
    uid: u32,
}

#[derive(Debug, Default)]
struct Rules {
    path: Option<PathBuf>,
    read: Option<(SystemTime, Vec<String>)>,
}

impl Autosign {
    /// The rules of a master's configuration. `groups` are those of the user that it runs as.
    pub fn new(config: &Map, pki_dir: &Path, groups: Vec<u32>) -> Autosign {
        let file = |name: &str| Rules {
            path: config.str_at(name).filter(|path| !path.is_empty()).map(PathBuf::from),
            read: None,
        };
        let minutes = config.at("autosign_timeout").and_then(Value::as_int).unwrap_or(120);
        Autosign {
            sign: file("autosign_file"),
            reject: file("autoreject_file"),
            folder: pki_dir.join("minions_autosign"),
            lifetime: u64::try_from(minutes).ok().filter(|minutes| *minutes > 0).map(|m| Duration::from_secs(m * 60)),
            access: Access {
                group: config.at("permissive_pki_access").is_some_and(Value::truthy),
                groups,
                uid: rustix::process::geteuid().as_raw(),
            },
        }
    }

    /// Judges an id at a moment. A rejection weighs more; a permission to come once is used up.
    pub fn verdict(&mut self, id: &str, now: SystemTime) -> Verdict {
        if self.reject.hold(id, &self.access) {
            return Verdict::Reject;
        }
        if self.sign.hold(id, &self.access) || self.permitted_once(id, now) {
            return Verdict::Accept;
        }
        Verdict::Wait
    }

    fn permitted_once(&self, id: &str, now: SystemTime) -> bool {
        self.expire(now);
        crate::keys::store::valid_id(id) && fs::remove_file(self.folder.join(id)).is_ok()
    }

    fn expire(&self, now: SystemTime) {
        let Some(lifetime) = self.lifetime else { return };
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let modified = entry.metadata().and_then(|meta| meta.modified());
            let age = modified.ok().and_then(|modified| now.duration_since(modified).ok()).unwrap_or_default();
            if age > lifetime {
                log::warn!("the permission {} is too old and was removed", entry.path().display());
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

impl Rules {
    /// True when a line is the id, a glob that fits it or a regular expression that fits all of it.
    fn hold(&mut self, id: &str, access: &Access) -> bool {
        let Some(path) = &self.path else { return false };
        let meta = match fs::metadata(path) {
            Ok(meta) => meta,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    log::warn!("{}: {error}", path.display());
                }
                return false;
            }
        };
        if !access.allows(&meta) {
            log::warn!("{}: others may write to it, so it does not count (chmod go-w)", path.display());
            return false;
        }
        let modified = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        if self.read.as_ref().is_none_or(|(read, _)| *read != modified) {
            match fs::read_to_string(path) {
                Ok(text) => self.read = Some((modified, rules(&text))),
                Err(error) => {
                    log::warn!("{}: {error}", path.display());
                    return false;
                }
            }
        }
        self.read.iter().flat_map(|(_, lines)| lines).any(|line| fits(line, id))
    }
}

impl Access {
    /// Nobody else may write to a file that decides who is let in.
    fn allows(&self, meta: &Metadata) -> bool {
        let mode = meta.mode();
        let by_group = mode & 0o020 == 0 || self.group && (self.uid != 0 || self.groups.contains(&meta.gid()));
        mode & 0o002 == 0 && by_group
    }
}

fn rules(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

fn fits(rule: &str, id: &str) -> bool {
    let regex = || Regex::new(rule).is_ok_and(|regex| regex.full_match(id).is_ok_and(|found| found.is_some()));
    rule == id || Pattern::new(rule).matches(id) || regex()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("halite-autosign-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn write(&self, name: &str, text: &str, mode: u32) -> String {
            let path = self.0.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path.to_string_lossy().into_owned()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn rules_are_ids_globs_and_regular_expressions() {
        let folder = Folder::new("rules");
        let sign = folder.write("sign", "# comment\nweb1\ndb*\n\n app[0-9]+\\.x\n(", 0o644);
        let reject = folder.write("reject", "db9\n", 0o600);
        let config = Map::from_iter([("autosign_file", sign), ("autoreject_file", reject)]);
        let mut rules = Autosign::new(&config, &folder.0, vec![]);
        for (id, verdict) in [
            ("web1", Verdict::Accept),
            ("web12", Verdict::Wait),
            ("db1", Verdict::Accept),
            ("db9", Verdict::Reject),
            ("app12.x", Verdict::Accept),
            ("app12.xy", Verdict::Wait),
            ("# comment", Verdict::Wait),
        ] {
            assert_eq!(rules.verdict(id, SystemTime::now()), verdict, "{id}");
        }
    }

    #[test]
    fn a_file_that_others_can_write_does_not_count() {
        let folder = Folder::new("modes");
        for (mode, permissive, groups, verdict) in [
            (0o600, false, vec![], Verdict::Accept),
            (0o602, true, vec![], Verdict::Wait),
            (0o620, false, vec![], Verdict::Wait),
            (0o622, true, vec![], Verdict::Wait),
        ] {
            let sign = folder.write("sign", "*", mode);
            let mut config = Map::from_iter([("autosign_file", sign)]);
            config.insert("permissive_pki_access", permissive);
            let mut rules = Autosign::new(&config, &folder.0, groups);
            assert_eq!(rules.verdict("web1", SystemTime::now()), verdict, "{mode:o} {permissive}");
        }
        let sign = folder.write("sign", "*", 0o620);
        let group = fs::metadata(&sign).unwrap().gid();
        let mut config = Map::from_iter([("autosign_file", sign)]);
        config.insert("permissive_pki_access", true);
        let mut rules = Autosign::new(&config, &folder.0, vec![group]);
        assert_eq!(rules.verdict("web1", SystemTime::now()), Verdict::Accept);
    }

    #[test]
    fn a_permission_counts_once_and_not_for_ever() {
        let folder = Folder::new("once");
        fs::create_dir(folder.0.join("minions_autosign")).unwrap();
        folder.write("minions_autosign/web1", "", 0o600);
        folder.write("minions_autosign/web2", "", 0o600);
        let mut rules = Autosign::new(&Map::new(), &folder.0, vec![]);
        let now = SystemTime::now();
        assert_eq!(rules.verdict("web1", now), Verdict::Accept);
        assert_eq!(rules.verdict("web1", now), Verdict::Wait);
        assert_eq!(rules.verdict("../sign", now), Verdict::Wait);
        assert_eq!(rules.verdict("web2", now + Duration::from_secs(121 * 60)), Verdict::Wait);
        assert!(!folder.0.join("minions_autosign/web2").exists());
    }
}
