//! The handshake at the master's dispatcher: M1 is answered with M2, M3 with M4.

use super::Master;
use super::jobs::Id;
use super::pool::{self, Busy};
use super::sessions::{NewSeat, Wake};
use super::stats;
use super::trust::Decision;
use async_io::Timer;
use halite_keys::store::valid_id;
use halite_wire::cbor::Bytes;
use halite_wire::frame::Notice;
use halite_wire::handshake;
use halite_wire::handshake::{Claimed, HandshakeError, Reason, Wait, Welcome};
use halite_wire::link::Peer;
use smol::future::FutureExt;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How long a key that is not accepted waits for its answer, unless the admin accepts it before.
const DECISION_TIME: Duration = Duration::from_secs(30);
/// Handshakes a second with those who are not expected, while the master has jobs to hand out.
const UNEXPECTED: usize = 100;
/// The same while it has nothing else to do: a new fleet may be on its way.
const UNEXPECTED_IDLE: usize = 4000;
/// How long the first of two with the same key has to show that it lives.
const PROBE_TIME: Duration = Duration::from_secs(5);

impl Master {
    /// Answers M1. Signing happens on the pool; when its queue is full, the peer is told when to come back.
    pub(super) async fn greet(self: Rc<Self>, peer: Peer, m1: Vec<u8>) -> Option<Vec<u8>> {
        let now = Instant::now();
        if !self.unauthenticated.borrow_mut().has_time(self.handshakes_a_second(now), now) {
            return Some(self.come_back(Busy { waiting: 0 }));
        }
        if !self.unauthenticated.borrow_mut().greet(peer.pipe) {
            return None;
        }
        let (identity, chain) = (self.identity.clone(), self.chain);
        let answered = self.pool.run(move || handshake::answer(&m1, &identity, chain.as_ref())).await;
        let (half_open, answered) = match answered {
            Ok(Ok((half_open, m2))) => (Some(half_open), Ok(Ok(m2))),
            Ok(Err(error)) => (None, Ok(Err(error))),
            Err(busy) => (None, Err(busy)),
        };
        self.unauthenticated.borrow_mut().greeted(peer.pipe, half_open, Instant::now());
        match answered {
            Ok(Ok(m2)) => Some(m2),
            Ok(Err(_)) => Some(Notice::NotUnderstood.encode()),
            Err(busy) => Some(self.come_back(busy)),
        }
    }

    /// How many connections are taken in the time until this is asked again: those of accepted minions that are not
    /// connected, and while there are jobs to hand out few others. A connection costs more than a handshake.
    pub(super) fn connections_in(&self, time: Duration, now: Instant) -> usize {
        if !self.jobs.borrow().are_started(now) {
            return usize::MAX;
        }
        let expected = self.accepted.borrow().len().saturating_sub(self.sessions.borrow().connections());
        expected + (UNEXPECTED as f64 * time.as_secs_f64()) as usize
    }

    /// As many as there are accepted minions without a session, who all come at once when a master starts, and some more.
    /// While there are jobs to hand out these are few: they are nobody who was here before, and must not take the
    /// processor from those who are inside.
    fn handshakes_a_second(&self, now: Instant) -> usize {
        let expected = self.accepted.borrow().len().saturating_sub(self.sessions.borrow().sessions());
        expected + if self.jobs.borrow().are_started(now) { UNEXPECTED } else { UNEXPECTED_IDLE }
    }

    fn come_back(&self, busy: Busy) -> Vec<u8> {
        let (least, most) = self.jitter.turn_away(busy.waiting, Instant::now());
        let wait_ms = least + self.spread(u64::from(most - least)) as u32;
        Notice::Busy { wait_ms }.encode()
    }

    /// Answers M3: with a session, or after a while with the reason to wait.
    pub(super) async fn admit(self: Rc<Self>, peer: Peer, m3: Vec<u8>) -> Option<Vec<u8>> {
        let came = Instant::now();
        let half_open = self.unauthenticated.borrow_mut().take(peer.pipe, came);
        let Some(half_open) = half_open else {
            return Some(Notice::NoSession.encode());
        };
        let claimed: Result<Result<Claimed, HandshakeError>, _> = self.pool.run(move || half_open.receive(&m3)).await;
        let claimed = match claimed {
            Ok(Ok(claimed)) => claimed,
            Ok(Err(_)) => return Some(Notice::NotUnderstood.encode()),
            Err(busy) => return Some(self.come_back(busy)),
        };
        self.unauthenticated.borrow_mut().touch(peer.pipe, Instant::now());
        if !valid_id(&claimed.claim.id) {
            // Told to nobody but the log: whoever sends this is no minion of ours.
            log::warn!(
                "an id that cannot be one: '{}'",
                claimed.claim.id.chars().take(64).collect::<String>().escape_debug()
            );
            Timer::after(DECISION_TIME).await;
            return claimed.wait(Wait { seconds: 30, reason: Reason::Pending }).ok();
        }
        self.stats.note(stats::AUTH, came);
        let (mut decision, deadline) = (self.decide_on(&claimed).await, Instant::now() + DECISION_TIME);
        while decision == Decision::Waits {
            let decided = self.waiting.on(&claimed.claim.id);
            let in_time = async { decided.recv().await.is_ok() }.or(async {
                Timer::at(deadline).await;
                false
            });
            if !in_time.await {
                return claimed.wait(Wait { seconds: 1, reason: Reason::Pending }).ok();
            }
            decision = self.decide_on(&claimed).await;
        }
        match decision {
            Decision::Accepted => self.begin(peer, claimed).await,
            _ => {
                self.fire_auth("reject", &claimed.claim.id, claimed.key, &claimed.claim.autosign);
                Timer::after(Duration::from_secs(1)).await;
                claimed.wait(Wait { seconds: 30, reason: Reason::Rejected }).ok()
            }
        }
    }

    async fn decide_on(&self, claimed: &Claimed) -> Decision {
        self.decide(&claimed.claim.id, claimed.key, &claimed.claim.autosign).await
    }

    async fn begin(self: &Rc<Self>, peer: Peer, claimed: Claimed) -> Option<Vec<u8>> {
        let id = Id::from(claimed.claim.id.as_str());
        if self.first_instance_lives(&id, claimed.claim.instance).await {
            log::warn!("two minions have the key of '{id}': the second one waits");
            self.fire_auth("duplicate", &id, claimed.key, &claimed.claim.autosign);
            return claimed.wait(Wait { seconds: 30, reason: Reason::Duplicate }).ok();
        }
        if self.is_full(&id) {
            log::warn!("'{id}' waits: as many minions are connected as max_minions allows");
            self.fire_auth("full", &id, claimed.key, &claimed.claim.autosign);
            return claimed.wait(Wait { seconds: 30, reason: Reason::Full }).ok();
        }
        // The admin may have changed their mind meanwhile.
        if self.decide_on(&claimed).await != Decision::Accepted {
            return claimed.wait(Wait { seconds: 1, reason: Reason::Pending }).ok();
        }
        let (key, claim, life) = (claimed.key, claimed.claim.clone(), Claimed::spread_life());
        let welcome = {
            let epoch = self.epoch.borrow();
            Welcome {
                life: life.as_secs() as u32,
                epoch: Bytes(epoch.id),
                group_key: Bytes(epoch.key),
                seq: epoch.seq,
                publish_port: self.settings.publish_port,
                reconnect_jitter_ms: pool::time_for(self.accepted.borrow().len()).as_millis() as u32,
            }
        };
        let (session, m4) = claimed.accept(&welcome).ok()?;
        self.remember_boot(&id, claim.boot);
        self.unauthenticated.borrow_mut().leave(peer.pipe);
        let (instance, boot, purpose) = (claim.instance, claim.boot, claim.purpose);
        let minion_session = NewSeat { id: id.clone(), key, instance, boot, purpose, session, pipe: peer.pipe, life };
        if let (Some(dispatcher), Some(address)) = (self.dispatcher.get(), peer.address) {
            dispatcher.know(address);
        }
        let close = self.sessions.borrow_mut().begin(minion_session, Instant::now());
        if let Some(pipe) = close {
            self.close(pipe);
        }
        // The connection may have closed while its keys were checked: then nobody would notice any more.
        if !self.is_open(peer.pipe) {
            self.pipe_closed(peer.pipe);
        }
        self.fire_auth("accept", &id, key, &claim.autosign);
        Some(m4)
    }

    fn is_full(&self, id: &Id) -> bool {
        let (most, sessions) = (self.settings.max_minions, self.sessions.borrow());
        most > 0 && !sessions.is_connected(id) && sessions.connected().count() >= most
    }

    /// True when another instance has this id and shows within [`PROBE_TIME`] that it lives.
    async fn first_instance_lives(&self, id: &Id, instance: Bytes<16>) -> bool {
        let other = |this: &Master| {
            let sessions = this.sessions.borrow();
            sessions.of(id).is_some_and(|minion_session| minion_session.instance != instance)
                && sessions.is_connected(id)
        };
        if !other(self) {
            return false;
        }
        self.sessions.borrow_mut().wake(id, Wake::Probe);
        // It is answered now; to live is to ask again.
        let probed = Instant::now();
        let deadline = probed + PROBE_TIME;
        while Instant::now() < deadline {
            Timer::after(Duration::from_millis(250)).await;
            if !other(self) {
                return false;
            }
            if self.sessions.borrow().was_heard(id, probed) {
                return true;
            }
        }
        false
    }
}
