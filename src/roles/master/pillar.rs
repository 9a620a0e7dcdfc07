//! The pillar of each minion: compiled here, for that minion alone, off the main thread.
//!
//! A pillar is kept until its sources change or what is known of the minion does. Whether sources have changed is looked
//! at for each question, but once for all that ask at the same time. Nothing of a pillar is logged.

use super::Master;
use super::database::Environments;
use super::jobs::Id;
use halite_core::Fault;
use halite_core::host::Machine;
use halite_core::pillar_request::Asked;
use halite_node::pillar;
use halite_node::pillar::{Compiled, ERRORS, Lasts, Seen, Sources};
use halite_value::{Map, Value};
use halite_wire::cbor;
use halite_wire::message::{Answer, Lasting, Part, PillarAsk};
use halite_wire::seal::{Hash, hash};
use halite_wire::session::SessionId;
use smol::lock::{Mutex, Semaphore};
use std::collections::HashMap;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Pillars that one minion has at the same time: with different environments or data from the command line.
const OF_ONE: usize = 4;

/// What compiles pillars, and how many at once.
pub(super) struct PillarDesk {
    opts: Arc<Map>,
    sources: Arc<Sources>,
    /// When the last look at the sources began, and what was seen.
    looked: Mutex<Option<(Instant, Seen)>>,
    gate: Semaphore,
    /// How long a pillar is kept though something else than its sources bears on it (`pillar_cache`); nothing: not at all.
    keeps_all: Option<Duration>,
}

/// The pillars of a minion.
#[derive(Default)]
pub(super) struct Pillars {
    /// The last used at the end.
    kept: Vec<Kept>,
    /// The one that the minion has in its memory.
    own: Option<Arc<Encoded>>,
    /// Held while one is compiled: what a minion asks, it waits for itself.
    turn: Rc<Mutex<()>>,
}

/// A pillar as it is sent.
pub(super) struct Encoded {
    digest: Hash,
    bytes: Vec<u8>,
}

struct Kept {
    /// Of all that was asked.
    key: Hash,
    seen: Seen,
    lasts: Lasts,
    since: Instant,
    pillar: Arc<Encoded>,
}

impl PillarDesk {
    pub fn new(opts: &Map) -> PillarDesk {
        let at_once = std::thread::available_parallelism().map_or(4, |cores| cores.get() * 2).max(4);
        let cached = opts.at("pillar_cache").is_some_and(Value::truthy);
        let seconds = opts.at("pillar_cache_ttl").and_then(Value::as_float).unwrap_or(3600.0).clamp(0.0, 1e9);
        PillarDesk {
            opts: Arc::new(opts.clone()),
            sources: Arc::new(Sources::of(opts)),
            looked: Mutex::new(None),
            gate: Semaphore::new(at_once),
            keeps_all: cached.then(|| Duration::from_secs_f64(seconds)),
        }
    }

    /// How the sources are now: seen by a look that began after this was asked.
    async fn look(&self) -> Seen {
        let asked = Instant::now();
        let mut looked = self.looked.lock().await;
        if let Some((_, seen)) = looked.filter(|(began, _)| *began >= asked) {
            return seen;
        }
        let (began, sources) = (Instant::now(), self.sources.clone());
        let seen = smol::unblock(move || sources.look()).await;
        *looked = Some((began, seen));
        seen
    }
}

impl Master {
    /// Answers a minion's question for its pillar. Nothing: its session has ended meanwhile.
    pub(super) async fn serve_pillar(self: &Rc<Self>, sid: SessionId, ask: PillarAsk) -> Option<Answer> {
        let id = self.sessions.borrow().at(sid)?.id.clone();
        if ask.lasting == Lasting::Kept {
            self.note_environments(&id, &ask);
        }
        let pillar = self.pillar_of(&id, ask).await;
        self.sessions.borrow().at(sid)?;
        Some(Answer::Pillar(Part::of(&pillar.bytes, pillar.digest, 0)))
    }

    pub(super) fn serve_pillar_part(&self, sid: SessionId, digest: Hash, offset: u64) -> Answer {
        let minions = self.minions.borrow();
        let sessions = self.sessions.borrow();
        let pillars =
            sessions.at(sid).and_then(|minion_session| minions.get(&minion_session.id)).map(|known| &known.pillars);
        let found = pillars.and_then(|pillars| pillars.kept.iter().find(|kept| kept.pillar.digest == digest));
        match found {
            Some(kept) => Answer::Pillar(Part::of(&kept.pillar.bytes, digest, offset)),
            None => Answer::Refused("this pillar is not here any more: ask for it anew".to_owned()),
        }
    }

    /// Compiles the pillars that targets ask for of minions that have not asked for theirs since this master started.
    pub(super) async fn fill_pillars(self: &Rc<Self>) {
        let missing: Vec<(Id, Map, Environments)> = {
            let (accepted, minions) = (self.accepted.borrow(), self.minions.borrow());
            let of = |id: &Id| minions.get(id).filter(|known| known.pillars.own.is_none() && !known.grains.is_empty());
            let asked = |id: &Id| of(id).map(|known| (id.clone(), known.grains.clone(), known.environments.clone()));
            accepted.keys().filter_map(asked).collect()
        };
        let compile = |(id, grains, Environments { saltenv, pillarenv }): (Id, Map, Environments)| {
            let master = self.clone();
            let ask = PillarAsk { grains, saltenv, pillarenv, lasting: Lasting::Kept, ..PillarAsk::default() };
            self.executor.spawn(async move { drop(master.pillar_of(&id, ask).await) })
        };
        let tasks: Vec<_> = missing.into_iter().map(compile).collect();
        for task in tasks {
            task.await;
        }
    }

    /// Remembers for which environments a minion has its pillar: after a start of the master targets mean the same one.
    fn note_environments(&self, id: &Id, ask: &PillarAsk) {
        let asked = Environments { saltenv: ask.saltenv.clone(), pillarenv: ask.pillarenv.clone() };
        if let Some(known) = self.minions.borrow_mut().get_mut(id).filter(|known| known.environments != asked) {
            known.environments = asked.clone();
            self.database.save_environments(id.to_string(), asked);
        }
    }

    /// The pillar of a minion: one that is kept, where it is still the right one.
    async fn pillar_of(self: &Rc<Self>, id: &Id, ask: PillarAsk) -> Arc<Encoded> {
        let question = (&ask.grains, &ask.saltenv, &ask.pillarenv, &ask.over, &ask.ext, &ask.told);
        let Ok(question) = cbor::encode(&question) else {
            return Arc::new(Encoded::of(&with_error(&cbor::Unfit)));
        };
        let key = hash(&[&question]);
        let lasting = ask.lasting;
        let turn = self.minions.borrow_mut().entry(id.clone()).or_default().pillars.turn.clone();
        let _turn = turn.lock().await;
        let seen = self.pillar.look().await;
        let now = Instant::now();
        let known = self.with_pillars(id, |pillars| pillars.find(key, seen, self.pillar.keeps_all, now));
        let pillar = match known.flatten() {
            Some(pillar) => pillar,
            None => {
                let _place = self.pillar.gate.acquire().await;
                let (opts, of) = (self.pillar.opts.clone(), id.to_string());
                let (pillar, lasts) = smol::unblock(move || compiled(&opts, &of, &ask)).await;
                let kept = Kept { key, seen, lasts, since: now, pillar: pillar.clone() };
                self.with_pillars(id, |pillars| pillars.keep(kept));
                pillar
            }
        };
        if lasting == Lasting::Kept {
            self.with_pillars(id, |pillars| pillars.own = Some(pillar.clone()));
        }
        pillar
    }

    /// Nothing for a minion whose key was deleted meanwhile.
    fn with_pillars<T>(&self, id: &Id, with: impl FnOnce(&mut Pillars) -> T) -> Option<T> {
        self.minions.borrow_mut().get_mut(id).map(|known| with(&mut known.pillars))
    }
}

impl Pillars {
    fn find(&mut self, key: Hash, seen: Seen, keeps_all: Option<Duration>, now: Instant) -> Option<Arc<Encoded>> {
        let is_right = |kept: &Kept| {
            let is_young = keeps_all.is_some_and(|time| now.saturating_duration_since(kept.since) < time);
            kept.key == key && seen.is_same(kept.seen) && (kept.lasts == Lasts::UntilSourcesChange || is_young)
        };
        let at = self.kept.iter().position(is_right)?;
        let kept = self.kept.remove(at);
        let pillar = kept.pillar.clone();
        self.kept.push(kept);
        Some(pillar)
    }

    /// Keeps one; also one that is for once, whose parts may be asked for.
    fn keep(&mut self, kept: Kept) {
        self.kept.retain(|other| other.key != kept.key);
        self.kept.push(kept);
        if self.kept.len() > OF_ONE {
            self.kept.remove(0);
        }
    }
}

/// Pillars opened for a target; those of many minions may be the same.
#[derive(Default)]
pub(super) struct Opened {
    by_digest: HashMap<Hash, Map>,
    nothing: Map,
}

impl Opened {
    pub fn of(&mut self, pillars: &Pillars) -> &Map {
        match &pillars.own {
            Some(own) => {
                self.by_digest.entry(own.digest).or_insert_with(|| cbor::decode(&own.bytes).unwrap_or_default())
            }
            None => &self.nothing,
        }
    }
}

/// Compiles a pillar; blocks. What goes wrong is told in the pillar, so that no state runs with it.
fn compiled(opts: &Map, id: &str, ask: &PillarAsk) -> (Arc<Encoded>, Lasts) {
    let PillarAsk { saltenv, pillarenv, over, ext, told, .. } = ask.clone();
    let asked = Asked { saltenv, pillarenv, over, ext, told };
    let compile = || {
        pillar::compile_for(
            &pillar::Node { host: &Machine, functions: &halite_run::modules::FUNCTIONS },
            opts,
            id,
            &ask.grains,
            &asked,
        )
    };
    let compiled = catch_unwind(AssertUnwindSafe(compile))
        .unwrap_or_else(|_| Err(Fault::Internal("a fault in Halite itself, please report it".to_owned())));
    let Compiled { pillar, lasts } = compiled.unwrap_or_else(|fault| {
        log::error!("the pillar of '{id}' cannot be compiled: {fault}");
        Compiled { pillar: with_error(&fault), lasts: Lasts::Once }
    });
    (Arc::new(Encoded::of(&pillar)), lasts)
}

/// The pillar of whoever cannot have theirs: no state runs with it.
fn with_error(why: &dyn Display) -> Map {
    Map::from_iter([(ERRORS, Value::list([why.to_string()]))])
}

impl Encoded {
    fn of(pillar: &Map) -> Encoded {
        let unfit = |unfit| cbor::encode(&with_error(&unfit));
        // Empty bytes are no pillar for whoever gets them.
        let bytes = cbor::encode(pillar).or_else(unfit).unwrap_or_default();
        Encoded { digest: hash(&[&bytes]), bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How the sources are seen of a master whose pillar lies in this directory.
    fn seen(directory: &str) -> Seen {
        let roots = Map::from_iter([("base", Value::list([directory]))]);
        Sources::of(&Map::from_iter([("pillar_roots", roots)])).look()
    }

    fn kept(key: u8, seen: Seen, lasts: Lasts, since: Instant) -> Kept {
        let pillar = Arc::new(Encoded { digest: [key; 32], bytes: vec![key] });
        Kept { key: [key; 32], seen, lasts, since, pillar }
    }

    #[test]
    fn a_pillar_is_kept_until_its_sources_or_the_question_change() {
        let (then, now) = (seen("/nowhere/a"), Instant::now());
        let mut pillars = Pillars::default();
        pillars.keep(kept(1, then, Lasts::UntilSourcesChange, now));
        let bytes = |found: Option<Arc<Encoded>>| found.map(|found| found.bytes.clone());
        assert_eq!(bytes(pillars.find([1; 32], then, None, now)), Some(vec![1]));
        assert!(pillars.find([2; 32], then, None, now).is_none(), "another question");
        assert!(pillars.find([1; 32], seen("/nowhere/b"), None, now).is_none(), "other sources");
        let mut unsettled = then;
        unsettled.is_settled = false;
        pillars.keep(kept(1, unsettled, Lasts::UntilSourcesChange, now));
        assert!(pillars.find([1; 32], then, None, now).is_none(), "they were just changing");
    }

    #[test]
    fn what_is_for_once_is_kept_only_where_that_is_asked_for() {
        let (then, now, hour) = (seen("/nowhere/a"), Instant::now(), Duration::from_secs(3600));
        let mut pillars = Pillars::default();
        pillars.keep(kept(1, then, Lasts::Once, now));
        assert!(pillars.find([1; 32], then, None, now).is_none());
        assert!(pillars.find([1; 32], then, Some(hour), now).is_some());
        assert!(pillars.find([1; 32], then, Some(hour), now + hour).is_none());
    }

    #[test]
    fn one_minion_has_few_pillars_and_the_last_used_stay() {
        let (then, now) = (seen("/nowhere/a"), Instant::now());
        let mut pillars = Pillars::default();
        for key in 0..=OF_ONE as u8 {
            pillars.keep(kept(key, then, Lasts::UntilSourcesChange, now));
            assert!(pillars.find([0; 32], then, None, now).is_some(), "it is in use");
        }
        assert_eq!(pillars.kept.len(), OF_ONE);
        assert!(pillars.find([1; 32], then, None, now).is_none());
    }
}
