//! `test.*`: states that change nothing, to try requisites and outputs with.

use halite_core::Fault;
use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, change, failed, state};
use halite_lang::random;
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};

pub const MODULE: Module =
    Module { name: "test", doc: "States that change nothing, to try things with.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    state::<CheckPillar>("check_pillar"),
    state::<ConfigurableTestState>("configurable_test_state"),
    state::<FailWithChanges>("fail_with_changes"),
    state::<FailWithoutChanges>("fail_without_changes"),
    state::<ModWatch>("mod_watch"),
    state::<Nop>("nop"),
    state::<ShowNotification>("show_notification"),
    state::<SucceedWithChanges>("succeed_with_changes"),
    state::<SucceedWithoutChanges>("succeed_without_changes"),
];

/// The changes that these states pretend.
fn pretended() -> Map {
    let change = Map::from_iter([("old", "Unchanged"), ("new", "Something pretended to change")]);
    Map::from_iter([("testing", change)])
}

/// The comment of the SLS, else another one.
fn comment(keywords: &Keywords, default: &str) -> String {
    match keywords.0.at("comment") {
        Some(Value::List(lines)) => lines.iter().map(Value::to_text).collect::<Vec<String>>().join("\n"),
        other => other.map_or(default.to_owned(), Value::to_text),
    }
}

record! {
    /// Does nothing and succeeds.
    ///
    ///   nothing:
    ///     test.nop: []
    pub struct Nop {
        /// Any text.
        name: String,
        kwargs: Keywords,
    }
}

impl State for Nop {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        Ok(already("Success!"))
    }
}

record! {
    /// Succeeds without a change.
    ///
    ///   fine:
    ///     test.succeed_without_changes: []
    pub struct SucceedWithoutChanges {
        /// Any text.
        name: String,
        kwargs: Keywords,
    }
}

impl State for SucceedWithoutChanges {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        Ok(already(comment(&self.kwargs, "Success!")))
    }
}

record! {
    /// Succeeds and pretends a change.
    ///
    ///   changed:
    ///     test.succeed_with_changes: []
    pub struct SucceedWithChanges {
        /// Any text.
        name: String,
        kwargs: Keywords,
    }
}

impl State for SucceedWithChanges {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        let done = Outcome::new(Some(true), comment(&self.kwargs, "Success!")).with_changes(pretended());
        let would = "If we weren't testing, this would be successful with changes";
        Ok(change(pretended(), would, move |_| Ok(done)))
    }
}

record! {
    /// Fails without a change.
    ///
    ///   broken:
    ///     test.fail_without_changes: []
    pub struct FailWithoutChanges {
        /// Any text.
        name: String,
        kwargs: Keywords,
    }
}

impl State for FailWithoutChanges {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        let done = Outcome::new(Some(false), comment(&self.kwargs, "Failure!"));
        let would = Outcome::new(Some(false), "If we weren't testing, this would be a failure!");
        Ok(Plan::Changes { would, apply: Box::new(move |_| Ok(done)) })
    }
}

record! {
    /// Fails and pretends a change.
    ///
    ///   broken:
    ///     test.fail_with_changes: []
    pub struct FailWithChanges {
        /// Any text.
        name: String,
        kwargs: Keywords,
    }
}

impl State for FailWithChanges {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        let done = Outcome::new(Some(false), comment(&self.kwargs, "Failure!")).with_changes(pretended());
        let would = "If we weren't testing, this would be failed with changes";
        Ok(change(pretended(), would, move |_| Ok(done)))
    }
}

record! {
    /// Ends as it is told to.
    ///
    ///   odd:
    ///     test.configurable_test_state:
    ///       - changes: True
    ///       - result: False
    ///       - comment: made up
    pub struct ConfigurableTestState {
        /// Any text.
        name: String,
        /// Pretend a change: True, False or Random.
        changes: Value = true,
        /// The result: True, False or Random.
        result: Value = true,
        /// The comment.
        comment: String = "",
        /// A warning, or a list of them.
        warnings: Value = (),
        /// Fail in test mode too, where the result is False.
        allow_test_mode_failure: bool = false,
    }
}

impl State for ConfigurableTestState {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        let changed = chosen("changes", &self.changes)?;
        let result = chosen("result", &self.result)?;
        let mut done = Outcome::new(Some(result), self.comment.as_str());
        if changed {
            done = done.with_changes(pretended());
        }
        match self.warnings {
            Value::Null => {}
            Value::Str(warning) => done = done.with("warnings", Value::list([warning])),
            Value::List(warnings) => done = done.with("warnings", Value::List(warnings)),
            _ => return Err(invalid("warnings", "a string or a list of strings")),
        }
        let mut would = done.clone();
        would.result = match () {
            () if self.allow_test_mode_failure && self.result == Value::Bool(false) => Some(false),
            () if self.changes == Value::Bool(false) => Some(true),
            () => None,
        };
        if self.comment.is_empty() {
            would.comment = "This is a test".to_owned();
        }
        Ok(Plan::Changes { would, apply: Box::new(move |_| Ok(done)) })
    }
}

fn chosen(option: &str, value: &Value) -> Result<bool, Fault> {
    match value {
        Value::Bool(truth) => Ok(*truth),
        other if other.to_text().eq_ignore_ascii_case("random") => Ok(random::up_to(1) == 1),
        _ => Err(invalid(option, "either True, False, or 'Random'")),
    }
}

fn invalid(option: &str, must: &str) -> Fault {
    let message = format!("You have specified the state option '{option}' with invalid arguments. It must be {must}");
    Fault::Invocation(message)
}

record! {
    /// Shows a text.
    ///
    ///   hello:
    ///     test.show_notification:
    ///       - text: Hello World!
    pub struct ShowNotification {
        /// Any text.
        name: String,
        /// What is shown.
        text: Option<String> = (),
        kwargs: Keywords,
    }
}

impl State for ShowNotification {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        match self.text.filter(|text| !text.is_empty()) {
            Some(text) => Ok(already(text)),
            None => Err(Fault::invocation("Missing required argument text.")),
        }
    }
}

record! {
    /// Runs when what a state watches has changed: says what that was.
    ///
    ///   watcher:
    ///     test.succeed_without_changes:
    ///       - watch:
    ///         - file: /etc/app.conf
    pub struct ModWatch {
        /// Any text.
        name: String,
        /// The function of the state.
        sfun: Option<String> = (),
        kwargs: Keywords,
        args: Rest,
    }
}

impl State for ModWatch {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let changes = match self.kwargs.0.at("changes") {
            None => None,
            Some(Value::Map(changes)) => Some(changes.clone()),
            Some(_) => return Err(Fault::invocation("'Changes' should be a dictionary.")),
        };
        let seen = || Map::from_iter([("Requisites with changes", Value::list(context.changed.iter().cloned()))]);
        let result = self.kwargs.0.at("result").map_or(Some(true), Value::as_bool);
        let outcome = Outcome::new(result, comment(&self.kwargs, "Watch statement fired."));
        Ok(Plan::Stands(outcome.with_changes(changes.unwrap_or_else(seen))))
    }
}

record! {
    /// Checks that the pillar has keys, and values of a kind below them.
    ///
    ///   the pillar is complete:
    ///     test.check_pillar:
    ///       - present: [foo, bar:baz]
    ///       - integer: port
    pub struct CheckPillar {
        /// Any text.
        name: String,
        /// Keys whose values may be of any kind.
        present: Value = (),
        /// Keys of truth values.
        boolean: Value = (),
        /// Keys of whole numbers.
        integer: Value = (),
        /// Keys of texts.
        string: Value = (),
        /// Keys of lists.
        listing: Value = (),
        /// Keys of maps.
        dictionary: Value = (),
        /// Tell what was found too.
        verbose: bool = false,
    }
}

impl State for CheckPillar {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let checks: [(Value, Option<Kind>); 6] = [
            (self.present, None),
            (self.boolean, Some(Kind("<class 'bool'>", |value| matches!(value, Value::Bool(_))))),
            (self.integer, Some(Kind("<class 'int'>", |value| matches!(value, Value::Int(_) | Value::Bool(_))))),
            (self.string, Some(Kind("(<class 'str'>,)", |value| matches!(value, Value::Str(_))))),
            (self.listing, Some(Kind("<class 'list'>", |value| matches!(value, Value::List(_))))),
            (self.dictionary, Some(Kind("<class 'dict'>", |value| matches!(value, Value::Map(_))))),
        ];
        if checks.iter().all(|(keys, _)| !keys.truthy()) {
            return Err(Fault::invocation("Missing required argument text."));
        }
        let pillar = Value::Map(context.ctx.pillar.clone());
        let (mut wrong, mut fine) = (String::new(), String::new());
        for (keys, kind) in &checks {
            let single = [keys.clone()];
            for key in keys.as_list().unwrap_or(if keys.truthy() { &single } else { &[] }) {
                let key = key.to_text();
                let name = kind.as_ref().map_or("None", |kind| kind.0);
                match pillar.traverse(&key, ":").filter(|value| !value.is_null()) {
                    None => wrong.push_str(&format!("Pillar key \"{key}\" is missing.\n")),
                    Some(value) if kind.as_ref().is_some_and(|kind| !(kind.1)(value)) => {
                        wrong.push_str(&format!("Pillar key \"{key}\" is not {name}.\n"));
                    }
                    Some(_) => fine.push_str(&format!("- {key} ({name})\n")),
                }
            }
        }
        let passed = format!("Those keys passed the check:\n{fine}");
        let comment = if self.verbose && !fine.is_empty() { wrong.clone() + &passed } else { wrong.clone() };
        Ok(if wrong.is_empty() { already(comment) } else { failed(comment) })
    }
}

/// How Salt calls a type, and what is of it.
struct Kind(&'static str, fn(&Value) -> bool);
