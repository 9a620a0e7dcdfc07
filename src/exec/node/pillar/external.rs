//! External pillars (`ext_pillar`): data for the pillar that is not in its SLS files.
//!
//! One is a file with a [`Source`] and one line in [`SOURCES`].

mod cmd;
mod extra_minion_data;
mod file_tree;
mod nodegroups;
mod stack;

use super::Merge;
use halite_core::pillar_request::Asked;
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};
use std::path::PathBuf;

/// Every external pillar, sorted by name.
const SOURCES: &[Source] =
    &[cmd::JSON, cmd::YAML, extra_minion_data::SOURCE, file_tree::SOURCE, nodegroups::SOURCE, stack::SOURCE];

/// An external pillar.
pub struct Source {
    /// Its key in `ext_pillar`.
    pub name: &'static str,
    /// Its data for the minion of the context.
    pub run: fn(&Ctx, &Wanted) -> Result<Map, Fault>,
    /// The directories that it reads, so that a pillar is compiled anew when something in them changes.
    pub directories: fn(&Map, &Value) -> Vec<PathBuf>,
}

/// What an external pillar is given besides the minion.
pub struct Wanted<'w> {
    /// What stands below its key.
    pub settings: &'w Value,
    /// The pillar as far as it is there.
    pub pillar: &'w Map,
    pub asked: &'w Asked,
}

/// Puts the data of all that are configured on top of a pillar, and of the one that is asked for.
pub(super) fn add(ctx: &Ctx, asked: &Asked, merge: Merge, mut pillar: Map, errors: &mut Vec<String>) -> Map {
    let mut runs = match ctx.opts.at("ext_pillar") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::List(runs)) => runs.clone(),
        Some(_) => {
            errors.push(MALFORMED.to_owned());
            return pillar;
        }
    };
    match not_on_demand(ctx, &asked.ext) {
        Some(refused) => errors.push(refused),
        None if asked.ext.is_empty() => {}
        None => runs.push(asked.ext.clone().into()),
    }
    if !runs.is_empty() {
        pillar = merge.merge(pillar, asked.over.clone());
    }
    for run in &runs {
        let Value::Map(run) = run else {
            errors.push(MALFORMED.to_owned());
            continue;
        };
        for (name, settings) in run {
            let name = name.to_text();
            let Some(source) = find(&name) else {
                errors.push(format!("ext_pillar '{name}' is not available; there are {}", names().join(", ")));
                continue;
            };
            match (source.run)(ctx, &Wanted { settings, pillar: &pillar, asked }) {
                Ok(data) => pillar = merge.merge(pillar, data),
                Err(fault) => errors.push(format!("Failed to load ext_pillar {name}: {fault}")),
            }
        }
    }
    pillar
}

/// Why an external pillar that a minion asks for is not asked: it is none that `on_demand_ext_pillar` names. It may be a
/// command that runs on the master.
fn not_on_demand(ctx: &Ctx, ext: &Map) -> Option<String> {
    let allowed = ctx.opts.at("on_demand_ext_pillar").and_then(Value::as_list).unwrap_or_default();
    let (allowed, wanted): (Vec<String>, Vec<String>) =
        (allowed.iter().map(Value::to_text).collect(), ext.keys().map(Value::to_text).collect());
    let refused: Vec<&str> = wanted.iter().filter(|name| !allowed.contains(name)).map(String::as_str).collect();
    (!refused.is_empty()).then(|| {
        format!(
            "ext_pillar {} cannot be asked for: on_demand_ext_pillar allows {}",
            refused.join(", "),
            allowed.join(", ")
        )
    })
}

const MALFORMED: &str = "The \"ext_pillar\" option is malformed: it wants a list of maps";

/// The directories that the configured ones read.
pub(super) fn directories(opts: &Map) -> Vec<PathBuf> {
    let runs = opts.at("ext_pillar").and_then(Value::as_list).unwrap_or_default();
    let entries = runs.iter().filter_map(Value::as_map).flat_map(Map::iter);
    entries
        .filter_map(|(name, settings)| find(name.as_str()?).map(|source| (source.directories)(opts, settings)))
        .flatten()
        .collect()
}

fn find(name: &str) -> Option<&'static Source> {
    SOURCES.iter().find(|source| source.name == name)
}

fn names() -> Vec<&'static str> {
    SOURCES.iter().map(|source| source.name).collect()
}

/// For those that read no directory.
fn no_directories(_: &Map, _: &Value) -> Vec<PathBuf> {
    Vec::new()
}

fn minion_id<'c>(ctx: &'c Ctx) -> &'c str {
    ctx.opts.str_at("id").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(SOURCES.is_sorted_by(|a, b| a.name < b.name));
    }
}
