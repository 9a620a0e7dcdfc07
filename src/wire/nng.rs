//! The one file that knows NNG.
//!
//! What NNG does, and what follows from it here:
//! - A callback runs on a thread of NNG: it stores its result and wakes, nothing else. An `Aio` that is dropped inside
//!   its own callback waits for itself for ever, so the callback lets go of its handle first.
//! - req0 resends by itself unless told otherwise: never here, a request that is sent twice must be sealed twice.
//! - A dialer connects again by itself: a [`Connection`] is one connection, so the next one is turned away.
//! - A rep0 context is held until its reply has left: a peer that asks and never reads would take them all. So contexts
//!   are made on demand, one connection may hold [`PER_PIPE`] of them, and a reply that does not leave in [`SEND_TIME`]
//!   closes its connection.
//! - A message is allocated from its length header, for anyone: every socket takes [`FRAME_LIMIT`] at most.
//! - pub0 drops the oldest message of a slow connection; sending may block, so it has a thread of its own.

use super::frame::FRAME_LIMIT;
use super::link::{Doors, Link, LinkError, Local, Peer, PipeId, Service, Subscription, Transport};
use async_io::Timer;
use nng::options::protocol::pubsub::Subscribe;
use nng::options::protocol::reqrep::ResendTime;
use nng::options::transport::tcp::KeepAlive;
use nng::options::{Options, ReconnectMaxTime, ReconnectMinTime, RecvBufferSize, RecvMaxSize, RemAddr, SendBufferSize};
use nng::{Aio, AioResult, Context, DialerBuilder, Error, ListenerBuilder, Message, Pipe, PipeEvent, Protocol, Socket};
use smol::LocalExecutor;
use smol::channel::{Receiver, Sender, unbounded};
use smol::future::FutureExt;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as Turn, Poll, Waker};
use std::time::Duration;

/// How many requests of one connection may be under way.
const PER_PIPE: usize = 16;
/// The same for a program on this host, which waits for many jobs at once. A user has few connections.
const PER_LOCAL_PIPE: usize = 512;
/// How long a reply may take to leave.
const SEND_TIME: Duration = Duration::from_secs(5);
/// The longest message that a local program takes from its daemon.
const LOCAL_LIMIT: usize = 256 << 20;
/// Contexts that wait for a request: enough for a burst, few enough to cost nothing.
const IDLE: usize = 32;

// ---- one operation ----

/// One asynchronous operation of NNG, used again and again.
struct Operation {
    aio: Aio,
    slot: Arc<Slot>,
}

#[derive(Default)]
struct Slot(Mutex<Progress>);

#[derive(Default)]
enum Progress {
    #[default]
    Idle,
    Running(Option<Waker>),
    Done(AioResult),
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, result: AioResult) {
        let before = std::mem::replace(&mut *self.lock(), Progress::Done(result));
        if let Progress::Running(Some(waker)) = before {
            waker.wake();
        }
    }
}

impl Operation {
    fn new() -> Result<Operation, Error> {
        let slot = Arc::new(Slot::default());
        let finish = slot.clone();
        let aio = Aio::new(move |aio, result| {
            drop(aio);
            finish.finish(result);
        })?;
        Ok(Operation { aio, slot })
    }

    async fn receive(&mut self, context: &Context) -> Result<Message, Error> {
        self.begin();
        context.recv(&self.aio)?;
        self.received().await
    }

    async fn receive_from(&mut self, socket: &Socket) -> Result<Message, Error> {
        self.begin();
        socket.recv_async(&self.aio)?;
        self.received().await
    }

    async fn received(&mut self) -> Result<Message, Error> {
        match Running(self).await {
            AioResult::Recv(result) => result,
            _ => Err(Error::IncorrectState),
        }
    }

    async fn send(&mut self, context: &Context, message: Message) -> Result<(), Error> {
        self.begin();
        context.send(&self.aio, message).map_err(|(_, error)| error)?;
        match Running(self).await {
            AioResult::Send(result) => result.map_err(|(_, error)| error),
            _ => Err(Error::IncorrectState),
        }
    }

    fn begin(&mut self) {
        *self.slot.lock() = Progress::Running(None);
    }

    /// Ends what is under way and waits until its callback has returned.
    fn stop(&mut self) {
        if matches!(*self.slot.lock(), Progress::Running(_)) {
            self.aio.cancel();
        }
        self.aio.wait();
        *self.slot.lock() = Progress::Idle;
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Waits for the operation; dropped early, it cancels it.
struct Running<'a>(&'a mut Operation);

impl Future for Running<'_> {
    type Output = AioResult;

    fn poll(self: Pin<&mut Self>, turn: &mut Turn<'_>) -> Poll<AioResult> {
        let mut progress = self.0.slot.lock();
        match std::mem::take(&mut *progress) {
            Progress::Done(result) => Poll::Ready(result),
            _ => {
                *progress = Progress::Running(Some(turn.waker().clone()));
                Poll::Pending
            }
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

// ---- listening ----

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
        let news = watch_pipes(&socket, &pipes)?;
        let inner = Rc::new(Inner {
            socket,
            reach: if url.starts_with("ipc://") { Reach::Local } else { Reach::Network },
            executor: executor.clone(),
            service,
            pipes,
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

impl Doors for Server {
    fn close(&self, pipe: PipeId) {
        self.inner.pipes.close(pipe);
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
        let sent = async { operation.send(context, Message::from(&reply[..])).await.is_ok() };
        let late = async {
            Timer::after(SEND_TIME).await;
            false
        };
        if !sent.or(late).await {
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
fn watch_pipes(socket: &Socket, pipes: &Pipes) -> Result<Receiver<PipeNews>, LinkError> {
    let (sender, news) = unbounded();
    let pipes = pipes.clone();
    socket
        .pipe_notify(move |pipe, event| {
            let id = pipe_id(pipe);
            match event {
                // Before it is added: a request of it may be received before AddPost is told.
                PipeEvent::AddPre => {
                    let peer = Peer { pipe: id, address: remote_address(pipe), uid: peer_uid(pipe) };
                    pipes.lock().insert(id, (pipe, peer));
                    let _ = sender.try_send(PipeNews::Opened(peer));
                }
                PipeEvent::RemovePost => {
                    pipes.lock().remove(&id);
                    let _ = sender.try_send(PipeNews::Closed(id));
                }
                _ => {}
            }
        })
        .map_err(unreachable)?;
    Ok(news)
}

// ---- asking ----

/// A connection of a req0 socket, with one context a request.
pub struct Connection {
    inner: Arc<ConnectionInner>,
    gone: Receiver<()>,
}

struct ConnectionInner {
    socket: Socket,
    /// Operations and contexts that wait to be used again.
    spare: Mutex<Vec<(Context, Operation)>>,
}

impl Connection {
    pub async fn tcp(address: SocketAddr, patience: Duration, keepalive: Keepalive) -> Result<Connection, LinkError> {
        Connection::dial(&format!("tcp://{address}"), patience, keepalive, Dial::Again).await
    }

    pub async fn local(path: &Path, patience: Duration) -> Result<Connection, LinkError> {
        // That nobody listens is known at once, and said: NNG would try again for ever.
        Connection::dial(&local_url(path)?, patience, Keepalive::Off, Dial::Once).await
    }

    async fn dial(url: &str, patience: Duration, keepalive: Keepalive, dial: Dial) -> Result<Connection, LinkError> {
        let socket = socket(Protocol::Req0)?;
        raise_limit(&socket, url)?;
        socket.set_opt::<ResendTime>(None).map_err(unreachable)?;
        let (up, is_up) = unbounded();
        let (down, gone) = unbounded();
        let connected = AtomicBool::new(false);
        socket
            .pipe_notify(move |pipe, event| match event {
                // NNG connects again by itself, and would send there what it has not sent yet: a session would move to a
                // connection that nobody waits on.
                PipeEvent::AddPre if connected.swap(true, Ordering::Relaxed) => pipe.close(),
                PipeEvent::AddPost => {
                    let _ = up.try_send(());
                }
                PipeEvent::RemovePost => {
                    down.close();
                }
                _ => {}
            })
            .map_err(unreachable)?;
        let connection = Connection { inner: Arc::new(ConnectionInner { socket, spare: Mutex::default() }), gone };
        match dial {
            Dial::Again => start_dialer(&connection.inner.socket, url, keepalive, dial)?,
            Dial::Once => {
                let (inner, url) = (connection.inner.clone(), url.to_owned());
                smol::unblock(move || start_dialer(&inner.socket, &url, keepalive, dial)).await?;
            }
        }
        let connected = async { is_up.recv().await.is_ok() };
        let late = async {
            Timer::after(patience).await;
            false
        };
        if connected.or(late).await {
            Ok(connection)
        } else {
            Err(LinkError::Unreachable(format!("nobody answers at {url}")))
        }
    }
}

impl Link for Connection {
    fn request(&self, frame: Vec<u8>) -> Local<Result<Vec<u8>, LinkError>> {
        let inner = self.inner.clone();
        let gone = self.gone.clone();
        Box::pin(async move {
            if gone.is_closed() {
                return Err(LinkError::Broken);
            }
            // NNG would keep what it could not send for the next connection, and there is none.
            let broken = async {
                while gone.recv().await.is_ok() {}
                Err(LinkError::Broken)
            };
            inner.request(frame).or(broken).await
        })
    }

    fn closed(&self) -> Local<()> {
        let gone = self.gone.clone();
        Box::pin(async move { while gone.recv().await.is_ok() {} })
    }
}

impl Drop for Connection {
    /// Closing waits for NNG's threads, so it is not done on the caller's.
    fn drop(&mut self) {
        let inner = self.inner.clone();
        smol::unblock(move || inner.socket.close()).detach();
    }
}

impl ConnectionInner {
    async fn request(&self, frame: Vec<u8>) -> Result<Vec<u8>, LinkError> {
        if frame.len() > FRAME_LIMIT {
            return Err(LinkError::TooLong { bytes: frame.len(), limit: FRAME_LIMIT });
        }
        let spare = self.lock().pop();
        let (context, mut operation) = match spare {
            Some(pair) => pair,
            None => (Context::new(&self.socket).map_err(broken)?, Operation::new().map_err(broken)?),
        };
        operation.send(&context, Message::from(&frame[..])).await.map_err(broken)?;
        let reply = operation.receive(&context).await.map_err(broken)?;
        self.lock().push((context, operation));
        Ok(reply.as_slice().to_vec())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Context, Operation)>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connections over TCP.
pub struct Tcp {
    /// How long a connection may take to be made.
    pub patience: Duration,
    pub family: Family,
    pub keepalive: Keepalive,
}

/// Which addresses of a name are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Those that there are, IPv4 first.
    Any,
    V4,
    V6,
}

/// Whether TCP asks a silent peer. How often is the system's to say: NNG has no option for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keepalive {
    On,
    Off,
}

impl Transport for Tcp {
    fn connect(&self, host: &str, port: u16) -> Local<Result<Rc<dyn Link>, LinkError>> {
        let (host, patience, family, keepalive) = (host.to_owned(), self.patience, self.family, self.keepalive);
        Box::pin(async move {
            let address = resolve(host, port, family).await?;
            let connection = Connection::tcp(address, patience, keepalive).await?;
            Ok(Rc::new(connection) as Rc<dyn Link>)
        })
    }

    fn subscribe(&self, host: &str, port: u16) -> Local<Result<Box<dyn Subscription>, LinkError>> {
        let (host, family, keepalive) = (host.to_owned(), self.family, self.keepalive);
        Box::pin(async move {
            let address = resolve(host, port, family).await?;
            let subscriber = Subscriber::dial(&format!("tcp://{address}"), keepalive)?;
            Ok(Box::new(subscriber) as Box<dyn Subscription>)
        })
    }
}

/// Asks the system for the name's addresses, each time anew: a name may move. An address needs no system.
async fn resolve(host: String, port: u16, family: Family) -> Result<SocketAddr, LinkError> {
    if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, port));
    }
    let name = host.clone();
    let found = smol::unblock(move || (name.as_str(), port).to_socket_addrs().map(Vec::from_iter)).await;
    let mut addresses = found.map_err(|error| {
        let hint = if Path::new("/etc/hosts").exists() || Path::new("/etc/resolv.conf").exists() {
            ""
        } else {
            " (there is neither /etc/hosts nor /etc/resolv.conf: give an address)"
        };
        LinkError::Unreachable(format!("the name '{host}' does not resolve: {error}{hint}"))
    })?;
    addresses.sort_by_key(SocketAddr::is_ipv6);
    let (fits, kind): (fn(&SocketAddr) -> bool, _) = match family {
        Family::Any => (|_| true, "address"),
        Family::V4 => (SocketAddr::is_ipv4, "IPv4 address"),
        Family::V6 => (SocketAddr::is_ipv6, "IPv6 address"),
    };
    let found = addresses.into_iter().find(fits);
    found.ok_or_else(|| LinkError::Unreachable(format!("the name '{host}' has no {kind}")))
}

// ---- publishing ----

/// A pub0 socket. Sending happens in order on a thread of its own and never holds the caller up.
pub struct Publisher {
    frames: Sender<Vec<u8>>,
    socket: Socket,
}

/// How many publications may wait for a slow subscriber.
const PUBLISHER_BUFFER: i32 = 64;

impl Publisher {
    pub fn tcp(address: SocketAddr, keepalive: Keepalive) -> Result<Publisher, LinkError> {
        Publisher::listen(&format!("tcp://{address}"), PUBLISHER_BUFFER, keepalive)
    }

    /// Events come in bursts, and few listen: the buffer is larger.
    pub fn local(path: &Path, mode: u32) -> Result<Publisher, LinkError> {
        let url = local_url(path)?;
        let _ = std::fs::remove_file(path);
        let publisher = Publisher::listen(&url, 4096, Keepalive::Off)?;
        set_mode(path, mode)?;
        Ok(publisher)
    }

    fn listen(url: &str, buffer: i32, keepalive: Keepalive) -> Result<Publisher, LinkError> {
        let socket = socket(Protocol::Pub0)?;
        socket.set_opt::<SendBufferSize>(buffer).map_err(unreachable)?;
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
        Ok(Publisher { frames: sender, socket })
    }

    pub fn publish(&self, frame: Vec<u8>) {
        let _ = self.frames.try_send(frame);
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
}

impl Subscriber {
    pub fn local(path: &Path) -> Result<Subscriber, LinkError> {
        Subscriber::dial(&local_url(path)?, Keepalive::Off)
    }

    fn dial(url: &str, keepalive: Keepalive) -> Result<Subscriber, LinkError> {
        let socket = socket(Protocol::Sub0)?;
        raise_limit(&socket, url)?;
        socket.set_opt::<Subscribe>(Vec::new()).map_err(unreachable)?;
        socket.set_opt::<RecvBufferSize>(1024).map_err(unreachable)?;
        start_dialer(&socket, url, keepalive, Dial::Again)?;
        Ok(Subscriber { socket, operation: Operation::new().map_err(unreachable)? })
    }
}

impl Subscription for Subscriber {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, LinkError>> + '_>> {
        Box::pin(async {
            let message = self.operation.receive_from(&self.socket).await.map_err(broken)?;
            Ok(message.as_slice().to_vec())
        })
    }
}

// ---- what all of them need ----

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    struct Echo;

    impl Service for Echo {
        fn request(self: Rc<Self>, from: Peer, frame: Vec<u8>) -> Local<Option<Vec<u8>>> {
            Box::pin(async move {
                match frame.as_slice() {
                    b"uid" => Some(format!("{:?}", from.uid).into_bytes()),
                    b"silence" => std::future::pending().await,
                    _ => Some(frame),
                }
            })
        }

        fn closed(&self, _: PipeId) {}
    }

    fn with_executor<T>(run: impl AsyncFnOnce(&Rc<LocalExecutor<'static>>) -> T) -> T {
        let executor = Rc::new(LocalExecutor::new());
        smol::block_on(executor.run(run(&executor)))
    }

    fn socket_path(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("halite-nng-{name}-{}", std::process::id()))
    }

    #[test]
    fn strangers_that_come_and_go_do_not_stop_a_listener() {
        let path = socket_path("strangers");
        with_executor(async |executor| {
            let server = Server::local(executor, &path, 0o600, Rc::new(Echo)).unwrap();
            for turn in 0..40 {
                let mut stranger = UnixStream::connect(&path).unwrap();
                if turn % 2 == 0 {
                    let _ = stranger.write_all(b"GET / HTTP/1.0\r\n\r\n");
                }
            }
            let start = std::time::Instant::now();
            let connection = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
            assert_eq!(connection.request(b"hello".to_vec()).await, Ok(b"hello".to_vec()));
            assert!(start.elapsed() < Duration::from_secs(2), "each of them made the listener pause");
            drop(server);
        });
        let _ = std::fs::remove_file(&path);
    }

    #[test]
    fn a_request_that_comes_with_its_connection_is_answered() {
        let path = socket_path("first");
        with_executor(async |executor| {
            let _server = Server::local(executor, &path, 0o600, Rc::new(Echo)).unwrap();
            for _ in 0..50 {
                let connection = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
                let own = format!("Some({})", rustix::process::getuid().as_raw());
                assert_eq!(connection.request(b"uid".to_vec()).await, Ok(own.into_bytes()));
            }
        });
        let _ = std::fs::remove_file(&path);
    }

    #[test]
    fn a_broken_connection_fails_what_is_under_way() {
        let path = socket_path("broken");
        with_executor(async |executor| {
            let server = Server::local(executor, &path, 0o600, Rc::new(Echo)).unwrap();
            let connection = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
            let waiting = executor.spawn(connection.request(b"silence".to_vec()));
            assert_eq!(connection.request(b"x".to_vec()).await, Ok(b"x".to_vec()));
            drop(server);
            assert_eq!(waiting.await, Err(LinkError::Broken));
            connection.closed().await;
            assert_eq!(connection.request(b"x".to_vec()).await, Err(LinkError::Broken));
        });
        let _ = std::fs::remove_file(&path);
    }

    #[test]
    fn a_connection_that_broke_is_not_made_again() {
        let path = socket_path("again");
        with_executor(async |executor| {
            let server = Server::local(executor, &path, 0o600, Rc::new(Echo)).unwrap();
            let connection = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
            drop(server);
            connection.closed().await;
            let seen = Rc::new(Echoes::default());
            let _server = Server::local(executor, &path, 0o600, seen.clone()).unwrap();
            // As a request does that comes just before the break is known.
            let late = executor.spawn({
                let inner = connection.inner.clone();
                async move { inner.request(b"late".to_vec()).await }
            });
            Timer::after(Duration::from_millis(600)).await;
            assert_eq!(seen.0.get(), 0, "it came over a connection that nobody has asked for");
            drop(late);
        });
        let _ = std::fs::remove_file(&path);
    }

    /// Counts its requests.
    #[derive(Default)]
    struct Echoes(Cell<usize>);

    impl Service for Echoes {
        fn request(self: Rc<Self>, _: Peer, frame: Vec<u8>) -> Local<Option<Vec<u8>>> {
            self.0.set(self.0.get() + 1);
            Box::pin(async move { Some(frame) })
        }

        fn closed(&self, _: PipeId) {}
    }

    #[test]
    fn who_asks_and_never_reads_loses_its_connection_alone() {
        let path = socket_path("greedy");
        with_executor(async |executor| {
            let _server = Server::local(executor, &path, 0o600, Rc::new(Echo)).unwrap();
            let greedy = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
            let asked: Vec<_> =
                (0..PER_LOCAL_PIPE + 1).map(|_| executor.spawn(greedy.request(b"silence".to_vec()))).collect();
            greedy.closed().await;
            let honest = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
            assert_eq!(honest.request(b"x".to_vec()).await, Ok(b"x".to_vec()));
            drop(asked);
        });
        let _ = std::fs::remove_file(&path);
    }

    #[test]
    fn what_is_too_long_is_refused_before_it_is_sent() {
        let path = socket_path("long");
        with_executor(async |executor| {
            let _server = Server::local(executor, &path, 0o600, Rc::new(Echo)).unwrap();
            let connection = Connection::local(&path, Duration::from_secs(5)).await.unwrap();
            let long = vec![0; FRAME_LIMIT + 1];
            assert!(matches!(connection.request(long).await, Err(LinkError::TooLong { .. })));
            let most = vec![7; FRAME_LIMIT];
            assert_eq!(connection.request(most.clone()).await, Ok(most));
        });
        let _ = std::fs::remove_file(&path);
    }
}
