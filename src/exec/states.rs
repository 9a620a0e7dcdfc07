//! State modules: what an SLS declares, such as `file.managed`. What a state is made of is in [`state`](super::state).

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

use super::Fault;
use super::function::Table;
pub use super::state::*;
use crate::wire::value::{Map, Value};

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

/// The states of Halite.
pub static STATES: Table<PlanFn> = Table(&[MODULES]);

/// The state called `mod.fun`.
pub fn find(fun: &str) -> Option<&'static Function> {
    STATES.find(fun)
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
    STATES.unknown(fun)
}

/// The names of all modules of states, sorted.
pub fn modules() -> Vec<&'static str> {
    STATES.modules().into_iter().map(|module| module.name).collect()
}

/// The names of all states, `mod.fun`, sorted.
pub fn names() -> impl Iterator<Item = String> {
    STATES.names()
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
    use crate::wire::record::Arguments;

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
        crate::exec::function::tests::assert_sorted_and_documented(MODULES);
        assert!(watches("cmd") && watches("service") && !watches("file"));
    }
}
