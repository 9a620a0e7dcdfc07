//! The copies that `backup: minion` keeps of files, below `cachedir/file_backup`.

use super::content::{Part, put};
use super::refused;
use halite_core::host::{Attributes, Host};
use halite_core::{Ctx, Fault, paths};
use std::path::{Path, PathBuf};

/// How the time stands in a copy's name when it is read.
pub const IN_NAME: &str = "%a_%b_%d_%H:%M:%S_%f_%Y";

/// Keeps a copy of a file as it is now, owned and moded as it.
pub fn keep(ctx: &Ctx, path: &str) -> Result<(), Fault> {
    let directory = directory(ctx, path);
    let refused = |error: &std::io::Error| refused(path, error);
    match ctx.host.open(Path::new(path)) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(refused(&error)),
    }
    let stat = paths::followed(ctx.host, Path::new(path)).map_err(|error| refused(&error))?;
    make_private(ctx.host, &directory).map_err(|error| refused(&error))?;
    let now = jiff::Timestamp::try_from(ctx.host.now()).map_err(|error| Fault::Internal(error.to_string()))?;
    let now = jiff::tz::TimeZone::system().to_datetime(now);
    let name = format!("{}_{}", paths::name_of(path), now.strftime("%a_%b_%d_%H:%M:%S_%6f_%Y"));
    let attributes = Attributes { mode: Some(stat.mode), uid: Some(stat.uid), gid: Some(stat.gid) };
    put(ctx.host, Part::At(path), None, &directory.join(name), attributes).map_err(|error| refused(&error))
}

/// Directories of copies are for the minion's account alone: the files may be secret.
fn make_private(host: &dyn Host, directory: &Path) -> std::io::Result<()> {
    if host.stat(directory).is_ok() {
        return Ok(());
    }
    if let Some(above) = directory.parent() {
        make_private(host, above)?;
    }
    host.make_directory(directory, 0o700)
}

/// The directory with the copies of the files of a directory.
pub fn directory(ctx: &Ctx, path: &str) -> PathBuf {
    let cachedir = ctx.opts.str_at("cachedir").unwrap_or("/var/cache/salt/minion");
    Path::new(cachedir).join("file_backup").join(paths::directory_of(path).trim_start_matches('/'))
}
