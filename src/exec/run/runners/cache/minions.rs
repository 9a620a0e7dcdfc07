//! What is kept of minions, by target: their grains, and the pillars that come of these.

use crate::runners::fleet::Change;
use crate::runners::pillar::compiled;
use crate::runners::{Ctx, Run};
use halite_core::pillar_request::Asked;
use halite_core::{Fault, Reply};
use halite_lang::target::{Minion, Needs, Target};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

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
        let mut matching: Map = matching(ctx, &self.tgt, &self.tgt_type)?.into_iter().collect();
        matching.sort_keys();
        Ok(matching.into())
    }
}

record! {
    /// Shows the pillars of minions, by the grains that they sent last.
    ///
    ///   salt-run cache.pillar
    ///   salt-run cache.pillar 'web*'
    pub struct Pillar {
        /// Which minions; all of them where it is not given.
        tgt: Option<Value> = (),
        /// The kind of target.
        tgt_type: String = "glob",
        /// Taken, not used.
        kwargs: Keywords,
    }
}

impl Run for Pillar {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut matching = match &self.tgt {
            Some(tgt) => matching(ctx, tgt, &self.tgt_type)?,
            None => with_grains(ctx)?,
        };
        matching.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut pillars = Map::new();
        for (id, grains) in matching {
            pillars.insert(id.as_str(), compiled(ctx, &id, &grains, &Asked::default())?);
        }
        Ok(pillars.into())
    }
}

record! {
    /// Forgets the grains of minions until they send them again; grain targets do not match them until then.
    ///
    ///   salt-run cache.clear_grains tgt='*'
    pub struct ClearGrains {
        /// Which minions.
        tgt: Option<Value> = (),
        /// The kind of target.
        tgt_type: String = "glob",
    }
}

impl Run for ClearGrains {
    fn run(self, ctx: &Ctx) -> Reply {
        clear(ctx, self.tgt, &self.tgt_type)
    }
}

record! {
    /// Forgets all that is kept of minions.
    ///
    ///   salt-run cache.clear_all tgt='web*'
    pub struct ClearAll {
        /// Which minions.
        tgt: Option<Value> = (),
        /// The kind of target.
        tgt_type: String = "glob",
    }
}

impl Run for ClearAll {
    fn run(self, ctx: &Ctx) -> Reply {
        clear(ctx, self.tgt, &self.tgt_type)
    }
}

record! {
    /// Forgets the pillar or the mine of minions: this version keeps neither, so it is done at once.
    ///
    ///   salt-run cache.clear_pillar tgt='*'
    ///   salt-run cache.clear_mine tgt='*'
    ///   salt-run cache.clear_mine_func tgt='*' clear_mine_func_flag='network.interfaces'
    pub struct ClearNothing {
        /// Which minions.
        tgt: Option<Value> = (),
        /// The kind of target.
        tgt_type: String = "glob",
        /// Which function of the mine.
        clear_mine_func_flag: Option<String> = (),
    }
}

impl Run for ClearNothing {
    fn run(self, _: &Ctx) -> Reply {
        Ok(true.into())
    }
}

fn clear(ctx: &Ctx, tgt: Option<Value>, tgt_type: &str) -> Reply {
    let Some(tgt) = tgt else {
        return Err(Fault::invocation("tgt: whose? tgt='*' means all minions"));
    };
    let ids = matching(ctx, &tgt, tgt_type)?.into_iter().map(|(id, _)| id).collect();
    ctx.fleet.keep(Change::ForgetGrains(ids))?;
    Ok(true.into())
}

fn matching(ctx: &Ctx, tgt: &Value, tgt_type: &str) -> Result<Vec<(String, Map)>, Fault> {
    let target =
        Target::parse(tgt_type, tgt, ctx.nodegroups()).map_err(|error| Fault::invocation(error.to_string()))?;
    let mut found = Vec::new();
    for (id, grains) in with_grains(ctx)? {
        let pillar = match target.needs() {
            Needs::Pillar => compiled(ctx, &id, &grains, &Asked::default())?,
            _ => Map::new(),
        };
        if target.matches(&Minion { id: &id, grains: &grains, pillar: &pillar }) {
            found.push((id, grains));
        }
    }
    Ok(found)
}

/// The minions whose grains are kept.
pub fn with_grains(ctx: &Ctx) -> Result<Vec<(String, Map)>, Fault> {
    let mut known = ctx.archive.grains()?;
    known.retain(|(_, grains)| !grains.is_empty());
    Ok(known)
}
