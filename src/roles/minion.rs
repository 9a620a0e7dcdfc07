//! `salt-minion`: stays connected to its master and runs the jobs that it is given.
//!
//! The way of a job through the files: [`channel`] keeps connection and session, [`stand`] has a request open at the
//! master and takes the jobs that it is answered with (and those published on 4505), [`work`] takes a jid once and runs
//! the job in place ([`short`]) or in a [`worker`], [`spool`] keeps the result until the master has it.

mod bus;
pub mod channel;
pub mod execute;
pub mod files;
pub mod local;
mod long_poll;
pub mod peer;
pub mod pillar;
pub mod settings;
mod short;
pub mod spool;
pub mod start;
mod startup;
pub mod sudo;
mod supervisor;
mod work;
pub mod worker;

use async_io::Timer;
use channel::Channel;
use files::FileChannel;
use halite_core::host::Machine;
use halite_core::jid::Jid;
use halite_core::jobs::{Jobs, boot_id};
use halite_keys::Identity;
use halite_node::grains;
use halite_value::{Map, Value};
use halite_wire::cbor;
use halite_wire::cbor::Bytes;
use halite_wire::link::{Local, Transport};
use halite_wire::message::{Answer, Ask, Event, Remains};
use halite_wire::nng::Server;
use halite_wire::seal;
use local::{LocalDispatcher, MinionAnswer, MinionAsk};
use long_poll::Freshness;
use pillar::{Awaited, Parts};
use settings::{Keeper, Settings};
use short::{Recent, Unacknowledged};
use smol::LocalExecutor;
use smol::channel::{Receiver, Sender, bounded, unbounded};
use smol::lock::Semaphore;
use spool::Spool;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A minion, running: everything from the handshake to the spool.
pub struct Minion {
    id: String,
    executor: Rc<LocalExecutor<'static>>,
    channel: Rc<Channel>,
    transport: Rc<dyn Transport>,
    files: Rc<FileChannel>,
    jobs: Jobs,
    spool: Spool,
    /// Jobs that were taken and whose return is not acknowledged.
    taken: RefCell<BTreeSet<Jid>>,
    recent: RefCell<Recent>,
    /// Results of short functions that are not acknowledged.
    short: RefCell<Unacknowledged>,
    /// Told when there is one more of them.
    short_news: (Sender<()>, Receiver<()>),
    freshness: RefCell<Freshness>,
    /// Whether there is a connection to the port of publications.
    listens: RefCell<Arc<AtomicBool>>,
    /// What jobs are given; replaced whole when the grains are refreshed.
    background: RefCell<Arc<worker::Background>>,
    events: Sender<Event>,
    /// What is told to this daemon, for those on this host who listen.
    bus: bus::Bus,
    max_event_size: usize,
    /// Somebody on this host wants the daemon to start anew.
    restarts: (Sender<()>, Receiver<()>),
    keeper: Keeper,
    boot: String,
    /// A place for each job that may be worked on at the same time, where that is limited.
    places: Option<Semaphore>,
    /// Whether the pillar has come, and whom to tell when it does.
    pillar_known: Awaited,
    /// Pillars that workers are given in parts.
    parts: RefCell<Parts>,
}

impl Minion {
    /// Begins to serve. The executor must run on.
    pub fn start(
        executor: &Rc<LocalExecutor<'static>>,
        settings: Settings,
        transport: Rc<dyn Transport>,
    ) -> Result<Running, String> {
        let identity = Identity::load_or_make(&settings.pki_dir, "minion").map_err(text)?;
        let boot = boot_id();
        let channel = Channel::new(settings.clone(), identity, transport.clone(), boot_bytes(&boot));
        let (events, outgoing) = unbounded();
        let minion = Rc::new(Minion {
            id: settings.id.clone(),
            executor: executor.clone(),
            channel: channel.clone(),
            files: FileChannel::new(
                executor,
                channel.clone(),
                transport.clone(),
                &settings.cachedir,
                settings.file_timeout,
            ),
            transport,
            jobs: Jobs::new(&settings.cachedir),
            spool: Spool::open(&settings.cachedir).map_err(text)?,
            taken: RefCell::default(),
            recent: RefCell::default(),
            short: RefCell::default(),
            short_news: bounded(1),
            freshness: RefCell::default(),
            listens: RefCell::default(),
            background: RefCell::new(Arc::new(worker::Background {
                cachedir: settings.cachedir.clone(),
                sock_dir: settings.sock_dir.clone(),
                opts: settings.opts,
                grains: settings.grains,
                pillar: Arc::default(),
            })),
            events,
            bus: bus::Bus::default(),
            max_event_size: settings.max_event_size,
            restarts: bounded(1),
            keeper: settings.keeper,
            boot,
            places: settings.jobs_at_once.map(|count| Semaphore::new(count as usize)),
            pillar_known: Awaited::default(),
            parts: RefCell::default(),
        });
        let local = match &settings.sock_dir {
            Some(sock_dir) => {
                let door = Rc::new(LocalDispatcher::new(minion.clone()));
                Some(Server::local(executor, &local::path_in(sock_dir), 0o600, door).map_err(text)?)
            }
            None => None,
        };
        minion.take_up_old_jobs();
        minion.begin_startup_states();
        let delay = Duration::from_millis(channel::spread(settings.startup_delay.as_millis() as u64));
        executor.spawn(begin_after(delay, channel)).detach();
        executor.spawn(minion.clone().ping(settings.ping_interval)).detach();
        executor.spawn(minion.clone().long_poll()).detach();
        executor.spawn(minion.clone().keep_short()).detach();
        executor.spawn(minion.clone().introduce()).detach();
        executor.spawn(minion.clone().send_events(outgoing)).detach();
        executor.spawn(minion.clone().subscribe()).detach();
        executor.spawn(minion.clone().prune()).detach();
        executor.spawn(minion.clone().watch_grains()).detach();
        executor.spawn(minion.files.clone().tidy()).detach();
        Ok(Running { minion, _local: local })
    }

    /// Ready when there is a session with a master.
    pub async fn connected(&self) {
        self.channel.ready().await;
    }

    /// Fires an event on the master's bus, sooner or later.
    pub fn fire(&self, tag: &str, data: Map) {
        let _ = self.events.try_send(Event { tag: tag.to_owned(), data });
    }

    /// Ready when the daemon is asked to start anew.
    pub fn restart_asked(&self) -> Local<()> {
        let asked = self.restarts.1.clone();
        Box::pin(async move {
            let _ = asked.recv().await;
        })
    }

    /// Tells the grains to each master that it meets, and that the minion has started.
    async fn introduce(self: Rc<Self>) {
        // Its own files need no master.
        if self.background.borrow().opts.str_at("file_client") == Some("local") {
            self.refresh_pillar().await;
        }
        let mut told = self.channel.ready().await.master;
        self.send_grains().await;
        self.refresh_pillar().await;
        self.tell_start();
        loop {
            let met = self.channel.ready().await.master;
            if met != told {
                told = met;
                self.send_grains().await;
                self.refresh_pillar().await;
                self.tell_start();
            }
            self.channel.another_session().await;
        }
    }

    async fn send_grains(&self) {
        let grains = Ask::Grains(self.background.borrow().grains.as_ref().clone());
        if let Err(error) = self.channel.ask_until_answered(&grains).await {
            log::error!("the grains cannot be sent: {error}");
        }
    }

    /// Looks at the machine anew: what a job finds, and what the master targets by, is what is now.
    async fn refresh_grains(self: Rc<Self>) {
        self.look_at_grains().await;
        self.send_grains().await;
    }

    /// The same for the minion alone.
    async fn look_at_grains(&self) {
        let opts = self.background.borrow().opts.clone();
        let mut grains = smol::unblock(move || grains::renew(&Machine, &opts)).await;
        grains.insert("id", self.id.as_str());
        let background = worker::Background { grains: Arc::new(grains), ..self.background.borrow().as_ref().clone() };
        *self.background.borrow_mut() = Arc::new(background);
    }

    fn tell_start(&self) {
        let opts = self.background.borrow().opts.clone();
        let text =
            format!("Minion {} started at {}", self.id, jiff::ZonedDateTime::now().strftime("%a %b %e %H:%M:%S %Y"));
        let mut data = Map::from_iter([("data", Value::from(&text)), ("pretag", Value::Null)]);
        let wanted = opts.at("start_event_grains").and_then(Value::as_list).unwrap_or_default();
        if !wanted.is_empty() {
            let grains = self.background.borrow().grains.clone();
            let told = wanted.iter().filter_map(|name| Some((name.clone(), grains.at_value(name)?.clone())));
            data.insert("grains", told.collect::<Map>());
        }
        if opts.at("enable_legacy_startup_events").is_none_or(Value::truthy) {
            self.fire("minion_start", data.clone());
        }
        self.fire(&format!("salt/minion/{}/start", self.id), data);
    }

    /// Sends events in order, each once: they are numbered, and the master remembers the last number.
    async fn send_events(self: Rc<Self>, outgoing: Receiver<Event>) {
        let mut first = 1;
        while let Ok(event) = outgoing.recv().await {
            let mut events = Vec::new();
            let mut bytes = self.add_event(&mut events, event);
            while events.len() < 64
                && bytes < EVENT_BYTES
                && let Ok(event) = outgoing.try_recv()
            {
                bytes += self.add_event(&mut events, event);
            }
            if events.is_empty() {
                continue;
            }
            let number = events.len() as u64;
            match self.channel.ask_until_answered(&Ask::Fire { first, events }).await {
                Ok(Answer::Refused(why)) => log::error!("the master refuses events: {why}"),
                Ok(_) => {}
                Err(error) => log::error!("events cannot be sent: {error}"),
            }
            first += number;
        }
    }

    /// Adds an event to those that go together, unless it is too long; how long it is.
    fn add_event(&self, events: &mut Vec<Event>, event: Event) -> usize {
        let bytes = cbor::size(&event);
        if bytes > self.max_event_size {
            let (tag, limit) = (event.tag.escape_debug(), self.max_event_size);
            log::error!("the event '{tag}' is not sent: its {bytes} bytes are more than max_event_size ({limit})");
            return 0;
        }
        events.push(event);
        bytes
    }

    /// Makes sure now and then that the master is there: whoever stands in the way of idle connections sees this one
    /// used, and a master that does not answer is connected to anew.
    async fn ping(self: Rc<Self>, interval: Duration) {
        while !interval.is_zero() {
            Timer::after(interval).await;
            self.fire("minion_ping", Map::from_iter([("data", "ping")]));
        }
    }

    /// Has the master forget this minion's key. Asked once: a session of later is for a key that was accepted anew.
    async fn revoke_own_key(&self, remains: Remains) -> MinionAnswer {
        match self.channel.ask(&Ask::Revoke { remains }).await {
            Ok(Answer::Done) => MinionAnswer::Done,
            Ok(Answer::Refused(why)) => MinionAnswer::Refused(why),
            Ok(_) => MinionAnswer::Refused("the master answers in another version".to_owned()),
            Err(_) => MinionAnswer::Refused("there is no connection to a master now".to_owned()),
        }
    }

    /// Asks for a new start, after the answer to whoever wants it has left.
    fn restart_soon(&self) {
        let restart = self.restarts.0.clone();
        let soon = async move {
            Timer::after(Duration::from_millis(100)).await;
            let _ = restart.try_send(());
        };
        self.executor.spawn(soon).detach();
    }

    async fn answer_local(self: &Rc<Self>, ask: MinionAsk) -> MinionAnswer {
        match ask {
            MinionAsk::Fire(event) => {
                self.fire(&event.tag, event.data);
                MinionAnswer::Done
            }
            MinionAsk::Hear { since } => {
                let (last, events) = self.bus.hear(since).await;
                MinionAnswer::Heard { last, events }
            }
            MinionAsk::Tell(event) => {
                self.bus.fire(&event.tag, &event.data);
                match event.tag.as_str() {
                    "grains_refresh" => self.clone().refresh_grains().await,
                    "pillar_refresh" if event.data.contains("wait") => self.refresh_pillar().await,
                    "pillar_refresh" => {
                        let minion = self.clone();
                        self.executor.spawn(async move { minion.refresh_pillar().await }).detach();
                    }
                    "revoke_auth" => {
                        let keeps = event.data.at("preserve_minion_cache").is_some_and(Value::truthy);
                        let remains = if keeps { Remains::Kept } else { Remains::Forgotten };
                        return self.revoke_own_key(remains).await;
                    }
                    "update" if self.keeper == Keeper::Nobody => {
                        let why = "no supervisor is above this minion, which could try another version of it";
                        return MinionAnswer::Refused(why.to_owned());
                    }
                    "restart" if self.keeper == Keeper::Nobody => {
                        let why = "no supervisor is above this minion, which could start it anew";
                        return MinionAnswer::Refused(why.to_owned());
                    }
                    "restart" | "update" => self.restart_soon(),
                    other => log::debug!("nothing here waits for the local event {other}"),
                }
                MinionAnswer::Done
            }
            MinionAsk::Restart => {
                self.restart_soon();
                MinionAnswer::Done
            }
            MinionAsk::Deliver(jid) => match Jid::parse(&jid) {
                // Delivered sooner or later: whoever asks does not wait for the master.
                Ok(jid) => {
                    self.deliver_spooled(jid);
                    MinionAnswer::Done
                }
                Err(error) => MinionAnswer::Refused(error.to_string()),
            },
            ask @ (MinionAsk::File(_) | MinionAsk::Fetch { .. } | MinionAsk::Push { .. }) => {
                local::files::serve(&self.files, ask).await
            }
            MinionAsk::Pillar(ask) => self.serve_pillar(*ask).await,
            MinionAsk::Peer(ask) => peer::from_master(&self.channel, ask, self.files.timeout()).await,
            MinionAsk::PillarPart { digest, offset } => self.serve_pillar_part(digest.0, offset),
        }
    }
}

/// A minion with its sockets; dropping it closes them.
pub struct Running {
    pub minion: Rc<Minion>,
    _local: Option<Server>,
}

/// Events that go together in one request are not much longer than this.
const EVENT_BYTES: usize = 256 * 1024;

async fn begin_after(delay: Duration, channel: Rc<Channel>) {
    Timer::after(delay).await;
    channel.keep().await;
}

/// The boot id as bytes; random where the kernel does not tell, so that nothing is offered twice.
pub fn boot_bytes(text: &str) -> Bytes<16> {
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    match u128::from_str_radix(&digits, 16) {
        Ok(number) if digits.len() == 32 => Bytes(number.to_be_bytes()),
        _ => Bytes(seal::random()),
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
