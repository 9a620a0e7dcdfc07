//! Who has a session, whose request stands, and who is connected.
//!
//! Connected means: a request stands, or was answered less than [`POLL_AGAIN`] ago; a session that is not for jobs
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
pub const POLL_AGAIN: Duration = Duration::from_secs(5);
/// A request that stands this long while somebody waits for a job of its minion is answered, to see whether it lives.
const PROBE_AFTER: Duration = Duration::from_secs(2);
/// Who was probed has this long to stand again: a minion that lives does so at once.
pub const PROBE_TIMEOUT: Duration = Duration::from_millis(2500);
/// How long an acknowledgement may wait for something else to be told with it.
const ACKNOWLEDGE: Duration = Duration::from_millis(200);
/// Probes in one go: a job for everybody must not make a storm of them.
const PROBES: usize = 500;
/// How long a session that was replaced by its own minion still takes what is under way.
const RETIRE: Duration = Duration::from_secs(60);

/// A minion with a session.
pub struct MinionSession {
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
    long_poll: Option<Sender<Wake>>,
    answered: Option<Answered>,
    /// Jobs whose returns came with long polls, and are on the disk.
    acknowledged: Vec<String>,
    /// From when on the minion must be told that, whether there is something else to tell or not.
    acknowledge_from: Option<Instant>,
    ends: Instant,
}

/// A request that was answered: the minion must stand again, or ask something else, before its time is over.
#[derive(Clone, Copy)]
struct Answered {
    at: Instant,
    timeout: Duration,
}

/// What ends the wait of a long poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
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
pub struct Sessions {
    by_sid: HashMap<SessionId, MinionSession>,
    by_id: HashMap<Id, SessionId>,
    by_pipe: HashMap<PipeId, SessionId>,
    orphans: Vec<PipeId>,
}

impl Sessions {
    /// Sessions a minion. A session that the same instance had before takes what is under way for a while; that of another
    /// instance ends at once, and its connection is to be closed.
    pub fn begin(&mut self, minion_session: NewSeat, now: Instant) -> Option<PipeId> {
        let mut close = None;
        if let Some(before) = self.by_id.get(&minion_session.id).copied() {
            let same = self.by_sid.get(&before).is_some_and(|old| old.instance == minion_session.instance);
            if same {
                self.retire(before, now);
            } else {
                close = self.remove(before).filter(|pipe| *pipe != minion_session.pipe);
            }
        }
        let NewSeat { id, key, instance, boot, purpose, session, pipe, life } = minion_session;
        let sid = session.id;
        self.by_id.insert(id.clone(), sid);
        self.by_pipe.insert(pipe, sid);
        let minion_session = MinionSession {
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
            long_poll: None,
            answered: Some(Answered { at: now, timeout: POLL_AGAIN }),
            acknowledged: Vec::new(),
            acknowledge_from: None,
            ends: now + life,
        };
        self.by_sid.insert(sid, minion_session);
        close
    }

    /// Opens a request. Each is a sign of life, of a minion too that has so much to return that it does not get to stand.
    pub fn open(&mut self, sid: SessionId, frame: &[u8], now: Instant) -> Option<(Id, u64, Vec<u8>)> {
        let minion_session = self.by_sid.get_mut(&sid)?;
        let (number, plain) = minion_session.session.open_request(frame)?;
        minion_session.heard = now;
        Some((minion_session.id.clone(), number, plain))
    }

    /// A good frame came on this connection: a session moves with the first one on another.
    pub fn settle(&mut self, sid: SessionId, pipe: PipeId) {
        let Some(minion_session) = self.by_sid.get_mut(&sid) else {
            return;
        };
        if minion_session.pipe != Some(pipe) {
            if let Some(before) = minion_session.pipe.replace(pipe) {
                self.by_pipe.remove(&before);
            }
            self.by_pipe.insert(pipe, sid);
        }
    }

    /// Files are asked for on this connection, beside the one that the session is on. There is one such connection: one
    /// that was there before it is given up.
    pub fn settle_files(&mut self, sid: SessionId, pipe: PipeId) {
        let Some(minion_session) = self.by_sid.get_mut(&sid).filter(|minion_session| minion_session.pipe != Some(pipe))
        else {
            return;
        };
        if let Some(before) = minion_session.files.replace(pipe).filter(|before| *before != pipe) {
            self.orphans.push(before);
        }
    }

    /// Connections that belong to no session any more, to be closed.
    pub fn orphans(&mut self) -> Vec<PipeId> {
        std::mem::take(&mut self.orphans)
    }

    pub fn at(&self, sid: SessionId) -> Option<&MinionSession> {
        self.by_sid.get(&sid)
    }

    pub fn at_mut(&mut self, sid: SessionId) -> Option<&mut MinionSession> {
        self.by_sid.get_mut(&sid)
    }

    pub fn of(&self, id: &str) -> Option<&MinionSession> {
        self.by_sid.get(self.by_id.get(id)?)
    }

    /// True when this session is the one that speaks for its minion now.
    pub fn is_current(&self, sid: SessionId) -> bool {
        self.by_sid.get(&sid).is_some_and(|minion_session| self.by_id.get(&minion_session.id) == Some(&sid))
    }

    /// A request of this session stands from now on; it is to wait for the wake.
    pub fn long_poll(&mut self, sid: SessionId) -> Option<Receiver<Wake>> {
        let minion_session = self.by_sid.get_mut(&sid)?;
        let (wake, receiver) = bounded(1);
        if let Some(before) = minion_session.long_poll.replace(wake) {
            let _ = before.try_send(Wake::Replaced);
        }
        minion_session.answered = None;
        Some(receiver)
    }

    /// The long poll of this session is being answered; the minion has `timeout` to stand again. Gives the jobs
    /// whose returns are to be acknowledged with it.
    pub fn answered(&mut self, sid: SessionId, timeout: Duration, now: Instant) -> Vec<String> {
        let Some(minion_session) = self.by_sid.get_mut(&sid) else {
            return Vec::new();
        };
        minion_session.long_poll = None;
        minion_session.answered = Some(Answered { at: now, timeout });
        minion_session.acknowledge_from = None;
        std::mem::take(&mut minion_session.acknowledged)
    }

    /// A return that came with a long poll of this session is on the disk. That is told with the next answer.
    pub fn acknowledge(&mut self, sid: SessionId, jid: String, now: Instant) {
        if let Some(minion_session) = self.by_sid.get_mut(&sid) {
            minion_session.acknowledged.push(jid);
            minion_session.acknowledge_from.get_or_insert(now + ACKNOWLEDGE);
        }
    }

    /// Makes those show that they live who have stood for a while.
    pub fn probe(&mut self, ids: &[Id], now: Instant) {
        let mut left = PROBES;
        for id in ids {
            let Some(minion_session) = self.by_id.get(id).and_then(|sid| self.by_sid.get(sid)) else {
                continue;
            };
            if let Some(long_poll) = &minion_session.long_poll
                && now.saturating_duration_since(minion_session.heard) >= PROBE_AFTER
                && long_poll.try_send(Wake::Probe).is_ok()
            {
                left -= 1;
                if left == 0 {
                    return;
                }
            }
        }
    }

    /// Makes the long poll of a minion look again.
    pub fn wake(&mut self, id: &str, wake: Wake) {
        let Some(minion_session) = self.by_id.get(id).and_then(|sid| self.by_sid.get_mut(sid)) else {
            return;
        };
        if let Some(long_poll) = &minion_session.long_poll {
            let _ = long_poll.try_send(wake);
        }
    }

    /// True when a good frame of this minion has come since then.
    pub fn was_heard(&self, id: &str, since: Instant) -> bool {
        self.of(id).is_some_and(|minion_session| minion_session.heard > since)
    }

    pub fn is_connected(&self, id: &str) -> bool {
        self.of(id).is_some_and(MinionSession::is_connected)
    }

    /// The minions that are connected.
    pub fn connected(&self) -> impl Iterator<Item = &MinionSession> {
        self.by_id
            .values()
            .filter_map(|sid| self.by_sid.get(sid))
            .filter(|minion_session| minion_session.is_connected())
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
        let minion_session = self.by_sid.get_mut(&sid)?;
        if minion_session.pipe != Some(pipe) {
            return None;
        }
        minion_session.leave();
        (self.by_id.get(&minion_session.id) == Some(&sid)).then(|| minion_session.id.clone())
    }

    /// Ends the session of a minion, because its key is not accepted any more.
    pub fn evict(&mut self, id: &str, now: Instant) -> Option<Away> {
        let sid = self.by_id.get(id).copied()?;
        let id = self.by_sid.get(&sid)?.id.clone();
        for minion_session in self.by_sid.values().filter(|minion_session| minion_session.id == id) {
            minion_session.valid.store(false, Ordering::Release);
        }
        let pipe = self.remove(sid);
        // Sessions that the same minion had before end too.
        let ended = self.by_sid.extract_if(|_, minion_session| minion_session.id == id);
        self.orphans.extend(ended.filter_map(|(_, minion_session)| minion_session.files));
        Some(Away { id, since: now, pipe })
    }

    /// Finds those who were answered and did not stand again, and ends what has lived its life. Those who have waited for
    /// an acknowledgement get it.
    pub fn sweep(&mut self, now: Instant) -> Vec<Away> {
        let mut away = Vec::new();
        for (sid, minion_session) in &mut self.by_sid {
            if minion_session.acknowledge_from.is_some_and(|from| from <= now)
                && let Some(long_poll) = &minion_session.long_poll
            {
                let _ = long_poll.try_send(Wake::Probe);
            }
            if !minion_session.is_silent(now)
                || minion_session.pipe.is_none()
                || self.by_id.get(&minion_session.id) != Some(sid)
            {
                continue;
            }
            let pipe = minion_session.pipe;
            minion_session.leave();
            if let Some(pipe) = pipe {
                self.by_pipe.remove(&pipe);
            }
            away.push(Away { id: minion_session.id.clone(), since: minion_session.heard, pipe });
        }
        let ended: Vec<SessionId> =
            self.by_sid.iter().filter(|(_, minion_session)| minion_session.ends <= now).map(|(sid, _)| *sid).collect();
        for sid in ended {
            let id = self.by_sid.get(&sid).map(|minion_session| minion_session.id.clone());
            let current = self.is_current(sid);
            let pipe = self.remove(sid);
            if let (Some(id), true) = (id, current) {
                away.push(Away { id, since: now, pipe });
            }
        }
        away
    }

    fn retire(&mut self, sid: SessionId, now: Instant) {
        if let Some(minion_session) = self.by_sid.get_mut(&sid) {
            minion_session.ends = minion_session.ends.min(now + RETIRE);
            if let Some(long_poll) = minion_session.long_poll.take() {
                let _ = long_poll.try_send(Wake::Replaced);
            }
            minion_session.answered = None;
        }
    }

    fn remove(&mut self, sid: SessionId) -> Option<PipeId> {
        let minion_session = self.by_sid.remove(&sid)?;
        self.orphans.extend(minion_session.files);
        if self.by_id.get(&minion_session.id) == Some(&sid) {
            self.by_id.remove(&minion_session.id);
        }
        let pipe = minion_session.pipe?;
        if self.by_pipe.get(&pipe) == Some(&sid) {
            self.by_pipe.remove(&pipe);
        }
        Some(pipe)
    }
}

impl MinionSession {
    fn is_connected(&self) -> bool {
        self.purpose == Purpose::Jobs && self.pipe.is_some()
    }

    /// True when it was answered and has given no sign of life for as long as it had.
    fn is_silent(&self, now: Instant) -> bool {
        self.answered
            .is_some_and(|answered| now.saturating_duration_since(answered.at.max(self.heard)) > answered.timeout)
    }

    /// Dropping the sender of a long poll ends it without an answer.
    fn leave(&mut self) {
        self.pipe = None;
        self.long_poll = None;
        self.answered = None;
    }
}

/// What a minion_session begins with.
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

    fn new_session(session: Session, instance: u8, pipe: u64) -> NewSeat {
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

    fn hears(sessions: &mut Sessions, sid: SessionId, frame: &[u8], pipe: PipeId, now: Instant) -> bool {
        let opened = sessions.open(sid, frame, now).is_some();
        sessions.settle(sid, pipe);
        opened
    }

    #[test]
    fn a_connection_for_files_moves_nothing_and_goes_with_its_session() {
        let (mut sessions, now) = (Sessions::default(), Instant::now());
        let (minion, master) = session();
        sessions.begin(new_session(master, 1, 1), now);
        sessions.settle_files(minion.id, PipeId(1));
        sessions.settle_files(minion.id, PipeId(2));
        sessions.settle_files(minion.id, PipeId(2));
        assert_eq!((sessions.pipe_of("web1"), sessions.orphans()), (Some(PipeId(1)), vec![]));
        sessions.settle_files(minion.id, PipeId(3));
        assert_eq!(sessions.orphans(), [PipeId(2)]);
        assert_eq!(sessions.closed(PipeId(3)), None);
        assert!(sessions.is_connected("web1"));
        sessions.evict("web1", now);
        assert_eq!(sessions.orphans(), [PipeId(3)]);
    }

    #[test]
    fn a_minion_is_away_when_its_connection_closes_and_back_on_another_with_the_same_session() {
        let (mut sessions, now) = (Sessions::default(), Instant::now());
        let (mut minion, master) = session();
        sessions.begin(new_session(master, 1, 1), now);
        assert!(sessions.is_connected("web1"));
        assert_eq!(sessions.closed(PipeId(1)).as_deref(), Some("web1"));
        assert!(!sessions.is_connected("web1"));
        let (frame, _) = minion.request(b"x").unwrap();
        assert!(hears(&mut sessions, minion.id, &frame, PipeId(2), now));
        assert!(sessions.is_connected("web1"));
        assert_eq!(sessions.closed(PipeId(1)), None, "the old connection is nobody's");
    }

    #[test]
    fn who_takes_no_jobs_is_not_connected() {
        let (mut sessions, now) = (Sessions::default(), Instant::now());
        let (mut call, master) = session();
        sessions.begin(NewSeat { purpose: Purpose::Errand, ..new_session(master, 1, 1) }, now);
        assert!(!sessions.is_connected("web1") && sessions.connected().next().is_none());
        let (frame, _) = call.request(b"a return").unwrap();
        assert!(sessions.open(call.id, &frame, now).is_some());
        assert_eq!(sessions.sweep(now + POLL_AGAIN * 2).len(), 1, "and it does not stay");
    }

    #[test]
    fn who_was_answered_and_does_not_stand_again_is_away() {
        let (mut sessions, now) = (Sessions::default(), Instant::now());
        let (minion, master) = session();
        sessions.begin(new_session(master, 1, 1), now);
        let wake = sessions.long_poll(minion.id).unwrap();
        assert!(sessions.sweep(now + Duration::from_secs(60)).is_empty(), "a request stands");
        sessions.wake("web1", Wake::Look);
        assert_eq!(wake.try_recv(), Ok(Wake::Look));
        sessions.answered(minion.id, POLL_AGAIN, now);
        assert!(sessions.sweep(now + POLL_AGAIN).is_empty());
        let away = sessions.sweep(now + POLL_AGAIN + Duration::from_millis(1));
        assert_eq!(away, [Away { id: "web1".into(), since: now, pipe: Some(PipeId(1)) }]);
        assert!(!sessions.is_connected("web1"));
    }

    #[test]
    fn who_is_waited_for_is_probed_and_known_to_be_silent_within_five_seconds() {
        let (mut sessions, now) = (Sessions::default(), Instant::now());
        let (minion, master) = session();
        sessions.begin(new_session(master, 1, 1), now);
        let wake = sessions.long_poll(minion.id).unwrap();
        let ids = [Id::from("web1"), Id::from("nobody")];
        sessions.probe(&ids, now + Duration::from_secs(1));
        assert!(wake.try_recv().is_err(), "it has just shown that it lives");
        let probed = now + PROBE_AFTER;
        sessions.probe(&ids, probed);
        assert_eq!(wake.try_recv(), Ok(Wake::Probe));
        sessions.answered(minion.id, PROBE_TIMEOUT, probed);
        assert_eq!(sessions.sweep(probed + PROBE_TIMEOUT).len(), 0);
        assert_eq!(sessions.sweep(now + Duration::from_secs(5)).len(), 1);
    }

    #[test]
    fn who_returns_lives_even_if_it_does_not_stand() {
        let (mut sessions, now) = (Sessions::default(), Instant::now());
        let (mut minion, master) = session();
        sessions.begin(new_session(master, 1, 1), now);
        let later = now + Duration::from_secs(4);
        let (frame, _) = minion.request(b"a return").unwrap();
        assert!(hears(&mut sessions, minion.id, &frame, PipeId(1), later));
        assert!(sessions.sweep(later + POLL_AGAIN).is_empty());
        assert_eq!(sessions.sweep(later + POLL_AGAIN * 2).len(), 1);
    }

    #[test]
    fn another_instance_ends_the_first_ones_session_and_the_same_one_keeps_it_for_a_while() {
        let (mut sessions, now) = (Sessions::default(), Instant::now());
        let (mut first, master) = session();
        sessions.begin(new_session(master, 1, 1), now);
        let (second, master) = session();
        assert_eq!(sessions.begin(new_session(master, 1, 1), now), None);
        let (frame, _) = first.request(b"a return under way").unwrap();
        assert!(hears(&mut sessions, first.id, &frame, PipeId(1), now));
        assert!(!sessions.is_current(first.id) && sessions.is_current(second.id));
        let (third, master) = session();
        assert_eq!(sessions.begin(new_session(master, 2, 7), now), Some(PipeId(1)));
        assert!(sessions.at(second.id).is_none() && sessions.is_current(third.id));
    }

    #[test]
    fn an_evicted_minion_has_no_session_left() {
        let (mut sessions, now) = (Sessions::default(), Instant::now());
        let (first, master) = session();
        sessions.begin(new_session(master, 1, 1), now);
        let (second, master) = session();
        sessions.begin(new_session(master, 1, 1), now);
        let valid = sessions.of("web1").unwrap().valid.clone();
        assert!(valid.load(Ordering::Acquire));
        assert_eq!(sessions.evict("web1", now), Some(Away { id: "web1".into(), since: now, pipe: Some(PipeId(1)) }));
        assert!(sessions.at(first.id).is_none() && sessions.at(second.id).is_none());
        assert!(!valid.load(Ordering::Acquire), "what is under way is not committed");
    }
}
