//! `nodegroups`: the names of the nodegroups that the minion is in.

use super::{Source, Wanted, minion_id, no_directories};
use halite_core::{Ctx, Fault};
use halite_lang::target::{Minion, Target};
use halite_value::{Map, Value};

pub const SOURCE: Source = Source { name: "nodegroups", run, directories: no_directories };

fn run(ctx: &Ctx, wanted: &Wanted) -> Result<Map, Fault> {
    let name = match wanted.settings {
        Value::Map(map) => map.str_at("pillar_name"),
        Value::Str(name) => Some(name.as_str()),
        _ => None,
    };
    let name = name.filter(|name| !name.is_empty()).unwrap_or("nodegroups");
    Ok(Map::from_iter([(name, Value::list(of(ctx, wanted.pillar)?))]))
}

/// The nodegroups of the minion, in the order of the configuration.
pub(super) fn of(ctx: &Ctx, pillar: &Map) -> Result<Vec<String>, Fault> {
    let all = ctx.opts.at("nodegroups").and_then(Value::as_map);
    let minion = Minion { id: minion_id(ctx), grains: ctx.grains, pillar };
    let mut found = Vec::new();
    for name in all.into_iter().flat_map(Map::keys) {
        let target = Target::parse("nodegroup", name, all).map_err(|error| Fault::execution(error.to_string()))?;
        if target.matches(&minion) {
            found.push(name.to_text());
        }
    }
    Ok(found)
}
