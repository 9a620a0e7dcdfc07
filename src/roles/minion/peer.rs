//! What this minion has other minions and the master do, asked of the master by its daemon or by a session of
//! `salt-call`'s own.

use super::channel::Channel;
use super::local::files::Asked;
use super::local::{MinionAnswer, MinionAsk};
use halite_core::Fault;
use halite_core::context::{PeerJob, PeerReturn, PeerReturns};
use halite_lang::random;
use halite_value::{Map, Value};
use halite_wire::deadline::within;
use halite_wire::message::{Answer, Ask, PeerAnswer, PeerAsk, Step};
use std::time::{Duration, Instant};

/// Asks the master, on the channel of this minion.
pub async fn from_master(channel: &Channel, ask: PeerAsk, timeout: Duration) -> MinionAnswer {
    let ask = Ask::Peer(ask);
    match within(timeout, channel.ask_until_answered(&ask)).await {
        Some(Ok(Answer::Peer(answer))) => MinionAnswer::Peer(answer),
        Some(Ok(Answer::Refused(why))) => MinionAnswer::Refused(why),
        Some(Ok(_)) => MinionAnswer::Refused("the master answers in another version".to_owned()),
        Some(Err(error)) => MinionAnswer::Refused(format!("the master cannot be asked: {error}")),
        None => MinionAnswer::Refused(format!("the master has not answered for {} s", timeout.as_secs())),
    }
}

/// Asks the daemon of this host; blocks.
fn asked(daemon: &impl Asked, ask: PeerAsk) -> Result<PeerAnswer, Fault> {
    match daemon.answer(&MinionAsk::Peer(ask))? {
        MinionAnswer::Peer(answer) => Ok(answer),
        _ => Err(unexpected()),
    }
}

fn unexpected() -> Fault {
    Fault::Internal("the minion daemon answers in another version".to_owned())
}

/// Starts a job on others: its jid. Nothing where the master does not let this minion.
pub fn publish(daemon: &impl Asked, job: &PeerJob) -> Result<Option<String>, Fault> {
    let PeerJob { fun, arg, tgt, tgt_type, ret } = job.clone();
    match asked(daemon, PeerAsk::Publish { number: random::bits(), fun, arg, tgt, tgt_type, ret })? {
        PeerAnswer::Published { jid, .. } => Ok(Some(jid)),
        PeerAnswer::Denied => Ok(None),
        _ => Err(unexpected()),
    }
}

/// What has come back of it from number `seen` on.
pub fn returns(daemon: &impl Asked, jid: &str, seen: usize) -> Result<PeerReturns, Fault> {
    let steps = match asked(daemon, PeerAsk::Wait { jid: jid.to_owned(), seen })? {
        PeerAnswer::Steps(steps) => steps,
        // The master was started anew meanwhile.
        PeerAnswer::Denied => return Ok(PeerReturns { seen, ..PeerReturns::default() }),
        _ => return Err(unexpected()),
    };
    let (count, open) = (steps.steps.len(), steps.open);
    let returned = |step| match step {
        Step::Ended(outcome) => {
            let ret = outcome.ret?;
            Some(PeerReturn { id: outcome.id, value: ret.value, out: ret.out })
        }
        _ => None,
    };
    Ok(PeerReturns { returns: steps.steps.into_iter().filter_map(returned).collect(), seen: seen + count, open })
}

/// Has a runner called and waits for its answer. An empty one where the master does not let this minion; nothing when the
/// time is over.
pub fn call_runner(daemon: &impl Asked, fun: &str, arg: &[Value], time: Duration) -> Result<Option<Value>, Fault> {
    let ask = PeerAsk::Run { number: random::bits(), fun: fun.to_owned(), arg: arg.to_vec() };
    let end = Instant::now() + time;
    loop {
        match asked(daemon, ask.clone())? {
            PeerAnswer::Returned(value) => return Ok(Some(value)),
            PeerAnswer::Denied => return Ok(Some(Map::new().into())),
            PeerAnswer::Running if Instant::now() >= end => return Ok(None),
            PeerAnswer::Running => {}
            _ => return Err(unexpected()),
        }
    }
}
