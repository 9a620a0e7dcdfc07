//! The one place that knows NNG: this file and its directory.
//!
//! What NNG does, and what follows from it here:
//! - A callback runs on a thread of NNG: it stores its result and wakes, nothing else. An `Aio` that is dropped inside
//!   its own callback waits for itself for ever, so the callback lets go of its handle first.
//! - req0 resends by itself unless told otherwise: never here, a request that is sent twice must be sealed twice.
//! - A dialer connects again by itself: a [`Connection`] is one connection, so the next one is turned away.
//! - A rep0 context is held until its reply has left: a peer that asks and never reads would take them all. So contexts
//!   are made on demand, one connection may hold `PER_PIPE` of them, and a reply that does not leave in `SEND_TIME`
//!   closes its connection.
//! - A message is allocated from its length header, for anyone: every socket takes [`FRAME_LIMIT`] at most.
//! - pub0 drops the oldest message of a slow connection; sending may block, so it has a thread of its own.

mod connection;
mod operation;
mod publish;
mod server;
mod tcp;
#[cfg(test)]
mod tests;

pub use connection::Connection;
pub use publish::{Publisher, Subscriber};
pub use server::Server;
pub use tcp::{Family, Keepalive, Tcp};

use super::frame::FRAME_LIMIT;
use super::link::{LinkError, PipeId};
use nng::options::transport::tcp::KeepAlive;
use nng::options::{Options, ReconnectMaxTime, ReconnectMinTime, RecvMaxSize, RemAddr};
use nng::{DialerBuilder, Error, ListenerBuilder, Pipe, Protocol, Socket};
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

/// The longest message that a local program takes from its daemon.
const LOCAL_LIMIT: usize = 256 << 20;

fn socket(protocol: Protocol) -> Result<Socket, LinkError> {
    let socket = Socket::new(protocol).map_err(unreachable)?;
    socket.set_opt::<RecvMaxSize>(FRAME_LIMIT + 64).map_err(unreachable)?;
    socket.set_opt::<ReconnectMinTime>(Some(Duration::from_millis(100))).map_err(unreachable)?;
    socket.set_opt::<ReconnectMaxTime>(Some(Duration::from_secs(2))).map_err(unreachable)?;
    Ok(socket)
}

/// A local program trusts its daemon: the answers it gets, and the events, may be longer.
fn raise_limit(socket: &Socket, url: &str) -> Result<(), LinkError> {
    if !url.starts_with("ipc://") {
        return Ok(());
    }
    socket.set_opt::<RecvMaxSize>(LOCAL_LIMIT).map_err(unreachable)
}

fn start_listener(socket: &Socket, url: &str, keepalive: Keepalive) -> Result<(), LinkError> {
    let failed = |error: Error| LinkError::Unreachable(format!("cannot listen at {url}: {error}"));
    let listener = ListenerBuilder::new(socket, url).map_err(failed)?;
    if url.starts_with("tcp:") {
        listener.set_opt::<KeepAlive>(keepalive == Keepalive::On).map_err(failed)?;
    }
    listener.start().map(drop).map_err(|(_, error)| failed(error))
}

/// What happens when nobody listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dial {
    /// It is an error. Blocks until that is known.
    Once,
    /// NNG tries again.
    Again,
}

fn start_dialer(socket: &Socket, url: &str, keepalive: Keepalive, dial: Dial) -> Result<(), LinkError> {
    let failed = |error: Error| LinkError::Unreachable(format!("cannot connect to {url}: {error}"));
    let dialer = DialerBuilder::new(socket, url).map_err(failed)?;
    if url.starts_with("tcp:") {
        dialer.set_opt::<KeepAlive>(keepalive == Keepalive::On).map_err(failed)?;
    }
    dialer.start(dial == Dial::Again).map(drop).map_err(|(_, error)| failed(error))
}

fn local_url(path: &Path) -> Result<String, LinkError> {
    let text = path.to_str().ok_or_else(|| LinkError::Unreachable(format!("{} is not UTF-8", path.display())))?;
    // A name in the address of a local socket has 108 bytes with its end.
    if text.len() > 107 {
        return Err(LinkError::Unreachable(format!(
            "{text} is longer than the 107 bytes of a local socket: set sock_dir shorter"
        )));
    }
    Ok(format!("ipc://{text}"))
}

/// The crate's own option for this is masked by umask.
fn set_mode(path: &Path, mode: u32) -> Result<(), LinkError> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .map_err(|error| LinkError::Unreachable(format!("{}: {error}", path.display())))
}

fn pipe_id(pipe: Pipe) -> PipeId {
    // SAFETY: reads the number inside a handle that was passed by value; NNG looks nothing up.
    PipeId(unsafe { nng_sys::nng_pipe_id(pipe.nng_pipe()) } as u64)
}

fn remote_address(pipe: Pipe) -> Option<IpAddr> {
    match pipe.get_opt::<RemAddr>().ok()? {
        nng::SocketAddr::Inet(address) => Some(IpAddr::V4(*address.ip())),
        nng::SocketAddr::Inet6(address) => Some(IpAddr::V6(*address.ip())),
        _ => None,
    }
}

/// The crate declares the option but has no getter for it.
fn peer_uid(pipe: Pipe) -> Option<u32> {
    let mut uid: u64 = 0;
    let name = nng_sys::NNG_OPT_IPC_PEER_UID.as_ptr().cast();
    // SAFETY: the name is a C string with its end, `uid` outlives the call, and a handle that is gone is an error code.
    let code = unsafe { nng_sys::nng_pipe_get_uint64(pipe.nng_pipe(), name, &mut uid) };
    (code == 0).then(|| u32::try_from(uid).ok()).flatten()
}

fn unreachable(error: Error) -> LinkError {
    LinkError::Unreachable(error.to_string())
}

fn broken(_: Error) -> LinkError {
    LinkError::Broken
}
