//! The copies that `backup: minion` keeps of files, below `cachedir/file_backup`.

use halite_core::host::{Attributes, FileKind};
use halite_core::module::Run;
use halite_core::{Ctx, Reply, paths};
use halite_file::backup::{IN_NAME, directory, keep};
use halite_file::content::{Part, put};
use halite_file::in_python_words;
use halite_value::record;
use halite_value::{Map, Value};
use jiff::civil::DateTime;
use std::path::{Path, PathBuf};

/// A copy of a file.
struct Backup {
    time: DateTime,
    location: PathBuf,
    size: u64,
}

impl Backup {
    fn shown(&self) -> Value {
        let time = self.time.strftime("%a %b %d %Y %H:%M:%S.%6f").to_string();
        let shown = [
            ("Backup Time", Value::from(time)),
            ("Size", self.size.into()),
            ("Location", self.location.to_string_lossy().into_owned().into()),
        ];
        Map::from_iter(shown).into()
    }
}

/// The copies of a file, the latest one first.
fn of(ctx: &Ctx, directory: &Path, name: &str) -> Vec<Backup> {
    let mut found = Vec::new();
    for entry in ctx.host.list(directory).unwrap_or_default() {
        let stamp = entry.strip_prefix(name).and_then(|rest| rest.strip_prefix('_'));
        let Some(time) = stamp.and_then(|stamp| DateTime::strptime(IN_NAME, stamp).ok()) else { continue };
        let location = directory.join(&entry);
        if let Ok(stat) = ctx.host.stat(&location)
            && stat.kind == FileKind::File
        {
            found.push(Backup { time, location, size: stat.size });
        }
    }
    found.sort_by_key(|backup| std::cmp::Reverse(backup.time));
    found
}

/// A limit that is no number is none.
fn limited(limit: &Value, backups: Vec<Backup>) -> Map {
    let most = limit.to_text().parse::<usize>().unwrap_or(usize::MAX);
    backups.iter().take(most).enumerate().map(|(at, backup)| (Value::from(at), backup.shown())).collect()
}

record! {
    /// Lists the copies that were kept of a file, the latest one first.
    ///
    ///   salt '*' file.list_backups /foo/bar/baz.txt
    ///   salt '*' file.list_backup /foo/bar/baz.txt
    pub struct ListBackups {
        /// The path.
        path: String,
        /// How many at most.
        limit: Value = (),
    }
}

impl Run for ListBackups {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        Ok(limited(&self.limit, of(ctx, &directory(ctx, &path), paths::name_of(&path))).into())
    }
}

record! {
    /// Lists the copies that were kept of the files of a directory, by the beginnings of their names.
    ///
    ///   salt '*' file.list_backups_dir /foo/bar/
    pub struct ListBackupsDir {
        /// The path of the directory, with a slash at its end.
        path: String,
        /// How many of each at most.
        limit: Value = (),
    }
}

impl Run for ListBackupsDir {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let directory = directory(ctx, &path);
        let mut names: Vec<String> = ctx.host.list(&directory).unwrap_or_default();
        names.iter_mut().for_each(|name| name.truncate(name.find('_').unwrap_or(name.len())));
        names.dedup();
        let shown = names.into_iter().map(|name| {
            let backups = limited(&self.limit, of(ctx, &directory, &name));
            (name, backups)
        });
        Ok(shown.collect::<Map>().into())
    }
}

record! {
    /// Puts a copy that was kept of a file in its place. The file as it is becomes a copy itself.
    ///
    ///   salt '*' file.restore_backup /foo/bar/baz.txt 0
    pub struct RestoreBackup {
        /// The path.
        path: String,
        /// Its number in `file.list_backups`.
        backup_id: Value,
    }
}

impl Run for RestoreBackup {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let backup = match numbered(ctx, &path, &self.backup_id) {
            Ok(backup) => backup,
            Err(comment) => return Ok(told(false, comment)),
        };
        keep(ctx, &path)?;
        let location = backup.location.to_string_lossy();
        let restored = put(ctx.host, Part::At(&location), None, Path::new(&path), Attributes::default());
        Ok(match restored {
            Ok(()) => told(true, format!("Successfully restored {location} to {path}")),
            Err(error) => {
                told(false, format!("Unable to restore {location} to {path}: {}", in_python_words(&path, &error)))
            }
        })
    }
}

record! {
    /// Removes a copy that was kept of a file.
    ///
    ///   salt '*' file.delete_backup /var/cache/salt/minion/file_backup/home/foo/bar/baz.txt 0
    ///   salt '*' file.remove_backup /foo/bar/baz.txt 0
    pub struct DeleteBackup {
        /// The path.
        path: String,
        /// Its number in `file.list_backups`.
        backup_id: Value,
    }
}

impl Run for DeleteBackup {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let backup = match numbered(ctx, &path, &self.backup_id) {
            Ok(backup) => backup,
            Err(comment) => return Ok(told(false, comment)),
        };
        let location = backup.location.to_string_lossy().into_owned();
        Ok(match ctx.host.remove(&backup.location) {
            Ok(()) => told(true, format!("Successfully removed {location}")),
            Err(error) => told(false, format!("Unable to remove {location}: {}", in_python_words(&location, &error))),
        })
    }
}

fn told(result: bool, comment: String) -> halite_core::Returned {
    Map::from_iter([("result", Value::from(result)), ("comment", comment.into())]).into()
}

fn numbered(ctx: &Ctx, path: &str, id: &Value) -> Result<Backup, String> {
    let text = id.to_text();
    let number = text.parse::<i64>().ok().filter(|number| number.to_string().len() == text.len());
    let Some(number) = number else { return Err(format!("Invalid backup_id '{text}'")) };
    let mut backups = of(ctx, &directory(ctx, path), paths::name_of(path));
    match usize::try_from(number).ok().filter(|number| *number < backups.len()) {
        Some(number) => Ok(backups.swap_remove(number)),
        None => Err(format!("backup_id '{text}' does not exist for {path}")),
    }
}
