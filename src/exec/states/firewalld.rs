//! `firewalld.*`: zones and services of the firewall daemon.

mod kinds;
mod present;
mod service;

use halite_core::state::{Function, Module, Outcome, from_to, given, state};
use halite_core::{Ctx, Fault};
use halite_value::record::Arguments;
use halite_value::{Map, Value};

pub const MODULE: Module =
    Module { name: "firewalld", doc: "Zones and services of the firewall daemon.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<present::Present>("present"), state::<service::ServiceIs>("service")];

/// One thing that is to change: how it is shown, and the functions that change it.
struct Step {
    /// Under which name it is shown among the changes.
    key: String,
    change: Map,
    calls: Vec<(&'static str, Map)>,
}

impl Step {
    /// One call changes it.
    fn one<const N: usize>(key: &str, change: Map, fun: &'static str, words: [(&str, Value); N]) -> Step {
        Step { key: key.to_owned(), change, calls: vec![(fun, given(words))] }
    }
}

/// What is there of a kind and what is wanted: how each is shown, and the words that it is added and removed by.
struct Lists {
    there: Vec<Item>,
    wanted: Vec<Item>,
    /// Whether what is not wanted is removed.
    prune: bool,
}

#[derive(Clone)]
struct Item {
    shown: Value,
    words: Map,
}

impl Lists {
    /// What is to be done about them; nothing where all is there.
    fn step(self, key: &str, add: &'static str, remove: &'static str) -> Option<Step> {
        let Lists { there, wanted, prune } = self;
        let lacks = |list: &[Item], item: &Item| !list.iter().any(|other| other.shown == item.shown);
        let new: Vec<Item> = wanted.iter().filter(|item| lacks(&there, item)).cloned().collect();
        let old: Vec<Item> = there.iter().filter(|item| prune && lacks(&wanted, item)).cloned().collect();
        if new.is_empty() && old.is_empty() {
            return None;
        }
        let shown = |items: Vec<Item>| -> Vec<Value> { items.into_iter().map(|item| item.shown).collect() };
        let calls = new.iter().map(|item| (add, item.words.clone()));
        let calls = calls.chain(old.into_iter().map(|item| (remove, item.words))).collect();
        // What stays is shown too.
        let after = if prune { wanted } else { there.iter().cloned().chain(new).collect() };
        Some(Step { key: key.to_owned(), change: from_to(shown(there), shown(after)), calls })
    }
}

/// What steps change when all goes well.
fn changes_of(steps: &[Step]) -> Map {
    steps.iter().map(|step| (Value::from(step.key.as_str()), Value::from(step.change.clone()))).collect()
}

/// Does the steps and has the daemon load its rules again. What goes wrong ends it: what was done is shown all the same.
fn done(ctx: &Ctx, name: &str, steps: Vec<Step>) -> Result<Outcome, Fault> {
    let mut changes = Map::new();
    let mut trouble = None;
    for step in steps {
        let calls = step.calls.into_iter();
        match calls.into_iter().try_for_each(|(fun, words)| ctx.run(fun, Arguments::keywords(words)).map(|_| ())) {
            Ok(()) => {
                changes.insert(step.key, step.change);
            }
            Err(fault) => {
                trouble = Some(told(&fault));
                break;
            }
        }
    }
    if !changes.is_empty() {
        ctx.run("firewalld.reload_rules", Arguments::default())?;
    }
    let outcome = match trouble {
        Some(told) => Outcome::failed(told),
        None => Outcome::done(format!("'{name}' was configured.")),
    };
    Ok(outcome.with_changes(changes))
}

/// What is said when firewalld refuses something.
fn told(fault: &Fault) -> String {
    format!("Error: {fault}")
}

fn in_place(name: &str) -> String {
    format!("'{name}' is already in the desired state.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::Finished;
    use halite_core::host::fake::Fake;
    use halite_lang::yaml;

    fn arguments(text: &str) -> Arguments {
        Arguments::keywords(yaml::load(text).unwrap().as_map().unwrap().clone())
    }

    fn zone() -> Fake {
        Fake::new()
            .answers(["firewall-cmd", "--get-zones", "--permanent"], "drop public\n")
            .answers(["firewall-cmd", "--zone=public", "--list-all", "--permanent"], "public\n  masquerade: no\n")
            .answers(["firewall-cmd", "--zone=public", "--list-ports", "--permanent"], "22/tcp 53/udp\n")
    }

    #[test]
    fn ports_are_added_and_others_stay_unless_they_are_pruned() {
        let host = zone()
            .answers(["firewall-cmd", "--zone=public", "--add-port=80/tcp", "--permanent"], "success\n")
            .answers(["firewall-cmd", "--zone=public", "--remove-port=53/udp", "--permanent"], "success\n")
            .answers(["firewall-cmd", "--reload"], "success\n");
        let world = World::on(host);
        let shown = |text: &str| both(&world, planned(&world, "firewalld.present", arguments(text)));
        let (would, done) = shown("{name: public, ports: [22/tcp, 80/tcp]}");
        let changes = yaml::load("{ports: {old: [22/tcp, 53/udp], new: [22/tcp, 53/udp, 80/tcp]}}").unwrap();
        assert_eq!((would.result, would.changes.len()), (None, 0));
        assert!(would.comment.starts_with("Configuration for 'public' will change:\n"), "{}", would.comment);
        assert_eq!((done.result, Value::from(done.changes)), (Some(true), changes));
        let (_, pruned) = shown("{name: public, ports: [22/tcp], prune_ports: true}");
        let changes = yaml::load("{ports: {old: [22/tcp, 53/udp], new: [22/tcp]}}").unwrap();
        assert_eq!(Value::from(pruned.changes), changes);
        let (same, _) = shown("{name: public, ports: [53/udp]}");
        assert_eq!((same.result, same.comment.as_str()), (Some(true), "'public' is already in the desired state."));
    }

    #[test]
    fn what_firewalld_refuses_ends_it_with_what_was_done() {
        let no = Finished { code: 102, stderr: b"Error: INVALID_PORT: x\n".to_vec(), ..Finished::default() };
        let host = zone()
            .answers(["firewall-cmd", "--zone=public", "--add-masquerade", "--permanent"], "success\n")
            .command(["firewall-cmd", "--zone=public", "--add-port=x", "--permanent"], no)
            .answers(["firewall-cmd", "--reload"], "success\n");
        let world = World::on(host);
        let plan = planned(&world, "firewalld.present", arguments("{name: public, masquerade: true, ports: [x]}"));
        let (_, done) = both(&world, plan);
        assert_eq!((done.result, done.changes.len()), (Some(false), 1));
        assert!(done.comment.starts_with("Error: ") && done.comment.contains("INVALID_PORT"), "{}", done.comment);
    }
}
