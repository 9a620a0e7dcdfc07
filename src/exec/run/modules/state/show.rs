//! `state.show_*`: what the SLS files come to, without running it.

use super::settings::{Of, Settings, errors, split};
use super::{Run, code};
use crate::highstate;
use crate::highstate::{Compiler, Matches, low, verify};
use halite_core::{Ctx, Fault, Reply, Returned};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};
use std::path::Path;

/// The high data of some SLS, or what is wrong with them.
fn high(
    ctx: &Ctx,
    mods: &Value,
    test: Option<bool>,
    keywords: &Map,
) -> Result<(Settings, Result<Map, Vec<String>>), Fault> {
    let settings = Settings::new(ctx, Of::Sls, test, keywords)?;
    settings.refuse(keywords)?;
    let high = {
        let world = settings.world(ctx);
        let compiler = Compiler::new(&world)?;
        let saltenv = compiler.saltenv().unwrap_or("base").to_owned();
        let (high, mut errors) = compiler.render(&Matches::from_iter([(saltenv, split(mods))]));
        errors.extend(verify::high(&high));
        if errors.is_empty() { Ok(high) } else { Err(compiler.located(errors)) }
    };
    Ok((settings, high))
}

/// The low chunks of some SLS.
fn chunks(
    ctx: &Ctx,
    mods: &Value,
    test: Option<bool>,
    keywords: &Map,
) -> Result<Result<Vec<Value>, Vec<String>>, Fault> {
    let (settings, high) = high(ctx, mods, test, keywords)?;
    let low = high.and_then(|high| low::compile(high, &settings.opts, ctx.grains));
    Ok(low.map(|low| low.ordered()))
}

record! {
    /// Returns the high data of some SLS: what they declare, rendered.
    ///
    ///   salt '*' state.show_sls core,edit.vim
    ///   salt '*' state.show_sls core saltenv=dev
    pub struct ShowSls {
        /// The SLS, with commas between them.
        mods: Value,
        /// Test mode, which templates can see.
        test: Option<bool> = (),
        /// Taken, not used: to show is never in the way of a run.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for ShowSls {
    fn run(self, ctx: &Ctx) -> Reply {
        match high(ctx, &self.mods, self.test, &self.kwargs.0)?.1 {
            Ok(high) => Ok(high.into()),
            Err(found) => errors(found),
        }
    }
}

record! {
    /// Returns the low chunks of some SLS, in the order in which they would run.
    ///
    ///   salt '*' state.show_low_sls foo
    pub struct ShowLowSls {
        /// The SLS, with commas between them.
        mods: Value,
        /// Test mode, which templates can see.
        test: Option<bool> = (),
        /// Taken, not used: to show is never in the way of a run.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for ShowLowSls {
    fn run(self, ctx: &Ctx) -> Reply {
        match chunks(ctx, &self.mods, self.test, &self.kwargs.0)? {
            Ok(chunks) => Ok(Value::List(chunks).into()),
            Err(found) => errors(found),
        }
    }
}

record! {
    /// Returns whether some SLS are there and can be rendered.
    ///
    ///   salt '*' state.sls_exists core,edit.vim
    pub struct SlsExists {
        /// The SLS, with commas between them.
        mods: Value,
        /// Test mode, which templates can see.
        test: Option<bool> = (),
        /// Taken, not used.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for SlsExists {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(high(ctx, &self.mods, self.test, &self.kwargs.0)?.1.is_ok().into())
    }
}

record! {
    /// Returns whether some SLS have states with these IDs.
    ///
    ///   salt '*' state.id_exists conf1,conf2 core
    pub struct IdExists {
        /// The IDs, with commas between them.
        ids: Value,
        /// The SLS, with commas between them.
        mods: Value,
        /// Test mode, which templates can see.
        test: Option<bool> = (),
        /// Taken, not used.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for IdExists {
    fn run(self, ctx: &Ctx) -> Reply {
        let found = match chunks(ctx, &self.mods, self.test, &self.kwargs.0)? {
            Ok(chunks) => chunks,
            Err(errors) => return Err(Fault::execution(errors.join("\n"))),
        };
        let has = |id: &String| found.iter().any(|chunk| chunk.at("__id__").and_then(Value::as_str) == Some(id));
        Ok(split(&self.ids).iter().all(has).into())
    }
}

record! {
    /// Returns the high data of the top file: all that the minion would be brought to.
    ///
    ///   salt '*' state.show_highstate
    pub struct ShowHighstate {
        /// Taken, not used: to show is never in the way of a run.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for ShowHighstate {
    fn run(self, ctx: &Ctx) -> Reply {
        let settings = Settings::new(ctx, Of::Top, None, &self.kwargs.0)?;
        settings.refuse(&self.kwargs.0)?;
        let world = settings.world(ctx);
        match Compiler::new(&world)?.highstate() {
            Ok(high) => Ok(high.into()),
            Err(found) => errors(found),
        }
    }
}

/// The low chunks of the top file, in order.
fn lowstate(ctx: &Ctx, keywords: &Map) -> Result<Result<Vec<Value>, Vec<String>>, Fault> {
    Ok(low_of_top(ctx, keywords)?.map(|low| low.ordered()))
}

fn low_of_top(ctx: &Ctx, keywords: &Map) -> Result<Result<low::Low, Vec<String>>, Fault> {
    let settings = Settings::new(ctx, Of::Top, None, keywords)?;
    settings.refuse(keywords)?;
    let world = settings.world(ctx);
    let compiler = Compiler::new(&world)?;
    let (high, errors) = compiler.render(&compiler.matches(&compiler.top()));
    if !errors.is_empty() {
        return Ok(Err(errors));
    }
    Ok(highstate::complete(high, &settings.opts).and_then(|high| low::compile(high, &settings.opts, ctx.grains)))
}

record! {
    /// Returns the low chunks of the top file, in the order in which they would run.
    ///
    ///   salt '*' state.show_lowstate
    pub struct ShowLowstate {
        /// Taken, not used: to show is never in the way of a run.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for ShowLowstate {
    fn run(self, ctx: &Ctx) -> Reply {
        match lowstate(ctx, &self.kwargs.0)? {
            Ok(chunks) => Ok(Value::List(chunks).into()),
            // Salt gives exit code 0 here.
            Err(found) => errors(found),
        }
    }
}

record! {
    /// Returns the names of the SLS that the minion would be brought to, includes too.
    ///
    ///   salt '*' state.show_states
    pub struct ShowStates {
        /// Taken, not used: to show is never in the way of a run.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for ShowStates {
    fn run(self, ctx: &Ctx) -> Reply {
        match lowstate(ctx, &self.kwargs.0)? {
            Ok(chunks) => {
                let mut names: Vec<Value> = Vec::new();
                for sls in chunks.iter().filter_map(|chunk| chunk.at("__sls__")) {
                    if !names.contains(sls) {
                        names.push(sls.clone());
                    }
                }
                Ok(Value::List(names).into())
            }
            Err(found) => errors(found),
        }
    }
}

record! {
    /// Returns the SLS that the top file has for the minion, by environment.
    ///
    ///   salt '*' state.show_top
    pub struct ShowTop {
        /// Taken, not used: to show is never in the way of a run.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for ShowTop {
    fn run(self, ctx: &Ctx) -> Reply {
        let settings = Settings::new(ctx, Of::Top, None, &self.kwargs.0)?;
        settings.refuse(&self.kwargs.0)?;
        let world = settings.world(ctx);
        let compiler = Compiler::new(&world)?;
        let top = compiler.top();
        let found = highstate::top::verify(&top);
        if !found.is_empty() {
            return errors(found);
        }
        let matches = compiler.matches(&top).into_iter().map(|(saltenv, sls)| (saltenv, Value::list(sls)));
        Ok(Map::from_iter(matches).into())
    }
}

record! {
    /// Returns the requisites of some SLS as a graph in the language of Graphviz, DOT.
    ///
    ///   salt '*' state.graph core,edit.vim
    pub struct Graph {
        /// The SLS, with commas between them.
        mods: Value,
        /// Test mode, which templates can see.
        test: Option<bool> = (),
        /// Taken, not used: to show is never in the way of a run.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for Graph {
    fn run(self, ctx: &Ctx) -> Reply {
        let (settings, high) = high(ctx, &self.mods, self.test, &self.kwargs.0)?;
        match high.and_then(|high| low::compile(high, &settings.opts, ctx.grains)) {
            Ok(low) => Ok(low.graph.to_dot(&low.chunks).into()),
            Err(found) => errors(found),
        }
    }
}

record! {
    /// Returns the requisites of all that the minion would be brought to, as a graph in the language of Graphviz, DOT.
    ///
    ///   salt '*' state.graph_highstate
    pub struct GraphHighstate {
        /// Taken, not used: to show is never in the way of a run.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for GraphHighstate {
    fn run(self, ctx: &Ctx) -> Reply {
        match low_of_top(ctx, &self.kwargs.0)? {
            Ok(low) => Ok(low.graph.to_dot(&low.chunks).into()),
            Err(found) => errors(found),
        }
    }
}

record! {
    /// Removes what runs of states have cached, and returns the names of these files.
    ///
    ///   salt '*' state.clear_cache
    pub struct ClearCache {}
}

impl Run for ClearCache {
    fn run(self, ctx: &Ctx) -> Reply {
        let cachedir = Path::new(ctx.opts.str_at("cachedir").unwrap_or_default());
        let mut removed = Vec::new();
        for name in ctx.host.list(cachedir).unwrap_or_default() {
            if name.ends_with(".cache.p") && ctx.host.remove(&cachedir.join(&name)).is_ok() {
                removed.push(name);
            }
        }
        Ok(Value::list(removed).into())
    }
}

record! {
    /// Returns which SLS of each environment the top file gives to the minion, and which it does not.
    ///
    ///   salt '*' state.show_state_usage
    pub struct ShowStateUsage {
        /// Taken, not used: to show is never in the way of a run.
        queue: Value = (),
        kwargs: Keywords,
    }
}

impl Run for ShowStateUsage {
    fn run(self, ctx: &Ctx) -> Reply {
        let settings = Settings::new(ctx, Of::Top, None, &self.kwargs.0)?;
        let world = settings.world(ctx);
        let compiler = Compiler::new(&world)?;
        let top = compiler.top();
        let found = highstate::top::verify(&top);
        if !found.is_empty() {
            return Ok(Returned::from(Value::list(found)).with_retcode(code::COMPILER));
        }
        let matches = compiler.matches(&top);
        let mut usage = Map::new();
        for saltenv in &compiler.environments {
            let given = matches.get(saltenv).map(Vec::as_slice).unwrap_or_default();
            let names = compiler.tree.names(saltenv)?;
            let (used, unused): (Vec<&String>, Vec<&String>) = names.all().iter().partition(|sls| given.contains(sls));
            usage.insert(
                saltenv.as_str(),
                Map::from_iter([
                    ("used", Value::list(used.iter().copied())),
                    ("unused", Value::list(unused.iter().copied())),
                    ("count_all", names.all().len().into()),
                    ("count_used", used.len().into()),
                    ("count_unused", unused.len().into()),
                ]),
            );
        }
        Ok(usage.into())
    }
}
