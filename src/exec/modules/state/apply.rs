//! `state.apply` and its like: brings the minion into a state.

use super::settings::{Of, Settings, errors, split};
use super::{Run, code};
use crate::exec::highstate::{self, Compiler, Matches, low, run};
use crate::exec::target::fnmatch::fnmatch;
use crate::exec::{Ctx, Fault, Reply, Returned};
use crate::record;
use crate::wire::record::{ArgumentError, Bound, Info, Keywords, Record, Rest};
use crate::wire::value::{Map, Value};

record! {
    /// Brings the minion into the state that some SLS declare, or, without any, into the one of the top file.
    ///
    ///   salt '*' state.apply
    ///   salt '*' state.apply web,db test=True
    ///   salt '*' state.apply web pillar='{port: 8080}' saltenv=dev
    pub struct Apply {
        /// The SLS, with commas between them.
        mods: Value = (),
        kwargs: Keywords,
    }
}

impl Run for Apply {
    fn run(self, ctx: &Ctx) -> Reply {
        apply(ctx, self.mods, self.kwargs.0, None)
    }
}

/// `test`: what the call itself decides.
fn apply(ctx: &Ctx, mods: Value, mut keywords: Map, test: Option<bool>) -> Reply {
    let test = test.or_else(|| keywords.remove("test").filter(|test| !test.is_null()).map(|test| test.truthy()));
    let exclude = keywords.remove("exclude").unwrap_or_default();
    match mods.truthy() {
        true => Sls {
            mods,
            test,
            exclude,
            queue: Value::Null,
            sync_mods: Value::Null,
            state_events: Value::Null,
            kwargs: Keywords(keywords),
        }
        .run(ctx),
        false => {
            keywords.insert("exclude", exclude);
            Highstate { test, queue: Value::Null, state_events: Value::Null, kwargs: Keywords(keywords) }.run(ctx)
        }
    }
}

record! {
    /// Says what `state.apply` would change, and changes nothing.
    ///
    ///   salt '*' state.test web
    pub struct Test {
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for Test {
    fn run(self, ctx: &Ctx) -> Reply {
        let mods = self.args.0.into_iter().next().or_else(|| self.kwargs.0.at("mods").cloned());
        let mut keywords = self.kwargs.0;
        keywords.remove("mods");
        apply(ctx, mods.unwrap_or_default(), keywords, Some(true))
    }
}

record! {
    /// Brings the minion into the state that some SLS declare.
    ///
    ///   salt '*' state.sls core,edit.vim
    ///   salt '*' state.sls core exclude="[{'id': 'id_to_exclude'}, {'sls': 'sls_to_exclude'}]"
    pub struct Sls {
        /// The SLS, with commas between them.
        mods: Value,
        /// Say what would be changed, and change nothing.
        test: Option<bool> = (),
        /// SLS and IDs that are left out.
        exclude: Value = (),
        /// Taken, not used: this version waits for no other run.
        queue: Value = (),
        /// Taken, not used: modules are compiled in.
        sync_mods: Value = (),
        /// Whether each state fires an event.
        state_events: Value = (),
        kwargs: Keywords,
    }
}

impl Run for Sls {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut keywords = self.kwargs.0;
        if !self.state_events.is_null() {
            keywords.insert("state_events", self.state_events);
        }
        let mods = split(&self.mods);
        let disabled = disabled(ctx, &mods);
        if !disabled.is_empty() {
            return shown(errors(disabled));
        }
        let settings = Settings::new(ctx, Of::Sls, self.test, &keywords)?;
        if let Some(broken) = settings.broken_pillar(&keywords) {
            return Ok(broken);
        }
        let world = settings.world(ctx);
        let compiler = Compiler::new(&world)?;
        let saltenv = compiler.saltenv().unwrap_or("base").to_owned();
        let (high, found) = compiler.render(&Matches::from_iter([(saltenv, mods)]));
        match found.is_empty() {
            true => enforce(&world, high, &self.exclude, &keywords),
            false => shown(errors(found)),
        }
    }
}

record! {
    /// Brings the minion into the state that its top file gives it.
    ///
    ///   salt '*' state.highstate test=True
    ///   salt '*' state.highstate exclude=bad_sls whitelist=sls1_to_run,sls2_to_run
    pub struct Highstate {
        /// Say what would be changed, and change nothing.
        test: Option<bool> = (),
        /// Taken, not used: this version waits for no other run.
        queue: Value = (),
        /// Whether each state fires an event.
        state_events: Value = (),
        kwargs: Keywords,
    }
}

impl Run for Highstate {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut keywords = self.kwargs.0;
        if !self.state_events.is_null() {
            keywords.insert("state_events", self.state_events);
        }
        if !disabled(ctx, &["highstate".to_owned()]).is_empty() {
            let name = "Salt highstate run is disabled. To re-enable, run state.enable highstate";
            let told = Map::from_iter([("name", name), ("result", "False"), ("comment", "Disabled")]);
            return Ok(Returned::from(told).with_retcode(code::COMPILER).with_out("nested"));
        }
        let settings = Settings::new(ctx, Of::Top, self.test, &keywords)?;
        top_of(ctx, settings, &keywords)
    }
}

record! {
    /// Brings the minion into the state that another top file gives it.
    ///
    ///   salt '*' state.top reverse_top.sls
    ///   salt '*' state.top prod_top.sls exclude=sls_to_exclude
    pub struct Top {
        /// The file's path in the tree.
        topfn: String,
        /// Say what would be changed, and change nothing.
        test: Option<bool> = (),
        /// Taken, not used: this version waits for no other run.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for Top {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut settings = Settings::new(ctx, Of::Top, self.test, &self.kwargs.0)?;
        settings.opts.insert("state_top", self.topfn);
        top_of(ctx, settings, &self.kwargs.0)
    }
}

fn top_of(ctx: &Ctx, settings: Settings, keywords: &Map) -> Reply {
    if let Some(broken) = settings.broken_pillar(keywords) {
        return Ok(broken);
    }
    let world = settings.world(ctx);
    let compiler = Compiler::new(&world)?;
    let top = compiler.top();
    let mut found = highstate::top::verify(&top);
    let mut matches = compiler.matches(&top);
    if matches.is_empty() && found.is_empty() {
        let comment = "No Top file or master_tops data matches found. Please see master log for details.";
        return nothing(comment);
    }
    if let Some(wanted) = keywords.at("whitelist").filter(|wanted| wanted.truthy()) {
        let wanted = split(wanted);
        matches.values_mut().for_each(|sls| sls.retain(|sls| wanted.contains(sls)));
        matches.retain(|_, sls| !sls.is_empty());
    }
    let (high, more) = compiler.render(&matches);
    found.extend(more);
    match found.is_empty() {
        true if high.is_empty() => nothing("No states found for this minion"),
        true => enforce(&world, high, keywords.at("exclude").unwrap_or(&Value::Null), keywords),
        false => shown(errors(found)),
    }
}

/// The answer of a minion that has no states.
fn nothing(comment: &str) -> Reply {
    let told = Map::from_iter([
        ("result", Value::from(false)),
        ("comment", comment.into()),
        ("name", "No States".into()),
        ("changes", Map::new().into()),
        ("__run_num__", 0.into()),
    ]);
    finished(Map::from_iter([("no_|-states_|-states_|-None", told)]), &Map::new())
}

/// Compiles high data and runs it.
pub fn enforce(ctx: &Ctx, mut high: Map, exclude: &Value, keywords: &Map) -> Reply {
    if exclude.truthy() {
        let items = match exclude {
            Value::List(items) => items.clone(),
            other => split(other).into_iter().map(Value::from).collect(),
        };
        match high.at_mut("__exclude__") {
            Some(Value::List(all)) => all.extend(items),
            _ => drop(high.insert("__exclude__", items)),
        }
    }
    let low = highstate::complete(high, ctx.opts).and_then(|high| low::compile(high, ctx.opts, ctx.grains));
    match low {
        Ok(low) if keywords.at("mock").is_some_and(Value::truthy) => finished(mocked(low), keywords),
        Ok(low) => finished(run::run(ctx, low), keywords),
        Err(found) => shown(errors(found)),
    }
}

/// What a run gives that calls nothing (`mock`).
fn mocked(low: low::Low) -> Map {
    let result = |(at, chunk): (usize, &Value)| {
        let name = chunk.at("name").cloned().unwrap_or_default();
        let result = Map::from_iter([
            ("name", name),
            ("comment", "Not called, mocked".into()),
            ("changes", Map::new().into()),
            ("result", true.into()),
            ("__run_num__", at.into()),
            ("__sls__", chunk.at("__sls__").cloned().into()),
            ("__id__", chunk.at("__id__").cloned().into()),
        ]);
        (highstate::graph::tag(chunk.as_map().unwrap_or(&Map::new())), result)
    };
    low.ordered().iter().enumerate().map(result).collect()
}

/// The answer of a run: 2 is the exit code when a state has failed.
pub fn finished(mut results: Map, keywords: &Map) -> Reply {
    let failed = results.values().any(has_failed);
    if keywords.at("terse").is_some_and(Value::truthy) {
        let is = |result: &Value, name: &str| result.at(name).is_some_and(Value::truthy);
        results.retain(|_, result| !is(result, "result") || is(result, "changes"));
    }
    let retcode = if failed { code::FAILURE } else { 0 };
    Ok(Returned::from(results).with_retcode(retcode).with_out("highstate"))
}

fn has_failed(result: &Value) -> bool {
    result.at("result") == Some(&Value::Bool(false))
}

fn shown(reply: Reply) -> Reply {
    reply.map(|returned| returned.with_out("highstate"))
}

/// What is told of SLS that `state.disable` keeps from running.
fn disabled(ctx: &Ctx, names: &[String]) -> Vec<String> {
    let patterns = ctx.grains.at("state_runs_disabled").and_then(Value::as_list).unwrap_or_default();
    let mut told = Vec::new();
    for name in names {
        for pattern in patterns.iter().filter_map(Value::as_str) {
            match pattern.contains(".*") {
                true if fnmatch(name, pattern) => told.push(format!(
                    "The state file \"{name}\" is currently disabled by \"{pattern}\", to re-enable, run state.enable \
                     {pattern}."
                )),
                false if name == pattern => told.push(format!(
                    "The state file \"{name}\" is currently disabled, to re-enable, run state.enable {name}."
                )),
                _ => {}
            }
        }
    }
    told
}

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
        /// Taken, not used: this version waits for no other run.
        queue: Value = (),
        /// Whether each state fires an event.
        state_events: Value = (),
        kwargs: Keywords,
    }
}

impl Run for SlsId {
    fn run(self, ctx: &Ctx) -> Reply {
        let keywords = self.kwargs.0;
        let settings = Settings::new(ctx, Of::Sls, self.test, &keywords)?;
        if let Some(broken) = settings.broken_pillar(&keywords) {
            return Ok(broken);
        }
        let world = settings.world(ctx);
        let compiler = Compiler::new(&world)?;
        let saltenv = compiler.saltenv().unwrap_or("base").to_owned();
        let (high, mut found) = compiler.render(&Matches::from_iter([(saltenv.clone(), split(&self.mods))]));
        found.extend(highstate::verify::high(&high));
        if !found.is_empty() {
            return shown(errors(found));
        }
        let (high, found) = highstate::requisite_in::apply(high, world.opts);
        if !found.is_empty() {
            return shown(errors(found));
        }
        let results = match low::compile(high, world.opts, world.grains) {
            Ok(low) => run::run_id(&world, low, &self.id_),
            Err(found) => return shown(errors(found)),
        };
        match results.is_empty() {
            true => Err(Fault::invocation(format!(
                "No matches for ID '{}' found in SLS '{}' within saltenv '{saltenv}'",
                self.id_,
                self.mods.to_text()
            ))),
            false => finished(results, &keywords),
        }
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
        /// Taken, not used: this version waits for no other run.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for Single {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some((module, function)) = self.fun.split_once('.') else {
            return Ok(Returned::from("Invalid function passed").with_retcode(code::COMPILER).with_out("highstate"));
        };
        let settings = Settings::new(ctx, Of::Top, self.test, &self.kwargs.0)?;
        let world = settings.world(ctx);
        let mut chunk = self.kwargs.0;
        for keyword in ["pillar", "pillarenv", "pillar_enc", "queue", "concurrent"] {
            chunk.remove(keyword);
        }
        chunk.insert("state", module);
        chunk.insert("fun", function.split('.').next().unwrap_or_default());
        chunk.insert("__id__", self.name.clone());
        chunk.insert("name", self.name);
        let found = run::errors(&chunk);
        if !found.is_empty() {
            return shown(errors(found));
        }
        finished(run::run_single(&world, chunk), &Map::new())
    }
}

/// `state.low`.
pub struct Low {
    data: Map,
}

record! {
    /// Runs one low chunk.
    ///
    ///   salt '*' state.low '{"state": "test", "fun": "nop", "name": "foo"}'
    pub struct LowData {
        /// The chunk.
        data: Map,
        /// Taken, not used: this version waits for no other run.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Record for Low {
    const INFO: &'static Info = LowData::INFO;

    fn take(from: &mut Bound) -> Result<Self, ArgumentError> {
        LowData::take(from).map(|given| Low { data: given.data })
    }
}

impl Run for Low {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut chunk = self.data;
        let found = run::errors(&chunk);
        if !found.is_empty() {
            return errors(found);
        }
        let name = chunk.at("name").cloned();
        chunk.entry_or("__id__", || name.into());
        let results = run::run_single(ctx, chunk);
        let result = results.values().next().cloned().unwrap_or_default();
        let retcode = if has_failed(&result) { code::FAILURE } else { 0 };
        Ok(Returned::from(result).with_retcode(retcode))
    }
}

record! {
    /// Brings the minion into the state that high data declares.
    ///
    ///   salt '*' state.high '{"hello": {"test": ["nop"]}}'
    pub struct High {
        /// The high data.
        data: Map,
        /// Say what would be changed, and change nothing.
        test: Option<bool> = (),
        /// Taken, not used: this version waits for no other run.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for High {
    fn run(self, ctx: &Ctx) -> Reply {
        let settings = Settings::new(ctx, Of::Top, self.test, &self.kwargs.0)?;
        let world = settings.world(ctx);
        enforce(&world, self.data, &Value::Null, &self.kwargs.0).map(|returned| Returned { out: None, ..returned })
    }
}
