//! The open jobs and what has become of each for each of its targets. No clock, no socket: time is handed in.
//!
//! ```text
//! absent                                              not connected at publication: final
//! sent  -> taken -> returned | killed                 as the minion says
//! sent  -> lost                                       after SENT_LIMIT: it will not start any more
//! taken -> lost                                       key deleted, came back without knowing the job, away too long
//! lost  -> returned                                   a late return, marked
//! waiting -> sent | absent | cancelled                in a batch: its turn comes, without it there, or never
//! ```
//!
//! Every target ends in a state, so that whoever waits for a job is always told.

use super::batch::{Stopped, Turns, Verdict};
use super::database::Sent;
use super::origins::Finished;
use halite_wire::message::{EndState, Job, Outcome, Return, Step, Steps};
use smol::channel::{Receiver, Sender, bounded};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A job that is not taken after this long will not start any more.
pub const SENT_LIMIT: Duration = Duration::from_secs(120);
/// A job is offered again to a minion that has not taken it, for this long.
pub const OFFER_LIMIT: Duration = Duration::from_secs(90);
/// Whoever has said nothing of a publication after this long gets the job by its long poll.
pub const PUBLICATION_GRACE: Duration = Duration::from_secs(1);
/// A connection that breaks is usually back sooner than this.
const RETURN_TIME: Duration = Duration::from_secs(2);
/// How long a finished job stays here for who still waits for it; afterwards the database answers.
const KEEP_FINISHED: Duration = Duration::from_secs(15);

/// The name of a minion, shared by all who speak of it.
pub type Id = Rc<str>;

/// How a job reaches its targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// On 4505, for everybody.
    Published,
    /// Sealed in the answer to a long poll.
    Directed,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Its turn in a batch has not come.
    Waiting,
    Sent {
        way: Way,
        at: Instant,
    },
    Taken {
        /// Since when its minion is not connected.
        away: Option<Instant>,
    },
    Ended(EndState),
}

/// One job.
struct Record {
    job: Rc<Job>,
    states: HashMap<Id, State>,
    /// Targets without an outcome.
    open: usize,
    /// In the order in which they came, for whoever reads along.
    steps: Vec<Step>,
    batch: Option<Turns>,
    /// Whether all targets are here. Of a job of an earlier run they are those that were open.
    is_whole: bool,
    /// Whether it has been told that the batch is over.
    is_told_over: bool,
    waiting: Vec<Sender<()>>,
    finished: Option<Instant>,
}

/// What a call changed: to be written to the database, told on the bus, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub jid: String,
    pub id: Id,
    pub state: EndState,
}

/// What a return means for its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The outcome of this target.
    Outcome,
    /// The target had ended as lost: it has returned after all.
    Late,
    /// It was received before: only the acknowledgement was lost.
    Again,
    /// No open job of this minion. It may be one that a minion started by itself, or one from before a restart.
    Unknown,
}

/// What has happened in batches.
#[derive(Debug, Default)]
pub struct Turned {
    /// By jid, the targets that are to get the job now.
    pub started: Vec<(String, Vec<Id>)>,
    /// Targets whose turn came in vain, or never will.
    pub ended: Vec<Ended>,
    /// Jids of batches that are over.
    pub over: Vec<String>,
}

/// A batch in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchState {
    pub job: Rc<Job>,
    pub size: usize,
    pub total: usize,
    /// Targets that have returned.
    pub completed: usize,
    /// Targets that have the job.
    pub active: usize,
    pub waiting: usize,
    /// Targets that have ended without a return.
    pub failed: usize,
    pub stopped: Option<Stopped>,
}

#[derive(Default)]
pub struct Jobs {
    records: HashMap<String, Record>,
    /// The jobs of each minion that have no outcome for it.
    by_minion: HashMap<Id, HashSet<String>>,
    /// The records that are batches, so that nobody has to look for them among all the others.
    batches: BTreeSet<String>,
    /// Those that were forgotten last: their minions may return them once more.
    finished: Finished,
    /// When the last one began.
    last: Option<Instant>,
}

impl Jobs {
    /// Begins a job. `absent` targets have their outcome already.
    pub fn begin(&mut self, job: Rc<Job>, sent: &[(Id, Way)], absent: &[Id], now: Instant) {
        let jid = job.jid.clone();
        let mut record = Record {
            job,
            states: HashMap::with_capacity(sent.len() + absent.len()),
            open: sent.len(),
            steps: Vec::new(),
            batch: None,
            is_whole: true,
            is_told_over: false,
            waiting: Vec::new(),
            finished: sent.is_empty().then_some(now),
        };
        for (id, way) in sent {
            record.states.insert(id.clone(), State::Sent { way: *way, at: now });
            self.by_minion.entry(id.clone()).or_default().insert(jid.clone());
        }
        for id in absent {
            record.states.insert(id.clone(), State::Ended(EndState::Absent));
            record.ended(id, EndState::Absent, None);
        }
        self.records.insert(jid, record);
        self.last = Some(now);
    }

    /// Whether jobs are being started just now.
    pub fn are_started(&self, now: Instant) -> bool {
        self.last.is_some_and(|last| now.saturating_duration_since(last) < Duration::from_secs(1))
    }

    /// Begins a job that is run in a batch: nobody is sent it before [`Jobs::turn`] says so.
    pub fn begin_batch(&mut self, job: Rc<Job>, targets: &[Id], absent: &[Id], now: Instant) {
        self.begin(job.clone(), &[], absent, now);
        let (Some(batch), Some(record)) = (&job.batch, self.records.get_mut(&job.jid)) else {
            return;
        };
        record.states.extend(targets.iter().map(|id| (id.clone(), State::Waiting)));
        record.open = targets.len();
        record.finished = targets.is_empty().then_some(now);
        record.batch = Some(Turns::new(batch, targets));
        self.batches.insert(job.jid.clone());
    }

    /// Takes up a batch of an earlier run of the master. `started` had their turn before, so many seconds ago.
    pub fn restore_batch(&mut self, job: Rc<Job>, open: &[Id], started: &HashMap<Id, Duration>, now: Instant) {
        self.begin_batch(job.clone(), open, &[], now);
        if let Some(record) = self.records.get_mut(&job.jid) {
            record.is_whole = false;
        }
        for id in open {
            let Some(age) = started.get(id) else {
                continue;
            };
            let state = State::restored(*age, now);
            let Some(record) = self.records.get_mut(&job.jid) else {
                return;
            };
            record.states.insert(id.clone(), state);
            if let Some(batch) = &mut record.batch {
                batch.restored(id, now);
            }
            self.by_minion.entry(id.clone()).or_default().insert(job.jid.clone());
        }
    }

    /// Hands the jobs of batches on to those whose turn it is. Called when a target has ended, and about four times a
    /// second for those that say nothing.
    pub fn turn(&mut self, is_connected: impl Fn(&Id) -> bool, now: Instant) -> Turned {
        let mut turned = Turned::default();
        for jid in &self.batches {
            let Some(record) = self.records.get_mut(jid) else {
                continue;
            };
            let (started, ended) = record.turn(&is_connected, now);
            for id in &started {
                self.by_minion.entry(id.clone()).or_default().insert(jid.clone());
            }
            if !started.is_empty() {
                turned.started.push((jid.clone(), started));
            }
            turned.ended.extend(ended.into_iter().map(|(id, state)| Ended { jid: jid.clone(), id, state }));
            if record.open == 0 && !record.is_told_over {
                record.is_told_over = true;
                turned.over.push(jid.clone());
            }
        }
        turned
    }

    /// No more targets of a batch are started. False for a job that is no batch, and for one that is over or stopped.
    pub fn stop_batch(&mut self, jid: &str) -> bool {
        let open = self.records.get_mut(jid).filter(|record| record.open > 0);
        let batch = open.and_then(|record| record.batch.as_mut());
        let Some(batch) = batch.filter(|batch| batch.stopped().is_none()) else {
            return false;
        };
        batch.stop(Stopped::Asked);
        true
    }

    /// The batches that are here, in the order of their jids.
    pub fn batches(&self) -> Vec<BatchState> {
        let mut batches: Vec<BatchState> = self.records.values().filter_map(Record::batch_state).collect();
        batches.sort_by(|a, b| a.job.jid.cmp(&b.job.jid));
        batches
    }

    /// Takes up a job of an earlier run of the master. Whether its open targets have taken it is not known: a young job is
    /// offered again (its minion takes a jid once), an old one waits for what its minions say.
    pub fn restore(&mut self, job: Rc<Job>, open: &[Id], age: Duration, now: Instant) {
        let sent: Vec<(Id, Way)> = open.iter().map(|id| (id.clone(), Way::Directed)).collect();
        self.begin(job.clone(), &sent, &[], now);
        let state = State::restored(age, now);
        if let Some(record) = self.records.get_mut(&job.jid) {
            record.states.values_mut().for_each(|slot| *slot = state);
            record.is_whole = false;
        }
    }

    /// To whom a job was sent that is none for this minion, or is over. Nothing for one that is not known here.
    pub fn sent(&self, jid: &str, id: &Id) -> Option<Sent> {
        match self.records.get(jid) {
            Some(record) if record.states.contains_key(id) => Some(Sent::ToIt),
            Some(record) => record.is_whole.then_some(Sent::ToOthers),
            None => self.finished.sent(jid, id),
        }
    }

    pub fn knows(&self, jid: &str) -> bool {
        self.records.contains_key(jid)
    }

    /// True when every target of the job has its outcome.
    pub fn is_finished(&self, jid: &str) -> bool {
        self.records.get(jid).is_some_and(|record| record.open == 0)
    }

    /// Who may look at a job beside the master's own: the user that started it.
    pub fn user_of(&self, jid: &str) -> Option<&str> {
        self.records.get(jid).map(|record| record.job.user.as_str())
    }

    /// True while some target has no outcome.
    pub fn any_open(&self) -> bool {
        let is_open = |jid: &String| self.records.get(jid).is_some_and(|record| record.open > 0);
        !self.by_minion.is_empty() || self.batches.iter().any(is_open)
    }

    /// A minion stands: `taken` are the jobs that it has taken. With `first` it is a new session, in which what it does
    /// not name is not known to it. Gives the jobs to hand to it.
    pub fn long_poll(&mut self, id: &Id, taken: &[String], first: bool, now: Instant) -> (Vec<Rc<Job>>, Vec<Ended>) {
        let (mut offers, mut ended) = (Vec::new(), Vec::new());
        let open: Vec<String> = self.by_minion.get(id).into_iter().flatten().cloned().collect();
        for jid in open {
            let Some(record) = self.records.get_mut(&jid) else {
                continue;
            };
            let Some(state) = record.states.get_mut(id) else {
                continue;
            };
            if taken.contains(&jid) {
                *state = State::Taken { away: None };
                continue;
            }
            match *state {
                State::Sent { way: Way::Published, at } if !first && now - at < PUBLICATION_GRACE => {}
                State::Sent { at, .. } if now - at < OFFER_LIMIT => offers.push(record.job.clone()),
                State::Taken { .. } if first => {
                    ended.push(Ended { jid, id: id.clone(), state: EndState::Lost });
                }
                State::Taken { ref mut away } => *away = None,
                _ => {}
            }
        }
        offers.sort_by(|a, b| a.jid.cmp(&b.jid));
        for end in &ended {
            self.end(&end.jid, id, EndState::Lost, None, now);
        }
        (offers, ended)
    }

    /// The host of a minion has restarted: what it had taken is gone, and what was sent is not sent again.
    pub fn rebooted(&mut self, id: &Id, now: Instant) -> Vec<Ended> {
        self.lose_all(id, now)
    }

    /// The key of a minion is not accepted any more.
    pub fn key_gone(&mut self, id: &Id, now: Instant) -> Vec<Ended> {
        self.lose_all(id, now)
    }

    /// Whether a minion has a job that is not at its end.
    pub fn is_at_work(&self, id: &Id) -> bool {
        self.by_minion.get(id).is_some_and(|jids| !jids.is_empty())
    }

    /// The connection of a minion is gone, or nothing was heard of it since then.
    pub fn away(&mut self, id: &Id, since: Instant) {
        for jid in self.by_minion.get(id).into_iter().flatten() {
            let state = self.records.get_mut(jid).and_then(|record| record.states.get_mut(id));
            if let Some(State::Taken { away }) = state {
                away.get_or_insert(since);
            }
        }
    }

    /// A return has come.
    pub fn returned(&mut self, id: &Id, ret: &Return, now: Instant) -> Received {
        let Some(state) = self.records.get(&ret.jid).and_then(|record| record.states.get(id)) else {
            return Received::Unknown;
        };
        let end = if ret.killed { EndState::Killed } else { EndState::Returned };
        match state {
            State::Ended(EndState::Returned | EndState::Killed) => Received::Again,
            State::Ended(EndState::Absent | EndState::Lost | EndState::Cancelled) => {
                if let Some(record) = self.records.get_mut(&ret.jid) {
                    record.ended(id, end, Some(ret.clone()));
                }
                Received::Late
            }
            // Also a target that had its turn just before this master started, and is not known to have.
            State::Waiting | State::Sent { .. } | State::Taken { .. } => {
                self.end(&ret.jid, id, end, Some(ret.clone()), now);
                Received::Outcome
            }
        }
    }

    /// Ends what has waited too long and forgets what is finished. Called about once a second while jobs are open.
    pub fn sweep(&mut self, lost_after: Duration, now: Instant) -> Vec<Ended> {
        let mut ended = Vec::new();
        for (jid, record) in &self.records {
            if record.open == 0 {
                continue;
            }
            for (id, state) in &record.states {
                let lost = match *state {
                    State::Sent { at, .. } => now - at >= SENT_LIMIT,
                    State::Taken { away: Some(away) } => now - away >= lost_after,
                    _ => false,
                };
                if lost {
                    ended.push(Ended { jid: jid.clone(), id: id.clone(), state: EndState::Lost });
                }
            }
        }
        for end in &ended {
            self.end(&end.jid, &end.id, end.state, None, now);
        }
        let is_forgotten = |_: &String, record: &mut Record| {
            record.waiting.retain(|waiting| !waiting.is_closed());
            record.finished.is_some_and(|at| now - at >= KEEP_FINISHED && record.waiting.is_empty())
        };
        for (jid, record) in self.records.extract_if(is_forgotten) {
            // Those of a batch may have been absent when their turn came, which is not the same as from the start.
            if record.is_whole && record.batch.is_none() {
                self.finished.add(jid, record.sent_to().collect());
            }
        }
        let records = &self.records;
        self.batches.retain(|jid| records.contains_key(jid));
        ended
    }

    /// The minions that were published a job, have said nothing of it and are due to be handed it.
    pub fn silent(&self, now: Instant) -> Vec<Id> {
        let mut silent: HashSet<&Id> = HashSet::new();
        for record in self.records.values().filter(|record| record.open > 0) {
            for (id, state) in &record.states {
                if matches!(*state, State::Sent { way: Way::Published, at } if now - at >= PUBLICATION_GRACE) {
                    silent.insert(id);
                }
            }
        }
        silent.into_iter().cloned().collect()
    }

    /// The targets without an outcome of jobs that somebody waits for.
    pub fn awaited(&self) -> Vec<Id> {
        let mut awaited: HashSet<&Id> = HashSet::new();
        for record in self.records.values().filter(|record| record.open > 0) {
            if record.waiting.iter().all(Sender::is_closed) {
                continue;
            }
            let has_it = |state: &State| matches!(state, State::Sent { .. } | State::Taken { .. });
            awaited.extend(record.states.iter().filter(|(_, state)| has_it(state)).map(|(id, _)| id));
        }
        awaited.into_iter().cloned().collect()
    }

    /// What has become of a job from step number `seen` on. Nothing for a job that is not here.
    pub fn steps(&self, jid: &str, seen: usize) -> Option<Steps> {
        let record = self.records.get(jid)?;
        let steps = record.steps.get(seen..).unwrap_or_default().to_vec();
        Some(Steps { steps, open: record.open })
    }

    /// Ready when there is another step.
    pub fn changed(&mut self, jid: &str) -> Option<Receiver<()>> {
        let record = self.records.get_mut(jid)?;
        let (sender, receiver) = bounded(1);
        record.waiting.push(sender);
        Some(receiver)
    }

    /// The name of the state of each target; `away` is taken by a minion that is not connected now.
    pub fn states(&self, jid: &str, now: Instant) -> Option<Vec<(Id, &'static str)>> {
        let record = self.records.get(jid)?;
        let name = |state: &State| match *state {
            State::Waiting => "waiting",
            State::Sent { .. } => "sent",
            State::Taken { away: Some(since) } if now.saturating_duration_since(since) >= RETURN_TIME => "away",
            State::Taken { .. } => "taken",
            State::Ended(end) => end.name(),
        };
        Some(record.states.iter().map(|(id, state)| (id.clone(), name(state))).collect())
    }

    fn lose_all(&mut self, id: &Id, now: Instant) -> Vec<Ended> {
        let open: Vec<String> = self.by_minion.get(id).into_iter().flatten().cloned().collect();
        for jid in &open {
            self.end(jid, id, EndState::Lost, None, now);
        }
        open.into_iter().map(|jid| Ended { jid, id: id.clone(), state: EndState::Lost }).collect()
    }

    fn end(&mut self, jid: &str, id: &Id, state: EndState, ret: Option<Return>, now: Instant) {
        let Some(record) = self.records.get_mut(jid) else {
            return;
        };
        let is_good = state == EndState::Returned && ret.as_ref().is_some_and(|ret| ret.retcode == 0);
        if let Some(batch) = &mut record.batch {
            batch.ended(id, if is_good { Verdict::Good } else { Verdict::Failed }, now);
        }
        record.ended(id, state, ret);
        record.close_one(now);
        if let Some(open) = self.by_minion.get_mut(id) {
            open.remove(jid);
            if open.is_empty() {
                self.by_minion.remove(id);
            }
        }
    }
}

impl State {
    /// Of a target that was sent a job so long ago by an earlier run of the master.
    fn restored(age: Duration, now: Instant) -> State {
        match now.checked_sub(age) {
            Some(at) if age < OFFER_LIMIT => State::Sent { way: Way::Directed, at },
            _ => State::Taken { away: Some(now) },
        }
    }
}

impl Record {
    /// The minions that were connected when the job was published.
    fn sent_to(&self) -> impl Iterator<Item = Id> {
        let sent = self.states.iter().filter(|(_, state)| **state != State::Ended(EndState::Absent));
        sent.map(|(id, _)| id.clone())
    }

    /// The next targets of a batch: those that start, and those whose turn came in vain or never will.
    fn turn(&mut self, is_connected: &impl Fn(&Id) -> bool, now: Instant) -> (Vec<Id>, Vec<(Id, EndState)>) {
        let (mut started, mut ended) = (Vec::new(), Vec::new());
        let Some(batch) = &mut self.batch else {
            return (started, ended);
        };
        let states = &mut self.states;
        let silent_since = |id: &Id| match states.get(id) {
            Some(State::Sent { at, .. }) => Some(*at),
            Some(State::Taken { away }) => *away,
            _ => None,
        };
        let silent = batch.give_up(silent_since, now);
        while let Some(id) = batch.next(now) {
            if is_connected(&id) {
                states.insert(id.clone(), State::Sent { way: Way::Directed, at: now });
                started.push(id);
            } else {
                batch.ended(&id, Verdict::Failed, now);
                ended.push((id, EndState::Absent));
            }
        }
        ended.extend(batch.cancelled().into_iter().map(|id| (id, EndState::Cancelled)));
        self.steps.extend(silent.iter().map(|id| Step::Silent(id.to_string())));
        if !started.is_empty() {
            self.steps.push(Step::Started(started.iter().map(|id| id.to_string()).collect()));
        }
        for (id, state) in &ended {
            self.ended(id, *state, None);
            self.close_one(now);
        }
        if !silent.is_empty() || !started.is_empty() {
            self.wake();
        }
        (started, ended)
    }

    fn batch_state(&self) -> Option<BatchState> {
        let batch = self.batch.as_ref()?;
        let has_returned = |state: &State| matches!(state, State::Ended(EndState::Returned | EndState::Killed));
        let completed = self.states.values().filter(|state| has_returned(state)).count();
        Some(BatchState {
            job: self.job.clone(),
            size: batch.size,
            total: self.states.len(),
            completed,
            active: self.open - batch.waiting(),
            waiting: batch.waiting(),
            failed: self.states.len() - self.open - completed,
            stopped: batch.stopped(),
        })
    }

    fn ended(&mut self, id: &Id, state: EndState, ret: Option<Return>) {
        self.states.insert(id.clone(), State::Ended(state));
        self.steps.push(Step::Ended(Box::new(Outcome { id: id.to_string(), state, ret })));
        self.wake();
    }

    /// One target less has no outcome.
    fn close_one(&mut self, now: Instant) {
        self.open = self.open.saturating_sub(1);
        if self.open == 0 {
            self.finished = Some(now);
        }
    }

    fn wake(&mut self) {
        for waiting in self.waiting.drain(..) {
            let _ = waiting.try_send(());
        }
    }
}

#[cfg(test)]
mod tests;
