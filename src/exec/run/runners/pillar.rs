//! `pillar.*`: the pillars of minions, as the master compiles them by the grains that it knows.

use super::cache::with_grains;
use super::{Ctx, Module, Run, function};
use halite_core::pillar_request::Asked;
use halite_core::{Fault, Reply};
use halite_node::pillar;
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "pillar",
    doc: "Shows the pillars of minions.",
    functions: &[
        function::<ClearPillarCache>("clear_pillar_cache"),
        function::<ShowPillar>("show_pillar"),
        function::<ShowPillarCache>("show_pillar_cache"),
        function::<ShowTop>("show_top"),
    ],
};

record! {
    /// Shows the top file of the pillar, those of all environments merged.
    ///
    ///   salt-run pillar.show_top
    pub struct ShowTop {
        /// The minion that templates see; else the first that is known.
        minion: Option<String> = (),
        /// The environment of states.
        saltenv: String = "base",
    }
}

impl Run for ShowTop {
    fn run(self, ctx: &Ctx) -> Reply {
        let known = with_grains(ctx)?;
        let minion = match &self.minion {
            Some(minion) => known.into_iter().find(|(id, _)| id == minion),
            None => known.into_iter().next(),
        };
        let (id, grains) = minion.unwrap_or_else(|| (self.minion.unwrap_or_default(), Map::new()));
        let asked = Asked { saltenv: Some(self.saltenv), ..Asked::default() };
        match pillar::show_top(
            &pillar::Node { host: ctx.host, functions: ctx.functions },
            ctx.opts,
            &id,
            &grains,
            &asked,
        )? {
            Ok(top) => Ok(top.into()),
            Err(errors) => Err(Fault::execution(errors.join("\n"))),
        }
    }
}

record! {
    /// Shows the pillar of a minion, compiled now; without a minion, that of one that is called `*`.
    ///
    ///   salt-run pillar.show_pillar web1
    ///   salt-run pillar.show_pillar web1 pillarenv=dev
    pub struct ShowPillar {
        /// The minion.
        minion: String = "*",
        /// `saltenv` and `pillarenv`, and grains that are put on top of those that are known.
        kwargs: Keywords,
    }
}

impl Run for ShowPillar {
    fn run(self, ctx: &Ctx) -> Reply {
        let known = with_grains(ctx)?.into_iter().find(|(id, _)| *id == self.minion);
        let mut grains = known.map_or_else(|| Map::from_iter([("fqdn", self.minion.as_str())]), |(_, grains)| grains);
        let mut asked = Asked { saltenv: Some("base".to_owned()), ..Asked::default() };
        for (name, value) in self.kwargs.0 {
            match name.as_str() {
                Some("saltenv") => asked.saltenv = Some(value.to_text()),
                Some("pillarenv") => asked.pillarenv = Some(value.to_text()).filter(|_| value.truthy()),
                _ => drop(grains.insert(name, value)),
            }
        }
        compiled(ctx, &self.minion, &grains, &asked).map(Into::into)
    }
}

record! {
    /// Would forget the pillars that are kept: the master compiles one anew as soon as its sources change, so there is
    /// nothing to forget.
    ///
    ///   salt-run pillar.clear_pillar_cache web1
    pub struct ClearPillarCache {
        /// Which minions.
        minion: String = "*",
        /// Taken, not used.
        kwargs: Keywords,
    }
}

impl Run for ClearPillarCache {
    fn run(self, _: &Ctx) -> Reply {
        Ok(true.into())
    }
}

record! {
    /// Shows the pillars of minions, by id.
    ///
    ///   salt-run pillar.show_pillar_cache 'web*'
    pub struct ShowPillarCache {
        /// Which minions, a glob.
        minion: String = "*",
        /// `saltenv` and `pillarenv`.
        kwargs: Keywords,
    }
}

impl Run for ShowPillarCache {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = |name: &str| self.kwargs.0.at(name).filter(|value| value.truthy()).map(Value::to_text);
        let asked = Asked { saltenv: text("saltenv"), pillarenv: text("pillarenv"), ..Asked::default() };
        let mut pillars = Map::new();
        for (id, grains) in with_grains(ctx)? {
            if halite_lang::target::fnmatch::fnmatch(&id, &self.minion) {
                pillars.insert(id.as_str(), compiled(ctx, &id, &grains, &asked)?);
            }
        }
        Ok(pillars.into())
    }
}

/// The pillar of a minion that has these grains.
pub fn compiled(ctx: &Ctx, id: &str, grains: &Map, asked: &Asked) -> Result<Map, Fault> {
    pillar::compile_for(&pillar::Node { host: ctx.host, functions: ctx.functions }, ctx.opts, id, grains, asked)
        .map(|compiled| compiled.pillar)
}
