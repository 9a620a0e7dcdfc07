//! The parent of a minion (Salt's `keepalive`): it starts the minion again when that ends without having been told to.
//!
//! It holds the pid file, has no thread of NNG and no session, and does nothing but wait. What it is told by signal it
//! passes on to its child alone: the workers of running jobs have sessions of their own and outlive both.

mod trial;

use super::channel::spread;
use crate::cli::Exit;
use crate::daemon::launch::{Heard, Stage};
use crate::daemon::pages::let_go_of_code;
use crate::daemon::signals::{Ear, Told};
use crate::daemon::{End, Failure, Life, RESTART, Start};
use async_io::{Async, Timer};
use halite_core::host::Machine;
use halite_core::update::Update;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use smol::future::FutureExt;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::Duration;
use trial::Verdict;

/// How long a minion may take to end before it is killed.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long until a minion that crashed is started again.
const AFTER_CRASH: Duration = Duration::from_secs(60);

/// Starts minions until one ends because it is to end. `longest` bounds the pause before a restart that was asked for.
pub fn supervise(start: &Start, life: &mut Life, longest: Duration) -> Result<End, Failure> {
    smol::block_on(async {
        let mut ear = Ear::open(None).map_err(|message| Failure::new(Exit::Failed, message))?;
        // Known now: another file may have its name later.
        let installed = Update::of_this_program().ok();
        let mut first = true;
        loop {
            let ended = match run_one(start, life, &mut ear, first).await {
                Ok(ended) => ended,
                Err(failure) if first => return Err(failure),
                Err(failure) => {
                    log::error!("{}", failure.message);
                    Ended::Unseen
                }
            };
            first = false;
            if let Some((update, timeout)) = ordered(&ended, installed.as_ref()) {
                match trial::of(start, update, timeout, &mut ear).await {
                    Verdict::Taken => return Ok(End::Replaced(update.program().to_owned())),
                    Verdict::PutBack => continue,
                    Verdict::Stopped => {
                        life.stopping();
                        return Ok(End::Stopped);
                    }
                }
            }
            let pause = match Next::after(ended, longest) {
                Next::End => return Ok(End::Stopped),
                Next::Again(pause) => pause,
            };
            log::warn!("the minion {}; it is started again in {} s", shown(ended), pause.as_secs());
            if stopped_during(pause, &mut ear, life).await {
                life.stopping();
                return Ok(End::Stopped);
            }
        }
    })
}

/// The candidate that is to be tried, if the child ended for that.
fn ordered<'a>(ended: &Ended, installed: Option<&'a Update>) -> Option<(&'a Update, Duration)> {
    let Ended::By(status) = ended else {
        return None;
    };
    let update = installed.filter(|_| status.code() == Some(RESTART.into()))?;
    update.ordered(&Machine).map(|timeout| (update, timeout))
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// It was told to, and did or was killed.
    Told,
    By(ExitStatus),
    /// The system did not let it start, or not be watched: it hears that nobody watches it, and ends.
    Unseen,
}

/// What follows from the end of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    End,
    Again(Duration),
}

impl Next {
    fn after(ended: Ended, longest: Duration) -> Next {
        match ended {
            Ended::Told => Next::End,
            Ended::By(status) if status.success() => Next::End,
            Ended::By(status) if status.code() == Some(RESTART.into()) => Next::Again(pause(longest)),
            Ended::By(_) | Ended::Unseen => Next::Again(AFTER_CRASH),
        }
    }
}

/// One second to `longest`, so that many minions that lost the same master do not come back at once.
fn pause(longest: Duration) -> Duration {
    let most = longest.as_secs().max(1);
    Duration::from_secs(1 + spread(most * 1000) / 1000)
}

fn shown(ended: Ended) -> String {
    match ended {
        Ended::Told => "was stopped".to_owned(),
        Ended::Unseen => "could not be started".to_owned(),
        Ended::By(status) if status.code() == Some(RESTART.into()) => "wants to start again".to_owned(),
        Ended::By(status) => match status.signal() {
            Some(signal) => format!("was ended by signal {signal}"),
            None => format!("ended with exit code {}", status.code().unwrap_or_default()),
        },
    }
}

/// Runs one minion to its end. That the very first does not start is the failure of this program.
async fn run_one(start: &Start, life: &mut Life, ear: &mut Ear, first: bool) -> Result<Ended, Failure> {
    let failed = |error: std::io::Error| Failure::new(Exit::Failed, format!("the minion cannot be started: {error}"));
    let (mut child, mut socket) = start.origin.spawn(Stage::Supervised, start.program, &start.args).map_err(failed)?;
    // The child hears of our end when this socket closes; it stays open in here.
    let parent = socket.try_clone().map_err(failed)?;
    let report = async { Some(smol::unblock(move || Heard::read(&mut socket)).await) };
    let told = async {
        while ear.next().await != Told::Stop {}
        None
    };
    let heard = report.or(told).await;
    match heard {
        Some(Heard::Failed { code, message }) if first => {
            let _ = child.wait();
            return Err(Failure { exit: Exit::of_code(code), message });
        }
        Some(Heard::Failed { message, .. }) => log::error!("the minion cannot start: {message}"),
        Some(Heard::Started) if first => life.begun()?,
        Some(Heard::Started) => log::info!("the minion is started again"),
        Some(Heard::Nothing) if first => {
            let status = child.wait().map_err(failed)?;
            let message = format!("the minion {} before it served", shown(Ended::By(status)));
            return Err(Failure::new(Exit::Internal, message));
        }
        Some(Heard::Nothing) => {}
        None => {
            life.stopping();
            return stop(child).await;
        }
    }
    let exit = exited(&child).map_err(failed)?;
    let_go_of_code();
    loop {
        let ended = async {
            let _ = exit.readable().await;
            None
        };
        let told = async { Some(ear.next().await) };
        match ended.or(told).await {
            None => {
                drop(parent);
                return child.wait().map(Ended::By).map_err(failed);
            }
            Some(Told::Reload) => {
                pass_on(&child, Signal::HUP);
                life.reload();
            }
            Some(_) => {
                life.stopping();
                return stop(child).await;
            }
        }
    }
}

/// Tells the child to end, and sees to it that it does.
async fn stop(mut child: Child) -> Result<Ended, Failure> {
    pass_on(&child, Signal::TERM);
    let failed = |error: std::io::Error| Failure::new(Exit::Internal, format!("the minion is not seen: {error}"));
    let exit = exited(&child).map_err(failed)?;
    let in_time = async {
        let _ = exit.readable().await;
        true
    };
    let late = async {
        Timer::after(TIMEOUT).await;
        false
    };
    if !in_time.or(late).await {
        log::error!("the minion does not end when it is told to: it is killed");
        pass_on(&child, Signal::KILL);
    }
    let _ = child.wait();
    Ok(Ended::Told)
}

/// To the child alone, never to its group: its number cannot belong to another process before it was waited for.
fn pass_on(child: &Child, signal: Signal) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Readable when the child has ended.
fn exited(child: &Child) -> std::io::Result<Async<OwnedFd>> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| std::io::Error::other("the child has no number"))?;
    Async::new(pidfd_open(pid, PidfdFlags::NONBLOCK)?)
}

/// Waits, unless it is told to stop meanwhile.
async fn stopped_during(pause: Duration, ear: &mut Ear, life: &Life) -> bool {
    let over = async {
        Timer::after(pause).await;
        false
    };
    let told = async {
        loop {
            match ear.next().await {
                Told::Reload => life.reload(),
                _ => return true,
            }
        }
    };
    over.or(told).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(code: i32) -> Ended {
        Ended::By(ExitStatus::from_raw(code << 8))
    }

    #[test]
    fn what_follows_depends_on_the_end() {
        let longest = Duration::from_secs(10);
        assert_eq!(Next::after(Ended::Told, longest), Next::End);
        assert_eq!(Next::after(exit(0), longest), Next::End);
        for crash in [exit(1), exit(101), exit(78), Ended::By(ExitStatus::from_raw(9)), Ended::Unseen] {
            assert_eq!(Next::after(crash, longest), Next::Again(AFTER_CRASH), "{crash:?}");
        }
        for longest in [0, 1, 2, 10] {
            for _ in 0..50 {
                let Next::Again(pause) = Next::after(exit(RESTART.into()), Duration::from_secs(longest)) else {
                    panic!("a restart that is asked for is none");
                };
                assert!((1..=longest.max(1)).contains(&pause.as_secs()), "{pause:?}");
            }
        }
    }

    #[test]
    fn the_log_says_how_it_ended() {
        assert_eq!(shown(Ended::By(ExitStatus::from_raw(9))), "was ended by signal 9");
        assert_eq!(shown(exit(3)), "ended with exit code 3");
        assert_eq!(shown(exit(RESTART.into())), "wants to start again");
    }
}
