//! What programs on the minion's host ask its daemon, on `minion.ipc`: workers and `salt-call`, of the daemon's user
//! alone.

use super::Minion;
use crate::exec::Fault;
use crate::exec::context::Master;
use crate::wire::cbor;
use crate::wire::link::{Link, LinkError, Local, Peer, PipeId, Service};
use crate::wire::message::Event;
use crate::wire::nng::Connection;
use crate::wire::value::Map;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// Where the local socket of a minion is.
pub fn path_in(sock_dir: &Path) -> PathBuf {
    sock_dir.join("minion.ipc")
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MinionAsk {
    /// An event for the master.
    Fire(Event),
    /// An event for this daemon.
    Tell(Event),
    /// The return of this job, which was started here, is in the spool: the master is to have it.
    Deliver(String),
    /// End, and be started again by the supervisor.
    Restart,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MinionAnswer {
    Done,
    Refused(String),
}

/// The service behind `minion.ipc`.
pub struct LocalDoor(pub Rc<Minion>);

impl Service for LocalDoor {
    fn request(self: Rc<Self>, from: Peer, frame: Vec<u8>) -> Local<Option<Vec<u8>>> {
        let own = rustix::process::geteuid().as_raw();
        let minion = self.0.clone();
        Box::pin(async move {
            if from.uid != Some(own) && from.uid != Some(0) {
                return None;
            }
            let answer = match cbor::decode::<MinionAsk>(&frame) {
                Ok(ask) => minion.answer_local(ask).await,
                Err(malformed) => MinionAnswer::Refused(malformed.to_string()),
            };
            Some(cbor::encode(&answer))
        })
    }

    fn closed(&self, _: PipeId) {}
}

/// The way to the master through the daemon, for a worker or for `salt-call`.
pub struct MinionSocket(PathBuf);

impl MinionSocket {
    pub fn new(sock_dir: &Path) -> MinionSocket {
        MinionSocket(path_in(sock_dir))
    }

    /// Whether a daemon listens there. Blocks for no longer than the kernel takes to say so.
    pub fn is_there(sock_dir: &Path) -> bool {
        std::os::unix::net::UnixStream::connect(path_in(sock_dir)).is_ok()
    }

    /// Asks the daemon; blocks.
    pub fn ask(&self, ask: &MinionAsk) -> Result<(), Fault> {
        let failed = |error: LinkError| Fault::execution(format!("the minion daemon does not answer: {error}"));
        let answer = smol::block_on(async {
            let daemon = Connection::local(&self.0, Duration::from_secs(5)).await?;
            daemon.request(cbor::encode(ask)).await
        });
        match cbor::decode(&answer.map_err(failed)?) {
            Ok(MinionAnswer::Done) => Ok(()),
            Ok(MinionAnswer::Refused(why)) => Err(Fault::Execution(why)),
            Err(malformed) => Err(Fault::Internal(malformed.to_string())),
        }
    }
}

impl Master for MinionSocket {
    fn fire_event(&self, tag: &str, data: Map) -> Result<(), Fault> {
        self.ask(&MinionAsk::Fire(Event { tag: tag.to_owned(), data }))
    }

    fn tell_minion(&self, tag: &str, data: Map) -> Result<(), Fault> {
        self.ask(&MinionAsk::Tell(Event { tag: tag.to_owned(), data }))
    }
}
