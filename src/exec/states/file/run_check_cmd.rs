//! `file.mod_run_check_cmd`.

use super::check_cmd::run;
use halite_core::Fault;
use halite_core::state::{Outcome, Plan, PlanContext, State, change};
use halite_value::Map;
use halite_value::record;
use halite_value::record::Keywords;
use std::path::PathBuf;

record! {
    /// Runs a command with the name of a file behind it, as `check_cmd` of other states does. It succeeds as that does.
    ///
    ///   check sudoers:
    ///     file.mod_run_check_cmd:
    ///       - cmd: visudo -c -f
    ///       - filename: /etc/sudoers
    pub struct RunCheckCmd {
        /// The command.
        cmd: String,
        /// The file.
        filename: String,
        kwargs: Keywords,
    }
}

impl State for RunCheckCmd {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        let would = format!("Command \"{} {}\" would have been executed", self.cmd, self.filename);
        Ok(change(Map::new(), would, move |ctx| {
            let complaint = run(ctx, &self.cmd, &PathBuf::from(&self.filename))?;
            Ok(complaint.unwrap_or_else(|| Outcome::done("check_cmd execution succeeded")))
        }))
    }
}
