//! The minion's pillar: asked of the master when the minion starts, when somebody wants it anew, and for each run of
//! states. It is in memory alone.

use super::Minion;
use super::channel::Channel;
use super::local::files::Asked as AskedLocally;
use super::local::{MinionAnswer, MinionAsk};
use super::worker::Background;
use halite_core::Fault;
use halite_core::host::Machine;
use halite_core::pillar_request::Asked;
use halite_node::pillar;
use halite_node::pillar::{ERRORS, cached};
use halite_value::{Map, Value};
use halite_wire::cbor;
use halite_wire::cbor::Bytes;
use halite_wire::deadline::within;
use halite_wire::message::{Answer, Ask, Lasting, Part, PillarAsk};
use halite_wire::seal::{Hash, hash};
use smol::channel::{Receiver, Sender, bounded};
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

/// How often a pillar is asked for anew that changes while its parts are on the way.
const TRIES: usize = 5;
/// Pillars whose parts workers may still ask for.
const PARTS: usize = 8;

impl Minion {
    /// Asks for the pillar that the minion keeps in memory.
    pub(super) async fn refresh_pillar(self: &Rc<Self>) {
        let background = self.background.borrow().clone();
        let asked = Asked::of(&background.opts);
        let pillar = match background.opts.str_at("file_client") {
            Some("local") => smol::unblock(move || own(&background, &asked)).await,
            _ => from_master(&self.channel, pillar_ask(&background.grains, &asked, Lasting::Kept)).await,
        };
        let pillar = pillar.unwrap_or_else(|why| {
            log::error!("there is no pillar: {why}");
            Map::from_iter([(ERRORS, Value::list([why]))])
        });
        let (pillar, opts) = (Arc::new(pillar), self.background.borrow().opts.clone());
        let copied = pillar.clone();
        smol::unblock(move || cached::keep(&Machine, &opts, &copied)).await;
        let background = Background { pillar, ..self.background.borrow().as_ref().clone() };
        *self.background.borrow_mut() = Arc::new(background);
        self.bus.fire("/salt/minion/minion_pillar_refresh_complete", &Map::from_iter([("complete", true)]));
        self.pillar_known.end();
    }

    /// Passes the question of a worker or of `salt-call` on to the master. Whoever asks for the files of a master that is
    /// away is told after the same time.
    pub(super) async fn serve_pillar(self: &Rc<Self>, ask: PillarAsk) -> MinionAnswer {
        let timeout = self.files.timeout();
        let answered = within(timeout, from_master(&self.channel, ask)).await;
        let late = || Err(format!("the master has not answered for {} s", timeout.as_secs()));
        match answered.unwrap_or_else(late) {
            Ok(pillar) => match cbor::encode(&pillar) {
                Ok(whole) => MinionAnswer::Pillar(self.parts.borrow_mut().begin(whole)),
                Err(unfit) => MinionAnswer::Refused(unfit.to_string()),
            },
            Err(why) => MinionAnswer::Refused(why),
        }
    }

    pub(super) fn serve_pillar_part(&self, digest: Hash, offset: u64) -> MinionAnswer {
        match self.parts.borrow().part(digest, offset) {
            Some(part) => MinionAnswer::Pillar(part),
            None => MinionAnswer::Refused("this pillar is not here any more: ask for it anew".to_owned()),
        }
    }
}

/// The pillar by the minion's own files.
fn own(background: &Background, asked: &Asked) -> Result<Map, String> {
    let (opts, grains) = (&background.opts, &background.grains);
    let id = opts.str_at("id").unwrap_or_default();
    let compiled = pillar::compile_for(
        &pillar::Node { host: &Machine, functions: &halite_run::modules::FUNCTIONS },
        opts,
        id,
        grains,
        asked,
    );
    compiled.map(|compiled| compiled.pillar).map_err(|fault| fault.to_string())
}

/// A question for the pillar of the minion that has these grains.
pub fn pillar_ask(grains: &Map, asked: &Asked, lasting: Lasting) -> PillarAsk {
    let Asked { saltenv, pillarenv, over, ext, told } = asked.clone();
    PillarAsk { grains: grains.clone(), saltenv, pillarenv, over, ext, told, lasting }
}

/// Asks the master until it answers.
pub async fn from_master(channel: &Channel, ask: PillarAsk) -> Result<Map, String> {
    let unexpected = || "the master answers in another version".to_owned();
    for _ in 0..TRIES {
        let first = match channel.ask_until_answered(&Ask::Pillar(Box::new(ask.clone()))).await {
            Ok(Answer::Pillar(part)) => part,
            Ok(Answer::Refused(why)) => return Err(why),
            Ok(_) => return Err(unexpected()),
            Err(error) => return Err(format!("the pillar cannot be asked for: {error}")),
        };
        let mut whole = Whole::new(first);
        while let Some((digest, offset)) = whole.missing() {
            match channel.ask_until_answered(&Ask::PillarPart { digest, offset }).await {
                Ok(Answer::Pillar(part)) => whole.add(part),
                // It was compiled anew meanwhile.
                _ => break,
            }
        }
        if let Some(pillar) = whole.open() {
            return Ok(pillar);
        }
    }
    Err("the pillar changes while it is on its way".to_owned())
}

/// Asks the daemon of this host until all parts are there; blocks.
pub fn collected(daemon: &impl AskedLocally, grains: &Map, asked: &Asked) -> Result<Map, Fault> {
    let ask = pillar_ask(grains, asked, Lasting::Once);
    let part = |answer: MinionAnswer| match answer {
        MinionAnswer::Pillar(part) => Ok(part),
        _ => Err(Fault::Internal("the minion daemon answers in another version".to_owned())),
    };
    let mut whole = Whole::new(part(daemon.answer(&MinionAsk::Pillar(Box::new(ask)))?)?);
    while let Some((digest, offset)) = whole.missing() {
        whole.add(part(daemon.answer(&MinionAsk::PillarPart { digest, offset })?)?);
    }
    whole.open().ok_or_else(|| Fault::execution("the pillar is damaged on its way from the minion daemon"))
}

/// A pillar that comes in parts.
struct Whole {
    digest: Bytes<32>,
    size: u64,
    bytes: Vec<u8>,
    /// A part came that does not belong to it.
    is_broken: bool,
}

impl Whole {
    fn new(first: Part) -> Whole {
        Whole { digest: first.digest, size: first.size, bytes: first.bytes.0, is_broken: false }
    }

    fn add(&mut self, part: Part) {
        self.is_broken |= part.digest != self.digest || part.bytes.0.is_empty();
        self.bytes.extend(part.bytes.0);
    }

    /// What to ask for next.
    fn missing(&self) -> Option<(Bytes<32>, u64)> {
        let have = self.bytes.len() as u64;
        (have < self.size && !self.is_broken).then_some((self.digest, have))
    }

    fn open(self) -> Option<Map> {
        if self.is_broken || hash(&[&self.bytes]) != self.digest.0 {
            return None;
        }
        cbor::decode(&self.bytes).ok()
    }
}

/// Pillars that were asked for lately, for those who have not got all of them yet.
#[derive(Default)]
pub struct Parts(VecDeque<(Hash, Vec<u8>)>);

impl Parts {
    /// The first part. What fits in one is not kept.
    fn begin(&mut self, whole: Vec<u8>) -> Part {
        let digest = hash(&[&whole]);
        let first = Part::of(&whole, digest, 0);
        if first.bytes.0.len() < whole.len() {
            self.0.retain(|(other, _)| *other != digest);
            self.0.push_back((digest, whole));
            if self.0.len() > PARTS {
                self.0.pop_front();
            }
        }
        first
    }

    fn part(&self, digest: Hash, offset: u64) -> Option<Part> {
        let (_, whole) = self.0.iter().find(|(other, _)| *other == digest)?;
        Some(Part::of(whole, digest, offset))
    }
}

/// Something that happens once, and is waited for.
pub struct Awaited {
    is_over: Cell<bool>,
    /// Closed when it is over.
    end: (Sender<()>, Receiver<()>),
}

impl Default for Awaited {
    fn default() -> Awaited {
        Awaited { is_over: Cell::new(false), end: bounded(1) }
    }
}

impl Awaited {
    pub fn is_over(&self) -> bool {
        self.is_over.get()
    }

    pub fn end(&self) {
        self.is_over.set(true);
        self.end.0.close();
    }

    /// Ready when it is over.
    pub async fn over(&self) {
        let _ = self.end.1.recv().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_pillar_comes_in_parts_and_a_wrong_one_is_none() {
        let pillar = Map::from_iter([("text", "x".repeat(700_000))]);
        let mut parts = Parts::default();
        let collect = |parts: &Parts, first: Part, break_at: Option<u64>| {
            let mut whole = Whole::new(first);
            while let Some((digest, offset)) = whole.missing() {
                let mut part = parts.part(digest.0, offset).unwrap();
                if break_at.is_some_and(|at| offset >= at) {
                    part.bytes.0[0] ^= 1;
                }
                whole.add(part);
            }
            whole.open()
        };
        let first = parts.begin(cbor::encode(&pillar).unwrap());
        assert_eq!(collect(&parts, first.clone(), None), Some(pillar.clone()));
        assert_eq!(collect(&parts, first, Some(300_000)), None);
        let short = parts.begin(cbor::encode(&Map::from_iter([("a", 1)])).unwrap());
        assert!(parts.part(short.digest.0, 0).is_none(), "what fits is not kept");
    }
}
