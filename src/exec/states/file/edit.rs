//! States that edit a file by an execution function: first it says what it would change, then it does it.

use super::single;
use halite_core::state::{Outcome, Plan, already, change};
use halite_core::{Ctx, Fault};
use halite_value::record::Arguments;
use halite_value::{Map, Value};

/// A function that edits, with its arguments.
#[derive(Clone)]
pub struct Edit {
    pub function: &'static str,
    pub arguments: Map,
    /// What test mode says when something would change.
    pub would: &'static str,
}

const NOTHING: &str = "No changes needed to be made";

impl Edit {
    /// What the function answers: the difference, or nothing.
    pub fn ask(&self, ctx: &Ctx) -> Result<Value, Fault> {
        ctx.run(self.function, Arguments::keywords(self.arguments.clone()))
    }

    /// What it would answer.
    pub fn ask_in_test(&self, ctx: &Ctx) -> Result<Value, Fault> {
        ctx.run(self.function, Arguments::keywords(self.arguments.clone()).with("dry_run", true))
    }

    pub fn plan(self, ctx: &Ctx) -> Result<Plan, Fault> {
        let difference = self.ask_in_test(ctx)?;
        if !difference.truthy() {
            return Ok(already(NOTHING));
        }
        Ok(change(single("diff", difference), self.would, move |ctx| self.apply(ctx)))
    }

    pub fn apply(self, ctx: &Ctx) -> Result<Outcome, Fault> {
        let difference = self.ask(ctx)?;
        Ok(match difference.truthy() {
            true => Outcome::done("Changes were made").with_changes(single("diff", difference)),
            false => Outcome::done(NOTHING),
        })
    }
}
