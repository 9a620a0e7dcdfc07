//! One asynchronous operation of NNG as a future.

use nng::{Aio, AioResult, Context, Error, Message, Socket};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as Turn, Poll, Waker};

/// One asynchronous operation of NNG, used again and again.
pub(super) struct Operation {
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
    pub(super) fn new() -> Result<Operation, Error> {
        let slot = Arc::new(Slot::default());
        let finish = slot.clone();
        let aio = Aio::new(move |aio, result| {
            drop(aio);
            finish.finish(result);
        })?;
        Ok(Operation { aio, slot })
    }

    pub(super) async fn receive(&mut self, context: &Context) -> Result<Message, Error> {
        self.begin();
        context.recv(&self.aio)?;
        self.received().await
    }

    pub(super) async fn receive_from(&mut self, socket: &Socket) -> Result<Message, Error> {
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

    pub(super) async fn send(&mut self, context: &Context, message: Message) -> Result<(), Error> {
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
