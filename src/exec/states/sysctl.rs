//! `sysctl.*`: settings of the kernel.

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, ask, single, state};
use halite_core::{Ctx, Fault};
use halite_value::Value;
use halite_value::record;
use halite_value::record::Arguments;

pub const MODULE: Module = Module { name: "sysctl", doc: "Settings of the kernel.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Present>("present")];

record! {
    /// Makes sure that a setting of the kernel has a value, now and from the next boot on.
    ///
    ///   vm.swappiness:
    ///     sysctl.present:
    ///       - value: 20
    pub struct Present {
        /// The setting.
        name: String,
        /// Its value.
        value: Value,
        /// The file that it stands in; the host's own, if not given.
        config: Option<String> = (),
    }
}

impl State for Present {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let (name, value) = (self.name, self.value);
        let config = match self.config {
            Some(config) => config,
            None => ctx.run("sysctl.default_config", Arguments::default())?.to_text(),
        };
        let would = would(ctx, &name, &value.to_text(), &config)?;
        if would.result == Some(true) {
            return Ok(already(would.comment));
        }
        let apply = move |ctx: &Ctx| {
            let arguments =
                [("name", name.as_str().into()), ("value", value.clone()), ("config", config.as_str().into())];
            let shown = value.to_text();
            Ok(match ask(ctx, "sysctl.persist", arguments) {
                Ok(answer) if answer.as_str() == Some("Updated") => {
                    Outcome::done(format!("Updated sysctl value {name} = {shown}")).with_changes(single(&name, value))
                }
                Ok(_) => Outcome::done(format!("Sysctl value {name} = {shown} is already set")),
                Err(fault) => Outcome::failed(format!("Failed to set {name} to {shown}: {fault}")),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

/// What test mode says.
fn would(ctx: &Ctx, name: &str, value: &str, config: &str) -> Result<Outcome, Fault> {
    let configured = ask(ctx, "sysctl.show", [("config_file", config.into())])?;
    if configured.is_null() {
        return Ok(Outcome::new(
            None,
            format!(
                "Sysctl option {name} might be changed, we failed to check config file at {config}. The file is either \
                 unreadable, or missing."
            ),
        ));
    }
    let current = ask(ctx, "sysctl.get", [("name", name.into())])?.to_text();
    let is_configured = configured.at(name).is_some();
    let same = |one: &str, other: &str| one.split_whitespace().eq(other.split_whitespace());
    let comment = match (current.is_empty(), is_configured) {
        (false, true) if same(value, &current) => {
            return Ok(Outcome::done(format!("Sysctl value {name} = {value} is already set")));
        }
        (false, false) if !same(value, &current) => format!("Sysctl option {name} set to be changed to {value}"),
        (false, false) => format!(
            "Sysctl value is currently set on the running system but not in a config file. Sysctl option {name} set to be \
             changed to {value} in config file."
        ),
        (true, true) => format!(
            "Sysctl value {name} is present in configuration file but is not present in the running config. The value \
             {name} is set to be changed to {value}"
        ),
        _ => format!("Sysctl option {name} would be changed to {value}"),
    };
    Ok(Outcome::new(None, comment))
}
