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
    let folder = folder(ctx, path);
    let refused = |error: &std::io::Error| refused(path, error);
    match ctx.host.open(Path::new(path)) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(refused(&error)),
    }
    let stat = paths::followed(ctx.host, Path::new(path)).map_err(|error| refused(&error))?;
    make_private(ctx.host, &folder).map_err(|error| refused(&error))?;
    let now = jiff::Timestamp::try_from(ctx.host.now()).map_err(|error| Fault::Internal(error.to_string()))?;
    let now = jiff::tz::TimeZone::system().to_datetime(now);
    let name = format!("{}_{}", paths::name_of(path), now.strftime("%a_%b_%d_%H:%M:%S_%6f_%Y"));
    let attributes = Attributes { mode: Some(stat.mode), uid: Some(stat.uid), gid: Some(stat.gid) };
    put(ctx.host, Part::At(path), None, &folder.join(name), attributes).map_err(|error| refused(&error))
}

/// Folders of copies are for the minion's account alone: the files may be secret.
fn make_private(host: &dyn Host, folder: &Path) -> std::io::Result<()> {
    if host.stat(folder).is_ok() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        make_private(host, above)?;
    }
    host.make_folder(folder, 0o700)
}

/// The folder with the copies of the files of a folder.
pub fn folder(ctx: &Ctx, path: &str) -> PathBuf {
    let cachedir = ctx.opts.str_at("cachedir").unwrap_or("/var/cache/salt/minion");
    Path::new(cachedir).join("file_backup").join(paths::folder_of(path).trim_start_matches('/'))
}
