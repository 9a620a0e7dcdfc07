//! One state: its conditions, its plan, the change if it is to be made, and the result as Salt gives it.

use super::super::requisite::is_internal;
use super::retry::Retry;
use super::{Runner, milliseconds};
use crate::exec::fault::Fault;
use crate::exec::states::{self, Function, Look, Outcome, Plan};
use crate::wire::record::{Arguments, Kind};
use crate::wire::value::{Map, Value};
use std::time::Duration;

impl Runner<'_> {
    /// Runs a chunk, again where `retry` says so. `changed` is what it watches and what has changed.
    pub(super) fn call(&mut self, chunk: usize, changed: &[String]) -> Map {
        let is_check = self.is_check(chunk);
        let (mut result, checked) = self.attempt(chunk, changed, is_check);
        let retry = self.chunks[chunk].at("retry").filter(|_| checked && !is_check).map(Retry::of);
        let Some(retry) = retry else {
            return result;
        };
        if self.in_test {
            let comment = result.at("comment").map(Value::to_text).unwrap_or_default();
            result.insert("comment", format!("{comment}  {}", retry.described()));
            return result;
        }
        let is_over = |result: &Map| result.at("result") == Some(&Value::Bool(retry.until));
        let mut attempts = vec![result];
        let mut pauses = Duration::ZERO;
        while (attempts.len() as i64) < retry.attempts && attempts.last().is_some_and(|last| !is_over(last)) {
            let pause = retry.pause();
            log::info!("State result does not match retry until value, state will be re-run in {pause:?}");
            self.ctx.host.sleep(pause);
            pauses += pause;
            attempts.push(self.attempt(chunk, changed, is_check).0);
        }
        together(attempts, pauses)
    }

    /// Runs a chunk once. False: its data is wrong, so it was not run at all.
    fn attempt(&mut self, chunk: usize, changed: &[String], is_check: bool) -> (Map, bool) {
        let low = self.chunks[chunk].clone();
        let started = self.ctx.host.now();
        let (function, errors) = verified(&low);
        let Some(function) = function.filter(|_| errors.is_empty()) else {
            let mut result = Map::from_iter([("result", Value::from(false))]);
            result.insert("name", low.at("name").cloned());
            result.insert("changes", Map::new());
            result.insert("comment", errors.iter().map(|error| format!("{error}\n")).collect::<String>());
            result.insert("__run_num__", self.next_number());
            log::error!("{}", errors.join("\n"));
            return (result, false);
        };
        let mut result = self.enforced(&low, function, changed, is_check);
        if is_check {
            self.chunks[chunk].insert("__prereq__", false);
            return (result, true);
        }
        result.insert("__sls__", low.at("__sls__").cloned());
        result.insert("__run_num__", self.next_number());
        if result.at("result") == Some(&Value::Bool(false)) {
            log::error!("{}", said(&result));
        }
        let took = self.ctx.host.now().duration_since(started).unwrap_or_default();
        result.insert("start_time", self.clock(started));
        result.insert("duration", milliseconds(took));
        result.insert("__id__", low.at("__id__").cloned());
        (result, true)
    }

    /// The result of a state, before it is marked with time and place.
    fn enforced(&self, low: &Map, function: &Function, changed: &[String], is_check: bool) -> Map {
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
            result = self.planned(low, function, changed, is_check);
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
    fn planned(&self, low: &Map, function: &Function, changed: &[String], is_check: bool) -> Map {
        let saltenv = low.at("saltenv").or_else(|| low.at("__env__")).and_then(Value::as_str).unwrap_or("base");
        let look = Look { ctx: self.looking, low, saltenv, changed };
        let plan = match (function.run)(arguments(low, function), &look) {
            Ok(plan) => plan,
            Err(error) => Err(Fault::Arguments { fun: full_name(low), error }),
        };
        let outcome = match plan {
            Ok(Plan::Stands(outcome)) => Ok(outcome),
            Ok(Plan::Changes { would, .. }) if self.in_test || is_check => Ok(would),
            Ok(Plan::Changes { apply, .. }) => apply(self.ctx),
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
fn full_name(low: &Map) -> String {
    let text = |name: &str| low.at(name).map(Value::to_text).unwrap_or_default();
    format!("{}.{}", text("state"), text("fun"))
}

/// The function of a chunk, and what is wrong with its data.
pub fn verified(low: &Map) -> (Option<&'static Function>, Vec<String>) {
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
    if !errors.is_empty() {
        return (None, errors);
    }
    let full = full_name(low);
    let Some(function) = states::find(&full) else {
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
fn arguments(low: &Map, function: &Function) -> Arguments {
    let keywords = low
        .iter()
        .filter(|(name, _)| {
            let name = name.to_text();
            let declared = takes(function, &name);
            let is_field = function
                .info
                .fields
                .iter()
                .any(|field| field.name() == name && !matches!(field.kind, Kind::Rest | Kind::Keywords));
            if declared { is_field } else { !is_internal(&name) }
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
    result.extend(outcome.more);
    result
}

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
