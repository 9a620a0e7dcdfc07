//! Runners: the functions that `salt-run mod.fun` calls, on the master's own host.
//!
//! A runner module is one file and one line in [`RUNNERS`]; a function is a record of its arguments and a `run`, as with
//! [`modules`](super::modules). What it may touch arrives in its [`Ctx`]: the master through [`Fleet`], what the master
//! has written down through [`Archive`].

mod batch;
mod cache;
mod config;
mod doc;
mod error;
mod event;
mod fileserver;
pub mod fleet;
mod jobs;
mod manage;
mod matching;
mod pillar;
mod salt;
mod state;
mod test;

pub use fleet::{Archive, Bus, Fleet};
use halite_core::Fault;
use halite_core::function;
use halite_core::function::Table;
use halite_core::host::Host;
use halite_core::module::Functions;
use halite_value::fault::Reply;
use halite_value::record::{ArgumentError, Arguments, Record};
use halite_value::{Map, Value};

/// Every runner module, sorted by name.
pub const RUNNERS: &[&Module] = &[
    &batch::MODULE,
    &cache::MODULE,
    &config::MODULE,
    &doc::MODULE,
    &error::MODULE,
    &event::MODULE,
    &fileserver::MODULE,
    &jobs::MODULE,
    &manage::MODULE,
    &matching::MODULE,
    &pillar::MODULE,
    &salt::MODULE,
    &state::MODULE,
    &test::MODULE,
];

/// The runners of Halite.
static TABLE: Table<RunFn> = Table(&[RUNNERS]);

/// The runners under one name.
pub type Module = function::Module<RunFn>;
/// One runner as the table knows it.
pub type Function = function::Function<RunFn>;
type RunFn = fn(Arguments, &Ctx) -> Result<Reply, ArgumentError>;

/// The world of one call of a runner.
pub struct Ctx<'a> {
    pub host: &'a dyn Host,
    /// The execution functions that there are, for runners that call some.
    pub functions: &'a dyn Functions,
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
    Function::of::<R>(name, |arguments, ctx| R::bind(arguments).map(|record| record.run(ctx)))
}

/// The runner called `mod.fun`.
pub fn find(fun: &str) -> Option<&'static Function> {
    TABLE.find(fun)
}

/// The names of all modules of runners, sorted.
pub fn modules() -> Vec<&'static str> {
    TABLE.modules().into_iter().map(|module| module.name).collect()
}

/// The names of all runners, `mod.fun`, sorted.
pub fn names() -> impl Iterator<Item = String> {
    TABLE.names()
}

/// The documentation of the runners whose name is `wanted` or begins with it as a module; of all without it.
pub fn docs(wanted: Option<&str>) -> Map {
    let is_wanted = |name: &str| {
        wanted
            .is_none_or(|wanted| name.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    names().filter(|name| is_wanted(name)).filter_map(|name| find(&name).map(|found| (name, found.doc()))).collect()
}

/// Calls `mod.fun`.
pub fn call(ctx: &Ctx, fun: &str, arguments: Arguments) -> Reply {
    let Some(function) = find(fun) else {
        return Err(TABLE.unknown(fun));
    };
    match (function.run)(arguments, ctx) {
        Ok(reply) => reply.or_else(Fault::answered),
        Err(error) => Err(Fault::Arguments { fun: fun.to_owned(), error, info: function.info }),
    }
}

#[cfg(test)]
mod tests;
