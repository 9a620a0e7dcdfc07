//! `selinux.*`: mode, booleans, modules, file contexts and ports of SELinux.

mod boolean;
mod fcontext;
mod mode;
mod module;
mod port;

use super::{Function, Hooks, Module, state};

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
fn is_done(answer: &crate::wire::value::Value) -> bool {
    answer.at("retcode").and_then(crate::wire::value::Value::as_int) == Some(0)
}
