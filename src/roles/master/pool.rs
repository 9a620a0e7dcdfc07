//! A few threads for what takes long enough to hold up the others: signatures of handshakes.
//!
//! The queue is bounded: past it a peer is told to come back, so that a jitter at the dispatcher costs the minions inside
//! nothing.

use smol::channel::{Sender, bounded, unbounded};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How much less urgent a handshake is than the work of minions that are connected (`nice`).
const NICE: i32 = 5;

type Task = Box<dyn FnOnce() + Send>;

pub struct Pool {
    tasks: Sender<Task>,
    waiting: Arc<AtomicUsize>,
    most: usize,
}

/// As many wait as may. `waiting` says how long the queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    pub waiting: usize,
}

impl Pool {
    pub fn start(threads: usize, most: usize) -> std::io::Result<Pool> {
        let (tasks, incoming) = unbounded::<Task>();
        for _ in 0..threads {
            let incoming = incoming.clone();
            std::thread::Builder::new().name("signatures".to_owned()).stack_size(256 * 1024).spawn(move || {
                // Whoever is at the dispatcher must not take the processor from those who are inside.
                let _ = rustix::process::setpriority_process(None, NICE);
                while let Ok(task) = incoming.recv_blocking() {
                    task();
                }
            })?;
        }
        Ok(Pool { tasks, waiting: Arc::default(), most })
    }

    /// Runs `work` on a thread of the pool.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Busy> {
        let waiting = self.waiting.fetch_add(1, Ordering::Relaxed);
        let count = self.waiting.clone();
        if waiting >= self.most {
            count.fetch_sub(1, Ordering::Relaxed);
            return Err(Busy { waiting });
        }
        let (sender, done) = bounded(1);
        let task = Box::new(move || {
            let result = work();
            count.fetch_sub(1, Ordering::Relaxed);
            let _ = sender.try_send(result);
        });
        let _ = self.tasks.try_send(task);
        done.recv().await.map_err(|_| Busy { waiting })
    }
}

/// What one handshake costs a master, in microseconds: the signature, the connection and all that follows at once.
const COST_US: usize = 500;

/// No jitter counts as larger, or unauthenticated could keep minions away for as long as they like.
const MOST_WAITING: usize = 20_000;

/// How long handshakes with so many take.
pub fn time_for(jitter: usize) -> Duration {
    Duration::from_micros((jitter.min(MOST_WAITING) * COST_US) as u64)
}

/// Those who were told to come back, so that they do not come back as one: ten thousand that ask again at once cost more
/// than their handshakes.
#[derive(Default)]
pub struct ReconnectJitter {
    /// When the first of them was turned away, and how many have been since.
    since: Cell<Option<(Instant, usize)>>,
}

impl ReconnectJitter {
    /// Turns one away. It is to come back after a time between these, in milliseconds: the queue is through by the first,
    /// and by the last all who were turned away with it.
    pub fn turn_away(&self, waiting: usize, now: Instant) -> (u32, u32) {
        let (since, before) = self.since.get().unwrap_or((now, 0));
        let window = Duration::from_millis((before * COST_US / 1000) as u64).max(Duration::from_secs(1));
        let (since, count) = if now.saturating_duration_since(since) > window {
            (now, 1)
        } else {
            (since, (before + 1).min(MOST_WAITING))
        };
        self.since.set(Some((since, count)));
        let queue = (100 + waiting * COST_US / 1000) as u32;
        (queue, queue + 400 + (count * COST_US / 1000) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_a_crowd_the_wider_it_is_spread() {
        let (jitter, now) = (ReconnectJitter::default(), Instant::now());
        assert_eq!(jitter.turn_away(1000, now), (600, 1000));
        for _ in 0..8000 {
            jitter.turn_away(1000, now);
        }
        assert_eq!(jitter.turn_away(1000, now), (600, 5001));
        assert_eq!(jitter.turn_away(0, now + Duration::from_secs(5)), (100, 500), "they are forgotten");
    }
    use std::sync::Barrier;

    #[test]
    fn past_its_queue_a_pool_says_that_it_is_busy() {
        let pool = Pool::start(1, 1).unwrap();
        let barrier = Arc::new(Barrier::new(2));
        let inside = barrier.clone();
        smol::block_on(async {
            let first = pool.run(move || {
                inside.wait();
                7
            });
            let second = async {
                let busy = pool.run(|| 8).await;
                barrier.wait();
                busy
            };
            let (first, second) = smol::future::zip(first, second).await;
            assert_eq!((first, second), (Ok(7), Err(Busy { waiting: 1 })));
            assert_eq!(pool.run(|| 9).await, Ok(9));
        });
    }
}
