//! What the minion keeps on its disk, thrown away or shown.

use halite_core::host::FileKind;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What is not thrown away: jobs that run and results that the master does not have.
const NEEDED: [&str; 6] = ["proc", "spool", "incoming", "state_runs", "state_pause", "file_backup"];

fn cachedir(ctx: &Ctx) -> PathBuf {
    ctx.opts.str_at("cachedir").unwrap_or("/var/cache/salt/minion").into()
}

record! {
    /// Throws the minion's cache away: files of the master and from elsewhere. Jobs that run, results that the master does
    /// not have and copies of files stay.
    ///
    ///   salt '*' saltutil.clear_cache
    pub struct ClearCache {}
}

impl Run for ClearCache {
    fn run(self, ctx: &Ctx) -> Reply {
        let cachedir = cachedir(ctx);
        for name in ctx.host.list(&cachedir).unwrap_or_default() {
            if NEEDED.contains(&name.as_str()) {
                continue;
            }
            if let Err(error) = clear(ctx, &cachedir.join(&name)) {
                log::error!("{}: {error}", cachedir.join(&name).display());
                return Ok(false.into());
            }
        }
        Ok(true.into())
    }
}

/// Removes the files below a directory; the directories stay, as who uses them expects.
fn clear(ctx: &Ctx, path: &Path) -> std::io::Result<()> {
    if ctx.host.stat(path)?.kind != FileKind::Directory {
        return ctx.host.remove(path);
    }
    ctx.host.list(path)?.iter().try_for_each(|name| clear(ctx, &path.join(name)))
}

record! {
    /// Throws away the results of jobs that `cache_jobs` has kept and that are older than so many hours.
    ///
    ///   salt '*' saltutil.clear_job_cache hours=12
    pub struct ClearJobCache {
        /// Hours.
        hours: f64 = 24.0,
    }
}

impl Run for ClearJobCache {
    fn run(self, ctx: &Ctx) -> Reply {
        let directory = cachedir(ctx).join("minion_jobs");
        let age = Duration::try_from_secs_f64(self.hours * 3600.0).unwrap_or_default();
        let since = ctx.host.now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
        for name in ctx.host.list(&directory).unwrap_or_default() {
            let path = directory.join(&name);
            if ctx.host.stat(&path).is_ok_and(|stat| stat.kind == FileKind::Directory && stat.modified < since) {
                let removed = halite_core::paths::remove_all(ctx.host, &path);
                removed.map_err(|error| Fault::execution(format!("{}: {error}", path.display())))?;
            }
        }
        Ok(true.into())
    }
}

record! {
    /// Shows the result of a job that `cache_jobs` has kept.
    ///
    ///   salt '*' saltutil.find_cached_job 20261129205033700833
    pub struct FindCachedJob {
        /// The job.
        jid: String,
    }
}

impl Run for FindCachedJob {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.jid.contains(['/', '\0']) {
            return Err(Fault::invocation(format!("{} is no jid", self.jid.escape_debug())));
        }
        let directory = cachedir(ctx).join("minion_jobs").join(&self.jid);
        let text = match ctx.host.read(&directory.join("return.json")) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) if ctx.opt("cache_jobs").is_some_and(Value::truthy) => {
                return Ok(format!("Local jobs cache directory {} not found", directory.display()).into());
            }
            Err(_) => {
                let hint = "you may need to enable cache_jobs on this minion";
                return Ok(format!("Local jobs cache directory not found; {hint}").into());
            }
        };
        halite_value::parse_json(&text).map(Into::into).map_err(Fault::execution)
    }
}

record! {
    /// Lists the modules of a user's own that the minion has from the master, by kind.
    ///
    ///   salt '*' saltutil.list_extmods
    pub struct ListExtmods {}
}

impl Run for ListExtmods {
    fn run(self, ctx: &Ctx) -> Reply {
        let directory = cachedir(ctx).join("extmods");
        let mut kinds = Map::new();
        for kind in ctx.host.list(&directory).unwrap_or_default() {
            let files = ctx.host.list(&directory.join(&kind)).unwrap_or_default();
            let mut names: Vec<&str> = files.iter().filter_map(|name| name.split('.').next()).collect();
            names.sort_unstable();
            names.dedup();
            kinds.insert(kind, Value::list(names));
        }
        Ok(kinds.into())
    }
}

record! {
    /// Throws the minion's keys away. It makes new ones when it is started anew, and the master has to accept them.
    ///
    ///   salt '*' saltutil.regen_keys
    pub struct RegenKeys {}
}

impl Run for RegenKeys {
    fn run(self, ctx: &Ctx) -> Reply {
        let directory = PathBuf::from(ctx.opts.str_at("pki_dir").unwrap_or("/etc/salt/pki/minion"));
        let names =
            ctx.host.list(&directory).map_err(|error| Fault::execution(format!("{}: {error}", directory.display())))?;
        for name in names {
            // A directory there is not the minion's.
            let _ = ctx.host.remove(&directory.join(name));
        }
        Ok(().into())
    }
}
