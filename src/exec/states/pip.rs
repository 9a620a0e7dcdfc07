//! `pip.*`: packages of Python.

mod installed;
mod requirement;

use halite_core::state::{
    Function, Module, Outcome, Plan, PlanContext, State, already, ask, change, failed, single, state,
};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module { name: "pip", doc: "Packages of Python.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] =
    &[state::<installed::Installed>("installed"), state::<Removed>("removed"), state::<Uptodate>("uptodate")];

record! {
    /// Makes sure that a package is not installed.
    ///
    ///   django:
    ///     pip.removed:
    ///       - bin_env: /srv/venv
    pub struct Removed {
        /// The package.
        name: String,
        /// A file of requirements whose packages go with it.
        requirements: Option<String> = (),
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// The file for pip's log.
        log: Option<String> = (),
        /// The proxy.
        proxy: Value = (),
        /// How many seconds to wait for an answer.
        timeout: Value = (),
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
        /// Taken, not used.
        use_vt: bool = false,
    }
}

record! {
    /// Upgrades all packages that there are newer versions of.
    ///
    ///   all-of-it:
    ///     pip.uptodate:
    ///       - bin_env: /srv/venv
    pub struct Uptodate {
        /// An ID.
        name: String,
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
        /// Taken, not used.
        use_vt: bool = false,
    }
}

impl State for Removed {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        let place = [("bin_env", self.bin_env.into()), ("user", self.user.into()), ("cwd", self.cwd.into())];
        let installed = match ask(context.ctx, "pip.list", place.clone()) {
            Ok(installed) => installed,
            Err(fault) => return Ok(failed(format!("Error uninstalling '{name}': {fault}"))),
        };
        if installed.at(&name).is_none() {
            return Ok(already("Package is not installed."));
        }
        let mut words = halite_core::state::given(place);
        words.extend(halite_core::state::given([
            ("pkgs", name.as_str().into()),
            ("requirements", self.requirements.into()),
            ("log", self.log.into()),
            ("proxy", self.proxy),
            ("timeout", self.timeout),
        ]));
        Ok(change(Map::new(), format!("Package {name} is set to be removed"), move |ctx| {
            let answer = ctx.run("pip.uninstall", halite_value::record::Arguments::keywords(words))?;
            Ok(match answer.at("retcode").and_then(Value::as_int) {
                Some(0) => Outcome::done("Package was successfully removed.").with_changes(single(&name, "Removed")),
                _ => Outcome::failed(format!("Could not remove package.{}", said(&answer))),
            })
        }))
    }
}

/// What pip has written to standard error, on a line of its own.
fn said(answer: &Value) -> String {
    let text = answer.at("stderr").map(Value::to_text).unwrap_or_default();
    if text.trim().is_empty() { String::new() } else { format!("\n{}", text.trim()) }
}

impl State for Uptodate {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let place = [("bin_env", self.bin_env.into()), ("user", self.user.into()), ("cwd", self.cwd.into())];
        match ask(context.ctx, "pip.list_upgrades", place.clone()) {
            Ok(upgrades) if !upgrades.truthy() => return Ok(already("System is already up-to-date.")),
            Ok(_) => {}
            Err(fault) => return Ok(failed(fault.to_string())),
        }
        Ok(change(Map::new(), "System update will be performed", move |ctx: &Ctx| {
            let answer = ask(ctx, "pip.upgrade", place)?;
            let changes = answer.at("changes").and_then(Value::as_map).cloned().unwrap_or_default();
            let comment = answer.at("comment").map(Value::to_text).unwrap_or_default();
            Ok(match answer.at("result").is_some_and(Value::truthy) {
                true => Outcome::done("Upgrade successful.").with_changes(changes),
                false => Outcome::failed(comment).with_changes(changes),
            })
        }))
    }
}
