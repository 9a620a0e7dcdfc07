//! `selinux.boolean`: booleans of the policy, one or many at once.

use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, change, failed, from_to};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Makes sure that booleans of SELinux's policy are on or off.
    ///
    ///   httpd_can_network_connect:
    ///     selinux.boolean:
    ///       - value: True
    ///       - persist: True
    pub struct Boolean {
        /// The boolean; not used where there are `booleans`.
        name: String,
        /// Whether it is on.
        value: Value = (),
        /// Several: a list of names, which get `value`, and of `name: value`; or a map.
        booleans: Value = (),
        /// Whether it stays so at the next boot.
        persist: bool = false,
    }
}

impl State for Boolean {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let wanted = if self.booleans.truthy() {
            every(&self.booleans, &self.value)
        } else {
            Map::from_iter([(self.name, self.value)])
        };
        let known = ask(context.ctx, "selinux.list_sebool", [])?;
        let persist = self.persist;
        let (mut correct, mut pairs, mut changes) = (Vec::new(), Map::new(), Map::new());
        for (name, value) in wanted.iter() {
            let name = name.to_text();
            let Some(boolean) = known.at(&name) else {
                return Ok(failed(format!("Boolean {name} is not available")));
            };
            let Some(word) = on_or_off(value) else {
                let value = value.to_text();
                return Ok(failed(format!("{value} is not a valid value for the boolean {name}")));
            };
            let is = |field: &str| boolean.at(field).cloned().unwrap_or_default();
            let (now, at_boot) = (is("State"), is("Default"));
            if now.as_str() == Some(word) && (!persist || at_boot.as_str() == Some(word)) {
                correct.push(name);
                continue;
            }
            let changed = match persist {
                true => from_to(vec![now, at_boot], vec![word, word]),
                false => from_to(now, word),
            };
            changes.insert(name.as_str(), changed);
            pairs.insert(name, word);
        }
        let mut comments = Vec::new();
        if !correct.is_empty() {
            comments.push(format!("The following booleans were in the correct state: {}", listed(correct)));
        }
        if pairs.is_empty() {
            return Ok(already(comments.join("\n")));
        }
        let names = listed(pairs.keys().map(Value::to_text).collect());
        let with = |last: String| comments.iter().cloned().chain([last]).collect::<Vec<String>>().join("\n");
        let would = with(format!("The following booleans would be changed: {names}"));
        let done = with(format!("The following booleans have been changed: {names}"));
        Ok(change(changes.clone(), would, move |ctx: &Ctx| {
            let answer = ask(ctx, "selinux.setsebools", [("pairs", pairs.into()), ("persist", persist.into())])?;
            Ok(match answer.truthy() {
                true => Outcome::done(done).with_changes(changes),
                false => Outcome::failed(format!("Failed to set the following booleans: {}", wanted_text(&wanted))),
            })
        }))
    }
}

fn wanted_text(wanted: &Map) -> String {
    Value::Map(wanted.clone()).to_text()
}

fn listed(mut names: Vec<String>) -> String {
    names.sort();
    names.join(", ")
}

fn on_or_off(value: &Value) -> Option<&'static str> {
    match value.to_text().to_lowercase().as_str() {
        "1" | "on" | "yes" | "true" => Some("on"),
        "0" | "off" | "no" | "false" => Some("off"),
        _ => None,
    }
}

/// All booleans that are named in a list or a map; names alone get `value`.
fn every(booleans: &Value, value: &Value) -> Map {
    let mut all = Map::new();
    match booleans {
        Value::Map(map) => all.extend(map.clone()),
        Value::List(items) => {
            for item in items {
                match item {
                    Value::Map(map) => all.extend(map.clone()),
                    name => {
                        all.insert(name.clone(), value.clone());
                    }
                }
            }
        }
        name => {
            all.insert(name.clone(), value.clone());
        }
    }
    all
}

/// `aggregate`: booleans that several states want are set by one command.
pub fn aggregate(low: &mut Map, other: &Map) -> bool {
    let is_boolean = low.str_at("fun") == Some("boolean");
    if !is_boolean || ["fun", "persist"].iter().any(|key| low.at(key) != other.at(key)) {
        return false;
    }
    let mut all = wanted(low);
    all.extend(wanted(other));
    low.insert("booleans", all);
    true
}

/// The booleans of a chunk.
fn wanted(low: &Map) -> Map {
    let value = low.at("value").cloned().unwrap_or_default();
    match low.at("booleans") {
        Some(booleans) => every(booleans, &value),
        None => Map::from_iter([(low.at("name").cloned().unwrap_or_default(), value)]),
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
    fn booleans_of_one_kind_are_set_together() {
        let cases = [
            (
                "{fun: boolean, name: a, value: true}",
                "{fun: boolean, name: b, value: false}",
                Some("{a: true, b: false}"),
            ),
            (
                "{fun: boolean, name: x, value: on, booleans: [a, {b: off}]}",
                "{fun: boolean, name: c, value: 1}",
                Some("{a: on, b: off, c: 1}"),
            ),
            (
                "{fun: boolean, name: x, booleans: {a: on}}",
                "{fun: boolean, name: y, booleans: {a: off}}",
                Some("{a: off}"),
            ),
            ("{fun: boolean, name: a, value: on}", "{fun: boolean, name: b, value: on, persist: true}", None),
            ("{fun: mode, name: enforcing}", "{fun: mode, name: permissive}", None),
            ("{fun: boolean, name: a, value: on}", "{fun: mode, name: permissive}", None),
        ];
        for (first, second, wanted) in cases {
            let mut first = low(first);
            let together = aggregate(&mut first, &low(second));
            let booleans = first.at("booleans").cloned().filter(|_| together);
            assert_eq!(booleans, wanted.map(|text| Value::from(low(text))), "{second}");
        }
    }
}
