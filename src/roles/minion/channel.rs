//! The way to the master: one connection, one session, kept up for ever.
//!
//! Nothing that a peer or the network does ends it. A connection that breaks is made again with its name resolved anew;
//! the session moves along. A master that has forgotten the session causes one handshake, not a storm of them. Every
//! change is one log line.

use super::settings::{Place, Settings};
use async_io::Timer;
use halite_keys::identity::KeyError;
use halite_keys::{Identity, PublicKey};
use halite_value::{Map, Value};
use halite_wire::cbor;
use halite_wire::cbor::Bytes;
use halite_wire::deadline::within;
use halite_wire::frame::Notice;
use halite_wire::handshake;
use halite_wire::handshake::{Claim, HandshakeError, Reason, Trust, Verdict, Welcome};
use halite_wire::link::{Link, LinkError, Transport};
use halite_wire::message::{Answer, Ask};
use halite_wire::seal;
use halite_wire::seal::random;
use halite_wire::session::Session;
use smol::channel::{Receiver, Sender, bounded, unbounded};
use smol::future::FutureExt;
use smol::lock::Semaphore;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// Requests under way at once; the master closes a connection with more than 16.
const AT_ONCE: usize = 12;
/// The longest that a master spreads its minions over.
const JITTER_MOST: Duration = Duration::from_secs(10);
/// The longest that a busy master sends a minion away.
const BUSY_MOST_MS: u64 = 30_000;
/// The key of the master that was met first.
const PIN: &str = "minion_master.pub";
/// A request that is not answered after this long will not be: the connection is made anew.
pub const TIMEOUT: Duration = Duration::from_secs(45);

pub struct Channel {
    settings: Settings,
    identity: Identity,
    transport: Rc<dyn Transport>,
    instance: Bytes<16>,
    boot: Bytes<16>,
    up: RefCell<Option<Up>>,
    waiting: RefCell<Vec<Sender<()>>>,
    permits: Semaphore,
    /// Tells the keeper that the connection or the session is of no use.
    trouble: Sender<Trouble>,
    troubles: Receiver<Trouble>,
    generation: Cell<u64>,
    /// How many connections were made.
    links: Cell<u64>,
    last_said: RefCell<String>,
}

/// A session, on a connection where there is one.
#[derive(Clone)]
struct Up {
    link: Option<Numbered>,
    session: Rc<RefCell<Session>>,
    generation: u64,
    news: Rc<Met>,
}

/// A connection with its number: trouble with an earlier one is none of this one.
#[derive(Clone)]
struct Numbered {
    link: Rc<dyn Link>,
    number: u64,
}

/// What is known of the master that was met.
pub struct Met {
    pub master: PublicKey,
    pub host: String,
    pub port: u16,
    pub welcome: Welcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// The connection with this number does not answer.
    Link(u64),
    /// The master does not know the session of this generation.
    Session(u64),
}

/// Why a question was not answered. Whoever asks waits until the channel is ready and asks again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskError {
    Down,
    NoSession,
    Link(LinkError),
}

/// What ended a connection.
enum End {
    Gone,
    Forgotten,
    Renew,
}

impl Channel {
    pub fn new(settings: Settings, identity: Identity, transport: Rc<dyn Transport>, boot: Bytes<16>) -> Rc<Channel> {
        let (trouble, troubles) = unbounded();
        Rc::new(Channel {
            settings,
            identity,
            transport,
            instance: Bytes(random()),
            boot,
            up: RefCell::default(),
            waiting: RefCell::default(),
            permits: Semaphore::new(AT_ONCE),
            trouble,
            troubles,
            generation: Cell::new(0),
            links: Cell::new(0),
            last_said: RefCell::default(),
        })
    }

    /// Asks once, over the connection and session of now.
    pub async fn ask(&self, ask: &Ask) -> Result<Answer, AskError> {
        let _permit = self.permits.acquire().await;
        self.ask_unbounded(ask).await
    }

    /// For the long poll, which must not wait for the others.
    pub async fn ask_unbounded(&self, ask: &Ask) -> Result<Answer, AskError> {
        let up = self.up.borrow().clone().ok_or(AskError::Down)?;
        let on = up.link.ok_or(AskError::Down)?;
        let plain = cbor::encode(ask).map_err(|unfit| AskError::Link(unfit.into()))?;
        let (frame, number) = up.session.borrow_mut().request(&plain).map_err(AskError::Link)?;
        let answered = within(TIMEOUT, on.link.request(frame)).await;
        let reply = match answered.unwrap_or(Err(LinkError::Silent)) {
            Ok(reply) => reply,
            Err(error) if error.is_final() => return Err(AskError::Link(error)),
            Err(error) => {
                let _ = self.trouble.try_send(Trouble::Link(on.number));
                return Err(AskError::Link(error));
            }
        };
        if let Some(plain) = up.session.borrow().open_reply(number, &reply) {
            return cbor::decode(&plain).map_err(|_| AskError::Link(LinkError::Broken));
        }
        // In clear, so it may be forged: all that it causes is another handshake.
        let trouble = match Notice::decode(&reply) {
            Some(Notice::NoSession) => Trouble::Session(up.generation),
            _ => Trouble::Link(on.number),
        };
        let _ = self.trouble.try_send(trouble);
        Err(AskError::NoSession)
    }

    /// Asks until there is an answer, over as many connections as it takes.
    pub async fn ask_until_answered(&self, ask: &Ask) -> Result<Answer, LinkError> {
        loop {
            self.ready().await;
            match self.ask(ask).await {
                Ok(answer) => return Ok(answer),
                Err(AskError::Link(error)) if error.is_final() => return Err(error),
                Err(_) => Timer::after(Duration::from_millis(50 + spread(200))).await,
            };
        }
    }

    /// Ready when there is a session on a connection.
    pub async fn ready(&self) -> Rc<Met> {
        loop {
            if let Some(up) = self.up.borrow().as_ref().filter(|up| up.link.is_some()) {
                return up.news.clone();
            }
            let (sender, receiver) = bounded(1);
            self.waiting.borrow_mut().push(sender);
            let _ = receiver.recv().await;
        }
    }

    /// The session of now and the master that it is with, for whoever has a connection of their own.
    pub fn session(&self) -> Option<(Rc<RefCell<Session>>, Rc<Met>)> {
        self.up.borrow().as_ref().map(|up| (up.session.clone(), up.news.clone()))
    }

    /// Ready when another session has begun than that of now.
    pub async fn another_session(&self) {
        let before = self.session_number();
        while self.session_number() == before {
            let (sender, receiver) = bounded(1);
            self.waiting.borrow_mut().push(sender);
            let _ = receiver.recv().await;
        }
    }

    /// Where the session of now began; another number means another session.
    pub fn session_number(&self) -> u64 {
        self.up.borrow().as_ref().map_or(0, |up| up.generation)
    }

    /// Keeps the channel up. Never returns.
    pub async fn keep(self: Rc<Self>) {
        let mut turn = 0;
        let mut pause = Pause::new(self.settings.reconnect, self.settings.reconnect_max);
        loop {
            let host = self.settings.masters[turn % self.settings.masters.len()].clone();
            match self.transport.connect(&host.host, host.port).await {
                Ok(link) => match self.live_on(link, &host).await {
                    Served::Yes => pause.reset(),
                    Served::No => turn += 1,
                },
                Err(error) => {
                    self.say(log::Level::Warn, format!("the master {host} is not reached: {error}"));
                    turn += 1;
                }
            }
            Timer::after(pause.next()).await;
        }
    }

    /// For a program that has one thing to say: uses the first master that is reached until its connection is gone; why
    /// there is none, or no more.
    pub async fn keep_once(self: &Rc<Self>) -> String {
        let mut why = String::new();
        for host in &self.settings.masters {
            match self.transport.connect(&host.host, host.port).await {
                Ok(link) => {
                    self.live_on(link, host).await;
                    return format!("the master {host} has closed the connection: {}", self.last_said());
                }
                Err(error) => why = format!("the master {host} is not reached: {error}"),
            }
        }
        why
    }

    /// What was logged last.
    pub fn last_said(&self) -> String {
        self.last_said.borrow().clone()
    }

    /// Uses a connection until it is gone.
    async fn live_on(self: &Rc<Self>, link: Rc<dyn Link>, host: &Place) -> Served {
        self.links.set(self.links.get() + 1);
        let on = Numbered { link, number: self.links.get() };
        let mut served = Served::No;
        let mut kept = self.up.borrow().clone();
        loop {
            let up = match kept.take() {
                // A session that we have moves to the new connection with its first good frame.
                Some(up) => Up { link: Some(on.clone()), ..up },
                None => match self.shake_hands(&on, host).await {
                    Some(up) => up,
                    None => return served,
                },
            };
            served = Served::Yes;
            self.set_up(up.clone());
            match self.until_end(&up, &on).await {
                End::Gone => {
                    // The session stays; only its connection is gone.
                    self.unlink();
                    return served;
                }
                End::Forgotten => {
                    self.set_down();
                    self.say(
                        log::Level::Info,
                        format!("the master {host} has forgotten this session: shaking hands again"),
                    );
                    let told = Duration::from_millis(u64::from(up.news.welcome.reconnect_jitter_ms)).min(JITTER_MOST);
                    let most = self.settings.reauth_delay.unwrap_or(told);
                    Timer::after(Duration::from_millis(spread(most.as_millis() as u64 + 1))).await;
                }
                End::Renew => {}
            }
        }
    }

    async fn until_end(&self, up: &Up, on: &Numbered) -> End {
        let life = Duration::from_secs(u64::from(up.news.welcome.life)).mul_f64(0.9);
        let closed = async {
            on.link.closed().await;
            End::Gone
        };
        let renew = async {
            Timer::after(life).await;
            End::Renew
        };
        let troubled = async {
            loop {
                match self.troubles.recv().await {
                    Ok(Trouble::Link(of)) if of == on.number => return End::Gone,
                    Ok(Trouble::Session(of)) if of == up.generation => return End::Forgotten,
                    Ok(_) => {}
                    Err(_) => return End::Gone,
                }
            }
        };
        closed.or(renew).or(troubled).await
    }

    /// Shakes hands until there is a session. Nothing: the connection is of no use.
    async fn shake_hands(&self, on: &Numbered, host: &Place) -> Option<Up> {
        let link = &on.link;
        let mut wait = Pause::new(self.settings.acceptance_wait, self.settings.acceptance_wait_max);
        loop {
            let timeout = self.settings.auth_timeout.max(Duration::from_secs(1));
            let trust = match trust_of(&self.settings) {
                Ok(trust) => trust,
                Err(error) => {
                    self.say(log::Level::Error, format!("no master can be trusted: {error}"));
                    Timer::after(wait.next()).await;
                    return None;
                }
            };
            match self.try_handshake(link, &trust, timeout).await {
                Ok((master, Verdict::Accepted(both))) => {
                    let (session, welcome) = *both;
                    if let Err(error) = self.pin(master) {
                        self.say(log::Level::Error, format!("the master's key cannot be written down: {error}"));
                        return None;
                    }
                    self.say(log::Level::Info, format!("connected to the master {host} ({})", short(master)));
                    self.generation.set(self.generation.get() + 1);
                    let news = Rc::new(Met { master, host: host.host.clone(), port: host.port, welcome });
                    let session = Rc::new(RefCell::new(session));
                    return Some(Up { link: Some(on.clone()), session, generation: self.generation.get(), news });
                }
                Ok((_, Verdict::Wait(told))) => {
                    self.say(log::Level::Warn, waiting_for(told.reason, host, &self.identity.public().fingerprint()));
                    // The master itself holds the answer back; what is left to wait is short.
                    let told = Duration::from_secs(u64::from(told.seconds))
                        .min(self.settings.acceptance_wait_max.max(Duration::from_secs(1)));
                    Timer::after(told.min(wait.next())).await;
                }
                Err(HandshakeError::Told(Notice::Busy { wait_ms })) => {
                    // It is in clear: whoever forges it must not send the minion away for long.
                    let told = u64::from(wait_ms).min(BUSY_MOST_MS);
                    let pause = Duration::from_millis(told + spread(told));
                    let gone = async {
                        link.closed().await;
                        true
                    };
                    let waited = async {
                        Timer::after(pause).await;
                        false
                    };
                    if gone.or(waited).await {
                        return None;
                    }
                }
                Err(HandshakeError::Told(Notice::NoSession)) => {
                    Timer::after(Duration::from_millis(200 + spread(800))).await;
                }
                Err(HandshakeError::Malformed("answer")) => return None,
                Err(error) => {
                    self.say(log::Level::Error, format!("no handshake with the master {host}: {error}"));
                    Timer::after(wait.next()).await;
                    return None;
                }
            }
        }
    }

    async fn try_handshake(
        &self,
        link: &Rc<dyn Link>,
        trust: &Trust,
        timeout: Duration,
    ) -> Result<(PublicKey, Verdict<(Session, Welcome)>), HandshakeError> {
        let (greeted, m1) = handshake::greet();
        let m2 = answered(link, m1, timeout).await?;
        let known = greeted.receive(&m2, trust)?;
        let master = known.master;
        let claim = Claim {
            id: self.settings.id.clone(),
            instance: self.instance,
            boot: self.boot,
            autosign: self.autosign_grains(),
            purpose: self.settings.purpose,
        };
        let (claimed, m3) = known.claim(&self.identity, &claim)?;
        // An answer to a key that is not accepted comes after half a minute.
        let m4 = answered(link, m3, TIMEOUT).await?;
        Ok((master, claimed.receive(&m4)?))
    }

    fn autosign_grains(&self) -> Map {
        let names = self.settings.opts.at("autosign_grains").and_then(|names| names.as_list()).unwrap_or_default();
        let pairs =
            names.iter().filter_map(|name| Some((name.to_text(), self.settings.grains.at(name.as_str()?)?.clone())));
        Map::from_iter(pairs)
    }

    /// The first master that has proved itself is the one to trust from now on.
    fn pin(&self, master: PublicKey) -> Result<(), KeyError> {
        let path = self.settings.pki_dir.join(PIN);
        if PublicKey::load(&path).ok() == Some(master) {
            return Ok(());
        }
        master.write(&path)
    }

    fn set_up(&self, up: Up) {
        *self.up.borrow_mut() = Some(up);
        for waiting in self.waiting.borrow_mut().drain(..) {
            let _ = waiting.try_send(());
        }
    }

    /// Lets go of a connection: kept, the transport would make it again by itself.
    fn unlink(&self) {
        if let Some(up) = self.up.borrow_mut().as_mut() {
            up.link = None;
        }
    }

    fn set_down(&self) {
        *self.up.borrow_mut() = None;
    }

    /// One line a change: what is said again is not said.
    fn say(&self, level: log::Level, line: String) {
        let mut last = self.last_said.borrow_mut();
        if *last != line {
            log::log!(level, "{line}");
            *last = line;
        }
    }
}

/// Whether a connection was of use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Served {
    Yes,
    No,
}

/// A pause that doubles, with a random part.
struct Pause {
    first: Duration,
    most: Duration,
    next: Duration,
}

impl Pause {
    fn new(first: Duration, most: Duration) -> Pause {
        let first = first.max(Duration::from_millis(50));
        Pause { first, most: most.max(first), next: first }
    }

    fn reset(&mut self) {
        self.next = self.first;
    }

    fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (self.next * 2).min(self.most);
        pause / 2 + Duration::from_millis(spread(pause.as_millis() as u64 / 2 + 1))
    }
}

async fn answered(link: &Rc<dyn Link>, frame: Vec<u8>, timeout: Duration) -> Result<Vec<u8>, HandshakeError> {
    let answer = within(timeout, link.request(frame)).await;
    answer.and_then(Result::ok).ok_or(HandshakeError::Malformed("answer"))
}

fn waiting_for(reason: Reason, host: &Place, fingerprint: &str) -> String {
    match reason {
        Reason::Pending => format!("the master {host} has not accepted this minion's key yet: {fingerprint}"),
        Reason::Rejected => format!("the master {host} has rejected this minion's key: {fingerprint}"),
        Reason::Full => format!("the master {host} has as many minions as it may (max_minions)"),
        Reason::Duplicate => format!("another minion with the same key is connected to the master {host}"),
    }
}

fn short(key: PublicKey) -> String {
    key.fingerprint()[..23].to_owned()
}

/// A random number of milliseconds below the limit.
pub fn spread(limit_ms: u64) -> u64 {
    u64::from_be_bytes(seal::random()) % limit_ms.max(1)
}

/// The time since the machine's boot, suspension included.
pub fn boot_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec.max(0) as u32)
}

/// What makes a master the right one for this minion. A key that is there and cannot be read is no key that is not there:
/// nobody is trusted until it is mended.
fn trust_of(settings: &Settings) -> Result<Trust, KeyError> {
    let key = |name: &str| match PublicKey::load(&settings.pki_dir.join(name)) {
        Ok(key) => Ok(Some(key)),
        Err(KeyError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    let opts = &settings.opts;
    let name = opts.str_at("master_sign_key_name").filter(|name| !name.is_empty()).unwrap_or("master_sign");
    let signing = key(&format!("{name}.pub"))?;
    if signing.is_none() && opts.at("verify_master_pubkey_sign").is_some_and(Value::truthy) {
        // An admin who wants a signature is not to be content with the first key that comes.
        let path = settings.pki_dir.join(format!("{name}.pub"));
        let error = io::Error::new(io::ErrorKind::NotFound, "verify_master_pubkey_sign wants the signing key in it");
        return Err(KeyError::Io { path, error });
    }
    Ok(Trust { pin: key(PIN)?, finger: settings.finger.clone(), signing })
}

#[cfg(test)]
mod tests {
    use super::super::start::prepare;
    use super::*;
    use crate::config::{Config, Role};
    use std::fs;
    use std::path::Path;

    #[test]
    fn a_minion_that_wants_a_signature_trusts_nobody_without_the_signing_key() {
        let directory = std::env::temp_dir().join(format!("halite-trust-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let trust = |lines: &str| {
            let text = format!("id: web1\nmaster: 127.0.0.1\npki_dir: {}\n{lines}", directory.display());
            let config = Config::from_text(Role::Minion, &text, Path::new("/etc/salt/minion")).unwrap();
            trust_of(&prepare(&config, &config.minion().unwrap(), Map::new()))
        };
        assert_eq!(trust("").unwrap().signing, None);
        let refused = trust("verify_master_pubkey_sign: True\n").map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains("master_sign.pub") && refused.contains("verify_master_pubkey_sign"), "{refused}");
        let signing = Identity::generate().public();
        signing.write(&directory.join("ours.pub")).unwrap();
        assert!(trust("verify_master_pubkey_sign: True\n").is_err());
        let named = "verify_master_pubkey_sign: True\nmaster_sign_key_name: ours\n";
        assert_eq!(trust(named).unwrap().signing, Some(signing));
        fs::remove_dir_all(directory).unwrap();
    }
}
