//! Modules of a user's own, which Salt brings from the file server. Halite is one binary and runs no Python, so there is
//! nothing to bring; whoever has such files is told.

use super::told;
use halite_core::files::Listing;
use halite_core::module::Run;
use halite_core::{Ctx, Reply};
use halite_value::record;
use halite_value::{Map, Value};

/// The kinds, in the order in which `sync_all` lists them.
const KINDS: [&str; 18] = [
    "clouds",
    "beacons",
    "modules",
    "states",
    "sdb",
    "grains",
    "renderers",
    "returners",
    "output",
    "utils",
    "log_handlers",
    "executors",
    "proxymodules",
    "engines",
    "thorium",
    "serializers",
    "matchers",
    "resources",
];

record! {
    /// Lists what was brought of a kind of modules of a user's own: nothing, since this version runs no Python. Files that
    /// are there are named in the log.
    ///
    ///   salt '*' saltutil.sync_beacons
    ///   salt '*' saltutil.sync_clouds
    ///   salt '*' saltutil.sync_engines
    ///   salt '*' saltutil.sync_executors
    ///   salt '*' saltutil.sync_grains
    ///   salt '*' saltutil.sync_log_handlers
    ///   salt '*' saltutil.sync_matchers
    ///   salt '*' saltutil.sync_modules
    ///   salt '*' saltutil.sync_output
    ///   salt '*' saltutil.sync_outputters
    ///   salt '*' saltutil.sync_pillar
    ///   salt '*' saltutil.sync_proxymodules
    ///   salt '*' saltutil.sync_renderers
    ///   salt '*' saltutil.sync_resources
    ///   salt '*' saltutil.sync_returners
    ///   salt '*' saltutil.sync_sdb
    ///   salt '*' saltutil.sync_serializers
    ///   salt '*' saltutil.sync_states
    ///   salt '*' saltutil.sync_thorium
    ///   salt '*' saltutil.sync_tops
    ///   salt '*' saltutil.sync_utils
    ///   salt '*' saltutil.sync_wrapper
    pub struct Sync {
        /// The environments: one, or several with commas between them.
        saltenv: Option<String> = (),
        /// Whether the minion reads its modules anew.
        refresh: bool = true,
        /// Modules that may be brought.
        extmod_whitelist: Value = (),
        /// Modules that may not.
        extmod_blacklist: Value = (),
    }
}

impl Run for Sync {
    fn run(self, ctx: &Ctx) -> Reply {
        tell_of_files(ctx, self.saltenv.as_deref());
        if self.refresh {
            told(ctx, "module_refresh", Map::new());
        }
        Ok(Value::List(Vec::new()).into())
    }
}

record! {
    /// Lists what was brought of all kinds of modules of a user's own: nothing, since this version runs no Python. Files that
    /// are there are named in the log. The minion reads its pillar anew.
    ///
    ///   salt '*' saltutil.sync_all
    ///   salt '*' saltutil.sync_all saltenv=dev
    pub struct SyncAll {
        /// The environments: one, or several with commas between them.
        saltenv: Option<String> = (),
        /// Whether the minion reads its pillar anew.
        refresh: bool = true,
        /// Modules that may be brought, by kind.
        extmod_whitelist: Value = (),
        /// Modules that may not, by kind.
        extmod_blacklist: Value = (),
        /// Whether a cached pillar is thrown away.
        clean_pillar_cache: bool = false,
    }
}

impl Run for SyncAll {
    fn run(self, ctx: &Ctx) -> Reply {
        tell_of_files(ctx, self.saltenv.as_deref());
        if self.refresh {
            let data = Map::from_iter([("clean_cache", self.clean_pillar_cache)]);
            told(ctx, "pillar_refresh", data);
        }
        let is_local = ctx.opts.str_at("file_client") == Some("local");
        let own = |kinds: &[&'static str]| if is_local { kinds.to_vec() } else { Vec::new() };
        let kinds = own(&["tops"]).into_iter().chain(KINDS).chain(own(&["pillar", "wrapper"]));
        Ok(Map::from_iter(kinds.map(|kind| (kind, Value::List(Vec::new())))).into())
    }
}

/// Names the files that Salt would bring.
fn tell_of_files(ctx: &Ctx, saltenv: Option<&str>) {
    let environments = saltenv.unwrap_or("base").split(',').map(str::trim).filter(|name| !name.is_empty());
    let Ok(files) = halite_node::fileserver::files(ctx) else { return };
    for saltenv in environments {
        let listed = files.list(Listing::Files, saltenv, "_").unwrap_or_default();
        for (name, _) in listed.iter().filter(|(name, _)| name.ends_with(".py")) {
            log::warn!("salt://{name} in '{saltenv}' is not brought: this version runs no Python");
        }
    }
}
