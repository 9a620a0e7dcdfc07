//! The master's dispatcher on 4506: what comes in, in the order in which it is looked at.
//!
//! An unauthenticated connection may say M1 and M3, nothing else. Everything else is a request of a session, opened with its keys before
//! a byte of it is understood; who asks is the session's to say.

use super::Master;
use super::sessions::{POLL_AGAIN, PROBE_TIMEOUT, Wake};
use super::stats;
use async_io::Timer;
use halite_value::{Map, Value};
use halite_wire::cbor;
use halite_wire::deadline::until;
use halite_wire::frame::{FRAME_LIMIT, HANDSHAKE_LIMIT, Notice, VERSION, kind};
use halite_wire::link::{LinkError, Local, Peer, PipeId, Service};
use halite_wire::message::{Answer, Ask, Event, LongPoll, News, Remains, Work};
use halite_wire::session::SessionId;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A long poll is answered after about this long when there is nothing to do.
const STAND_TIME: Duration = Duration::from_secs(30);
/// How long a minion has to hear that its key is about to be deleted.
const REVOKE_AFTER: Duration = Duration::from_millis(200);
/// How long its key is kept for jobs that it works on.
const REVOKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest answer: what does not fit goes with the next one.
const ANSWER_LIMIT: usize = FRAME_LIMIT - 4096;

impl Service for Master {
    fn request(self: Rc<Self>, from: Peer, frame: Vec<u8>) -> Local<Option<Vec<u8>>> {
        match frame.as_slice() {
            [VERSION, kind::M1, ..] if frame.len() <= HANDSHAKE_LIMIT => Box::pin(self.greet(from, frame)),
            [VERSION, kind::M3, ..] if frame.len() <= HANDSHAKE_LIMIT => Box::pin(self.admit(from, frame)),
            [VERSION, kind::REQUEST, ..] => Box::pin(self.in_session(from, frame)),
            [_, _, ..] if frame.len() <= HANDSHAKE_LIMIT => Box::pin(async { Some(Notice::NotUnderstood.encode()) }),
            _ => Box::pin(async { None }),
        }
    }

    fn opened(&self, peer: Peer) {
        let accepted = self.accepted.borrow().len();
        if let Some(address) = peer.address {
            self.addresses.borrow_mut().insert(peer.pipe, address);
        }
        if self.sessions.borrow().has_pipe(peer.pipe) {
            return;
        }
        let goes = self.unauthenticated.borrow_mut().enter(peer, accepted, Instant::now());
        if let Some(pipe) = goes {
            self.close(pipe);
        }
    }

    fn closed(&self, pipe: PipeId) {
        self.pipe_closed(pipe);
    }
}

impl Master {
    async fn in_session(self: Rc<Self>, from: Peer, frame: Vec<u8>) -> Option<Vec<u8>> {
        let sid = SessionId::of_request(&frame)?;
        let opened = self.sessions.borrow_mut().open(sid, &frame, Instant::now());
        let Some((_, number, plain)) = opened else {
            return Some(Notice::NoSession.encode());
        };
        drop(frame);
        let ask = cbor::decode::<Ask>(&plain);
        drop(plain);
        match &ask {
            Ok(Ask::File(_)) => self.sessions.borrow_mut().settle_files(sid, from.pipe),
            _ => self.sessions.borrow_mut().settle(sid, from.pipe),
        }
        self.unauthenticated.borrow_mut().leave(from.pipe);
        if !self.is_open(from.pipe) {
            self.pipe_closed(from.pipe);
            return None;
        }
        let (kind, came) = (ask.as_ref().ok().and_then(stats::kind_of), Instant::now());
        let answer = match ask {
            Ok(Ask::LongPoll(poll)) => Answer::Work(Box::new(self.long_poll(sid, poll).await?)),
            Ok(Ask::Return(ret)) => self.take_return(sid, *ret).await?,
            Ok(Ask::Piece { digest, offset, bytes }) => self.take_piece(sid, digest.0, offset, &bytes.0),
            Ok(Ask::ReturnInPieces { digest }) => self.take_return_in_pieces(sid, digest.0).await?,
            Ok(Ask::Fire { first, events }) => self.take_events(sid, first, events),
            Ok(Ask::Grains(grains)) => self.take_grains(sid, grains),
            Ok(Ask::File(ask)) => {
                let answered = self.clone().serve_file(sid, number, ask).await;
                kind.inspect(|kind| self.stats.note(kind, came));
                return answered;
            }
            Ok(Ask::Pillar(ask)) => self.serve_pillar(sid, *ask).await?,
            Ok(Ask::PillarPart { digest, offset }) => self.serve_pillar_part(sid, digest.0, offset),
            Ok(Ask::Peer(ask)) => self.serve_peer(sid, ask).await?,
            Ok(Ask::Revoke { remains }) => self.take_revocation(sid, remains),
            Err(malformed) => Answer::Refused(malformed.to_string()),
        };
        kind.inspect(|kind| self.stats.note(kind, came));
        // A session that ended meanwhile gets no answer.
        let sessions = self.sessions.borrow();
        let replying = sessions.at(sid)?.session.replying(number);
        let seal =
            |answer: &Answer| cbor::encode(answer).map_err(LinkError::from).and_then(|plain| replying.seal(&plain));
        let sealed = seal(&answer).or_else(|error| {
            // Without an answer its minion would ask the same for ever.
            log::error!("an answer is not sent: {error}");
            seal(&Answer::Refused(error.to_string()))
        });
        sealed.ok()
    }

    /// A minion stands until there is something to do for it. Nothing: its connection or its session is gone.
    async fn long_poll(self: &Rc<Self>, sid: SessionId, poll: LongPoll) -> Option<Work> {
        let id = {
            let mut sessions = self.sessions.borrow_mut();
            let minion_session = sessions.at_mut(sid)?;
            minion_session.hears = poll.epoch.filter(|_| poll.listens);
            minion_session.id.clone()
        };
        self.take_returns(sid, poll.returns);
        let mut first = poll.first;
        let deadline = Instant::now() + STAND_TIME.mul_f64(0.8) + Duration::from_millis(self.spread(12_000));
        loop {
            let wake = self.sessions.borrow_mut().long_poll(sid)?;
            let (jobs, ended) = self.jobs.borrow_mut().long_poll(&id, &poll.taken, first, Instant::now());
            first = false;
            self.ended(ended);
            let (epoch, seq) = self.epoch_news(poll.epoch);
            if !jobs.is_empty() || epoch.is_some() {
                let mut size = 0;
                let jobs = jobs.iter().map(|job| job.as_ref().clone());
                let jobs = jobs
                    .take_while(|job| {
                        size = cbor::size(job).saturating_add(size);
                        size < ANSWER_LIMIT
                    })
                    .collect();
                let acknowledged = self.sessions.borrow_mut().answered(sid, POLL_AGAIN, Instant::now());
                return Some(Work { jobs, epoch, seq, acknowledged });
            }
            match until(deadline, wake.recv()).await {
                Some(Ok(Wake::Look)) => continue,
                none @ (Some(Ok(Wake::Probe)) | None) => {
                    let timeout = if none.is_some() { PROBE_TIMEOUT } else { POLL_AGAIN };
                    let acknowledged = self.sessions.borrow_mut().answered(sid, timeout, Instant::now());
                    return Some(Work { seq, acknowledged, ..Work::default() });
                }
                Some(Ok(Wake::Replaced)) => return Some(Work { seq, ..Work::default() }),
                Some(Err(_)) => return None,
            }
        }
    }

    fn epoch_news(&self, known: Option<cbor::Bytes<8>>) -> (Option<News>, u64) {
        let epoch = self.epoch.borrow();
        let id = cbor::Bytes(epoch.id);
        let news = (known != Some(id)).then_some(News { id, key: cbor::Bytes(epoch.key) });
        (news, epoch.seq)
    }

    fn take_events(self: &Rc<Self>, sid: SessionId, first: u64, events: Vec<Event>) -> Answer {
        let Some((id, instance)) =
            self.sessions.borrow().at(sid).map(|minion_session| (minion_session.id.clone(), minion_session.instance))
        else {
            return Answer::Refused("no session".to_owned());
        };
        let seen = {
            let minions = self.minions.borrow();
            minions
                .get(&id)
                .and_then(|known| known.events)
                .filter(|(of, _)| *of == instance)
                .map_or(0, |(_, last)| last)
        };
        let last = first.saturating_add(events.len() as u64).saturating_sub(1);
        for (number, event) in (first..).zip(events) {
            if number <= seen {
                continue;
            }
            if !may_fire(&id, &event.tag) {
                log::warn!("'{id}' may not fire the event '{}'", event.tag.escape_debug());
                continue;
            }
            let bytes = cbor::size(&event);
            if bytes > self.settings.max_event_size {
                let tag = event.tag.escape_debug();
                let limit = self.settings.max_event_size;
                log::warn!(
                    "an event '{tag}' of '{id}' is dropped: its {bytes} bytes are more than max_event_size ({limit})"
                );
                continue;
            }
            let mut data = event.data;
            data.insert("cmd", "_minion_event");
            data.insert("ts", unix_time());
            data.insert("id", id.as_ref());
            data.insert("tag", event.tag.as_str());
            self.fire(event.tag, data);
        }
        self.minions.borrow_mut().entry(id).or_default().events = Some((instance, last.max(seen)));
        Answer::Done
    }

    fn take_grains(self: &Rc<Self>, sid: SessionId, grains: Map) -> Answer {
        let Some(id) = self.sessions.borrow().at(sid).map(|minion_session| minion_session.id.clone()) else {
            return Answer::Refused("no session".to_owned());
        };
        let refreshed = Map::from_iter([("Minion data cache refresh", Value::from(id.as_ref()))]);
        let changed = {
            let mut minions = self.minions.borrow_mut();
            let known = minions.entry(id.clone()).or_default();
            let changed = known.grains != grains;
            known.grains = grains.clone();
            changed
        };
        if changed && self.keeps_minion_data() {
            self.database.save_grains(id.to_string(), grains);
        }
        if self.settings.opts.at("minion_data_cache_events").is_none_or(Value::truthy) {
            self.fire(format!("minion/refresh/{id}"), refreshed);
        }
        Answer::Done
    }

    /// Whether grains are written down. In memory they are for as long as the master runs: targets are by them.
    pub(super) fn keeps_minion_data(&self) -> bool {
        self.settings.opts.at("minion_data_cache").is_none_or(Value::truthy)
    }

    /// A minion takes its own key back, where the configuration lets it.
    fn take_revocation(self: &Rc<Self>, sid: SessionId, remains: Remains) -> Answer {
        let Some(id) = self.sessions.borrow().at(sid).map(|minion_session| minion_session.id.clone()) else {
            return Answer::Refused("no session".to_owned());
        };
        if self.settings.opts.at("allow_minion_key_revoke").is_some_and(|allowed| !allowed.truthy()) {
            log::warn!("'{id}' may not take its key back: allow_minion_key_revoke is off");
            return Answer::Refused("this master's allow_minion_key_revoke is off".to_owned());
        }
        // With the key its session goes: this answer leaves first, and so does that of the job that has asked.
        let master = self.clone();
        let later = async move {
            let deadline = Instant::now() + REVOKE_TIMEOUT;
            loop {
                Timer::after(REVOKE_AFTER).await;
                if !master.jobs.borrow().is_at_work(&id) || Instant::now() >= deadline {
                    break;
                }
            }
            match master.key_taken_back(&id, remains).await {
                Ok(()) => log::info!("'{id}' has taken its key back"),
                Err(error) => log::error!("the key of '{id}', which takes it back, cannot be deleted: {error}"),
            }
        };
        self.executor.spawn(later).detach();
        Answer::Done
    }
}

/// Seconds since 1970.
pub(super) fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A minion speaks for itself alone: below `salt/` only where its own id stands in the tag, and never in the place of
/// the master.
fn may_fire(id: &str, tag: &str) -> bool {
    let own = |rest: &str, at: usize| rest.split('/').nth(at) == Some(id);
    for (prefix, at) in [("salt/minion/", 0), ("salt/beacon/", 0), ("minion/refresh/", 0), ("salt/state_result/", 1)] {
        if let Some(rest) = tag.strip_prefix(prefix) {
            return own(rest, at);
        }
    }
    if let Some(rest) = tag.strip_prefix("salt/job/")
        && matches!(rest.split('/').nth(1), Some("start" | "prog"))
    {
        return own(rest, 2);
    }
    let master_only = ["salt/", "minion/", "resource/", "syndic/", "_"].iter().any(|prefix| tag.starts_with(prefix));
    let reserved = matches!(tag, "key" | "salt" | "minion" | "new_job" | "auth");
    let jid = tag.len() >= 20 && tag.bytes().take(20).all(|byte| byte.is_ascii_digit());
    !(master_only || reserved || jid || tag.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minion_fires_under_its_own_name_only() {
        for tag in ["minion_start", "salt/minion/web1/start", "salt/beacon/web1/load/", "my/custom", "/my/test/event"]
            .into_iter()
            .chain(["salt/job/20260101000000000000/start/web1", "salt/job/20260101000000000000/prog/web1/3"])
        {
            assert!(may_fire("web1", tag), "{tag}");
        }
        for tag in [
            "salt/minion/web2/start",
            "salt/job/20260101000000000000/ret/web1",
            "salt/job/20260101000000000000/start/web2",
            "salt/job/20260101000000000000/prog/web2/3",
            "salt/auth",
            "salt/key",
            "key",
            "",
            "20260101000000000000",
            "20260101000000000000/ret",
            "salt/beacon/web10/load",
            "minion/refresh/web2",
            "salt/minion/web2/web1",
            "salt/state_result/20260101000000000000/web2/x",
        ] {
            assert!(!may_fire("web1", tag), "{tag}");
        }
    }
}
