//! The minion's own bus: what is told to its daemon, for those on this host who listen (`state.event`).
//!
//! A listener asks again and again for what has happened since. Events are kept as long as somebody asks.

use halite_value::Map;
use halite_wire::message::Event;
use smol::Timer;
use smol::channel::{Sender, bounded};
use smol::future::FutureExt;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many events a listener may be behind.
const KEPT: usize = 256;

/// How long a question waits for an event.
const WAIT: Duration = Duration::from_secs(20);

/// For how long events are kept for a listener that asks no more.
const ATTENTION: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct Bus {
    last: Cell<u64>,
    kept: RefCell<VecDeque<(u64, Event)>>,
    waiting: RefCell<Vec<Sender<()>>>,
    asked: Cell<Option<Instant>>,
}

impl Bus {
    pub fn fire(&self, tag: &str, data: &Map) {
        self.last.set(self.last.get() + 1);
        let mut kept = self.kept.borrow_mut();
        if self.asked.get().is_none_or(|asked| asked.elapsed() > ATTENTION) {
            kept.clear();
            return;
        }
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back((self.last.get(), Event { tag: tag.to_owned(), data: data.clone() }));
        for listener in self.waiting.borrow_mut().drain(..) {
            // One that has gone needs no word.
            let _ = listener.try_send(());
        }
    }

    /// The events since one, and the number of the last; waits for one where there is none. Nothing: from now on.
    pub async fn hear(&self, since: Option<u64>) -> (u64, Vec<Event>) {
        self.asked.set(Some(Instant::now()));
        let Some(since) = since else {
            return (self.last.get(), Vec::new());
        };
        let behind = || -> Vec<Event> {
            let kept = self.kept.borrow();
            kept.iter().filter(|(number, _)| *number > since).map(|(_, event)| event.clone()).collect()
        };
        let events = behind();
        if !events.is_empty() {
            return (self.last.get(), events);
        }
        let (tell, told) = bounded(1);
        self.waiting.borrow_mut().push(tell);
        let heard = async { told.recv().await.is_ok() };
        let late = async {
            Timer::after(WAIT).await;
            false
        };
        heard.or(late).await;
        self.waiting.borrow_mut().retain(|listener| !listener.is_closed());
        (self.last.get(), behind())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smol::future::{block_on, zip};

    fn tags((last, events): (u64, Vec<Event>)) -> (u64, Vec<String>) {
        (last, events.into_iter().map(|event| event.tag).collect())
    }

    #[test]
    fn a_listener_hears_what_has_happened_since_it_asked() {
        let bus = Bus::default();
        bus.fire("before", &Map::new());
        assert_eq!(tags(block_on(bus.hear(None))), (1, vec![]));
        bus.fire("a", &Map::new());
        bus.fire("b", &Map::new());
        assert_eq!(tags(block_on(bus.hear(Some(1)))), (3, vec!["a".to_owned(), "b".to_owned()]));
        let fires = async { bus.fire("c", &Map::new()) };
        let (heard, ()) = block_on(zip(bus.hear(Some(3)), fires));
        assert_eq!(tags(heard), (4, vec!["c".to_owned()]));
        assert!(bus.waiting.borrow().is_empty());
        for _ in 0..2 * KEPT {
            bus.fire("many", &Map::new());
        }
        assert_eq!(bus.kept.borrow().len(), KEPT);
    }
}
