//! How a job begins and how its returns come in.

use super::Master;
use super::database::{Closes, Over, Sent};
use super::dispatcher::unix_time;
use super::jobs::{Ended, Id, Received, Way};
use super::origins::Limit;
use super::pillar::Opened;
use super::sessions::Wake;
use halite_core::jid::Jid;
use halite_lang::target;
use halite_lang::target::{Needs, Target};
use halite_value::{Map, Value};
use halite_wire::cbor;
use halite_wire::cbor::Bytes;
use halite_wire::frame::FRAME_LIMIT;
use halite_wire::link::Local;
use halite_wire::message::{Answer, BatchSize, Job, LocalAnswer, LocalFault, Publish, Return};
use halite_wire::publication;
use halite_wire::seal::Hash;
use halite_wire::session::SessionId;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// From this many targets on, a job for everybody is published; fewer are handed it one by one, which shows less.
const PUBLISH_FROM: usize = 16;
/// A job must fit in one answer to a long poll.
const JOB_LIMIT: usize = FRAME_LIMIT - 8192;
/// How long a master that has just started waits for those who were there before it.
const SETTLE: Duration = Duration::from_secs(10);

impl Master {
    /// Starts a job: finds its targets, writes it down, hands it out.
    pub(super) async fn publish(self: &Rc<Self>, user: &str, ask: Publish) -> LocalAnswer {
        let invalid = |message: String| LocalAnswer::Refused { fault: LocalFault::Invalid, message };
        // A key that was put there a moment ago is a minion that is expected.
        self.look_for_keys().await;
        let expected = match self.expand(&ask.tgt, &ask.tgt_type, ask.extra.str_at("delimiter")).await {
            Ok(expected) => expected,
            Err(message) => return invalid(message),
        };
        let jid = match self.jid_for(&ask.jid) {
            Ok(jid) => jid,
            Err(message) => return invalid(message),
        };
        let mut job = Job {
            jid: jid.clone(),
            fun: ask.fun,
            arg: ask.arg,
            tgt: ask.tgt,
            tgt_type: ask.tgt_type,
            ret: ask.ret,
            user: user.to_owned(),
            metadata: ask.metadata,
            extra: ask.extra,
            batch: ask.batch,
        };
        let size = cbor::size(&job);
        if size > JOB_LIMIT {
            return invalid(format!(
                "the arguments make a job of {size} bytes, more than {JOB_LIMIT}: send them as a file"
            ));
        }
        self.fire_new(&job, &expected);
        let (present, absent): (Vec<Id>, Vec<Id>) = expected.into_iter().partition(|id| self.counts_as_connected(id));
        let names = |ids: &[Id]| ids.iter().map(|id| id.to_string()).collect::<Vec<String>>();
        if let Some(batch) = &mut job.batch {
            // A share is one of those that are there now, also for a master that starts again.
            batch.size = BatchSize::Count(batch.size.of(present.len()) as u64);
            return self.publish_batch(job, present, absent).await;
        }
        let everyone =
            absent.is_empty() && present.len() >= PUBLISH_FROM && present.len() == self.accepted.borrow().len();
        let epoch = Bytes(self.epoch.borrow().id);
        let sent: Vec<(Id, Way)> = {
            let sessions = self.sessions.borrow();
            let way = |id: &Id| match sessions.of(id).and_then(|minion_session| minion_session.hears) {
                Some(known) if everyone && known == epoch => Way::Published,
                _ => Way::Directed,
            };
            present.iter().map(|id| (id.clone(), way(id))).collect()
        };
        // Written before it is sent: a master that starts again knows what it has begun.
        if let Err(message) = self.database.save_job(job.clone(), names(&present), names(&absent)).await {
            return LocalAnswer::Refused { fault: LocalFault::Failed, message };
        }
        self.jobs.borrow_mut().begin(Rc::new(job.clone()), &sent, &absent, Instant::now());
        for end in &absent {
            self.fire_end(&jid, end, "absent");
        }
        if everyone && sent.iter().any(|(_, way)| *way == Way::Published) {
            let frame = publication::publish(&mut self.epoch.borrow_mut(), &self.identity, &job);
            if let Err(error) = frame.and_then(|frame| self.publisher.publish(frame)) {
                // Its targets get it with their long polls.
                log::error!("job {jid} is not published: {error}");
            }
        }
        let mut sessions = self.sessions.borrow_mut();
        for (id, way) in &sent {
            if *way == Way::Directed {
                sessions.wake(id, Wake::Look);
            }
        }
        drop(sessions);
        LocalAnswer::Published { jid, minions: names(&present), absent: names(&absent), steps: Box::default() }
    }

    /// The accepted minions that a target means. The delimiter stands between the steps of a grain's path.
    pub(super) async fn expand(
        self: &Rc<Self>,
        tgt: &Value,
        tgt_type: &str,
        delimiter: Option<&str>,
    ) -> Result<Vec<Id>, String> {
        let nodegroups = self.settings.opts.at("nodegroups").and_then(Value::as_map);
        let target = Target::parse_with(tgt_type, tgt, nodegroups, delimiter.unwrap_or(target::DELIMITER))
            .map_err(|error| error.to_string())?;
        if target.needs() == Needs::Pillar {
            self.fill_pillars().await;
        }
        let (accepted, minions) = (self.accepted.borrow(), self.minions.borrow());
        let (nothing, mut pillars) = (Map::new(), Opened::default());
        let mut matching: Vec<Id> = accepted
            .keys()
            .filter(|id| {
                let known = minions.get(*id);
                let grains = known.map_or(&nothing, |known| &known.grains);
                let pillar = match (target.needs(), known) {
                    (Needs::Pillar, Some(known)) => pillars.of(&known.pillars),
                    _ => &nothing,
                };
                target.matches(&target::Minion { id, grains, pillar })
            })
            .cloned()
            .collect();
        matching.sort();
        Ok(matching)
    }

    fn jid_for(&self, wanted: &str) -> Result<String, String> {
        if wanted.is_empty() {
            return Ok(Jid::now().as_str().to_owned());
        }
        let jid = Jid::parse(wanted).map_err(|error| error.to_string())?;
        if self.jobs.borrow().knows(jid.as_str()) {
            return Err(format!("the jid {wanted} is taken"));
        }
        Ok(jid.as_str().to_owned())
    }

    /// In the first seconds of a master, its minions are still on their way back.
    pub(super) fn counts_as_connected(&self, id: &Id) -> bool {
        let on_its_way = || self.minions.borrow().get(id).is_some_and(|known| !known.seen);
        self.sessions.borrow().is_connected(id) || (self.started.elapsed() < SETTLE && on_its_way())
    }

    /// A return has come in. The client is told at once; the minion when it is on the disk.
    pub(super) async fn take_return(self: &Rc<Self>, sid: SessionId, ret: Return) -> Option<Answer> {
        let noted = match self.note_return(sid, ret, None)? {
            Noted::Unknown(id, ret) => self.note_unknown(id, sid, *ret, Limit::Any)?.recv().await.ok()??,
            noted => noted,
        };
        match noted {
            Noted::Refused(why) => Some(Answer::Refused(why)),
            Noted::Saving(saving) => self.is_saved(sid, saving).await.then_some(Answer::Done),
            Noted::Unknown(..) => None,
        }
    }

    /// Returns that came with a long poll: what is on the disk is acknowledged with a later answer to one.
    pub(super) fn take_returns(self: &Rc<Self>, sid: SessionId, returns: Vec<Return>) {
        for ret in returns {
            let jid = ret.jid.clone();
            let Some(noted) = self.note_return(sid, ret, None) else {
                return;
            };
            let master = self.clone();
            let Noted::Unknown(id, ret) = noted else {
                self.executor.spawn(async move { master.acknowledge(sid, jid, noted).await }).detach();
                continue;
            };
            let Some(later) = self.note_unknown(id, sid, *ret, Limit::Bounded) else {
                continue;
            };
            let acknowledge = async move {
                if let Ok(Some(noted)) = later.recv().await {
                    master.acknowledge(sid, jid, noted).await;
                }
            };
            self.executor.spawn(acknowledge).detach();
        }
    }

    /// Acknowledges a return that came with a long poll when it is on the disk, or never will be.
    async fn acknowledge(&self, sid: SessionId, jid: String, noted: Noted) {
        let is_done = match noted {
            Noted::Saving(saving) => self.is_saved(sid, saving).await,
            Noted::Refused(why) => {
                log::warn!("a return for job {} is dropped: {why}", jid.escape_debug());
                true
            }
            Noted::Unknown(..) => false,
        };
        if is_done {
            self.sessions.borrow_mut().acknowledge(sid, jid, Instant::now());
        }
    }

    /// False when it could not be saved, and the minion has to keep it and try again; and when its key was deleted while
    /// the disk was busy: then it is told nothing.
    async fn is_saved(&self, sid: SessionId, saving: Local<Result<(), String>>) -> bool {
        let saved = saving.await;
        self.sessions.borrow().at(sid).is_some() && saved.is_ok()
    }

    /// Tells everybody that a return has come in, and begins to save it. `sent` is what the database has said of its job,
    /// if it was asked. Nothing: its session has ended.
    pub(super) fn note_return(self: &Rc<Self>, sid: SessionId, ret: Return, sent: Option<Sent>) -> Option<Noted> {
        let (id, valid) = self
            .sessions
            .borrow()
            .at(sid)
            .map(|minion_session| (minion_session.id.clone(), minion_session.valid.clone()))?;
        if let Err(error) = Jid::parse(&ret.jid) {
            return Some(Noted::Refused(error.to_string()));
        }
        let mut received = self.jobs.borrow_mut().returned(&id, &ret, Instant::now());
        if received == Received::Unknown {
            match sent.or_else(|| self.remembered_origin(&id, &ret.jid)) {
                None => return Some(Noted::Unknown(id, Box::new(ret))),
                // Nobody published it: its minion started it.
                Some(Sent::Never) => {}
                Some(Sent::ToIt) => received = Received::Late,
                Some(Sent::ToOthers) => {
                    log::warn!("'{id}' returned job {}, which was not sent to it", ret.jid);
                    return Some(Noted::Refused("this job was not sent to this minion".to_owned()));
                }
            }
        }
        let mut full = full_return(&id, &ret);
        let saving = if received == Received::Again {
            // Told before, but the first one may still be on its way to the disk, or have failed to get there.
            self.database.save_return(&id, ret, full, Over::GivesWay, Closes::No, valid)
        } else {
            if received == Received::Late {
                full.insert("late", true);
            }
            full.insert("ts", unix_time());
            if let Some(user) = self.jobs.borrow().user_of(&ret.jid) {
                full.insert("user", user);
            }
            let event = self.fire(format!("salt/job/{}/ret/{id}", ret.jid), full);
            self.turn_batches();
            let closes = if self.jobs.borrow().is_finished(&ret.jid) { Closes::Yes } else { Closes::No };
            self.database.save_return(&id, ret, event.data, Over::Replaces, closes, valid)
        };
        Some(Noted::Saving(saving))
    }

    pub(super) fn take_piece(&self, sid: SessionId, digest: Hash, offset: u64, bytes: &[u8]) -> Answer {
        let Some(id) = self.sessions.borrow().at(sid).map(|minion_session| minion_session.id.clone()) else {
            return Answer::Refused("no session".to_owned());
        };
        match self.pieces.borrow_mut().take(&id, digest, offset, bytes, Instant::now()) {
            Ok(()) => Answer::Done,
            Err(why) => Answer::Refused(why),
        }
    }

    pub(super) async fn take_return_in_pieces(self: &Rc<Self>, sid: SessionId, digest: Hash) -> Option<Answer> {
        let id = self.sessions.borrow().at(sid)?.id.clone();
        let whole = self.pieces.borrow_mut().finish(&id, digest);
        match whole.and_then(|whole| cbor::decode::<Return>(&whole).map_err(|malformed| malformed.to_string())) {
            Ok(ret) => self.take_return(sid, ret).await,
            Err(why) => Some(Answer::Refused(why)),
        }
    }

    /// Writes down and tells what ended without a return.
    pub(super) fn ended(&self, ended: Vec<Ended>) {
        for end in ended {
            self.fire_end(&end.jid, &end.id, end.state.name());
            self.database.save_end(end.jid.clone(), end.id.to_string(), end.state);
            self.close_if_finished(&end.jid);
        }
    }

    fn close_if_finished(&self, jid: &str) {
        if self.jobs.borrow().is_finished(jid) {
            self.database.close_job(jid);
        }
    }

    fn fire_new(&self, job: &Job, expected: &[Id]) {
        let ids = Value::list(expected.iter().map(|id| id.as_ref()));
        let mut data = Map::from_iter([
            ("jid", Value::from(&job.jid)),
            ("tgt_type", Value::from(&job.tgt_type)),
            ("tgt", job.tgt.clone()),
            ("user", Value::from(&job.user)),
            ("fun", job.fun.clone()),
            ("arg", Value::List(job.arg.clone())),
            ("minions", ids),
            ("missing", Value::List(Vec::new())),
        ]);
        if let Some(metadata) = &job.metadata {
            data.insert("metadata", metadata.clone());
        }
        self.fire(format!("salt/job/{}/new", job.jid), data);
    }

    pub(super) fn fire_end(&self, jid: &str, id: &str, state: &str) {
        let data = Map::from_iter([("jid", jid), ("id", id), ("state", state)]);
        self.fire(format!("salt/job/{jid}/end/{id}"), data);
    }
}

/// What becomes of a return that has come in.
pub(super) enum Noted {
    Refused(String),
    /// Ready when it is on the disk, or cannot be.
    Saving(Local<Result<(), String>>),
    /// Nothing yet: whose job it is, this minion's among others, is not known by heart.
    Unknown(Id, Box<Return>),
}

/// A return with the fields that Salt's events and job caches have.
pub(super) fn full_return(id: &str, ret: &Return) -> Map {
    let mut full = Map::from_iter([
        ("cmd", Value::from("_return")),
        ("id", Value::from(id)),
        ("jid", Value::from(&ret.jid)),
        ("fun", ret.fun.clone()),
        ("fun_args", Value::List(ret.fun_args.clone())),
        ("return", ret.value.clone()),
        ("retcode", Value::from(ret.retcode)),
        ("success", Value::from(ret.success)),
    ]);
    if let Some(out) = &ret.out {
        full.insert("out", out.as_str());
    }
    if let Some(metadata) = &ret.metadata {
        full.insert("metadata", metadata.clone());
    }
    full
}
