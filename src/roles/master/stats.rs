//! How many requests took how long, told by an event now and then (`master_stats`).

use super::settings::Settings;
use halite_value::{Map, Value};
use halite_wire::message::{Ask, FileAsk, PeerAsk};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A handshake, as far as it is the master's to answer: not the time in which a key waits for its admin.
pub(super) const AUTH: &str = "_auth";
/// A job that somebody publishes.
pub(super) const PUBLISH: &str = "publish";

/// What is counted since the last event.
pub(super) struct Stats {
    /// Nothing: nobody wants to know.
    every: Option<Duration>,
    began: Cell<Instant>,
    kinds: RefCell<BTreeMap<&'static str, Kind>>,
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    runs: u64,
    time: Duration,
}

impl Stats {
    pub fn of(settings: &Settings) -> Stats {
        let option = |name: &str| settings.opts.at(name);
        let wanted = option("master_stats").is_some_and(Value::truthy);
        let seconds = option("master_stats_event_iter").and_then(Value::as_float).unwrap_or(60.0).clamp(1.0, 1e9);
        Stats::new(wanted.then(|| Duration::from_secs_f64(seconds)), Instant::now())
    }

    fn new(every: Option<Duration>, now: Instant) -> Stats {
        Stats { every, began: Cell::new(now), kinds: RefCell::default() }
    }

    /// Notes a request that has come at this moment and is answered now.
    pub fn note(&self, kind: &'static str, came: Instant) {
        if self.every.is_some() {
            self.add(kind, came.elapsed());
        }
    }

    fn add(&self, kind: &'static str, time: Duration) {
        let mut kinds = self.kinds.borrow_mut();
        let kind = kinds.entry(kind).or_default();
        kind.runs += 1;
        kind.time += time;
    }

    /// What the event tells, when it is time for one. Counting begins anew.
    pub fn due(&self, worker: &str, now: Instant) -> Option<Map> {
        let time = now.saturating_duration_since(self.began.get());
        if time < self.every? {
            return None;
        }
        self.began.set(now);
        let kinds = std::mem::take(&mut *self.kinds.borrow_mut());
        let told = |(name, kind): (&str, Kind)| {
            let mean = kind.time.as_secs_f64() / kind.runs.max(1) as f64;
            (name.to_owned(), Map::from_iter([("mean", Value::from(mean)), ("runs", kind.runs.into())]))
        };
        let stats: Map = kinds.into_iter().map(told).collect();
        Some(Map::from_iter([
            ("time", Value::from(time.as_secs_f64())),
            ("worker", worker.into()),
            ("stats", stats.into()),
        ]))
    }
}

/// What such a request is called, after Salt's where it has one like it. Nothing for one that waits on purpose.
pub(super) fn kind_of(ask: &Ask) -> Option<&'static str> {
    Some(match ask {
        Ask::LongPoll(_) | Ask::Peer(PeerAsk::Wait { .. }) => return None,
        Ask::Return(_) | Ask::Piece { .. } | Ask::ReturnInPieces { .. } => "_return",
        Ask::Fire { .. } => "_minion_event",
        Ask::Grains(_) => "_grains",
        Ask::File(FileAsk::Put { .. } | FileAsk::PutWhole { .. }) => "_file_recv",
        Ask::File(_) => "_serve_file",
        Ask::Pillar(_) | Ask::PillarPart { .. } => "_pillar",
        Ask::Peer(PeerAsk::Publish { .. }) => "minion_pub",
        Ask::Peer(PeerAsk::Run { .. }) => "minion_runner",
        Ask::Revoke { .. } => "revoke_auth",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_once_with_their_number_and_mean_time() {
        let begin = Instant::now();
        let at = |seconds: u64| begin + Duration::from_secs(seconds);
        let stats = Stats::new(Some(Duration::from_secs(60)), begin);
        stats.add("_return", Duration::from_secs(1));
        stats.add("_return", Duration::from_secs(2));
        stats.add("_auth", Duration::ZERO);
        assert_eq!(stats.due("m", at(59)), None);
        assert_eq!(
            Value::from(stats.due("m", at(60)).unwrap()).to_json(),
            r#"{"time": 60.0, "worker": "m", "stats": {"_auth": {"mean": 0.0, "runs": 1}, "_return": {"mean": 1.5, "runs": 2}}}"#
        );
        let next = stats.due("m", at(121)).unwrap();
        assert_eq!(next.at("stats"), Some(&Map::new().into()), "what was told is told again");
    }

    #[test]
    fn nothing_is_counted_unasked() {
        let stats = Stats::new(None, Instant::now());
        stats.note("_return", Instant::now());
        assert!(stats.kinds.borrow().is_empty());
        assert_eq!(stats.due("m", Instant::now() + Duration::from_secs(1_000)), None);
    }
}
