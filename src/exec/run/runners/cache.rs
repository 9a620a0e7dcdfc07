//! `cache.*`: what the master keeps: the grains of its minions in the bank `grains`, and in other banks what somebody
//! has stored.

mod minions;

use super::fleet::Change;
use super::{Ctx, Module, Run, function};
use halite_core::{Fault, Reply};
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};
pub use minions::with_grains;
use minions::{ClearAll, ClearGrains, ClearNothing, Grains, Pillar};

pub const MODULE: Module = Module {
    name: "cache",
    doc: "Shows and changes what the master keeps.",
    functions: &[
        function::<ClearAll>("clear_all"),
        function::<ClearGitLock>("clear_git_lock"),
        function::<ClearGrains>("clear_grains"),
        function::<ClearNothing>("clear_mine"),
        function::<ClearNothing>("clear_mine_func"),
        function::<ClearNothing>("clear_pillar"),
        function::<Cloud>("cloud"),
        function::<Fetch>("fetch"),
        function::<Flush>("flush"),
        function::<Grains>("grains"),
        function::<List>("list"),
        function::<Migrate>("migrate"),
        function::<Pillar>("pillar"),
        function::<Store>("store"),
    ],
};

/// The bank of the grains that minions sent.
const GRAINS: &str = "grains";

record! {
    /// Lists the keys of a bank of the cache; those of the bank `grains` are minions.
    ///
    ///   salt-run cache.list grains
    pub struct List {
        /// The bank.
        bank: String,
        /// Taken, not used: the cache is the one of the configuration.
        cachedir: Option<String> = (),
    }
}

impl Run for List {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(bank(ctx, &self.bank)?.into_iter().map(|(key, _)| key)).into())
    }
}

record! {
    /// Shows what a bank of the cache has under a key: in the bank `grains`, the grains of a minion.
    ///
    ///   salt-run cache.fetch grains web1
    pub struct Fetch {
        /// The bank.
        bank: String,
        /// The key.
        key: String,
        /// Taken, not used: the cache is the one of the configuration.
        cachedir: Option<String> = (),
    }
}

impl Run for Fetch {
    fn run(self, ctx: &Ctx) -> Reply {
        let found = bank(ctx, &self.bank)?.into_iter().find(|(key, _)| *key == self.key);
        Ok(found.map_or_else(|| Map::new().into(), |(_, data)| data).into())
    }
}

/// What a bank has, by key, sorted.
fn bank(ctx: &Ctx, name: &str) -> Result<Vec<(String, Value)>, Fault> {
    if name != GRAINS {
        return ctx.archive.kept(name);
    }
    let mut known = minions::with_grains(ctx)?;
    known.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(known.into_iter().map(|(id, grains)| (id, grains.into())).collect())
}

record! {
    /// Keeps a value under a key of a bank, for `cache.fetch`.
    ///
    ///   salt-run cache.store mycache mykey 'The time has come the walrus said'
    pub struct Store {
        /// The bank.
        bank: String,
        /// The key.
        key: String,
        /// The value.
        data: Value,
        /// Taken, not used: the cache is the one of the configuration.
        cachedir: Option<String> = (),
    }
}

impl Run for Store {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.bank == GRAINS {
            return Err(Fault::invocation("grains are what minions send: grains.set on the minion changes them"));
        }
        ctx.fleet.keep(Change::Store { bank: self.bank, key: self.key, data: self.data })?;
        Ok(().into())
    }
}

record! {
    /// Removes a key of a bank, or the whole bank. The grains of a minion are kept again when it sends them again.
    ///
    ///   salt-run cache.flush mycache mykey
    ///   salt-run cache.flush grains
    pub struct Flush {
        /// The bank.
        bank: String,
        /// The key; all of them where it is not given.
        key: Option<String> = (),
        /// Taken, not used: the cache is the one of the configuration.
        cachedir: Option<String> = (),
    }
}

impl Run for Flush {
    fn run(self, ctx: &Ctx) -> Reply {
        let change = match (self.bank.as_str(), self.key) {
            (GRAINS, Some(id)) => Change::ForgetGrains(vec![id]),
            (GRAINS, None) => Change::ForgetGrains(minions::with_grains(ctx)?.into_iter().map(|(id, _)| id).collect()),
            (_, key) => Change::Flush { bank: self.bank, key },
        };
        ctx.fleet.keep(change)?;
        Ok(true.into())
    }
}

record! {
    /// Would remove locks of git repositories: this version has none as a source of files.
    ///
    ///   salt-run cache.clear_git_lock gitfs
    pub struct ClearGitLock {
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for ClearGitLock {
    fn run(self, _: &Ctx) -> Reply {
        Err(Fault::execution("git is no source of files in this version, so there is no lock"))
    }
}

record! {
    /// Would show what salt-cloud keeps, which Halite does not have.
    ///
    ///   salt-run cache.cloud 'db*'
    pub struct Cloud {
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for Cloud {
    fn run(self, _: &Ctx) -> Reply {
        Err(Fault::execution("Halite has no salt-cloud, so nothing is kept of it"))
    }
}

record! {
    /// Would move the cache from one driver to another: there is one here, the master's database.
    ///
    ///   salt-run cache.migrate
    pub struct Migrate {
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for Migrate {
    fn run(self, _: &Ctx) -> Reply {
        Err(Fault::execution("the cache is the master's database, the one driver that there is"))
    }
}
