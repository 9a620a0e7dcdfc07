//! Waits for what becomes of a job, target by target.

use super::{Client, ClientError};
use crate::wire::message::{LocalAnswer, LocalAsk, Outcome, Outcomes};
use crate::wire::patience::until;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How often those are looked at that work on the job after the patience is over.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

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
    /// For how long a minion may say nothing of the job. Those that work on it are waited for without an end.
    patience: Duration,
    since: Instant,
    ready: std::collections::VecDeque<Outcome>,
}

/// What a gatherer is told.
pub enum Gathered {
    Outcome(Box<Outcome>),
    /// These have said nothing of the job in time.
    Silent(Vec<String>),
    /// Every target has its outcome.
    All,
}

impl<'a> Gather<'a> {
    /// `first` are the outcomes that came with the answer to the publication.
    pub fn new(
        client: &'a Client,
        jid: &str,
        minions: &[String],
        absent: &[String],
        first: Outcomes,
        patience: Duration,
    ) -> Gather<'a> {
        let mut gather = Gather {
            client,
            jid: jid.to_owned(),
            seen: 0,
            expected: minions.iter().chain(absent).cloned().collect(),
            patience,
            since: Instant::now(),
            ready: Default::default(),
        };
        if !first.outcomes.is_empty() {
            gather.take(first);
        }
        gather
    }

    /// The next outcome.
    pub async fn next(&mut self) -> Result<Gathered, ClientError> {
        loop {
            if let Some(outcome) = self.ready.pop_front() {
                self.expected.remove(&outcome.id);
                return Ok(Gathered::Outcome(Box::new(outcome)));
            }
            if self.expected.is_empty() {
                return Ok(Gathered::All);
            }
            let deadline = self.since + self.patience;
            let ask = LocalAsk::Wait { jid: self.jid.clone(), seen: self.seen };
            let deadline = deadline.max(Instant::now() + Duration::from_millis(50));
            match until(deadline, self.client.ask(&ask)).await.transpose()? {
                Some(LocalAnswer::Outcomes(outcomes)) => self.take(*outcomes),
                Some(_) => return Err(ClientError::Malformed("no outcomes".to_owned())),
                None => {
                    let silent = self.silent().await?;
                    if silent.is_empty() {
                        // All that is open works on the job, as far as is known.
                        self.since = Instant::now();
                        self.patience = self.patience.min(LOOK_AGAIN);
                        continue;
                    }
                    self.expected.retain(|id| !silent.contains(id));
                    return Ok(Gathered::Silent(silent));
                }
            }
        }
    }

    fn take(&mut self, outcomes: Outcomes) {
        self.seen += outcomes.outcomes.len();
        // A late return of a target that ended otherwise before is not an outcome of its own.
        let expected = &self.expected;
        self.ready.extend(outcomes.outcomes.into_iter().filter(|outcome| expected.contains(&outcome.id)));
        if outcomes.open == 0 && self.ready.is_empty() {
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
