//! Asking: a connection of a req0 socket, with one context a request.

use super::super::deadline::within;
use super::super::frame::FRAME_LIMIT;
use super::super::link::{Link, LinkError, Local};
use super::operation::Operation;
use super::{Dial, Keepalive, broken, local_url, raise_limit, socket, start_dialer, unreachable};
use nng::options::Options;
use nng::options::protocol::reqrep::ResendTime;
use nng::{Context, Message, PipeEvent, Protocol, Socket};
use smol::channel::{Receiver, unbounded};
use smol::future::FutureExt;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A connection of a req0 socket, with one context a request.
pub struct Connection {
    pub(super) inner: Arc<ConnectionInner>,
    gone: Receiver<()>,
}

pub(super) struct ConnectionInner {
    socket: Socket,
    /// Operations and contexts that wait to be used again.
    spare: Mutex<Vec<(Context, Operation)>>,
}

impl Connection {
    pub async fn tcp(address: SocketAddr, timeout: Duration, keepalive: Keepalive) -> Result<Connection, LinkError> {
        Connection::dial(&format!("tcp://{address}"), timeout, keepalive, Dial::Again).await
    }

    pub async fn local(path: &Path, timeout: Duration) -> Result<Connection, LinkError> {
        // That nobody listens is known at once, and said: NNG would try again for ever.
        Connection::dial(&local_url(path)?, timeout, Keepalive::Off, Dial::Once).await
    }

    async fn dial(url: &str, timeout: Duration, keepalive: Keepalive, dial: Dial) -> Result<Connection, LinkError> {
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
        if let Some(Ok(())) = within(timeout, is_up.recv()).await {
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
    pub(super) async fn request(&self, frame: Vec<u8>) -> Result<Vec<u8>, LinkError> {
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
