//! Which key may speak for which id: the store, the admin's rules, and what happens when a decision changes.
//!
//! The keys of accepted minions are known by heart. All else lies on the disk, and is looked at and changed on the blocking
//! pool, by one at a time: whoever holds the turn ([`Master::turn`](super::Master)) sees what those before have done, and
//! what they have found is taken over before the next one begins.

pub(super) mod look_up;

use super::Master;
use super::jobs::Id;
use halite_keys::PublicKey;
use halite_keys::store::{KeyStatus, StoreError};
use halite_keys::watch::News;
use halite_value::{Map, Value};
use halite_wire::message::Remains;
use smol::channel::{Receiver, Sender, bounded};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;

pub use look_up::Desk;
use look_up::{By, Looked, Read};

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
pub type ListRule = Box<dyn Fn(&str, &Map) -> Listed + Send + Sync>;

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
    pub async fn decide(&self, id: &str, key: PublicKey, grains: &Map) -> Decision {
        let is_accepted = || self.accepted.borrow().get(id) == Some(&key);
        if is_accepted() {
            return Decision::Accepted;
        }
        let _turn = self.turn.lock().await;
        if is_accepted() {
            return Decision::Accepted;
        }
        let (keys, name, shown) = (self.keys.clone(), id.to_owned(), grains.clone());
        let looked = smol::unblock(move || keys.look_up(&name, key, &shown)).await;
        self.take_over(id, key, grains, looked);
        looked.decision
    }

    fn take_over(&self, id: &str, key: PublicKey, grains: &Map, looked: Looked) {
        if let Some(by) = looked.accepted {
            self.accepted.borrow_mut().insert(id.into(), key);
            if by == By::Rule {
                self.unsettled.set(true);
            }
        }
        if let Some(act) = looked.told {
            self.fire_auth(act, id, key, grains);
        }
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
    pub async fn keys_changed(self: &Rc<Self>, changes: Vec<(String, String)>, remains: Remains) {
        let _turn = self.turn.lock().await;
        let (keys, watch) = (self.keys.clone(), self.watch.take());
        let (changes, shown, read) = smol::unblock(move || {
            let shown: Vec<Option<PublicKey>> = changes
                .iter()
                .map(|(act, id)| match act.as_str() {
                    "deleted" => None,
                    "accepted" => keys.store.key(KeyStatus::Accepted, id).ok(),
                    _ => keys.store.key(KeyStatus::Rejected, id).ok(),
                })
                .collect();
            let read = keys.read(watch);
            (changes, shown, read)
        })
        .await;
        for ((act, id), key) in changes.iter().zip(shown) {
            let mut data =
                Map::from_iter([("act", Value::from(act)), ("id", Value::from(id)), ("result", Value::from(true))]);
            if let Some(key) = key {
                data.insert("pub", key.to_pem());
            }
            self.fire("salt/key", data);
        }
        self.take_keys(read, remains);
        for (_, id) in &changes {
            self.waiting.decided(id);
        }
    }

    /// Removes the key of a minion that takes it back, and all that it has.
    pub async fn key_taken_back(self: &Rc<Self>, id: &str, remains: Remains) -> Result<(), StoreError> {
        let turn = self.turn.lock().await;
        let (keys, name) = (self.keys.clone(), id.to_owned());
        smol::unblock(move || keys.store.delete(&name, KeyStatus::Accepted)).await?;
        drop(turn);
        self.keys_changed(vec![("delete".to_owned(), id.to_owned())], remains).await;
        Ok(())
    }

    /// Takes over what somebody has changed in the key directories by hand, as far as the kernel has told it. Not while keys
    /// are accepted by rule: it would be for our own changes, and reads every key.
    pub async fn look_for_keys(self: &Rc<Self>) {
        if self.unsettled.get() {
            return;
        }
        // Not here while they are read, or when they cannot be watched.
        let Some(watch) = self.watch.take() else {
            return self.look_at_key_directories().await;
        };
        if watch.news() == News::Nothing {
            *self.watch.borrow_mut() = Some(watch);
            return;
        }
        self.reload_keys().await;
    }

    /// The same by a look at the directories: it also shows what another host has done to them.
    pub async fn look_at_key_directories(self: &Rc<Self>) {
        if self.unsettled.get() {
            return;
        }
        let changed = {
            let _turn = self.turn.lock().await;
            let (keys, stamp) = (self.keys.clone(), self.stamp.borrow().clone());
            smol::unblock(move || keys.store.changed(&stamp)).await
        };
        if changed {
            self.reload_keys().await;
        }
    }

    /// Looks at the key directories, and ends the sessions of those that are not accepted any more.
    async fn reload_keys(self: &Rc<Self>) {
        let _turn = self.turn.lock().await;
        let (keys, watch) = (self.keys.clone(), self.watch.take());
        let read = smol::unblock(move || keys.read(watch)).await;
        self.take_keys(read, self.remains());
    }

    /// The same at the start of a master, when nobody is there who would have to wait.
    pub fn load_keys(self: &Rc<Self>) {
        self.take_keys(self.keys.read(self.watch.take()), self.remains());
    }

    /// What is kept of a minion whose key is gone.
    fn remains(&self) -> Remains {
        match self.settings.opts.at("preserve_minion_cache").is_some_and(Value::truthy) {
            true => Remains::Kept,
            false => Remains::Forgotten,
        }
    }

    /// Takes over which keys are accepted.
    fn take_keys(self: &Rc<Self>, read: Result<Read, StoreError>, remains: Remains) {
        let Read { watch, stamp, snapshot } = match read {
            Ok(read) => read,
            Err(error) => return log::error!("the keys cannot be read, the known ones stay: {error}"),
        };
        *self.watch.borrow_mut() = watch;
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
            let away = self.sessions.borrow_mut().evict(id, Instant::now());
            if let Some(pipe) = away.and_then(|away| away.pipe) {
                self.close(pipe);
            }
            let ended = self.jobs.borrow_mut().key_gone(id, Instant::now());
            self.ended(ended);
            self.origins.borrow_mut().forget(id);
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
