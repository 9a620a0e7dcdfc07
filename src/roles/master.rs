//! `salt-master`: accepts keys, hands out jobs and gathers what comes back.
//!
//! One thread runs everything that decides ([`Master`]); beside it signatures have a small pool, the database its threads
//! and publications a sender. It waits for no disk: keys are looked up on the blocking pool, the database writes and
//! answers on its own threads, and what is needed at once is known by heart. Only the start of a master reads files on it,
//! when nobody is served yet; lines of the log leave from it as from every thread, and the local time zone, which jids are
//! in, is read again when the system's has changed.
//!
//! The way of a request through the files: [`dispatcher`] opens it, [`admission`] and [`trust`] decide who may have a session,
//! [`sessions`] knows who has one, [`publish`] begins jobs and takes returns, [`jobs`] knows their states, [`origins`] to whom
//! those were sent that are over, [`batches`] gives those of a batch their turns, [`database`] keeps them, [`bus`] tells
//! everybody, [`files`] gives files, [`pillar`] gives each minion its own, [`local`] serves the programs of this host.

pub mod acl;
mod admission;
pub mod autosign;
mod batch;
mod batches;
pub mod bus;
pub mod database;
mod dispatcher;
mod files;
pub mod jobs;
mod keyfile;
pub mod local;
pub mod origins;
mod peer;
pub mod pieces;
mod pillar;
pub mod pool;
mod publish;
mod rate;
pub mod sessions;
pub mod settings;
pub mod start;
mod stats;
pub mod trust;
pub mod unauthenticated;
mod vouching;

use async_io::Timer;
use bus::Bus;
use database::{Archive, Database, Environments};
use files::FileDesk;
use halite_core::jid::Jid;
use halite_keys::epoch::Epoch;
use halite_keys::identity::SIGNATURE_BYTES;
use halite_keys::store::{KeyStore, Stamp};
use halite_keys::watch::Watch;
use halite_keys::{Identity, PublicKey};
use halite_lang::target::fnmatch::Pattern;
use halite_value::{Map, Value};
use halite_wire::cbor::Bytes;
use halite_wire::link::{Connections, PipeId};
use halite_wire::nng::{Publisher, Server};
use halite_wire::seal;
use jobs::{Id, Jobs};
use origins::Origins;
use peer::PeerDesk;
use pieces::Pieces;
use pillar::{PillarDesk, Pillars};
use pool::{Pool, ReconnectJitter};
use sessions::Sessions;
use settings::{Events, Settings};
use smol::LocalExecutor;
use stats::Stats;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use trust::{Desk, Waiting};
use unauthenticated::Unauthenticated;

/// A master, running.
pub struct Master {
    executor: Rc<LocalExecutor<'static>>,
    settings: Settings,
    identity: Identity,
    /// The signing key's word for our key, where there is one.
    chain: Option<[u8; SIGNATURE_BYTES]>,
    /// What is known of keys by the disk. Asked on the blocking pool, by whoever has the turn.
    keys: Arc<Desk>,
    turn: smol::lock::Mutex<()>,
    /// Notices what is done to the accepted keys. Not here while they are read.
    watch: RefCell<Option<Watch>>,
    /// Whether keys were accepted that are not on the disk yet.
    unsettled: Cell<bool>,
    /// The state of the key directories when they were read last.
    stamp: RefCell<Stamp>,
    accepted: RefCell<HashMap<Id, PublicKey>>,
    waiting: Waiting,
    unauthenticated: RefCell<Unauthenticated>,
    sessions: RefCell<Sessions>,
    addresses: RefCell<HashMap<PipeId, IpAddr>>,
    minions: RefCell<HashMap<Id, Known>>,
    present: RefCell<BTreeSet<Id>>,
    epoch: RefCell<Epoch>,
    epoch_began: Cell<Instant>,
    jobs: RefCell<Jobs>,
    /// What was asked of the database about jobs that are not open.
    origins: RefCell<Origins>,
    /// Long returns under way.
    pieces: RefCell<Pieces>,
    /// What was begun for minions that have others do something.
    peers: RefCell<PeerDesk>,
    files: FileDesk,
    pillar: PillarDesk,
    stats: Stats,
    database: Database,
    bus: Bus,
    publisher: Publisher,
    pool: Pool,
    jitter: ReconnectJitter,
    /// Set once, when the sockets are there.
    dispatcher: OnceCell<Rc<dyn Connections>>,
    started: Instant,
}

/// What a master remembers of a minion.
#[derive(Default)]
struct Known {
    grains: Map,
    /// What it asks its pillar for.
    environments: Environments,
    boot: Option<String>,
    /// Whether it has had a session since this master started.
    seen: bool,
    /// The instance that fired the last event, and its number.
    events: Option<(Bytes<16>, u64)>,
    pillars: Pillars,
}

/// An epoch lasts a day at most.
const EPOCH_TIME: Duration = Duration::from_secs(86_400);

/// A master with its sockets; dropping it closes them.
pub struct Running {
    pub master: Rc<Master>,
    _door: Rc<Server>,
    _local: Server,
}

impl Master {
    /// Opens the sockets and begins to serve. The executor must run on.
    pub fn start(executor: &Rc<LocalExecutor<'static>>, settings: Settings) -> Result<Running, String> {
        let master = Rc::new(Master::prepare(executor.clone(), settings)?);
        master.restore()?;
        let address = SocketAddr::new(master.settings.interface, master.settings.ret_port);
        let dispatcher = Server::tcp(executor, address, master.settings.keepalive, master.clone());
        let dispatcher = Rc::new(dispatcher.map_err(|error| format!("{error} (options 'interface' and 'ret_port')"))?);
        let _ = master.dispatcher.set(dispatcher.clone());
        let local_door = Rc::new(local::LocalDispatcher::new(master.clone()));
        // Everybody may connect: what they may ask is for publisher_acl.
        let local =
            Server::local(executor, &local::path_in(&master.settings.sock_dir), 0o666, local_door).map_err(text)?;
        executor.spawn(master.clone().tick()).detach();
        executor.spawn(master.clone().maintain()).detach();
        executor.spawn(master.clone().watch_files()).detach();
        log::info!("master '{}' serves {address} and {}", master.settings.id, master.settings.publish_port);
        Ok(Running { master, _door: dispatcher, _local: local })
    }

    fn prepare(executor: Rc<LocalExecutor<'static>>, mut settings: Settings) -> Result<Master, String> {
        let identity = keyfile::load_or_make(&settings.pki_dir, &settings.id).map_err(text)?;
        let chain = vouching::chain(&settings.opts, &settings.pki_dir, identity.public())?;
        let store = KeyStore::open(&settings.pki_dir, settings.pending_max);
        store.make_directories().map_err(text)?;
        let publish_address = SocketAddr::new(settings.interface, settings.publish_port);
        Ok(Master {
            stamp: RefCell::new(store.stamp()),
            database: Database::open(&database::path_in(&settings.cachedir)).map_err(text)?,
            bus: Bus::open(&settings.sock_dir).map_err(text)?,
            publisher: Publisher::tcp(publish_address, settings.keepalive)
                .map_err(|error| format!("{error} (options 'interface' and 'publish_port')"))?,
            jitter: ReconnectJitter::default(),
            pool: Pool::start(2, 1024).map_err(text)?,
            identity,
            chain,
            keys: Desk::new(store, std::mem::take(&mut settings.rules), settings.pending_max),
            turn: smol::lock::Mutex::new(()),
            watch: RefCell::default(),
            unsettled: Cell::new(false),
            accepted: RefCell::default(),
            waiting: Waiting::default(),
            unauthenticated: RefCell::default(),
            sessions: RefCell::default(),
            addresses: RefCell::default(),
            minions: RefCell::default(),
            present: RefCell::default(),
            epoch: RefCell::new(Epoch::begin()),
            epoch_began: Cell::new(Instant::now()),
            jobs: RefCell::default(),
            origins: RefCell::default(),
            pieces: RefCell::default(),
            peers: RefCell::default(),
            files: FileDesk::open(&settings)?,
            pillar: PillarDesk::new(&settings.opts),
            stats: Stats::of(&settings),
            dispatcher: OnceCell::new(),
            started: Instant::now(),
            executor,
            settings,
        })
    }

    /// Takes up what an earlier run left: who is accepted, what is known of them, and the jobs that are not finished.
    fn restore(self: &Rc<Self>) -> Result<(), String> {
        self.load_keys();
        let path = database::path_in(&self.settings.cachedir);
        let Some(archive) = Archive::open(&path).map_err(text)? else {
            return Ok(());
        };
        let mut minions = self.minions.borrow_mut();
        for (id, boot, mut grains) in archive.minions().map_err(text)? {
            if !grains.is_empty() && !self.keeps_minion_data() {
                grains = Map::new();
                self.database.save_grains(id.clone(), Map::new());
            }
            minions.insert(Id::from(id), Known { grains, boot, ..Known::default() });
        }
        for (id, environments) in archive.environments().map_err(text)? {
            if let Some(known) = minions.get_mut(id.as_str()) {
                known.environments = environments;
            }
        }
        drop(minions);
        let now = SystemTime::now();
        for unfinished in archive.unfinished().map_err(text)? {
            let begun = Jid::parse(&unfinished.job.jid).ok().and_then(|jid| jid.time());
            let age = begun.and_then(|begun| now.duration_since(begun).ok()).unwrap_or_default();
            let open: Vec<Id> = unfinished.open.iter().map(|id| Id::from(id.as_str())).collect();
            if unfinished.job.batch.is_some() {
                self.restore_batch(unfinished.job, &open, &archive)?;
                continue;
            }
            self.jobs.borrow_mut().restore(Rc::new(unfinished.job), &open, age, Instant::now());
        }
        Ok(())
    }

    /// Puts an event on the bus, and into the database where that is asked for.
    pub(crate) fn fire(&self, tag: impl Into<String>, data: Map) -> halite_wire::message::Numbered {
        let event = self.bus.fire(tag, data);
        if self.settings.keep_events == Events::On && self.is_kept(&event.tag) {
            self.database.save_event(event.tag.clone(), event.data.clone(), self.settings.id.clone());
        }
        event
    }

    /// Whether the lists of the configuration let an event into the database.
    fn is_kept(&self, tag: &str) -> bool {
        let named = |option: &str| {
            let patterns = self.settings.opts.at(option).and_then(Value::as_list).filter(|list| !list.is_empty())?;
            Some(patterns.iter().any(|pattern| Pattern::new(&pattern.to_text()).matches(tag)))
        };
        named("event_return_whitelist") != Some(false) && named("event_return_blacklist") != Some(true)
    }

    /// Begins a new epoch of publications. Minions learn of it with their next answer.
    fn new_epoch(&self) {
        *self.epoch.borrow_mut() = Epoch::begin();
        self.epoch_began.set(Instant::now());
    }

    fn close(&self, pipe: PipeId) {
        if let Some(dispatcher) = self.dispatcher.get() {
            dispatcher.close(pipe);
        }
    }

    fn is_open(&self, pipe: PipeId) -> bool {
        self.dispatcher.get().is_none_or(|dispatcher| dispatcher.is_open(pipe))
    }

    fn pipe_closed(&self, pipe: PipeId) {
        self.unauthenticated.borrow_mut().closed(pipe);
        self.addresses.borrow_mut().remove(&pipe);
        let left = self.sessions.borrow_mut().closed(pipe);
        if let Some(id) = left {
            self.jobs.borrow_mut().away(&id, Instant::now());
        }
    }

    /// What its host had under way before a reboot is gone.
    fn remember_boot(self: &Rc<Self>, id: &Id, boot: Bytes<16>) {
        let boot: String = boot.0.iter().map(|byte| format!("{byte:02x}")).collect();
        let before = {
            let mut minions = self.minions.borrow_mut();
            let known = minions.entry(id.clone()).or_default();
            known.seen = true;
            known.boot.replace(boot.clone())
        };
        if before.as_deref() == Some(boot.as_str()) {
            return;
        }
        self.database.save_boot(id.to_string(), boot);
        if before.is_some() {
            let ended = self.jobs.borrow_mut().rebooted(id, Instant::now());
            self.ended(ended);
        }
    }

    /// A random number below `limit`, for spreading what would come all at once.
    fn spread(&self, limit: u64) -> u64 {
        u64::from_be_bytes(seal::random()) % limit.max(1)
    }

    /// What must happen within a second: who is silent, what is lost, who gets a publication again.
    async fn tick(self: Rc<Self>) {
        loop {
            let pause = if self.jobs.borrow().any_open() { 250 } else { 1000 };
            Timer::after(Duration::from_millis(pause)).await;
            let now = Instant::now();
            for away in self.sessions.borrow_mut().sweep(now) {
                self.jobs.borrow_mut().away(&away.id, away.since);
                if let Some(pipe) = away.pipe {
                    self.close(pipe);
                }
            }
            for pipe in self.unauthenticated.borrow_mut().sweep(now) {
                self.close(pipe);
            }
            if let Some(dispatcher) = self.dispatcher.get() {
                dispatcher.admit(self.connections_in(Duration::from_millis(pause), now));
            }
            for pipe in self.sessions.borrow_mut().orphans() {
                self.close(pipe);
            }
            let silent = self.jobs.borrow().silent(now);
            for id in silent {
                self.sessions.borrow_mut().wake(&id, sessions::Wake::Look);
            }
            let awaited = self.jobs.borrow().awaited();
            self.sessions.borrow_mut().probe(&awaited, now);
            let ended = self.jobs.borrow_mut().sweep(self.settings.lost_after, now);
            self.ended(ended);
            self.turn_batches();
            if let Some(told) = self.stats.due(&self.settings.id, now) {
                self.fire(format!("salt/stats/{}", self.settings.id), told);
            }
        }
    }

    /// What may take its time: presence events, keys changed by hand, old jobs, a new epoch.
    async fn maintain(self: Rc<Self>) {
        let mut pruned: Option<Instant> = None;
        loop {
            Timer::after(self.settings.loop_interval).await;
            self.waiting.sweep();
            if self.unsettled.replace(false) {
                let keys = self.keys.clone();
                if let Err(error) = smol::unblock(move || keys.store.settle()).await {
                    log::error!("accepted keys are not on the disk: {error}");
                    self.unsettled.set(true);
                }
            } else {
                self.look_at_key_directories().await;
            }
            if self.settings.presence_events == Events::On {
                self.tell_presence();
            }
            if self.epoch_began.get().elapsed() > EPOCH_TIME {
                self.new_epoch();
            }
            let Some(keep) = self.settings.keep_jobs else {
                continue;
            };
            if pruned.is_none_or(|at| at.elapsed() > Duration::from_secs(600)) {
                pruned = Some(Instant::now());
                self.database.prune(Jid::at(SystemTime::now() - keep).as_str().to_owned());
            }
        }
    }

    fn tell_presence(&self) {
        let now: BTreeSet<Id> =
            self.sessions.borrow().connected().map(|minion_session| minion_session.id.clone()).collect();
        let before = std::mem::replace(&mut *self.present.borrow_mut(), now.clone());
        let names = |ids: Vec<&Id>| Value::list(ids.into_iter().map(|id| id.as_ref()));
        if now != before {
            let new = names(now.difference(&before).collect());
            let lost = names(before.difference(&now).collect());
            self.fire("salt/presence/change", Map::from_iter([("new", new), ("lost", lost)]));
        }
        self.fire("salt/presence/present", Map::from_iter([("present", names(now.iter().collect()))]));
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
