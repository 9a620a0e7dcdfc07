//! Connections without a session: few, and not for long. Whoever can reach 4506 can make them.

use crate::wire::handshake::AwaitingM3;
use crate::wire::link::{Peer, PipeId};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// A connection without a session is closed after this long. It covers the wait for an admin's decision (30 s).
pub const PATIENCE: Duration = Duration::from_secs(40);
/// A handshake that was begun must go on within this time.
pub const HALF_OPEN: Duration = Duration::from_secs(10);
const LEAST: usize = 4096;

struct Stranger {
    address: Option<IpAddr>,
    since: Instant,
    turn: u64,
    half_open: Option<(AwaitingM3, Instant)>,
}

/// The connections that have shown no session yet, oldest first.
#[derive(Default)]
pub struct Strangers {
    by_pipe: HashMap<PipeId, Stranger>,
    by_age: BTreeMap<u64, PipeId>,
    per_address: HashMap<IpAddr, usize>,
    turn: u64,
    /// Handshakes of connections that have a session already: they renew it.
    renewing: HashMap<PipeId, (AwaitingM3, Instant)>,
}

impl Strangers {
    /// Takes a new connection in. Gives the one that has to go for it: the oldest of its address when that has its quarter,
    /// else the oldest of all when there are too many.
    pub fn enter(&mut self, peer: Peer, accepted: usize, now: Instant) -> Option<PipeId> {
        let limit = LEAST.max(accepted + accepted / 4);
        let address = peer.address.filter(|address| !address.is_loopback());
        let crowded = address.is_some_and(|address| self.per_address.get(&address).copied().unwrap_or(0) >= limit / 4);
        let goes = if crowded {
            self.by_age
                .values()
                .find(|pipe| self.by_pipe.get(pipe).is_some_and(|stranger| stranger.address == address))
                .copied()
        } else if self.by_pipe.len() >= limit {
            self.by_age.values().next().copied()
        } else {
            None
        };
        if let Some(pipe) = goes {
            self.leave(pipe);
        }
        self.turn += 1;
        self.by_age.insert(self.turn, peer.pipe);
        if let Some(address) = address {
            *self.per_address.entry(address).or_default() += 1;
        }
        self.by_pipe.insert(peer.pipe, Stranger { address, since: now, turn: self.turn, half_open: None });
        goes
    }

    /// The connection is gone, or is no stranger any more.
    pub fn leave(&mut self, pipe: PipeId) {
        let Some(stranger) = self.by_pipe.remove(&pipe) else {
            return;
        };
        self.by_age.remove(&stranger.turn);
        if let Some(address) = stranger.address
            && let Some(count) = self.per_address.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                self.per_address.remove(&address);
            }
        }
    }

    /// Keeps the half-open handshake of a connection, in place of an earlier one.
    pub fn begin(&mut self, pipe: PipeId, handshake: AwaitingM3, now: Instant) {
        match self.by_pipe.get_mut(&pipe) {
            Some(stranger) => stranger.half_open = Some((handshake, now)),
            None => drop(self.renewing.insert(pipe, (handshake, now))),
        }
    }

    /// Takes the half-open handshake of a connection: it is used once.
    pub fn take(&mut self, pipe: PipeId, now: Instant) -> Option<AwaitingM3> {
        let of_stranger = self.by_pipe.get_mut(&pipe).and_then(|stranger| stranger.half_open.take());
        let (handshake, since) = of_stranger.or_else(|| self.renewing.remove(&pipe))?;
        (now - since <= HALF_OPEN).then_some(handshake)
    }

    /// A stranger that knocks again may stay on: it waits for an admin.
    pub fn touch(&mut self, pipe: PipeId, now: Instant) {
        if let Some(stranger) = self.by_pipe.get_mut(&pipe) {
            stranger.since = now;
        }
    }

    /// The connection is gone.
    pub fn closed(&mut self, pipe: PipeId) {
        self.leave(pipe);
        self.renewing.remove(&pipe);
    }

    /// Those whose time is over.
    pub fn sweep(&mut self, now: Instant) -> Vec<PipeId> {
        self.renewing.retain(|_, (_, since)| now - *since <= HALF_OPEN);
        let over: Vec<PipeId> = self
            .by_pipe
            .iter()
            .filter(|(_, stranger)| now - stranger.since > PATIENCE)
            .map(|(pipe, _)| *pipe)
            .collect();
        for pipe in &over {
            self.leave(*pipe);
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(pipe: u64, address: &str) -> Peer {
        Peer { pipe: PipeId(pipe), address: address.parse().ok(), uid: None }
    }

    #[test]
    fn one_address_has_a_quarter_and_the_oldest_goes() {
        let (mut strangers, now) = (Strangers::default(), Instant::now());
        strangers.enter(peer(0, "192.0.2.1"), 0, now);
        for pipe in 1..=1024 {
            assert_eq!(strangers.enter(peer(pipe, "198.51.100.7"), 0, now), None, "{pipe}");
        }
        assert_eq!(strangers.enter(peer(2000, "198.51.100.7"), 0, now), Some(PipeId(1)));
        assert_eq!(strangers.enter(peer(2001, "192.0.2.1"), 0, now), None);
        for pipe in 3000..3000 + LEAST as u64 - 1026 {
            assert_eq!(strangers.enter(peer(pipe, "127.0.0.1"), 0, now), None, "loopback is not counted");
        }
        assert_eq!(strangers.enter(peer(9000, "127.0.0.1"), 0, now), Some(PipeId(0)));
        assert_eq!(strangers.by_pipe.len(), LEAST);
    }

    #[test]
    fn a_connection_with_a_session_may_shake_hands_again() {
        crate::wire::seal::start().unwrap();
        let (mut strangers, now) = (Strangers::default(), Instant::now());
        let (_, m1) = crate::wire::handshake::greet();
        let half_open = || crate::wire::handshake::answer(&m1, &crate::keys::Identity::generate(), None).unwrap().0;
        strangers.enter(peer(1, "192.0.2.1"), 0, now);
        strangers.leave(PipeId(1));
        strangers.begin(PipeId(1), half_open(), now);
        assert!(strangers.take(PipeId(1), now).is_some());
        assert!(strangers.take(PipeId(1), now).is_none(), "it is used once");
        strangers.begin(PipeId(1), half_open(), now);
        strangers.closed(PipeId(1));
        assert!(strangers.take(PipeId(1), now).is_none());
    }

    #[test]
    fn nobody_stays_a_stranger_for_long() {
        let (mut strangers, now) = (Strangers::default(), Instant::now());
        strangers.enter(peer(1, "192.0.2.1"), 0, now);
        assert!(strangers.sweep(now + PATIENCE).is_empty());
        assert_eq!(strangers.sweep(now + PATIENCE + Duration::from_secs(1)), [PipeId(1)]);
        assert!(strangers.per_address.is_empty() && strangers.by_age.is_empty());
    }
}
