//! One state: its conditions, its plan, the change if it is to be made, and the result as Salt gives it.
//!
//! A caller knows nothing of other states, so it can work in a thread of its own.

use super::retry::Retry;
use super::slots;
use super::world::World;
use super::{clock, milliseconds};
use crate::states;
use halite_core::Ctx;
use halite_core::host::{ReadOnly, with_umask};
use halite_core::requisite::is_internal;
use halite_core::state::{Function, Outcome, Plan, PlanContext};
use halite_value::fault::Fault;
use halite_value::record::{Arguments, Kind};
use halite_value::{Map, Value};
use std::time::Duration;

/// Calls states on a host.
pub struct Caller<'c> {
    /// The host that states change.
    pub(super) ctx: Ctx<'c>,
    /// The same host, which they look at.
    looking: Ctx<'c>,
    in_test: bool,
}

/// What a call came to.
pub struct Called {
    pub result: Map,
    /// How often the state was tried; nothing: its data is wrong, so it was not run at all.
    pub attempts: Option<i64>,
}

/// Whether a state only says what it would change, because others want to know before they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Run,
    Check,
}

/// Calls a state in a world. `changed` is what it watches and what has changed.
pub fn call(world: &World, scratch: &mut Map, low: &Map, changed: &[String], purpose: Purpose) -> Called {
    let mut calls = || {
        let view = ReadOnly(world.host);
        let ctx = world.ctx(world.host);
        ctx.scratch.replace(std::mem::take(scratch));
        let caller = Caller { ctx, looking: world.ctx(&view), in_test: world.is_test() };
        let called = caller.call(low, changed, purpose);
        *scratch = caller.ctx.scratch.into_inner();
        called
    };
    match low.at("umask").and_then(|mask| octal(mask).ok()) {
        Some(mask) => with_umask(mask, calls).unwrap_or_else(|error| broken_off(low, &error.to_string())),
        None => calls(),
    }
}

/// What becomes of a state that cannot be called.
fn broken_off(low: &Map, why: &str) -> Called {
    let outcome = Outcome::new(Some(false), format!("The umask of this state could not be set: {why}"));
    Called { result: shown(low, outcome), attempts: None }
}

/// Does something else in a world, with what the states of its run leave for each other.
pub fn within<T>(world: &World, scratch: &mut Map, work: impl FnOnce(&Ctx) -> T) -> T {
    let ctx = world.ctx(world.host);
    ctx.scratch.replace(std::mem::take(scratch));
    let done = work(&ctx);
    *scratch = ctx.scratch.into_inner();
    done
}

/// The `umask` of a state.
fn octal(mask: &Value) -> Result<u32, String> {
    let text = mask.to_text();
    let digits = text.strip_prefix("0o").unwrap_or(&text);
    let mask = u32::from_str_radix(digits, 8).ok().filter(|mask| *mask <= 0o7777);
    mask.ok_or_else(|| format!("Invalid umask: {text}"))
}

impl Caller<'_> {
    /// Calls a state, again where `retry` says so.
    fn call(&self, low: &Map, changed: &[String], purpose: Purpose) -> Called {
        let (function, errors) = verified(self.ctx.opts, low);
        let Some(function) = function.filter(|_| errors.is_empty()) else {
            let mut result = Map::from_iter([("result", Value::from(false))]);
            result.insert("name", low.at("name").cloned());
            result.insert("changes", Map::new());
            result.insert("comment", errors.iter().map(|error| format!("{error}\n")).collect::<String>());
            log::error!("{}", errors.join("\n"));
            return Called { result, attempts: None };
        };
        if purpose == Purpose::Check {
            return Called { result: self.enforced(low, function, changed, purpose), attempts: Some(1) };
        }
        let mut result = self.timed(low, function, changed);
        let Some(retry) = low.at("retry").map(Retry::of) else {
            return Called { result, attempts: Some(1) };
        };
        if self.in_test {
            let comment = result.at("comment").map(Value::to_text).unwrap_or_default();
            result.insert("comment", format!("{comment}  {}", retry.described()));
            return Called { result, attempts: Some(1) };
        }
        let is_over = |result: &Map| result.at("result") == Some(&Value::Bool(retry.until));
        let mut attempts = vec![result];
        let mut pauses = Duration::ZERO;
        while (attempts.len() as i64) < retry.attempts && attempts.last().is_some_and(|last| !is_over(last)) {
            let pause = retry.pause();
            log::info!("State result does not match retry until value, state will be re-run in {pause:?}");
            self.ctx.host.sleep(pause);
            pauses += pause;
            attempts.push(self.timed(low, function, changed));
        }
        let count = attempts.len() as i64;
        Called { result: together(attempts, pauses), attempts: Some(count) }
    }

    /// One attempt, with when it began and how long it took.
    fn timed(&self, low: &Map, function: &Function, changed: &[String]) -> Map {
        let started = self.ctx.host.now();
        let mut result = self.enforced(low, function, changed, Purpose::Run);
        result.insert("__sls__", low.at("__sls__").cloned());
        // Its place among the keys; whoever counts the states sets it.
        result.insert("__run_num__", 0);
        if low.at("no_log").is_some_and(Value::truthy) {
            hide(&mut result);
        }
        if result.at("result") == Some(&Value::Bool(false)) {
            log::error!("{}", said(&result));
        }
        let took = self.ctx.host.now().duration_since(started).unwrap_or_default();
        result.insert("start_time", clock(started));
        result.insert("duration", milliseconds(took));
        result
    }

    /// The result of a state, before it is marked with time and place.
    fn enforced(&self, low: &Map, function: &Function, changed: &[String], purpose: Purpose) -> Map {
        let mut result = Map::new();
        if let Some(verdict) = self.conditions(low)
            && verdict.is_done
        {
            result.insert("result", true);
            result.insert("name", low.at("name").cloned());
            result.insert("changes", Map::new());
            result.insert("comment", verdict.comments.join("\n"));
            result.insert("__sls__", low.at("__sls__").cloned());
            result.insert("__id__", low.at("__id__").cloned());
            if verdict.skip_watch {
                result.insert("skip_watch", true);
            }
        } else {
            result = self.planned(low, function, changed, purpose);
        }
        if let Some(wanted) = low.at("check_cmd").filter(|_| !takes(function, "check_cmd")) {
            let (succeeded, comment) = self.check_cmd(wanted);
            result.insert("result", succeeded);
            result.insert("comment", comment);
            result.insert("__sls__", low.at("__sls__").cloned());
            result.insert("__id__", low.at("__id__").cloned());
        }
        result
    }

    /// Has the state plan, and does what it plans unless this is a test.
    fn planned(&self, low: &Map, function: &Function, changed: &[String], purpose: Purpose) -> Map {
        if !self.is_allowed(low.str_at("state").unwrap_or_default(), &full_name(low)) {
            log::info!("Failed to meet global state conditions. State '{}' not called.", full_name(low));
            return shown(low, Outcome::new(None, "Failed to meet global state conditions. State not called."));
        }
        let saltenv = low.at("saltenv").or_else(|| low.at("__env__")).and_then(Value::as_str).unwrap_or("base");
        let in_test = self.in_test || purpose == Purpose::Check;
        let context =
            PlanContext { ctx: &self.looking, low, saltenv, changed, rehearsal: in_test.then_some(&self.ctx) };
        let plan = slots::filled(&self.ctx, arguments(low, function)).and_then(|arguments| {
            // What states leave for each other is there while one looks, too.
            self.looking.scratch.swap(&self.ctx.scratch);
            let plan = (function.run)(arguments, &context)
                .unwrap_or_else(|error| Err(Fault::Arguments { fun: full_name(low), error, info: function.info }));
            self.looking.scratch.swap(&self.ctx.scratch);
            plan
        });
        let outcome = match plan {
            Ok(Plan::Stands(outcome)) => Ok(outcome),
            Ok(Plan::Changes { would, .. }) if in_test => Ok(would),
            Ok(Plan::Changes { apply, .. }) => apply(&self.ctx),
            Err(fault) => Err(fault),
        };
        match outcome {
            Ok(outcome) => shown(low, outcome),
            Err(fault) => shown(low, Outcome::new(Some(false), exception(&fault))),
        }
    }
}

/// The result of a state that was tried several times.
fn together(attempts: Vec<Map>, pauses: Duration) -> Map {
    let started = attempts.first().and_then(|first| first.at("start_time").cloned());
    let took: f64 = attempts.iter().filter_map(|attempt| attempt.at("duration")?.as_float()).sum();
    let several = attempts.len() > 1;
    let mut comments = Vec::new();
    let mut last = Map::new();
    let count = attempts.len();
    for (at, attempt) in attempts.into_iter().enumerate() {
        let comment = attempt.at("comment").map(Value::to_text).unwrap_or_default();
        if at + 1 == count {
            comments.push(comment);
            last = attempt;
        } else {
            let result = attempt.at("result").map(Value::to_text).unwrap_or_default();
            comments.push(format!(
                "Attempt {}: Returned a result of \"{result}\", with the following comment: \"{comment}\"",
                at + 1
            ));
        }
    }
    if several {
        last.insert("comment", comments.join("\n"));
        last.insert("duration", ((took + milliseconds(pauses)) * 1000.0).round() / 1000.0);
        last.insert("start_time", started);
    }
    last
}

/// The name of a chunk's state, `mod.fun`.
pub fn full_name(low: &Map) -> String {
    let text = |name: &str| low.at(name).map(Value::to_text).unwrap_or_default();
    format!("{}.{}", text("state"), text("fun"))
}

/// The function of a chunk, and what is wrong with its data.
pub fn verified(opts: &Map, low: &Map) -> (Option<&'static Function>, Vec<String>) {
    let mut errors = Vec::new();
    for name in ["state", "fun", "name"] {
        if !low.contains(name) {
            errors.push(format!("Missing \"{name}\" data"));
        }
    }
    if let Some(name) = low.at("name").filter(|name| name.truthy() && name.as_str().is_none()) {
        let place = low.at("__sls__").map(|sls| format!("in SLS '{}' ", sls.to_text())).unwrap_or_default();
        let kind = name.type_name();
        errors.push(format!("ID '{}' {place}is not formed as a string, but is a {kind}", name.to_text()));
    }
    errors.extend(low.at("umask").and_then(|mask| octal(mask).err()));
    if !errors.is_empty() {
        return (None, errors);
    }
    let full = full_name(low);
    let Some(function) = states::available(opts, &full) else {
        match low.at("__sls__") {
            Some(sls) => {
                errors.push(format!("State '{full}' was not found in SLS '{}'", sls.to_text()));
                let (reason, _) = states::unknown(&full).shown(&full);
                errors.push(format!("Reason: {}", reason.to_text()));
            }
            None => errors.push(format!("Specified state '{full}' was not found")),
        }
        return (None, errors);
    };
    for field in function.info.fields.iter().filter(|field| field.is_required() && !low.contains(field.name())) {
        errors.push(format!("Missing parameter {} for state {full}", field.name()));
    }
    (Some(function), errors)
}

fn takes(function: &Function, name: &str) -> bool {
    function.info.fields.iter().any(|field| field.name() == name)
}

/// The arguments of a chunk that are for the state function. Words for whoever runs states are, where it declares them.
pub fn arguments(low: &Map, function: &Function) -> Arguments {
    let keywords = low
        .iter()
        .filter(|(name, _)| {
            let name = name.as_str().unwrap_or_default();
            let mut fields = function.info.fields.iter();
            let mut is_field =
                || fields.any(|field| field.name() == name && !matches!(field.kind, Kind::Rest | Kind::Keywords));
            !is_internal(name) || is_field()
        })
        .map(|(name, value)| (name.clone(), value.clone()));
    Arguments::keywords(keywords.collect())
}

fn shown(low: &Map, outcome: Outcome) -> Map {
    let name = outcome.more.at("name").or_else(|| low.at("name")).cloned();
    let mut result = Map::from_iter([("name", Value::from(name))]);
    result.insert("changes", outcome.changes);
    result.insert("result", outcome.result);
    result.insert("comment", outcome.comment);
    if SORTED.contains(&full_name(low).as_str()) {
        result.sort_keys();
    }
    result.extend(outcome.more);
    result
}

/// States that give the keys of their result in alphabetical order, in Salt too: some read JSON as text.
const SORTED: [&str; 4] = ["file.cached", "file.managed", "file.not_cached", "file.serialize"];

/// What is told of a state that broke off.
fn exception(fault: &Fault) -> String {
    match fault {
        Fault::Internal(message) => format!("a fault in Halite itself, please report it: {message}"),
        fault => format!("An exception occurred in this state: {fault}"),
    }
}

/// What the log says of a state that failed.
fn said(result: &Map) -> String {
    match result.at("changes").filter(|changes| changes.truthy()) {
        Some(changes) => changes.to_text(),
        None => result.at("comment").map(Value::to_text).unwrap_or_default(),
    }
}

/// What stands for each text of a result that is not to be seen (`no_log`).
const HIDDEN: &str = "**********";

fn hide(result: &mut Map) {
    fn hidden(value: &mut Value) {
        match value {
            Value::Str(text) if !text.is_empty() => *text = HIDDEN.into(),
            Value::Bytes(bytes) if !bytes.is_empty() => *bytes = HIDDEN.into(),
            Value::Map(map) => map.iter_mut().for_each(|(_, value)| hidden(value)),
            Value::List(items) => items.iter_mut().for_each(hidden),
            _ => {}
        }
    }
    for name in ["name", "comment", "changes"] {
        result.at_mut(name).into_iter().for_each(hidden);
    }
}
