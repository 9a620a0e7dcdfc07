//! To whom a job was sent that is not open any more: by memory where that is possible, else by the database.
//!
//! A minion may return whatever it likes, and each jid that nobody knows costs a question to the database. So each minion
//! has one question under way, the others stand behind it in a line that has an end; and what was answered is
//! remembered for a while, so that the same returns again cost nothing.

use super::Master;
use super::database::Sent;
use super::jobs::Id;
use super::publish::Noted;
use halite_wire::message::Return;
use halite_wire::session::SessionId;
use smol::channel::{Receiver, Sender, bounded};
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// So many answers are remembered for each minion.
pub const REMEMBERED: usize = 128;
/// So many returns of one minion, which came with long polls, wait for an answer; the others come again.
pub const LINE: usize = 256;
/// So many jobs that are over are known by heart, with so many targets in all.
const FINISHED: usize = 4096;
const TARGETS: usize = 200_000;

/// The jobs that were over last, with their targets.
#[derive(Default)]
pub(super) struct Finished {
    targets: HashMap<String, HashSet<Id>>,
    oldest_first: VecDeque<String>,
    count: usize,
}

impl Finished {
    pub fn add(&mut self, jid: String, targets: HashSet<Id>) {
        self.count += targets.len();
        match self.targets.insert(jid.clone(), targets) {
            Some(before) => self.count -= before.len(),
            None => self.oldest_first.push_back(jid),
        }
        while self.oldest_first.len() > FINISHED || self.count > TARGETS {
            let Some(oldest) = self.oldest_first.pop_front() else {
                return;
            };
            self.count -= self.targets.remove(&oldest).map_or(0, |targets| targets.len());
        }
    }

    /// Nothing for a job that is not known here (any more).
    pub fn sent(&self, jid: &str, id: &Id) -> Option<Sent> {
        let targets = self.targets.get(jid)?;
        Some(if targets.contains(id) { Sent::ToIt } else { Sent::ToOthers })
    }
}

/// What the database was asked, for each minion.
#[derive(Default)]
pub(super) struct Origins {
    of: HashMap<Id, Asked>,
    /// How many questions the database got.
    questions: u64,
}

#[derive(Default)]
struct Asked {
    /// The last one is the youngest.
    answered: VecDeque<(String, Sent)>,
    line: VecDeque<Waiting>,
    is_under_way: bool,
}

/// A return that waits for the answer, and who waits for it.
struct Waiting {
    sid: SessionId,
    ret: Return,
    done: Sender<Option<Noted>>,
}

/// How a return waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// With its request, of which a connection has few.
    Any,
    /// By itself: when too many wait, it is left to come again.
    Bounded,
}

impl Origins {
    fn remembered(&self, id: &Id, jid: &str) -> Option<Sent> {
        let answered = &self.of.get(id)?.answered;
        answered.iter().rev().find(|(known, _)| known == jid).map(|(_, sent)| *sent)
    }

    fn remember(&mut self, id: &Id, jid: String, sent: Sent) {
        let answered = &mut self.of.entry(id.clone()).or_default().answered;
        answered.retain(|(known, _)| *known != jid);
        answered.push_back((jid, sent));
        if answered.len() > REMEMBERED {
            answered.pop_front();
        }
    }

    /// Puts a return at the end of the line. Nothing when there is no room; else whether somebody must begin with it.
    fn enqueue(&mut self, id: &Id, waiting: Waiting, limit: Limit) -> Option<Begins> {
        let asked = self.of.entry(id.clone()).or_default();
        if limit == Limit::Bounded && asked.line.len() >= LINE {
            return None;
        }
        asked.line.push_back(waiting);
        Some(match std::mem::replace(&mut asked.is_under_way, true) {
            true => Begins::No,
            false => Begins::Yes,
        })
    }

    /// The next one in the line. Nothing: it is at its end, and the next one that comes begins anew.
    fn next(&mut self, id: &Id) -> Option<Waiting> {
        let asked = self.of.get_mut(id)?;
        let next = asked.line.pop_front();
        asked.is_under_way = next.is_some();
        next
    }

    /// The key of a minion is gone: what it had is forgotten, but for what is under way.
    pub fn forget(&mut self, id: &Id) {
        if let Some(asked) = self.of.get_mut(id) {
            asked.answered.clear();
            asked.line.clear();
        }
        self.of.retain(|of, asked| of != id || asked.is_under_way);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
    Yes,
    No,
}

impl Master {
    /// To whom a job was sent, as far as that is known by heart.
    pub(super) fn remembered_origin(&self, id: &Id, jid: &str) -> Option<Sent> {
        self.jobs.borrow().sent(jid, id).or_else(|| self.origins.borrow().remembered(id, jid))
    }

    /// Takes a return whose job is not known by heart, when the database has answered; those of one minion in the order in
    /// which they came. Nothing, now or then: its session has ended, too many wait, or the database cannot be read; in any
    /// case it comes again.
    pub(super) fn note_unknown(
        self: &Rc<Self>,
        id: Id,
        sid: SessionId,
        ret: Return,
        limit: Limit,
    ) -> Option<Receiver<Option<Noted>>> {
        let (done, noted) = bounded(1);
        let begins = self.origins.borrow_mut().enqueue(&id, Waiting { sid, ret, done }, limit)?;
        if begins == Begins::Yes {
            self.executor.spawn(self.clone().answer_line(id)).detach();
        }
        Some(noted)
    }

    /// Answers those in the line of a minion, one after the other.
    async fn answer_line(self: Rc<Self>, id: Id) {
        loop {
            let next = self.origins.borrow_mut().next(&id);
            let Some(Waiting { sid, ret, done }) = next else {
                return;
            };
            let sent = match self.remembered_origin(&id, &ret.jid) {
                Some(sent) => Ok(sent),
                None => {
                    self.origins.borrow_mut().questions += 1;
                    self.database.sent(ret.jid.clone(), id.to_string()).await
                }
            };
            let noted = match sent {
                Ok(sent) => {
                    // What nobody has published becomes a job of this minion with its return.
                    let then = if sent == Sent::Never { Sent::ToIt } else { sent };
                    self.origins.borrow_mut().remember(&id, ret.jid.clone(), then);
                    self.note_return(sid, ret, Some(sent))
                }
                Err(error) => {
                    log::error!("whose job {} is cannot be read, its return has to come again: {error}", ret.jid);
                    None
                }
            };
            let _ = done.try_send(noted);
        }
    }

    /// How many questions for the origin of a return the database got.
    pub fn questions(&self) -> u64 {
        self.origins.borrow().questions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_wire::cbor::Bytes;

    fn ids(names: &[&str]) -> HashSet<Id> {
        names.iter().map(|name| Id::from(*name)).collect()
    }

    #[test]
    fn jobs_that_are_over_are_known_by_heart_up_to_a_bound() {
        let (mut finished, a, b) = (Finished::default(), Id::from("a"), Id::from("b"));
        finished.add("1".to_owned(), ids(&["a"]));
        assert_eq!((finished.sent("1", &a), finished.sent("1", &b)), (Some(Sent::ToIt), Some(Sent::ToOthers)));
        assert_eq!(finished.sent("2", &a), None);
        for number in 2..FINISHED + 2 {
            finished.add(number.to_string(), ids(&["a", "b"]));
        }
        assert_eq!((finished.sent("1", &a), finished.sent("2", &b)), (None, Some(Sent::ToIt)));
        assert_eq!((finished.targets.len(), finished.count), (FINISHED, 2 * FINISHED));
        let many: HashSet<Id> = (0..TARGETS).map(|number| Id::from(number.to_string())).collect();
        finished.add("x".to_owned(), many);
        assert_eq!((finished.targets.len(), finished.count), (1, TARGETS));
    }

    #[test]
    fn a_minion_has_one_question_under_way_and_a_line_that_has_an_end() {
        let (mut origins, id, other) = (Origins::default(), Id::from("a"), Id::from("b"));
        let waiting = || {
            let (done, _) = bounded(1);
            Waiting { sid: SessionId(Bytes([0; 16])), ret: Return::default(), done }
        };
        assert_eq!(origins.enqueue(&id, waiting(), Limit::Bounded), Some(Begins::Yes));
        assert!(origins.next(&id).is_some());
        for _ in 0..LINE {
            assert_eq!(origins.enqueue(&id, waiting(), Limit::Bounded), Some(Begins::No));
        }
        assert_eq!(origins.enqueue(&id, waiting(), Limit::Bounded), None);
        assert_eq!(origins.enqueue(&id, waiting(), Limit::Any), Some(Begins::No));
        assert_eq!(origins.enqueue(&other, waiting(), Limit::Bounded), Some(Begins::Yes), "no other waits for it");
        origins.forget(&id);
        assert!(origins.next(&id).is_none(), "nobody is left in the line");
        assert_eq!(origins.enqueue(&id, waiting(), Limit::Bounded), Some(Begins::Yes));
    }

    #[test]
    fn what_was_answered_is_remembered_up_to_a_bound() {
        let (mut origins, id) = (Origins::default(), Id::from("a"));
        for number in 0..=REMEMBERED {
            origins.remember(&id, number.to_string(), Sent::ToOthers);
        }
        origins.remember(&id, "1".to_owned(), Sent::ToIt);
        assert_eq!(origins.remembered(&id, "0"), None);
        assert_eq!(origins.remembered(&id, "1"), Some(Sent::ToIt));
        assert_eq!(origins.remembered(&Id::from("b"), "1"), None);
    }
}
