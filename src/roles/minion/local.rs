//! What programs on the minion's host ask its daemon, on `minion.ipc`: workers and `salt-call`, of the daemon's user
//! alone.

pub mod files;

use super::Minion;
use super::peer;
use super::pillar::collected;
use files::{Asked, MasterFiles};
use halite_core::Fault;
use halite_core::context::{Heard, Master, PeerJob, PeerReturns};
use halite_core::files::Files;
use halite_node::pillar;
use halite_value::{Map, Value};
use halite_wire::cbor;
use halite_wire::cbor::Bytes;
use halite_wire::link::{Link, LinkError, Local, Peer, PipeId, Service};
use halite_wire::message::{Event, FileAnswer, FileAsk, Part, PeerAnswer, PeerAsk, PillarAsk};
use halite_wire::nng::Connection;
use serde::{Deserialize, Serialize};
use smol::channel::{Receiver, Sender, bounded};
use smol::future::{FutureExt, poll_once};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a daemon that does not answer is waited for: it is started anew, and then goes on with a file.
const RESTART: Duration = Duration::from_secs(30);

/// Where the local socket of a minion is.
pub fn path_in(sock_dir: &Path) -> PathBuf {
    sock_dir.join("minion.ipc")
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MinionAsk {
    /// An event for the master.
    Fire(Event),
    /// An event for this daemon.
    Tell(Event),
    /// What has happened on this minion's bus since the event with this number.
    Hear { since: Option<u64> },
    /// The return of this job, which was started here, is in the spool: the master is to have it.
    Deliver(String),
    /// End, and be started again by the supervisor.
    Restart,
    /// Something of the master's file server.
    File(FileAsk),
    /// Bring a file of the master's here, as `into`.
    Fetch { path: String, saltenv: String, into: PathBuf },
    /// Send a file of this host to the master, which keeps it under these names.
    Push { from: PathBuf, names: Vec<String> },
    /// The pillar, from the master.
    Pillar(Box<PillarAsk>),
    /// More of a pillar that was too long for one message.
    PillarPart { digest: Bytes<32>, offset: u64 },
    /// Something that other minions or the master are to do.
    Peer(PeerAsk),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MinionAnswer {
    Done,
    Refused(String),
    File(FileAnswer),
    /// There is no such file.
    Missing,
    /// A pillar, or a part of one.
    Pillar(Part),
    Heard {
        last: u64,
        events: Vec<Event>,
    },
    Peer(PeerAnswer),
}

/// The service behind `minion.ipc`.
pub struct LocalDispatcher {
    minion: Rc<Minion>,
    /// Each connection, with what ends its requests when it closes: a job that was killed waits for no file.
    open: RefCell<HashMap<PipeId, Open>>,
}

/// A connection that is open; those who listen learn of its end when this is dropped.
struct Open {
    _until: Sender<()>,
    closed: Receiver<()>,
}

impl Open {
    fn begin() -> Open {
        let (_until, closed) = bounded(1);
        Open { _until, closed }
    }
}

impl LocalDispatcher {
    pub fn new(minion: Rc<Minion>) -> LocalDispatcher {
        LocalDispatcher { minion, open: RefCell::default() }
    }
}

impl Service for LocalDispatcher {
    fn request(self: Rc<Self>, from: Peer, frame: Vec<u8>) -> Local<Option<Vec<u8>>> {
        let own = rustix::process::geteuid().as_raw();
        let minion = self.minion.clone();
        let closed = self.open.borrow_mut().entry(from.pipe).or_insert_with(Open::begin).closed.clone();
        Box::pin(async move {
            if from.uid != Some(own) && from.uid != Some(0) {
                return None;
            }
            let answer = match cbor::decode::<MinionAsk>(&frame) {
                Ok(ask) => {
                    let gone = async {
                        let _ = closed.recv().await;
                        None
                    };
                    async { Some(minion.answer_local(ask).await) }.or(gone).await?
                }
                Err(malformed) => MinionAnswer::Refused(malformed.to_string()),
            };
            let unfit = |unfit: cbor::Unfit| cbor::encode(&MinionAnswer::Refused(unfit.to_string()));
            cbor::encode(&answer).or_else(unfit).ok()
        })
    }

    fn closed(&self, pipe: PipeId) {
        self.open.borrow_mut().remove(&pipe);
    }
}

/// The way to the master through the daemon, for a worker or for `salt-call`.
pub struct MinionSocket {
    path: PathBuf,
    /// The connection, once there was one: a job may have thousands of questions.
    kept: Mutex<Option<Connection>>,
}

impl MinionSocket {
    pub fn new(sock_dir: &Path) -> MinionSocket {
        MinionSocket { path: path_in(sock_dir), kept: Mutex::default() }
    }

    /// Whether a daemon listens there. Blocks for no longer than the kernel takes to say so.
    pub fn is_there(sock_dir: &Path) -> bool {
        std::os::unix::net::UnixStream::connect(path_in(sock_dir)).is_ok()
    }

    /// Has the daemon do something; blocks.
    pub fn ask(&self, ask: &MinionAsk) -> Result<(), Fault> {
        match self.try_answer(ask)?? {
            MinionAnswer::Done => Ok(()),
            other => Err(unexpected(other)),
        }
    }

    /// What the daemon answers; the outer fault is that it does not. Blocks.
    fn try_answer(&self, ask: &MinionAsk) -> Result<Result<MinionAnswer, Fault>, Fault> {
        let failed = |error: LinkError| Fault::execution(format!("the minion daemon does not answer: {error}"));
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        let answer = smol::block_on(async {
            let daemon = match kept {
                // One that has closed meanwhile belongs to a daemon that was started anew.
                Some(daemon) if poll_once(daemon.closed()).await.is_none() => daemon,
                _ => Connection::local(&self.path, Duration::from_secs(5)).await?,
            };
            let answer = daemon.request(cbor::encode(ask)?).await?;
            *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(daemon);
            Ok(answer)
        });
        Ok(match cbor::decode(&answer.map_err(failed)?) {
            Ok(MinionAnswer::Refused(why)) => Err(Fault::Execution(why)),
            Ok(answer) => Ok(answer),
            Err(malformed) => Err(Fault::Internal(malformed.to_string())),
        })
    }
}

impl Asked for &MinionSocket {
    /// Asks again while the daemon is away: to ask for a file twice does no harm.
    fn answer(&self, ask: &MinionAsk) -> Result<MinionAnswer, Fault> {
        let mut away: Option<Instant> = None;
        loop {
            let begun = Instant::now();
            match self.try_answer(ask) {
                Ok(answer) => return answer,
                Err(fault) => {
                    // A daemon that has worked on it for a while was there until now.
                    let since = *away.get_or_insert(begun);
                    if begun.elapsed() > RESTART {
                        away = None;
                    } else if since.elapsed() > RESTART {
                        return Err(fault);
                    }
                }
            }
            std::thread::sleep(Duration::from_millis(250));
        }
    }
}

fn unexpected(answer: MinionAnswer) -> Fault {
    match answer {
        MinionAnswer::Refused(why) | MinionAnswer::File(FileAnswer::Refused(why)) => Fault::Execution(why),
        _ => Fault::Internal("the minion daemon answers in another version".to_owned()),
    }
}

impl Master for MinionSocket {
    fn fire_event(&self, tag: &str, data: Map) -> Result<(), Fault> {
        self.ask(&MinionAsk::Fire(Event { tag: tag.to_owned(), data }))
    }

    fn hear(&self, since: Option<u64>) -> Result<Heard, Fault> {
        match self.try_answer(&MinionAsk::Hear { since })?? {
            MinionAnswer::Heard { last, events } => {
                Ok(Heard { last, events: events.into_iter().map(|event| (event.tag, event.data)).collect() })
            }
            other => Err(unexpected(other)),
        }
    }

    fn tell_minion(&self, tag: &str, data: Map) -> Result<(), Fault> {
        self.ask(&MinionAsk::Tell(Event { tag: tag.to_owned(), data }))
    }

    fn pillar(&self, grains: &Map, asked: &pillar::Asked) -> Result<Map, Fault> {
        collected(&self, grains, asked)
    }

    fn publish(&self, job: &PeerJob) -> Result<Option<String>, Fault> {
        peer::publish(&self, job)
    }

    fn peer_returns(&self, jid: &str, seen: usize) -> Result<PeerReturns, Fault> {
        peer::returns(&self, jid, seen)
    }

    fn call_runner(&self, fun: &str, arg: &[Value], time: Duration) -> Result<Option<Value>, Fault> {
        peer::call_runner(&self, fun, arg, time)
    }

    fn files(&self) -> Result<Box<dyn Files + '_>, Fault> {
        Ok(Box::new(MasterFiles(self)))
    }
}
