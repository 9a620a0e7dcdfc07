//! From a job to its return: taken once, run, kept until the master has it.

use super::Minion;
use super::execute::{World, execute, is_inline, may_see_pillar};
use super::short::{AT_ONCE, Short};
use super::sudo;
use super::worker::{self, Ended, without_result};
use async_io::Timer;
use halite_core::NoMaster;
use halite_core::host::Machine;
use halite_core::jid::Jid;
use halite_core::jobs::{Lock, Running};
use halite_value::{Map, Value};
use halite_wire::cbor;
use halite_wire::cbor::{ByteString, Bytes};
use halite_wire::deadline::within;
use halite_wire::link::LinkError;
use halite_wire::message::{Answer, Ask, Job, Return};
use halite_wire::seal::hash;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

/// How long a jid is remembered, so that it never runs twice.
const REMEMBER: Duration = Duration::from_secs(86_400);
/// The longest return in one message, and the size of a piece of a longer one.
const PIECE: usize = 256 * 1024;
/// How often a daemon looks after workers that an earlier one started.
const LOOK: Duration = Duration::from_millis(500);

/// How a job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// With the answer to the long poll: the next one takes the result of a short function along.
    Handed,
    Published,
    /// Nobody sent it: the minion's own configuration wants it.
    ByItself,
}

impl Minion {
    /// Takes a job and runs it, unless it was taken before.
    pub(super) fn take(self: &Rc<Self>, job: Job, came: Came) {
        let Ok(jid) = Jid::parse(&job.jid) else {
            return log::error!("the master sent a job without a proper jid");
        };
        if self.taken.borrow().contains(&jid) {
            return;
        }
        // Before the pillar is there, nothing that may look at it runs in place.
        let may_be_inline = !self.looks_before_jobs() && sudo::user(&self.background.borrow().opts).is_none();
        let is_inline = may_be_inline && is_inline(&job) && (self.pillar_known.is_over() || !may_see_pillar(&job));
        log::debug!("job {jid}: {}", job.fun);
        if is_inline && !self.recent.borrow_mut().is_new(&jid, Instant::now()) {
            return;
        }
        if is_inline {
            self.tell_job_start(&job);
            return self.work_in_place(jid, job, came);
        }
        let lock = match self.jobs.take(&self.describe(&jid, &job)) {
            Ok(Some(lock)) => lock,
            Ok(None) => return,
            Err(error) => {
                // It says so to the master rather than to run what it could not keep from running twice.
                let why = format!("the job cannot be taken: {error}");
                log::error!("{jid}: {why}");
                let ret = Return {
                    jid: job.jid,
                    fun: job.fun,
                    fun_args: job.arg,
                    value: why.into(),
                    retcode: 1,
                    ..Return::default()
                };
                return self.executor.spawn(self.clone().deliver(jid, ret)).detach();
            }
        };
        self.tell_job_start(&job);
        self.taken.borrow_mut().insert(jid.clone());
        self.executor.spawn(self.clone().work(jid, job, lock)).detach();
    }

    /// Whether each job begins with a look at the grains, which takes too long for the thread that does all the rest.
    fn looks_before_jobs(&self) -> bool {
        self.background.borrow().opts.at("grains_refresh_pre_exec").is_some_and(Value::truthy)
    }

    /// Where the job asks for it (`--start-event`), tells that it begins.
    fn tell_job_start(&self, job: &Job) {
        if !job.extra.at("start_event").is_some_and(Value::truthy) {
            return;
        }
        let mut data = Map::from_iter([
            ("id", Value::from(&self.id)),
            ("jid", Value::from(&job.jid)),
            ("fun", job.fun.clone()),
            ("tgt", job.tgt.clone()),
            ("tgt_type", Value::from(&job.tgt_type)),
            ("user", Value::from(&job.user)),
        ]);
        if let Some(metadata) = &job.metadata {
            data.insert("metadata", metadata.clone());
        }
        let event = Map::from_iter([("data", Value::from(data)), ("pretag", Value::Null)]);
        self.fire(&format!("salt/job/{}/start/{}", job.jid, self.id), event);
    }

    /// What is written down of a job before it begins.
    fn describe(&self, jid: &Jid, job: &Job) -> Running {
        Running {
            jid: jid.clone(),
            fun: job.fun.to_text(),
            fun_args: job.arg.clone(),
            tgt: job.tgt.clone(),
            tgt_type: job.tgt_type.clone(),
            ret: job.ret.clone(),
            user: job.user.clone(),
            pid: 0,
            boot: self.boot.clone(),
        }
    }

    /// Runs a short function. Its result goes with the next long poll, or alone when none is about to be made.
    fn work_in_place(self: &Rc<Self>, jid: Jid, job: Job, came: Came) {
        let background = self.background.borrow().clone();
        let world = World {
            host: &Machine,
            master: &NoMaster,
            grains: &background.grains,
            pillar: &background.pillar,
            opts: &background.opts,
            cancelled: &AtomicBool::new(false),
        };
        let ret = execute(&world, &job);
        let short = Short { jid, job, ret };
        match came {
            Came::Handed => {
                self.short.borrow_mut().push(short, Instant::now());
                let _ = self.short_news.0.try_send(());
            }
            Came::Published | Came::ByItself => self.executor.spawn(self.clone().send_alone(short)).detach(),
        }
    }

    /// Sends the result of a short function by itself.
    pub(super) async fn send_alone(self: Rc<Self>, short: Short) {
        self.taken.borrow_mut().insert(short.jid.clone());
        let answer = within(AT_ONCE, self.channel.ask(&Ask::Return(Box::new(short.ret.clone())))).await;
        match answer {
            Some(Ok(Answer::Done)) => drop(self.taken.borrow_mut().remove(&short.jid)),
            _ => self.keep_and_deliver(short).await,
        }
    }

    /// The master has not acknowledged the result of a short function: it is kept and sent like any other.
    async fn keep_and_deliver(self: Rc<Self>, Short { jid, job, ret }: Short) {
        self.taken.borrow_mut().insert(jid.clone());
        match self.jobs.take(&self.describe(&jid, &job)) {
            Ok(Some(_lock)) => self.keep(&jid, &ret),
            // It ran before, under an earlier daemon, which has seen to its result.
            Ok(None) => {}
            Err(error) => log::error!("{jid}: the result is not on disk: {error}"),
        }
        self.deliver(jid, ret).await;
    }

    /// Sees to the results of short functions that are not acknowledged in time.
    pub(super) async fn keep_short(self: Rc<Self>) {
        loop {
            let due = self.short.borrow().due();
            match due {
                Some(due) => drop(Timer::at(due).await),
                None => drop(self.short_news.1.recv().await),
            }
            let overdue = self.short.borrow_mut().overdue(Instant::now());
            for short in overdue {
                self.executor.spawn(self.clone().keep_and_deliver(short)).detach();
            }
        }
    }

    async fn work(self: Rc<Self>, jid: Jid, job: Job, lock: Lock) {
        let place = match &self.places {
            Some(places) => Some(places.acquire().await),
            None => None,
        };
        self.pillar_known.over().await;
        if self.looks_before_jobs() {
            self.look_at_grains().await;
        }
        let (background, jobs, of) = (self.background.borrow().clone(), self.jobs.clone(), jid.clone());
        let (started, job) = smol::unblock(move || {
            let started = worker::start(&background, &job, &lock);
            if let Ok(child) = &started {
                let _ = jobs.update_pid(&of, child.id());
            }
            (started, job)
        })
        .await;
        let ended = match started {
            Ok(child) => worker::ended(child).await,
            Err(error) => Err(error),
        };
        let ret = match self.spool.take(&jid) {
            Some(ret) => ret,
            None => {
                let ret = match ended {
                    Ok(ended) => without_result(&job, &ended),
                    Err(error) => {
                        log::error!("job {jid}: no worker can be started: {error}");
                        without_result(&job, &Ended { signal: None, code: None })
                    }
                };
                self.keep(&jid, &ret);
                ret
            }
        };
        drop(place);
        self.deliver(jid, ret).await;
    }

    fn keep(&self, jid: &Jid, ret: &Return) {
        if let Err(error) = self.spool.put(jid, ret) {
            log::error!("the result of job {jid} is not on disk ({error}): it is lost if this daemon ends now");
        }
    }

    /// Sends a return until the master has it.
    async fn deliver(self: Rc<Self>, jid: Jid, ret: Return) {
        let answer = match cbor::encode(&ret) {
            Ok(whole) if whole.len() > PIECE => self.deliver_in_pieces(&whole).await,
            Ok(_) => self.channel.ask_until_answered(&Ask::Return(Box::new(ret.clone()))).await,
            Err(unfit) => Err(unfit.into()),
        };
        let why = match answer {
            Ok(Answer::Refused(why)) => Some(why),
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = why {
            // The job must have its end: what did not fit is said in its place.
            log::error!("the master does not take the return of job {jid}: {why}");
            let notice = not_taken(ret, &why);
            let _ = self.channel.ask_until_answered(&Ask::Return(Box::new(notice))).await;
        }
        self.spool.remove(&jid);
        self.taken.borrow_mut().remove(&jid);
    }

    /// Pieces go one after the other, so that a long return holds up nothing else.
    async fn deliver_in_pieces(&self, whole: &[u8]) -> Result<Answer, LinkError> {
        let digest = Bytes(hash(&[whole]));
        // A master that starts anew meanwhile has forgotten the pieces: they are sent once more.
        for _ in 0..3 {
            for (at, bytes) in whole.chunks(PIECE).enumerate() {
                let piece = Ask::Piece { digest, offset: (at * PIECE) as u64, bytes: ByteString(bytes.to_vec()) };
                if let Answer::Refused(why) = self.channel.ask_until_answered(&piece).await? {
                    log::warn!("a piece of a long return is not taken: {why}");
                    break;
                }
            }
            match self.channel.ask_until_answered(&Ask::ReturnInPieces { digest }).await? {
                Answer::Refused(why) => log::warn!("a long return is not taken: {why}"),
                taken => return Ok(taken),
            }
        }
        Ok(Answer::Refused(format!("a result of {} bytes could not be sent", whole.len())))
    }

    /// What an earlier daemon left: results to send, workers that still run, and jobs whose worker died.
    pub(super) fn take_up_old_jobs(self: &Rc<Self>) {
        // In this order: a worker that ends meanwhile is found at one place or the next, and its result is not missed.
        for job in self.jobs.running().unwrap_or_default() {
            if self.taken.borrow_mut().insert(job.jid.clone()) {
                log::info!("job {} of an earlier daemon still runs", job.jid);
                self.executor.spawn(self.clone().watch(job)).detach();
            }
        }
        for jid in self.spool.jids() {
            self.deliver_spooled(jid);
        }
        for job in self.jobs.left_behind(|jid| self.spool.holds(jid)).unwrap_or_default() {
            if !self.taken.borrow().contains(&job.jid) {
                self.lose(&job);
            }
        }
    }

    /// Sends a result that is in the spool and that nobody here sends already.
    pub(super) fn deliver_spooled(self: &Rc<Self>, jid: Jid) {
        if let Some(ret) = self.spool.take(&jid)
            && self.taken.borrow_mut().insert(jid.clone())
        {
            self.executor.spawn(self.clone().deliver(jid, ret)).detach();
        }
    }

    /// Waits for a worker that is not a child of this process.
    async fn watch(self: Rc<Self>, job: Running) {
        loop {
            Timer::after(LOOK).await;
            if let Some(ret) = self.spool.take(&job.jid) {
                return self.deliver(job.jid, ret).await;
            }
            let runs = self.jobs.running().unwrap_or_default().iter().any(|other| other.jid == job.jid);
            if !runs && !self.spool.holds(&job.jid) {
                return self.lose(&job);
            }
        }
    }

    /// A job that nobody works on and that has no result: its process was killed.
    fn lose(self: &Rc<Self>, job: &Running) {
        let jid = job.jid.clone();
        let as_job =
            Job { jid: jid.to_string(), fun: job.fun.as_str().into(), arg: job.fun_args.clone(), ..Job::default() };
        let mut ret = without_result(&as_job, &Ended { signal: None, code: None });
        ret.killed = true;
        self.keep(&jid, &ret);
        self.taken.borrow_mut().insert(jid.clone());
        self.executor.spawn(self.clone().deliver(jid, ret)).detach();
    }

    /// Forgets old jids and bounds the spool, once in a while.
    pub(super) async fn prune(self: Rc<Self>) {
        loop {
            let (jobs, spool) = (self.jobs.clone(), self.spool.clone());
            smol::unblock(move || {
                let now = SystemTime::now();
                if let Err(error) = jobs.prune(now, REMEMBER) {
                    log::warn!("old jobs cannot be removed: {error}");
                }
                spool.prune(super::spool::BOUNDS, now);
            })
            .await;
            Timer::after(Duration::from_secs(3600)).await;
        }
    }
}

fn not_taken(ret: Return, why: &str) -> Return {
    let value = Value::from(format!("The job has ended, but its result cannot be sent: {why}"));
    Return { value, retcode: 1, success: false, ..ret }
}
