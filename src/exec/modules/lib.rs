//! Execution modules: the functions that `salt TARGET mod.fun` calls. What one is made of is in [`module`](halite_core::module).

mod aliases;
mod alternatives;
mod archive;
pub mod cmd;
mod config;
mod cp;
mod cron;
mod debconf;
mod defaults;
mod disk;
mod dnsutil;
pub mod environ;
mod event;
pub mod file;
mod firewalld;
mod git;
mod grains;
mod group;
mod hashutil;
mod hosts;
mod http;
mod ini;
pub mod ip;
mod iptables;
mod key;
mod kmod;
mod locale;
mod log;
mod lvm;
mod r#match;
mod minion;
mod mount;
mod network;
mod pillar;
mod pip;
pub mod pkg;
mod ps;
mod publish;
mod random;
#[cfg(test)]
mod recorded;
mod saltutil;
mod selinux;
mod service;
mod shadow;
mod slsutil;
mod ssh;
mod status;
mod sysctl;
mod system;
mod temp;
mod test;
mod timezone;
mod user;
mod virtualenv;

use halite_core::module::Module;

/// Every module, sorted by name.
pub static MODULES: &[&Module] = &[
    &aliases::MODULE,
    &alternatives::MODULE,
    &archive::MODULE,
    &cmd::MODULE,
    &config::MODULE,
    &cp::MODULE,
    &cron::MODULE,
    &debconf::MODULE,
    &defaults::MODULE,
    &disk::MODULE,
    &dnsutil::MODULE,
    &environ::MODULE,
    &event::MODULE,
    &file::MODULE,
    &firewalld::MODULE,
    &git::MODULE,
    &grains::MODULE,
    &group::MODULE,
    &hashutil::MODULE,
    &hosts::MODULE,
    &http::MODULE,
    &ini::MODULE,
    &ip::MODULE,
    &iptables::MODULE,
    &key::MODULE,
    &kmod::MODULE,
    &locale::MODULE,
    &log::MODULE,
    &lvm::MODULE,
    &r#match::MODULE,
    &minion::MODULE,
    &mount::MODULE,
    &network::MODULE,
    &pillar::MODULE,
    &pip::MODULE,
    &pkg::MODULE,
    &ps::MODULE,
    &publish::MODULE,
    &random::MODULE,
    &saltutil::MODULE,
    &selinux::MODULE,
    &service::MODULE,
    &shadow::MODULE,
    &slsutil::MODULE,
    &ssh::MODULE,
    &status::MODULE,
    &sysctl::MODULE,
    &system::MODULE,
    &temp::MODULE,
    &test::MODULE,
    &timezone::MODULE,
    &user::MODULE,
    &virtualenv::MODULE,
];

#[cfg(test)]
mod testing {
    use super::MODULES;
    use halite_core::function::Table;
    use halite_core::module::{Functions, RunFn};
    use halite_core::testing::{Known, WorldOf};

    static FUNCTIONS: Table<RunFn> = Table(&[MODULES]);

    /// The functions of this crate.
    pub struct Here;

    impl Known for Here {
        fn functions() -> &'static dyn Functions {
            &FUNCTIONS
        }
    }

    pub type World = WorldOf<Here>;
}
