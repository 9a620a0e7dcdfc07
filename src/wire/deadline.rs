//! A limit in time for what nearly always comes long before it: a reply, an acknowledgement.
//!
//! A timer of async-io wakes another thread when it is made. On the way of a job stand half a dozen limits, and not one of
//! them is ever reached. Here all of them share one timer, which is set only for the earliest of them, and stays set when
//! that one is gone: a thousand jobs a second then cost one timer in a few seconds.

use async_io::Timer;
use smol::future::FutureExt;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// What `work` gives, or nothing when that takes longer than `time`; the work is dropped then.
pub async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Option<T> {
    until(Instant::now() + time, work).await
}

/// What `work` gives, or nothing when it is not done by then.
pub async fn until<T>(deadline: Instant, work: impl Future<Output = T>) -> Option<T> {
    let done = async { Some(work.await) };
    done.or(async {
        Deadline { at: deadline, number: None }.await;
        None
    })
    .await
}

/// All limits of this process, and the timer for the earliest.
#[derive(Default)]
struct Clock {
    limits: BTreeMap<(Instant, u64), Waker>,
    next: u64,
    timer: Option<Timer>,
    /// When the timer fires: not after the earliest limit.
    set: Option<Instant>,
}

static CLOCK: LazyLock<Mutex<Clock>> = LazyLock::new(Mutex::default);

fn clock() -> MutexGuard<'static, Clock> {
    CLOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Clock {
    /// Sets the timer for the earliest limit. Those that are over before it is set are limits no more: they are given, to
    /// be woken, and the timer is set for the first one after them.
    #[must_use]
    fn set(&mut self) -> Vec<Waker> {
        let mut over = Vec::new();
        while let Some(first) = self.limits.first_entry() {
            let at = first.key().0;
            if self.set.is_some_and(|set| set <= at) {
                break;
            }
            if at <= Instant::now() {
                over.push(first.remove());
                continue;
            }
            self.set_for(at);
        }
        over
    }

    fn set_for(&mut self, at: Instant) {
        let timer = self.timer.get_or_insert_with(Timer::never);
        timer.set_at(at);
        static BELL: LazyLock<Waker> = LazyLock::new(|| Waker::from(Arc::new(Bell)));
        // A timer that is due when it is first asked is over, and rings no bell.
        let is_over = Pin::new(timer).poll(&mut Context::from_waker(&BELL)).is_ready();
        self.set = (!is_over).then_some(at);
    }
}

/// The timer has fired.
struct Bell;

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        let mut clock = clock();
        clock.set = None;
        let over = clock.set();
        drop(clock);
        over.into_iter().for_each(Waker::wake);
    }
}

/// Ready at a moment.
struct Deadline {
    at: Instant,
    /// Its place in the clock, once it was waited for.
    number: Option<u64>,
}

impl Future for Deadline {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, turn: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.at {
            return Poll::Ready(());
        }
        let mut clock = clock();
        let number = *self.number.get_or_insert_with(|| {
            clock.next += 1;
            clock.next
        });
        clock
            .limits
            .entry((self.at, number))
            .and_modify(|waker| waker.clone_from(turn.waker()))
            .or_insert_with(|| turn.waker().clone());
        let over = clock.set();
        let is_over = !clock.limits.contains_key(&(self.at, number));
        drop(clock);
        over.into_iter().for_each(Waker::wake);
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            clock().limits.remove(&(self.at, number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn what_is_done_in_time_is_given() {
        assert_eq!(smol::block_on(within(Duration::from_secs(60), ready(7))), Some(7));
        assert_eq!(smol::block_on(within(Duration::ZERO, ready(7))), Some(7));
        assert_eq!(smol::block_on(within(Duration::ZERO, pending::<()>())), None);
    }

    #[test]
    fn each_limit_is_kept_whatever_the_order_in_which_they_are_set() {
        let limit = |ms| async move {
            let start = Instant::now();
            assert_eq!(within(Duration::from_millis(ms), pending::<()>()).await, None);
            assert!(start.elapsed() >= Duration::from_millis(ms));
            ms
        };
        let order = smol::block_on(async {
            let executor = smol::LocalExecutor::new();
            let (sender, ended) = smol::channel::unbounded();
            for ms in [40, 5, 90, 20, 5] {
                let sender = sender.clone();
                executor.spawn(async move { sender.try_send(limit(ms).await) }).detach();
            }
            drop(sender);
            let mut order = Vec::new();
            executor
                .run(async {
                    while let Ok(ms) = ended.recv().await {
                        order.push(ms);
                    }
                })
                .await;
            order
        });
        assert_eq!(order, [5, 5, 20, 40, 90]);
    }

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_limit_that_is_due_already_leaves_the_others_without_a_timer() {
        let (mut clock, now) = (Clock::default(), Instant::now());
        let (due, later) = (Arc::new(Woken::default()), now + Duration::from_secs(86_400));
        clock.limits.insert((later, 1), Waker::noop().clone());
        assert!(clock.set().is_empty());
        // Not due when it was looked at, and due when the timer is set for it.
        for number in [2, 3] {
            clock.limits.insert((now, number), Waker::from(due.clone()));
        }
        clock.set().into_iter().for_each(Waker::wake);
        assert_eq!(due.0.load(Ordering::Relaxed), 2, "nobody tells those that are over");
        assert_eq!((clock.set, clock.limits.len()), (Some(later), 1), "the timer is set for the limit that is left");
    }

    #[test]
    fn a_timer_that_is_due_already_is_set_for_the_next_limit() {
        let (mut clock, now) = (Clock::default(), Instant::now());
        clock.set_for(now);
        assert_eq!(clock.set, None, "it rings no bell any more");
        let later = now + Duration::from_secs(86_400);
        clock.limits.insert((later, 1), Waker::noop().clone());
        assert!(clock.set().is_empty());
        assert_eq!(clock.set, Some(later));
    }

    #[test]
    fn a_limit_that_is_given_up_leaves_nothing() {
        let far = Instant::now() + Duration::from_secs(86_400);
        smol::block_on(async {
            until(far, smol::future::yield_now()).await;
        });
        assert!(!clock().limits.keys().any(|(at, _)| *at == far));
    }
}
