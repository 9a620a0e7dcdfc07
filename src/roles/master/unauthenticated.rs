//! Connections without a session: few, and not for long. Whoever can reach 4506 can make them.

use halite_wire::handshake::AwaitingM3;
use halite_wire::link::{Peer, PipeId};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// A connection without a session is closed after this long. It covers the wait for an admin's decision (30 s).
pub const TIMEOUT: Duration = Duration::from_secs(40);
/// A handshake that was begun must go on within this time.
pub const HALF_OPEN: Duration = Duration::from_secs(10);
const LEAST: usize = 4096;
struct Connection {
    address: Option<IpAddr>,
    since: Instant,
    turn: u64,
}

/// A handshake that has begun on a connection.
enum HalfOpen {
    /// Its first message is being answered.
    Greeted,
    Awaiting(Box<AwaitingM3>, Instant),
}

/// The connections that have shown no session yet, oldest first.
#[derive(Default)]
pub struct Unauthenticated {
    by_pipe: HashMap<PipeId, Connection>,
    by_age: BTreeMap<u64, PipeId>,
    per_address: HashMap<IpAddr, usize>,
    turn: u64,
    /// At most one a connection, and not of unauthenticated alone: a minion renews its session on the connection that it has.
    half_open: HashMap<PipeId, HalfOpen>,
    /// The second that is counted, and the handshakes that were begun in it.
    begun: Option<(Instant, usize)>,
}

impl Unauthenticated {
    /// Takes a new connection in. Gives the one that has to go for it: the oldest of its address when that has its quarter,
    /// else the oldest of all when there are too many.
    pub fn enter(&mut self, peer: Peer, accepted: usize, now: Instant) -> Option<PipeId> {
        let limit = LEAST.max(accepted + accepted / 4);
        let address = peer.address.filter(|address| !address.is_loopback());
        let saturated =
            address.is_some_and(|address| self.per_address.get(&address).copied().unwrap_or(0) >= limit / 4);
        let goes = if saturated {
            self.by_age
                .values()
                .find(|pipe| self.by_pipe.get(pipe).is_some_and(|connection| connection.address == address))
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
        self.by_pipe.insert(peer.pipe, Connection { address, since: now, turn: self.turn });
        goes
    }

    /// The connection is gone, or is no connection any more.
    pub fn leave(&mut self, pipe: PipeId) {
        let Some(connection) = self.by_pipe.remove(&pipe) else {
            return;
        };
        self.by_age.remove(&connection.turn);
        if let Some(address) = connection.address
            && let Some(count) = self.per_address.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                self.per_address.remove(&address);
            }
        }
    }

    /// The connection is gone, and with it what was begun on it.
    pub fn closed(&mut self, pipe: PipeId) {
        self.leave(pipe);
        self.half_open.remove(&pipe);
    }

    /// Whether another handshake may be begun, when there are to be at most so many in a second.
    pub fn has_time(&mut self, most: usize, now: Instant) -> bool {
        let (since, begun) = self.begun.unwrap_or((now, 0));
        let (since, begun) = if now - since >= Duration::from_secs(1) { (now, 0) } else { (since, begun) };
        self.begun = Some((since, begun + 1));
        begun < most
    }

    /// Whether a handshake may be begun on this connection: one at a time. Who sends a second first message before the
    /// answer to the first has come is no minion.
    pub fn greet(&mut self, pipe: PipeId) -> bool {
        !matches!(self.half_open.insert(pipe, HalfOpen::Greeted), Some(HalfOpen::Greeted))
    }

    /// The first message was answered: with a handshake, or with none to go on with.
    pub fn greeted(&mut self, pipe: PipeId, handshake: Option<AwaitingM3>, now: Instant) {
        // A connection that has closed meanwhile is not here any more.
        let Some(half_open) = self.half_open.get_mut(&pipe) else {
            return;
        };
        match handshake {
            Some(handshake) => *half_open = HalfOpen::Awaiting(Box::new(handshake), now),
            None => drop(self.half_open.remove(&pipe)),
        }
    }

    /// Takes the half-open handshake of a connection: it is used once.
    pub fn take(&mut self, pipe: PipeId, now: Instant) -> Option<AwaitingM3> {
        match self.half_open.remove(&pipe)? {
            HalfOpen::Awaiting(handshake, since) => (now - since <= HALF_OPEN).then_some(*handshake),
            greeted => {
                self.half_open.insert(pipe, greeted);
                None
            }
        }
    }

    /// A connection that knocks again may stay on: it waits for an admin.
    pub fn touch(&mut self, pipe: PipeId, now: Instant) {
        if let Some(connection) = self.by_pipe.get_mut(&pipe) {
            connection.since = now;
        }
    }

    /// Those whose time is over.
    pub fn sweep(&mut self, now: Instant) -> Vec<PipeId> {
        let over: Vec<PipeId> = self
            .by_pipe
            .iter()
            .filter(|(_, connection)| now - connection.since > TIMEOUT)
            .map(|(pipe, _)| *pipe)
            .collect();
        for pipe in &over {
            self.leave(*pipe);
        }
        self.half_open.retain(|_, half_open| match half_open {
            HalfOpen::Greeted => true,
            HalfOpen::Awaiting(_, since) => now - *since <= HALF_OPEN,
        });
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_keys::Identity;
    use halite_wire::handshake;

    fn peer(pipe: u64, address: &str) -> Peer {
        Peer { pipe: PipeId(pipe), address: address.parse().ok(), uid: None }
    }

    #[test]
    fn one_address_has_a_quarter_and_the_oldest_goes() {
        let (mut unauthenticated, now) = (Unauthenticated::default(), Instant::now());
        unauthenticated.enter(peer(0, "192.0.2.1"), 0, now);
        for pipe in 1..=1024 {
            assert_eq!(unauthenticated.enter(peer(pipe, "198.51.100.7"), 0, now), None, "{pipe}");
        }
        assert_eq!(unauthenticated.enter(peer(2000, "198.51.100.7"), 0, now), Some(PipeId(1)));
        assert_eq!(unauthenticated.enter(peer(2001, "192.0.2.1"), 0, now), None);
        for pipe in 3000..3000 + LEAST as u64 - 1026 {
            assert_eq!(unauthenticated.enter(peer(pipe, "127.0.0.1"), 0, now), None, "loopback is not counted");
        }
        assert_eq!(unauthenticated.enter(peer(9000, "127.0.0.1"), 0, now), Some(PipeId(0)));
        assert_eq!(unauthenticated.by_pipe.len(), LEAST);
    }

    #[test]
    fn a_handshake_is_begun_once_at_a_time_by_anybody() {
        let (mut unauthenticated, now) = (Unauthenticated::default(), Instant::now());
        assert!(unauthenticated.greet(PipeId(1)));
        assert!(!unauthenticated.greet(PipeId(1)));
        unauthenticated.greeted(PipeId(1), None, now);
        assert!(unauthenticated.greet(PipeId(1)));
        unauthenticated.closed(PipeId(1));
        unauthenticated.greeted(PipeId(1), None, now);
        assert!(unauthenticated.half_open.is_empty());
    }

    #[test]
    fn a_minion_that_is_no_stranger_may_renew_its_session() {
        let (mut unauthenticated, now) = (Unauthenticated::default(), Instant::now());
        unauthenticated.enter(peer(1, "192.0.2.1"), 0, now);
        unauthenticated.leave(PipeId(1));
        assert!(unauthenticated.greet(PipeId(1)));
        let (_, m1) = handshake::greet();
        let (awaiting, _) = handshake::answer(&m1, &Identity::generate(), None).unwrap();
        unauthenticated.greeted(PipeId(1), Some(awaiting), now);
        // Its other requests go on meanwhile.
        unauthenticated.leave(PipeId(1));
        assert!(unauthenticated.take(PipeId(1), now).is_some());
        assert!(unauthenticated.take(PipeId(1), now).is_none());
    }

    #[test]
    fn so_many_handshakes_are_begun_in_a_second() {
        let (mut unauthenticated, now) = (Unauthenticated::default(), Instant::now());
        let begun =
            |unauthenticated: &mut Unauthenticated, at| (0..500).filter(|_| unauthenticated.has_time(100, at)).count();
        assert_eq!(begun(&mut unauthenticated, now), 100);
        assert_eq!(begun(&mut unauthenticated, now + Duration::from_millis(999)), 0);
        assert_eq!(begun(&mut unauthenticated, now + Duration::from_secs(1)), 100);
    }

    #[test]
    fn nobody_stays_a_stranger_for_long() {
        let (mut unauthenticated, now) = (Unauthenticated::default(), Instant::now());
        unauthenticated.enter(peer(1, "192.0.2.1"), 0, now);
        assert!(unauthenticated.sweep(now + TIMEOUT).is_empty());
        assert_eq!(unauthenticated.sweep(now + TIMEOUT + Duration::from_secs(1)), [PipeId(1)]);
        assert!(unauthenticated.per_address.is_empty() && unauthenticated.by_age.is_empty());
    }
}
