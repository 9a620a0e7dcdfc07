//! `environ.*`: environment variables of what this minion runs.

use halite_core::Fault;
use halite_core::context::NO_DAEMON_ENVIRONMENT;
use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, ask, change, failed, stands, state};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module =
    Module { name: "environ", doc: "Environment variables of what this minion runs.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Setenv>("setenv")];

record! {
    /// Sets environment variables for what runs later in this job.
    ///
    ///   http_proxy:
    ///     environ.setenv:
    ///       - value: http://192.0.2.1:3128
    pub struct Setenv {
        /// The variable; an ID where `value` is a map.
        name: String,
        /// Its value, False for none, or a map of variables and their values.
        value: Value,
        /// Whether a variable that is False is removed instead of emptied.
        false_unsets: bool = false,
        /// Whether all others are emptied or removed.
        clear_all: bool = false,
        /// Whether the daemon gets them too: this version cannot.
        update_minion: bool = false,
        /// Taken, not used: it is for Windows.
        permanent: Value = false,
    }
}

impl State for Setenv {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let wanted = match self.value {
            Value::Map(map) => map,
            value @ (Value::Str(_) | Value::Bool(false)) => Map::from_iter([(self.name, value)]),
            _ => return Ok(failed("Environ value must be string, dict or False")),
        };
        if self.update_minion {
            return Ok(failed(NO_DAEMON_ENVIRONMENT));
        }
        let current = context.ctx.host.environment();
        let nothing = if self.false_unsets { Value::Null } else { "".into() };
        let mut changes = Map::new();
        if self.clear_all {
            let others = current.keys().filter(|key| !wanted.contains(key.as_str()));
            changes.extend(others.map(|key| (key.as_str(), nothing.clone())).collect::<Map>());
        }
        for (key, value) in wanted.iter() {
            let there = current.get(&key.to_text()).map(String::as_str);
            let is_right = match value {
                Value::Bool(false) if self.false_unsets => there.is_none(),
                Value::Bool(false) => there == Some(""),
                value => there.unwrap_or_default() == value.to_text(),
            };
            if !is_right {
                let to = if *value == Value::Bool(false) { nothing.clone() } else { value.clone() };
                changes.insert(key.clone(), to);
            }
        }
        if changes.is_empty() {
            let said = |verb: &str| Outcome::done(format!("Environ values {verb} already set with the correct values"));
            return Ok(stands(said("are"), said("were")));
        }
        let words = [
            ("environ", wanted.into()),
            ("false_unsets", self.false_unsets.into()),
            ("clear_all", self.clear_all.into()),
            ("update_minion", self.update_minion.into()),
            ("permanent", self.permanent),
        ];
        Ok(change(changes, "Environ values will be changed", move |ctx| {
            Ok(match ask(ctx, "environ.setenv", words)? {
                Value::Map(set) if !set.is_empty() => Outcome::done("Environ values were set").with_changes(set),
                _ => Outcome::failed("Failed to set environ variables"),
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::fake::Fake;
    use halite_value::record::Arguments;

    #[test]
    fn only_what_differs_is_set() {
        let world = World::on(Fake::new().env("A", "1"));
        let words = |value: &str| Arguments::default().with("name", "A").with("value", value);
        let (_, done) = both(&world, planned(&world, "environ.setenv", words("1")));
        assert_eq!(done.comment, "Environ values were already set with the correct values");
        let (would, done) = both(&world, planned(&world, "environ.setenv", words("2")));
        assert_eq!((would.result, would.changes.str_at("A")), (None, Some("2")));
        assert_eq!((done.comment.as_str(), done.changes.str_at("A")), ("Environ values were set", Some("2")));
        let (wrong, _) =
            both(&world, planned(&world, "environ.setenv", Arguments::default().with("name", "A").with("value", 3)));
        assert_eq!(wrong.comment, "Environ value must be string, dict or False");
    }
}
