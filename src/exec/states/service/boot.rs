//! `service.enabled`, `service.disabled`, and the argument `enable`: whether a service starts with the host.

use super::is_available;
use halite_core::state::{Outcome, Plan, PlanContext, State, ask, single};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

record! {
    /// Makes sure that a service starts with the host, whether it runs now or not.
    ///
    ///   redis:
    ///     service.enabled: []
    pub struct Enabled {
        /// The service.
        name: String,
        kwargs: Keywords,
    }
}

impl State for Enabled {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let boot = Boot { name: self.name, enable: true };
        let name = &boot.name;
        if !is_available(context.ctx, name)? {
            let comment =
                format!("Service {name} not present; if created in this state run, it would have been enabled");
            let done = format!("The named service {name} is not available");
            return Ok(halite_core::state::stands(Outcome::new(None, comment), Outcome::failed(done)));
        }
        boot.plan(context.ctx)
    }
}

record! {
    /// Makes sure that a service does not start with the host, whether it runs now or not.
    ///
    ///   redis:
    ///     service.disabled: []
    pub struct Disabled {
        /// The service.
        name: String,
        kwargs: Keywords,
    }
}

impl State for Disabled {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        Boot { name: self.name, enable: false }.plan(context.ctx)
    }
}

/// Whether a service runs when it is said of it whether it starts with the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    Yes,
    No,
    /// Nothing was done about that.
    AsItWas,
}

/// A service that is to start with the host, or not to.
#[derive(Clone, Debug)]
pub struct Boot {
    pub name: String,
    pub enable: bool,
}

/// What became of it. Changes that are not given leave those of the start alone.
pub struct Part {
    result: Option<bool>,
    comment: String,
    changes: Option<Map>,
}

impl Part {
    /// On top of what was said before.
    pub fn over(self, mut outcome: Outcome) -> Outcome {
        outcome.result = self.result;
        outcome.comment = self.comment;
        if let Some(changes) = self.changes {
            outcome.changes = changes;
        }
        outcome
    }

    pub fn into_outcome(self, before: &str) -> Outcome {
        self.over(Outcome::done(before))
    }
}

impl Boot {
    fn plan(self, ctx: &Ctx) -> Result<Plan, Fault> {
        let would = self.would(ctx, Started::AsItWas)?.into_outcome("");
        if would.result.is_some() {
            return Ok(Plan::Stands(would));
        }
        let apply = move |ctx: &Ctx| Ok(self.switch(ctx, Started::AsItWas, true)?.into_outcome(""));
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }

    /// What test mode says.
    pub fn would(&self, ctx: &Ctx, started: Started) -> Result<Part, Fault> {
        if let Some(part) = self.stands(ctx, started, true)? {
            return Ok(part);
        }
        let word = self.words()[0];
        Ok(Part { result: None, comment: format!("Service {} set to be {word}", self.name), changes: None })
    }

    /// Does it. `result` is that of what was done before.
    pub fn switch(&self, ctx: &Ctx, started: Started, result: bool) -> Result<Part, Fault> {
        if let Some(part) = self.stands(ctx, started, result)? {
            return Ok(part);
        }
        let name = &self.name;
        let [word, function, purpose] = self.words();
        let (done, error) = match ask(ctx, function, [("name", name.as_str().into())]) {
            Ok(done) => (done.truthy(), None),
            Err(fault) => (false, Some(fault.to_string())),
        };
        if done {
            let changes = if self.is_set(ctx)? { single(name, true) } else { Map::new() };
            let state = match started {
                Started::Yes => "is running",
                Started::AsItWas => "is in the desired state",
                Started::No => "is dead",
            };
            let comment = format!("Service {name} has been {word}, and {state}");
            return Ok(Part { result: Some(result), comment, changes: Some(changes) });
        }
        let state = match (started, self.enable) {
            (Started::Yes, true) => "but the service is running",
            (Started::Yes, false) => "and is running",
            (Started::AsItWas, _) => "but the service was already running",
            (Started::No, _) => "and the service is dead",
        };
        let mut comment = format!("Failed when setting service {name} to {purpose} at boot, {state}");
        if let Some(error) = error {
            comment.push_str(&format!(". Additional information follows:\n\n{error}"));
        }
        Ok(Part { result: Some(false), comment, changes: None })
    }

    /// What is said where nothing is to be done, or nothing can be.
    fn stands(&self, ctx: &Ctx, started: Started, result: bool) -> Result<Option<Part>, Fault> {
        let name = &self.name;
        if !is_available(ctx, name)? {
            let comment = format!("The named service {name} is not available");
            return Ok(Some(Part { result: Some(!self.enable), comment, changes: None }));
        }
        if !self.is_set(ctx)? {
            return Ok(None);
        }
        let (state, changes) = match started {
            Started::Yes => ("is running", None),
            Started::AsItWas => ("is in the desired state", Some(Map::new())),
            Started::No => ("is dead", None),
        };
        let comment = format!("Service {name} is already {}, and {state}", self.words()[0]);
        Ok(Some(Part { result: Some(result), comment, changes }))
    }

    fn is_set(&self, ctx: &Ctx) -> Result<bool, Fault> {
        let function = if self.enable { "service.enabled" } else { "service.disabled" };
        Ok(ask(ctx, function, [("name", Value::from(self.name.as_str()))])?.truthy())
    }

    fn words(&self) -> [&'static str; 3] {
        match self.enable {
            true => ["enabled", "service.enable", "start"],
            false => ["disabled", "service.disable", "not start"],
        }
    }
}
