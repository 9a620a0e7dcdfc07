//! `selinux.port_policy_present` and `port_policy_absent`: the types that the policy has for ports.

use super::is_done;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, change, from_to};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Makes sure that the policy has a type for a port.
    ///
    ///   tcp/8080:
    ///     selinux.port_policy_present:
    ///       - sel_type: http_port_t
    pub struct PortPolicyPresent {
        /// Protocol and port, `tcp/80` or `udp/8000-8010`; or any ID, with `protocol` and `port`.
        name: String,
        /// The type.
        sel_type: String,
        /// tcp or udp.
        protocol: Option<String> = (),
        /// The port, or a range of them.
        port: Value = (),
        /// The range of levels.
        sel_range: Option<String> = (),
    }
}

record! {
    /// Makes sure that the policy has no type of its own for a port.
    ///
    ///   tcp/8080:
    ///     selinux.port_policy_absent: []
    pub struct PortPolicyAbsent {
        /// Protocol and port, `tcp/80` or `udp/8000-8010`; or any ID, with `protocol` and `port`.
        name: String,
        /// The type that it has, where only that is meant.
        sel_type: Option<String> = (),
        /// tcp or udp.
        protocol: Option<String> = (),
        /// The port, or a range of them.
        port: Value = (),
    }
}

/// Which port is meant.
struct Port {
    name: String,
    protocol: Option<String>,
    port: Value,
}

impl Port {
    fn ask(&self, ctx: &Ctx, fun: &str, sel_type: Option<&str>, range: Option<&str>) -> Result<Value, Fault> {
        let words = [
            ("name", self.name.as_str().into()),
            ("protocol", self.protocol.as_deref().into()),
            ("port", self.port.clone()),
            ("sel_type", sel_type.into()),
            ("sel_range", range.into()),
        ];
        ask(ctx, fun, words)
    }

    /// What the policy has for it; nothing where it has nothing, or another type.
    fn policy(&self, ctx: &Ctx, sel_type: Option<&str>) -> Result<Value, Fault> {
        self.ask(ctx, "selinux.port_get_policy", sel_type, None)
    }

    fn already(&self, is: &str, sel_type: &str) -> Plan {
        already(format!(
            "SELinux policy for \"{}\" already {is} with specified sel_type \"{sel_type}\", protocol \"{}\" and port \"{}\".",
            self.name,
            self.protocol.as_deref().unwrap_or("None"),
            self.port.to_text()
        ))
    }
}

impl State for PortPolicyPresent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let PortPolicyPresent { name, sel_type, protocol, port, sel_range } = self;
        let port = Port { name, protocol, port };
        if port.policy(context.ctx, Some(&sel_type))?.truthy() {
            return Ok(port.already("present", &sel_type));
        }
        let old = port.policy(context.ctx, None)?;
        Ok(change(Map::new(), "", move |ctx: &Ctx| {
            let fun = if old.truthy() { "selinux.port_modify_policy" } else { "selinux.port_add_policy" };
            let answer = port.ask(ctx, fun, Some(&sel_type), sel_range.as_deref())?;
            if !is_done(&answer) {
                return Ok(Outcome::failed(format!("Error adding new policy: {}", answer.to_text())));
            }
            Ok(Outcome::done("").with_changes(from_to(old, port.policy(ctx, Some(&sel_type))?)))
        }))
    }
}

impl State for PortPolicyAbsent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let PortPolicyAbsent { name, sel_type, protocol, port } = self;
        let port = Port { name, protocol, port };
        let old = port.policy(context.ctx, sel_type.as_deref())?;
        if !old.truthy() {
            return Ok(port.already("absent", sel_type.as_deref().unwrap_or("None")));
        }
        Ok(change(Map::new(), "", move |ctx: &Ctx| {
            let answer = port.ask(ctx, "selinux.port_delete_policy", None, None)?;
            if !is_done(&answer) {
                return Ok(Outcome::failed(format!("Error deleting policy: {}", answer.to_text())));
            }
            Ok(Outcome::done("").with_changes(from_to(old, port.policy(ctx, sel_type.as_deref())?)))
        }))
    }
}
