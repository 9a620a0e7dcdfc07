//! Waits for what becomes of a job, target by target.

use super::{Client, ClientError};
use halite_wire::deadline::until;
use halite_wire::message::{LocalAnswer, LocalAsk, Outcome, Step, Steps};
use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// How often those are looked at that work on the job after the timeout is over.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A wait for the master's answer is not shorter than this.
const AT_LEAST: Duration = Duration::from_millis(50);
/// How long a publication may wait for its first outcomes, in milliseconds. Short: until then a client that is
/// interrupted knows no jid to tell.
pub const FIRST_MS: u32 = 100;

/// The outcomes of a job, as they come.
pub struct Gather<'a> {
    client: &'a Client,
    jid: String,
    seen: usize,
    /// Targets without an outcome.
    expected: BTreeSet<String>,
    /// For how long a minion may say nothing of the job, where that is not for the master to notice. Those that work on
    /// it are waited for without an end.
    timeout: Option<Duration>,
    since: Instant,
    ready: VecDeque<Step>,
}

/// What a gatherer is told.
pub enum Gathered {
    /// These targets of a batch have their turn.
    Started(Vec<String>),
    Outcome(Box<Outcome>),
    /// These have said nothing of the job in time.
    Silent(Vec<String>),
    /// Every target has its outcome.
    All,
}

impl<'a> Gather<'a> {
    /// `first` is what came with the answer to the publication.
    pub fn new(
        client: &'a Client,
        jid: &str,
        minions: &[String],
        absent: &[String],
        first: Steps,
        timeout: Duration,
    ) -> Gather<'a> {
        let mut gather = Gather {
            client,
            jid: jid.to_owned(),
            seen: 0,
            expected: minions.iter().chain(absent).cloned().collect(),
            timeout: Some(timeout),
            since: Instant::now(),
            ready: VecDeque::new(),
        };
        if !first.steps.is_empty() {
            gather.take(first);
        }
        gather
    }

    /// Of a batch: each target has a time of its own, so the master says who is silent.
    pub fn of_batch(client: &'a Client, jid: &str, minions: &[String], absent: &[String], first: Steps) -> Gather<'a> {
        Gather { timeout: None, ..Gather::new(client, jid, minions, absent, first, Duration::ZERO) }
    }

    /// The next outcome.
    pub async fn next(&mut self) -> Result<Gathered, ClientError> {
        loop {
            match self.ready.pop_front() {
                Some(Step::Started(ids)) => return Ok(Gathered::Started(ids)),
                Some(Step::Silent(id)) if self.expected.remove(&id) => return Ok(Gathered::Silent(vec![id])),
                // A late return of a target that ended otherwise before is not an outcome of its own.
                Some(Step::Ended(outcome)) if self.expected.remove(&outcome.id) => {
                    return Ok(Gathered::Outcome(outcome));
                }
                Some(_) => continue,
                None => {}
            }
            if self.expected.is_empty() {
                return Ok(Gathered::All);
            }
            let ask = LocalAsk::Wait { jid: self.jid.clone(), seen: self.seen };
            let asked = self.client.ask(&ask);
            let answer = match self.timeout {
                Some(timeout) => until((self.since + timeout).max(Instant::now() + AT_LEAST), asked).await,
                None => Some(asked.await),
            };
            match answer.transpose()? {
                Some(LocalAnswer::Steps(steps)) => self.take(*steps),
                Some(_) => return Err(ClientError::Malformed("no outcomes".to_owned())),
                None => {
                    let silent = self.silent().await?;
                    if silent.is_empty() {
                        // All that is open works on the job, as far as is known.
                        self.since = Instant::now();
                        self.timeout = self.timeout.map(|timeout| timeout.min(LOOK_AGAIN));
                        continue;
                    }
                    self.expected.retain(|id| !silent.contains(id));
                    return Ok(Gathered::Silent(silent));
                }
            }
        }
    }

    fn take(&mut self, steps: Steps) {
        self.seen += steps.steps.len();
        self.ready.extend(steps.steps);
        if steps.open == 0 && self.ready.is_empty() {
            self.expected.clear();
        }
    }

    /// Those that have neither returned nor taken the job, or are away with it.
    async fn silent(&mut self) -> Result<Vec<String>, ClientError> {
        match self.client.ask(&LocalAsk::States { jid: self.jid.clone() }).await? {
            LocalAnswer::States(states) => {
                let silent = |id: &&String| matches!(states.str_at(id), Some("sent" | "away"));
                Ok(self.expected.iter().filter(silent).cloned().collect())
            }
            _ => Err(ClientError::Malformed("no states".to_owned())),
        }
    }
}
