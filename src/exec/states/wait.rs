//! `cmd.wait`, `module.wait` and their like: states that do nothing but react.

use halite_core::Fault;
use halite_core::state::{Plan, PlanContext, State, already};
use halite_value::record;
use halite_value::record::Keywords;

record! {
    /// Does nothing itself: its command, or its function, runs when what the state watches has changed.
    ///
    ///   run-installer:
    ///     cmd.wait:
    ///       - name: /tmp/installer.bin
    ///       - watch:
    ///         - file: /tmp/installer.bin
    ///   tell-of-it:
    ///     module.wait:
    ///       - name: test.echo
    ///       - text: installed
    ///       - watch:
    ///         - cmd: run-installer
    pub struct Wait {
        /// The command, the script or the function.
        name: String,
        kwargs: Keywords,
    }
}

impl State for Wait {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        Ok(already(""))
    }
}
