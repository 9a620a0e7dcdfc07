//! What there is at a path: kind, size, times, links, file system.

use super::absolute;
use halite_core::host::{Access as Wish, FileKind, Stat};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_file::access::{group_name, user_name};
use halite_file::sum::of_file;
use halite_file::{refused, shown_mode, stat};
use halite_value::record;
use halite_value::{Map, Value};
use std::collections::HashSet;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970.
pub(super) fn seconds(time: SystemTime) -> f64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_secs() as f64 + 1e-9 * f64::from(since.subsec_nanos()),
        Err(before) => -before.duration().as_secs_f64(),
    }
}

fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "dir",
        FileKind::Link => "link",
        FileKind::Fifo => "pipe",
        FileKind::Socket => "socket",
        FileKind::CharDevice => "char",
        FileKind::BlockDevice => "block",
    }
}

/// The mode with the bits that say what it is, as stat(2) has it.
fn whole_mode(stat: &Stat) -> u32 {
    let kind = match stat.kind {
        FileKind::Fifo => 0o010_000,
        FileKind::CharDevice => 0o020_000,
        FileKind::Directory => 0o040_000,
        FileKind::BlockDevice => 0o060_000,
        FileKind::File => 0o100_000,
        FileKind::Link => 0o120_000,
        FileKind::Socket => 0o140_000,
    };
    kind | stat.mode
}

record! {
    /// Shows whether there is a file, links followed.
    ///
    ///   salt '*' file.file_exists /etc/passwd
    pub struct FileExists {
        /// The path.
        path: String,
    }
}

impl Run for FileExists {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(paths::is_file(ctx.host, &paths::expand_user(ctx.host, &self.path)).into())
    }
}

record! {
    /// Shows whether there is a directory, links followed.
    ///
    ///   salt '*' file.directory_exists /etc
    pub struct DirectoryExists {
        /// The path.
        path: String,
    }
}

impl Run for DirectoryExists {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(paths::is_directory(ctx.host, &paths::expand_user(ctx.host, &self.path)).into())
    }
}

record! {
    /// Shows owner, mode, size, times and kind of what is at a path.
    ///
    ///   salt '*' file.stats /etc/passwd
    pub struct Stats {
        /// The path.
        path: String,
        /// Also show a digest of this kind.
        hash_type: Option<String> = (),
        /// Whether a link is followed.
        follow_symlinks: bool = true,
    }
}

impl Run for Stats {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let stat = stat(ctx.host, &path, self.follow_symlinks)?;
        let mut shown = Map::from_iter([
            ("inode", Value::from(stat.inode)),
            ("uid", stat.uid.into()),
            ("gid", stat.gid.into()),
            ("group", group_name(ctx.host, stat.gid)),
            ("user", user_name(ctx.host, stat.uid)),
            ("atime", seconds(stat.accessed).into()),
            ("mtime", seconds(stat.modified).into()),
            ("ctime", seconds(stat.changed).into()),
            ("size", stat.size.into()),
            ("mode", shown_mode(stat.mode).into()),
        ]);
        if let Some(kind) = self.hash_type.filter(|kind| !kind.is_empty()) {
            shown.insert("sum", of_file(ctx.host, &path, &kind)?);
        }
        shown.insert("type", kind(stat.kind));
        let target = match self.follow_symlinks {
            true => paths::real(ctx.host, &path),
            false => paths::normal(&path),
        };
        shown.insert("target", target);
        Ok(shown.into())
    }
}

record! {
    /// Shows what lstat(2) says of a path; nothing where there is none.
    ///
    ///   salt '*' file.lstat /etc/passwd
    pub struct Lstat {
        /// The path, absolute.
        path: String,
    }
}

impl Run for Lstat {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = absolute(ctx, &self.path, "Path to file must be absolute.")?;
        let Ok(stat) = ctx.host.stat(Path::new(&path)) else { return Ok(Map::new().into()) };
        let shown = [
            ("st_atime", Value::from(seconds(stat.accessed))),
            ("st_ctime", seconds(stat.changed).into()),
            ("st_gid", stat.gid.into()),
            ("st_mode", whole_mode(&stat).into()),
            ("st_mtime", seconds(stat.modified).into()),
            ("st_nlink", stat.links.into()),
            ("st_size", stat.size.into()),
            ("st_uid", stat.uid.into()),
        ];
        Ok(Map::from_iter(shown).into())
    }
}

record! {
    /// Shows whether the minion may use a file in some way.
    ///
    ///   salt '*' file.access /etc/passwd r
    pub struct Access {
        /// The path, absolute.
        path: String,
        /// `f`: it is there, `r`: read, `w`: write, `x`: execute; or the number that access(2) has for it.
        mode: Value,
    }
}

impl Run for Access {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = absolute(ctx, &self.path, "Path to link must be absolute.")?;
        let wish = match self.mode.to_text().as_str() {
            "f" | "0" => Wish::Exist,
            "r" | "4" => Wish::Read,
            "w" | "2" => Wish::Write,
            "x" | "1" => Wish::Execute,
            _ => return Err(Fault::invocation("Invalid mode specified.")),
        };
        Ok(ctx.host.may(Path::new(&path), wish).into())
    }
}

record! {
    /// Shows whether a file has more names than this one.
    ///
    ///   salt '*' file.is_hardlink /etc/passwd
    pub struct IsHardlink {
        /// The path, absolute.
        path: String,
    }
}

impl Run for IsHardlink {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = absolute(ctx, &self.path, "Path to file must be absolute.")?;
        match ctx.host.stat(Path::new(&path)) {
            Ok(stat) => Ok((stat.links > 1).into()),
            Err(_) => Ok(Map::new().into()),
        }
    }
}

record! {
    /// Shows whether a path is a symbolic link.
    ///
    ///   salt '*' file.is_link /etc/mtab
    pub struct IsLink {
        /// The path.
        path: String,
        /// Taken, not used: nothing is opened to find it out.
        nostat: bool = false,
    }
}

impl Run for IsLink {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(paths::is_link(ctx.host, &paths::expand_user(ctx.host, &self.path)).into())
    }
}

record! {
    /// Shows where a link points to.
    ///
    ///   salt '*' file.readlink /etc/mtab
    pub struct Readlink {
        /// The link's path, absolute. Variables of the environment (`$HOME`) are resolved.
        path: String,
        /// Follow it to its end and show a path without links.
        canonicalize: bool = false,
    }
}

impl Run for Readlink {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = with_variables(ctx, &paths::expand_user(ctx.host, &self.path));
        if !path.starts_with('/') {
            return Err(Fault::invocation(format!("Path to link must be absolute: {path}")));
        }
        let target = ctx.host.stat(Path::new(&path)).ok().and_then(|stat| stat.target);
        let Some(target) = target else {
            return Err(Fault::invocation(format!("A valid link was not specified: {path}")));
        };
        match self.canonicalize {
            true => Ok(paths::real(ctx.host, &path).into()),
            false => Ok(target.to_string_lossy().into_owned().into()),
        }
    }
}

/// `$NAME` and `${NAME}` are the environment's; a name that is not set stays as it is written.
fn with_variables(ctx: &Ctx, path: &str) -> String {
    let mut whole = String::new();
    let mut rest = path;
    while let Some(at) = rest.find('$') {
        whole.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let (name, length) = match behind.strip_prefix('{') {
            Some(inner) => match inner.find('}') {
                Some(end) => (&inner[..end], end + 2),
                None => ("", 0),
            },
            None => {
                let end = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(behind.len());
                (&behind[..end], end)
            }
        };
        match ctx.host.env(name).filter(|_| !name.is_empty()) {
            Some(value) => whole.push_str(&value),
            None => whole.push_str(&rest[at..at + 1 + length]),
        }
        rest = &behind[length..];
    }
    whole + rest
}

record! {
    /// Lists a directory: `.`, `..` and what is in it.
    ///
    ///   salt '*' file.readdir /etc/cron.d
    pub struct Readdir {
        /// The path, absolute.
        path: String,
    }
}

impl Run for Readdir {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = absolute(ctx, &self.path, "Dir path must be absolute.")?;
        if !paths::is_directory(ctx.host, &path) {
            return Err(Fault::invocation(format!("A valid directory was not specified: {path}")));
        }
        let listed = ctx.host.list(Path::new(&path)).map_err(|error| refused(&path, &error))?;
        let dots = [".", ".."].map(str::to_owned);
        Ok(dots.into_iter().chain(listed).map(Value::from).collect::<Vec<Value>>().into())
    }
}

record! {
    /// Shows what statvfs(3) says of the file system that a path is on.
    ///
    ///   salt '*' file.statvfs /var
    pub struct Statvfs {
        /// The path, absolute.
        path: String,
    }
}

impl Run for Statvfs {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = absolute(ctx, &self.path, "File path must be absolute.")?;
        let told = ctx.host.file_system(Path::new(&path));
        let told = told.map_err(|_| Fault::execution(format!("Could not statvfs '{path}'")))?;
        let shown = [
            ("f_bavail", told.blocks_available),
            ("f_bfree", told.blocks_free),
            ("f_blocks", told.blocks),
            ("f_bsize", told.block_size),
            ("f_favail", told.files_available),
            ("f_ffree", told.files_free),
            ("f_files", told.files),
            ("f_flag", told.flags),
            ("f_frsize", told.fragment_size),
            ("f_namemax", told.name_max),
        ];
        Ok(Map::from_iter(shown).into())
    }
}

record! {
    /// Shows how many bytes the files below a path have; one with several names counts once.
    ///
    ///   salt '*' file.diskusage /var/log
    pub struct Diskusage {
        /// The path of a directory, or of a file.
        path: String,
    }
}

impl Run for Diskusage {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = Path::new(&self.path);
        if let Ok(stat) = paths::followed(ctx.host, path)
            && stat.kind == FileKind::File
        {
            return Ok(stat.size.into());
        }
        let (mut total, mut seen) = (0, HashSet::new());
        add_up(ctx, path, &mut total, &mut seen)?;
        Ok(total.into())
    }
}

fn add_up(ctx: &Ctx, directory: &Path, total: &mut u64, seen: &mut HashSet<u64>) -> Result<(), Fault> {
    if ctx.is_cancelled() {
        return Err(Fault::Cancelled);
    }
    for name in ctx.host.list(directory).unwrap_or_default() {
        let path = directory.join(name);
        let Ok(stat) = paths::followed(ctx.host, &path) else { continue };
        match stat.kind {
            FileKind::Directory if ctx.host.stat(&path).is_ok_and(|own| own.kind == FileKind::Directory) => {
                add_up(ctx, &path, total, seen)?;
            }
            FileKind::Directory => {}
            _ if seen.insert(stat.inode) => *total += stat.size,
            _ => {}
        }
    }
    Ok(())
}
