//! `service.*`: services that run, and that start with the host.

mod boot;
mod masked;
mod watch;

use boot::{Boot, Started};
use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, ask, failed, single, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};
use std::time::Duration;

pub const MODULE: Module =
    Module { name: "service", doc: "Services that run, and that start with the host.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    state::<Dead>("dead"),
    state::<boot::Disabled>("disabled"),
    state::<boot::Enabled>("enabled"),
    state::<masked::Masked>("masked"),
    state::<watch::Watched>("mod_watch"),
    state::<Running>("running"),
    state::<masked::Unmasked>("unmasked"),
];

record! {
    /// Makes sure that a service runs. When something that it watches has changed, it is started again or reads its
    /// configuration anew.
    ///
    ///   redis:
    ///     service.running:
    ///       - enable: True
    ///       - watch:
    ///         - pkg: redis
    pub struct Running {
        /// The service.
        name: String,
        /// Whether it starts with the host; nothing: as it is.
        enable: Value = (),
        /// A pattern for the process, where the service cannot say itself whether it runs.
        sig: Option<String> = (),
        /// Seconds to wait behind a start.
        init_delay: Option<f64> = (),
        /// `no_block`, `unmask`, `unmask_runtime` for systemd; `reload`, `full_restart`, `force` for when something watched
        /// has changed.
        kwargs: Keywords,
    }
}

record! {
    /// Makes sure that a service does not run.
    ///
    ///   redis:
    ///     service.dead:
    ///       - enable: False
    pub struct Dead {
        /// The service.
        name: String,
        /// Whether it starts with the host; nothing: as it is.
        enable: Value = (),
        /// A pattern for the process, where the service cannot say itself whether it runs.
        sig: Option<String> = (),
        /// Seconds to wait behind a stop.
        init_delay: Option<f64> = (),
        /// `no_block` for systemd.
        kwargs: Keywords,
    }
}

impl State for Running {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        Job::new(self.name, self.enable, self.sig, self.init_delay, self.kwargs.0, Aim::Run).plan(context.ctx)
    }
}

impl State for Dead {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        Job::new(self.name, self.enable, self.sig, self.init_delay, self.kwargs.0, Aim::Stop).plan(context.ctx)
    }
}

/// What a service is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    Run,
    Stop,
}

impl Aim {
    fn running(self) -> bool {
        self == Aim::Run
    }
}

/// A service that is to run or to stop.
struct Job {
    name: String,
    enable: Option<bool>,
    sig: Option<String>,
    delay: Option<f64>,
    more: Map,
    aim: Aim,
}

impl Job {
    fn new(name: String, enable: Value, sig: Option<String>, delay: Option<f64>, more: Map, aim: Aim) -> Job {
        let enable = match &enable {
            Value::Null => None,
            Value::Str(text) => Some(matches!(text.to_lowercase().as_str(), "true" | "yes" | "1")),
            other => Some(other.truthy()),
        };
        Job { name, enable, sig, delay, more, aim }
    }

    fn plan(self, ctx: &Ctx) -> Result<Plan, Fault> {
        let name = &self.name;
        if self.more.contains("enabled") {
            return Ok(failed(format!(
                "Service {name} uses non-existent option \"enabled\".  Perhaps \"enable\" option was intended?"
            )));
        }
        if is_offline(ctx) {
            return Ok(already("Running in OFFLINE mode. Nothing to do"));
        }
        if !is_available(ctx, name)? {
            let what = if self.aim.running() { "started" } else { "stopped" };
            let comment =
                format!("Service {name} not present; if created in this state run, it would have been {what}");
            let done = format!("The named service {name} is not available");
            // What is not there does not run.
            return Ok(halite_core::state::stands(
                Outcome::new(None, comment),
                Outcome::new(Some(!self.aim.running()), done),
            ));
        }
        let runs = self.status(ctx)?;
        let boots = ask(ctx, "service.enabled", [("name", name.as_str().into())])?.truthy();
        let masked = self.masked_now(ctx)?;
        let note = masked.as_ref().map(|(would, _)| would.clone());
        if runs == self.aim.running() {
            let comment = match self.aim {
                Aim::Run => format!("The service {name} is already running"),
                Aim::Stop => format!("The service {name} is already dead"),
            };
            let boot = self.enable.filter(|enable| *enable != boots).map(|enable| Boot { name: name.clone(), enable });
            let Some(boot) = boot else {
                if masked.is_none() {
                    return Ok(already(comment));
                }
                let would = Outcome::done(with_note(&comment, note.as_deref()));
                return Ok(Plan::Changes {
                    would,
                    apply: Box::new(move |ctx| {
                        let note = self.unmask(ctx)?;
                        Ok(Outcome::done(with_note(&comment, note.as_deref())))
                    }),
                });
            };
            let would = boot.would(ctx, Started::AsItWas)?.into_outcome(&comment);
            return Ok(Plan::Changes {
                would,
                apply: Box::new(move |ctx| {
                    self.unmask(ctx)?;
                    Ok(boot.switch(ctx, Started::AsItWas, true)?.into_outcome(&comment))
                }),
            });
        }
        let would = match self.aim {
            Aim::Run => with_note(&format!("Service {name} is set to start"), note.as_deref()),
            Aim::Stop => format!("Service {name} is set to be killed"),
        };
        let would = Outcome::new(None, would);
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| self.change(ctx, boots)) })
    }

    fn status(&self, ctx: &Ctx) -> Result<bool, Fault> {
        let name = Value::from(self.name.as_str());
        Ok(ask(ctx, "service.status", [("name", name), ("sig", self.sig.clone().into())])?.truthy())
    }

    fn change(self, ctx: &Ctx, booted: bool) -> Result<Outcome, Fault> {
        let (name, runs) = (&self.name, self.aim.running());
        let note = self.unmask(ctx)?;
        let (function, failure, done) = match self.aim {
            Aim::Run => ("service.start", "failed to start", format!("Started service {name}")),
            Aim::Stop => ("service.stop", "failed to die", format!("Service {name} was killed")),
        };
        let answer = match ctx.run(function, self.arguments(&["no_block", "unmask", "unmask_runtime"])) {
            Ok(answer) => answer,
            Err(fault) => return Ok(Outcome::failed(fault.to_string())),
        };
        let mut outcome = Outcome::failed(format!("Service {name} {failure}"));
        let boot = self.enable.map(|enable| Boot { name: name.clone(), enable });
        if !answer.truthy() {
            let started = if runs { Started::No } else { Started::Yes };
            return Ok(match boot {
                Some(boot) => boot.switch(ctx, started, false)?.over(outcome),
                None => outcome,
            });
        }
        self.wait(ctx);
        let now = self.status(ctx)?;
        let boots = ask(ctx, "service.enabled", [("name", name.as_str().into())])?.truthy();
        if now == runs {
            outcome = Outcome::done(done);
        }
        if now == runs || boots != booted {
            outcome.changes = single(name, now);
        }
        if let Some(boot) = boot {
            let started = if now { Started::Yes } else { Started::No };
            outcome = boot.switch(ctx, started, now == runs)?.over(outcome);
        }
        if let Some(delay) = self.delay.filter(|delay| *delay > 0.0 && runs) {
            let shown = Value::from(delay);
            let shown = if delay.fract() == 0.0 { Value::from(delay as i64) } else { shown };
            outcome.comment.push_str(&format!("\nDelayed return for {} seconds", shown.to_text()));
        }
        if let Some(note) = note {
            outcome.comment = format!("{}\n{note}", outcome.comment);
        }
        Ok(outcome)
    }

    /// The name with those of the further settings that a function of services takes.
    fn arguments(&self, names: &[&str]) -> Arguments {
        let mut arguments = Arguments::default().with("name", self.name.as_str());
        for name in names {
            // A service that is not to run is not unmasked.
            if let Some(value) = self.more.at(name).filter(|_| self.aim.running() || *name == "no_block") {
                arguments = arguments.with(name, value.clone());
            }
        }
        arguments
    }

    fn wait(&self, ctx: &Ctx) {
        wait(ctx, self.delay);
    }

    fn unmasks(&self) -> Option<bool> {
        let on = |name: &str| self.more.at(name).is_some_and(Value::truthy);
        (self.aim.running() && on("unmask")).then(|| on("unmask_runtime"))
    }

    /// What test mode says of a service that is to be unmasked, and whether it is masked.
    fn masked_now(&self, ctx: &Ctx) -> Result<Option<(String, bool)>, Fault> {
        let Some(runtime) = self.unmasks() else { return Ok(None) };
        let is_masked = masked::is_masked(ctx, &self.name, runtime)?;
        Ok(Some((masked::Words::unmask(runtime).would(&self.name, is_masked), is_masked)))
    }

    fn unmask(&self, ctx: &Ctx) -> Result<Option<String>, Fault> {
        let Some(runtime) = self.unmasks() else { return Ok(None) };
        let outcome = masked::unmask(ctx, &self.name, runtime)?;
        Ok(Some(outcome.comment))
    }
}

/// Waits as long as a service needs to be up.
fn wait(ctx: &Ctx, seconds: Option<f64>) {
    if let Some(time) = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        ctx.host.sleep(time);
    }
}

fn with_note(comment: &str, note: Option<&str>) -> String {
    match note.filter(|note| !note.is_empty()) {
        Some(note) => format!("{comment}\n{note}"),
        None => comment.to_owned(),
    }
}

/// A root without a running systemd, in which services can only be set up.
fn is_offline(ctx: &Ctx) -> bool {
    ctx.run("service.offline", Arguments::default()).is_ok_and(|offline| offline.truthy())
}

fn is_available(ctx: &Ctx, name: &str) -> Result<bool, Fault> {
    ask(ctx, "service.available", [("name", name.into())]).map(|available| available.truthy())
}
