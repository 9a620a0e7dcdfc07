//! Other names and other places for a file: copy, move, links.

use super::absolute;
use super::content::{failure, source};
use halite_core::host::{Attributes, FileKind, Host};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_file::content::{Part, put};
use halite_lang::random;
use halite_value::record;
use halite_value::{Map, Value};
use std::io;
use std::path::Path;

record! {
    /// Gives a file or directory another name on the same file system.
    ///
    ///   salt '*' file.rename /path/to/src /path/to/dst
    pub struct Rename {
        /// The path, absolute.
        src: String,
        /// The new path.
        dst: String,
    }
}

impl Run for Rename {
    fn run(self, ctx: &Ctx) -> Reply {
        let src = source(ctx, &self.src)?;
        let dst = paths::expand_user(ctx.host, &self.dst);
        let renamed = ctx.host.rename(Path::new(&src), Path::new(&dst));
        renamed.map_err(|_| Fault::execution(format!("Could not rename '{src}' to '{dst}'")))?;
        Ok(true.into())
    }
}

record! {
    /// Moves a file or directory; into a directory that is there already, or under a new name.
    ///
    ///   salt '*' file.move /path/to/src /path/to/dst
    pub struct Move {
        /// The path, absolute.
        src: String,
        /// The new path, absolute.
        dst: String,
        /// Do not copy to another file system; then this is `file.rename`.
        disallow_copy_and_unlink: bool = false,
    }
}

impl Run for Move {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.disallow_copy_and_unlink {
            return Rename { src: self.src, dst: self.dst }.run(ctx);
        }
        let src = absolute(ctx, &self.src, "Source path must be absolute.")?;
        let dst = absolute(ctx, &self.dst, "Destination path must be absolute.")?;
        let cannot = |reason: String| Fault::execution(format!("Unable to move '{src}' to '{dst}': {reason}"));
        let target = match paths::is_directory(ctx.host, &dst) {
            true => paths::join(&[dst.clone(), paths::name_of(src.trim_end_matches('/')).to_owned()]),
            false => dst.clone(),
        };
        if paths::is_directory(ctx.host, &dst) && ctx.host.stat(Path::new(&target)).is_ok() {
            return Err(cannot(format!("Destination path '{target}' already exists")));
        }
        if target.starts_with(&format!("{}/", src.trim_end_matches('/'))) {
            return Err(cannot(format!("Cannot move a directory '{src}' into itself '{dst}'.")));
        }
        match ctx.host.rename(Path::new(&src), Path::new(&target)) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                copy_tree(ctx, &src, &target)?;
                halite_core::paths::remove_all(ctx.host, Path::new(&src))
                    .map_err(|error| cannot(failure(&src, &error)))?;
            }
            Err(error) => return Err(cannot(failure(&src, &error))),
            Ok(()) => {}
        }
        let comment = format!("'{src}' moved to '{dst}'");
        Ok(Map::from_iter([("result", Value::from(true)), ("comment", comment.into())]).into())
    }
}

record! {
    /// Copies a file, or a directory with all that is in it. The copy has owner and mode of what was copied.
    ///
    ///   salt '*' file.copy /path/to/src /path/to/dst
    ///   salt '*' file.copy /path/to/src_dir /path/to/dst_dir recurse=True
    pub struct Copy {
        /// The path, absolute.
        src: String,
        /// The path of the copy.
        dst: String,
        /// Copy directories too.
        recurse: bool = false,
        /// Remove a directory that is in the place of the copy; else the two become one.
        remove_existing: bool = false,
    }
}

impl Run for Copy {
    fn run(self, ctx: &Ctx) -> Reply {
        let src = source(ctx, &self.src)?;
        let dst = paths::expand_user(ctx.host, &self.dst);
        if !paths::exists(ctx.host, &src) {
            return Err(Fault::execution(format!("No such file or directory '{src}'")));
        }
        let (from_directory, to_directory) = (paths::is_directory(ctx.host, &src), paths::is_directory(ctx.host, &dst));
        if (from_directory || to_directory) && !self.recurse {
            return Err(Fault::invocation("Cannot copy overwriting a directory without recurse flag set to true!"));
        }
        let cannot = || Fault::execution(format!("Could not copy '{src}' to '{dst}'"));
        if from_directory != to_directory && (to_directory || paths::exists(ctx.host, &dst)) {
            return Err(cannot());
        }
        if self.remove_existing && to_directory {
            halite_core::paths::remove_all(ctx.host, Path::new(&dst)).map_err(|_| cannot())?;
        }
        copy_tree(ctx, &src, &dst).map_err(|_| cannot())?;
        Ok(true.into())
    }
}

/// Copies a file or a directory with all that is in it; links inside are copied as links.
fn copy_tree(ctx: &Ctx, src: &str, dst: &str) -> Result<(), Fault> {
    if ctx.is_cancelled() {
        return Err(Fault::Cancelled);
    }
    let refused = |path: &str, error: &io::Error| Fault::execution(failure(path, error));
    let stat = paths::followed(ctx.host, Path::new(src)).map_err(|error| refused(src, &error))?;
    let attributes = Attributes { mode: Some(stat.mode), uid: Some(stat.uid), gid: Some(stat.gid) };
    if stat.kind != FileKind::Directory {
        ctx.host.open(Path::new(src)).map_err(|error| refused(src, &error))?;
        let target = if paths::is_link(ctx.host, dst) { paths::real(ctx.host, dst) } else { dst.to_owned() };
        let put = put(ctx.host, Part::At(src), None, Path::new(&target), attributes);
        return put.map_err(|error| refused(dst, &error));
    }
    if !paths::is_directory(ctx.host, dst) {
        ctx.host.make_directory(Path::new(dst), 0o700).map_err(|error| refused(dst, &error))?;
    }
    for name in ctx.host.list(Path::new(src)).map_err(|error| refused(src, &error))? {
        let (from, to) = (paths::join(&[src.to_owned(), name.clone()]), paths::join(&[dst.to_owned(), name]));
        let own = ctx.host.stat(Path::new(&from)).map_err(|error| refused(&from, &error))?;
        match own.target {
            Some(target) => ctx.host.link(&target, Path::new(&to)).map_err(|error| refused(&to, &error))?,
            None => copy_tree(ctx, &from, &to)?,
        }
    }
    ctx.host.set(Path::new(dst), attributes).map_err(|error| refused(dst, &error))
}

record! {
    /// Gives a file a second name: a hard link.
    ///
    ///   salt '*' file.link /path/to/file /path/to/link
    pub struct Link {
        /// The path of the file, absolute.
        src: String,
        /// The second path.
        path: String,
    }
}

impl Run for Link {
    fn run(self, ctx: &Ctx) -> Reply {
        let src = source(ctx, &self.src)?;
        let linked = ctx.host.hard_link(Path::new(&src), Path::new(&self.path));
        linked.map_err(|error| {
            Fault::execution(format!("Could not create '{}': {} -> '{}'", self.path, failure(&src, &error), self.path))
        })?;
        Ok(true.into())
    }
}

record! {
    /// Makes a symbolic link.
    ///
    ///   salt '*' file.symlink /path/to/file /path/to/link
    pub struct Symlink {
        /// Where it points to.
        src: String,
        /// The path of the link, absolute.
        path: String,
        /// Remove what is in its place.
        force: bool = false,
        /// Put it in the place of what is there in one step.
        atomic: bool = false,
        /// Whether a link in its place that leads nowhere counts as nothing.
        follow_symlinks: bool = true,
    }
}

impl Run for Symlink {
    fn run(self, ctx: &Ctx) -> Reply {
        let (host, src) = (ctx.host, self.src);
        let path = paths::expand_user(host, &self.path);
        if !path.starts_with('/') {
            return Err(Fault::invocation(format!("Link path must be absolute: {path}")));
        }
        let own = host.stat(Path::new(&path)).ok();
        let replaces = self.force || self.atomic;
        if let Some(target) = own.as_ref().and_then(|stat| stat.target.as_ref()) {
            if paths::normal(&target.to_string_lossy()) == paths::normal(&src) {
                return Ok(true.into());
            }
            if !replaces {
                return Err(Fault::execution(format!("Found existing symlink: {path}")));
            }
        }
        if own.is_some() && !replaces {
            return Err(Fault::execution(format!("Existing path is not a symlink: {path}")));
        }
        let made = match &own {
            Some(stat) if stat.kind == FileKind::Directory => Err(rustix::io::Errno::ISDIR.into()),
            Some(stat) if stat.kind != FileKind::Link => replace_file(host, &src, &path),
            _ => host.link(Path::new(&src), Path::new(&path)),
        };
        made.map_err(|_| Fault::execution(format!("Could not create '{path}'")))?;
        Ok(true.into())
    }
}

/// Makes the link beside a file and puts it in its place, so that there is always one of them.
fn replace_file(host: &dyn Host, src: &str, path: &str) -> io::Result<()> {
    let beside = Path::new(path).with_file_name(format!(".halite.{:016x}", random::bits()));
    host.link(Path::new(src), &beside)?;
    let renamed = host.rename(&beside, Path::new(path));
    if renamed.is_err() {
        let _ = host.remove(&beside);
    }
    renamed
}
