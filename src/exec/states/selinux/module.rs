//! `selinux.module`, `module_install`, `module_remove`: modules of the policy.

use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, change, failed};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Makes sure that a module of SELinux's policy is enabled or disabled; installs or removes it where that is asked for.
    ///
    ///   ftp:
    ///     selinux.module:
    ///       - module_state: Disabled
    pub struct ModuleIs {
        /// The module.
        name: String,
        /// Enabled or Disabled.
        module_state: Value = "Enabled",
        /// The version that it must have; any: whichever.
        version: Value = "any",
        /// Whether it is installed first.
        install: bool = false,
        /// Where it is installed from: a path or an address, else its name.
        source: Option<String> = (),
        /// Whether it is removed.
        remove: bool = false,
    }
}

record! {
    /// Installs a module of SELinux's policy from a file.
    ///
    ///   /srv/policy/mine.pp:
    ///     selinux.module_install: []
    pub struct ModuleInstall {
        /// The file, or an address of the file server.
        name: String,
    }
}

record! {
    /// Removes a module of SELinux's policy.
    ///
    ///   mine:
    ///     selinux.module_remove: []
    pub struct ModuleRemove {
        /// The module.
        name: String,
    }
}

impl State for ModuleIs {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ModuleIs { name, module_state, version, install, source, remove } = self;
        if install && remove {
            return Ok(failed("Cannot install and remove at the same time"));
        }
        if remove {
            return removed(context.ctx, name);
        }
        let toggle = Toggle { name, module_state, version };
        if !install {
            return toggle.plan(context.ctx);
        }
        let source = source.unwrap_or_else(|| toggle.name.clone());
        // What state it is in shows when it is installed.
        Ok(change(Map::new(), format!("Module {source} is set to be installed"), move |ctx: &Ctx| {
            let installed = install_from(ctx, &source)?;
            if installed.result != Some(true) {
                return Ok(installed);
            }
            match toggle.plan(ctx)? {
                Plan::Stands(outcome) => Ok(outcome),
                Plan::Changes { apply, .. } => apply(ctx),
            }
        }))
    }
}

/// A module that is to be enabled or disabled.
struct Toggle {
    name: String,
    module_state: Value,
    version: Value,
}

impl Toggle {
    fn plan(self, ctx: &Ctx) -> Result<Plan, Fault> {
        let Toggle { name, module_state, version } = self;
        let modules = ask(ctx, "selinux.list_semod", [])?;
        let Some(module) = modules.at(&name) else {
            return Ok(failed(format!("Module {name} is not available")));
        };
        let state = module_state.to_text();
        let Some(wanted) = enabled(&module_state) else {
            return Ok(failed(format!("{state} is not a valid state for the {name} module.")));
        };
        let installed = module.at("Version").cloned().unwrap_or_default();
        if version.as_str() != Some("any") && version != installed {
            let (installed, version) = (installed.to_text(), version.to_text());
            return Ok(failed(format!(
                "Module version is {installed} and does not match the desired version of {version} \
                 or you are using semodule >= 2.4"
            )));
        }
        if module.at("Enabled").and_then(enabled) == Some(wanted) {
            return Ok(already(format!("Module {name} is in the desired state")));
        }
        Ok(change(Map::new(), format!("Module {name} is set to be toggled to {state}"), move |ctx: &Ctx| {
            let words = [("module", name.as_str().into()), ("state", wanted.into())];
            Ok(match ask(ctx, "selinux.setsemod", words)?.truthy() {
                true => Outcome::done(format!("Module {name} has been set to {state}")),
                false => Outcome::failed(format!("Failed to set the Module {name} to {state}")),
            })
        }))
    }
}

/// A state of a module as SELinux names it.
fn enabled(given: &Value) -> Option<&'static str> {
    match given.to_text().to_lowercase().as_str() {
        "1" | "on" | "yes" | "true" | "enabled" => Some("enabled"),
        "0" | "off" | "no" | "false" | "disabled" => Some("disabled"),
        _ => None,
    }
}

impl State for ModuleInstall {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        Ok(change(Map::new(), format!("Module {name} is set to be installed"), move |ctx| install_from(ctx, &name)))
    }
}

fn install_from(ctx: &Ctx, source: &str) -> Result<Outcome, Fault> {
    Ok(match ask(ctx, "selinux.install_semod", [("module_path", source.into())])?.truthy() {
        true => Outcome::done(format!("Module {source} has been installed")),
        false => Outcome::failed(format!("Failed to install module {source}")),
    })
}

impl State for ModuleRemove {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        removed(context.ctx, self.name)
    }
}

fn removed(ctx: &Ctx, name: String) -> Result<Plan, Fault> {
    if ask(ctx, "selinux.list_semod", [])?.at(&name).is_none() {
        return Ok(failed(format!("Module {name} is not available")));
    }
    Ok(change(Map::new(), format!("Module {name} is set to be removed"), move |ctx: &Ctx| {
        Ok(match ask(ctx, "selinux.remove_semod", [("module", name.as_str().into())])?.truthy() {
            true => Outcome::done(format!("Module {name} has been removed")),
            false => Outcome::failed(format!("Failed to remove module {name}")),
        })
    }))
}
