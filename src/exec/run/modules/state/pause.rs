//! `state.pause` and its like: runs that wait before a state, or end there.

use super::Run;
use crate::highstate::pauses;
use crate::highstate::pauses::ALL;
use halite_core::jid::Jid;
use halite_core::jobs::Jobs;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Makes a run of states wait before a state, or before the next one.
    ///
    ///   salt '*' state.pause 20261129205033700833
    ///   salt '*' state.pause 20261129205033700833 vim
    ///   salt '*' state.pause 20261129205033700833 vim 20
    pub struct Pause {
        /// The job.
        jid: Value,
        /// The ID of the state.
        state_id: Option<String> = (),
        /// Seconds after which it goes on by itself.
        duration: Option<i64> = (),
    }
}

impl Run for Pause {
    fn run(self, ctx: &Ctx) -> Reply {
        let Pause { jid, state_id, duration } = self;
        change(ctx, &jid, |told| {
            let entry = told.entry_or(state_id.as_deref().unwrap_or(ALL), || Map::new().into());
            if let (Some(duration), Value::Map(entry)) = (duration, entry) {
                entry.insert("duration", duration);
            }
        })
    }
}

record! {
    /// Ends a run of states before a state, or before the next one. What runs is left to end.
    ///
    ///   salt '*' state.soft_kill 20261129205033700833
    ///   salt '*' state.soft_kill 20261129205033700833 vim
    pub struct SoftKill {
        /// The job.
        jid: Value,
        /// The ID of the state.
        state_id: Option<String> = (),
    }
}

impl Run for SoftKill {
    fn run(self, ctx: &Ctx) -> Reply {
        let SoftKill { jid, state_id } = self;
        change(ctx, &jid, |told| {
            let entry = told.entry_or(state_id.as_deref().unwrap_or(ALL), || Map::new().into());
            if let Value::Map(entry) = entry {
                entry.insert("kill", true);
            }
        })
    }
}

record! {
    /// Lets a run of states go on that was paused.
    ///
    ///   salt '*' state.resume 20261129205033700833
    ///   salt '*' state.resume 20261129205033700833 vim
    pub struct Resume {
        /// The job.
        jid: Value,
        /// The ID of the state; else all go on.
        state_id: Option<String> = (),
    }
}

impl Run for Resume {
    fn run(self, ctx: &Ctx) -> Reply {
        let Resume { jid, state_id } = self;
        change(ctx, &jid, |told| match &state_id {
            Some(id) => drop(told.remove(id)),
            None => *told = Map::new(),
        })
    }
}

record! {
    /// Returns what is paused, by job and ID. What belongs to jobs that have ended is forgotten.
    ///
    ///   salt '*' state.get_pauses
    pub struct Pauses {
        /// A job, or a list of them; all where none is named.
        jid: Value = (),
    }
}

impl Run for Pauses {
    fn run(self, ctx: &Ctx) -> Reply {
        let pauses = place(ctx)?;
        let jids = match &self.jid {
            Value::Null => pauses.jids(),
            Value::List(jids) => jids.iter().map(Value::to_text).collect(),
            jid => vec![jid.to_text()],
        };
        let cachedir = ctx.opts.str_at("cachedir").unwrap_or_default();
        let running = Jobs::new(Path::new(cachedir)).running();
        let running = running.map_err(|error| Fault::execution(format!("the jobs in {cachedir}: {error}")))?;
        let mut all = Map::new();
        for jid in jids {
            match running.iter().any(|job| job.jid.as_str() == jid && job.fun.starts_with("state.")) {
                true => drop(all.insert(jid.as_str(), pauses.read(&jid))),
                false => pauses.forget(&jid),
            }
        }
        Ok(all.into())
    }
}

fn place(ctx: &Ctx) -> Result<pauses::Pauses, Fault> {
    pauses::Pauses::of(ctx.opts).ok_or_else(|| Fault::execution("cachedir is not set: nothing can be paused"))
}

/// Changes what is told of a job.
fn change(ctx: &Ctx, jid: &Value, change: impl FnOnce(&mut Map)) -> Reply {
    let jid = Jid::parse(&jid.to_text()).map_err(|error| Fault::invocation(error.to_string()))?;
    let pauses = place(ctx)?;
    let mut told = pauses.read(jid.as_str());
    change(&mut told);
    pauses.write(jid.as_str(), &told)?;
    Ok(().into())
}
