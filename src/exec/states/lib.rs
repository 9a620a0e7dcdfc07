//! State modules: what an SLS declares, such as `file.managed`. What a state is made of is in [`state`](halite_core::state).

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

use halite_core::state::{Hooks, Module};

/// Every module, sorted by name.
pub static MODULES: &[&Module] = &[
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
pub static HOOKS: &[Hooks] = &[iptables::HOOKS, pkg::HOOKS, selinux::HOOKS];

#[cfg(test)]
mod testing {
    use super::MODULES;
    use halite_core::Fault;
    use halite_core::context::NoMaster;
    use halite_core::function::Table;
    use halite_core::host::ReadOnly;
    use halite_core::module::{Functions, RunFn};
    use halite_core::state::{Outcome, Plan, PlanContext, PlanFn};
    use halite_core::testing::{Known, WorldOf};
    use halite_value::Map;
    use halite_value::record::Arguments;

    /// The functions that states ask.
    pub struct Asked;

    impl Known for Asked {
        fn functions() -> &'static dyn Functions {
            static FUNCTIONS: Table<RunFn> = Table(&[halite_modules::MODULES]);
            &FUNCTIONS
        }
    }

    pub type World = WorldOf<Asked>;

    static STATES: Table<PlanFn> = Table(&[MODULES]);

    /// What a state plans in a world, on a host that it cannot change.
    pub fn planned(world: &World, fun: &str, arguments: Arguments) -> Result<Plan, Fault> {
        let ctx = world.ctx(&NoMaster);
        let view = ReadOnly(ctx.host);
        let looking = ctx.on(&view);
        let context = PlanContext { ctx: &looking, low: &Map::new(), saltenv: "base", changed: &[], rehearsal: None };
        let function = STATES.find(fun).unwrap_or_else(|| panic!("there is no state {fun}"));
        (function.run)(arguments, &context).unwrap_or_else(|error| panic!("{fun}: {error}"))
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
}
