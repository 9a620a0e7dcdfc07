//! Which new keys are accepted or rejected without an admin: `autosign_file`, `autoreject_file`, the grains in
//! `autosign_grains_dir`, and the one-time permissions in `pki_dir/minions_autosign`.

use super::trust::Listed;
use halite_lang::regex::Regex;
use halite_lang::target::fnmatch::Pattern;
use halite_value::{Map, Value};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The rules, as the configuration names them. Files are read again when they have changed: what asks may block.
#[derive(Debug)]
pub struct Autosign {
    sign: Rules,
    reject: Rules,
    /// Files in it are named by a grain, and hold values that let in.
    grains: Option<PathBuf>,
    /// Files in it are named by the id that may come once.
    directory: PathBuf,
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
    /// When the file had changed last when it was read, and its lines.
    read: Mutex<Option<(SystemTime, Vec<String>)>>,
}

impl Autosign {
    /// The rules of a master's configuration. `groups` are those of the user that it runs as.
    pub fn new(config: &Map, pki_dir: &Path, groups: Vec<u32>) -> Autosign {
        let path = |name: &str| config.str_at(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let file = |name: &str| Rules { path: path(name), read: Mutex::default() };
        let minutes = config.at("autosign_timeout").and_then(Value::as_int).unwrap_or(120);
        Autosign {
            sign: file("autosign_file"),
            reject: file("autoreject_file"),
            grains: path("autosign_grains_dir"),
            directory: pki_dir.join("minions_autosign"),
            lifetime: u64::try_from(minutes).ok().filter(|minutes| *minutes > 0).map(|m| Duration::from_secs(m * 60)),
            access: Access {
                group: config.at("permissive_pki_access").is_some_and(Value::truthy),
                groups,
                uid: rustix::process::geteuid().as_raw(),
            },
        }
    }

    /// Judges an id, which comes with some grains, at a moment. A rejection weighs more; a permission to come once is
    /// used up.
    pub fn judge(&self, id: &str, grains: &Map, now: SystemTime) -> Listed {
        if self.reject.hold(id, &self.access) {
            return Listed::Reject;
        }
        if self.sign.hold(id, &self.access) || self.grains_let_in(grains) || self.permitted_once(id, now) {
            return Listed::Sign;
        }
        Listed::Nothing
    }

    fn grains_let_in(&self, grains: &Map) -> bool {
        let Some(directory) = &self.grains else { return false };
        grains.iter().any(|(grain, value)| {
            let Some(name) = grain.as_str().filter(|name| halite_keys::store::valid_id(name)) else { return false };
            let value = value.to_text();
            self.access.lines(&directory.join(name)).is_some_and(|lines| lines.contains(&value))
        })
    }

    fn permitted_once(&self, id: &str, now: SystemTime) -> bool {
        self.expire(now);
        halite_keys::store::valid_id(id) && fs::remove_file(self.directory.join(id)).is_ok()
    }

    fn expire(&self, now: SystemTime) {
        let Some(lifetime) = self.lifetime else { return };
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
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
    fn hold(&self, id: &str, access: &Access) -> bool {
        let Some(path) = &self.path else { return false };
        let modified = fs::metadata(path).and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.as_ref().is_none_or(|(before, _)| *before != modified) {
            *read = access.lines(path).map(|lines| (modified, lines));
        }
        read.iter().flat_map(|(_, lines)| lines).any(|line| fits(line, id))
    }
}

impl Access {
    /// The lines of a file that may decide; nothing where there is none, or others may write to it.
    fn lines(&self, path: &Path) -> Option<Vec<String>> {
        let read = fs::metadata(path).and_then(|meta| Ok((meta, fs::read_to_string(path)?)));
        match read {
            Ok((meta, text)) if self.allows(&meta) => {
                let lines = text.lines().map(str::trim);
                Some(lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect())
            }
            Ok(_) => {
                log::warn!("{}: others may write to it, so it does not count (chmod go-w)", path.display());
                None
            }
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    log::warn!("{}: {error}", path.display());
                }
                None
            }
        }
    }

    /// Nobody else may write to a file that decides who is let in.
    fn allows(&self, meta: &Metadata) -> bool {
        let mode = meta.mode();
        let by_group = mode & 0o020 == 0 || self.group && (self.uid != 0 || self.groups.contains(&meta.gid()));
        mode & 0o002 == 0 && by_group
    }
}

fn fits(rule: &str, id: &str) -> bool {
    let regex = || Regex::new(rule).is_ok_and(|regex| regex.full_match(id).is_ok_and(|found| found.is_some()));
    rule == id || Pattern::new(rule).matches(id) || regex()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Directory {
            let path = std::env::temp_dir().join(format!("halite-autosign-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Directory(path)
        }

        fn write(&self, name: &str, text: &str, mode: u32) -> String {
            let path = self.0.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path.to_string_lossy().into_owned()
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn rules_are_ids_globs_and_regular_expressions() {
        let directory = Directory::new("rules");
        let sign = directory.write("sign", "# comment\nweb1\ndb*\n\n app[0-9]+\\.x\n(", 0o644);
        let reject = directory.write("reject", "db9\n", 0o600);
        let config = Map::from_iter([("autosign_file", sign), ("autoreject_file", reject)]);
        let rules = Autosign::new(&config, &directory.0, vec![]);
        for (id, verdict) in [
            ("web1", Listed::Sign),
            ("web12", Listed::Nothing),
            ("db1", Listed::Sign),
            ("db9", Listed::Reject),
            ("app12.x", Listed::Sign),
            ("app12.xy", Listed::Nothing),
            ("# comment", Listed::Nothing),
        ] {
            assert_eq!(rules.judge(id, &Map::new(), SystemTime::now()), verdict, "{id}");
        }
    }

    #[test]
    fn a_file_that_others_can_write_does_not_count() {
        let directory = Directory::new("modes");
        for (mode, permissive, groups, verdict) in [
            (0o600, false, vec![], Listed::Sign),
            (0o602, true, vec![], Listed::Nothing),
            (0o620, false, vec![], Listed::Nothing),
            (0o622, true, vec![], Listed::Nothing),
        ] {
            let sign = directory.write("sign", "*", mode);
            let mut config = Map::from_iter([("autosign_file", sign)]);
            config.insert("permissive_pki_access", permissive);
            let rules = Autosign::new(&config, &directory.0, groups);
            assert_eq!(rules.judge("web1", &Map::new(), SystemTime::now()), verdict, "{mode:o} {permissive}");
        }
        let sign = directory.write("sign", "*", 0o620);
        let group = fs::metadata(&sign).unwrap().gid();
        let mut config = Map::from_iter([("autosign_file", sign)]);
        config.insert("permissive_pki_access", true);
        let rules = Autosign::new(&config, &directory.0, vec![group]);
        assert_eq!(rules.judge("web1", &Map::new(), SystemTime::now()), Listed::Sign);
    }

    #[test]
    fn a_permission_counts_once_and_not_for_ever() {
        let directory = Directory::new("once");
        fs::create_dir(directory.0.join("minions_autosign")).unwrap();
        directory.write("minions_autosign/web1", "", 0o600);
        directory.write("minions_autosign/web2", "", 0o600);
        let rules = Autosign::new(&Map::new(), &directory.0, vec![]);
        let now = SystemTime::now();
        assert_eq!(rules.judge("web1", &Map::new(), now), Listed::Sign);
        assert_eq!(rules.judge("web1", &Map::new(), now), Listed::Nothing);
        assert_eq!(rules.judge("../sign", &Map::new(), now), Listed::Nothing);
        assert_eq!(rules.judge("web2", &Map::new(), now + Duration::from_secs(121 * 60)), Listed::Nothing);
        assert!(!directory.0.join("minions_autosign/web2").exists());
    }

    #[test]
    fn a_grain_lets_in_by_its_value() {
        let directory = Directory::new("grains");
        directory.write("serial", "# of our hosts\n4711\nabc\n", 0o600);
        directory.write("loose", "x\n", 0o622);
        let config = Map::from_iter([("autosign_grains_dir", directory.0.to_string_lossy().into_owned())]);
        let rules = Autosign::new(&config, &directory.0, vec![]);
        for (grain, value, listed) in [
            ("serial", Value::from(4711), Listed::Sign),
            ("serial", Value::from("abc"), Listed::Sign),
            ("serial", Value::from("ab"), Listed::Nothing),
            ("serial", Value::from("# of our hosts"), Listed::Nothing),
            ("loose", Value::from("x"), Listed::Nothing),
            ("../grains", Value::from("x"), Listed::Nothing),
        ] {
            let grains = Map::from_iter([(grain, value)]);
            assert_eq!(rules.judge("web1", &grains, SystemTime::now()), listed, "{grains:?}");
        }
    }
}
