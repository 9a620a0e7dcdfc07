//! `grains.list_present`, `list_absent` and `append`: grains that are lists.

use super::{DELIMITER, named, path, value_of};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, change, failed, single};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Makes sure that a grain is a list with these values.
    ///
    ///   roles:
    ///     grains.list_present:
    ///       - value: web
    pub struct ListPresent {
        /// The path of the grain.
        name: String,
        /// The value, or a list of values.
        value: Value,
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
    }
}

record! {
    /// Makes sure that a grain, which is a list, has none of these values.
    ///
    ///   roles:
    ///     grains.list_absent:
    ///       - value: db
    pub struct ListAbsent {
        /// The path of the grain.
        name: String,
        /// The value, or a list of values.
        value: Value,
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
    }
}

record! {
    /// Makes sure that a value stands in a grain that is a list.
    ///
    ///   grain_name:
    ///     grains.append:
    ///       - value: to_be_added
    pub struct Append {
        /// The path of the grain.
        name: String,
        /// The value.
        value: Value,
        /// Make a list of a grain that is none.
        convert: bool = false,
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
    }
}

impl State for ListPresent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let path = path(&self.name, &self.delimiter)?;
        let grain = value_of(context.ctx, &path)?.filter(Value::truthy);
        let (items, comment) = match &grain {
            None => (Vec::new(), format!("Grain {path} is set to be added")),
            Some(Value::List(items)) => (items.clone(), String::new()),
            Some(_) => return Ok(named(failed(format!("Grain {path} is not a valid list")), &path)),
        };
        let (missing, front) = match &self.value {
            Value::List(values) => {
                let (there, missing): (Vec<Value>, Vec<Value>) =
                    values.iter().cloned().partition(|value| items.contains(value));
                let front = match there.is_empty() {
                    true => String::new(),
                    false => format!(
                        "Removed value {} from update due to value found in \"{path}\" (or pending).\n",
                        Value::List(there).repr()
                    ),
                };
                (Value::List(missing), front)
            }
            value if items.contains(value) => (Value::List(Vec::new()), String::new()),
            value => (value.clone(), String::new()),
        };
        if missing.as_list().is_some_and(<[Value]>::is_empty) {
            let comment = format!("Value {} is already in grain {path} (or pending)", self.value.to_text());
            return Ok(named(already(comment), &path));
        }
        let would = match comment.is_empty() {
            true => format!("Value {} is set to be appended to grain {path}", missing.to_text()),
            false => comment,
        };
        let name = path.clone();
        let plan = change(single("new", grain.unwrap_or_else(|| "".into())), would, move |ctx| {
            let answer = ask(ctx, "grains.append", [("key", path.as_str().into()), ("val", missing.clone())])?;
            let now = value_of(ctx, &path)?.and_then(|now| now.as_list().map(<[Value]>::to_vec)).unwrap_or_default();
            let all_there = match &missing {
                Value::List(values) => values.iter().all(|value| now.contains(value)),
                value => now.contains(value),
            };
            let shown = missing.to_text();
            let outcome = match all_there {
                true => Outcome::done(format!("{front}Append value {shown} to grain {path}"))
                    .with_changes(single("new", answer)),
                false => Outcome::failed(format!("Failed append value {shown} to grain {path}")),
            };
            Ok(outcome.with("name", path))
        });
        Ok(named(plan, &name))
    }
}

impl State for ListAbsent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let path = path(&self.name, &self.delimiter)?;
        let items = match value_of(context.ctx, &path)?.filter(Value::truthy) {
            None => return Ok(named(already(format!("Grain {path} does not exist")), &path)),
            Some(Value::List(items)) => items,
            Some(_) => return Ok(named(failed(format!("Grain {path} is not a valid list")), &path)),
        };
        let values = match self.value {
            Value::List(values) => values,
            value => vec![value],
        };
        let deleted: Vec<Value> = values.iter().filter(|value| items.contains(value)).cloned().collect();
        let say = |fate: &str| {
            let line = |value: &Value| {
                let shown = value.to_text();
                match (deleted.contains(value), fate) {
                    (false, _) => format!("Value {shown} is absent from grain {path}"),
                    (true, "would") => format!("Value {shown} in grain {path} is set to be deleted"),
                    (true, _) => format!("Value {shown} was deleted from grain {path}"),
                }
            };
            values.iter().map(line).collect::<Vec<_>>().join("\n")
        };
        if deleted.is_empty() {
            return Ok(named(already(say("is")), &path));
        }
        let (would, done, name) = (say("would"), say("was"), path.clone());
        let changes = single("deleted", deleted.clone());
        let plan = change(changes.clone(), would, move |ctx| {
            for value in deleted {
                ask(ctx, "grains.remove", [("key", path.as_str().into()), ("val", value)])?;
            }
            Ok(Outcome::done(done).with_changes(changes).with("name", path))
        });
        Ok(named(plan, &name))
    }
}

impl State for Append {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let path = path(&self.name, &self.delimiter)?;
        let Some(grain) = value_of(context.ctx, &path)? else {
            return Ok(named(failed(format!("Grain {path} does not exist")), &path));
        };
        let (value, shown) = (self.value.clone(), self.value.to_text());
        let name = path.clone();
        let added: Map = single("added", value.clone());
        let done = Outcome::done(format!("Value {shown} was added to grain {path}")).with_changes(added.clone());
        let done = done.with("name", path.as_str());
        let plan = match grain {
            Value::List(items) if items.contains(&value) => {
                already(format!("Value {shown} is already in the list for grain {path}"))
            }
            Value::List(_) => {
                let would = format!("Value {shown} in grain {path} is set to be added");
                change(added, would, move |ctx: &Ctx| {
                    ask(ctx, "grains.append", [("key", path.as_str().into()), ("val", value)])?;
                    Ok(done)
                })
            }
            other if self.convert => {
                let would = format!("Grain {path} is set to be converted to list and value {shown} will be added");
                change(added, would, move |ctx: &Ctx| {
                    let front = if other.is_null() { Vec::new() } else { vec![other] };
                    let all: Vec<Value> = front.into_iter().chain([value]).collect();
                    ask(ctx, "grains.setval", [("key", path.as_str().into()), ("val", all.into())])?;
                    Ok(done)
                })
            }
            _ => failed(format!("Grain {path} is not a valid list")),
        };
        Ok(named(plan, &name))
    }
}
