//! The types that SELinux's policy has for ports.

use super::{line_that, part};
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Shows what the policy says of a port; None where it says nothing.
    ///
    ///   salt '*' selinux.port_get_policy tcp/80
    ///   salt '*' selinux.port_get_policy foobar protocol=tcp port=80
    pub struct PortGetPolicy {
        /// Protocol and port, or range of ports: `tcp/80`.
        name: String,
        /// With this type.
        sel_type: Option<String> = (),
        /// The protocol, where it does not stand in `name`.
        protocol: Option<String> = (),
        /// The port, where it does not stand in `name`.
        port: Value = (),
    }
}

impl Run for PortGetPolicy {
    fn run(self, ctx: &Ctx) -> Reply {
        let (protocol, port) = meant(&self.name, self.protocol.as_deref(), &self.port)?;
        let pattern =
            format!("^({}) +({protocol}) +([0-9, -]*?(?<= ){port}(?:$|,).*)", part(self.sel_type.as_deref(), "\\w+"));
        let text = Program::new(["semanage", "port", "--list"]).query(ctx)?.stdout;
        let Some((_, found)) = line_that(&text, &pattern)? else { return Ok(().into()) };
        let names = ["sel_type", "protocol", "port"];
        let shown = names.iter().enumerate().map(|(at, name)| (*name, found.group(at + 1).unwrap_or_default().trim()));
        Ok(Map::from_iter(shown).into())
    }
}

/// Protocol and port: of the name, else as they are given.
fn meant(name: &str, protocol: Option<&str>, port: &Value) -> Result<(String, String), Fault> {
    let given = format!("{}/{}", protocol.unwrap_or("None"), port.to_text());
    let parts = |text: &str| {
        let (protocol, port) = text.split_once('/')?;
        let (first, last) = port.split_once('-').unwrap_or((port, "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let fits = matches!(protocol, "tcp" | "udp") && is_number(first) && is_number(last);
        fits.then(|| (protocol.to_owned(), port.to_owned()))
    };
    parts(name).or_else(|| parts(&given)).ok_or_else(|| {
        Fault::invocation(format!(
            "Invalid name \"{name}\" format and protocol and port not provided or invalid: \"{}\" \"{}\".",
            protocol.unwrap_or("None"),
            port.to_text()
        ))
    })
}

record! {
    /// Says in the policy what type a port has.
    ///
    ///   salt '*' selinux.port_add_policy tcp/8080 http_port_t
    ///   salt '*' selinux.port_add_policy foobar http_port_t protocol=tcp port=8091
    pub struct PortAddPolicy {
        /// Protocol and port, or range of ports: `tcp/80`.
        name: String,
        /// The type.
        sel_type: Option<String> = (),
        /// The protocol, where it does not stand in `name`.
        protocol: Option<String> = (),
        /// The port, where it does not stand in `name`.
        port: Value = (),
        /// The range of the context.
        sel_range: Option<String> = (),
    }
}

impl Run for PortAddPolicy {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.sel_type.as_deref().is_none_or(str::is_empty) {
            return Err(Fault::invocation("SELinux Type is required to add a policy"));
        }
        let port = meant(&self.name, self.protocol.as_deref(), &self.port)?;
        managed(ctx, "--add", &port, self.sel_type, self.sel_range)
    }
}

record! {
    /// Says in the policy what type a port has that it has something to say of already.
    ///
    ///   salt '*' selinux.port_modify_policy tcp/8080 http_port_t
    pub struct PortModifyPolicy {
        /// Protocol and port, or range of ports: `tcp/80`.
        name: String,
        /// The type.
        sel_type: Option<String> = (),
        /// The protocol, where it does not stand in `name`.
        protocol: Option<String> = (),
        /// The port, where it does not stand in `name`.
        port: Value = (),
        /// The range of the context.
        sel_range: Option<String> = (),
    }
}

impl Run for PortModifyPolicy {
    fn run(self, ctx: &Ctx) -> Reply {
        let port = meant(&self.name, self.protocol.as_deref(), &self.port)?;
        managed(ctx, "--modify", &port, self.sel_type, self.sel_range)
    }
}

record! {
    /// Says in the policy no more what type a port has.
    ///
    ///   salt '*' selinux.port_delete_policy tcp/8080
    pub struct PortDeletePolicy {
        /// Protocol and port, or range of ports: `tcp/80`.
        name: String,
        /// The protocol, where it does not stand in `name`.
        protocol: Option<String> = (),
        /// The port, where it does not stand in `name`.
        port: Value = (),
    }
}

impl Run for PortDeletePolicy {
    fn run(self, ctx: &Ctx) -> Reply {
        let port = meant(&self.name, self.protocol.as_deref(), &self.port)?;
        managed(ctx, "--delete", &port, None, None)
    }
}

fn managed(
    ctx: &Ctx,
    action: &str,
    (protocol, port): &(String, String),
    kind: Option<String>,
    range: Option<String>,
) -> Reply {
    let mut program = Program::new(["semanage", "port", action, "--proto", protocol]);
    for (option, value) in [("--type", kind), ("--range", range)] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            program = program.args([option.to_owned(), value]);
        }
    }
    Ok(program.arg(port).run(ctx)?.shown().into())
}
