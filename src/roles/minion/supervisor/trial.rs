//! Another version of the program, tried: it must come up as a minion and reach a master, or the installed one goes on.

use super::{exited, shown, stop};
use crate::daemon::Start;
use crate::daemon::launch::{Heard, Stage, hears_connected};
use crate::daemon::signals::{Ear, Told};
use async_io::Timer;
use halite_core::host::Machine;
use halite_core::update::{Outcome, Update};
use smol::future::FutureExt;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::Duration;

/// What a trial led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The candidate is the installed file.
    Taken,
    /// It is gone; the installed file is as it was.
    PutBack,
    /// The supervisor was told to stop meanwhile; the candidate is put back.
    Stopped,
}

/// Tries the candidate for at most `timeout`, and says beside it what came of it.
pub async fn of(start: &Start, update: &Update, timeout: Duration, ear: &mut Ear) -> Verdict {
    log::info!("another version is tried: {}", update.candidate().display());
    let (outcome, verdict) = match run(start, update, timeout, ear).await {
        Ok(()) => match update.take(&Machine) {
            Ok(()) => (Outcome::Taken, Verdict::Taken),
            Err(error) => {
                let why = format!("{} cannot be replaced: {error}", update.program().display());
                (Outcome::PutBack(why), Verdict::PutBack)
            }
        },
        Err(Trouble::NotUp(why)) => (Outcome::PutBack(why), Verdict::PutBack),
        Err(Trouble::Stopped) => (Outcome::PutBack("the minion was stopped meanwhile".to_owned()), Verdict::Stopped),
    };
    match &outcome {
        Outcome::Taken => log::info!("the version that was tried is the installed one now"),
        Outcome::PutBack(why) => log::error!("the version that was tried is put back: {why}"),
    }
    if let Err(error) = update.tell(&Machine, &outcome) {
        log::error!("what came of the update cannot be written down: {error}");
    }
    verdict
}

enum Trouble {
    NotUp(String),
    Stopped,
}

/// Starts the candidate, waits until it has a session, and stops it again: what runs on is started from its final place.
async fn run(start: &Start, update: &Update, timeout: Duration, ear: &mut Ear) -> Result<(), Trouble> {
    let failed = |error: std::io::Error| Trouble::NotUp(format!("it cannot be started: {error}"));
    let spawned = start.origin.spawn_file(&update.candidate(), Stage::Supervised, start.program, &start.args);
    let (mut child, socket) = spawned.map_err(failed)?;
    // The child lives as long as somebody holds this end.
    let held = socket.try_clone();
    let up = async { Some(came_up(&mut child, socket).await) };
    let late = async {
        Timer::after(timeout).await;
        Some(Err(format!("it has reached no master within {} s", timeout.as_secs())))
    };
    let stopped = async {
        while ear.next().await == Told::Reload {}
        None
    };
    let came = up.or(late).or(stopped).await;
    if stop(child).await.is_err() {
        log::warn!("the minion of the version that was tried may still run");
    }
    drop(held);
    match came {
        Some(Ok(())) => Ok(()),
        Some(Err(why)) => Err(Trouble::NotUp(why)),
        None => Err(Trouble::Stopped),
    }
}

/// Ready when the child has a session with a master, or has failed to get one.
async fn came_up(child: &mut Child, mut socket: UnixStream) -> Result<(), String> {
    let told = smol::unblock(move || match Heard::read(&mut socket) {
        Heard::Started if hears_connected(&mut socket) => Ok(()),
        Heard::Failed { message, .. } => Err(format!("it says: {message}")),
        Heard::Started | Heard::Nothing => Err(String::new()),
    });
    match told.await {
        Err(why) if why.is_empty() => Err(how_it_ended(child).await),
        told => told,
    }
}

async fn how_it_ended(child: &mut Child) -> String {
    if let Ok(exit) = exited(child) {
        let _ = exit.readable().await;
    }
    match child.wait() {
        Ok(status) => format!("it {}", shown(super::Ended::By(status))),
        Err(error) => format!("it is not seen: {error}"),
    }
}
