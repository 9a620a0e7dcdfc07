//! A job as runners show it.

use halite_core::jid::Jid;
use halite_value::{Map, Value};

/// Whether the targets are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    WithMinions,
    WithoutMinions,
}

/// The job of a load.
pub fn described(jid: &str, load: &Map, detail: Detail) -> Map {
    let field = |key: &str| load.at(key).cloned().unwrap_or_default();
    let mut shown = Map::from_iter([
        ("Function", field("fun")),
        ("Arguments", Value::List(load.at("arg").and_then(Value::as_list).unwrap_or_default().to_vec())),
        ("Target", field("tgt")),
        ("Target-type", field("tgt_type")),
        ("User", field("user")),
    ]);
    if let Some(metadata) = metadata(load) {
        shown.insert("Metadata", metadata.clone());
    }
    if let Some(minions) = load.at("Minions").filter(|_| detail == Detail::WithMinions) {
        shown.insert("Minions", minions.clone());
    }
    let start = Jid::parse(jid).map(|jid| jid.start_time()).unwrap_or_default();
    shown.insert("StartTime", start);
    shown
}

/// What `--metadata` said of the job, else its keyword argument of that name.
pub fn metadata(load: &Map) -> Option<&Value> {
    load.at("metadata").or_else(|| {
        let arguments = load.at("arg")?.as_list()?.iter().filter_map(Value::as_map);
        arguments.filter(|map| map.contains("__kwarg__")).find_map(|map| map.at("metadata"))
    })
}

/// What is shown of a full return.
pub fn result(ret: &Map) -> Map {
    let shown = ["return", "retcode", "success", "out"];
    shown.iter().filter_map(|key| Some((*key, ret.at(key)?.clone()))).collect()
}
