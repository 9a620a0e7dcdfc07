//! Which versions the minions have.

use crate::runners::fleet::Order;
use crate::runners::{Ctx, Run};
use halite_core::{Reply, VERSION};
use halite_value::record;
use halite_value::{Map, Value};
use std::cmp::Ordering;

record! {
    /// Shows the versions of the minions, sorted into those as new as the master, older and newer ones, and those that
    /// did not answer.
    ///
    ///   salt-run manage.versions
    pub struct Versions {}
}

impl Run for Versions {
    fn run(self, ctx: &Ctx) -> Reply {
        let gathered = ctx.fleet.publish(Order::for_all("test.version"))?;
        let mut shown = Map::from_iter([("Master", VERSION)]);
        for id in &gathered.minions {
            let answer = gathered.answers.iter().find(|answer| answer.id == *id && answer.retcode == 0);
            let version = answer.and_then(|answer| answer.value.as_str());
            let label = match version.map(|version| numbers(version).cmp(&numbers(VERSION))) {
                None => "Minion offline",
                Some(Ordering::Less) => "Minion requires update",
                Some(Ordering::Equal) => "Up to date",
                Some(Ordering::Greater) => "Minion newer than master",
            };
            if let Value::Map(group) = shown.entry_or(label, || Map::new().into()) {
                group.insert(id.as_str(), version.map_or(Value::Bool(false), Value::from));
            }
        }
        Ok(shown.into())
    }
}

/// The numbers in front of a version.
fn numbers(version: &str) -> Vec<u64> {
    let front = version.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
    front.split('.').filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn versions_compare_by_their_numbers() {
        assert!(numbers("0.9.0-halite") < numbers("0.10.0-halite"));
        assert_eq!(numbers("0.1.0-halite"), numbers("0.1.0"));
        assert!(numbers("") < numbers("0.1"));
    }
}
