//! What programs on the master's own host ask, on `master.ipc`. Who asks is what the kernel says of the socket's peer.

use super::Master;
use super::acl::Verb;
use super::database::{Closes, Over};
use super::publish::full_return;
use super::stats;
use halite_core::jid::Jid;
use halite_value::{Map, Value};
use halite_wire::cbor;
use halite_wire::deadline::within;
use halite_wire::link::{Local, Peer, PipeId, Service};
use halite_wire::message::{Event, Job, Keep, LocalAnswer, LocalAsk, LocalFault, Publish, Return, Steps};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Where the local socket of a master is.
pub fn path_in(sock_dir: &Path) -> PathBuf {
    sock_dir.join("master.ipc")
}

/// How long a client that waits for outcomes is kept before it has to ask again.
const WAIT_TIME: Duration = Duration::from_secs(20);
/// Connections that one user may have.
const PER_USER: usize = 64;
/// Steps in one answer: they have to fit in a message.
const ANSWER_BYTES: usize = 700_000;

/// The service behind `master.ipc`.
pub struct LocalDispatcher {
    master: Rc<Master>,
    connections: RefCell<HashMap<u32, usize>>,
    users: RefCell<HashMap<PipeId, u32>>,
}

impl LocalDispatcher {
    pub fn new(master: Rc<Master>) -> LocalDispatcher {
        LocalDispatcher { master, connections: RefCell::default(), users: RefCell::default() }
    }

    fn admits(&self, peer: Peer) -> bool {
        let Some(uid) = peer.uid else {
            return false;
        };
        if self.users.borrow().contains_key(&peer.pipe) {
            return true;
        }
        let mut connections = self.connections.borrow_mut();
        let count = connections.entry(uid).or_default();
        if *count >= PER_USER {
            return false;
        }
        *count += 1;
        self.users.borrow_mut().insert(peer.pipe, uid);
        true
    }
}

impl Service for LocalDispatcher {
    fn request(self: Rc<Self>, from: Peer, frame: Vec<u8>) -> Local<Option<Vec<u8>>> {
        if !self.admits(from) {
            return Box::pin(async { None });
        }
        let master = self.master.clone();
        Box::pin(async move {
            let answer = match cbor::decode::<LocalAsk>(&frame) {
                Ok(ask) => master.answer_local(from.uid.unwrap_or(u32::MAX), ask).await,
                Err(malformed) => refused(LocalFault::Invalid, malformed.to_string()),
            };
            let unfit = |unfit: cbor::Unfit| cbor::encode(&refused(LocalFault::Failed, unfit.to_string()));
            cbor::encode(&answer).or_else(unfit).ok()
        })
    }

    fn closed(&self, pipe: PipeId) {
        let Some(uid) = self.users.borrow_mut().remove(&pipe) else {
            return;
        };
        let mut connections = self.connections.borrow_mut();
        if let Some(count) = connections.get_mut(&uid) {
            *count -= 1;
            if *count == 0 {
                connections.remove(&uid);
            }
        }
    }
}

impl Master {
    async fn answer_local(self: &Rc<Self>, uid: u32, ask: LocalAsk) -> LocalAnswer {
        let caller = self.settings.acl.caller(uid).await;
        let allowed = match &ask {
            LocalAsk::Publish(publish) => caller.allows(Verb::Publish(publish)),
            LocalAsk::Wait { .. }
            | LocalAsk::States { .. }
            | LocalAsk::StopBatch { .. }
            | LocalAsk::Batches
            | LocalAsk::Expand { .. }
            | LocalAsk::Presence => caller.allows(Verb::Look),
            LocalAsk::KeysChanged { .. } | LocalAsk::Fire(_) | LocalAsk::Keep(_) => caller.allows(Verb::Own),
        };
        if let Err(message) = allowed {
            log::warn!("refused: {message}");
            return refused(LocalFault::Denied, message);
        }
        match ask {
            LocalAsk::Publish(ask) => {
                let user = caller.job_user(&ask);
                let wait = Duration::from_millis(ask.wait_ms.into()).min(WAIT_TIME);
                let came = Instant::now();
                let mut answer = self.publish(&user, *ask).await;
                self.stats.note(stats::PUBLISH, came);
                if let LocalAnswer::Published { jid, steps, .. } = &mut answer
                    && !wait.is_zero()
                    && let Some(first) = self.steps(jid, 0, wait).await
                {
                    **steps = first;
                }
                answer
            }
            LocalAsk::Wait { jid, .. } | LocalAsk::States { jid } | LocalAsk::StopBatch { jid }
                if !caller.may_see(self.jobs.borrow().user_of(&jid)) =>
            {
                refused(LocalFault::Denied, format!("job {jid} is another user's"))
            }
            LocalAsk::Wait { jid, seen } => match self.steps(&jid, seen, WAIT_TIME).await {
                Some(steps) => LocalAnswer::Steps(Box::new(steps)),
                None => refused(LocalFault::Invalid, format!("no open job {jid}")),
            },
            LocalAsk::Presence => self.presence_answer(),
            LocalAsk::Expand { tgt, tgt_type, delimiter } => {
                match self.expand(&tgt, &tgt_type, delimiter.as_deref()).await {
                    Ok(ids) => LocalAnswer::Minions(ids.iter().map(|id| id.to_string()).collect()),
                    Err(message) => refused(LocalFault::Invalid, message),
                }
            }
            LocalAsk::States { jid } => {
                let states = self.jobs.borrow().states(&jid, Instant::now()).unwrap_or_default();
                LocalAnswer::States(Map::from_iter(states.into_iter().map(|(id, name)| (id.as_ref().to_owned(), name))))
            }
            LocalAsk::Batches => {
                let mut batches = self.batches();
                batches.retain(|batch| caller.may_see(batch.str_at("user")));
                LocalAnswer::Batches(batches)
            }
            LocalAsk::StopBatch { jid } => self.stop_batch(&jid),
            LocalAsk::KeysChanged { changes, remains } => {
                self.keys_changed(changes, remains).await;
                LocalAnswer::Done
            }
            LocalAsk::Fire(Event { tag, data }) => {
                if let Some(jid) = run_of(&tag) {
                    self.keep_run(jid, &data).await;
                }
                self.fire(tag, data);
                LocalAnswer::Done
            }
            LocalAsk::Keep(Keep::ForgetGrains(ids)) => written(self.forget_grains(ids).await),
            LocalAsk::Keep(Keep::Store { bank, key, data }) => written(self.database.save_kept(bank, key, data).await),
            LocalAsk::Keep(Keep::Flush { bank, key }) => written(self.database.flush_kept(bank, key).await),
        }
    }

    /// What has happened to a job from step `seen` on: as soon as there is anything, or what there is after `time`.
    /// Nothing for a job that is not known any more.
    pub(super) async fn steps(&self, jid: &str, seen: usize, time: Duration) -> Option<Steps> {
        let news = async {
            loop {
                let changed = self.jobs.borrow_mut().changed(jid)?;
                let steps = self.jobs.borrow().steps(jid, seen)?;
                if !steps.steps.is_empty() || steps.open == 0 {
                    return Some(fitting(steps));
                }
                changed.recv().await.ok()?;
            }
        };
        match within(time, news).await {
            Some(steps) => steps,
            None => self.jobs.borrow().steps(jid, seen).map(fitting),
        }
    }

    /// Keeps what a runner has answered like the return of a job, so that it is found when nobody has waited for it.
    async fn keep_run(&self, jid: Jid, data: &Map) {
        if self.settings.opts.at("runner_returns").is_some_and(|wanted| !wanted.truthy()) {
            return;
        }
        let field = |key: &str| data.at(key).cloned().unwrap_or_default();
        let (id, success) = (self.settings.id.clone(), field("success").truthy());
        let arg = data.at("fun_args").and_then(Value::as_list).unwrap_or_default().to_vec();
        let job = Job {
            jid: jid.as_str().to_owned(),
            fun: field("fun"),
            arg: arg.clone(),
            tgt: id.as_str().into(),
            tgt_type: "list".to_owned(),
            user: field("user").to_text(),
            ..Job::default()
        };
        let ret = Return {
            jid: job.jid.clone(),
            fun: job.fun.clone(),
            fun_args: arg,
            value: field("return"),
            retcode: i64::from(!success),
            success,
            ..Return::default()
        };
        let full = full_return(&id, &ret);
        let saved = self.database.save_job(job, vec![id.clone()], Vec::new()).await;
        let valid = Arc::new(AtomicBool::new(true));
        let returned = self.database.save_return(&id, ret, full, Over::Replaces, Closes::Yes, valid).await;
        if let Err(error) = saved.and(returned) {
            log::error!("what a runner has answered is not kept: {error}");
        }
    }

    async fn forget_grains(&self, ids: Vec<String>) -> Result<(), String> {
        let mut forgotten = Vec::new();
        for id in ids {
            if let Some(known) = self.minions.borrow_mut().get_mut(id.as_str()) {
                known.grains = Map::new();
                forgotten.push(self.database.forget_grains(id));
            }
        }
        for written in forgotten {
            written.await?;
        }
        Ok(())
    }

    fn presence_answer(&self) -> LocalAnswer {
        let mut accepted: Vec<String> = self.accepted.borrow().keys().map(|id| id.to_string()).collect();
        accepted.sort();
        let sessions = self.sessions.borrow();
        let mut connected: Vec<String> =
            sessions.connected().map(|minion_session| minion_session.id.to_string()).collect();
        connected.sort();
        let addresses = Map::from_iter(connected.iter().filter_map(|id| {
            let address = self.addresses.borrow().get(&sessions.pipe_of(id)?).copied()?;
            Some((id.clone(), Value::from(address.to_string())))
        }));
        LocalAnswer::Presence { accepted, connected, addresses }
    }
}

/// The run whose answer an event tells.
fn run_of(tag: &str) -> Option<Jid> {
    Jid::parse(tag.strip_prefix("salt/run/")?.strip_suffix("/ret")?).ok()
}

/// Cuts what does not fit in one message; the client asks for the rest.
fn fitting(mut steps: Steps) -> Steps {
    let mut size = 0;
    let fit = steps.steps.iter().take_while(|step| {
        size = cbor::size(*step).saturating_add(size);
        size < ANSWER_BYTES
    });
    let fit = fit.count().max(1);
    if steps.steps.len() > fit {
        steps.open += steps.steps.len() - fit;
        steps.steps.truncate(fit);
    }
    steps
}

/// Done, as soon as it is in the database: whoever asks may read it next.
fn written(outcome: Result<(), String>) -> LocalAnswer {
    match outcome {
        Ok(()) => LocalAnswer::Done,
        Err(message) => refused(LocalFault::Failed, message),
    }
}

fn refused(fault: LocalFault, message: String) -> LocalAnswer {
    LocalAnswer::Refused { fault, message }
}

/// A job as somebody may be allowed to start it.
pub fn functions_of(publish: &Publish) -> Vec<String> {
    match &publish.fun {
        Value::List(functions) => functions.iter().map(Value::to_text).collect(),
        one => vec![one.to_text()],
    }
}
