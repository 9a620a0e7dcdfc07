//! Runs low chunks: one after the other, each when its requisites allow it.

mod aggregate;
mod caller;
mod checks;
#[cfg(test)]
mod examples;
mod listen;
mod parallel;
mod pause;
mod requisites;
mod retry;
mod slots;
mod world;

use super::graph::{Graph, Step, tag};
use super::low::Low;
use crate::states;
use aggregate::Groups;
use caller::{Called, Purpose};
use halite_core::Ctx;
use halite_core::pillar_request::Asked;
use halite_core::state::Hooks;
use halite_states::HOOKS;
use halite_value::{Map, Value};
use parallel::Beside;
use pause::Verdict;
use requisites::{Seen, Status};
use std::collections::HashMap;
use std::thread::Scope;
use std::time::{Duration, SystemTime};
use world::World;

/// Runs the states of one call.
pub struct Runner<'s, 'a> {
    world: World<'a>,
    in_test: bool,
    chunks: Vec<Map>,
    graph: Graph,
    /// What became of each chunk.
    results: Vec<Option<Map>>,
    /// What would become of those that are checked before others run.
    checked: Vec<Option<Map>>,
    /// The order in which they came to an end, or were started beside the others.
    ended: Vec<usize>,
    number: i64,
    /// What functions of one state leave for those of the next.
    scratch: Map,
    beside: Beside,
    groups: Groups,
    /// What became of the states of an SLS that others require.
    groups_seen: HashMap<usize, Seen>,
    scope: &'s Scope<'s, 'a>,
}

/// The results of a run, by tag. `asked` is what its pillar was compiled for.
pub fn run(ctx: &Ctx, low: Low, asked: Asked) -> Map {
    let Low { chunks, graph, steps, disabled } = low;
    let world = World::new(ctx, asked);
    std::thread::scope(|scope| {
        let mut runner = Runner::new(world, chunks, graph, HOOKS, scope);
        let mut results = runner.disabled(disabled);
        if runner.steps(&steps) == Next::Go {
            runner.listen();
        }
        runner.wait_for_all();
        results.extend(runner.into_results());
        results
    })
}

/// Runs the chunks of one ID, and before them what they need.
pub fn run_id(ctx: &Ctx, low: Low, asked: Asked, id: &str) -> Map {
    let Low { chunks, graph, steps, .. } = low;
    let wanted: Vec<Step> =
        steps.into_iter().filter(|step| chunks[step.chunk].at("__id__").and_then(Value::as_str) == Some(id)).collect();
    let world = World::new(ctx, asked);
    std::thread::scope(|scope| {
        let mut runner = Runner::new(world, chunks, graph, HOOKS, scope);
        runner.steps(&wanted);
        runner.wait_for_all();
        runner.into_results()
    })
}

/// Runs one chunk without its requisites (`state.single`).
pub fn run_single(ctx: &Ctx, chunk: Map) -> Map {
    let mut graph = Graph::default();
    graph.add(0, &chunk);
    let tag = tag(&chunk);
    let world = World::new(ctx, Asked::default());
    std::thread::scope(|scope| {
        let mut runner = Runner::new(world, vec![chunk], graph, HOOKS, scope);
        runner.prepare(0);
        let result = runner.call(0, &[]);
        Map::from_iter([(tag, result)])
    })
}

/// What keeps a chunk from being run at all.
pub fn errors(opts: &Map, chunk: &Map) -> Vec<String> {
    caller::verified(opts, chunk).1
}

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Go,
    /// Something that the step needs runs still, beside the others.
    Later,
    /// A state has failed that must not (`failhard`), or the job was killed.
    Stop,
}

impl Next {
    fn and(self, other: Next) -> Next {
        if self == Next::Stop { self } else { other }
    }
}

impl<'s, 'a> Runner<'s, 'a> {
    fn new(
        world: World<'a>,
        chunks: Vec<Map>,
        graph: Graph,
        hooks: &'static [Hooks],
        scope: &'s Scope<'s, 'a>,
    ) -> Runner<'s, 'a> {
        let none = || chunks.iter().map(|_| None).collect();
        let (results, checked) = (none(), none());
        Runner {
            in_test: world.is_test(),
            beside: Beside::new(world.opts),
            groups: Groups::new(hooks, &chunks, world.opts),
            groups_seen: HashMap::new(),
            world,
            chunks,
            graph,
            results,
            checked,
            ended: Vec::new(),
            number: 0,
            scratch: Map::new(),
            scope,
        }
    }

    fn is_cancelled(&self) -> bool {
        self.world.is_cancelled()
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
        let mut later: Vec<Step> = Vec::new();
        for step in steps {
            if self.reap() == Next::Stop || self.again(&mut later) == Next::Stop {
                return Next::Stop;
            }
            if self.results[step.chunk].is_some() {
                continue;
            }
            if self.is_cancelled() || self.paused(step.chunk) == Verdict::Kill {
                return Next::Stop;
            }
            match self.step(*step) {
                Next::Later => later.push(*step),
                Next::Stop => return Next::Stop,
                Next::Go if self.fails_hard(step.chunk) => return Next::Stop,
                Next::Go => {}
            }
        }
        while !later.is_empty() {
            if self.is_cancelled() || self.wait_for_one() == Next::Stop || self.again(&mut later) == Next::Stop {
                return Next::Stop;
            }
        }
        self.wait_for_all()
    }

    /// Tries those again that were put off.
    fn again(&mut self, later: &mut Vec<Step>) -> Next {
        for step in std::mem::take(later) {
            if self.results[step.chunk].is_some() {
                continue;
            }
            match self.step(step) {
                Next::Later => later.push(step),
                Next::Stop => return Next::Stop,
                Next::Go if self.fails_hard(step.chunk) => return Next::Stop,
                Next::Go => {}
            }
        }
        Next::Go
    }

    /// Does what the requisites of a step allow.
    fn step(&mut self, step: Step) -> Next {
        let chunk = step.chunk;
        let is_check = self.is_check(chunk);
        let node = self.node_of(step);
        let waited = self.wait_for_needed(node, chunk);
        if waited != Next::Go {
            return waited;
        }
        let mut status = self.status(node);
        if status == Status::Unmet {
            let needed: Vec<Step> = self.graph.dependencies(node).map(|(_, step)| step).collect();
            for needed in needed {
                if self.is_done(needed) {
                    continue;
                }
                match self.step(needed) {
                    Next::Go if self.fails_hard(needed.chunk) => return Next::Stop,
                    Next::Go => {}
                    other => return other,
                }
            }
            let waited = self.wait_for_needed(node, chunk);
            if waited != Next::Go {
                return waited;
            }
            status = self.status(node);
        }
        if matches!(status, Status::Met | Status::Change | Status::SkipWatch | Status::Unmet) {
            self.prepare(chunk);
        }
        match status {
            Status::Fail => self.failed_before(chunk, node),
            Status::Change if !is_check => self.call_watching(chunk, node),
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
            Status::Met if !is_check && self.is_parallel(chunk) => self.begin_parallel(chunk),
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

    /// Whether a step has come to an end: a state that is to be checked now, with its check.
    fn is_done(&self, step: Step) -> bool {
        self.results[step.chunk].is_some() || (self.is_check(step.chunk) && self.checked[step.chunk].is_some())
    }

    /// The node whose requisites count: a check has its own.
    fn node_of(&self, step: Step) -> usize {
        let state = self.graph.state_of(&tag(&self.chunks[step.chunk])).unwrap_or(step.node);
        match self.is_check(step.chunk) {
            true => self.graph.check_of(state).unwrap_or(state),
            false => state,
        }
    }

    /// A chunk as its state sees it. One that cleans a directory has to know what others, which it requires, put there.
    fn low(&self, chunk: usize) -> Map {
        let mut low = self.chunks[chunk].clone();
        if !low.at("clean").is_some_and(Value::truthy) {
            return low;
        }
        let required: Vec<&Value> = low
            .at("require")
            .and_then(Value::as_list)
            .into_iter()
            .flatten()
            .filter_map(|requisite| requisite.at("file"))
            .collect();
        let is_required = |other: &&Map| {
            ["name", "__id__"].iter().any(|key| other.at(key).is_some_and(|value| required.contains(&value)))
        };
        let found: Vec<Map> = self.chunks.iter().filter(is_required).cloned().collect();
        if !found.is_empty() {
            low.insert(states::REQUIRED, found);
        }
        low
    }

    /// Calls a chunk here and now.
    fn call(&mut self, chunk: usize, changed: &[String]) -> Map {
        let purpose = if self.is_check(chunk) { Purpose::Check } else { Purpose::Run };
        let low = self.low(chunk);
        let Called { mut result, attempts } = caller::call(&self.world, &mut self.scratch, &low, changed, purpose);
        self.world.take_written_grains(&mut self.scratch);
        match attempts {
            None => drop(result.insert("__run_num__", self.next_number())),
            Some(_) if purpose == Purpose::Check => drop(self.chunks[chunk].insert("__prereq__", false)),
            Some(count) => {
                // Each attempt has a number, and the last one counts.
                self.number += count - 1;
                result.insert("__run_num__", self.next_number());
                result.insert("__id__", low.at("__id__").cloned());
                if self.in_test && result.at("result") == Some(&false.into()) {
                    self.doubt(chunk, &mut result);
                }
                self.world.reload(&low);
            }
        }
        result
    }

    /// Test mode does nothing of what a state requires. Where that would have changed something, a failure says only that
    /// nobody can tell what would become of the state: it misses a file, say, that the other would have made.
    fn doubt(&self, chunk: usize, result: &mut Map) {
        let Some(node) = self.graph.state_of(&tag(&self.chunks[chunk])) else { return };
        let would_change = |step: &Step| {
            self.results[step.chunk].as_ref().is_some_and(|result| result.at("result") == Some(&Value::Null))
        };
        let first: Vec<String> = (self.graph.dependencies(node).map(|(_, step)| step))
            .filter(would_change)
            .map(|step| self.chunks[step.chunk].at("__id__").map(Value::to_text).unwrap_or_default())
            .collect();
        if first.is_empty() {
            return;
        }
        let failure = result.at("comment").map(Value::to_text).unwrap_or_default();
        let doubt = format!("Test mode cannot tell what would be done: {} would change before.", first.join(", "));
        result.insert("result", ());
        result.insert("comment", format!("{failure}\n{doubt}"));
    }

    /// What is to be done when a chunk has run beside the others.
    fn after(&mut self, low: &Map, chunk: usize) {
        if self.results[chunk].is_some() {
            self.world.reload(low);
        }
    }

    fn call_watching(&mut self, chunk: usize, node: usize) {
        let result = self.call(chunk, &[]);
        let is = |name: &str| result.at(name).is_some_and(Value::truthy);
        if is("changes") || is("skip_watch") {
            return self.end(chunk, result);
        }
        let changed = self.changed(node);
        let result = self.react(chunk, &changed);
        self.end(chunk, result);
    }

    /// Runs what a state does when others have changed.
    fn react(&mut self, chunk: usize, changed: &[String]) -> Map {
        let low = reaction_of(&self.chunks[chunk]);
        let own = std::mem::replace(&mut self.chunks[chunk], low);
        let result = self.call(chunk, changed);
        self.chunks[chunk] = own;
        result
    }

    /// What is told of a state whose requisites have failed.
    fn failed_before(&mut self, chunk: usize, node: usize) {
        if let Some(mut result) = self.checked[chunk].take() {
            // The check of this state itself: what it would have changed is not what has changed.
            result.insert("changes", Map::new());
            result.insert("__run_num__", self.next_number());
            self.name(chunk, &mut result);
            return self.end(chunk, result);
        }
        let failed = self.failed(node);
        let comment = format!("One or more requisite failed: {}", failed.join(", "));
        self.skip(chunk, false, &comment);
    }

    fn not_run(&mut self, chunk: usize, comment: &str) {
        self.skip(chunk, true, comment);
    }

    fn skip(&mut self, chunk: usize, result: bool, comment: &str) {
        let mut skipped = Map::from_iter([("changes", Value::Map(Map::new())), ("result", result.into())]);
        skipped.insert("duration", 0.0);
        skipped.insert("start_time", clock(self.world.host.now()));
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
        let always = self.world.opts.at("state_events").is_some_and(Value::truthy);
        let wanted = low.at("fire_event").filter(|wanted| wanted.truthy());
        if (!always && wanted.is_none()) || self.world.opts.at("local").is_some_and(Value::truthy) {
            return;
        }
        let minion = self.world.opts.str_at("id").unwrap_or_default();
        let jid = &self.world.call.jid;
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
        if let Err(fault) = self.world.master.fire_event(&event, data) {
            log::warn!("the event {event} was not fired: {fault}");
        }
    }

    /// Whether a state has failed that ends the run.
    fn fails_hard(&self, chunk: usize) -> bool {
        let own = self.chunks[chunk].at("failhard").or_else(|| self.world.opts.at("failhard"));
        let failed = self.results[chunk].as_ref().is_some_and(|result| result.at("result") == Some(&false.into()));
        failed && !self.in_test && own.is_some_and(Value::truthy)
    }

    fn next_number(&mut self) -> i64 {
        self.number += 1;
        self.number - 1
    }
}

/// A chunk as it runs because what it watches has changed.
fn reaction_of(chunk: &Map) -> Map {
    let mut low = chunk.clone();
    low.insert("sfun", low.at("fun").cloned());
    low.insert("fun", states::REACTION);
    low
}

/// The time of day, as Python's `isoformat` writes it.
fn clock(moment: SystemTime) -> String {
    let stamp = jiff::Timestamp::try_from(moment).unwrap_or_default();
    let time = jiff::tz::TimeZone::system().to_datetime(stamp).time();
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    match time.subsec_nanosecond() / 1000 {
        0 => format!("{hour:02}:{minute:02}:{second:02}"),
        micros => format!("{hour:02}:{minute:02}:{second:02}.{micros:06}"),
    }
}

/// Milliseconds, with three digits behind the point at most.
fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}
