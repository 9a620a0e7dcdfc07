//! Who has a session, whose request stands, and who is connected.
//!
//! Connected means: a request stands, or was answered less than [`STAND_AGAIN`] ago; a session that is not for jobs
//! (`salt-call`) does not count. When the connection of a session
//! closes, its minion is away at once; the session stays and may move to another connection with its next good frame.

use super::jobs::Id;
use halite_keys::PublicKey;
use halite_wire::cbor::Bytes;
use halite_wire::handshake::Purpose;
use halite_wire::link::PipeId;
use halite_wire::session::{Session, SessionId};
use smol::channel::{Receiver, Sender, bounded};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Who was answered and does not stand again in this time is away.
pub const STAND_AGAIN: Duration = Duration::from_secs(5);
/// A request that stands this long while somebody waits for a job of its minion is answered, to see whether it lives.
const PROBE_AFTER: Duration = Duration::from_secs(2);
/// Who was probed has this long to stand again: a minion that lives does so at once.
pub const PROBE_PATIENCE: Duration = Duration::from_millis(2500);
/// How long an acknowledgement may wait for something else to be told with it.
const ACKNOWLEDGE: Duration = Duration::from_millis(200);
/// Probes in one go: a job for everybody must not make a storm of them.
const PROBES: usize = 500;
/// How long a session that was replaced by its own minion still takes what is under way.
const RETIRE: Duration = Duration::from_secs(60);

/// A minion with a session.
pub struct Seat {
    pub id: Id,
    pub key: PublicKey,
    pub instance: Bytes<16>,
    pub boot: Bytes<16>,
    purpose: Purpose,
    pub session: Session,
    /// True until its key is not accepted any more: what is under way then is not committed.
    pub valid: Arc<AtomicBool>,
    /// The epoch whose publications the minion said it hears.
    pub hears: Option<Bytes<8>>,
    pipe: Option<PipeId>,
    /// The connection for files, where there is one.
    files: Option<PipeId>,
    /// When the last good frame came.
    heard: Instant,
    standing: Option<Sender<Poke>>,
    answered: Option<Answered>,
    /// Jobs whose returns came with standing requests, and are on the disk.
    acknowledged: Vec<String>,
    /// From when on the minion must be told that, whether there is something else to tell or not.
    acknowledge_from: Option<Instant>,
    ends: Instant,
}

/// A request that was answered: the minion must stand again, or ask something else, before its time is over.
#[derive(Clone, Copy)]
struct Answered {
    at: Instant,
    patience: Duration,
}

/// What ends the wait of a standing request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poke {
    /// There may be something to do.
    Look,
    /// Answer with what there is, be it nothing: the minion has to show that it lives.
    Probe,
    /// Another request of this minion stands now.
    Replaced,
}

/// What became of the connection of a minion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Away {
    pub id: Id,
    /// Since when nothing is known of it.
    pub since: Instant,
    /// A connection to close, where it is still there.
    pub pipe: Option<PipeId>,
}

#[derive(Default)]
pub struct Seats {
    by_sid: HashMap<SessionId, Seat>,
    by_id: HashMap<Id, SessionId>,
    by_pipe: HashMap<PipeId, SessionId>,
    orphans: Vec<PipeId>,
}

impl Seats {
    /// Seats a minion. A session that the same instance had before takes what is under way for a while; that of another
    /// instance ends at once, and its connection is to be closed.
    pub fn seat(&mut self, seat: NewSeat, now: Instant) -> Option<PipeId> {
        let mut close = None;
        if let Some(before) = self.by_id.get(&seat.id).copied() {
            let same = self.by_sid.get(&before).is_some_and(|old| old.instance == seat.instance);
            if same {
                self.retire(before, now);
            } else {
                close = self.remove(before).filter(|pipe| *pipe != seat.pipe);
            }
        }
        let NewSeat { id, key, instance, boot, purpose, session, pipe, life } = seat;
        let sid = session.id;
        self.by_id.insert(id.clone(), sid);
        self.by_pipe.insert(pipe, sid);
        let seat = Seat {
            id,
            key,
            instance,
            boot,
            purpose,
            session,
            valid: Arc::new(AtomicBool::new(true)),
            hears: None,
            pipe: Some(pipe),
            files: None,
            heard: now,
            standing: None,
            answered: Some(Answered { at: now, patience: STAND_AGAIN }),
            acknowledged: Vec::new(),
            acknowledge_from: None,
            ends: now + life,
        };
        self.by_sid.insert(sid, seat);
        close
    }

    /// Opens a request. Each is a sign of life, of a minion too that has so much to return that it does not get to stand.
    pub fn open(&mut self, sid: SessionId, frame: &[u8], now: Instant) -> Option<(Id, u64, Vec<u8>)> {
        let seat = self.by_sid.get_mut(&sid)?;
        let (number, plain) = seat.session.open_request(frame)?;
        seat.heard = now;
        Some((seat.id.clone(), number, plain))
    }

    /// A good frame came on this connection: a session moves with the first one on another.
    pub fn settle(&mut self, sid: SessionId, pipe: PipeId) {
        let Some(seat) = self.by_sid.get_mut(&sid) else {
            return;
        };
        if seat.pipe != Some(pipe) {
            if let Some(before) = seat.pipe.replace(pipe) {
                self.by_pipe.remove(&before);
            }
            self.by_pipe.insert(pipe, sid);
        }
    }

    /// Files are asked for on this connection, beside the one that the session is on. There is one such connection: one
    /// that was there before it is given up.
    pub fn settle_files(&mut self, sid: SessionId, pipe: PipeId) {
        let Some(seat) = self.by_sid.get_mut(&sid).filter(|seat| seat.pipe != Some(pipe)) else {
            return;
        };
        if let Some(before) = seat.files.replace(pipe).filter(|before| *before != pipe) {
            self.orphans.push(before);
        }
    }

    /// Connections that belong to no session any more, to be closed.
    pub fn orphans(&mut self) -> Vec<PipeId> {
        std::mem::take(&mut self.orphans)
    }

    pub fn at(&self, sid: SessionId) -> Option<&Seat> {
        self.by_sid.get(&sid)
    }

    pub fn at_mut(&mut self, sid: SessionId) -> Option<&mut Seat> {
        self.by_sid.get_mut(&sid)
    }

    pub fn of(&self, id: &str) -> Option<&Seat> {
        self.by_sid.get(self.by_id.get(id)?)
    }

    /// True when this session is the one that speaks for its minion now.
    pub fn is_current(&self, sid: SessionId) -> bool {
        self.by_sid.get(&sid).is_some_and(|seat| self.by_id.get(&seat.id) == Some(&sid))
    }

    /// A request of this session stands from now on; it is to wait for the poke.
    pub fn stand(&mut self, sid: SessionId) -> Option<Receiver<Poke>> {
        let seat = self.by_sid.get_mut(&sid)?;
        let (poke, receiver) = bounded(1);
        if let Some(before) = seat.standing.replace(poke) {
            let _ = before.try_send(Poke::Replaced);
        }
        seat.answered = None;
        Some(receiver)
    }

    /// The standing request of this session is being answered; the minion has `patience` to stand again. Gives the jobs
    /// whose returns are to be acknowledged with it.
    pub fn answered(&mut self, sid: SessionId, patience: Duration, now: Instant) -> Vec<String> {
        let Some(seat) = self.by_sid.get_mut(&sid) else {
            return Vec::new();
        };
        seat.standing = None;
        seat.answered = Some(Answered { at: now, patience });
        seat.acknowledge_from = None;
        std::mem::take(&mut seat.acknowledged)
    }

    /// A return that came with a standing request of this session is on the disk. That is told with the next answer.
    pub fn acknowledge(&mut self, sid: SessionId, jid: String, now: Instant) {
        if let Some(seat) = self.by_sid.get_mut(&sid) {
            seat.acknowledged.push(jid);
            seat.acknowledge_from.get_or_insert(now + ACKNOWLEDGE);
        }
    }

    /// Makes those show that they live who have stood for a while.
    pub fn probe(&mut self, ids: &[Id], now: Instant) {
        let mut left = PROBES;
        for id in ids {
            let Some(seat) = self.by_id.get(id).and_then(|sid| self.by_sid.get(sid)) else {
                continue;
            };
            if let Some(standing) = &seat.standing
                && now.saturating_duration_since(seat.heard) >= PROBE_AFTER
                && standing.try_send(Poke::Probe).is_ok()
            {
                left -= 1;
                if left == 0 {
                    return;
                }
            }
        }
    }

    /// Makes the standing request of a minion look again.
    pub fn poke(&mut self, id: &str, poke: Poke) {
        let Some(seat) = self.by_id.get(id).and_then(|sid| self.by_sid.get_mut(sid)) else {
            return;
        };
        if let Some(standing) = &seat.standing {
            let _ = standing.try_send(poke);
        }
    }

    /// True when a good frame of this minion has come since then.
    pub fn was_heard(&self, id: &str, since: Instant) -> bool {
        self.of(id).is_some_and(|seat| seat.heard > since)
    }

    pub fn is_connected(&self, id: &str) -> bool {
        self.of(id).is_some_and(Seat::is_connected)
    }

    /// The minions that are connected.
    pub fn connected(&self) -> impl Iterator<Item = &Seat> {
        self.by_id.values().filter_map(|sid| self.by_sid.get(sid)).filter(|seat| seat.is_connected())
    }

    /// How many connections are minions'.
    pub fn connections(&self) -> usize {
        self.by_pipe.len()
    }

    /// How many minions have a session, connected or not.
    pub fn sessions(&self) -> usize {
        self.by_id.len()
    }

    /// The connection of a minion.
    pub fn pipe_of(&self, id: &str) -> Option<PipeId> {
        self.of(id)?.pipe
    }

    pub fn has_pipe(&self, pipe: PipeId) -> bool {
        self.by_pipe.contains_key(&pipe)
    }

    /// A connection is gone: who is away now.
    pub fn closed(&mut self, pipe: PipeId) -> Option<Id> {
        let sid = self.by_pipe.remove(&pipe)?;
        let seat = self.by_sid.get_mut(&sid)?;
        if seat.pipe != Some(pipe) {
            return None;
        }
        seat.leave();
        (self.by_id.get(&seat.id) == Some(&sid)).then(|| seat.id.clone())
    }

    /// Ends the session of a minion, because its key is not accepted any more.
    pub fn evict(&mut self, id: &str, now: Instant) -> Option<Away> {
        let sid = self.by_id.get(id).copied()?;
        let id = self.by_sid.get(&sid)?.id.clone();
        for seat in self.by_sid.values().filter(|seat| seat.id == id) {
            seat.valid.store(false, Ordering::Release);
        }
        let pipe = self.remove(sid);
        // Sessions that the same minion had before end too.
        let ended = self.by_sid.extract_if(|_, seat| seat.id == id);
        self.orphans.extend(ended.filter_map(|(_, seat)| seat.files));
        Some(Away { id, since: now, pipe })
    }

    /// Finds those who were answered and did not stand again, and ends what has lived its life. Those who have waited for
    /// an acknowledgement get it.
    pub fn sweep(&mut self, now: Instant) -> Vec<Away> {
        let mut away = Vec::new();
        for (sid, seat) in &mut self.by_sid {
            if seat.acknowledge_from.is_some_and(|from| from <= now)
                && let Some(standing) = &seat.standing
            {
                let _ = standing.try_send(Poke::Probe);
            }
            if !seat.is_silent(now) || seat.pipe.is_none() || self.by_id.get(&seat.id) != Some(sid) {
                continue;
            }
            let pipe = seat.pipe;
            seat.leave();
            if let Some(pipe) = pipe {
                self.by_pipe.remove(&pipe);
            }
            away.push(Away { id: seat.id.clone(), since: seat.heard, pipe });
        }
        let ended: Vec<SessionId> =
            self.by_sid.iter().filter(|(_, seat)| seat.ends <= now).map(|(sid, _)| *sid).collect();
        for sid in ended {
            let id = self.by_sid.get(&sid).map(|seat| seat.id.clone());
            let current = self.is_current(sid);
            let pipe = self.remove(sid);
            if let (Some(id), true) = (id, current) {
                away.push(Away { id, since: now, pipe });
            }
        }
        away
    }

    fn retire(&mut self, sid: SessionId, now: Instant) {
        if let Some(seat) = self.by_sid.get_mut(&sid) {
            seat.ends = seat.ends.min(now + RETIRE);
            if let Some(standing) = seat.standing.take() {
                let _ = standing.try_send(Poke::Replaced);
            }
            seat.answered = None;
        }
    }

    fn remove(&mut self, sid: SessionId) -> Option<PipeId> {
        let seat = self.by_sid.remove(&sid)?;
        self.orphans.extend(seat.files);
        if self.by_id.get(&seat.id) == Some(&sid) {
            self.by_id.remove(&seat.id);
        }
        let pipe = seat.pipe?;
        if self.by_pipe.get(&pipe) == Some(&sid) {
            self.by_pipe.remove(&pipe);
        }
        Some(pipe)
    }
}

impl Seat {
    fn is_connected(&self) -> bool {
        self.purpose == Purpose::Jobs && self.pipe.is_some()
    }

    /// True when it was answered and has given no sign of life for as long as it had.
    fn is_silent(&self, now: Instant) -> bool {
        self.answered
            .is_some_and(|answered| now.saturating_duration_since(answered.at.max(self.heard)) > answered.patience)
    }

    /// Dropping the sender of a standing request ends it without an answer.
    fn leave(&mut self) {
        self.pipe = None;
        self.standing = None;
        self.answered = None;
    }
}

/// What a seat begins with.
pub struct NewSeat {
    pub id: Id,
    pub key: PublicKey,
    pub instance: Bytes<16>,
    pub boot: Bytes<16>,
    pub purpose: Purpose,
    pub session: Session,
    pub pipe: PipeId,
    pub life: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_wire::seal::{Key, Shared};

    fn session() -> (Session, Session) {
        let (up, down) = (Key::random(), Key::random());
        let id = SessionId::fresh();
        let keys = || Shared { up: up.clone(), down: down.clone() };
        (Session::new(id, keys()), Session::new(id, keys()))
    }

    fn new_seat(session: Session, instance: u8, pipe: u64) -> NewSeat {
        NewSeat {
            id: "web1".into(),
            key: PublicKey::from_bytes([9; 32]),
            instance: Bytes([instance; 16]),
            boot: Bytes([1; 16]),
            purpose: Purpose::Jobs,
            session,
            pipe: PipeId(pipe),
            life: Duration::from_secs(86_400),
        }
    }

    fn hears(seats: &mut Seats, sid: SessionId, frame: &[u8], pipe: PipeId, now: Instant) -> bool {
        let opened = seats.open(sid, frame, now).is_some();
        seats.settle(sid, pipe);
        opened
    }

    #[test]
    fn a_connection_for_files_moves_nothing_and_goes_with_its_session() {
        let (mut seats, now) = (Seats::default(), Instant::now());
        let (minion, master) = session();
        seats.seat(new_seat(master, 1, 1), now);
        seats.settle_files(minion.id, PipeId(1));
        seats.settle_files(minion.id, PipeId(2));
        seats.settle_files(minion.id, PipeId(2));
        assert_eq!((seats.pipe_of("web1"), seats.orphans()), (Some(PipeId(1)), vec![]));
        seats.settle_files(minion.id, PipeId(3));
        assert_eq!(seats.orphans(), [PipeId(2)]);
        assert_eq!(seats.closed(PipeId(3)), None);
        assert!(seats.is_connected("web1"));
        seats.evict("web1", now);
        assert_eq!(seats.orphans(), [PipeId(3)]);
    }

    #[test]
    fn a_minion_is_away_when_its_connection_closes_and_back_on_another_with_the_same_session() {
        let (mut seats, now) = (Seats::default(), Instant::now());
        let (mut minion, master) = session();
        seats.seat(new_seat(master, 1, 1), now);
        assert!(seats.is_connected("web1"));
        assert_eq!(seats.closed(PipeId(1)).as_deref(), Some("web1"));
        assert!(!seats.is_connected("web1"));
        let (frame, _) = minion.request(b"x").unwrap();
        assert!(hears(&mut seats, minion.id, &frame, PipeId(2), now));
        assert!(seats.is_connected("web1"));
        assert_eq!(seats.closed(PipeId(1)), None, "the old connection is nobody's");
    }

    #[test]
    fn who_takes_no_jobs_is_not_connected() {
        let (mut seats, now) = (Seats::default(), Instant::now());
        let (mut call, master) = session();
        seats.seat(NewSeat { purpose: Purpose::Errand, ..new_seat(master, 1, 1) }, now);
        assert!(!seats.is_connected("web1") && seats.connected().next().is_none());
        let (frame, _) = call.request(b"a return").unwrap();
        assert!(seats.open(call.id, &frame, now).is_some());
        assert_eq!(seats.sweep(now + STAND_AGAIN * 2).len(), 1, "and it does not stay");
    }

    #[test]
    fn who_was_answered_and_does_not_stand_again_is_away() {
        let (mut seats, now) = (Seats::default(), Instant::now());
        let (minion, master) = session();
        seats.seat(new_seat(master, 1, 1), now);
        let poke = seats.stand(minion.id).unwrap();
        assert!(seats.sweep(now + Duration::from_secs(60)).is_empty(), "a request stands");
        seats.poke("web1", Poke::Look);
        assert_eq!(poke.try_recv(), Ok(Poke::Look));
        seats.answered(minion.id, STAND_AGAIN, now);
        assert!(seats.sweep(now + STAND_AGAIN).is_empty());
        let away = seats.sweep(now + STAND_AGAIN + Duration::from_millis(1));
        assert_eq!(away, [Away { id: "web1".into(), since: now, pipe: Some(PipeId(1)) }]);
        assert!(!seats.is_connected("web1"));
    }

    #[test]
    fn who_is_waited_for_is_probed_and_known_to_be_silent_within_five_seconds() {
        let (mut seats, now) = (Seats::default(), Instant::now());
        let (minion, master) = session();
        seats.seat(new_seat(master, 1, 1), now);
        let poke = seats.stand(minion.id).unwrap();
        let ids = [Id::from("web1"), Id::from("nobody")];
        seats.probe(&ids, now + Duration::from_secs(1));
        assert!(poke.try_recv().is_err(), "it has just shown that it lives");
        let probed = now + PROBE_AFTER;
        seats.probe(&ids, probed);
        assert_eq!(poke.try_recv(), Ok(Poke::Probe));
        seats.answered(minion.id, PROBE_PATIENCE, probed);
        assert_eq!(seats.sweep(probed + PROBE_PATIENCE).len(), 0);
        assert_eq!(seats.sweep(now + Duration::from_secs(5)).len(), 1);
    }

    #[test]
    fn who_returns_lives_even_if_it_does_not_stand() {
        let (mut seats, now) = (Seats::default(), Instant::now());
        let (mut minion, master) = session();
        seats.seat(new_seat(master, 1, 1), now);
        let later = now + Duration::from_secs(4);
        let (frame, _) = minion.request(b"a return").unwrap();
        assert!(hears(&mut seats, minion.id, &frame, PipeId(1), later));
        assert!(seats.sweep(later + STAND_AGAIN).is_empty());
        assert_eq!(seats.sweep(later + STAND_AGAIN * 2).len(), 1);
    }

    #[test]
    fn another_instance_ends_the_first_ones_session_and_the_same_one_keeps_it_for_a_while() {
        let (mut seats, now) = (Seats::default(), Instant::now());
        let (mut first, master) = session();
        seats.seat(new_seat(master, 1, 1), now);
        let (second, master) = session();
        assert_eq!(seats.seat(new_seat(master, 1, 1), now), None);
        let (frame, _) = first.request(b"a return under way").unwrap();
        assert!(hears(&mut seats, first.id, &frame, PipeId(1), now));
        assert!(!seats.is_current(first.id) && seats.is_current(second.id));
        let (third, master) = session();
        assert_eq!(seats.seat(new_seat(master, 2, 7), now), Some(PipeId(1)));
        assert!(seats.at(second.id).is_none() && seats.is_current(third.id));
    }

    #[test]
    fn an_evicted_minion_has_no_session_left() {
        let (mut seats, now) = (Seats::default(), Instant::now());
        let (first, master) = session();
        seats.seat(new_seat(master, 1, 1), now);
        let (second, master) = session();
        seats.seat(new_seat(master, 1, 1), now);
        let valid = seats.of("web1").unwrap().valid.clone();
        assert!(valid.load(Ordering::Acquire));
        assert_eq!(seats.evict("web1", now), Some(Away { id: "web1".into(), since: now, pipe: Some(PipeId(1)) }));
        assert!(seats.at(first.id).is_none() && seats.at(second.id).is_none());
        assert!(!valid.load(Ordering::Acquire), "what is under way is not committed");
    }
}
