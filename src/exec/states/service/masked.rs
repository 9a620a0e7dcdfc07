//! `service.masked`, `service.unmasked`: services that systemd may not start at all.

use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, failed, from_to, single};
use halite_core::{Ctx, Fault};
use halite_value::Map;
use halite_value::record;

record! {
    /// Makes sure that systemd does not start a service, whoever asks for it.
    ///
    ///   firewalld:
    ///     service.masked:
    ///       - runtime: True
    pub struct Masked {
        /// The service.
        name: String,
        /// Until the next boot alone.
        runtime: bool = false,
    }
}

impl State for Masked {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        Words::mask(self.runtime).plan(context.ctx, self.name)
    }
}

record! {
    /// Makes sure that systemd may start a service.
    ///
    ///   firewalld:
    ///     service.unmasked:
    ///       - runtime: True
    pub struct Unmasked {
        /// The service.
        name: String,
        /// What holds until the next boot alone.
        runtime: bool = false,
    }
}

impl State for Unmasked {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        Words::unmask(self.runtime).plan(context.ctx, self.name)
    }
}

/// How it is said that a service is masked or is no longer.
pub struct Words {
    masks: bool,
    runtime: bool,
}

impl Words {
    fn mask(runtime: bool) -> Words {
        Words { masks: true, runtime }
    }

    pub fn unmask(runtime: bool) -> Words {
        Words { masks: false, runtime }
    }

    fn word(&self) -> &'static str {
        match (self.masks, self.runtime) {
            (true, false) => "masked",
            (true, true) => "runtime masked",
            (false, false) => "unmasked",
            (false, true) => "runtime unmasked",
        }
    }

    fn changes(&self) -> Map {
        let kind = if self.runtime { "runtime masked" } else { "masked" };
        single(kind, from_to(!self.masks, self.masks))
    }

    /// What test mode says.
    pub fn would(&self, name: &str, is_masked: bool) -> String {
        match is_masked == self.masks {
            true => self.stands(name),
            false => format!("Service {name} would be {}", self.word()),
        }
    }

    fn stands(&self, name: &str) -> String {
        let verb = if self.masks { "is" } else { "was" };
        format!("Service {name} {verb} already {}", self.word())
    }

    fn plan(self, ctx: &Ctx, name: String) -> Result<Plan, Fault> {
        if ctx.functions.find("service.masked").is_none() {
            return Ok(failed("Service masking not available on this minion"));
        }
        let is_masked = match is_masked(ctx, &name, self.runtime) {
            Ok(is_masked) => is_masked,
            // Only systemd masks.
            Err(_) if ctx.grains.str_at("init") != Some("systemd") => {
                return Ok(failed("Service masking not available on this minion"));
            }
            Err(fault) => return Ok(failed(fault.to_string())),
        };
        if is_masked == self.masks {
            return Ok(already(self.stands(&name)));
        }
        let would = Outcome::new(None, self.would(&name, is_masked)).with_changes(self.changes());
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| self.apply(ctx, &name)) })
    }

    fn apply(&self, ctx: &Ctx, name: &str) -> Result<Outcome, Fault> {
        let (function, verb) = if self.masks { ("service.mask", "mask") } else { ("service.unmask", "unmask") };
        if let Err(fault) = ask(ctx, function, [("name", name.into()), ("runtime", self.runtime.into())]) {
            return Ok(Outcome::failed(fault.to_string()));
        }
        Ok(match is_masked(ctx, name, self.runtime)? == self.masks {
            true => Outcome::done(format!("Service {name} was {}", self.word())).with_changes(self.changes()),
            // Salt calls that a success; who relies on a masked service should know that it is not.
            false => Outcome::failed(format!("Failed to {verb} service {name}")),
        })
    }
}

pub fn is_masked(ctx: &Ctx, name: &str, runtime: bool) -> Result<bool, Fault> {
    Ok(ask(ctx, "service.masked", [("name", name.into()), ("runtime", runtime.into())])?.truthy())
}

/// Lets systemd start a service, where it may not.
pub fn unmask(ctx: &Ctx, name: &str, runtime: bool) -> Result<Outcome, Fault> {
    let words = Words::unmask(runtime);
    match is_masked(ctx, name, runtime)? {
        false => Ok(Outcome::done(words.stands(name))),
        true => words.apply(ctx, name),
    }
}
