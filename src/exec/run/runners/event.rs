//! `event.*`: events for the master's bus.

use super::{Ctx, Module, Run, function};
use halite_core::Reply;
use halite_value::Map;
use halite_value::record;

pub const MODULE: Module =
    Module { name: "event", doc: "Puts events on the master's bus.", functions: &[function::<Send>("send")] };

record! {
    /// Puts an event on the master's bus.
    ///
    ///   salt-run event.send my/custom/event '{foo: bar}'
    pub struct Send {
        /// The event's tag.
        tag: String,
        /// The event's data.
        data: Option<Map> = (),
    }
}

impl Run for Send {
    fn run(self, ctx: &Ctx) -> Reply {
        ctx.fleet.fire(&self.tag, self.data.unwrap_or_default())?;
        Ok(true.into())
    }
}
