//! `salt-key`: shows, accepts, rejects and deletes the keys that a master knows.
//!
//! It works on the files of `pki_dir`, so that it needs no running master; a running one is told, and acts at once.

mod change;
mod making;
mod matching;
mod notify;

use super::cli::salt_key::KeyLine;
use super::cli::{Display, Exit, account, exit};
use super::config::{Config, Role, Surroundings};
use super::logging;
use halite_keys::identity::KeyError;
use halite_keys::store::{PENDING_MAX, StoreError};
use halite_keys::{Identity, KeyStatus, KeyStore, PublicKey};
use halite_value::{Map, Value};
use halite_wire::message::Remains;
use matching::Match;
use notify::RunningMaster;
use std::io::{BufRead, ErrorKind};

/// What was done to a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub id: String,
    pub act: Act,
    /// Where the key stood before.
    pub from: KeyStatus,
    /// The key; nothing, where its file could not be read.
    pub key: Option<PublicKey>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Accepted,
    Rejected,
    Deleted,
}

/// Tells a running master, so that it acts at once: a rejected or deleted key ends its session. A master that is not
/// running has nothing to do; one that cannot be told will see the files, but later, which the error says.
pub trait Notify {
    fn changed(&self, changes: &[Change]) -> Result<(), String>;
}

/// One call of `salt-key`.
pub struct SaltKey<'a> {
    pub store: KeyStore,
    pub config: &'a Map,
    pub display: Display,
    /// Where the answers to questions come from.
    pub input: &'a mut dyn BufRead,
    pub notify: &'a dyn Notify,
    /// Whether troubles are told (not with `--quiet`); the exit code says of them anyway.
    pub troubles: Troubles,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Troubles {
    Told,
    Untold,
}

/// What went wrong while a command ran.
#[derive(Debug)]
enum Trouble {
    Store(StoreError),
    /// The sentence, and how the program ends.
    Other(String, Exit),
}

impl SaltKey<'_> {
    /// Does what the command line asks for.
    pub fn run(&mut self, line: &KeyLine) -> Exit {
        match self.verb(line) {
            Ok(exit) => exit,
            Err(trouble) => {
                let (sentence, exit) = match trouble {
                    Trouble::Store(error) => (error.to_string(), exit_for(&error)),
                    Trouble::Other(sentence, exit) => (sentence, exit),
                };
                self.complain(&format!("error: {sentence}"));
                exit
            }
        }
    }

    fn verb(&mut self, line: &KeyLine) -> Result<Exit, Trouble> {
        let actions = &line.actions;
        if line.making.gen_keys.is_some() {
            return making::keys(&line.making);
        }
        if line.making.gen_signature {
            return self.signature(&line.making);
        }
        if let Some(standing) = &actions.list {
            return self.list(standing);
        }
        if actions.list_all {
            return self.list("all");
        }
        if let Some(pattern) = wanted(&actions.print, actions.print_all) {
            return self.print(pattern);
        }
        if let Some(pattern) = wanted(&actions.accept, actions.accept_all) {
            return self.change(Act::Accepted, pattern, actions);
        }
        if let Some(pattern) = wanted(&actions.reject, actions.reject_all) {
            return self.change(Act::Rejected, pattern, actions);
        }
        if let Some(pattern) = wanted(&actions.delete, actions.delete_all) {
            return self.change(Act::Deleted, pattern, actions);
        }
        if let Some(pattern) = wanted(&actions.finger, actions.finger_all) {
            return self.finger(pattern);
        }
        self.list("all")
    }

    fn list(&mut self, which: &str) -> Result<Exit, Trouble> {
        let standings = match which {
            _ if which.starts_with("all") => &KeyStatus::ALL[..],
            _ if which.starts_with("acc") => &[KeyStatus::Accepted],
            _ if which.starts_with("pre") || which.starts_with("un") => &[KeyStatus::Pending],
            _ if which.starts_with("rej") => &[KeyStatus::Rejected],
            _ if which.starts_with("den") => &[KeyStatus::Denied],
            _ => {
                let sentence = format!("'{which}' is not a valid argument to '--list'");
                return Err(Trouble::Other(sentence, Exit::Usage));
            }
        };
        let mut keys = Map::new();
        for standing in standings {
            keys.insert(standing.directory(), Value::list(self.store.list(*standing)?));
        }
        self.show(keys)
    }

    fn print(&mut self, pattern: &str) -> Result<Exit, Trouble> {
        let found = Match::of(&self.store, pattern)?;
        let (keys, exit) = self.each(&found, |key| key.to_pem().trim_end().to_owned());
        self.show_matching(pattern, keys, exit)
    }

    fn finger(&mut self, pattern: &str) -> Result<Exit, Trouble> {
        let found = Match::of(&self.store, pattern)?;
        let (mut keys, exit) = self.each(&found, |key| key.fingerprint());
        let own = self.own_keys(pattern);
        if !own.is_empty() {
            keys.insert("local", own);
        }
        self.show_matching(pattern, keys, exit)
    }

    /// Something of each key that matches. A file that holds no key is told, also by the exit code, and the others are
    /// shown.
    fn each(&self, found: &Match, what: impl Fn(PublicKey) -> String) -> (Map, Exit) {
        let (mut all, mut exit) = (Map::new(), Exit::Ok);
        for (standing, ids) in &found.groups {
            let mut group = Map::new();
            for id in ids {
                match self.store.key(*standing, id) {
                    Ok(key) => {
                        group.insert(id, what(key));
                    }
                    Err(error) => {
                        self.complain(&error.to_string());
                        exit = exit_for(&error);
                    }
                }
            }
            all.insert(standing.directory(), group);
        }
        (all, exit)
    }

    /// Shows keys that a pattern has found; where it has found none, that.
    fn show_matching(&mut self, pattern: &str, keys: Map, exit: Exit) -> Result<Exit, Trouble> {
        if keys.is_empty() && pattern != "*" {
            self.display.say(&format!("The key glob '{pattern}' does not match any keys.\n"));
            return Ok(unmatched(pattern));
        }
        self.show(keys)?;
        Ok(exit)
    }

    /// The fingerprints of the master's own key files. That of a private key is its public half's, so that both lines
    /// of a pair agree.
    fn own_keys(&self, pattern: &str) -> Map {
        let directory = self.store.pki_dir();
        let names = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        let mut own = Map::new();
        for name in names.iter().filter(|name| matching::fits(pattern, name)) {
            let path = directory.join(name);
            // A link is another name of a file beside it, as master.pem is of ID.pem.
            if path.is_symlink() {
                continue;
            }
            let key = match name.rsplit_once('.') {
                Some((_, "pub")) => PublicKey::load(&path),
                Some((_, "pem")) => Identity::load(&path).map(|identity| identity.public()),
                _ => continue,
            };
            match key {
                Ok(key) => {
                    own.insert(name, key.fingerprint());
                }
                Err(error) => self.complain(&error.to_string()),
            }
        }
        own
    }

    fn complain(&self, sentence: &str) {
        if self.troubles == Troubles::Told {
            exit::complain(&format!("salt-key: {sentence}"));
        }
    }

    fn show(&mut self, keys: Map) -> Result<Exit, Trouble> {
        self.display
            .show(&Value::Map(keys), Some("key"), 0)
            .map_err(|error| Trouble::Other(error.to_string(), Exit::CannotCreate))?;
        Ok(Exit::Ok)
    }
}

fn exit_for(error: &StoreError) -> Exit {
    match error {
        StoreError::Key(KeyError::Io { error, .. }) if error.kind() == ErrorKind::PermissionDenied => Exit::NotAllowed,
        _ => Exit::Failed,
    }
}

/// How a command ends that no key matched: whoever named some did not get what they asked for; all of none is done.
fn unmatched(pattern: &str) -> Exit {
    if pattern == "*" { Exit::Ok } else { Exit::NoReturn }
}

/// The pattern of a verb that has a form for all keys.
fn wanted(one: &Option<String>, all: bool) -> Option<&str> {
    one.as_deref().filter(|pattern| !pattern.is_empty()).or(all.then_some("*"))
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Trouble {
        Trouble::Store(error)
    }
}

/// Runs the program.
pub fn run(args: &[String]) -> u8 {
    match KeyLine::read(args) {
        Ok(line) => run_line(&line).code(),
        Err(stop) => stop.report("salt-key").code(),
    }
}

fn run_line(line: &KeyLine) -> Exit {
    let around = Surroundings::of_process(line.common.config_dir.clone());
    let options = Config::load(Role::Master, &around).and_then(|config| Ok((config.master()?, config)));
    let (options, config) = match options {
        Ok(options) => options,
        Err(error) => return fail(&error.to_string(), Exit::Configuration),
    };
    let changed = match &line.actions.user {
        Some(name) => account::act_as(name, "--user"),
        None => account::act_as_configured(&options.common.user),
    };
    if let Err(trouble) = changed {
        return trouble.report("salt-key");
    }
    logging::start_with_file(&config, &line.logging, &options.common.log);
    let display = match Display::new(&line.output, &config.opts) {
        Ok(display) => display,
        Err(error) => return fail(&error.to_string(), Exit::CannotCreate),
    };
    let mut key = SaltKey {
        store: KeyStore::open(&options.common.pki_dir, PENDING_MAX),
        config: &config.opts,
        display,
        input: &mut std::io::stdin().lock(),
        notify: &RunningMaster { sock_dir: options.common.sock_dir.clone(), remains: remains(line, &config) },
        troubles: if line.actions.quiet { Troubles::Untold } else { Troubles::Told },
    };
    key.run(line)
}

/// What becomes of what the master keeps of a minion whose key goes.
fn remains(line: &KeyLine, config: &Config) -> Remains {
    let keep = line.actions.preserve_minions.map_or(config.truth("preserve_minion_cache"), |choice| choice.0);
    if keep { Remains::Kept } else { Remains::Forgotten }
}

fn fail(sentence: &str, exit: Exit) -> Exit {
    exit::complain(&format!("salt-key: error: {sentence}"));
    exit
}

#[cfg(test)]
mod tests;
