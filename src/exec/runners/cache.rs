//! `cache.*`: what the master keeps of its minions. This version keeps their grains.

use super::{Ctx, Module, Run, function};
use crate::exec::target::{Minion, Target};
use crate::exec::{Fault, Reply};
use crate::record;
use crate::wire::record::Keywords;
use crate::wire::value::{Map, Value};

pub const MODULE: Module = Module {
    name: "cache",
    doc: "Shows what the master keeps of its minions.",
    functions: &[function::<Fetch>("fetch"), function::<Grains>("grains"), function::<List>("list")],
};

/// The bank of the grains, the only one there is.
const GRAINS: &str = "grains";

record! {
    /// Shows the grains that minions sent last.
    ///
    ///   salt-run cache.grains '*'
    ///   salt-run cache.grains os:Debian tgt_type=grain
    pub struct Grains {
        /// Which minions.
        tgt: Value,
        /// The kind of target.
        tgt_type: String = "glob",
        /// Taken, not used.
        kwargs: Keywords,
    }
}

impl Run for Grains {
    fn run(self, ctx: &Ctx) -> Reply {
        let target = Target::parse(&self.tgt_type, &self.tgt, ctx.nodegroups())
            .map_err(|error| Fault::invocation(error.to_string()))?;
        let no_pillar = Map::new();
        let known = ctx.archive.grains()?.into_iter();
        let mut matching: Map =
            known.filter(|(id, grains)| target.matches(&Minion { id, grains, pillar: &no_pillar })).collect();
        matching.sort_keys();
        Ok(matching.into())
    }
}

record! {
    /// Lists the keys of a bank of the cache: of the bank `grains`, the minions whose grains are kept.
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
        if self.bank != GRAINS {
            return Ok(Value::List(Vec::new()).into());
        }
        let mut ids: Vec<String> = ctx.archive.grains()?.into_iter().map(|(id, _)| id).collect();
        ids.sort();
        Ok(ids.into())
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
        let known = if self.bank == GRAINS { ctx.archive.grains()? } else { Vec::new() };
        let found = known.into_iter().find(|(id, _)| *id == self.key);
        Ok(found.map_or_else(Map::new, |(_, grains)| grains).into())
    }
}
