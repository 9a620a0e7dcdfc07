//! What a daemon is told from outside while it runs.

use async_io::Async;
use async_signal::{Signal, Signals};
use smol::future::FutureExt;
use smol::stream::StreamExt;
use std::future::pending;
use std::io::Read;
use std::os::unix::net::UnixStream;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// SIGTERM or SIGINT.
    Stop,
    /// SIGHUP.
    Reload,
    /// The role itself wants a new start.
    Restart,
    /// The supervisor is gone.
    Orphaned,
}

/// Hears signals, and the end of the parent. Must exist before the first signal may come.
pub struct Ear {
    signals: Signals,
    parent: Option<Async<UnixStream>>,
}

impl Ear {
    /// `parent` is a socket that the parent holds the other end of: the kernel closes it when that process ends, however
    /// it ends. A number (getppid) could belong to somebody else by now, and PDEATHSIG follows a thread.
    pub fn open(parent: Option<UnixStream>) -> Result<Ear, String> {
        let failed = |error: std::io::Error| format!("signals cannot be received: {error}");
        Ok(Ear {
            signals: Signals::new([Signal::Term, Signal::Int, Signal::Hup]).map_err(failed)?,
            parent: parent.map(Async::new).transpose().map_err(failed)?,
        })
    }

    pub async fn next(&mut self) -> Told {
        let Ear { signals, parent } = self;
        let signal = async {
            match signals.next().await {
                Some(Ok(Signal::Hup)) => Told::Reload,
                _ => Told::Stop,
            }
        };
        let orphaned = async {
            match parent {
                Some(parent) => gone(parent).await,
                None => pending().await,
            }
            Told::Orphaned
        };
        signal.or(orphaned).await
    }
}

/// Ready when the other end is closed. The parent never says anything.
async fn gone(parent: &Async<UnixStream>) {
    let mut byte = [0];
    while let Ok(1..) = parent.read_with(|mut parent| parent.read(&mut byte)).await {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_parent_is_heard() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut ear = Ear::open(Some(theirs)).unwrap();
        drop(ours);
        assert_eq!(smol::block_on(ear.next()), Told::Orphaned);
    }
}
