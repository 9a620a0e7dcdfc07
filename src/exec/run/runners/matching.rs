//! `match.*`: whether a target means a minion.

use super::pillar::compiled;
use super::{Ctx, Module, Run, function};
use halite_core::pillar_request::Asked;
use halite_core::{Fault, Reply};
use halite_lang::target::{Minion, Needs, Target};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "match",
    doc: "Says whether a target means a minion.",
    functions: &[function::<CompoundMatches>("compound_matches")],
};

record! {
    /// Whether a compound target means a minion, by the grains that the master knows: the minion's id under `res`, or
    /// False.
    ///
    ///   salt-run match.compound_matches 'G@os:Deb* and not db*' myminion
    pub struct CompoundMatches {
        /// The compound target.
        expr: String,
        /// The minion's id.
        minion_id: String,
    }
}

impl Run for CompoundMatches {
    fn run(self, ctx: &Ctx) -> Reply {
        let target = Target::parse("compound", &self.expr.into(), ctx.nodegroups())
            .map_err(|error| Fault::invocation(error.to_string()))?;
        let known = ctx.archive.grains()?;
        let minion = known.iter().find(|(id, _)| *id == self.minion_id);
        let pillar = match (minion, target.needs()) {
            (Some((id, grains)), Needs::Pillar) => compiled(ctx, id, grains, &Asked::default())?,
            _ => Map::new(),
        };
        let matches = minion.is_some_and(|(id, grains)| target.matches(&Minion { id, grains, pillar: &pillar }));
        let res = if matches { Value::from(self.minion_id) } else { false.into() };
        Ok(Map::from_iter([("res", res)]).into())
    }
}
