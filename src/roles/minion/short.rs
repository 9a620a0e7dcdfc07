//! Short functions: pure, and over sooner than another thread, or a file, would be there.
//!
//! Their results are in memory until the master acknowledges them. A daemon that is killed meanwhile takes nothing with it
//! but an answer. One that the master does not acknowledge at once is put on the disk, as that of any other job.

use halite_core::jid::Jid;
use halite_wire::cbor;
use halite_wire::message::{Job, Return};
use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

/// How long the jid of a short function is remembered: longer than a job is offered, and than an answer is held up.
const RECENT: Duration = Duration::from_secs(300);
/// How long a result may wait for its acknowledgement before it is put on the disk. The master gives it with the next
/// job, or within about a second.
pub(super) const AT_ONCE: Duration = Duration::from_secs(2);
/// How much of results goes with a long poll.
const TOGETHER: usize = 256 * 1024;

/// The jids of short functions that ran lately. They are pure, so that a daemon that starts anew may forget them.
#[derive(Default)]
pub(super) struct Recent {
    jids: HashSet<Jid>,
    by_age: VecDeque<(Instant, Jid)>,
}

impl Recent {
    /// Notes a jid; false for one that was noted before.
    pub(super) fn is_new(&mut self, jid: &Jid, now: Instant) -> bool {
        while let Some((at, old)) = self.by_age.front()
            && now - *at > RECENT
        {
            self.jids.remove(old);
            self.by_age.pop_front();
        }
        let is_new = self.jids.insert(jid.clone());
        if is_new {
            self.by_age.push_back((now, jid.clone()));
        }
        is_new
    }
}

/// A result, and the job that it belongs to.
pub(super) struct Short {
    pub(super) jid: Jid,
    pub(super) job: Job,
    pub(super) ret: Return,
}

/// Results that go with the next long poll, or went with one and are not acknowledged yet. Oldest first.
#[derive(Default)]
pub(super) struct Unacknowledged {
    results: VecDeque<(Instant, Went, Short)>,
}

/// Whether a result is on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Went {
    Not,
    /// With a long poll of the connection that is there now.
    WithRequest,
}

impl Unacknowledged {
    pub(super) fn push(&mut self, short: Short, now: Instant) {
        self.results.push_back((now, Went::Not, short));
    }

    /// The results for a long poll that is being made, and those that it has no room for.
    pub(super) fn leave(&mut self) -> (Vec<Return>, Vec<Short>) {
        let (mut together, mut alone, mut bytes) = (Vec::new(), Vec::new(), 0);
        let mut stay = VecDeque::with_capacity(self.results.len());
        for (since, went, short) in self.results.drain(..) {
            if went == Went::Not {
                bytes = cbor::size(&short.ret).saturating_add(bytes);
                if bytes > TOGETHER {
                    alone.push(short);
                    continue;
                }
                together.push(short.ret.clone());
            }
            stay.push_back((since, Went::WithRequest, short));
        }
        self.results = stay;
        (together, alone)
    }

    /// The request did not come through, as far as is known: they go once more, which is safe.
    pub(super) fn came_back(&mut self) {
        self.results.iter_mut().for_each(|(_, went, _)| *went = Went::Not);
    }

    /// The master has these on its disk.
    pub(super) fn acknowledged(&mut self, jids: &[String]) {
        self.results.retain(|(_, _, short)| !jids.iter().any(|jid| jid == short.jid.as_str()));
    }

    /// When the oldest has waited long enough.
    pub(super) fn due(&self) -> Option<Instant> {
        self.results.front().map(|(since, ..)| *since + AT_ONCE)
    }

    /// Those that have waited long enough.
    pub(super) fn overdue(&mut self, now: Instant) -> Vec<Short> {
        let count = self.results.iter().take_while(|(since, ..)| *since + AT_ONCE <= now).count();
        self.results.drain(..count).map(|(.., short)| short).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_function_runs_once_for_as_long_as_it_may_be_offered() {
        let (mut recent, now) = (Recent::default(), Instant::now());
        let jid = Jid::parse("20260101000000000000").unwrap();
        assert!(recent.is_new(&jid, now));
        assert!(!recent.is_new(&jid, now + RECENT));
        assert!(recent.is_new(&jid, now + RECENT + Duration::from_millis(1)), "the memory is bounded");
        assert_eq!((recent.jids.len(), recent.by_age.len()), (1, 1));
    }

    fn short(number: u32, bytes: usize) -> Short {
        let jid = Jid::parse(&format!("20260101000000{number:06}")).unwrap();
        let ret = Return { jid: jid.to_string(), value: "x".repeat(bytes).into(), ..Return::default() };
        Short { jid, job: Job::default(), ret }
    }

    #[test]
    fn a_result_goes_once_and_again_only_when_its_request_failed() {
        let (mut results, now) = (Unacknowledged::default(), Instant::now());
        results.push(short(1, 1), now);
        assert_eq!(results.leave().0.len(), 1);
        results.push(short(2, 1), now);
        assert_eq!(results.leave().0[0].jid, "20260101000000000002");
        results.came_back();
        assert_eq!(results.leave().0.len(), 2);
        results.acknowledged(&["20260101000000000001".to_owned()]);
        results.came_back();
        assert_eq!(results.leave().0.len(), 1);
    }

    #[test]
    fn what_does_not_fit_goes_alone() {
        let mut results = Unacknowledged::default();
        for number in 0..3 {
            results.push(short(number, 100 * 1024), Instant::now());
        }
        let (together, alone) = results.leave();
        assert_eq!((together.len(), alone.len()), (2, 1));
        assert_eq!(results.leave().0.len(), 0);
    }

    #[test]
    fn a_result_that_is_not_acknowledged_is_due() {
        let (mut results, now) = (Unacknowledged::default(), Instant::now());
        assert_eq!(results.due(), None);
        results.push(short(1, 1), now);
        results.push(short(2, 1), now + AT_ONCE);
        assert_eq!(results.due(), Some(now + AT_ONCE));
        assert_eq!(results.overdue(now + AT_ONCE).len(), 1);
        assert_eq!(results.overdue(now + AT_ONCE).len(), 0);
    }
}
