//! `state.single`, `state.sls_id`, `state.low`: one state alone.

use super::begin::{Stop, Wishes, answered, begin, finished, has_failed};
use super::settings::{Of, split};
use super::{Run, code};
use crate::highstate;
use crate::highstate::{Compiler, Matches, low, run};
use halite_core::{Ctx, Fault, Reply, Returned};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

record! {
    /// Brings one ID of some SLS into its state, with what it needs.
    ///
    ///   salt '*' state.sls_id my_state my_module
    ///   salt '*' state.sls_id my_state my_module,a_common_module
    pub struct SlsId {
        /// The ID.
        id_: String,
        /// The SLS, with commas between them.
        mods: Value,
        /// Say what would be changed, and change nothing.
        test: Option<bool> = (),
        /// Wait for other runs: True, or how many may be before this one.
        queue: Value = (),
        /// Whether each state fires an event.
        state_events: Value = (),
        kwargs: Keywords,
    }
}

impl Run for SlsId {
    fn run(self, ctx: &Ctx) -> Reply {
        let SlsId { id_, mods, test, queue, state_events, kwargs } = self;
        answered(|| {
            let begun = begin(ctx, Of::Sls, Wishes { test, queue, state_events, keywords: kwargs.0 })?;
            let world = begun.settings.world(ctx);
            let compiler = Compiler::new(&world)?;
            let saltenv = compiler.saltenv().unwrap_or("base").to_owned();
            let (high, mut found) = compiler.render(&Matches::from_iter([(saltenv.clone(), split(&mods))]));
            found.extend(highstate::verify::high(&high));
            if !found.is_empty() {
                return Err(Stop::errors(compiler.located(found)));
            }
            let (high, found) = highstate::requisite_in::apply(high, world.opts);
            if !found.is_empty() {
                return Err(Stop::errors(compiler.located(found)));
            }
            let low = low::compile(high, world.opts, world.grains);
            let low = low.map_err(|found| Stop::errors(compiler.located(found)))?;
            let results = run::run_id(&world, low, begun.settings.asked.clone(), &id_);
            match results.is_empty() {
                true => Err(Fault::invocation(format!(
                    "No matches for ID '{id_}' found in SLS '{}' within saltenv '{saltenv}'",
                    mods.to_text()
                ))
                .into()),
                false => Ok(finished(results, &begun.keywords)),
            }
        })
    }
}

record! {
    /// Brings the minion into a single state.
    ///
    ///   salt '*' state.single cmd.run name='touch /tmp/here' creates=/tmp/here
    pub struct Single {
        /// The state, such as file.managed.
        fun: String,
        /// Its name.
        name: Value,
        /// Say what would be changed, and change nothing.
        test: Option<bool> = (),
        /// Wait for other runs: True, or how many may be before this one.
        queue: Value = (),
        kwargs: Keywords,
    }
}

/// Words for the run that are no arguments of the state.
const FOR_THE_RUN: [&str; 4] = ["pillar", "pillarenv", "pillar_enc", "concurrent"];

impl Run for Single {
    fn run(self, ctx: &Ctx) -> Reply {
        let Single { fun, name, test, queue, kwargs } = self;
        let Some((module, function)) = fun.split_once('.') else {
            return Ok(Returned::from("Invalid function passed").with_retcode(code::COMPILER).with_out("highstate"));
        };
        answered(|| {
            // A pillar that does not compile matters to who may read it: not to a state that is given all it needs.
            let mut keywords = kwargs.0;
            let own = keywords.insert("force", true);
            let begun = begin(ctx, Of::Top, Wishes { test, queue, keywords, ..Wishes::default() })?;
            let world = begun.settings.world(ctx);
            let mut chunk = begun.keywords.clone();
            FOR_THE_RUN.iter().chain(&["force"]).for_each(|keyword| drop(chunk.remove(keyword)));
            // Some states have an argument of that name.
            if let Some(own) = own {
                chunk.insert("force", own);
            }
            chunk.insert("state", module);
            chunk.insert("fun", function.split('.').next().unwrap_or_default());
            chunk.insert("__id__", name.clone());
            chunk.insert("name", name);
            let found = run::errors(ctx.opts, &chunk);
            if !found.is_empty() {
                return Err(Stop::errors(found));
            }
            Ok(finished(run::run_single(&world, chunk), &Map::new()))
        })
    }
}

record! {
    /// Runs one low chunk.
    ///
    ///   salt '*' state.low '{"state": "test", "fun": "nop", "name": "foo"}'
    pub struct Low {
        /// The chunk.
        data: Map,
        /// Wait for other runs: True, or how many may be before this one.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for Low {
    fn run(self, ctx: &Ctx) -> Reply {
        let Low { data: mut chunk, queue, kwargs } = self;
        answered(|| {
            let wishes = Wishes { queue, keywords: kwargs.0, ..Wishes::default() };
            let _ticket = super::begin::ticket(ctx, &wishes)?;
            let found = run::errors(ctx.opts, &chunk);
            if !found.is_empty() {
                return Ok(Returned::from(Value::list(found)).with_retcode(code::COMPILER));
            }
            let name = chunk.at("name").cloned();
            chunk.entry_or("__id__", || name.into());
            let results = run::run_single(ctx, chunk);
            let result = results.values().next().cloned().unwrap_or_default();
            let retcode = if has_failed(&result) { code::FAILURE } else { 0 };
            Ok(Returned::from(result).with_retcode(retcode))
        })
    }
}
