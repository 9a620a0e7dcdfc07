//! `exclude`: SLS and IDs that are left out.

use super::sheet;
use halite_lang::target::fnmatch::Pattern;
use halite_value::{Map, Value};
use std::collections::HashSet;

/// Leaves out what `__exclude__` names: `sls: PATTERN` (or the pattern alone) and `id: NAME`.
pub fn apply(mut high: Map) -> Map {
    let Some(exclude) = high.remove("__exclude__") else {
        return high;
    };
    let mut patterns = Vec::new();
    let mut ids: HashSet<String> = HashSet::new();
    for item in exclude.as_list().unwrap_or_default() {
        match item {
            Value::Str(sls) => patterns.push(Pattern::new(sls)),
            Value::Map(map) if map.len() == 1 => match map.first() {
                Some((Value::Str(kind), value)) if kind == "sls" => patterns.push(Pattern::new(&value.to_text())),
                Some((Value::Str(kind), value)) if kind == "id" => drop(ids.insert(value.to_text())),
                _ => {}
            },
            _ => {}
        }
    }
    high.retain(|id, body| {
        let sls = sheet::mark(body, "__sls__", "");
        let is_state = !sheet::is_hidden(id);
        let by_sls = is_state && !sls.is_empty() && patterns.iter().any(|pattern| pattern.matches(sls));
        !by_sls && !ids.contains(&id.to_text())
    });
    high
}
