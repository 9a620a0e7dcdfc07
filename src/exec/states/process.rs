//! `process.*`: processes.

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, ask, change, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module =
    Module { name: "process", doc: "Processes.", functions: &[state::<Absent>("absent")] as &[Function] };

record! {
    /// Makes sure that no process whose name or command line fits a pattern runs.
    ///
    ///   worker.py:
    ///     process.absent:
    ///       - user: www-data
    pub struct Absent {
        /// The pattern.
        name: String,
        /// Only those of this account.
        user: Option<String> = (),
        /// The signal that they get; SIGTERM, if not given.
        signal: Value = (),
    }
}

impl State for Absent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let words = [
            ("pattern", Value::from(self.name.as_str())),
            ("user", self.user.as_deref().into()),
            ("full", true.into()),
        ];
        let running = ask(context.ctx, "ps.pgrep", words)?;
        // The pattern stands in the command line of whoever calls this state by hand.
        let own = Value::from(i64::from(context.ctx.host.pid()));
        let count = running.as_list().map_or(0, |running| running.iter().filter(|pid| **pid != own).count());
        if count == 0 {
            return Ok(already("No matching processes running"));
        }
        Ok(change(Map::new(), format!("{count} processes will be killed"), move |ctx: &Ctx| {
            let words = [
                ("pattern", Value::from(self.name)),
                ("user", self.user.into()),
                ("signal", self.signal),
                ("full", true.into()),
            ];
            let killed = ask(ctx, "ps.pkill", words)?;
            let Some(count) = killed.at("killed").and_then(Value::as_list).map(<[Value]>::len) else {
                return Ok(Outcome::done("No matching processes running"));
            };
            let changes = killed.as_map().cloned().unwrap_or_default();
            Ok(Outcome::done(format!("Killed {count} processes")).with_changes(changes))
        }))
    }
}
