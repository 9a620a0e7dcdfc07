//! `selinux.mode`: whether SELinux enforces.

use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, change, failed, from_to};
use halite_core::{Ctx, Fault};
use halite_value::Value;
use halite_value::record;

record! {
    /// Makes sure that SELinux runs in a mode, now and after the next boot. From and to disabled it takes a boot.
    ///
    ///   enforcing:
    ///     selinux.mode: []
    pub struct Mode {
        /// enforcing, permissive or disabled.
        name: Value,
    }
}

impl State for Mode {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let Some(wanted) = mode(&self.name) else {
            return Ok(failed(format!("{} is not an accepted mode", self.name.to_text())));
        };
        let mut now = ask(context.ctx, "selinux.getenforce", [])?.to_text();
        let at_boot = ask(context.ctx, "selinux.getconfig", [])?.to_text();
        if now == wanted && at_boot != wanted {
            now = at_boot;
        }
        if now == wanted {
            return Ok(already(format!("SELinux is already in {wanted} mode")));
        }
        let would = from_to(now.as_str(), wanted);
        Ok(change(would, format!("SELinux mode is set to be changed to {wanted}"), move |ctx: &Ctx| {
            let new = ask(ctx, "selinux.setenforce", [("mode", wanted.into())])?.to_text();
            // The kernel cannot be told to disable it: the file can.
            let is_set =
                new == wanted || (wanted == "Disabled" && ask(ctx, "selinux.getconfig", [])?.as_str() == Some(wanted));
            Ok(match is_set {
                true => Outcome::done(format!("SELinux has been set to {wanted} mode")).with_changes(from_to(now, new)),
                false => Outcome::failed(format!("Failed to set SELinux to {wanted} mode")),
            })
        }))
    }
}

/// A mode as SELinux names it.
fn mode(given: &Value) -> Option<&'static str> {
    let text = match given {
        // An SLS has on and off for true and false.
        Value::Bool(true) => "on".to_owned(),
        Value::Bool(false) => "off".to_owned(),
        other => other.to_text().to_lowercase(),
    };
    match text.as_str() {
        "1" | "on" => Some("Enforcing"),
        "0" | "off" => Some("Permissive"),
        text if text.starts_with('e') => Some("Enforcing"),
        text if text.starts_with('p') => Some("Permissive"),
        text if text.starts_with('d') => Some("Disabled"),
        _ => None,
    }
}
