//! State modules: what an SLS declares, such as `file.managed`.
//!
//! A module is one file (or a folder for a large one) and one line in [`MODULES`]. A state is a record of its arguments and
//! a [`State::plan`]: it looks at the host, which it cannot change, and says that all is as it should be
//! ([`already`]), or what it would change and how ([`change`]). Whoever runs states decides whether that is done, so no
//! state has to think of `test=True`.
//!
//! ```
//! use halite::exec::states::{Look, Module, Plan, State, already, state};
//! use halite::exec::Fault;
//!
//! halite::record! {
//!     /// Does nothing.
//!     ///
//!     ///   nothing:
//!     ///     test.nop: []
//!     pub struct Nop {
//!         /// The ID, which means nothing.
//!         name: String,
//!     }
//! }
//! impl State for Nop {
//!     fn plan(self, _: &Look) -> Result<Plan, Fault> {
//!         Ok(already("Success!"))
//!     }
//! }
//! pub const MODULE: Module = Module { name: "test", doc: "Simple checks.", functions: &[state::<Nop>("nop")] };
//! ```

mod alias;
mod alternatives;
mod archive;
mod cmd;
mod cron;
mod debconf;
mod environ;
mod file;
mod firewalld;
mod git;
mod grains;
mod group;
mod hooks;
mod host;
mod http;
mod ini;
mod iptables;
mod kmod;
mod locale;
mod lvm;
mod module;
mod mount;
mod network;
mod pip;
mod pkg;
mod pkgrepo;
mod process;
mod selinux;
mod service;
mod ssh_auth;
mod ssh_known_hosts;
mod sysctl;
mod test;
mod timezone;
mod user;
mod virtualenv;
mod wait;

use super::{Ctx, Fault, function};
use crate::wire::record::{ArgumentError, Arguments, Record};
use crate::wire::value::{Map, Value};

pub use hooks::{Aggregate, Hooks, Init};

/// Every module, sorted by name.
pub const MODULES: &[&Module] = &[
    &alias::MODULE,
    &alternatives::MODULE,
    &archive::MODULE,
    &cmd::MODULE,
    &cron::MODULE,
    &debconf::MODULE,
    &environ::MODULE,
    &file::MODULE,
    &firewalld::MODULE,
    &git::MODULE,
    &grains::MODULE,
    &group::MODULE,
    &host::MODULE,
    &http::MODULE,
    &ini::MODULE,
    &iptables::MODULE,
    &kmod::MODULE,
    &locale::MODULE,
    &lvm::MODULE,
    &module::MODULE,
    &mount::MODULE,
    &network::MODULE,
    &pip::MODULE,
    &pkg::MODULE,
    &pkgrepo::MODULE,
    &process::MODULE,
    &selinux::MODULE,
    &service::MODULE,
    &ssh_auth::MODULE,
    &ssh_known_hosts::MODULE,
    &sysctl::MODULE,
    &test::MODULE,
    &timezone::MODULE,
    &user::MODULE,
    &virtualenv::MODULE,
];

/// What modules do beside their states, by module.
pub const HOOKS: &[Hooks] = &[iptables::HOOKS, pkg::HOOKS, selinux::HOOKS];

/// Modules of Salt whose states react to changes of others and which are not in this version yet: an SLS is compiled as
/// with them.
const WATCHING: [&str; 1] = ["event"];

/// The function of a module that runs when what its states watch has changed.
pub const REACTION: &str = "mod_watch";

/// Where a low chunk has those that it requires, when it needs to know more of them than that they have succeeded.
pub const REQUIRED: &str = "__required__";

pub type Module = function::Module<PlanFn>;
pub type Function = function::Function<PlanFn>;
type PlanFn = fn(Arguments, &Look) -> Result<Result<Plan, Fault>, ArgumentError>;

/// What a state does with its arguments.
pub trait State: Record {
    /// Looks, and says what is to be done.
    fn plan(self, look: &Look) -> Result<Plan, Fault>;
}

/// The table's entry for a state.
pub const fn state<S: State>(name: &'static str) -> Function {
    Function::of::<S>(name, |arguments, look| S::bind(arguments).map(|state| state.plan(look)))
}

/// What a state sees.
pub struct Look<'a> {
    /// The host in it can only be looked at.
    pub ctx: &'a Ctx<'a>,
    /// The low chunk.
    pub low: &'a Map,
    /// The environment of the SLS.
    pub saltenv: &'a str,
    /// IDs that are watched and have changed, `module: id`, when the state runs for that.
    pub changed: &'a [String],
    /// In test mode the same with a host that can be changed: for commands by which an SLS has it told what would happen.
    pub rehearsal: Option<&'a Ctx<'a>>,
}

/// What is to be done about a state.
pub enum Plan {
    /// Nothing, or nothing can be done.
    Stands(Outcome),
    /// Something changes.
    Changes {
        /// What is said of it in test mode.
        would: Outcome,
        apply: Apply,
    },
}

/// Changes the host and says what came of it.
pub type Apply = Box<dyn FnOnce(&Ctx) -> Result<Outcome, Fault>>;

/// What became of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Nothing: something would be changed.
    pub result: Option<bool>,
    pub comment: String,
    pub changes: Map,
    /// Further entries of the result, such as `warnings`.
    pub more: Map,
}

impl Outcome {
    pub fn new(result: Option<bool>, comment: impl Into<String>) -> Outcome {
        Outcome { result, comment: comment.into(), ..Outcome::default() }
    }

    /// It was done.
    pub fn done(comment: impl Into<String>) -> Outcome {
        Outcome::new(Some(true), comment)
    }

    /// It could not be done.
    pub fn failed(comment: impl Into<String>) -> Outcome {
        Outcome::new(Some(false), comment)
    }

    pub fn with_changes(mut self, changes: Map) -> Outcome {
        self.changes = changes;
        self
    }

    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Outcome {
        self.more.insert(key, value);
        self
    }
}

/// All is as it should be.
pub fn already(comment: impl Into<String>) -> Plan {
    Plan::Stands(Outcome::new(Some(true), comment))
}

/// It cannot be as it should be.
pub fn failed(comment: impl Into<String>) -> Plan {
    Plan::Stands(Outcome::new(Some(false), comment))
}

/// All is as it should be, which test mode says in other words.
pub fn stands(would: Outcome, done: Outcome) -> Plan {
    Plan::Changes { would, apply: Box::new(move |_| Ok(done)) }
}

/// Something is to be changed; `changes` and `comment` are what test mode says.
pub fn change(
    changes: Map,
    comment: impl Into<String>,
    apply: impl FnOnce(&Ctx) -> Result<Outcome, Fault> + 'static,
) -> Plan {
    Plan::Changes { would: Outcome::new(None, comment).with_changes(changes), apply: Box::new(apply) }
}

/// Arguments for a function by name; those that are nothing are left to their defaults.
pub fn given<const N: usize>(pairs: [(&str, Value); N]) -> Map {
    Map::from_iter(pairs.into_iter().filter(|(_, value)| !value.is_null()))
}

/// What an execution function answers.
pub fn ask<const N: usize>(ctx: &Ctx, fun: &str, arguments: [(&str, Value); N]) -> Result<Value, Fault> {
    ctx.run(fun, Arguments::keywords(given(arguments)))
}

/// One change under a key.
pub fn single(key: &str, value: impl Into<Value>) -> Map {
    Map::from_iter([(key, value.into())])
}

/// Two values of something: what it was and what it is.
pub fn from_to(old: impl Into<Value>, new: impl Into<Value>) -> Map {
    Map::from_iter([("old", old.into()), ("new", new.into())])
}

/// The state called `mod.fun`.
pub fn find(fun: &str) -> Option<&'static Function> {
    function::find(MODULES, fun)
}

/// The same, where the configuration lets its module in (`whitelist_state_modules`).
pub fn available(opts: &Map, fun: &str) -> Option<&'static Function> {
    let wanted = opts.at("whitelist_state_modules").and_then(Value::as_list).unwrap_or_default();
    let module = fun.split('.').next();
    let is_in = wanted.is_empty() || wanted.iter().any(|name| name.as_str() == module);
    find(fun).filter(|_| is_in)
}

/// The fault of a name that no state has.
pub fn unknown(fun: &str) -> Fault {
    function::unknown(MODULES, fun)
}

/// The names of all states, `mod.fun`, sorted.
pub fn names() -> impl Iterator<Item = String> {
    function::names(MODULES)
}

/// Whether the states of a module react to changes of what they watch.
pub fn watches(module: &str) -> bool {
    WATCHING.contains(&module) || find(&format!("{module}.{REACTION}")).is_some()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::exec::context::NoMaster;
    use crate::exec::host::ReadOnly;
    use crate::exec::modules::tests::World;

    /// What a state plans in a world, on a host that it cannot change.
    pub fn planned(world: &World, fun: &str, arguments: Arguments) -> Result<Plan, Fault> {
        let ctx = world.ctx(&NoMaster);
        let view = ReadOnly(ctx.host);
        let looking = ctx.on(&view);
        let look = Look { ctx: &looking, low: &Map::new(), saltenv: "base", changed: &[], rehearsal: None };
        let function = find(fun).unwrap_or_else(|| panic!("there is no state {fun}"));
        (function.run)(arguments, &look).unwrap_or_else(|error| panic!("{fun}: {error}"))
    }

    /// What test mode says of a plan, and what comes of it when it is done.
    pub fn both(world: &World, plan: Result<Plan, Fault>) -> (Outcome, Outcome) {
        match plan.unwrap_or_else(|fault| panic!("{fault}")) {
            Plan::Stands(outcome) => (outcome.clone(), outcome),
            Plan::Changes { would, apply } => {
                let done = apply(&world.ctx(&NoMaster)).unwrap_or_else(|fault| panic!("{fault}"));
                (would, done)
            }
        }
    }

    #[test]
    fn state_modules_that_are_not_on_the_list_are_not_there() {
        let opts = |modules: &[&str]| Map::from_iter([("whitelist_state_modules", Value::list(modules.to_vec()))]);
        assert!(available(&Map::new(), "test.nop").is_some() && available(&opts(&[]), "test.nop").is_some());
        assert!(available(&opts(&["cmd", "test"]), "test.nop").is_some());
        assert!(available(&opts(&["cmd"]), "test.nop").is_none());
    }

    #[test]
    fn the_table_is_sorted_and_documented() {
        function::tests::assert_sorted_and_documented(MODULES);
        assert!(watches("cmd") && watches("service") && !watches("file"));
    }
}
