//! `cp.push*`: files of the minion to the master.

use super::Run;
use halite_core::host::{FileKind, Host};
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::target::fnmatch::fnmatch;
use halite_value::record;
use std::path::{Component, Path, PathBuf};

record! {
    /// Sends a file to the master, which keeps it below its cachedir, in minions/ID/files. True, or False where the master
    /// does not take it: it must have file_recv on, and file_recv_max_size above the file's size.
    ///
    ///   salt '*' cp.push /etc/fstab
    ///   salt '*' cp.push /etc/fstab upload_path=/new/path/fstab
    pub struct Push {
        /// The path.
        path: String,
        /// Do not resolve links in the path under which the master keeps it.
        keep_symlinks: bool = false,
        /// Another path for the master.
        upload_path: Option<String> = (),
        /// Remove the file here when the master has it.
        remove_source: bool = false,
    }
}

impl Run for Push {
    fn run(self, ctx: &Ctx) -> Reply {
        let sent = send(ctx, &self.path, self.keep_symlinks, self.upload_path.as_deref())?;
        let Some(path) = sent else {
            return Ok(false.into());
        };
        if self.remove_source
            && let Err(error) = ctx.host.remove(&path)
        {
            log::error!("cp.push failed to remove file '{}': {error}", path.display());
            return Ok(false.into());
        }
        Ok(true.into())
    }
}

record! {
    /// Sends a directory to the master, with all below it, as cp.push sends a file.
    ///
    ///   salt '*' cp.push_dir /etc/modprobe.d/ glob='*.conf'
    pub struct PushDir {
        /// The path.
        path: String,
        /// Only files whose name matches.
        glob: Option<String> = (),
        /// Another path for the master.
        upload_path: Option<String> = (),
    }
}

impl Run for PushDir {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(directory) = resolved(ctx, &self.path) else {
            return Ok(false.into());
        };
        if paths::is_file(ctx.host, &directory.to_string_lossy()) {
            return Ok(send(ctx, &self.path, false, self.upload_path.as_deref())?.is_some().into());
        }
        let wanted = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            self.glob.as_deref().is_none_or(|glob| fnmatch(&name, glob))
        };
        let files: Vec<PathBuf> = files_below(ctx.host, &directory).into_iter().filter(wanted).collect();
        if files.is_empty() {
            return Ok(false.into());
        }
        for file in files {
            if ctx.is_cancelled() {
                return Err(Fault::Cancelled);
            }
            let upload = self.upload_path.as_deref().map(|upload| {
                let below = file.strip_prefix(&directory).unwrap_or(&file);
                format!("/{}/{}", upload.trim_matches('/'), below.display())
            });
            if send(ctx, &file.to_string_lossy(), false, upload.as_deref())?.is_none() {
                return Ok(false.into());
            }
        }
        Ok(true.into())
    }
}

/// Sends a file; the path that was read, or nothing where there is no such file or the master does not take it.
fn send(ctx: &Ctx, path: &str, keep_links: bool, upload: Option<&str>) -> Result<Option<PathBuf>, Fault> {
    let Some(real) = resolved(ctx, path) else {
        return Ok(None);
    };
    let path = if keep_links { PathBuf::from(path) } else { real };
    let upload = upload.filter(|upload| !upload.is_empty()).map_or(path.as_path(), Path::new);
    let Some(names) = steps(upload).filter(|_| paths::is_file(ctx.host, &path.to_string_lossy())) else {
        return Ok(None);
    };
    // To the master, wherever this node has its own files from.
    Ok(ctx.master.files()?.push(&path, &names)?.then_some(path))
}

/// Where an absolute path leads, with its links resolved.
fn resolved(ctx: &Ctx, path: &str) -> Option<PathBuf> {
    if path.contains("../") || !path.starts_with('/') {
        log::debug!("'{}' is not sent: the path must be absolute", path.escape_debug());
        return None;
    }
    ctx.host.real(Path::new(path)).ok()
}

/// The names in a path; nothing for one that leads upwards, or that is not UTF-8.
fn steps(path: &Path) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for step in path.components() {
        match step {
            Component::Normal(name) => names.push(name.to_str()?.to_owned()),
            Component::ParentDir => return None,
            _ => {}
        }
    }
    (!names.is_empty()).then_some(names)
}

/// The files below a directory; links to directories are not followed.
fn files_below(host: &dyn Host, directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![directory.to_owned()];
    while let Some(directory) = todo.pop() {
        for name in host.list(&directory).unwrap_or_default() {
            let path = directory.join(name);
            match host.stat(&path).map(|stat| stat.kind) {
                Ok(FileKind::Directory) => todo.push(path),
                Ok(FileKind::Link) if paths::is_directory(host, &path.to_string_lossy()) => {}
                _ => found.push(path),
            }
        }
    }
    found.sort();
    found
}
