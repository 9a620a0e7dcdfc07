//! `aggregate`: states of one kind, such as packages, are done in one go. And what a module does before its first state.

use super::requisites::Status;
use super::{Runner, caller};
use halite_core::state::{Aggregate, Hooks};
use halite_value::{Map, Value};

/// How many states are done in one go at most, as in Salt.
const MOST: usize = 500;

/// Conditions are those of one state; what another one wants is not for them to decide.
const CONDITIONS: [&str; 3] = ["creates", "onlyif", "unless"];

/// Marks a chunk that has taken others, or was taken by one.
const MARK: &str = "__agg__";

/// The modules of a run that have hooks.
pub struct Groups(Vec<Group>);

struct Group {
    hooks: &'static Hooks,
    /// The chunks for which `aggregate` is on.
    members: Vec<usize>,
    /// `init` has said that it need not be called again.
    is_ready: bool,
}

impl Groups {
    pub fn new(hooks: &'static [Hooks], chunks: &[Map], opts: &Map) -> Groups {
        let of = |hooks: &'static Hooks| {
            let own = |(at, chunk): (usize, &Map)| {
                let is_own = chunk.str_at("state") == Some(hooks.module);
                (is_own && hooks.aggregate.is_some() && is_on(chunk, opts)).then_some(at)
            };
            Group { hooks, members: chunks.iter().enumerate().filter_map(own).collect(), is_ready: false }
        };
        Groups(hooks.iter().map(of).collect())
    }

    fn of(&self, module: &str) -> Option<usize> {
        self.0.iter().position(|group| group.hooks.module == module)
    }
}

/// Whether the chunk, else the option `state_aggregate`, says so: True, or a list that has its module.
fn is_on(chunk: &Map, opts: &Map) -> bool {
    let of_its_own = !CONDITIONS.iter().any(|condition| chunk.contains(condition));
    match chunk.at("aggregate").or_else(|| opts.at("state_aggregate")) {
        Some(Value::Bool(wanted)) => *wanted && of_its_own,
        Some(Value::List(modules)) => chunk.at("state").is_some_and(|own| modules.contains(own)) && of_its_own,
        _ => false,
    }
}

impl Runner<'_, '_> {
    /// What is to be done with a chunk before it runs.
    pub(super) fn prepare(&mut self, chunk: usize) {
        let Some(group) = self.chunks[chunk].str_at("state").and_then(|module| self.groups.of(module)) else {
            return;
        };
        if let Some(init) = self.groups.0[group].hooks.init.filter(|_| !self.groups.0[group].is_ready) {
            let low = &self.chunks[chunk];
            self.groups.0[group].is_ready = caller::within(&self.world, &mut self.scratch, |ctx| init(ctx, low));
        }
        let is_free = !self.is_check(chunk) && !self.chunks[chunk].contains(MARK);
        if let Some(aggregate) = self.groups.0[group].hooks.aggregate.filter(|_| is_free)
            && self.groups.0[group].members.contains(&chunk)
        {
            self.aggregate(chunk, group, aggregate);
        }
    }

    fn aggregate(&mut self, chunk: usize, group: usize, aggregate: Aggregate) {
        let mut low = std::mem::take(&mut self.chunks[chunk]);
        let mut taken = 0;
        for at in 0..self.groups.0[group].members.len() {
            let other = self.groups.0[group].members[at];
            let is_free = other != chunk && self.results[other].is_none() && !self.chunks[other].contains(MARK);
            // Salt does not ask what the other requires: a package would come before its repository.
            if is_free && taken + 1 < MOST && self.may_run(other) && aggregate(&mut low, &self.chunks[other]) {
                self.chunks[other].insert(MARK, true);
                taken += 1;
            }
        }
        if taken > 0 {
            low.insert(MARK, true);
        }
        self.chunks[chunk] = low;
    }

    /// Whether all that a chunk requires has been met.
    fn may_run(&mut self, chunk: usize) -> bool {
        let node = self.graph.state_of(&super::tag(&self.chunks[chunk]));
        !self.is_check(chunk) && node.is_some_and(|node| self.status(node) == Status::Met)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Asked, Next, World};
    use super::*;
    use crate::highstate::low;
    use crate::testing::World as Minion;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_lang::yaml;

    const HOOKS: &[Hooks] = &[Hooks {
        module: "test",
        aggregate: Some(|low, other| {
            let fits = low.at("fun") == other.at("fun");
            if fits {
                let both = ["comment"; 2].iter().zip([&*low, other]).filter_map(|(key, low)| low.str_at(key));
                let both = both.collect::<Vec<_>>().join("+");
                low.insert("comment", both);
            }
            fits
        }),
        init: Some(|ctx, low| {
            let mut scratch = ctx.scratch.borrow_mut();
            let asked = scratch.at("asked").and_then(Value::as_int).unwrap_or(0) + 1;
            scratch.insert("asked", asked);
            low.at("__id__") == Some(&"b".into())
        }),
    }];

    /// The comments of a run by ID, and how often `init` was called.
    fn run(sls: &str, options: &str) -> (Vec<String>, Option<i64>) {
        let data = |text: &str| yaml::load(text).unwrap().as_map().unwrap().clone();
        let minion = Minion { opts: data(options), ..Minion::new() };
        let mut high = data(sls);
        for (_, body) in high.iter_mut() {
            if let Value::Map(body) = body {
                crate::highstate::render::lengthen(body, |_| {});
                body.insert("__sls__", "main");
            }
        }
        let low = low::compile(high, &minion.opts, &minion.grains).unwrap();
        let host = Fake::default();
        let ctx = minion.ctx_on(&host, &NoMaster);
        std::thread::scope(|scope| {
            let world = World::new(&ctx, Asked::default());
            let mut runner = Runner::new(world, low.chunks, low.graph, HOOKS, scope);
            assert!(runner.steps(&low.steps) == Next::Go);
            let asked = runner.scratch.at("asked").and_then(Value::as_int);
            let shown = |result: &Value| {
                let text = |key: &str| result.at(key).map(Value::to_text).unwrap_or_default();
                format!("{}: {}", text("name"), text("comment"))
            };
            (runner.into_results().values().map(shown).collect(), asked)
        })
    }

    fn state(id: &str, more: &str) -> String {
        format!("{id}: {{test.configurable_test_state: [{{changes: false}}, {{comment: {id}}}, {more}]}}\n")
    }

    #[test]
    fn a_state_takes_others_along_that_may_run() {
        let sls = [
            state("a", "order: 1"),
            state("late", "require: [{test: nop}]"),
            state("b", "order: 3"),
            state("own", "unless: [true]"),
            state("alone", "aggregate: false"),
            "nop: test.nop\n".replace("test.nop", "{test.nop: []}"),
        ]
        .concat();
        let (told, asked) = run(&sls, "{state_aggregate: true}");
        assert_eq!(told[..2], ["a: a+b", "b: b"], "{told:?}");
        assert!(told.contains(&"late: late".to_owned()) && told.contains(&"alone: alone".to_owned()), "{told:?}");
        assert_eq!(asked, Some(2), "until it has said so, at b");
    }

    #[test]
    fn without_the_option_each_runs_for_itself() {
        let sls = [state("a", "order: 1"), state("b", "order: 2")].concat();
        for options in ["{state_aggregate: false}", "{state_aggregate: [pkg]}", "{}"] {
            assert_eq!(run(&sls, options).0, ["a: a", "b: b"], "{options}");
        }
        assert_eq!(run(&sls, "{state_aggregate: [test]}").0, ["a: a+b", "b: b"]);
        let sls = [state("a", "aggregate: true"), state("b", "aggregate: [test]")].concat();
        assert_eq!(run(&sls, "{}").0, ["a: a+b", "b: b"]);
    }
}
