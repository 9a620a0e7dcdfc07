//! `firewalld.service`: a service, which is a name for ports and protocols.

use super::{Item, Lists, Step, changes_of, done, in_place, told};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, failed, from_to, given};
use halite_core::{Ctx, Fault};
use halite_value::Value;
use halite_value::record;

record! {
    /// Makes sure that a service is there and has these ports and protocols, and no others.
    ///
    ///   saltmaster:
    ///     firewalld.service:
    ///       - ports:
    ///         - 4505/tcp
    ///         - 4506/tcp
    pub struct ServiceIs {
        /// The service.
        name: String,
        /// Its ports, `22/tcp`.
        ports: Vec<String> = (),
        /// Its protocols.
        protocols: Vec<String> = (),
    }
}

impl State for ServiceIs {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name.clone();
        let steps = match self.steps(context.ctx) {
            Ok(steps) => steps,
            Err(fault @ Fault::Execution(_)) => return Ok(failed(told(&fault))),
            Err(fault) => return Err(fault),
        };
        if steps.is_empty() {
            return Ok(already(in_place(&name)));
        }
        let would = Outcome::new(None, format!("Configuration for '{name}' will change."));
        let would = would.with_changes(changes_of(&steps));
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| done(ctx, &name, steps)) })
    }
}

impl ServiceIs {
    fn steps(self, ctx: &Ctx) -> Result<Vec<Step>, Fault> {
        let name = self.name.as_str();
        let known = ask(ctx, "firewalld.get_services", [])?;
        let is_new = !known.as_list().unwrap_or_default().contains(&name.into());
        let mut steps: Vec<Step> = Vec::new();
        let item = |argument: &str, shown: Value| Item {
            words: given([("service", name.into()), (argument, shown.clone())]),
            shown,
        };
        let kinds = [
            ("ports", "port", "firewalld.get_service_ports", self.ports),
            ("protocols", "protocol", "firewalld.get_service_protocols", self.protocols),
        ];
        for (key, argument, list, wanted) in kinds {
            let there = match is_new {
                true => Vec::new(),
                false => ask(ctx, list, [("service", name.into())])?.as_list().unwrap_or_default().to_vec(),
            };
            let there = there.into_iter().map(|shown| item(argument, shown)).collect();
            let wanted = wanted.into_iter().map(|shown| item(argument, shown.into())).collect();
            let (add, remove) = match argument {
                "port" => ("firewalld.add_service_port", "firewalld.remove_service_port"),
                _ => ("firewalld.add_service_protocol", "firewalld.remove_service_protocol"),
            };
            steps.extend(Lists { there, wanted, prune: true }.step(key, add, remove));
        }
        if is_new {
            let making = Step::one(
                name,
                from_to((), name),
                "firewalld.new_service",
                [("name", name.into()), ("restart", false.into())],
            );
            // It is shown by what it gets, and by itself where that is nothing.
            match steps.first_mut() {
                Some(first) => first.calls.splice(..0, making.calls).for_each(drop),
                None => steps.push(making),
            }
        }
        Ok(steps)
    }
}
