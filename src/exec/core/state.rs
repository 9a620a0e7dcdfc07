//! What a state is.
//!
//! A module is one file (or a directory for a large one) and one line in the list of modules. A state is a record of its arguments and
//! a [`State::plan`]: it looks at the host, which it cannot change, and says that all is as it should be
//! ([`already`]), or what it would change and how ([`change`]). Whoever runs states decides whether that is done, so no
//! state has to think of `test=True`.
//!
//! ```
//! use halite_core::state::{PlanContext, Module, Plan, State, already, state};
//! use halite_core::Fault;
//!
//! halite_value::record! {
//!     /// Does nothing.
//!     ///
//!     ///   nothing:
//!     ///     test.nop: []
//!     pub struct Nop {
//!         /// The ID, which means nothing.
//!         name: String,
//!     }
//! }
//! impl State for Nop {
//!     fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
//!         Ok(already("Success!"))
//!     }
//! }
//! pub const MODULE: Module = Module { name: "test", doc: "Simple checks.", functions: &[state::<Nop>("nop")] };
//! ```

use super::{Ctx, Fault, function};
use halite_value::record::{ArgumentError, Arguments, Record};
use halite_value::{Map, Value};

mod hooks;

pub use hooks::{Aggregate, Hooks, Init};

/// The function of a module that runs when what its states watch has changed.
pub const REACTION: &str = "mod_watch";

/// Where a low chunk has those that it requires, when it needs to know more of them than that they have succeeded.
pub const REQUIRED: &str = "__required__";

pub type Module = function::Module<PlanFn>;
pub type Function = function::Function<PlanFn>;
pub type PlanFn = fn(Arguments, &PlanContext) -> Result<Result<Plan, Fault>, ArgumentError>;

/// What a state does with its arguments.
pub trait State: Record {
    /// Looks, and says what is to be done.
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault>;

    /// The same for whoever calls a state: a [`Fault::Comment`], of the plan or of what carries it out, is a state that has
    /// failed with that comment.
    fn planned(self, context: &PlanContext) -> Result<Plan, Fault> {
        commented(self.plan(context))
    }
}

/// A plan in which each [`Fault::Comment`] is a state that has failed with that comment: for whoever goes on with a plan of
/// its own, to clean up after it or to add to what it says.
pub fn commented(plan: Result<Plan, Fault>) -> Result<Plan, Fault> {
    match plan {
        Ok(Plan::Changes { would, apply }) => Ok(Plan::Changes {
            would,
            apply: Box::new(move |ctx| match apply(ctx) {
                Err(Fault::Comment(comment)) => Ok(Outcome::failed(comment)),
                ended => ended,
            }),
        }),
        Err(Fault::Comment(comment)) => Ok(failed(comment)),
        other => other,
    }
}

/// The table's entry for a state.
pub const fn state<S: State>(name: &'static str) -> Function {
    Function::of::<S>(name, |arguments, context| S::bind(arguments).map(|state| state.planned(context)))
}

/// What a state sees.
pub struct PlanContext<'a> {
    /// The host in it can only be looked at.
    pub ctx: &'a Ctx<'a>,
    /// The low chunk.
    pub low: &'a Map,
    /// The environment of the SLS.
    pub saltenv: &'a str,
    /// IDs that are watched and have changed, `module: id`, when the state runs for that.
    pub changed: &'a [String],
    /// In test mode the same with a host that can be changed: for commands by which an SLS has it told what would happen.
    pub rehearsal: Option<&'a Ctx<'a>>,
}

/// What is to be done about a state.
pub enum Plan {
    /// Nothing, or nothing can be done.
    Stands(Outcome),
    /// Something changes.
    Changes {
        /// What is said of it in test mode.
        would: Outcome,
        apply: Apply,
    },
}

/// Changes the host and says what came of it.
pub type Apply = Box<dyn FnOnce(&Ctx) -> Result<Outcome, Fault>>;

/// What became of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Nothing: something would be changed.
    pub result: Option<bool>,
    pub comment: String,
    pub changes: Map,
    /// Further entries of the result, such as `warnings`.
    pub more: Map,
}

impl Outcome {
    pub fn new(result: Option<bool>, comment: impl Into<String>) -> Outcome {
        Outcome { result, comment: comment.into(), ..Outcome::default() }
    }

    /// It was done.
    pub fn done(comment: impl Into<String>) -> Outcome {
        Outcome::new(Some(true), comment)
    }

    /// It could not be done.
    pub fn failed(comment: impl Into<String>) -> Outcome {
        Outcome::new(Some(false), comment)
    }

    pub fn with_changes(mut self, changes: Map) -> Outcome {
        self.changes = changes;
        self
    }

    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Outcome {
        self.more.insert(key, value);
        self
    }
}

/// All is as it should be.
pub fn already(comment: impl Into<String>) -> Plan {
    Plan::Stands(Outcome::new(Some(true), comment))
}

/// It cannot be as it should be.
pub fn failed(comment: impl Into<String>) -> Plan {
    Plan::Stands(Outcome::new(Some(false), comment))
}

/// All is as it should be, which test mode says in other words.
pub fn stands(would: Outcome, done: Outcome) -> Plan {
    Plan::Changes { would, apply: Box::new(move |_| Ok(done)) }
}

/// Something is to be changed; `changes` and `comment` are what test mode says.
pub fn change(
    changes: Map,
    comment: impl Into<String>,
    apply: impl FnOnce(&Ctx) -> Result<Outcome, Fault> + 'static,
) -> Plan {
    Plan::Changes { would: Outcome::new(None, comment).with_changes(changes), apply: Box::new(apply) }
}

/// Arguments for a function by name; those that are nothing are left to their defaults.
pub fn given<const N: usize>(pairs: [(&str, Value); N]) -> Map {
    Map::from_iter(pairs.into_iter().filter(|(_, value)| !value.is_null()))
}

/// What an execution function answers.
pub fn ask<const N: usize>(ctx: &Ctx, fun: &str, arguments: [(&str, Value); N]) -> Result<Value, Fault> {
    ctx.run(fun, Arguments::keywords(given(arguments)))
}

/// One change under a key.
pub fn single(key: &str, value: impl Into<Value>) -> Map {
    Map::from_iter([(key, value.into())])
}

/// Two values of something: what it was and what it is.
pub fn from_to(old: impl Into<Value>, new: impl Into<Value>) -> Map {
    Map::from_iter([("old", old.into()), ("new", new.into())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoMaster;
    use crate::testing::World;

    #[test]
    fn a_comment_of_a_plan_or_of_what_carries_it_out_is_a_failed_state() {
        let world = World::new();
        let ctx = world.ctx(&NoMaster);
        let ended = |plan: Result<Plan, Fault>| match commented(plan)? {
            Plan::Stands(outcome) => Ok(outcome),
            Plan::Changes { apply, .. } => apply(&ctx),
        };
        let failed = Ok(Outcome::failed("not there"));
        assert_eq!(ended(Err(Fault::comment("not there"))), failed);
        assert_eq!(ended(Ok(change(Map::new(), "would", |_| Err(Fault::comment("not there"))))), failed);
        assert_eq!(ended(Ok(change(Map::new(), "would", |_| Ok(Outcome::done("made"))))), Ok(Outcome::done("made")));
        let fault = Fault::execution("the host's");
        assert_eq!(ended(Err(fault.clone())), Err(fault));
    }
}
