//! Accepting, rejecting and deleting: what matches is shown, the question asked, and each change told.

use super::matching::Match;
use super::{Act, Change, Exit, SaltKey, Trouble, unmatched};
use crate::cli::salt_key::Actions;
use halite_keys::KeyStatus;
use halite_keys::store::StoreError;
use halite_value::{Map, Value};

impl SaltKey<'_> {
    pub(super) fn change(&mut self, act: Act, pattern: &str, actions: &Actions) -> Result<Exit, Trouble> {
        let standings = standings(act, actions);
        let found = Match::of(&self.store, pattern)?.only(&standings);
        if found.groups.is_empty() {
            self.display.say(&no_match(pattern, actions));
            return Ok(unmatched(pattern));
        }
        self.display.say(&format!("The following keys are going to be {}:\n", act.done()));
        let shown: Map =
            found.groups.iter().map(|(standing, ids)| (standing.directory(), Value::list(ids.iter()))).collect();
        self.show(shown)?;
        if !actions.yes && !self.agreed(act)? {
            return Ok(Exit::Ok);
        }
        self.apply(act, &found)
    }

    /// Asks whether to go on. Deleting needs a yes, the others go on unless there is a no.
    fn agreed(&mut self, act: Act) -> Result<bool, Trouble> {
        let (question, default) = match act {
            Act::Deleted => ("Proceed? [N/y] ", "n"),
            Act::Accepted | Act::Rejected => ("Proceed? [n/Y] ", "y"),
        };
        self.display.say(question);
        let mut answer = String::new();
        let read = self.input.read_line(&mut answer);
        match read {
            Ok(0) => {
                self.complain("nobody answered the question (--yes goes on without one): nothing was changed");
                Ok(false)
            }
            Ok(_) => {
                let answer = answer.trim_end_matches(['\n', '\r']);
                let answer = if answer.is_empty() { default } else { answer };
                Ok(answer.to_lowercase().starts_with('y'))
            }
            Err(error) => Err(Trouble::Other(format!("standard input: {error}"), Exit::Failed)),
        }
    }

    /// Changes key by key. One that cannot be changed is told; the others still are.
    fn apply(&mut self, act: Act, found: &Match) -> Result<Exit, Trouble> {
        let mut changes = Vec::new();
        let mut exit = Exit::Ok;
        for (from, ids) in &found.groups {
            for id in ids {
                let key = self.store.key(*from, id).ok();
                match self.apply_one(act, id, *from) {
                    Ok(()) => {
                        self.display.say(&format!("Key for minion {id} {}.\n", act.done()));
                        changes.push(Change { id: id.clone(), act, from: *from, key });
                    }
                    Err(error) => {
                        self.complain(&error.to_string());
                        exit = Exit::Failed;
                    }
                }
            }
        }
        if let Err(sentence) = self.notify.changed(&changes) {
            self.complain(&sentence);
        }
        Ok(exit)
    }

    fn apply_one(&self, act: Act, id: &str, from: KeyStatus) -> Result<(), StoreError> {
        match act {
            Act::Accepted => self.store.accept(id, from).map(|_| ()),
            Act::Rejected => self.store.reject(id, from),
            Act::Deleted => self.store.delete(id, from),
        }
    }
}

impl Act {
    /// What the event `salt/key` calls it.
    pub fn event(self) -> &'static str {
        match self {
            Act::Accepted => "accepted",
            Act::Rejected => "rejected",
            Act::Deleted => "delete",
        }
    }

    fn done(self) -> &'static str {
        match self {
            Act::Accepted => "accepted",
            Act::Rejected => "rejected",
            Act::Deleted => "deleted",
        }
    }
}

/// The standings that a change looks at. To delete, all.
fn standings(act: Act, actions: &Actions) -> Vec<KeyStatus> {
    let rejected = actions.include_rejected || actions.include_all;
    let accepted = actions.include_accepted || actions.include_all;
    let also = match act {
        Act::Deleted => return KeyStatus::ALL.to_vec(),
        Act::Accepted => rejected.then_some(KeyStatus::Rejected),
        Act::Rejected => accepted.then_some(KeyStatus::Accepted),
    };
    let denied = actions.include_denied.then_some(KeyStatus::Denied);
    [KeyStatus::Pending].into_iter().chain(also).chain(denied).collect()
}

fn no_match(pattern: &str, actions: &Actions) -> String {
    let included = [
        (true, "unaccepted"),
        (actions.include_accepted, "accepted"),
        (actions.include_rejected, "rejected"),
        (actions.include_denied, "denied"),
    ];
    let names: Vec<&str> = included.into_iter().filter(|(given, _)| *given).map(|(_, name)| name).collect();
    let names = match &names[..] {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => names.concat(),
    };
    format!("The key glob '{pattern}' does not match any {names} keys.\n")
}
