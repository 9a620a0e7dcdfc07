//! `module.*`: execution functions as states.

use super::wait::Wait;
use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, failed, state};
use halite_core::{Audience, Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords, Kind};
use halite_value::{Map, Value};

pub const MODULE: Module =
    Module { name: "module", doc: "Call execution functions from an SLS.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] =
    &[state::<Run>("mod_watch"), state::<Run>("run"), state::<Wait>("wait"), state::<Wait>("watch")];

record! {
    /// Calls execution functions, each with its arguments.
    ///
    ///   fetch and check:
    ///     module.run:
    ///       - test.echo:
    ///         - text: hi
    ///       - test.ping:
    ///
    /// The older form names one function, and gives its arguments beside it:
    ///
    ///   say hi:
    ///     module.run:
    ///       - name: test.echo
    ///       - text: hi
    pub struct Run {
        /// The function, in the older form.
        name: String = "",
        /// The function of the state, where it runs because something has changed.
        sfun: Value = (),
        kwargs: Keywords,
    }
}

impl State for Run {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let functions = self.kwargs.0.keys().filter(|key| key.to_text().contains('.')).count();
        if functions == self.kwargs.0.len() && functions > 0 {
            return Ok(each(self.kwargs.0, context.ctx));
        }
        // With other names than functions it is the older form.
        Ok(one(self.name, self.kwargs.0, context))
    }
}

/// Several functions.
fn each(calls: Map, ctx: &Ctx) -> Plan {
    let names = Value::list(calls.keys().cloned());
    let bare = |key: &Value| key.to_text().split(':').next().unwrap_or_default().to_owned();
    let (known, missing): (Vec<String>, Vec<String>) =
        calls.keys().map(bare).partition(|fun| ctx.functions.find(fun).is_some());
    if !missing.is_empty() {
        let plural = if missing.len() > 1 { "s" } else { "" };
        let comment = format!("Unavailable function{plural}: {}.", missing.join(", "));
        return Plan::Stands(Outcome::new(Some(false), comment).with("name", names));
    }
    let plural = if known.len() > 1 { "s" } else { "" };
    let would = format!("Function{plural} {} to be executed.", known.join(", "));
    let would = Outcome::new(None, would).with("name", names.clone());
    Plan::Changes { would, apply: Box::new(move |ctx| Ok(run_each(ctx, calls).with("name", names))) }
}

fn run_each(ctx: &Ctx, calls: Map) -> Outcome {
    let (mut failures, mut successes, mut changes) = (Vec::new(), Vec::new(), Map::new());
    for (key, given) in calls {
        let shown = key.to_text();
        let fun = shown.split(':').next().unwrap_or_default();
        let arguments = arguments(given);
        let missing = missing(ctx, fun, &arguments);
        if !missing.is_empty() {
            failures.push(format!("'{shown}' failed: Missing arguments: {}", missing.join(", ")));
            continue;
        }
        match ctx.run_for(Audience::Person, fun, arguments) {
            Ok(answer) if has_succeeded(&answer) => {
                let comment = match &answer {
                    Value::Map(map) => map.at("comment").map_or("Success".to_owned(), Value::to_text),
                    other => other.to_text(),
                };
                successes.push(format!("{shown}: {comment}"));
                changes.insert(key, answer);
            }
            Ok(Value::Map(answer)) => {
                let comment = answer.at("comment").map_or("(error message N/A)".to_owned(), Value::to_text);
                failures.push(format!("'{shown}' failed: {comment}"));
            }
            Ok(answer) => failures.push(format!("'{shown}': {}", answer.to_text())),
            Err(fault) => failures.push(format!("'{shown}' failed: {fault}")),
        }
    }
    let succeeded = failures.is_empty();
    failures.extend(successes);
    Outcome::new(Some(succeeded), failures.join(", ")).with_changes(changes)
}

/// The arguments below a function: a list of values and of single `name: value`, one map, or one value.
fn arguments(given: Value) -> Arguments {
    let mut arguments = Arguments::default();
    match given {
        Value::Null => {}
        Value::List(items) => {
            for item in items {
                match item {
                    Value::Map(map) => arguments.keywords.extend(map),
                    other => arguments.positional.push(other),
                }
            }
        }
        Value::Map(map) => arguments.keywords = map,
        other => arguments.positional.push(other),
    }
    arguments
}

/// What a function must have and is not given.
fn missing(ctx: &Ctx, fun: &str, arguments: &Arguments) -> Vec<&'static str> {
    let fields = ctx.functions.find(fun).map_or(&[][..], |function| function.info.fields);
    let required = fields.iter().skip(arguments.positional.len()).filter(|field| field.is_required());
    required.map(|field| field.name()).filter(|name| arguments.keywords.at(name).is_none()).collect()
}

/// What a function answers is a failure when it says so: False, a `result` of False, another `retcode` than 0.
fn has_succeeded(answer: &Value) -> bool {
    match answer {
        Value::Bool(truth) => *truth,
        Value::Map(map) => map.iter().all(|(key, value)| match (key.as_str(), value) {
            (Some("result"), Value::Bool(false)) => false,
            (Some("retcode"), value) => *value == Value::Int(0),
            (_, Value::Map(_)) => has_succeeded(value),
            _ => true,
        }),
        _ => true,
    }
}

/// Names that an SLS cannot use for itself and that functions have as arguments: they are given as `m_name`.
const RENAMED: [&str; 5] = ["name", "fun", "names", "state", "saltenv"];

/// One function, its arguments beside its name.
fn one(name: String, mut given: Map, context: &PlanContext) -> Plan {
    let Some(function) = context.ctx.functions.find(&name) else {
        return failed(format!("Module function {name} is not available"));
    };
    let mut arguments = Arguments::default();
    let mut missing = Vec::new();
    for field in function.info.fields {
        let argument = field.name();
        let asked = if RENAMED.contains(&argument) { format!("m_{argument}") } else { argument.to_owned() };
        match (field.kind, given.remove(&asked)) {
            (Kind::Rest, Some(Value::List(items))) => arguments.positional.extend(items),
            (Kind::Rest, Some(_)) => return failed(format!("'{argument}' must be a list.")),
            (Kind::Keywords, Some(Value::Map(more))) => arguments.keywords.extend(more),
            (Kind::Keywords, Some(_)) => return failed(format!("'{argument}' must be a dict.")),
            (Kind::Rest | Kind::Keywords, None) => {}
            (_, Some(value)) => drop(arguments.keywords.insert(argument, value)),
            (_, None) if argument == "saltenv" => drop(arguments.keywords.insert(argument, context.saltenv)),
            (_, None) if field.is_required() => missing.push(asked),
            (_, None) => {}
        }
    }
    let would = Outcome::new(None, format!("Module function {name} is set to execute"));
    let apply = move |ctx: &Ctx| match missing.is_empty() {
        true => Ok(run_one(ctx, &name, arguments)),
        false => Ok(Outcome::failed(format!("The following arguments are missing: {}", missing.join(" ")))),
    };
    Plan::Changes { would, apply: Box::new(apply) }
}

fn run_one(ctx: &Ctx, name: &str, arguments: Arguments) -> Outcome {
    match ctx.run_for(Audience::Person, name, arguments) {
        Ok(answer) => {
            let succeeded = has_succeeded(&answer);
            Outcome::new(Some(succeeded), format!("Module function {name} executed"))
                .with_changes(Map::from_iter([("ret", answer)]))
        }
        Err(fault) => {
            let comment = format!("Module function {name} threw an exception. Exception: {fault}");
            Outcome::new(Some(false), comment)
        }
    }
}
