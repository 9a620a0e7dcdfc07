//! Which key may speak for which id: the store, the admin's rules, and what happens when a decision changes.

use super::Master;
use super::jobs::Id;
use halite_keys::PublicKey;
use halite_keys::store::{Known, Pended, Standing, StoreError};
use halite_value::{Map, Value};
use halite_wire::message::Remains;
use smol::channel::{Receiver, Sender, bounded};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;

/// The rules by which keys are decided on without an admin.
#[derive(Default)]
pub struct Rules {
    /// Accept every new key (`auto_accept`).
    pub auto_accept: Automatic,
    /// Accept every key, whatever was decided before (`open_mode`).
    pub open_mode: Automatic,
    /// Decides by the lists of `autosign_file`, `autoreject_file`, `autosign_grains_dir`.
    pub lists: Option<ListRule>,
}

/// Asks the admin's lists of ids and grains.
pub type ListRule = Box<dyn Fn(&str, &Map) -> Listed>;

/// Whether something happens by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Automatic {
    #[default]
    No,
    Yes,
}

/// What the admin's lists say of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    Sign,
    Reject,
    Nothing,
}

/// What a key may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Accepted,
    /// Pending, denied, or one too many: all the same to the peer.
    Waits,
    Rejected,
}

/// Those who wait for an admin, by id.
#[derive(Default)]
pub struct Waiting(RefCell<HashMap<String, Vec<Sender<()>>>>);

impl Waiting {
    /// Ready when something was decided on the id.
    pub fn on(&self, id: &str) -> Receiver<()> {
        let (sender, receiver) = bounded(1);
        let mut waiting = self.0.borrow_mut();
        let list = waiting.entry(id.to_owned()).or_default();
        list.retain(|other| !other.is_closed());
        list.push(sender);
        receiver
    }

    fn decided(&self, id: &str) {
        for sender in self.0.borrow_mut().remove(id).into_iter().flatten() {
            let _ = sender.try_send(());
        }
    }

    /// Forgets those that nobody waits for any more.
    pub fn sweep(&self) {
        self.0.borrow_mut().retain(|_, list| {
            list.retain(|other| !other.is_closed());
            !list.is_empty()
        });
    }
}

impl Master {
    /// Decides on a key that has proved itself, and writes down what is new.
    pub fn decide(&self, id: &str, key: PublicKey, grains: &Map) -> Decision {
        if self.accepted.borrow().get(id) == Some(&key) {
            return Decision::Accepted;
        }
        match self.look_up(id, key, grains) {
            Ok(decision) => decision,
            Err(error) => {
                log::error!("the key of '{}' cannot be decided on: {error}", id.escape_debug());
                Decision::Waits
            }
        }
    }

    fn look_up(&self, id: &str, key: PublicKey, grains: &Map) -> Result<Decision, StoreError> {
        let rules = &self.settings.rules;
        if rules.open_mode == Automatic::Yes {
            return self.accept_new(id, key);
        }
        let listed = || rules.lists.as_ref().map_or(Listed::Nothing, |lists| lists(id, grains));
        match self.store.standing(id, &key)? {
            Known::Is(Standing::Accepted) => {
                self.accepted.borrow_mut().insert(id.into(), key);
                Ok(Decision::Accepted)
            }
            Known::Is(Standing::Rejected) => Ok(Decision::Rejected),
            Known::Is(Standing::Pending) => match listed() {
                Listed::Reject => {
                    self.store.reject(id, Standing::Pending)?;
                    Ok(Decision::Rejected)
                }
                Listed::Sign => self.accept_new(id, key),
                Listed::Nothing if rules.auto_accept == Automatic::Yes => self.accept_new(id, key),
                Listed::Nothing => {
                    if self.rate.allows(Instant::now()) {
                        self.fire_auth("pend", id, key, grains);
                    }
                    Ok(Decision::Waits)
                }
            },
            Known::Taken(_) => self.deny(id, key, grains),
            Known::Is(Standing::Denied) | Known::Unknown => match listed() {
                Listed::Reject => {
                    self.store.put_pending(id, &key)?;
                    self.store.reject(id, Standing::Pending)?;
                    self.fire_auth("reject", id, key, grains);
                    Ok(Decision::Rejected)
                }
                Listed::Sign => self.accept_new(id, key),
                Listed::Nothing if rules.auto_accept == Automatic::Yes => self.accept_new(id, key),
                Listed::Nothing => self.pend(id, key, grains),
            },
        }
    }

    fn accept_new(&self, id: &str, key: PublicKey) -> Result<Decision, StoreError> {
        self.store.put_accepted(id, &key)?;
        self.unsettled.set(true);
        self.accepted.borrow_mut().insert(id.into(), key);
        log::info!("the key of '{id}' is accepted by rule");
        Ok(Decision::Accepted)
    }

    fn pend(&self, id: &str, key: PublicKey, grains: &Map) -> Result<Decision, StoreError> {
        match self.store.put_pending(id, &key)? {
            Pended::Written => {
                log::info!("a new key waits for a decision: '{id}'");
                self.fire_auth("pend", id, key, grains);
            }
            Pended::Waiting => return self.deny(id, key, grains),
            Pended::Full if self.rate.allows(Instant::now()) => {
                log::warn!("as many keys wait as may ({}): that of '{id}' is not kept", self.settings.pending_max);
                self.fire_auth("full", id, key, grains);
            }
            Pended::Full => {}
        }
        Ok(Decision::Waits)
    }

    /// The id belongs to another key: the admin is told, the peer is not.
    fn deny(&self, id: &str, key: PublicKey, grains: &Map) -> Result<Decision, StoreError> {
        // Whoever can connect can cause this, with a new key each time.
        if !self.rate.allows(Instant::now()) {
            return Ok(Decision::Waits);
        }
        if self.store.key(Standing::Denied, id).ok() != Some(key) {
            self.store.deny(id, &key)?;
        }
        log::warn!("the id '{id}' came with another key than the known one: denied");
        self.fire_auth("denied", id, key, grains);
        Ok(Decision::Waits)
    }

    /// Tells of a handshake, with the grains that came with the key where the configuration wants to see them.
    pub fn fire_auth(&self, act: &str, id: &str, key: PublicKey, grains: &Map) {
        let opts = &self.settings.opts;
        if opts.at("auth_events").is_some_and(|wanted| !wanted.truthy()) {
            return;
        }
        let mut data = Map::from_iter([
            ("act", Value::from(act)),
            ("id", Value::from(id)),
            ("pub", Value::from(key.to_pem())),
            ("result", Value::from(matches!(act, "accept" | "pend"))),
        ]);
        if !grains.is_empty() && shows_grains(opts, act) {
            data.insert("autosign_grains", grains.clone());
        }
        self.fire("salt/auth", data);
    }

    /// The key tool has changed keys: takes the change over at once and tells the bus.
    pub fn keys_changed(self: &Rc<Self>, changes: &[(String, String)], remains: Remains) {
        for (act, id) in changes {
            let mut data =
                Map::from_iter([("act", Value::from(act)), ("id", Value::from(id)), ("result", Value::from(true))]);
            if act != "deleted"
                && let Ok(key) =
                    self.store.key(if act == "accepted" { Standing::Accepted } else { Standing::Rejected }, id)
            {
                data.insert("pub", key.to_pem());
            }
            self.fire("salt/key", data);
        }
        self.reload_keys_and(remains);
        for (_, id) in changes {
            self.waiting.decided(id);
        }
    }

    /// Takes over what somebody has changed in the key folders by hand. Not while keys are accepted by rule: it would be
    /// for our own changes, and reads every key.
    pub fn look_for_keys(self: &Rc<Self>) {
        if !self.unsettled.get() && self.store.changed(&self.stamp.borrow()) {
            self.reload_keys();
        }
    }

    /// Looks at the key folders, and ends the sessions of those that are not accepted any more.
    pub fn reload_keys(self: &Rc<Self>) {
        let keeps = self.settings.opts.at("preserve_minion_cache").is_some_and(Value::truthy);
        self.reload_keys_and(if keeps { Remains::Kept } else { Remains::Forgotten });
    }

    fn reload_keys_and(self: &Rc<Self>, remains: Remains) {
        let stamp = self.store.stamp();
        let snapshot = match self.store.snapshot() {
            Ok(snapshot) => snapshot,
            Err(error) => return log::error!("the keys cannot be read, the known ones stay: {error}"),
        };
        for error in &snapshot.unusable {
            log::warn!("a key file is not usable: {error}");
        }
        *self.stamp.borrow_mut() = stamp;
        let now: HashMap<Id, PublicKey> = snapshot.keys.into_iter().map(|(id, key)| (Id::from(id), key)).collect();
        let before = std::mem::replace(&mut *self.accepted.borrow_mut(), now);
        let gone: Vec<Id> = {
            let accepted = self.accepted.borrow();
            before.iter().filter(|(id, key)| accepted.get(*id) != Some(*key)).map(|(id, _)| id.clone()).collect()
        };
        let new: Vec<Id> = self.accepted.borrow().keys().filter(|id| !before.contains_key(*id)).cloned().collect();
        for id in new {
            self.waiting.decided(&id);
        }
        self.revoke(&gone, remains);
    }

    /// Ends what these minions have, at once: their sessions, connections and open jobs. The epoch that they know is never
    /// used again; the others get the next one with their next answer, without being asked.
    fn revoke(self: &Rc<Self>, ids: &[Id], remains: Remains) {
        if ids.is_empty() {
            return;
        }
        for id in ids {
            log::info!("the key of '{id}' is not accepted any more: its session ends");
            let away = self.seats.borrow_mut().evict(id, Instant::now());
            if let Some(pipe) = away.and_then(|away| away.pipe) {
                self.close(pipe);
            }
            let ended = self.jobs.borrow_mut().key_gone(id, Instant::now());
            self.ended(ended);
            if remains == Remains::Forgotten {
                self.minions.borrow_mut().remove(id);
                self.database.forget_minion(id.to_string());
            }
        }
        self.new_epoch();
        // As Salt tells it: whoever waits for it learns that what is published from now on is out of their reach.
        self.fire("key", Map::from_iter([("rotate_aes_key", true)]));
    }
}

/// Whether the events of such handshakes show the grains of `autosign_grains`.
fn shows_grains(opts: &Map, act: &str) -> bool {
    let acts = opts.at("auth_events_autosign_grains").and_then(Value::as_list).unwrap_or_default();
    let pend = act == "pend" && opts.at("auth_events_pend_autosign_grains").is_some_and(Value::truthy);
    pend || acts.iter().any(|wanted| wanted.as_str() == Some(act))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grains_are_shown_in_the_events_that_the_configuration_names() {
        let acts = Map::from_iter([("auth_events_autosign_grains", Value::list(["accept", "reject"]))]);
        assert!(shows_grains(&acts, "accept") && !shows_grains(&acts, "pend"));
        let pend = Map::from_iter([("auth_events_pend_autosign_grains", true)]);
        assert!(shows_grains(&pend, "pend") && !shows_grains(&pend, "accept"));
        assert!(!shows_grains(&Map::new(), "pend"));
    }
}
