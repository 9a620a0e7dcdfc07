//! How two trees of data become one: the strategies of `pillar_source_merging_strategy`, and the merges of functions.

use halite_value::{Map, Value};

/// What becomes of two lists in the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// The new one takes the place.
    Replace,
    /// What the old one does not have is put behind it.
    Join,
}

impl Lists {
    pub fn joined(joined: bool) -> Lists {
        if joined { Lists::Join } else { Lists::Replace }
    }
}

/// How sources go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Maps are merged on every level; else the new value counts.
    Recurse,
    /// What both have becomes a list of both; what only the new one has is dropped, as Salt does it.
    List,
    /// What is new replaces what is there, on the first level. `aggregate` is the same for data without yamlex's tags,
    /// which say what is aggregated below that.
    Overwrite,
    /// There is only one source.
    None,
}

impl Strategy {
    /// The strategy with this name. `smart` depends on the renderer.
    pub fn named(name: &str, renderer: &str) -> Strategy {
        match name {
            "smart" if renderer.ends_with("yamlex") || renderer.starts_with("yamlex_") => Strategy::Overwrite,
            "smart" | "recurse" => Strategy::Recurse,
            "list" => Strategy::List,
            "aggregate" | "overwrite" => Strategy::Overwrite,
            "none" => Strategy::None,
            other => {
                log::warn!("Unknown merging strategy '{other}', fallback to recurse");
                Strategy::Recurse
            }
        }
    }

    /// Puts `new` on top of `old`.
    pub fn merge(self, mut old: Map, new: Map, lists: Lists) -> Map {
        match self {
            Strategy::Recurse => update(&mut old, new, lists),
            Strategy::None => update(&mut old, new, Lists::Replace),
            Strategy::Overwrite => old.extend(new),
            Strategy::List => {
                for (key, value) in old.iter_mut() {
                    if let Some(other) = new.at_value(key) {
                        *value = Value::list([std::mem::take(value), other.clone()]);
                    }
                }
            }
        }
        old
    }
}

/// Merges maps on every level.
pub fn update(old: &mut Map, new: Map, lists: Lists) {
    for (key, value) in new {
        match (old.at_value_mut(&key), value) {
            (Some(Value::Map(inner)), Value::Map(value)) => update(inner, value, lists),
            (Some(Value::List(items)), Value::List(more)) if lists == Lists::Join => join(items, more),
            (_, value) => drop(old.insert(key, value)),
        }
    }
}

/// Puts those behind that are not there yet.
pub fn join(items: &mut Vec<Value>, more: Vec<Value>) {
    for item in more {
        if !items.contains(&item) {
            items.push(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    fn map(text: &str) -> Map {
        yaml::load(text).unwrap().as_map().unwrap().clone()
    }

    #[test]
    fn each_strategy_has_its_way() {
        let (old, new) = ("{a: {x: 1, l: [1, 2]}, b: 1, c: 5}", "{a: {y: 2, l: [2, 3]}, b: 2, d: 6}");
        let merged = |strategy: &str, lists| Strategy::named(strategy, "jinja|yaml").merge(map(old), map(new), lists);
        let recursed = map("{a: {x: 1, l: [2, 3], y: 2}, b: 2, c: 5, d: 6}");
        assert_eq!(merged("smart", Lists::Replace), recursed);
        assert_eq!(merged("nonsense", Lists::Replace), recursed);
        assert_eq!(merged("recurse", Lists::Join), map("{a: {x: 1, l: [1, 2, 3], y: 2}, b: 2, c: 5, d: 6}"));
        assert_eq!(merged("overwrite", Lists::Replace), map("{a: {y: 2, l: [2, 3]}, b: 2, c: 5, d: 6}"));
        assert_eq!(merged("list", Lists::Replace), map("{a: [{x: 1, l: [1, 2]}, {y: 2, l: [2, 3]}], b: [1, 2], c: 5}"));
    }
}
