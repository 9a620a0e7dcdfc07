//! `file.remove`, `file.rmdir`.

use super::absolute;
use super::content::failure;
use super::facts::seconds;
use halite_core::host::{FileKind, Host};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Removes a file, a link, or a directory with all that is in it. False: there was nothing.
    ///
    ///   salt '*' file.remove /tmp/foo
    pub struct Remove {
        /// The path, absolute.
        path: String,
        kwargs: Keywords,
    }
}

impl Run for Remove {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        if !path.starts_with('/') {
            return Err(Fault::invocation(format!("File path must be absolute: {path}")));
        }
        if paths::normal(&path).trim_matches('/').is_empty() {
            return Err(Fault::execution(format!("Could not remove '{path}': it is the root of the file system")));
        }
        let removed = match ctx.host.stat(Path::new(&path)) {
            Ok(stat) if stat.kind == FileKind::Directory => paths::remove_all(ctx.host, Path::new(&path)),
            Ok(_) => ctx.host.remove(Path::new(&path)),
            Err(_) => return Ok(false.into()),
        };
        removed.map_err(|error| Fault::execution(format!("Could not remove '{path}': {}", failure(&path, &error))))?;
        Ok(true.into())
    }
}

record! {
    /// Removes an empty directory.
    ///
    ///   salt '*' file.rmdir /tmp/foo
    pub struct Rmdir {
        /// The path, absolute.
        path: String,
        /// Remove the empty directories below it first.
        recurse: bool = false,
        /// Return what was removed and what could not be.
        verbose: bool = false,
        /// Leave those alone that were changed in so many days.
        older_than: Option<i64> = (),
    }
}

impl Run for Rmdir {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = absolute(ctx, &self.path, "File path must be absolute.")?;
        if !paths::is_directory(ctx.host, &path) {
            return Err(Fault::invocation(format!("A valid directory was not specified: {path}")));
        }
        let days = self.older_than.filter(|days| *days != 0);
        let limit = days.map(|days| seconds(ctx.host.now()) - days as f64 * 86400.0);
        let mut done = Done { limit, deleted: Vec::new(), errors: Vec::new() };
        if self.recurse {
            done.below(ctx.host, &path);
        }
        let below = done.errors.is_empty();
        let own = done.directory(ctx.host, &path);
        let result = match own {
            Some(removed) => removed && below,
            None => self.recurse && below,
        };
        if !self.verbose {
            return Ok(result.into());
        }
        let shown =
            [("deleted", Value::list(done.deleted)), ("errors", Value::list(done.errors)), ("result", result.into())];
        Ok(Map::from_iter(shown).into())
    }
}

struct Done {
    /// Directories that were changed after it stay.
    limit: Option<f64>,
    deleted: Vec<String>,
    errors: Vec<Value>,
}

impl Done {
    fn below(&mut self, host: &dyn Host, directory: &str) {
        for name in host.list(Path::new(directory)).unwrap_or_default() {
            let path = paths::join(&[directory.to_owned(), name]);
            if host.stat(Path::new(&path)).is_ok_and(|stat| stat.kind == FileKind::Directory) {
                self.below(host, &path);
                self.directory(host, &path);
            }
        }
    }

    /// Whether it was removed; nothing: it is too young.
    fn directory(&mut self, host: &dyn Host, path: &str) -> Option<bool> {
        let modified = host.stat(Path::new(path)).map(|stat| seconds(stat.modified)).unwrap_or(0.0);
        if self.limit.is_some_and(|limit| modified >= limit) {
            return None;
        }
        match host.remove(Path::new(path)) {
            Ok(()) => self.deleted.push(path.to_owned()),
            Err(error) => {
                self.errors.push(Value::list([path.to_owned(), failure(path, &error)]));
                return Some(false);
            }
        }
        Some(true)
    }
}
