//! Files from the master, and for it.
//!
//! They have a connection of their own, made when it is needed and closed when it is not: what fills it holds up no job.
//! The session is the one of the channel. A file comes in parts, some of them asked for ahead, into a file below
//! `<cachedir>/incoming` that is named by what it is a part of; after a cut, or a new start of this daemon, it goes on
//! where it was. When it is whole, and has the hash that the master says, it is renamed.

mod send;
mod sink;

use super::channel::{Channel, Met, TIMEOUT, spread};
use async_io::Timer;
use halite_lang::digest::HashType;
use halite_node::fileserver::cache::Cache;
use halite_wire::cbor;
use halite_wire::cbor::{ByteString, Bytes};
use halite_wire::deadline::within;
use halite_wire::frame::Notice;
use halite_wire::link::{Link, LinkError, Transport};
use halite_wire::message::{Answer, Ask, FileAnswer, FileAsk};
use halite_wire::seal::hash;
use sink::Sink;
use smol::lock::{Mutex, Semaphore};
use smol::{LocalExecutor, Task};
use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

/// Bytes of a part.
const PART: u64 = 256 * 1024;
/// Parts of one file that are under way at once.
const WINDOW: usize = 8;
/// Requests that are under way at once, for all files; the master closes a connection with more than 16.
const AT_ONCE: usize = 12;
/// A connection that nobody has used for so long is closed.
const IDLE: Duration = Duration::from_secs(30);
/// How often a file is begun anew that changes while it is fetched, and the first pause before that; each further one is
/// twice as long. It may be a copy that takes its time: all pauses together are some seconds.
const TRIES: u32 = 8;
const PAUSE: Duration = Duration::from_millis(50);
/// How often what was given up is looked for.
const TIDY: Duration = Duration::from_secs(3600);

/// The way to the master's file server.
pub struct FileChannel {
    executor: Rc<LocalExecutor<'static>>,
    channel: Rc<Channel>,
    transport: Rc<dyn Transport>,
    cachedir: PathBuf,
    incoming: PathBuf,
    /// How long the master may say nothing before a request fails.
    timeout: Duration,
    link: Mutex<Option<Rc<dyn Link>>>,
    permits: Semaphore,
    used: Cell<Instant>,
    /// The parts of files that are being written.
    under_way: RefCell<HashSet<PathBuf>>,
}

/// What becomes of a file that was begun.
enum Outcome {
    Whole,
    /// It has another version by now.
    Changed,
}

/// A file as the master found it.
struct Found {
    path: String,
    saltenv: String,
    version: Bytes<40>,
    kind: HashType,
    size: u64,
}

impl FileChannel {
    pub fn new(
        executor: &Rc<LocalExecutor<'static>>,
        channel: Rc<Channel>,
        transport: Rc<dyn Transport>,
        cachedir: &Path,
        timeout: Duration,
    ) -> Rc<FileChannel> {
        Rc::new(FileChannel {
            executor: executor.clone(),
            channel,
            transport,
            cachedir: cachedir.to_owned(),
            incoming: cachedir.join("incoming"),
            timeout,
            link: Mutex::new(None),
            permits: Semaphore::new(AT_ONCE),
            used: Cell::new(Instant::now()),
            under_way: RefCell::default(),
        })
    }

    /// How long a master may say nothing before a request to it fails.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Asks until there is an answer. The error is a sentence.
    pub async fn ask(self: &Rc<Self>, ask: FileAsk) -> Result<FileAnswer, String> {
        let plain = cbor::encode(&Ask::File(ask)).map_err(|unfit| unfit.to_string())?;
        let mut heard = Instant::now();
        loop {
            let permit = self.permits.acquire().await;
            let tried = within(TIMEOUT.min(self.timeout), self.try_ask(&plain)).await;
            match tried.unwrap_or(Err(LinkError::Silent)) {
                Ok(FileAnswer::Later) => heard = Instant::now(),
                Ok(answer) => return Ok(answer),
                Err(error) if error.is_final() => return Err(error.to_string()),
                Err(_) if heard.elapsed() >= self.timeout => {
                    return Err(format!("File client timed out after {} seconds", heard.elapsed().as_secs()));
                }
                Err(_) => {}
            }
            drop(permit);
            Timer::after(Duration::from_millis(50 + spread(200))).await;
        }
    }

    async fn try_ask(self: &Rc<Self>, plain: &[u8]) -> Result<FileAnswer, LinkError> {
        self.channel.ready().await;
        let Some((session, met)) = self.channel.session() else {
            return Err(LinkError::Broken);
        };
        let link = self.link(&met).await?;
        self.used.set(Instant::now());
        let (frame, number) = session.borrow_mut().request(plain)?;
        let replying = session.borrow().replying(number);
        let mut reply = match link.request(frame).await {
            Ok(reply) => reply,
            Err(error) => {
                self.drop_link(&link).await;
                return Err(error);
            }
        };
        self.used.set(Instant::now());
        if let Some(Notice::NoSession) = Notice::decode(&reply) {
            // The channel finds that out by itself; to say it here would be a handshake for each part.
            return Err(LinkError::Broken);
        }
        let answer = smol::unblock(move || cbor::decode(replying.open_in_place(&mut reply)?).ok()).await;
        match answer {
            Some(Answer::File(answer)) => Ok(answer),
            Some(Answer::Refused(why)) => Ok(FileAnswer::Refused(why)),
            _ => {
                self.drop_link(&link).await;
                Err(LinkError::Broken)
            }
        }
    }

    /// The connection for files; one is made for all who wait for it.
    async fn link(self: &Rc<Self>, met: &Met) -> Result<Rc<dyn Link>, LinkError> {
        let mut place = self.link.lock().await;
        if let Some(link) = place.as_ref() {
            return Ok(link.clone());
        }
        let link = self.transport.connect(&met.host, met.port).await?;
        log::debug!("a connection for files to the master {}", met.host);
        *place = Some(link.clone());
        self.used.set(Instant::now());
        let this = self.clone();
        self.executor.spawn(async move { this.close_when_idle().await }).detach();
        Ok(link)
    }

    /// Removes what came in halfway and was given up, once in a while.
    pub async fn tidy(self: Rc<Self>) {
        loop {
            let cache = Cache::at(self.cachedir.clone());
            smol::unblock(move || cache.prune(SystemTime::now())).await;
            Timer::after(TIDY).await;
        }
    }

    async fn drop_link(&self, broken: &Rc<dyn Link>) {
        let mut place = self.link.lock().await;
        if place.as_ref().is_some_and(|link| Rc::ptr_eq(link, broken)) {
            *place = None;
        }
    }

    async fn close_when_idle(&self) {
        loop {
            Timer::at(self.used.get() + IDLE).await;
            let mut place = self.link.lock().await;
            let in_use = place.as_ref().is_some_and(|link| Rc::strong_count(link) > 1);
            if in_use {
                self.used.set(Instant::now());
            } else if place.is_none() || self.used.get().elapsed() >= IDLE {
                *place = None;
                return;
            }
        }
    }

    /// Brings a file of the master here, as `into`, which is replaced. False where there is no such file.
    pub async fn fetch(self: &Rc<Self>, path: &str, saltenv: &str, into: &Path) -> Result<bool, String> {
        for tried in 0..TRIES {
            if tried > 0 {
                Timer::after(PAUSE * 2_u32.pow(tried - 1)).await;
            }
            let ask = FileAsk::Find { path: path.to_owned(), saltenv: saltenv.to_owned() };
            let found = match self.ask(ask).await? {
                FileAnswer::Found { version, kind, stat } => {
                    let kind =
                        HashType::named(&kind).ok_or(format!("the master has hashes of another kind: {kind}"))?;
                    let size = stat.get(6).and_then(|size| u64::try_from(*size).ok()).unwrap_or(0);
                    Found { path: path.to_owned(), saltenv: saltenv.to_owned(), version, kind, size }
                }
                FileAnswer::Missing => return Ok(false),
                other => return Err(unexpected(other)),
            };
            let parts = self.parts_of(&found);
            if let Outcome::Whole = self.transfer(&found, &parts.path).await? {
                let (from, into) = (parts.path.clone(), into.to_owned());
                let renamed = smol::unblock(move || std::fs::rename(&from, &into)).await;
                return renamed.map(|()| true).map_err(|error| format!("{}: {error}", parts.path.display()));
            }
            log::info!("salt://{path} has changed while it was fetched: it is begun anew");
        }
        Err(format!("salt://{path} changes again and again while it is fetched"))
    }

    async fn transfer(self: &Rc<Self>, found: &Found, parts: &Path) -> Result<Outcome, String> {
        let hash = FileAsk::Hash { path: found.path.clone(), saltenv: found.saltenv.clone() };
        let hash = self.spawn(hash);
        let (mut sink, mut at) = Sink::open(parts.to_owned(), found.kind, found.size).await.map_err(text)?;
        let mut window: VecDeque<(u64, Task<Result<FileAnswer, String>>)> = VecDeque::new();
        loop {
            while at < found.size && window.len() < WINDOW {
                let length = PART.min(found.size - at);
                window.push_back((length, self.spawn(found.read(at, length as u32))));
                at += length;
            }
            let Some((length, part)) = window.pop_front() else {
                break;
            };
            match part.await? {
                FileAnswer::Bytes(ByteString(bytes)) if bytes.len() as u64 == length => {
                    sink.write(bytes).await.map_err(text)?;
                }
                FileAnswer::Bytes(_) | FileAnswer::Changed | FileAnswer::Missing => {
                    sink.discard().await;
                    return Ok(Outcome::Changed);
                }
                other => return Err(unexpected(other)),
            }
        }
        let written = sink.finish().await.map_err(text)?;
        match hash.await? {
            FileAnswer::Hash { digest, version, .. } if version == found.version && digest == written => {
                Ok(Outcome::Whole)
            }
            FileAnswer::Hash { .. } | FileAnswer::Missing => {
                let parts = parts.to_owned();
                let _ = smol::unblock(move || std::fs::remove_file(parts)).await;
                Ok(Outcome::Changed)
            }
            other => Err(unexpected(other)),
        }
    }

    fn spawn(self: &Rc<Self>, ask: FileAsk) -> Task<Result<FileAnswer, String>> {
        let this = self.clone();
        self.executor.spawn(async move { this.ask(ask).await })
    }

    /// Where the parts of a file are gathered. One that two jobs fetch at once is gathered twice.
    fn parts_of(self: &Rc<Self>, found: &Found) -> Parts {
        // Each part ends where its length or the next one says, so that no two files have one name.
        let length = (found.path.len() as u64).to_be_bytes();
        let name = hash(&[&length, found.path.as_bytes(), &found.version.0, found.saltenv.as_bytes()]);
        let hex: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut under_way = self.under_way.borrow_mut();
        let names = (0..).map(|number: u32| match number {
            0 => self.incoming.join(&hex),
            number => self.incoming.join(format!("{hex}.{number}")),
        });
        let mut free = names.skip_while(|path| under_way.contains(path));
        let path = free.next().unwrap_or_else(|| self.incoming.join(&hex));
        under_way.insert(path.clone());
        Parts { path, of: self.clone() }
    }
}

impl Found {
    fn read(&self, offset: u64, length: u32) -> FileAsk {
        let (path, saltenv, version) = (self.path.clone(), self.saltenv.clone(), self.version);
        FileAsk::Read { path, saltenv, version, offset, length }
    }
}

/// A file that is being written; given back when it is dropped.
struct Parts {
    path: PathBuf,
    of: Rc<FileChannel>,
}

impl Drop for Parts {
    fn drop(&mut self) {
        self.of.under_way.borrow_mut().remove(&self.path);
    }
}

fn unexpected(answer: FileAnswer) -> String {
    match answer {
        FileAnswer::Refused(why) => why,
        _ => "the master answers in another version".to_owned(),
    }
}

fn text(error: std::io::Error) -> String {
    format!("the file cache: {error}")
}
