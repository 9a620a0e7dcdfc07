//! `locale.*`: the language of the host.

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, ask, single, state};
use halite_core::{Ctx, Fault};
use halite_value::Map;
use halite_value::record;

pub const MODULE: Module = Module { name: "locale", doc: "The language of the host.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Present>("present"), state::<System>("system")];

record! {
    /// Makes sure that a locale is there.
    ///
    ///   de_DE.UTF-8:
    ///     locale.present: []
    pub struct Present {
        /// The locale.
        name: String,
    }
}

record! {
    /// Makes sure that the host uses a locale.
    ///
    ///   de_DE.UTF-8:
    ///     locale.system: []
    pub struct System {
        /// The locale.
        name: String,
    }
}

impl State for Present {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        if ask(context.ctx, "locale.avail", [("locale", name.as_str().into())])?.truthy() {
            return Ok(already(format!("Locale {name} is already present")));
        }
        let would = Outcome::new(None, format!("Locale {name} needs to be generated"));
        let apply = move |ctx: &Ctx| {
            Ok(match ask(ctx, "locale.gen_locale", [("locale", name.as_str().into())])?.truthy() {
                true => Outcome::done(format!("Generated locale {name}")).with_changes(single("locale", name)),
                false => Outcome::failed(format!("Failed to generate locale {name}")),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

impl State for System {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        let current = match ask(context.ctx, "locale.get_locale", []) {
            Ok(current) => current,
            Err(fault) => return Ok(halite_core::state::failed(format!("Failed to set system locale: {fault}"))),
        };
        if current.as_str() == Some(&name) {
            return Ok(already(format!("System locale {name} already set")));
        }
        Ok(halite_core::state::change(Map::new(), format!("System locale {name} needs to be set"), move |ctx| {
            Ok(match ask(ctx, "locale.set_locale", [("locale", name.as_str().into())]) {
                Ok(answer) if answer.truthy() => {
                    Outcome::done(format!("Set system locale {name}")).with_changes(single("locale", name))
                }
                Ok(_) => Outcome::failed(format!("Failed to set system locale to {name}")),
                Err(fault) => Outcome::failed(format!("Failed to set system locale: {fault}")),
            })
        }))
    }
}
