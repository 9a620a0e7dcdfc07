//! `state_compress_ids`: states that one id made from several names, as one state for each result.

use halite_value::{Map, Value};
use std::collections::HashMap;

/// The name of a state that stands for several; its id ends with their number in parentheses.
pub const PREFIX: &str = "state_compressed_";

/// The states of a minion, those of one id, SLS and result together. The first of them is kept, with the sum of the
/// durations, the earliest start, the lowest number and the changes of all by name.
pub fn compress(states: &Map) -> Map {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for (tag, state) in states {
        *counts.entry(group(tag, state)).or_default() += 1;
    }
    let mut out = Map::new();
    for (tag, state) in states {
        let group = group(tag, state);
        let count = counts[&group];
        let Some(state) = state.as_map().filter(|_| count > 1) else {
            out.insert(tag.clone(), state.clone());
            continue;
        };
        let tag = tag.to_text();
        let module = tag.split("_|-").next().unwrap_or_default();
        let function = tag.split("_|-").last().unwrap_or_default();
        let field = |name: &str| state.at(name).map(Value::to_text).unwrap_or_default();
        let (sls, id, result) = (field("__sls__"), field("__id__"), field("result"));
        let tag = format!("{module}_|-{id} ({count})_|-{PREFIX}{sls}_{id}_{result}_|-{function}");
        match out.at_mut(&tag) {
            Some(Value::Map(first)) => add(first, state),
            _ => {
                out.insert(tag, state.clone());
            }
        }
    }
    out
}

fn group(tag: &Value, state: &Value) -> String {
    let field = |name: &str| state.at(name).map(Value::to_text).unwrap_or_default();
    let tag = tag.to_text();
    let module = tag.split("_|-").next().unwrap_or_default();
    format!("{module}\0{}\0{}\0{}", field("__id__"), field("__sls__"), field("result"))
}

fn add(first: &mut Map, state: &Map) {
    let number = |map: &Map, name: &str| map.at(name).and_then(Value::as_float).unwrap_or(0.0);
    if number(state, "__run_num__") < number(first, "__run_num__") {
        first.insert("__run_num__", state.at("__run_num__").cloned());
    }
    let duration = ((number(first, "duration") + number(state, "duration")) * 1000.0).round() / 1000.0;
    first.insert("duration", duration);
    if state.str_at("start_time") < first.str_at("start_time") {
        first.insert("start_time", state.at("start_time").cloned());
    }
    let Some(changes) = state.at("changes").filter(|changes| changes.truthy()).cloned() else { return };
    let name = |map: &Map| map.at("name").cloned().unwrap_or_default();
    let before = first.at("changes").filter(|changes| changes.truthy()).cloned();
    let mut all = match before {
        None => Map::new(),
        Some(before) => match before.at(TOGETHER).and_then(Value::as_map) {
            Some(all) => all.clone(),
            None => Map::from_iter([(name(first), before)]),
        },
    };
    all.insert(name(state), changes);
    first.insert("changes", Map::from_iter([(TOGETHER, all)]));
}

/// The key under which the changes of all stand.
pub const TOGETHER: &str = "compressed changes";
