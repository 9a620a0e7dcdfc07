//! `selinux.*`: mode, booleans, modules, file contexts and ports of SELinux.

mod boolean;
mod fcontext;
mod mode;
mod module;
mod port;

use halite_core::state::{Function, Hooks, Module, state};
use halite_value::Value;

pub const MODULE: Module = Module {
    name: "selinux",
    doc: "Mode, booleans, modules, file contexts and ports of SELinux.",
    functions: FUNCTIONS,
};

pub const HOOKS: Hooks = Hooks { module: "selinux", aggregate: Some(boolean::aggregate), init: None };

const FUNCTIONS: &[Function] = &[
    state::<boolean::Boolean>("boolean"),
    state::<fcontext::FcontextPolicyAbsent>("fcontext_policy_absent"),
    state::<fcontext::FcontextPolicyApplied>("fcontext_policy_applied"),
    state::<fcontext::FcontextPolicyPresent>("fcontext_policy_present"),
    state::<mode::Mode>("mode"),
    state::<module::ModuleIs>("module"),
    state::<module::ModuleInstall>("module_install"),
    state::<module::ModuleRemove>("module_remove"),
    state::<port::PortPolicyAbsent>("port_policy_absent"),
    state::<port::PortPolicyPresent>("port_policy_present"),
];

/// Whether a program of SELinux has done its work.
fn is_done(answer: &Value) -> bool {
    answer.at("retcode").and_then(Value::as_int) == Some(0)
}

#[cfg(test)]
mod tests {
    use super::Value;
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::fake::Fake;
    use halite_lang::yaml;
    use halite_value::record::Arguments;

    const BOOLEANS: &str = "SELinux boolean  State  Default Description\n\n\
        ftp_home_dir  (off  ,  off)  Allow ftp\nxend_run_blktap  (on   ,   on)  Allow xend\n";

    #[test]
    fn booleans_are_set_together_and_only_where_they_differ() {
        let host = Fake::new()
            .answers(["semanage", "boolean", "--list"], BOOLEANS)
            .answers(["setsebool", "-P", "ftp_home_dir=on"], "");
        let world = World::on(host);
        let run = |text: &str| {
            let keywords = yaml::load(text).unwrap().as_map().unwrap().clone();
            both(&world, planned(&world, "selinux.boolean", Arguments::keywords(keywords)))
        };
        let (would, done) = run("{name: x, value: true, booleans: [ftp_home_dir, xend_run_blktap], persist: true}");
        let changes = yaml::load("{ftp_home_dir: {old: ['off', 'off'], new: ['on', 'on']}}").unwrap();
        assert_eq!((would.result, Value::from(would.changes)), (None, changes.clone()));
        assert_eq!((done.result, Value::from(done.changes)), (Some(true), changes));
        let (same, _) = run("{name: xend_run_blktap, value: 'yes'}");
        let comment = "The following booleans were in the correct state: xend_run_blktap";
        assert_eq!((same.result, same.comment.as_str()), (Some(true), comment));
        assert_eq!(run("{name: none, value: true}").0.comment, "Boolean none is not available");
    }
}
