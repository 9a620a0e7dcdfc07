//! `file.shortcut`: refused.

use halite_core::Fault;
use halite_core::state::{Plan, PlanContext, State, failed};
use halite_value::record;
use halite_value::record::Keywords;

record! {
    /// For Windows alone; elsewhere it is refused, and `file.symlink` is what is meant.
    ///
    ///   C:\shortcut.lnk:
    ///     file.shortcut:
    ///       - target: C:\target
    pub struct Shortcut {
        /// The path.
        name: String,
        /// Where it points to.
        target: String = "",
        kwargs: Keywords,
    }
}

impl State for Shortcut {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        Ok(failed("Shortcuts are only supported on Windows"))
    }
}
