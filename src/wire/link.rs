//! What a transport promises, whatever carries it.
//!
//! A [`Link`] is one connection that answers requests. It promises that each request is answered once or fails, that
//! a broken connection fails every request under way at once, and that nothing is ever sent twice by itself: whoever
//! wants another try seals it anew. It promises neither order nor that the peer is who it should be: that is what
//! sessions are for.

use super::cbor::Unfit;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A future on the thread of its role.
pub type Local<T> = Pin<Box<dyn Future<Output = T>>>;

/// Names a connection at the side that listens; never used again for another in the life of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PipeId(pub u64);

/// Who is at the other end of a connection, as far as the transport knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    pub pipe: PipeId,
    /// For TCP.
    pub address: Option<IpAddr>,
    /// For local sockets, as the kernel says.
    pub uid: Option<u32>,
}

/// Why a request was not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// The connection broke; the request may or may not have arrived.
    Broken,
    /// Nobody listens, or the name does not resolve: nothing was sent.
    Unreachable(String),
    /// No answer in time.
    Silent,
    /// The message is longer than the wire takes.
    TooLong { bytes: usize, limit: usize },
    /// The message cannot be written as it goes over the wire.
    Unfit(Unfit),
}

impl LinkError {
    /// True when another try with the same message fails like this one.
    pub fn is_final(&self) -> bool {
        matches!(self, LinkError::TooLong { .. } | LinkError::Unfit(_))
    }
}

impl From<Unfit> for LinkError {
    fn from(unfit: Unfit) -> LinkError {
        LinkError::Unfit(unfit)
    }
}

impl std::fmt::Display for LinkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LinkError::Broken => f.write_str("the connection broke"),
            LinkError::Unreachable(why) => f.write_str(why),
            LinkError::Silent => f.write_str("no answer in time"),
            LinkError::Unfit(unfit) => write!(f, "{unfit}"),
            LinkError::TooLong { bytes, limit } => {
                write!(f, "a message of {bytes} bytes is longer than the {limit} that the wire takes")
            }
        }
    }
}

impl std::error::Error for LinkError {}

/// One connection to a listener.
pub trait Link {
    fn request(&self, frame: Vec<u8>) -> Local<Result<Vec<u8>, LinkError>>;
    /// Ready when the connection is gone.
    fn closed(&self) -> Local<()>;
}

/// The publications of one publisher, those that arrive.
pub trait Subscription {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, LinkError>> + '_>>;
    /// True while there is a connection to the publisher.
    fn is_connected(&self) -> Arc<AtomicBool>;
}

/// Makes connections.
pub trait Transport {
    fn connect(&self, host: &str, port: u16) -> Local<Result<Rc<dyn Link>, LinkError>>;
    fn subscribe(&self, host: &str, port: u16) -> Local<Result<Box<dyn Subscription>, LinkError>>;
}

/// What listens: each request is answered, or its connection is closed.
pub trait Service {
    /// The reply; nothing closes the connection. A future that is still waiting when its connection closes must end soon:
    /// it holds a place.
    fn request(self: Rc<Self>, from: Peer, frame: Vec<u8>) -> Local<Option<Vec<u8>>>;
    /// The connection is gone. No request of it begins after this.
    fn closed(&self, pipe: PipeId);
    /// A connection was made.
    fn opened(&self, _peer: Peer) {}
}

/// Closes connections from the listening side.
pub trait Connections {
    fn close(&self, pipe: PipeId);
    /// Takes so many connections from now on, and closes the others as soon as they are made. Those of addresses that are
    /// known do not count.
    fn admit(&self, connections: usize);
    /// Connections of this address are taken however many there are of others. Not one of the loopback: whoever is on this
    /// host has other means.
    fn know(&self, address: IpAddr);
    /// False when the connection is gone already, though [`Service::closed`] may not have been called yet.
    fn is_open(&self, pipe: PipeId) -> bool;
}
