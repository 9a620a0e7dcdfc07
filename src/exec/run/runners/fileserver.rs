//! `fileserver.*`: what the master's file server has.
//!
//! The one source there is, `roots`, keeps nothing that could be locked and nothing that it would have to fetch.

use super::{Ctx, Module, Run, function};
use halite_core::files::{Listing, shown};
use halite_core::{Fault, Reply};
use halite_node::fileserver;
use halite_node::fileserver::{FileServer, Freshness, backends, clear_lists};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};
use std::path::Path;

pub const MODULE: Module = Module {
    name: "fileserver",
    doc: "Show what the file server has, and have it look again.",
    functions: &[
        function::<ClearCache>("clear_cache"),
        function::<ClearFileListCache>("clear_file_list_cache"),
        function::<ClearLock>("clear_lock"),
        function::<DirList>("dir_list"),
        function::<EmptyDirList>("empty_dir_list"),
        function::<Envs>("envs"),
        function::<FileList>("file_list"),
        function::<Lock>("lock"),
        function::<SymlinkList>("symlink_list"),
        function::<Update>("update"),
    ],
};

record! {
    /// Lists the environments.
    ///
    ///   salt-run fileserver.envs
    ///   salt-run fileserver.envs backend=roots
    pub struct Envs {
        /// Only these sources: a list, or names with commas; with a minus before each name: all but these.
        backend: Value = (),
        /// List the sources instead.
        sources: bool = false,
    }
}

impl Run for Envs {
    fn run(self, ctx: &Ctx) -> Reply {
        let wanted = wants_roots(ctx, &self.backend);
        if self.sources {
            return Ok(Value::list(wanted.then_some("roots")).into());
        }
        let environments = if wanted { server(ctx)?.environments() } else { Vec::new() };
        Ok(environments.into())
    }
}

record! {
    /// Lists the files of an environment.
    ///
    ///   salt-run fileserver.file_list
    ///   salt-run fileserver.file_list saltenv=prod
    pub struct FileList {
        /// The environment.
        saltenv: String = "base",
        /// Only these sources.
        backend: Value = (),
    }
}

record! {
    /// Lists the directories of an environment.
    ///
    ///   salt-run fileserver.dir_list
    pub struct DirList {
        /// The environment.
        saltenv: String = "base",
        /// Only these sources.
        backend: Value = (),
    }
}

record! {
    /// Lists the empty directories of an environment.
    ///
    ///   salt-run fileserver.empty_dir_list
    pub struct EmptyDirList {
        /// The environment.
        saltenv: String = "base",
        /// Only these sources.
        backend: Value = (),
    }
}

record! {
    /// Lists the symbolic links of an environment, with where they point.
    ///
    ///   salt-run fileserver.symlink_list
    pub struct SymlinkList {
        /// The environment.
        saltenv: String = "base",
        /// Only these sources.
        backend: Value = (),
    }
}

impl Run for FileList {
    fn run(self, ctx: &Ctx) -> Reply {
        list(ctx, Listing::Files, &self.saltenv, &self.backend)
    }
}

impl Run for DirList {
    fn run(self, ctx: &Ctx) -> Reply {
        list(ctx, Listing::Directories, &self.saltenv, &self.backend)
    }
}

impl Run for EmptyDirList {
    fn run(self, ctx: &Ctx) -> Reply {
        list(ctx, Listing::EmptyDirectories, &self.saltenv, &self.backend)
    }
}

impl Run for SymlinkList {
    fn run(self, ctx: &Ctx) -> Reply {
        list(ctx, Listing::Links, &self.saltenv, &self.backend)
    }
}

fn list(ctx: &Ctx, listing: Listing, saltenv: &str, backend: &Value) -> Reply {
    let entries = match wants_roots(ctx, backend) {
        true => server(ctx)?.list(listing, saltenv, ""),
        false => Vec::new(),
    };
    Ok(shown(listing, entries).into())
}

record! {
    /// Looks at all files for changes now, as the master does it every roots_update_interval seconds where
    /// fileserver_events is on.
    ///
    ///   salt-run fileserver.update
    pub struct Update {
        /// Only these sources.
        backend: Value = (),
        /// Taken, not used: for sources that fetch.
        kwargs: Keywords,
    }
}

impl Run for Update {
    fn run(self, ctx: &Ctx) -> Reply {
        if wants_roots(ctx, &self.backend) {
            let cachedir = Path::new(cachedir(ctx));
            let updated = server(ctx)?.update(cachedir);
            updated.map_err(|error| Fault::execution(format!("{}: {error}", cachedir.display())))?;
        }
        Ok(true.into())
    }
}

record! {
    /// Forgets the lists of files that are kept for fileserver_list_cache_time seconds; answers of which environments.
    ///
    ///   salt-run fileserver.clear_file_list_cache
    ///   salt-run fileserver.clear_file_list_cache saltenv=base
    pub struct ClearFileListCache {
        /// Only these environments: a list, or names with commas.
        saltenv: Value = (),
        /// Only these sources.
        backend: Value = (),
    }
}

impl Run for ClearFileListCache {
    fn run(self, ctx: &Ctx) -> Reply {
        let saltenvs = (!self.saltenv.is_null()).then(|| names(&self.saltenv));
        if !wants_roots(ctx, &self.backend) {
            return Ok(Map::new().into());
        }
        let cleared = clear_lists(Path::new(cachedir(ctx)), saltenvs.as_deref())
            .map_err(|error| Fault::execution(format!("the lists cannot be removed: {error}")))?;
        let roots = (!cleared.is_empty()).then(|| ("roots", Value::from(cleared)));
        Ok(Map::from_iter(roots).into())
    }
}

record! {
    /// Clears what sources have fetched. There is no such source.
    ///
    ///   salt-run fileserver.clear_cache
    pub struct ClearCache {
        /// Only these sources.
        backend: Value = (),
    }
}

impl Run for ClearCache {
    fn run(self, _: &Ctx) -> Reply {
        Ok("No cache was cleared".into())
    }
}

record! {
    /// Keeps sources from fetching. There is no such source.
    ///
    ///   salt-run fileserver.lock
    pub struct Lock {
        /// Only these sources.
        backend: Value = (),
        /// Only what is fetched from addresses like this.
        remote: Value = (),
    }
}

impl Run for Lock {
    fn run(self, _: &Ctx) -> Reply {
        Ok("No locks were set".into())
    }
}

record! {
    /// Lets sources fetch again. There is no such source.
    ///
    ///   salt-run fileserver.clear_lock
    pub struct ClearLock {
        /// Only these sources.
        backend: Value = (),
        /// Only what is fetched from addresses like this.
        remote: Value = (),
    }
}

impl Run for ClearLock {
    fn run(self, _: &Ctx) -> Reply {
        Ok("No locks were removed".into())
    }
}

fn server(ctx: &Ctx) -> Result<FileServer, Fault> {
    fileserver::FileServer::new(ctx.opts, Freshness::Kept)
}

fn cachedir<'a>(ctx: &'a Ctx) -> &'a str {
    ctx.opts.str_at("cachedir").unwrap_or("/var/cache/salt/master")
}

/// Whether `roots` is among the sources that are meant: of those that are configured, the named ones, or all but those
/// with a minus.
fn wants_roots(ctx: &Ctx, backend: &Value) -> bool {
    let configured = backends(ctx.opts).iter().any(|name| name == "roots");
    if !backend.truthy() {
        return configured;
    }
    let names = names(backend);
    match names.iter().all(|name| name.starts_with('-')) {
        true => configured && !names.iter().any(|name| name == "-roots"),
        false => configured && names.iter().any(|name| name == "roots"),
    }
}

/// A list, or names with commas.
fn names(value: &Value) -> Vec<String> {
    match value {
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        other => other.to_text().split(',').map(|name| name.trim().to_owned()).collect(),
    }
}
