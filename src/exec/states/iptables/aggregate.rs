//! `aggregate` for rules: those of several states are set one after the other by one state, and saved once.

use halite_core::requisite::is_internal;
use halite_value::{Map, Value};

/// What goes together.
const TOGETHER: [&str; 2] = ["append", "insert"];

pub fn aggregate(low: &mut Map, other: &Map) -> bool {
    let fits = low.str_at("fun").is_some_and(|fun| TOGETHER.contains(&fun)) && low.at("fun") == other.at("fun");
    if fits {
        let mut all = rules(low);
        all.extend(rules(other));
        low.insert("rules", all);
    }
    fits
}

/// The rules of a chunk: those that it lists, or the one that it is.
fn rules(low: &Map) -> Vec<Value> {
    match low.at("rules") {
        Some(Value::List(rules)) => rules.clone(),
        _ => {
            let own = low.iter().filter(|(name, _)| {
                let name = name.to_text();
                name == "name" || !is_internal(&name)
            });
            vec![own.map(|(name, value)| (name.clone(), value.clone())).collect::<Map>().into()]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_lang::yaml;

    fn low(text: &str) -> Map {
        yaml::load(text).unwrap().as_map().unwrap().clone()
    }

    #[test]
    fn rules_of_one_kind_go_together() {
        let own = "state: iptables, __id__: x, order: 10000, require: [{pkg: a}]";
        let cases = [
            (
                format!("{{fun: append, {own}, name: a, chain: INPUT, dport: 22}}"),
                format!("{{fun: append, {own}, name: b, chain: INPUT, save: true}}"),
                Some("[{name: a, chain: INPUT, dport: 22}, {name: b, chain: INPUT, save: true}]"),
            ),
            (
                format!("{{fun: insert, {own}, name: a, rules: [{{chain: A}}, {{chain: B}}]}}"),
                format!("{{fun: insert, {own}, name: b, chain: C}}"),
                Some("[{chain: A}, {chain: B}, {name: b, chain: C}]"),
            ),
            (format!("{{fun: insert, {own}, name: a}}"), format!("{{fun: append, {own}, name: b}}"), None),
            (format!("{{fun: delete, {own}, name: a}}"), format!("{{fun: delete, {own}, name: b}}"), None),
        ];
        for (first, second, wanted) in cases {
            let mut first = low(&first);
            let together = aggregate(&mut first, &low(&second));
            let rules = first.at("rules").cloned().filter(|_| together);
            assert_eq!(rules, wanted.map(|text| yaml::load(text).unwrap()), "{second}");
        }
    }
}
