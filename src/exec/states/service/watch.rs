//! What a service does when something that it watches has changed.

use super::wait;
use halite_core::Fault;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, failed, single};
use halite_value::Value;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};

record! {
    /// Starts a service again, or has it read its configuration anew, when something that it watches has changed.
    ///
    ///   redis:
    ///     service.running:
    ///       - reload: True
    ///       - watch:
    ///         - file: /etc/redis.conf
    pub struct Watched {
        /// The service.
        name: String,
        /// The function of the state.
        sfun: Option<String> = (),
        /// A pattern for the process, where the service cannot say itself whether it runs.
        sig: Option<String> = (),
        /// Read the configuration anew instead of a new start.
        reload: bool = false,
        /// Stop it and start it, where the host makes a difference.
        full_restart: bool = false,
        /// Seconds to wait behind a start.
        init_delay: Option<f64> = (),
        /// With `reload`: also where it says that it cannot.
        force: bool = false,
        /// `no_block`, `unmask`, `unmask_runtime` for systemd.
        kwargs: Keywords,
    }
}

impl State for Watched {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let status = Arguments::default().with("name", self.name.as_str()).with("sig", self.sig.clone());
        let sfun = self.sfun.as_deref().unwrap_or("None");
        if !matches!(sfun, "running" | "dead") {
            return Ok(failed(format!("Unable to trigger watch for service.{sfun}")));
        }
        let runs = context.ctx.run("service.status", status)?.truthy();
        let (function, verb, done) = match (sfun, runs) {
            ("dead", true) => ("service.stop", "stop", "stopped"),
            ("dead", false) => return Ok(already("Service is already stopped")),
            (_, true) if self.reload && self.force => {
                ("service.force_reload", "forcefully reload", "forcefully reloaded")
            }
            (_, true) if self.reload => ("service.reload", "reload", "reloaded"),
            (_, true) => ("service.restart", "restart", "restarted"),
            (_, false) => ("service.start", "start", "started"),
        };
        let would = Outcome::new(None, format!("Service is set to be {done}"));
        let apply = move |ctx: &halite_core::Ctx| {
            let name = Arguments::default().with("name", self.name.as_str());
            if verb == "start" {
                // What is left of it would be in the way of a start.
                ctx.run("service.stop", name.clone())?;
            }
            let takes = |word: &str| function != "service.stop" || word == "no_block";
            let words = ["no_block", "unmask", "unmask_runtime"].into_iter().filter(|word| takes(word));
            let given = words.filter_map(|word| Some((word, self.kwargs.0.at(word)?.clone())));
            let arguments = given.fold(name, |all, (word, value)| all.with(word, value));
            let answer: Value = match ctx.run(function, arguments) {
                Ok(answer) => answer,
                Err(fault) => return Ok(Outcome::failed(fault.to_string())),
            };
            wait(ctx, self.init_delay);
            let succeeded = answer.truthy();
            let comment = match succeeded {
                true => format!("Service {done}"),
                false => format!("Failed to {verb} the service"),
            };
            Ok(Outcome::new(Some(succeeded), comment).with_changes(single(&self.name, answer)))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
