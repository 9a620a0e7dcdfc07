//! The order in which a batch hands its job to its targets. No clock, no socket: time is handed in.
//!
//! So many targets have the job at a time. A place is free again when its target has ended, or has said nothing for as
//! long as a client would wait for it, and the batch's pause is over. With [`AtFailure::Stop`] the first target that
//! fails, is lost or stays silent ends the batch: what has not been started never is.

use super::jobs::Id;
use halite_wire::message::{AtFailure, Batch};
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// A batch under way.
pub struct Turns {
    /// How many targets have the job at a time.
    pub size: usize,
    wait: Duration,
    at_failure: AtFailure,
    timeout: Duration,
    /// Those whose turn has not come.
    waiting: VecDeque<Id>,
    /// Those that take a place, and since when.
    places: HashMap<Id, Instant>,
    /// Places that are free only after these moments.
    pauses: Vec<Instant>,
    stopped: Option<Stopped>,
}

/// Why a batch does not start its other targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    Failure,
    /// Somebody wanted it (`salt-run batch.stop`).
    Asked,
}

impl Stopped {
    /// As Salt's events and its runner name it.
    pub fn name(self) -> &'static str {
        match self {
            Stopped::Failure => "failhard",
            Stopped::Asked => "stop",
        }
    }
}

/// How a target has ended for its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Good,
    Failed,
}

impl Turns {
    pub fn new(batch: &Batch, targets: &[Id]) -> Turns {
        Turns {
            size: batch.size.of(targets.len()),
            wait: Duration::from_secs(batch.wait_s),
            at_failure: batch.at_failure,
            timeout: Duration::from_secs(batch.timeout_s),
            waiting: targets.iter().cloned().collect(),
            places: HashMap::new(),
            pauses: Vec::new(),
            stopped: None,
        }
    }

    /// A target had its turn before this master started: it takes a place.
    pub fn restored(&mut self, id: &Id, since: Instant) {
        self.waiting.retain(|waiting| waiting != id);
        self.places.insert(id.clone(), since);
    }

    /// A target has its outcome.
    pub fn ended(&mut self, id: &Id, verdict: Verdict, now: Instant) {
        self.waiting.retain(|waiting| waiting != id);
        if self.places.remove(id).is_some() {
            self.pause(now);
        }
        if verdict == Verdict::Failed {
            self.stop_at_failure();
        }
    }

    /// Those that take a place and, as `silent_since` says of each, have said nothing for too long, lose it.
    pub fn give_up(&mut self, silent_since: impl Fn(&Id) -> Option<Instant>, now: Instant) -> Vec<Id> {
        let is_late = |id: &Id, start: Instant| {
            silent_since(id).is_some_and(|since| now.saturating_duration_since(since.max(start)) >= self.timeout)
        };
        let mut late: Vec<Id> =
            self.places.iter().filter(|(id, start)| is_late(id, **start)).map(|(id, _)| id.clone()).collect();
        late.sort();
        for id in &late {
            self.places.remove(id);
            self.pause(now);
            self.stop_at_failure();
        }
        late
    }

    /// The next target, if a place is free for it; it takes the place.
    pub fn next(&mut self, now: Instant) -> Option<Id> {
        self.pauses.retain(|end| *end > now);
        if self.stopped.is_some() || self.places.len() + self.pauses.len() >= self.size {
            return None;
        }
        let id = self.waiting.pop_front()?;
        self.places.insert(id.clone(), now);
        Some(id)
    }

    pub fn stop(&mut self, why: Stopped) {
        self.stopped.get_or_insert(why);
    }

    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    /// Those whose turn never comes, once the batch was stopped.
    pub fn cancelled(&mut self) -> Vec<Id> {
        if self.stopped.is_some() { self.waiting.drain(..).collect() } else { Vec::new() }
    }

    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn pause(&mut self, now: Instant) {
        if !self.wait.is_zero() {
            self.pauses.push(now + self.wait);
        }
    }

    fn stop_at_failure(&mut self) {
        if self.at_failure == AtFailure::Stop {
            self.stop(Stopped::Failure);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_wire::message::BatchSize;

    fn turns(size: u64, wait_s: u64, at_failure: AtFailure) -> (Turns, Instant) {
        let batch = Batch { size: BatchSize::Count(size), wait_s, at_failure, timeout_s: 5 };
        let targets: Vec<Id> = ["a", "b", "c", "d"].map(Id::from).to_vec();
        (Turns::new(&batch, &targets), Instant::now())
    }

    fn start_all(turns: &mut Turns, now: Instant) -> String {
        std::iter::from_fn(|| turns.next(now)).map(|id| id.to_string()).collect()
    }

    #[test]
    fn a_place_is_free_when_its_target_has_ended() {
        let (mut turns, now) = turns(2, 0, AtFailure::GoOn);
        assert_eq!(start_all(&mut turns, now), "ab");
        turns.ended(&"b".into(), Verdict::Failed, now);
        assert_eq!(start_all(&mut turns, now), "c");
        turns.ended(&"a".into(), Verdict::Good, now);
        turns.ended(&"c".into(), Verdict::Good, now);
        assert_eq!((start_all(&mut turns, now).as_str(), turns.waiting()), ("d", 0));
    }

    #[test]
    fn a_pause_keeps_a_place_taken() {
        let (mut turns, now) = turns(1, 3, AtFailure::GoOn);
        assert_eq!(start_all(&mut turns, now), "a");
        turns.ended(&"a".into(), Verdict::Good, now);
        assert_eq!(start_all(&mut turns, now + Duration::from_millis(2999)), "");
        assert_eq!(start_all(&mut turns, now + Duration::from_secs(3)), "b");
    }

    #[test]
    fn a_failure_stops_what_has_not_been_started() {
        let (mut turns, now) = turns(2, 0, AtFailure::Stop);
        start_all(&mut turns, now);
        turns.ended(&"a".into(), Verdict::Good, now);
        assert_eq!(start_all(&mut turns, now), "c");
        assert!(turns.cancelled().is_empty());
        turns.ended(&"b".into(), Verdict::Failed, now);
        assert_eq!((start_all(&mut turns, now).as_str(), turns.stopped()), ("", Some(Stopped::Failure)));
        assert_eq!(turns.cancelled(), [Id::from("d")], "and c goes on");
        turns.stop(Stopped::Asked);
        assert_eq!(turns.stopped(), Some(Stopped::Failure), "it had stopped before");
    }

    #[test]
    fn who_is_silent_loses_the_place_and_stops_a_batch_that_stops_at_failures() {
        let silent = |at: Instant| move |id: &Id| (id.as_ref() == "a").then_some(at);
        let (mut lenient, now) = turns(1, 0, AtFailure::GoOn);
        start_all(&mut lenient, now);
        assert!(lenient.give_up(silent(now), now + Duration::from_secs(4)).is_empty());
        let late = now + Duration::from_secs(5);
        assert_eq!(lenient.give_up(silent(now), late), [Id::from("a")]);
        assert_eq!(start_all(&mut lenient, late), "b");
        lenient.ended(&"a".into(), Verdict::Good, late);
        assert_eq!(start_all(&mut lenient, late), "", "its late end frees no second place");
        let (mut strict, now) = turns(1, 0, AtFailure::Stop);
        start_all(&mut strict, now);
        assert_eq!(strict.give_up(silent(now), now + Duration::from_secs(5)).len(), 1);
        assert_eq!((start_all(&mut strict, late).as_str(), strict.cancelled().len()), ("", 3));
    }
}
