//! `pkg.group_installed`, with dnf.

use super::{installed_versions, troubled};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, failed};
use halite_core::{Ctx, Fault};
use halite_node::package_tool::package_tool;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

record! {
    /// Makes sure that the packages of a group are installed: its mandatory and default ones.
    ///
    ///   'Load Balancer':
    ///     pkg.group_installed:
    ///       - skip:
    ///         - piranha
    ///       - include:
    ///         - haproxy
    pub struct GroupInstalled {
        /// The group: name or id.
        name: String,
        /// Default packages that are left out, a list.
        skip: Value = (),
        /// Other packages that are installed too, a list.
        include: Value = (),
        /// What `pkg.install` takes, such as `fromrepo`.
        kwargs: Keywords,
    }
}

impl State for GroupInstalled {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = &self.name;
        if package_tool(ctx).ok() != Some("dnf") {
            return Ok(failed("pkg.group_install not available for this platform"));
        }
        let Some(skip) = list(&self.skip) else { return Ok(failed("skip must be formatted as a list")) };
        let Some(include) = list(&self.include) else { return Ok(failed("include must be formatted as a list")) };
        let asked = Arguments { positional: vec![name.as_str().into()], keywords: self.kwargs.0.clone() };
        let group = match ctx.run("pkg.group_diff", asked) {
            Ok(group) => group,
            Err(fault) => {
                return Ok(failed(format!(
                    "An error was encountered while installing/updating group '{name}': {fault}."
                )));
            }
        };
        let members =
            |kind: &str, which: &str| list(group.at(kind).and_then(|kind| kind.at(which)).unwrap_or(&Value::Null));
        let (has, lacks) = (
            |kind: &str| members(kind, "installed").unwrap_or_default(),
            |kind: &str| members(kind, "not installed").unwrap_or_default(),
        );
        let mandatory = [has("mandatory"), lacks("mandatory")].concat();
        let refused: Vec<String> = mandatory.into_iter().filter(|member| skip.contains(member)).collect();
        if !refused.is_empty() {
            let names = refused.join(", ");
            return Ok(failed(format!("The following mandatory packages cannot be skipped: {names}")));
        }
        let required = [lacks("mandatory"), include.clone()].concat();
        let default = lacks("default").into_iter().filter(|member| !skip.contains(member));
        let targets: Vec<String> = lacks("mandatory").into_iter().chain(default).chain(include).collect();
        if targets.is_empty() {
            return Ok(already(format!("Group '{name}' is already installed")));
        }
        let is_partial = ["mandatory", "default", "optional"].into_iter().any(|kind| !has(kind).is_empty());
        let would = match is_partial {
            true => format!("Group '{name}' is partially installed and will be updated"),
            false => format!("Group '{name}' will be installed"),
        };
        let done = if is_partial { "updated" } else { "installed" };
        let apply = move |ctx: &Ctx| self.install(ctx, targets, &required, done);
        Ok(Plan::Changes { would: Outcome::new(None, would), apply: Box::new(apply) })
    }
}

/// The items of a list; nothing where there is something else.
fn list(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::List(items) => Some(items.iter().map(Value::to_text).collect()),
        _ => None,
    }
}

impl GroupInstalled {
    fn install(self, ctx: &Ctx, targets: Vec<String>, required: &[String], done: &str) -> Result<Outcome, Fault> {
        let arguments = Arguments::keywords(self.kwargs.0).with("pkgs", Value::list(targets));
        let changes: Map = match ctx.run("pkg.install", arguments) {
            Ok(changes) => changes.as_map().cloned().unwrap_or_default(),
            Err(fault) => return Ok(troubled(&format!("installing/updating group '{}'", self.name), &fault)),
        };
        let installed = installed_versions(ctx)?;
        let missing: Vec<&str> = required.iter().map(String::as_str).filter(|name| !installed.contains(name)).collect();
        Ok(match missing.is_empty() {
            true => Outcome::done(format!("Group '{}' was {done}", self.name)),
            false => Outcome::failed(format!("Failed to install the following packages: {}", missing.join(", "))),
        }
        .with_changes(changes))
    }
}
