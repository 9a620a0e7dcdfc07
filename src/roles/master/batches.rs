//! Batches: jobs that are handed to so many targets at a time.
//!
//! The master runs them, so that nothing depends on the client that started one; [`Jobs`](super::jobs::Jobs) knows whose
//! turn it is. Who had their turn is written down, so that a master that starts again goes on where it was.

use super::Master;
use super::database::Archive;
use super::jobs::{BatchState, Id};
use super::sessions::Wake;
use halite_core::jid::Jid;
use halite_value::{Map, Value};
use halite_wire::message::{Job, LocalAnswer, LocalFault};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

impl Master {
    /// Begins a batch: writes it down and hands the job to the first targets.
    pub(super) async fn publish_batch(self: &Rc<Self>, job: Job, present: Vec<Id>, absent: Vec<Id>) -> LocalAnswer {
        let names = |ids: &[Id]| ids.iter().map(|id| id.to_string()).collect::<Vec<String>>();
        let jid = job.jid.clone();
        if let Err(message) = self.database.save_job(job.clone(), names(&present), names(&absent)).await {
            return LocalAnswer::Refused { fault: LocalFault::Failed, message };
        }
        self.jobs.borrow_mut().begin_batch(Rc::new(job), &present, &absent, Instant::now());
        for id in &absent {
            self.fire_end(&jid, id, "absent");
        }
        self.fire_batch(&jid, "new");
        self.turn_batches();
        LocalAnswer::Published { jid, minions: names(&present), absent: names(&absent), steps: Box::default() }
    }

    /// Takes up a batch of an earlier run.
    pub(super) fn restore_batch(&self, job: Job, open: &[Id], archive: &Archive) -> Result<(), String> {
        let now = unix_time();
        let started: HashMap<Id, Duration> = archive
            .started(&job.jid)
            .map_err(|error| error.to_string())?
            .into_iter()
            .map(|(id, at)| (Id::from(id), Duration::from_secs_f64((now - at).clamp(0.0, 1e9))))
            .collect();
        self.jobs.borrow_mut().restore_batch(Rc::new(job), open, &started, Instant::now());
        Ok(())
    }

    /// Hands jobs on to those whose turn it is.
    pub(super) fn turn_batches(self: &Rc<Self>) {
        let turned = self.jobs.borrow_mut().turn(|id| self.counts_as_connected(id), Instant::now());
        for (jid, ids) in turned.started {
            // In the order of the writes, so before a return of one of them. A master that is killed before that offers
            // the job once more, and a minion takes a jid once.
            self.database.save_started(jid.clone(), ids.iter().map(|id| id.to_string()).collect(), unix_time());
            self.fire_batch(&jid, "progress");
            let mut sessions = self.sessions.borrow_mut();
            ids.iter().for_each(|id| sessions.wake(id, Wake::Look));
        }
        self.ended(turned.ended);
        for jid in turned.over {
            let state = self.batch(&jid);
            let is_stopped = state.is_some_and(|state| state.stopped.is_some());
            self.fire_batch(&jid, if is_stopped { "halted" } else { "complete" });
        }
    }

    /// The batches that are not over, and those that ended a moment ago, as Salt's runner shows them.
    pub(super) fn batches(&self) -> Vec<Map> {
        self.jobs.borrow().batches().iter().map(described).collect()
    }

    pub(super) fn stop_batch(self: &Rc<Self>, jid: &str) -> LocalAnswer {
        if !self.jobs.borrow_mut().stop_batch(jid) {
            let message = format!("{jid} is no batch that is under way");
            return LocalAnswer::Refused { fault: LocalFault::Invalid, message };
        }
        self.turn_batches();
        LocalAnswer::Done
    }

    fn batch(&self, jid: &str) -> Option<BatchState> {
        self.jobs.borrow().batches().into_iter().find(|state| state.job.jid == jid)
    }

    fn fire_batch(&self, jid: &str, what: &str) {
        if let Some(state) = self.batch(jid) {
            self.fire(format!("salt/batch/{jid}/{what}"), described(&state));
        }
    }
}

/// A batch with the names that Salt's events and its runner have for it.
fn described(state: &BatchState) -> Map {
    let job = &state.job;
    let created = Jid::parse(&job.jid).ok().and_then(|jid| jid.time());
    let created = created.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|since| since.as_secs_f64());
    Map::from_iter([
        ("jid", Value::from(&job.jid)),
        ("fun", job.fun.clone()),
        ("tgt", job.tgt.clone()),
        ("tgt_type", Value::from(&job.tgt_type)),
        ("total", Value::from(state.total)),
        ("completed", Value::from(state.completed)),
        ("active", Value::from(state.active)),
        ("pending", Value::from(state.waiting)),
        ("failed", Value::from(state.failed)),
        ("batch_size", Value::from(state.size)),
        ("halted", Value::Bool(state.stopped.is_some())),
        ("halted_reason", state.stopped.map_or(Value::Null, |why| why.name().into())),
        ("driver", Value::from("master")),
        ("user", Value::from(&job.user)),
        ("created", created.map_or(Value::Null, Value::Float)),
    ])
}

fn unix_time() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
