//! `timezone.*`: the time zone of the host.

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, ask, failed, state};
use halite_core::{Ctx, Fault};
use halite_value::Map;
use halite_value::record;
use halite_value::record::Arguments;

pub const MODULE: Module = Module { name: "timezone", doc: "The time zone of the host.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<System>("system")];

record! {
    /// Makes sure that the host is in a time zone, and that its hardware clock is set to UTC.
    ///
    ///   America/Denver:
    ///     timezone.system:
    ///       - utc: True
    pub struct System {
        /// The zone.
        name: String,
        /// Whether the hardware clock has UTC; False: that does not matter.
        utc: bool = true,
    }
}

impl State for System {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let System { name, utc } = self;
        let is_zone = match ask(ctx, "timezone.zone_compare", [("timezone", name.as_str().into())]) {
            Ok(same) => same.truthy(),
            Err(fault) => {
                return Ok(failed(format!("Unable to compare desired timezone '{name}' to system timezone: {fault}")));
            }
        };
        let is_utc = ctx.run("timezone.get_hwclock", Arguments::default())?.as_str() != Some("localtime");
        let sets_utc = utc && !is_utc;
        let mut messages = Vec::new();
        if is_zone {
            messages.push(format!("Timezone {name} already set"));
        }
        if utc && is_utc {
            messages.push(format!("UTC already set to {name}"));
        }
        if is_zone && !sets_utc {
            return Ok(halite_core::state::already(messages.join(", ")));
        }
        let mut messages = Vec::new();
        if !is_zone {
            messages.push(format!("Timezone {name} needs to be set"));
        }
        if sets_utc {
            messages.push("UTC needs to be set to True".to_owned());
        }
        let would = Outcome::new(None, messages.join(", "));
        let apply = move |ctx: &Ctx| {
            let mut outcome = Outcome::done("");
            let mut messages = Vec::new();
            let mut changes = Map::new();
            if !is_zone {
                let done = ask(ctx, "timezone.set_zone", [("timezone", name.as_str().into())])?.truthy();
                messages.push(match done {
                    true => format!("Set timezone {name}"),
                    false => "Failed to set timezone".to_owned(),
                });
                if done {
                    changes.insert("timezone", name.as_str());
                }
                outcome.result = Some(done);
            }
            if sets_utc {
                let done = ask(ctx, "timezone.set_hwclock", [("clock", "UTC".into())])?.truthy();
                let verb = if done { "Set" } else { "Failed to set" };
                messages.push(format!("{verb} UTC to True"));
                if done {
                    changes.insert("utc", true);
                }
                outcome.result = Some(done && outcome.result == Some(true));
            }
            outcome.comment = messages.join(", ");
            Ok(outcome.with_changes(changes))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
