//! Runners: the functions that `salt-run mod.fun` calls, on the master's own host.
//!
//! A runner module is one file and one line in [`RUNNERS`]; a function is a record of its arguments and a `run`, as with
//! [`modules`](super::modules). What it may touch arrives in its [`Ctx`]: the master through [`Fleet`], what the master
//! has written down through [`Archive`].

mod cache;
mod config;
mod doc;
mod error;
mod event;
pub mod fleet;
mod jobs;
mod manage;
mod matching;
mod salt;
mod state;
mod test;

use super::Fault;
use super::fault::Reply;
use super::host::Host;
use crate::wire::record::{ArgumentError, Arguments, Info, Record};
use crate::wire::value::{Map, Value};
pub use fleet::{Archive, Bus, Fleet};

/// Every runner module, sorted by name.
pub const RUNNERS: &[&Module] = &[
    &cache::MODULE,
    &config::MODULE,
    &doc::MODULE,
    &error::MODULE,
    &event::MODULE,
    &jobs::MODULE,
    &manage::MODULE,
    &matching::MODULE,
    &salt::MODULE,
    &state::MODULE,
    &test::MODULE,
];

/// The runners under one name.
#[derive(Debug)]
pub struct Module {
    pub name: &'static str,
    pub doc: &'static str,
    pub functions: &'static [Function],
}

/// One runner as the tables know it.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub name: &'static str,
    pub info: &'static Info,
    run: fn(Arguments, &Ctx) -> Result<Reply, ArgumentError>,
    bind: fn(Arguments) -> Result<(), ArgumentError>,
}

/// The world of one call of a runner.
pub struct Ctx<'a> {
    pub host: &'a dyn Host,
    /// The running master.
    pub fleet: &'a dyn Fleet,
    /// What the master has written down.
    pub archive: &'a dyn Archive,
    /// The master's configuration, defaults filled in.
    pub opts: &'a Map,
    /// The number of this run, twenty digits.
    pub jid: &'a str,
    /// Prints a text at once, before the answer.
    pub say: &'a dyn Fn(&str) -> Result<(), Fault>,
}

impl Ctx<'_> {
    /// Tells whoever watches this run how far it is.
    pub fn progress(&self, message: &str) {
        let tag = format!("salt/run/{}/progress", self.jid);
        // Nobody may be watching, and nothing depends on it.
        let _ = self.fleet.fire(&tag, Map::from_iter([("message", message)]));
    }

    /// The nodegroups of the configuration, for targets.
    fn nodegroups(&self) -> Option<&Map> {
        self.opts.at("nodegroups").and_then(Value::as_map)
    }
}

/// What a record of arguments does when it is called.
pub trait Run: Record {
    fn run(self, ctx: &Ctx) -> Reply;
}

/// The table's entry for a record of arguments.
pub const fn function<R: Run>(name: &'static str) -> Function {
    Function {
        name,
        info: R::INFO,
        run: |arguments, ctx| R::bind(arguments).map(|record| record.run(ctx)),
        bind: |arguments| R::bind(arguments).map(drop),
    }
}

impl Function {
    /// Whether arguments fit, without a call.
    pub fn check(&self, arguments: Arguments) -> Result<(), ArgumentError> {
        (self.bind)(arguments)
    }
}

/// The runner called `mod.fun`.
pub fn find(fun: &str) -> Option<&'static Function> {
    let (module, name) = fun.split_once('.')?;
    let module = RUNNERS.iter().find(|candidate| candidate.name == module)?;
    module.functions.iter().find(|candidate| candidate.name == name)
}

/// The names of all runners, `mod.fun`, sorted.
pub fn names() -> impl Iterator<Item = String> {
    RUNNERS
        .iter()
        .flat_map(|module| module.functions.iter().map(move |function| format!("{}.{}", module.name, function.name)))
}

/// The documentation of the runners whose name is `wanted` or begins with it as a module; of all without it.
pub fn docs(wanted: Option<&str>) -> Map {
    let is_wanted = |name: &str| {
        wanted
            .is_none_or(|wanted| name.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    names()
        .filter(|name| is_wanted(name))
        .filter_map(|name| find(&name).map(|found| (name, found.info.text())))
        .collect()
}

/// Calls `mod.fun`.
pub fn call(ctx: &Ctx, fun: &str, arguments: Arguments) -> Reply {
    let Some(function) = find(fun) else {
        return Err(Fault::Unknown {
            fun: fun.to_owned(),
            reason: format!("'{fun}' is not available."),
            nearest: Vec::new(),
        });
    };
    match (function.run)(arguments, ctx) {
        Ok(reply) => reply,
        Err(error) => Err(Fault::Arguments { fun: fun.to_owned(), error }),
    }
}

#[cfg(test)]
mod tests;
