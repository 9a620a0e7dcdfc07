//! `grains.*`: what a minion is to know of itself.

mod list;

use halite_core::state::{
    Function, Module, Outcome, Plan, PlanContext, State, already, ask, change, failed, single, state,
};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

pub const MODULE: Module = Module { name: "grains", doc: "What a minion is to know of itself.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    state::<Absent>("absent"),
    state::<list::Append>("append"),
    state::<Exists>("exists"),
    state::<list::ListAbsent>("list_absent"),
    state::<list::ListPresent>("list_present"),
    state::<Present>("present"),
];

const DELIMITER: &str = ":";

record! {
    /// Asks that a grain is there.
    ///
    ///   roles:
    ///     grains.exists: []
    pub struct Exists {
        /// The path of the grain.
        name: String,
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
    }
}

record! {
    /// Makes sure that a grain has a value. Lists and maps are not overwritten unasked.
    ///
    ///   cheese:
    ///     grains.present:
    ///       - value: edam
    pub struct Present {
        /// The path of the grain.
        name: String,
        /// Its value.
        value: Value,
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
        /// Overwrite lists and maps too.
        force: bool = false,
    }
}

record! {
    /// Makes sure that a grain has no value.
    ///
    ///   cheese:
    ///     grains.absent:
    ///       - destructive: True
    pub struct Absent {
        /// The path of the grain.
        name: String,
        /// Take the grain away instead of emptying it.
        destructive: bool = false,
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
        /// Also when it is a list or a map.
        force: bool = false,
    }
}

impl State for Exists {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let path = path(&self.name, &self.delimiter)?;
        Ok(match value_of(context.ctx, &path)? {
            Some(_) => named(already("Grain exists"), &path),
            None => named(failed("Grain does not exist"), &path),
        })
    }
}

impl State for Present {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let path = path(&self.name, &self.delimiter)?;
        let (value, force) = (self.value, self.force);
        let (changes, comment) = match value_of(context.ctx, &path)? {
            Some(existing) if existing == value => return Ok(named(already("Grain is already set"), &path)),
            Some(_) => {
                let changed = single("changed", single(&path, value.clone()));
                (changed, format!("Grain {path} is set to be changed"))
            }
            None => (single("new", path.as_str()), format!("Grain {path} is set to be added")),
        };
        let name = path.clone();
        let plan = change(changes, comment, move |ctx| {
            let comment = format!("Set grain {path} to {}", value.to_text());
            let mut set = written(ctx, &path, value, force, false)?.with("name", path.as_str());
            if set.result == Some(true) && !set.changes.is_empty() {
                set.comment = comment;
            }
            Ok(set)
        });
        Ok(named(plan, &name))
    }
}

impl State for Absent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let path = path(&self.name, &self.delimiter)?;
        let (destructive, force) = (self.destructive, self.force);
        let Some(value) = value_of(context.ctx, &path)? else {
            return Ok(named(already(format!("Grain {path} does not exist")), &path));
        };
        if value.is_null() && !destructive {
            return Ok(named(already("Grain is already set"), &path));
        }
        let emptied = || Map::from_iter([("grain", Value::from(path.as_str())), ("value", Value::Null)]);
        let (changes, would, done) = match destructive {
            true => {
                let deleted = single("deleted", path.as_str());
                (deleted, format!("Grain {path} is set to be deleted"), format!("Grain {path} was deleted"))
            }
            false => (
                emptied(),
                format!("Value for grain {path} is set to be deleted (None)"),
                format!("Value for grain {path} was set to None"),
            ),
        };
        let (name, after) = (path.clone(), changes.clone());
        let plan = change(changes, would, move |ctx| {
            let set = written(ctx, &path, Value::Null, force, destructive)?.with("name", path.as_str());
            Ok(match set.result {
                Some(true) => Outcome { comment: done, changes: after, ..set },
                _ => set,
            })
        });
        Ok(named(plan, &name))
    }
}

/// The path as grains have it.
fn path(name: &str, delimiter: &str) -> Result<String, Fault> {
    match delimiter {
        "" => Err(Fault::invocation("the delimiter is empty")),
        delimiter => Ok(name.replace(delimiter, DELIMITER)),
    }
}

/// The value of a grain; nothing where there is none, which is not the same as none.
fn value_of(ctx: &Ctx, path: &str) -> Result<Option<Value>, Fault> {
    let has = ctx.run("grains.has_value", Arguments::positional([path]))?;
    let found = ask(ctx, "grains.get", [("key", path.into()), ("default", MISSING.into())])?;
    Ok((has.truthy() || found.as_str() != Some(MISSING)).then_some(found))
}

/// No grain has this value.
const MISSING: &str = "\0missing";

/// What `grains.set` says.
fn written(ctx: &Ctx, path: &str, value: Value, force: bool, destructive: bool) -> Result<Outcome, Fault> {
    let mut words =
        halite_core::state::given([("key", path.into()), ("force", force.into()), ("destructive", destructive.into())]);
    words.insert("val", value);
    let answer = ctx.run("grains.set", Arguments::keywords(words))?;
    let changes = answer.at("changes").and_then(Value::as_map).cloned().unwrap_or_default();
    let result = answer.at("result").is_some_and(Value::truthy);
    Ok(Outcome::new(Some(result), answer.at("comment").map(Value::to_text).unwrap_or_default()).with_changes(changes))
}

/// The result bears the path.
fn named(plan: Plan, path: &str) -> Plan {
    match plan {
        Plan::Stands(outcome) => Plan::Stands(outcome.with("name", path)),
        Plan::Changes { would, apply } => Plan::Changes { would: would.with("name", path), apply },
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::fake::Fake;
    use halite_lang::yaml;
    use halite_value::record::Arguments;

    #[test]
    fn grains_are_as_the_table_says() {
        // The state, its arguments; what test mode says; what is said when it is done, and what it has changed.
        for (fun, arguments, would, done, changes) in [
            ("exists", "{name: a}", "Grain exists", "Grain exists", "{}"),
            ("exists", "{name: none}", "Grain does not exist", "Grain does not exist", "{}"),
            ("present", "{name: a, value: 1}", "Grain is already set", "Grain is already set", "{}"),
            ("present", "{name: a, value: 2}", "Grain a is set to be changed", "Set grain a to 2", "{'a': 2}"),
            ("present", "{name: b, value: x}", "Grain b is set to be added", "Set grain b to x", "{'b': 'x'}"),
            (
                "present",
                "{name: 'm,k', value: 1, delimiter: ','}",
                "Grain is already set",
                "Grain is already set",
                "{}",
            ),
            ("absent", "{name: none}", "Grain none does not exist", "Grain none does not exist", "{}"),
            (
                "absent",
                "{name: a}",
                "Value for grain a is set to be deleted (None)",
                "Value for grain a was set to None",
                "{'grain': 'a', 'value': None}",
            ),
            (
                "absent",
                "{name: a, destructive: true}",
                "Grain a is set to be deleted",
                "Grain a was deleted",
                "{'deleted': 'a'}",
            ),
            (
                "list_present",
                "{name: l, value: x}",
                "Value x is already in grain l (or pending)",
                "Value x is already in grain l (or pending)",
                "{}",
            ),
            (
                "list_present",
                "{name: l, value: z}",
                "Value z is set to be appended to grain l",
                "Append value z to grain l",
                "{'new': {'l': ['x', 'y', 'z']}}",
            ),
            ("list_present", "{name: a, value: z}", "Grain a is not a valid list", "Grain a is not a valid list", "{}"),
            (
                "list_absent",
                "{name: l, value: [x, q]}",
                "Value x in grain l is set to be deleted\nValue q is absent from grain l",
                "Value x was deleted from grain l\nValue q is absent from grain l",
                "{'deleted': ['x']}",
            ),
            ("list_absent", "{name: none, value: x}", "Grain none does not exist", "Grain none does not exist", "{}"),
            (
                "append",
                "{name: l, value: z}",
                "Value z in grain l is set to be added",
                "Value z was added to grain l",
                "{'added': 'z'}",
            ),
            (
                "append",
                "{name: a, value: z, convert: true}",
                "Grain a is set to be converted to list and value z will be added",
                "Value z was added to grain a",
                "{'added': 'z'}",
            ),
            ("append", "{name: a, value: z}", "Grain a is not a valid list", "Grain a is not a valid list", "{}"),
        ] {
            let mut world = World::on(Fake::new());
            world.grains = yaml::load("{a: 1, l: [x, y], m: {k: 1}}").unwrap().as_map().unwrap().clone();
            world.opts.insert("conf_file", "/etc/salt/minion");
            let given = yaml::load(arguments).unwrap().as_map().unwrap().clone();
            let plan = planned(&world, &format!("grains.{fun}"), Arguments::keywords(given));
            let (tested, applied) = both(&world, plan);
            assert_eq!(tested.comment, would, "{fun} {arguments}");
            assert_eq!(applied.comment, done, "{fun} {arguments}");
            assert_eq!(halite_value::Value::Map(applied.changes).repr(), changes, "{fun} {arguments}");
        }
    }
}
