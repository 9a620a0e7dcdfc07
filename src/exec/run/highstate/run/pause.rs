//! Whether the run waits before a state, or ends there (`state.pause`, `state.soft_kill`).

use super::super::pauses::{ALL, Pauses};
use super::Runner;
use halite_value::Value;
use std::time::Duration;

/// How often a run that waits looks whether it may go on.
const LOOK: Duration = Duration::from_millis(200);

/// Whether the run goes on with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Run,
    Kill,
}

impl Runner<'_, '_> {
    /// Waits for as long as somebody has paused this state or all of them.
    pub(super) fn paused(&self, chunk: usize) -> Verdict {
        let (world, jid) = (&self.world, &self.world.call.jid);
        let Some(pauses) = Pauses::of(world.opts).filter(|_| !jid.is_empty()) else {
            return Verdict::Run;
        };
        let id = self.chunks[chunk].at("__id__").map(Value::to_text).unwrap_or_default();
        let started = world.host.now();
        loop {
            let told = pauses.read(jid);
            let Some(told) = told.at(&id).or_else(|| told.at(ALL)) else {
                return Verdict::Run;
            };
            let waited = world.host.now().duration_since(started).unwrap_or_default().as_secs_f64();
            if told.at("duration").and_then(Value::as_float).is_some_and(|most| waited > most) {
                return Verdict::Run;
            }
            if told.at("kill").is_some_and(Value::truthy) {
                return Verdict::Kill;
            }
            if self.is_cancelled() {
                return Verdict::Kill;
            }
            world.host.sleep(LOOK);
        }
    }
}
