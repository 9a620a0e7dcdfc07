//! `state.apply` and its like: brings the minion into the state that SLS files declare.

use super::begin::{Begun, Stop, Wishes, answered, begin, finished, prepare, ticket};
use super::disable::disabled;
use super::settings::{Of, split};
use super::{Run, code};
use crate::highstate;
use crate::highstate::{Compiler, Matches, low, run};
use halite_core::{Ctx, Reply, Returned};
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};

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
pub fn apply(ctx: &Ctx, mods: Value, mut keywords: Map, test: Option<bool>) -> Reply {
    let test = test.or_else(|| keywords.remove("test").filter(|test| !test.is_null()).map(|test| test.truthy()));
    let exclude = keywords.remove("exclude").unwrap_or_default();
    let queue = keywords.remove("queue").unwrap_or_default();
    let state_events = keywords.remove("state_events").unwrap_or_default();
    match mods.truthy() {
        true => {
            let kwargs = Keywords(keywords);
            Sls { mods, test, exclude, queue, sync_mods: Value::Null, state_events, kwargs }.run(ctx)
        }
        false => {
            keywords.insert("exclude", exclude);
            Highstate { test, queue, state_events, kwargs: Keywords(keywords) }.run(ctx)
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
    ///   salt '*' state.sls core queue=True
    pub struct Sls {
        /// The SLS, with commas between them.
        mods: Value,
        /// Say what would be changed, and change nothing.
        test: Option<bool> = (),
        /// SLS and IDs that are left out.
        exclude: Value = (),
        /// Wait for other runs: True, or how many may be before this one; else it fails when there is one.
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
        let Sls { mods, test, exclude, queue, state_events, kwargs, .. } = self;
        answered(|| {
            let wishes = Wishes { test, queue, state_events, keywords: kwargs.0 };
            let ticket = ticket(ctx, &wishes)?;
            let mods = split(&mods);
            let disabled = disabled(ctx, &mods);
            if !disabled.is_empty() {
                return Err(Stop::errors(disabled));
            }
            let begun = prepare(ctx, Of::Sls, wishes, ticket)?;
            let world = begun.settings.world(ctx);
            let compiler = Compiler::new(&world)?;
            let saltenv = compiler.saltenv().unwrap_or("base").to_owned();
            let (high, found) = compiler.render(&Matches::from_iter([(saltenv, mods)]));
            match found.is_empty() {
                true => enforce(&world, Some(&compiler), &begun, high, &exclude),
                false => Err(Stop::errors(compiler.located(found))),
            }
        })
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
        /// Wait for other runs: True, or how many may be before this one.
        queue: Value = (),
        /// Whether each state fires an event.
        state_events: Value = (),
        kwargs: Keywords,
    }
}

impl Run for Highstate {
    fn run(self, ctx: &Ctx) -> Reply {
        let Highstate { test, queue, state_events, kwargs } = self;
        if !disabled(ctx, &["highstate".to_owned()]).is_empty() {
            let name = "Salt highstate run is disabled. To re-enable, run state.enable highstate";
            let told = Map::from_iter([("name", name), ("result", "False"), ("comment", "Disabled")]);
            return Ok(Returned::from(told).with_retcode(code::COMPILER).with_out("nested"));
        }
        answered(|| {
            let begun = begin(ctx, Of::Top, Wishes { test, queue, state_events, keywords: kwargs.0 })?;
            top_of(ctx, begun)
        })
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
        /// Wait for other runs: True, or how many may be before this one.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for Top {
    fn run(self, ctx: &Ctx) -> Reply {
        let Top { topfn, test, queue, kwargs } = self;
        answered(|| {
            let mut begun = begin(ctx, Of::Top, Wishes { test, queue, keywords: kwargs.0, ..Wishes::default() })?;
            begun.settings.opts.insert("state_top", topfn);
            top_of(ctx, begun)
        })
    }
}

fn top_of(ctx: &Ctx, begun: Begun) -> Result<Returned, Stop> {
    let world = begun.settings.world(ctx);
    let compiler = Compiler::new(&world)?;
    let top = compiler.top();
    let mut found = highstate::top::verify(&top);
    let mut matches = compiler.matches(&top);
    if matches.is_empty() && found.is_empty() {
        let comment = "No Top file or master_tops data matches found. Please see master log for details.";
        return Ok(nothing(comment));
    }
    if let Some(wanted) = begun.keywords.at("whitelist").filter(|wanted| wanted.truthy()) {
        let wanted = split(wanted);
        matches.values_mut().for_each(|sls| sls.retain(|sls| wanted.contains(sls)));
        matches.retain(|_, sls| !sls.is_empty());
    }
    let (high, more) = compiler.render(&matches);
    found.extend(more);
    if !found.is_empty() {
        return Err(Stop::errors(compiler.located(found)));
    }
    if high.is_empty() {
        return Ok(nothing("No states found for this minion"));
    }
    let exclude = begun.keywords.at("exclude").cloned().unwrap_or_default();
    enforce(&world, Some(&compiler), &begun, high, &exclude)
}

/// The answer of a minion that has no states.
fn nothing(comment: &str) -> Returned {
    let told = Map::from_iter([
        ("result", Value::from(false)),
        ("comment", comment.into()),
        ("name", "No States".into()),
        ("changes", Map::new().into()),
        ("__run_num__", 0.into()),
    ]);
    finished(Map::from_iter([("no_|-states_|-states_|-None", told)]), &Map::new())
}

/// Compiles high data and runs it. The compiler is the one that has made it of SLS files, where it is of some.
pub fn enforce(
    world: &Ctx,
    compiler: Option<&Compiler>,
    begun: &Begun,
    mut high: Map,
    exclude: &Value,
) -> Result<Returned, Stop> {
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
    let low = highstate::complete(high, world.opts).and_then(|high| low::compile(high, world.opts, world.grains));
    let low = low.map_err(|found| match compiler {
        Some(compiler) => Stop::errors(compiler.located(found)),
        None => Stop::errors(found),
    })?;
    let results = match begun.keywords.at("mock").is_some_and(Value::truthy) {
        true => mocked(low),
        false => run::run(world, low, begun.settings.asked.clone()),
    };
    Ok(finished(results, &begun.keywords))
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
