//! Listening: a rep0 socket, and a task for each context that waits for a request.

use super::super::deadline::within;
use super::super::frame::FRAME_LIMIT;
use super::super::link::{Connections, LinkError, Peer, PipeId, Service};
use super::operation::Operation;
use super::{
    Keepalive, LOCAL_LIMIT, local_url, peer_uid, pipe_id, remote_address, set_mode, socket, start_listener, unreachable,
};
use nng::{Context, Error, Message, Pipe, PipeEvent, Protocol, Socket};
use smol::LocalExecutor;
use smol::channel::{Receiver, unbounded};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many requests of one connection may be under way.
pub(super) const PER_PIPE: usize = 16;
/// The same for a program on this host, which waits for many jobs at once. A user has few connections.
pub(super) const PER_LOCAL_PIPE: usize = 512;
/// How long a reply may take to leave.
const SEND_TIME: Duration = Duration::from_secs(5);
/// Contexts that wait for a request: enough for a burst, few enough to cost nothing.
const IDLE: usize = 32;

/// A rep0 socket and the tasks that answer its requests.
pub struct Server {
    inner: Rc<Inner>,
}

struct Inner {
    socket: Socket,
    reach: Reach,
    executor: Rc<LocalExecutor<'static>>,
    service: Rc<dyn Service>,
    pipes: Pipes,
    admission: Arc<Admission>,
    /// Contexts that wait for a request.
    idle: Cell<usize>,
    /// Requests under way, a connection.
    busy: RefCell<HashMap<PipeId, usize>>,
}

/// Who can connect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Local,
    Network,
}

/// What is known of each open connection. Written by NNG's threads before a request of it can be received.
#[derive(Clone, Default)]
struct Pipes(Arc<Mutex<HashMap<PipeId, (Pipe, Peer)>>>);

/// Who may connect. Asked on NNG's threads, so that a connection that is turned away costs no other thread anything.
struct Admission {
    /// How many more connections are taken; below nothing for those that were not.
    left: AtomicIsize,
    known: Mutex<HashSet<IpAddr>>,
}

/// Addresses that are known, at most; then they are learnt anew.
const KNOWN: usize = 100_000;

impl Default for Admission {
    fn default() -> Admission {
        Admission { left: AtomicIsize::new(isize::MAX), known: Mutex::default() }
    }
}

impl Admission {
    fn takes(&self, address: Option<IpAddr>) -> bool {
        self.left.fetch_sub(1, Ordering::Relaxed) > 0 || address.is_some_and(|address| self.lock().contains(&address))
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<IpAddr>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum PipeNews {
    Opened(Peer),
    Closed(PipeId),
}

impl Server {
    /// Listens on TCP.
    pub fn tcp(
        executor: &Rc<LocalExecutor<'static>>,
        address: SocketAddr,
        keepalive: Keepalive,
        service: Rc<dyn Service>,
    ) -> Result<Server, LinkError> {
        Server::listen(executor, &format!("tcp://{address}"), keepalive, service)
    }

    /// Listens on a local socket; who may connect is for `mode`, who may ask what is for the service, which gets the
    /// uid of the peer.
    pub fn local(
        executor: &Rc<LocalExecutor<'static>>,
        path: &Path,
        mode: u32,
        service: Rc<dyn Service>,
    ) -> Result<Server, LinkError> {
        let url = local_url(path)?;
        // A socket file of a dead process would be in the way; whoever lives holds the pid file.
        let _ = std::fs::remove_file(path);
        let server = Server::listen(executor, &url, Keepalive::Off, service)?;
        set_mode(path, mode)?;
        Ok(server)
    }

    fn listen(
        executor: &Rc<LocalExecutor<'static>>,
        url: &str,
        keepalive: Keepalive,
        service: Rc<dyn Service>,
    ) -> Result<Server, LinkError> {
        let socket = socket(Protocol::Rep0)?;
        let pipes = Pipes::default();
        let admission = Arc::default();
        let news = watch_pipes(&socket, &pipes, &admission)?;
        let inner = Rc::new(Inner {
            socket,
            reach: if url.starts_with("ipc://") { Reach::Local } else { Reach::Network },
            executor: executor.clone(),
            service,
            pipes,
            admission,
            idle: Cell::new(0),
            busy: RefCell::default(),
        });
        for _ in 0..IDLE {
            inner.clone().add_context();
        }
        start_listener(&inner.socket, url, keepalive)?;
        executor.spawn(tell_service(Rc::downgrade(&inner), news)).detach();
        Ok(Server { inner })
    }
}

impl Connections for Server {
    fn close(&self, pipe: PipeId) {
        self.inner.pipes.close(pipe);
    }

    fn admit(&self, connections: usize) {
        self.inner.admission.left.store(isize::try_from(connections).unwrap_or(isize::MAX), Ordering::Relaxed);
    }

    fn know(&self, address: IpAddr) {
        let mut known = self.inner.admission.lock();
        if known.len() >= KNOWN {
            known.clear();
        }
        if !address.is_loopback() {
            known.insert(address);
        }
    }

    fn is_open(&self, pipe: PipeId) -> bool {
        self.inner.pipes.peer(pipe).is_some()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.inner.socket.close();
    }
}

impl Inner {
    fn per_pipe(&self) -> usize {
        match self.reach {
            Reach::Local => PER_LOCAL_PIPE,
            Reach::Network => PER_PIPE,
        }
    }

    /// No peer takes a longer reply: NNG would end its connection for it, and the peer would ask the same again.
    fn longest(&self) -> usize {
        match self.reach {
            Reach::Local => LOCAL_LIMIT,
            Reach::Network => FRAME_LIMIT,
        }
    }

    fn add_context(self: Rc<Self>) {
        self.idle.set(self.idle.get() + 1);
        let executor = self.executor.clone();
        executor.spawn(self.answer_requests()).detach();
    }

    /// The life of one context: a request, its reply, the next request.
    async fn answer_requests(self: Rc<Self>) {
        let (Ok(context), Ok(mut operation)) = (Context::new(&self.socket), Operation::new()) else {
            self.idle.set(self.idle.get() - 1);
            return;
        };
        loop {
            let received = operation.receive(&context).await;
            self.idle.set(self.idle.get() - 1);
            let mut message = match received {
                Ok(message) => message,
                Err(Error::Closed) => return,
                Err(_) => {
                    self.idle.set(self.idle.get() + 1);
                    continue;
                }
            };
            if self.idle.get() == 0 {
                self.clone().add_context();
            }
            if let Some(peer) = message.pipe().and_then(|pipe| self.pipes.peer(pipe_id(pipe))) {
                self.answer(&context, &mut operation, peer, message).await;
            }
            if self.idle.get() >= IDLE {
                return;
            }
            self.idle.set(self.idle.get() + 1);
        }
    }

    async fn answer(&self, context: &Context, operation: &mut Operation, peer: Peer, message: Message) {
        let Some(_place) = Place::take(&self.busy, peer.pipe, self.per_pipe()) else {
            log::warn!(
                "a peer has {} requests under way and reads no reply: its connection is closed",
                self.per_pipe()
            );
            return self.pipes.close(peer.pipe);
        };
        let frame = message.as_slice().to_vec();
        drop(message);
        let Some(reply) = self.service.clone().request(peer, frame).await else {
            return self.pipes.close(peer.pipe);
        };
        if reply.len() > self.longest() {
            let error = LinkError::TooLong { bytes: reply.len(), limit: self.longest() };
            log::error!("a reply is not sent, its connection is closed: {error}");
            return self.pipes.close(peer.pipe);
        }
        let sent = within(SEND_TIME, operation.send(context, Message::from(&reply[..]))).await;
        if !matches!(sent, Some(Ok(()))) {
            self.pipes.close(peer.pipe);
        }
    }
}

/// One of the places that a connection has for requests under way; given back when it is dropped.
struct Place<'a> {
    busy: &'a RefCell<HashMap<PipeId, usize>>,
    pipe: PipeId,
}

impl<'a> Place<'a> {
    fn take(busy: &'a RefCell<HashMap<PipeId, usize>>, pipe: PipeId, most: usize) -> Option<Place<'a>> {
        let mut counts = busy.borrow_mut();
        let count = counts.entry(pipe).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Place { busy, pipe })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut counts = self.busy.borrow_mut();
        if let Some(count) = counts.get_mut(&self.pipe) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.pipe);
            }
        }
    }
}

async fn tell_service(inner: std::rc::Weak<Inner>, news: Receiver<PipeNews>) {
    while let Ok(news) = news.recv().await {
        let Some(inner) = inner.upgrade() else {
            return;
        };
        match news {
            PipeNews::Opened(peer) => inner.service.opened(peer),
            PipeNews::Closed(pipe) => inner.service.closed(pipe),
        }
    }
}

impl Pipes {
    fn lock(&self) -> MutexGuard<'_, HashMap<PipeId, (Pipe, Peer)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn peer(&self, pipe: PipeId) -> Option<Peer> {
        self.lock().get(&pipe).map(|(_, peer)| *peer)
    }

    fn close(&self, pipe: PipeId) {
        let known = self.lock().get(&pipe).map(|(pipe, _)| *pipe);
        if let Some(pipe) = known {
            pipe.close();
        }
    }
}

/// Keeps `pipes` up to date from NNG's threads and passes the news on.
fn watch_pipes(socket: &Socket, pipes: &Pipes, admission: &Arc<Admission>) -> Result<Receiver<PipeNews>, LinkError> {
    let (sender, news) = unbounded();
    let (pipes, admission) = (pipes.clone(), admission.clone());
    socket
        .pipe_notify(move |pipe, event| {
            let id = pipe_id(pipe);
            match event {
                // Before it is added: a request of it may be received before AddPost is told.
                PipeEvent::AddPre => {
                    let address = remote_address(pipe);
                    if !admission.takes(address) {
                        return pipe.close();
                    }
                    let peer = Peer { pipe: id, address, uid: peer_uid(pipe) };
                    pipes.lock().insert(id, (pipe, peer));
                    let _ = sender.try_send(PipeNews::Opened(peer));
                }
                PipeEvent::RemovePost if pipes.lock().remove(&id).is_some() => {
                    let _ = sender.try_send(PipeNews::Closed(id));
                }
                _ => {}
            }
        })
        .map_err(unreachable)?;
    Ok(news)
}
