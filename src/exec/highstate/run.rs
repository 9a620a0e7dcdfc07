//! Runs low chunks: one after the other, each when its requisites allow it.

mod call;
mod checks;
mod listen;
mod requisites;
mod retry;

use super::graph::{Graph, Step, tag};
use super::low::Low;
use crate::exec::Ctx;
use crate::exec::host::ReadOnly;
use crate::wire::value::{Map, Value};
use requisites::Status;
use std::time::{Duration, SystemTime};

/// Runs the states of one call.
pub struct Runner<'a> {
    /// The host that states change.
    ctx: &'a Ctx<'a>,
    /// The same host, which they look at.
    looking: &'a Ctx<'a>,
    in_test: bool,
    chunks: Vec<Map>,
    graph: Graph,
    /// What became of each chunk.
    results: Vec<Option<Map>>,
    /// What would become of those that are checked before others run.
    checked: Vec<Option<Map>>,
    /// The order in which they came to an end.
    ended: Vec<usize>,
    number: i64,
}

/// The results of a run, by tag.
pub fn run(ctx: &Ctx, low: Low) -> Map {
    let view = ReadOnly(ctx.host);
    let looking = ctx.on(&view);
    let Low { chunks, graph, steps, disabled } = low;
    let mut runner = Runner::new(ctx, &looking, chunks, graph);
    let mut results = runner.disabled(disabled);
    if runner.steps(&steps) == Next::Go {
        runner.listen();
    }
    results.extend(runner.into_results());
    results
}

/// Runs the chunks of one ID, and before them what they need.
pub fn run_id(ctx: &Ctx, low: Low, id: &str) -> Map {
    let view = ReadOnly(ctx.host);
    let looking = ctx.on(&view);
    let Low { chunks, graph, steps, .. } = low;
    let wanted: Vec<Step> =
        steps.into_iter().filter(|step| chunks[step.chunk].at("__id__").and_then(Value::as_str) == Some(id)).collect();
    let mut runner = Runner::new(ctx, &looking, chunks, graph);
    runner.steps(&wanted);
    runner.into_results()
}

/// Runs one chunk without its requisites (`state.single`).
pub fn run_single(ctx: &Ctx, chunk: Map) -> Map {
    let view = ReadOnly(ctx.host);
    let looking = ctx.on(&view);
    let mut graph = Graph::default();
    graph.add(0, &chunk);
    let tag = tag(&chunk);
    let mut runner = Runner::new(ctx, &looking, vec![chunk], graph);
    let result = runner.call(0, &[]);
    Map::from_iter([(tag, result)])
}

/// What keeps a chunk from being run at all.
pub fn errors(chunk: &Map) -> Vec<String> {
    call::verified(chunk).1
}

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Go,
    /// A state has failed that must not (`failhard`), or the job was killed.
    Stop,
}

impl<'a> Runner<'a> {
    fn new(ctx: &'a Ctx<'a>, looking: &'a Ctx<'a>, chunks: Vec<Map>, graph: Graph) -> Runner<'a> {
        let none = || chunks.iter().map(|_| None).collect();
        let in_test = ctx.opts.at("test").is_some_and(Value::truthy);
        let (results, checked) = (none(), none());
        Runner { ctx, looking, in_test, chunks, graph, results, checked, ended: Vec::new(), number: 0 }
    }

    fn into_results(mut self) -> Map {
        let mut all = Map::with_capacity(self.ended.len());
        for chunk in self.ended {
            if let Some(result) = self.results[chunk].take() {
                all.insert(tag(&self.chunks[chunk]), result);
            }
        }
        all
    }

    /// What is told of states that somebody has disabled.
    fn disabled(&mut self, disabled: Vec<(Map, String)>) -> Map {
        let mut all = Map::new();
        for (chunk, reason) in disabled {
            let mut result = Map::from_iter([("changes", Value::Map(Map::new())), ("result", false.into())]);
            result.insert("comment", reason);
            result.insert("__run_num__", self.next_number());
            result.insert("__sls__", chunk.at("__sls__").cloned());
            all.insert(tag(&chunk), result);
        }
        all
    }

    fn steps(&mut self, steps: &[Step]) -> Next {
        for step in steps {
            if self.results[step.chunk].is_some() {
                continue;
            }
            if self.ctx.is_cancelled() || self.step(*step) == Next::Stop || self.fails_hard(step.chunk) {
                return Next::Stop;
            }
        }
        Next::Go
    }

    /// Does what the requisites of a step allow.
    fn step(&mut self, step: Step) -> Next {
        let chunk = step.chunk;
        let is_check = self.is_check(chunk);
        let node = self.node_of(step);
        let (mut status, mut found) = self.status(node);
        if status == Status::Unmet {
            for (_, needed) in self.graph.dependencies(node) {
                let is_done =
                    self.results[needed.chunk].is_some() || (self.is_check(needed.chunk) && self.is_checked(needed));
                if is_done {
                    continue;
                }
                if self.step(needed) == Next::Stop || self.fails_hard(needed.chunk) {
                    return Next::Stop;
                }
            }
            (status, found) = self.status(node);
        }
        match status {
            Status::Fail => self.failed_before(chunk, &found),
            Status::Change if !is_check => self.call_watching(chunk, &found),
            Status::SkipWatch if !is_check => {
                let mut result = self.call(chunk, &[]);
                let comment = result.at("comment").map(Value::to_text).unwrap_or_default();
                let note = " mod_watch was not run because requisites were skipped by another state";
                result.insert("comment", comment + note);
                self.end(chunk, result);
            }
            Status::SkipReq => {
                self.not_run(chunk, "State was not run because requisites were skipped by another state")
            }
            Status::Pre => self.not_run(chunk, "No changes detected"),
            Status::Onfail => self.not_run(chunk, "State was not run because onfail req did not change"),
            Status::Onchanges => {
                self.not_run(chunk, "State was not run because none of the onchanges reqs changed");
            }
            Status::Unmet | Status::Met | Status::Change | Status::SkipWatch => {
                let mut result = self.call(chunk, &[]);
                if !is_check {
                    self.end(chunk, result);
                } else {
                    // What it watches has changed or would: then it would react, which is a change too.
                    let has_changes = result.at("changes").is_some_and(Value::truthy);
                    if status == Status::Change && !has_changes {
                        result.insert("changes", Map::from_iter([("watch", "watch")]));
                        result.insert("result", ());
                    }
                    self.checked[chunk] = Some(result);
                }
            }
        }
        Next::Go
    }

    /// Whether a chunk is to be checked now, before others run.
    fn is_check(&self, chunk: usize) -> bool {
        self.chunks[chunk].at("__prereq__").is_some_and(Value::truthy)
    }

    fn is_checked(&self, step: Step) -> bool {
        self.checked[step.chunk].is_some()
    }

    /// The node whose requisites count: a check has its own.
    fn node_of(&self, step: Step) -> usize {
        let state = self.graph.state_of(&tag(&self.chunks[step.chunk])).unwrap_or(step.node);
        match self.is_check(step.chunk) {
            true => self.graph.check_of(state).unwrap_or(state),
            false => state,
        }
    }

    fn call_watching(&mut self, chunk: usize, found: &requisites::Found) {
        let result = self.call(chunk, &[]);
        let is = |name: &str| result.at(name).is_some_and(Value::truthy);
        if is("changes") || is("skip_watch") {
            return self.end(chunk, result);
        }
        let changed = self.changed(found);
        let result = self.react(chunk, &changed);
        self.end(chunk, result);
    }

    /// Runs what a state does when others have changed.
    fn react(&mut self, chunk: usize, changed: &[String]) -> Map {
        let mut low = self.chunks[chunk].clone();
        low.insert("sfun", low.at("fun").cloned());
        low.insert("fun", super::super::states::REACTION);
        let own = std::mem::replace(&mut self.chunks[chunk], low);
        let result = self.call(chunk, changed);
        self.chunks[chunk] = own;
        result
    }

    /// What is told of a state whose requisites have failed.
    fn failed_before(&mut self, chunk: usize, found: &requisites::Found) {
        if let Some(mut result) = self.checked[chunk].take() {
            // The check of this state itself: what it would have changed is not what has changed.
            result.insert("changes", Map::new());
            result.insert("__run_num__", self.next_number());
            self.name(chunk, &mut result);
            return self.end(chunk, result);
        }
        let failed = self.failed(found);
        let comment = format!("One or more requisite failed: {}", failed.join(", "));
        self.skip(chunk, false, &comment);
    }

    fn not_run(&mut self, chunk: usize, comment: &str) {
        self.skip(chunk, true, comment);
    }

    fn skip(&mut self, chunk: usize, result: bool, comment: &str) {
        let mut skipped = Map::from_iter([("changes", Value::Map(Map::new())), ("result", result.into())]);
        skipped.insert("duration", 0.0);
        skipped.insert("start_time", self.clock(self.ctx.host.now()));
        skipped.insert("comment", comment);
        skipped.insert("__state_ran__", false);
        skipped.insert("__run_num__", self.next_number());
        self.name(chunk, &mut skipped);
        if self.is_check(chunk) {
            self.chunks[chunk].insert("__prereq__", false);
            self.checked[chunk] = Some(skipped.clone());
        }
        self.end(chunk, skipped);
    }

    fn name(&self, chunk: usize, result: &mut Map) {
        for key in ["__sls__", "__id__", "name"] {
            result.insert(key, self.chunks[chunk].at(key).cloned());
        }
    }

    fn end(&mut self, chunk: usize, result: Map) {
        self.tell(chunk, &result);
        if self.results[chunk].replace(result).is_none() {
            self.ended.push(chunk);
        }
    }

    /// Fires `salt/state_result/...` where the state or the configuration wants it.
    fn tell(&self, chunk: usize, result: &Map) {
        let low = &self.chunks[chunk];
        let always = self.ctx.opts.at("state_events").is_some_and(Value::truthy);
        let wanted = low.at("fire_event").filter(|wanted| wanted.truthy());
        if (!always && wanted.is_none()) || self.ctx.opts.at("local").is_some_and(Value::truthy) {
            return;
        }
        let minion = self.ctx.opts.str_at("id").unwrap_or_default();
        let jid = &self.ctx.call.jid;
        let (event, mut data) = match wanted {
            Some(Value::Str(own)) => (format!("salt/state_result/{jid}/{minion}/{own}"), Map::new()),
            Some(_) => {
                let name = low.at("name").map(Value::to_text).unwrap_or_default();
                (format!("salt/state_result/{jid}/{minion}/{name}"), Map::new())
            }
            None => {
                let number = result.at("__run_num__").map(Value::to_text).unwrap_or_default();
                (format!("salt/job/{jid}/prog/{minion}/{number}"), Map::from_iter([("len", self.chunks.len())]))
            }
        };
        data.insert("ret", result.clone());
        if let Err(fault) = self.ctx.master.fire_event(&event, data) {
            log::warn!("the event {event} was not fired: {fault}");
        }
    }

    /// Whether a state has failed that ends the run.
    fn fails_hard(&self, chunk: usize) -> bool {
        let own = self.chunks[chunk].at("failhard").or_else(|| self.ctx.opts.at("failhard"));
        let failed = self.results[chunk].as_ref().is_some_and(|result| result.at("result") == Some(&false.into()));
        failed && !self.in_test && own.is_some_and(Value::truthy)
    }

    fn next_number(&mut self) -> i64 {
        self.number += 1;
        self.number - 1
    }

    /// The time of day, as Python's `isoformat` writes it.
    fn clock(&self, moment: SystemTime) -> String {
        let stamp = jiff::Timestamp::try_from(moment).unwrap_or_default();
        let time = jiff::tz::TimeZone::system().to_datetime(stamp).time();
        let (hour, minute, second) = (time.hour(), time.minute(), time.second());
        match time.subsec_nanosecond() / 1000 {
            0 => format!("{hour:02}:{minute:02}:{second:02}"),
            micros => format!("{hour:02}:{minute:02}:{second:02}.{micros:06}"),
        }
    }
}

/// Milliseconds, with three digits behind the point at most.
fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}
