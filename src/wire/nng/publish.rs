//! Publishing and listening to what is published: pub0 and sub0 sockets.

use super::super::frame::FRAME_LIMIT;
use super::super::link::{LinkError, Subscription};
use super::operation::Operation;
use super::{
    Dial, Keepalive, LOCAL_LIMIT, broken, local_url, raise_limit, set_mode, socket, start_dialer, start_listener,
    unreachable,
};
use nng::options::protocol::pubsub::Subscribe;
use nng::options::{Options, RecvBufferSize, SendBufferSize};
use nng::{Message, PipeEvent, Protocol, Socket};
use smol::channel::{Sender, unbounded};
use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A pub0 socket. Sending happens in order on a thread of its own and never holds the caller up.
pub struct Publisher {
    frames: Sender<Vec<u8>>,
    socket: Socket,
    /// No listener takes a longer one: NNG would end its connection for it.
    longest: usize,
    /// How many listen. Counted before they can: who connects now misses nothing that is published from now on.
    listeners: Arc<AtomicUsize>,
}

/// How many publications may wait for a slow subscriber.
const PUBLISHER_BUFFER: i32 = 64;

impl Publisher {
    pub fn tcp(address: SocketAddr, keepalive: Keepalive) -> Result<Publisher, LinkError> {
        Publisher::listen(&format!("tcp://{address}"), PUBLISHER_BUFFER, FRAME_LIMIT, keepalive)
    }

    /// Events come in bursts, and few listen: the buffer is larger.
    pub fn local(path: &Path, mode: u32) -> Result<Publisher, LinkError> {
        let url = local_url(path)?;
        let _ = std::fs::remove_file(path);
        let publisher = Publisher::listen(&url, 4096, LOCAL_LIMIT, Keepalive::Off)?;
        set_mode(path, mode)?;
        Ok(publisher)
    }

    fn listen(url: &str, buffer: i32, longest: usize, keepalive: Keepalive) -> Result<Publisher, LinkError> {
        let socket = socket(Protocol::Pub0)?;
        socket.set_opt::<SendBufferSize>(buffer).map_err(unreachable)?;
        let listeners = Arc::new(AtomicUsize::new(0));
        let counted = listeners.clone();
        socket
            .pipe_notify(move |_, event| match event {
                PipeEvent::AddPre => drop(counted.fetch_add(1, Ordering::Relaxed)),
                PipeEvent::RemovePost => drop(counted.fetch_sub(1, Ordering::Relaxed)),
                _ => {}
            })
            .map_err(unreachable)?;
        start_listener(&socket, url, keepalive)?;
        let (sender, frames) = unbounded::<Vec<u8>>();
        let sending = socket.clone();
        std::thread::Builder::new()
            .name("publish".to_owned())
            .stack_size(128 * 1024)
            .spawn(move || {
                while let Ok(frame) = frames.recv_blocking() {
                    let _ = sending.send(Message::from(&frame[..]));
                }
            })
            .map_err(|error| LinkError::Unreachable(error.to_string()))?;
        Ok(Publisher { frames: sender, socket, longest, listeners })
    }

    /// True when nobody listens: then nothing has to be made for them.
    pub fn is_alone(&self) -> bool {
        self.listeners.load(Ordering::Relaxed) == 0
    }

    pub fn publish(&self, frame: Vec<u8>) -> Result<(), LinkError> {
        if frame.len() > self.longest {
            return Err(LinkError::TooLong { bytes: frame.len(), limit: self.longest });
        }
        if !self.is_alone() {
            let _ = self.frames.try_send(frame);
        }
        Ok(())
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.frames.close();
        self.socket.close();
    }
}

/// A sub0 socket that takes everything. NNG makes its connection again by itself.
pub struct Subscriber {
    socket: Socket,
    operation: Operation,
    connected: Arc<AtomicBool>,
}

impl Subscriber {
    pub fn local(path: &Path) -> Result<Subscriber, LinkError> {
        Subscriber::dial(&local_url(path)?, Keepalive::Off)
    }

    pub(super) fn dial(url: &str, keepalive: Keepalive) -> Result<Subscriber, LinkError> {
        let socket = socket(Protocol::Sub0)?;
        raise_limit(&socket, url)?;
        socket.set_opt::<Subscribe>(Vec::new()).map_err(unreachable)?;
        socket.set_opt::<RecvBufferSize>(1024).map_err(unreachable)?;
        let connected = Arc::new(AtomicBool::new(false));
        let known = connected.clone();
        socket
            .pipe_notify(move |_, event| match event {
                PipeEvent::AddPost => known.store(true, Ordering::Relaxed),
                PipeEvent::RemovePost => known.store(false, Ordering::Relaxed),
                _ => {}
            })
            .map_err(unreachable)?;
        start_dialer(&socket, url, keepalive, Dial::Again)?;
        Ok(Subscriber { socket, operation: Operation::new().map_err(unreachable)?, connected })
    }
}

impl Subscription for Subscriber {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, LinkError>> + '_>> {
        Box::pin(async {
            let message = self.operation.receive_from(&self.socket).await.map_err(broken)?;
            Ok(message.as_slice().to_vec())
        })
    }

    fn is_connected(&self) -> Arc<AtomicBool> {
        self.connected.clone()
    }
}
