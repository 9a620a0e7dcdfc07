//! What is decided on a key by what lies on the disk: the store and the admin's lists. All of it may block, so it runs on
//! the blocking pool; [`Master`](super::super::Master) sees to it that nothing else touches the keys meanwhile.

use super::super::rate::Rate;
use super::{Automatic, Decision, Listed, Rules};
use halite_keys::PublicKey;
use halite_keys::store::{KeyStatus, KeyStore, Known, Pended, Snapshot, Stamp, StoreError};
use halite_keys::watch::{News, Watch};
use halite_value::Map;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The keys on the disk and the rules for new ones.
pub struct Desk {
    pub store: KeyStore,
    pub rules: Rules,
    /// How often unauthenticated may cause an event or a warning.
    pub rate: Rate,
    pub pending_max: usize,
}

/// A decision, and what is left to do for the thread that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looked {
    pub decision: Decision,
    /// What is told on the bus.
    pub told: Option<&'static str>,
    pub accepted: Option<By>,
}

/// How a key came to be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// It lies with the accepted ones.
    Admin,
    /// Just now, and it is not on the disk for certain yet.
    Rule,
}

/// The accepted keys as they are now.
pub struct Read {
    /// Begun before the keys were read, so that it misses no change.
    pub watch: Option<Watch>,
    /// Taken before the keys were read.
    pub stamp: Stamp,
    pub snapshot: Snapshot,
}

impl Looked {
    fn only(decision: Decision) -> Looked {
        Looked { decision, told: None, accepted: None }
    }

    fn accepted(by: By) -> Looked {
        Looked { decision: Decision::Accepted, told: None, accepted: Some(by) }
    }

    fn told(decision: Decision, act: &'static str) -> Looked {
        Looked { decision, told: Some(act), accepted: None }
    }
}

impl Desk {
    pub fn new(store: KeyStore, rules: Rules, pending_max: usize) -> Arc<Desk> {
        Arc::new(Desk { store, rules, rate: Rate::new(20, Duration::from_secs(10)), pending_max })
    }

    /// Decides on a key that has proved itself, and writes down what is new.
    pub fn look_up(&self, id: &str, key: PublicKey, grains: &Map) -> Looked {
        self.try_look_up(id, key, grains).unwrap_or_else(|error| {
            log::error!("the key of '{}' cannot be decided on: {error}", id.escape_debug());
            Looked::only(Decision::Waits)
        })
    }

    /// Reads the accepted keys, with a watch on them that has nothing to tell, where there can be one.
    pub fn read(&self, watch: Option<Watch>) -> Result<Read, StoreError> {
        let watch = watch.filter(|watch| watch.news() != News::Lost);
        let watch = watch.or_else(|| Watch::on(&self.store.directory_of(KeyStatus::Accepted)).ok());
        let stamp = self.store.stamp();
        let snapshot = self.store.snapshot()?;
        for error in &snapshot.unusable {
            log::warn!("a key file is not usable: {error}");
        }
        Ok(Read { watch, stamp, snapshot })
    }

    fn try_look_up(&self, id: &str, key: PublicKey, grains: &Map) -> Result<Looked, StoreError> {
        if self.rules.open_mode == Automatic::Yes {
            return self.accept_new(id, key);
        }
        let listed = || self.rules.lists.as_ref().map_or(Listed::Nothing, |lists| lists(id, grains));
        match self.store.standing(id, &key)? {
            Known::Is(KeyStatus::Accepted) => Ok(Looked::accepted(By::Admin)),
            Known::Is(KeyStatus::Rejected) => Ok(Looked::only(Decision::Rejected)),
            Known::Is(KeyStatus::Pending) => match listed() {
                Listed::Reject => {
                    self.store.reject(id, KeyStatus::Pending)?;
                    Ok(Looked::only(Decision::Rejected))
                }
                Listed::Sign => self.accept_new(id, key),
                Listed::Nothing if self.rules.auto_accept == Automatic::Yes => self.accept_new(id, key),
                Listed::Nothing if self.rate.allows(Instant::now()) => Ok(Looked::told(Decision::Waits, "pend")),
                Listed::Nothing => Ok(Looked::only(Decision::Waits)),
            },
            Known::Taken(_) => self.deny(id, key),
            Known::Is(KeyStatus::Denied) | Known::Unknown => match listed() {
                Listed::Reject => {
                    self.store.put_pending(id, &key)?;
                    self.store.reject(id, KeyStatus::Pending)?;
                    Ok(Looked::told(Decision::Rejected, "reject"))
                }
                Listed::Sign => self.accept_new(id, key),
                Listed::Nothing if self.rules.auto_accept == Automatic::Yes => self.accept_new(id, key),
                Listed::Nothing => self.pend(id, key),
            },
        }
    }

    fn accept_new(&self, id: &str, key: PublicKey) -> Result<Looked, StoreError> {
        self.store.put_accepted(id, &key)?;
        log::info!("the key of '{id}' is accepted by rule");
        Ok(Looked::accepted(By::Rule))
    }

    fn pend(&self, id: &str, key: PublicKey) -> Result<Looked, StoreError> {
        match self.store.put_pending(id, &key)? {
            Pended::Written => {
                log::info!("a new key waits for a decision: '{id}'");
                Ok(Looked::told(Decision::Waits, "pend"))
            }
            Pended::Waiting => self.deny(id, key),
            Pended::Full if self.rate.allows(Instant::now()) => {
                log::warn!("as many keys wait as may ({}): that of '{id}' is not kept", self.pending_max);
                Ok(Looked::told(Decision::Waits, "full"))
            }
            Pended::Full => Ok(Looked::only(Decision::Waits)),
        }
    }

    /// The id belongs to another key: the admin is told, the peer is not.
    fn deny(&self, id: &str, key: PublicKey) -> Result<Looked, StoreError> {
        // Whoever can connect can cause this, with a new key each time.
        if !self.rate.allows(Instant::now()) {
            return Ok(Looked::only(Decision::Waits));
        }
        if self.store.key(KeyStatus::Denied, id).ok() != Some(key) {
            self.store.deny(id, &key)?;
        }
        log::warn!("the id '{id}' came with another key than the known one: denied");
        Ok(Looked::told(Decision::Waits, "denied"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_keys::Identity;
    use std::path::PathBuf;

    struct Directory(PathBuf);

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_key_is_decided_on_by_the_store_and_then_by_the_rules() {
        let directory = Directory(std::env::temp_dir().join(format!("halite-look-up-{}", std::process::id())));
        let listed = |id: &str, _: &Map| match id {
            "bad" => Listed::Reject,
            "good" => Listed::Sign,
            _ => Listed::Nothing,
        };
        let rules = Rules { lists: Some(Box::new(listed)), ..Rules::default() };
        let desk = Desk::new(KeyStore::open(&directory.0, 1), rules, 1);
        let (key, other) = (Identity::generate().public(), Identity::generate().public());
        let look_up = |id: &str, key| desk.look_up(id, key, &Map::new());
        assert_eq!(look_up("good", key), Looked::accepted(By::Rule));
        assert_eq!(look_up("good", key), Looked::accepted(By::Admin));
        assert_eq!(look_up("good", other), Looked::told(Decision::Waits, "denied"));
        assert_eq!(look_up("bad", key), Looked::told(Decision::Rejected, "reject"));
        assert_eq!(look_up("bad", key), Looked::only(Decision::Rejected));
        assert_eq!(look_up("web1", key), Looked::told(Decision::Waits, "pend"));
        assert_eq!(look_up("web2", key), Looked::told(Decision::Waits, "full"));
        assert_eq!(desk.read(None).unwrap().snapshot.keys.len(), 1);
    }
}
