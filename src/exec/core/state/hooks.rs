//! What a module of states does beside its states: Salt's `mod_aggregate` and `mod_init`.
//!
//! A third hook, `mod_watch`, is a state of that name in the module's table: it has arguments of its own.

use crate::Ctx;
use halite_value::Map;

/// The hooks of one module; one line in the list of hooks beside that of modules.
pub struct Hooks {
    pub module: &'static str,
    pub aggregate: Option<Aggregate>,
    pub init: Option<Init>,
}

/// Takes into a low chunk that is about to run what another one wants, so that both are done in one go; false: the two do
/// not go together. The other one runs all the same when its turn comes, and finds that all is done.
///
/// Both are of this module, `aggregate` is on for them, neither has been taken into another, and all that the other one
/// requires has been met. It is called for one after the other.
pub type Aggregate = fn(low: &mut Map, other: &Map) -> bool;

/// Called with a low chunk before it runs, until it answers true. What it leaves in `ctx.scratch` is there for the states
/// of the run.
pub type Init = fn(ctx: &Ctx, low: &Map) -> bool;
