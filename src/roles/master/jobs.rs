//! The open jobs and what has become of each for each of its targets. No clock, no socket: time is handed in.
//!
//! ```text
//! absent                                              not connected at publication: final
//! sent  -> taken -> returned | killed                 as the minion says
//! sent  -> lost                                       after SENT_LIMIT: it will not start any more
//! taken -> lost                                       key deleted, came back without knowing the job, away too long
//! lost  -> returned                                   a late return, marked
//! ```
//!
//! Every target ends in a state, so that whoever waits for a job is always told.

use crate::wire::message::{EndState, Job, Outcome, Outcomes, Return};
use smol::channel::{Receiver, Sender, bounded};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A job that is not taken after this long will not start any more.
pub const SENT_LIMIT: Duration = Duration::from_secs(120);
/// A job is offered again to a minion that has not taken it, for this long.
pub const OFFER_LIMIT: Duration = Duration::from_secs(90);
/// Whoever has said nothing of a publication after this long gets the job by its standing request.
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
    /// Sealed in the answer to a standing request.
    Directed,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
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
    outcomes: Vec<Outcome>,
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

#[derive(Default)]
pub struct Jobs {
    records: HashMap<String, Record>,
    /// The jobs of each minion that have no outcome for it.
    by_minion: HashMap<Id, HashSet<String>>,
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
            outcomes: Vec::new(),
            waiting: Vec::new(),
            finished: sent.is_empty().then_some(now),
        };
        for (id, way) in sent {
            record.states.insert(id.clone(), State::Sent { way: *way, at: now });
            self.by_minion.entry(id.clone()).or_default().insert(jid.clone());
        }
        for id in absent {
            record.states.insert(id.clone(), State::Ended(EndState::Absent));
            record.outcomes.push(Outcome { id: id.to_string(), state: EndState::Absent, ret: None });
        }
        self.records.insert(jid, record);
        self.last = Some(now);
    }

    /// Whether jobs are being started just now.
    pub fn are_started(&self, now: Instant) -> bool {
        self.last.is_some_and(|last| now.saturating_duration_since(last) < Duration::from_secs(1))
    }

    /// Takes up a job of an earlier run of the master. Whether its open targets have taken it is not known: a young job is
    /// offered again (its minion takes a jid once), an old one waits for what its minions say.
    pub fn restore(&mut self, job: Rc<Job>, open: &[Id], age: Duration, now: Instant) {
        let sent: Vec<(Id, Way)> = open.iter().map(|id| (id.clone(), Way::Directed)).collect();
        self.begin(job.clone(), &sent, &[], now);
        let state = match now.checked_sub(age) {
            Some(at) if age < OFFER_LIMIT => State::Sent { way: Way::Directed, at },
            _ => State::Taken { away: Some(now) },
        };
        if let Some(record) = self.records.get_mut(&job.jid) {
            record.states.values_mut().for_each(|slot| *slot = state);
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
        !self.by_minion.is_empty()
    }

    /// A minion stands: `taken` are the jobs that it has taken. With `first` it is a new session, in which what it does
    /// not name is not known to it. Gives the jobs to hand to it.
    pub fn stand(&mut self, id: &Id, taken: &[String], first: bool, now: Instant) -> (Vec<Rc<Job>>, Vec<Ended>) {
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
            State::Ended(EndState::Absent | EndState::Lost) => {
                let outcome = Outcome { id: id.to_string(), state: end, ret: Some(ret.clone()) };
                if let Some(record) = self.records.get_mut(&ret.jid) {
                    record.states.insert(id.clone(), State::Ended(end));
                    record.outcomes.push(outcome);
                    record.wake();
                }
                Received::Late
            }
            State::Sent { .. } | State::Taken { .. } => {
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
        self.records.retain(|_, record| {
            record.waiting.retain(|waiting| !waiting.is_closed());
            record.finished.is_none_or(|at| now - at < KEEP_FINISHED || !record.waiting.is_empty())
        });
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
            awaited
                .extend(record.states.iter().filter(|(_, state)| !matches!(state, State::Ended(_))).map(|(id, _)| id));
        }
        awaited.into_iter().cloned().collect()
    }

    /// What has become of a job from outcome number `seen` on. Nothing for a job that is not here.
    pub fn outcomes(&self, jid: &str, seen: usize) -> Option<Outcomes> {
        let record = self.records.get(jid)?;
        let outcomes = record.outcomes.get(seen..).unwrap_or_default().to_vec();
        Some(Outcomes { outcomes, open: record.open })
    }

    /// Ready when the job has another outcome.
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
        record.states.insert(id.clone(), State::Ended(state));
        record.outcomes.push(Outcome { id: id.to_string(), state, ret });
        record.open = record.open.saturating_sub(1);
        if record.open == 0 {
            record.finished = Some(now);
        }
        record.wake();
        if let Some(open) = self.by_minion.get_mut(id) {
            open.remove(jid);
            if open.is_empty() {
                self.by_minion.remove(id);
            }
        }
    }
}

impl Record {
    fn wake(&mut self) {
        for waiting in self.waiting.drain(..) {
            let _ = waiting.try_send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST_AFTER: Duration = Duration::from_secs(600);

    struct World {
        jobs: Jobs,
        id: Id,
        start: Instant,
    }

    impl World {
        fn with_job(way: Way) -> World {
            let mut jobs = Jobs::default();
            let (id, start) = (Id::from("web1"), Instant::now());
            let job = Rc::new(Job { jid: "1".to_owned(), ..Job::default() });
            jobs.begin(job, &[(id.clone(), way)], &[Id::from("gone")], start);
            World { jobs, id, start }
        }

        fn stand(&mut self, taken: &[&str], first: bool, after_s: f32) -> (usize, usize) {
            let taken: Vec<String> = taken.iter().map(|jid| jid.to_string()).collect();
            let now = self.start + Duration::from_secs_f32(after_s);
            let (offers, ended) = self.jobs.stand(&self.id, &taken, first, now);
            (offers.len(), ended.len())
        }

        fn ret(&mut self) -> Received {
            let ret = Return { jid: "1".to_owned(), success: true, ..Return::default() };
            self.jobs.returned(&self.id, &ret, self.start)
        }

        fn state(&self) -> &'static str {
            self.jobs.states("1", self.start).unwrap().iter().find(|(id, _)| *id == self.id).unwrap().1
        }

        fn sweep(&mut self, after_s: u64) -> usize {
            self.jobs.sweep(LOST_AFTER, self.start + Duration::from_secs(after_s)).len()
        }
    }

    #[test]
    fn a_target_that_is_not_connected_has_its_outcome_at_once() {
        let world = World::with_job(Way::Directed);
        let told = world.jobs.outcomes("1", 0).unwrap();
        assert_eq!((told.outcomes.len(), told.outcomes[0].state, told.open), (1, EndState::Absent, 1));
    }

    #[test]
    fn a_job_is_offered_until_it_is_taken_and_ends_with_its_return() {
        let mut world = World::with_job(Way::Directed);
        assert_eq!(world.stand(&[], false, 0.0), (1, 0));
        assert_eq!(world.stand(&[], false, 89.0), (1, 0), "the answer may have been lost");
        assert_eq!(world.stand(&[], false, 91.0), (0, 0), "it is stale now");
        assert_eq!(world.stand(&["1"], false, 92.0), (0, 0));
        assert_eq!(world.state(), "taken");
        assert_eq!(world.sweep(10_000), 0, "a job that runs may run for ever");
        assert_eq!((world.ret(), world.state()), (Received::Outcome, "returned"));
        assert_eq!(world.ret(), Received::Again);
        assert!(!world.jobs.any_open());
    }

    #[test]
    fn a_publication_gets_its_time_before_the_job_is_handed_over() {
        let mut world = World::with_job(Way::Published);
        assert_eq!(world.stand(&[], false, 0.5), (0, 0));
        assert!(world.jobs.silent(world.start).is_empty());
        assert_eq!(world.jobs.silent(world.start + PUBLICATION_GRACE), [world.id.clone()]);
        assert_eq!(world.stand(&[], false, 1.0), (1, 0));
    }

    #[test]
    fn what_is_never_taken_is_lost_and_may_return_late() {
        let mut world = World::with_job(Way::Directed);
        assert_eq!(world.sweep(119), 0);
        assert_eq!((world.sweep(120), world.state()), (1, "lost"));
        assert_eq!((world.ret(), world.state()), (Received::Late, "returned"));
        assert_eq!(
            world.jobs.outcomes("1", 2).unwrap().outcomes.len(),
            1,
            "who reads along is told of the late return"
        );
    }

    #[test]
    fn a_minion_that_comes_back_without_the_job_has_lost_it() {
        let mut world = World::with_job(Way::Directed);
        world.stand(&["1"], false, 0.0);
        assert_eq!((world.stand(&[], false, 1.0), world.state()), ((0, 0), "taken"), "the return is on its way");
        assert_eq!((world.stand(&[], true, 2.0), world.state()), ((0, 1), "lost"));
    }

    #[test]
    fn a_minion_that_stays_away_loses_its_job_in_the_end() {
        let mut world = World::with_job(Way::Directed);
        world.stand(&["1"], false, 0.0);
        world.jobs.away(&world.id.clone(), world.start);
        assert_eq!(world.sweep(599), 0);
        world.stand(&["1"], true, 599.5);
        assert_eq!(world.sweep(601), 0, "it was back in time");
        assert_eq!(world.state(), "taken");
        world.jobs.away(&world.id.clone(), world.start - RETURN_TIME);
        assert_eq!(world.state(), "away");
        world.stand(&["1"], false, 0.0);
        world.jobs.away(&world.id.clone(), world.start);
        assert_eq!((world.sweep(600), world.state()), (1, "lost"));
    }

    #[test]
    fn a_deleted_key_and_a_reboot_end_everything() {
        let mut world = World::with_job(Way::Directed);
        let id = world.id.clone();
        assert_eq!(world.jobs.key_gone(&id, world.start).len(), 1);
        assert_eq!(world.state(), "lost");
        let mut world = World::with_job(Way::Directed);
        world.stand(&["1"], false, 0.0);
        assert_eq!(world.jobs.rebooted(&id, world.start).len(), 1);
    }

    #[test]
    fn targets_are_awaited_as_long_as_somebody_waits() {
        let mut world = World::with_job(Way::Directed);
        assert!(world.jobs.awaited().is_empty());
        let waiting = world.jobs.changed("1").unwrap();
        assert_eq!(world.jobs.awaited(), [world.id.clone()], "not the absent one");
        drop(waiting);
        assert!(world.jobs.awaited().is_empty());
    }

    #[test]
    fn who_waits_is_woken_and_finished_jobs_are_forgotten() {
        let mut world = World::with_job(Way::Directed);
        let waiting = world.jobs.changed("1").unwrap();
        world.ret();
        assert!(waiting.try_recv().is_ok());
        drop(waiting);
        world.sweep(14);
        assert!(world.jobs.knows("1"));
        world.sweep(16);
        assert!(!world.jobs.knows("1"));
    }

    #[test]
    fn a_return_of_another_minion_is_not_taken_for_the_targets() {
        let mut world = World::with_job(Way::Directed);
        let ret = Return { jid: "1".to_owned(), ..Return::default() };
        assert_eq!(world.jobs.returned(&Id::from("evil"), &ret, world.start), Received::Unknown);
    }
}
