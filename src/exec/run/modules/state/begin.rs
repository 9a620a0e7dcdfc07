//! How each run of states begins and ends: its turn, its settings, a look at the pillar, and the answer.

use super::settings::{Of, Settings};
use super::{Run, code};
use crate::highstate::turn;
use crate::highstate::turn::{Line, Ticket, Wish};
use halite_core::{Ctx, Fault, Reply, Returned};
use halite_value::record;
use halite_value::{Map, Value};

/// What the caller of a run says besides the states that it is of.
#[derive(Default)]
pub struct Wishes {
    /// Say what would be changed, and change nothing.
    pub test: Option<bool>,
    /// Whether it waits for other runs, and for how many at most.
    pub queue: Value,
    /// Whether each state fires an event.
    pub state_events: Value,
    /// `saltenv`, `pillar` and more.
    pub keywords: Map,
}

/// A run that may begin. It is in the way of others until this is dropped.
pub struct Begun {
    pub settings: Settings,
    pub keywords: Map,
    _ticket: Option<Ticket>,
}

/// Why a run does not go on: an answer that tells it, or a fault.
pub enum Stop {
    Answer(Returned),
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

impl Stop {
    /// What is wrong with somebody's SLS files.
    pub fn errors(errors: Vec<String>) -> Stop {
        Stop::Answer(Returned::from(Value::list(errors)).with_retcode(code::COMPILER).with_out("highstate"))
    }
}

/// The answer of a run, wherever it stopped.
pub fn answered(run: impl FnOnce() -> Result<Returned, Stop>) -> Reply {
    match run() {
        Ok(returned) | Err(Stop::Answer(returned)) => Ok(returned),
        Err(Stop::Fault(fault)) => Err(fault),
    }
}

/// Waits for the turn of a run, where there is one to wait for, and reads its settings.
pub fn begin(ctx: &Ctx, of: Of, wishes: Wishes) -> Result<Begun, Stop> {
    let ticket = ticket(ctx, &wishes)?;
    prepare(ctx, of, wishes, ticket)
}

/// The same, for a run whose turn has come already.
pub fn prepare(ctx: &Ctx, of: Of, wishes: Wishes, ticket: Option<Ticket>) -> Result<Begun, Stop> {
    let Wishes { test, state_events, mut keywords, .. } = wishes;
    if !state_events.is_null() {
        keywords.insert("state_events", state_events);
    }
    let settings = Settings::new(ctx, of, test, &keywords)?;
    match settings.broken_pillar(&keywords) {
        Some(broken) => Err(Stop::Answer(broken)),
        None => Ok(Begun { settings, keywords, _ticket: ticket }),
    }
}

/// The right to run; nothing for a run that belongs to one that has it already.
pub fn ticket(ctx: &Ctx, wishes: &Wishes) -> Result<Option<Ticket>, Stop> {
    let Some(line) = Line::of(ctx.opts) else {
        return Ok(None);
    };
    let jid = &ctx.call.jid;
    if !jid.is_empty() && line.runs()?.iter().any(|run| run.jid == *jid) {
        return Ok(None);
    }
    let run = turn::Run { fun: ctx.call.fun.clone(), jid: jid.clone(), pid: ctx.host.pid() };
    match line.stand(&run, wish(ctx, wishes))? {
        Ok(ticket) => Ok(Some(ticket)),
        Err(others) => Err(Stop::errors(others.iter().map(turn::Run::described).collect())),
    }
}

fn wish(ctx: &Ctx, wishes: &Wishes) -> Wish {
    let configured = ctx.opts.at("state_queue");
    let queue = Some(&wishes.queue).filter(|queue| !queue.is_null()).or(configured);
    match queue {
        Some(Value::Bool(true)) => Wish::Queued,
        Some(Value::Int(most)) if *most > 0 => Wish::QueuedBehind(usize::try_from(*most).unwrap_or(usize::MAX)),
        Some(Value::Int(_)) => Wish::Queued,
        _ if wishes.keywords.at("concurrent").is_some_and(Value::truthy) => Wish::Beside,
        _ => Wish::Alone,
    }
}

/// The answer of a run: 2 is the exit code when a state has failed.
pub fn finished(mut results: Map, keywords: &Map) -> Returned {
    let failed = results.values().any(has_failed);
    if keywords.at("terse").is_some_and(Value::truthy) {
        let is = |result: &Value, name: &str| result.at(name).is_some_and(Value::truthy);
        results.retain(|_, result| !is(result, "result") || is(result, "changes"));
    }
    let retcode = if failed { code::FAILURE } else { 0 };
    Returned::from(results).with_retcode(retcode).with_out("highstate")
}

pub fn has_failed(result: &Value) -> bool {
    result.at("result") == Some(&Value::Bool(false))
}

record! {
    /// Returns a sentence for each run of states on this minion but the one that asks.
    ///
    ///   salt '*' state.running
    pub struct Running {
        /// Answer that there is none, as for a run that may be beside others.
        concurrent: bool = false,
    }
}

impl Run for Running {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(line) = Line::of(ctx.opts).filter(|_| !self.concurrent) else {
            return Ok(Value::List(Vec::new()).into());
        };
        let runs = line.runs()?;
        let others = runs.iter().filter(|run| ctx.call.jid.is_empty() || run.jid != ctx.call.jid);
        Ok(Value::list(others.map(turn::Run::described)).into())
    }
}
