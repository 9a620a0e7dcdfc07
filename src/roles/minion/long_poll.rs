//! The long poll, and the publications beside it.
//!
//! One request is always open at the master. Its answer brings jobs, a new epoch, or nothing after half a minute; the
//! minion stands again at once. Publications are a fast path that nothing depends on: a job that does not come this way
//! comes by the long poll.

use super::Minion;
use super::channel::boot_time;
use super::work::Came;
use async_io::Timer;
use halite_lang::target;
use halite_lang::target::Target;
use halite_wire::cbor::Bytes;
use halite_wire::deadline::within;
use halite_wire::message::{Answer, Ask, Job, LongPoll, Work};
use halite_wire::publication;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A job that may be older than this is not run.
const STALE: Duration = Duration::from_secs(90);
/// Anchors that are kept: those of the last few minutes.
const ANCHORS: usize = 16;

/// What is known of the publications of now, and how old one can be at most.
///
/// An answered long poll is an anchor: publications with a higher number than its answer names were made after
/// it was asked. The clock counts suspension too.
#[derive(Default)]
pub struct Freshness {
    epoch: Option<(Bytes<8>, Bytes<32>)>,
    seen: u64,
    /// When a request was asked, and the last number when it was answered. Oldest first.
    anchors: VecDeque<(Duration, u64)>,
}

impl Freshness {
    /// Another epoch: what was known of the old one means nothing.
    pub fn begin(&mut self, id: Bytes<8>, key: Bytes<32>) {
        if self.epoch.is_none_or(|(known, _)| known != id) {
            *self = Freshness { epoch: Some((id, key)), ..Freshness::default() };
        }
    }

    pub fn epoch(&self) -> Option<Bytes<8>> {
        self.epoch.map(|(id, _)| id)
    }

    pub fn seen(&self) -> u64 {
        self.seen
    }

    pub fn anchor(&mut self, asked: Duration, seq: u64) {
        self.anchors.push_back((asked, seq));
        if self.anchors.len() > ANCHORS {
            self.anchors.pop_front();
        }
    }

    /// The key to open a publication with; nothing when it is stale, was seen, or belongs to another epoch.
    pub fn admit(&mut self, epoch: [u8; 8], seq: u64, now: Duration) -> Option<[u8; 32]> {
        let (id, key) = self.epoch?;
        if id.0 != epoch || seq <= self.seen {
            return None;
        }
        let (asked, _) = self.anchors.iter().rev().find(|(_, at)| *at < seq)?;
        if is_stale(*asked, now) {
            return None;
        }
        self.seen = seq;
        Some(key.0)
    }
}

impl Minion {
    pub(super) async fn long_poll(self: Rc<Self>) {
        let mut session = 0;
        loop {
            let met = self.channel.ready().await;
            let number = self.channel.session_number();
            let first = session != number;
            if first {
                self.freshness.borrow_mut().begin(met.welcome.epoch, met.welcome.group_key);
            }
            let (returns, alone) = self.short.borrow_mut().leave();
            for short in alone {
                self.taken.borrow_mut().insert(short.jid.clone());
                self.executor.spawn(self.clone().send_alone(short)).detach();
            }
            let poll = {
                let freshness = self.freshness.borrow();
                let listens = self.listens.borrow().load(Ordering::Relaxed);
                let taken = self.taken.borrow().iter().map(|jid| jid.to_string()).collect();
                LongPoll { epoch: freshness.epoch(), seq: freshness.seen(), taken, first, listens, returns }
            };
            let asked = boot_time();
            let answer = self.channel.ask_unbounded(&Ask::LongPoll(poll)).await;
            if !matches!(answer, Ok(Answer::Work(_))) {
                self.short.borrow_mut().came_back();
            }
            match answer {
                Ok(Answer::Work(work)) => {
                    session = number;
                    self.begin_work(*work, asked);
                }
                Ok(Answer::Refused(why)) => {
                    log::error!("the master refuses this minion's request: {why}");
                    Timer::after(Duration::from_secs(5)).await;
                }
                Ok(Answer::Done | Answer::File(_) | Answer::Pillar(_) | Answer::Peer(_)) | Err(_) => {
                    Timer::after(Duration::from_millis(100)).await;
                }
            }
        }
    }

    fn begin_work(self: &Rc<Self>, work: Work, asked: Duration) {
        if let Some(news) = work.epoch {
            self.freshness.borrow_mut().begin(news.id, news.key);
        }
        self.freshness.borrow_mut().anchor(asked, work.seq);
        self.short.borrow_mut().acknowledged(&work.acknowledged);
        let now = boot_time();
        for job in work.jobs {
            if is_stale(asked, now) {
                log::warn!("job {} is not run: it may be {} s old", job.jid, now.saturating_sub(asked).as_secs());
                continue;
            }
            self.take(job, Came::Handed);
        }
    }

    /// Listens to publications, as long as there are any.
    pub(super) async fn subscribe(self: Rc<Self>) {
        loop {
            let met = self.channel.ready().await;
            let session = self.channel.session_number();
            let mut subscription = match self.transport.subscribe(&met.host, met.welcome.publish_port).await {
                Ok(subscription) => subscription,
                Err(error) => {
                    log::debug!("no publications from {}: {error}", met.host);
                    Timer::after(Duration::from_secs(10)).await;
                    continue;
                }
            };
            *self.listens.borrow_mut() = subscription.is_connected();
            loop {
                // Another session may be with another master.
                match within(Duration::from_secs(60), subscription.next()).await {
                    Some(Ok(frame)) => {
                        if let Some(job) = self.read_publication(&frame, met.master) {
                            self.take(job, Came::Published);
                        }
                    }
                    Some(Err(_)) => break,
                    None if self.channel.session_number() != session => break,
                    None => {}
                }
            }
            Timer::after(Duration::from_secs(1)).await;
        }
    }

    /// Opens a publication that the master made, that is fresh and that means this minion.
    fn read_publication(&self, frame: &[u8], master: halite_keys::PublicKey) -> Option<Job> {
        let signed = publication::verify(frame, master)?;
        let key = self.freshness.borrow_mut().admit(signed.epoch, signed.seq, boot_time())?;
        let job: Job = signed.open(&key)?;
        let background = self.background.borrow().clone();
        let nodegroups = background.opts.at("nodegroups").and_then(|groups| groups.as_map());
        let delimiter = job.extra.str_at("delimiter").unwrap_or(target::DELIMITER);
        let target = Target::parse_with(&job.tgt_type, &job.tgt, nodegroups, delimiter).ok()?;
        let me = target::Minion { id: &self.id, grains: &background.grains, pillar: &background.pillar };
        target.matches(&me).then_some(job)
    }
}

/// Whether what was made after `asked` may be too old to run: a machine that was suspended meanwhile would run what
/// nobody waits for any more.
fn is_stale(asked: Duration, now: Duration) -> bool {
    now.saturating_sub(asked) > STALE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh() -> Freshness {
        let mut freshness = Freshness::default();
        freshness.begin(Bytes([1; 8]), Bytes([2; 32]));
        freshness
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_publication_is_as_old_as_the_newest_anchor_below_it() {
        let mut freshness = fresh();
        assert_eq!(freshness.admit([1; 8], 1, at(0)), None, "nothing says how old it is");
        freshness.anchor(at(100), 4);
        assert!(freshness.admit([1; 8], 5, at(190)).is_some());
        assert_eq!(freshness.admit([1; 8], 6, at(191)), None, "it may be 91 s old");
        freshness.anchor(at(180), 6);
        assert_eq!(freshness.admit([1; 8], 6, at(191)), None, "the newer anchor says nothing of it");
        assert!(freshness.admit([1; 8], 7, at(191)).is_some());
    }

    #[test]
    fn what_was_handed_over_before_a_suspension_is_stale_after_it() {
        assert!(!is_stale(at(100), at(190)));
        assert!(is_stale(at(100), at(191)));
        assert!(!is_stale(at(100), at(99)), "a clock that has gone back says nothing");
    }

    #[test]
    fn a_publication_is_run_once_and_in_its_own_epoch_only() {
        let mut freshness = fresh();
        freshness.anchor(at(0), 0);
        assert!(freshness.admit([1; 8], 1, at(1)).is_some());
        assert_eq!(freshness.admit([1; 8], 1, at(1)), None);
        assert_eq!(freshness.admit([9; 8], 2, at(1)), None);
        freshness.begin(Bytes([9; 8]), Bytes([3; 32]));
        assert_eq!(freshness.admit([1; 8], 3, at(1)), None);
        assert_eq!(freshness.admit([9; 8], 1, at(1)), None, "anchors of another epoch do not count");
    }
}
