//! What the requisites of a state allow, given what became of those that it names.

use super::super::graph::{Need, Step};
use super::Runner;
use halite_core::requisite::Requisite;
use halite_value::{Map, Value};

/// What may be done with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Something that it needs has not run yet.
    Unmet,
    /// Something that it needs has failed.
    Fail,
    /// Another state says that nothing that depends on it should run.
    SkipReq,
    SkipWatch,
    /// Nothing that it runs before would change.
    Pre,
    Met,
    /// Nothing has failed that it runs after.
    Onfail,
    /// Nothing has changed that it runs after.
    Onchanges,
    /// Something has changed that it watches.
    Change,
}

/// What was seen of requisites.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    unmet: bool,
    fail: bool,
    skip_req: bool,
    onfail: bool,
    onchanges: bool,
    onchanges_met: bool,
    change: bool,
    pre: bool,
    pre_met: bool,
    met: bool,
}

impl Runner<'_, '_> {
    pub(super) fn status(&mut self, node: usize) -> Status {
        let mut found: Vec<(Requisite, Seen)> = Vec::new();
        let needs: Vec<(Requisite, Need)> = self.graph.needs(node).collect();
        for (kind, need) in needs {
            let seen = match need {
                Need::One(step) => self.seen_of(kind, step),
                Need::All(group) => self.seen_of_all(kind, group),
            };
            match found.iter_mut().find(|(other, _)| *other == kind) {
                Some((_, all)) => *all = all.and(seen),
                None => found.push((kind, seen)),
            }
        }
        found.into_iter().map(|(kind, seen)| seen.weighed(kind)).fold(Seen::default(), Seen::and).status()
    }

    fn seen_of(&self, kind: Requisite, step: Step) -> Seen {
        let results = if kind.base() == Requisite::Prereq { &self.checked } else { &self.results };
        let mut seen = Seen::default();
        match results.get(step.chunk).and_then(Option::as_ref) {
            Some(result) => seen.add(kind.base(), result),
            None => seen.unmet = true,
        }
        seen
    }

    /// What was seen of the states of an SLS. Many states may want the same one, so it is looked at once, when all of it
    /// has run.
    fn seen_of_all(&mut self, kind: Requisite, group: usize) -> Seen {
        if let Some(seen) = self.groups_seen.get(&group) {
            return *seen;
        }
        let members = self.graph.members(group);
        let seen = members.map(|step| self.seen_of(kind, step)).fold(Seen::default(), Seen::and);
        if !seen.unmet && self.beside.is_idle() {
            self.groups_seen.insert(group, seen);
        }
        seen
    }

    /// `SLS.ID` of the requisites of a node that have failed.
    pub(super) fn failed(&self, node: usize) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (_, step) in self.graph.dependencies(node) {
            let result = self.checked[step.chunk].as_ref().or(self.results[step.chunk].as_ref());
            if result.is_some_and(|result| result.at("result") == Some(&Value::Bool(false))) {
                let text = |name: &str| self.chunks[step.chunk].at(name).map(Value::to_text).unwrap_or_default();
                let name = format!("{}.{}", text("__sls__"), text("__id__"));
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// `module: ID` of the watched states that have changed.
    pub(super) fn changed(&self, node: usize) -> Vec<String> {
        let watched = self.graph.dependencies(node).filter(|(kind, _)| *kind == Requisite::Watch).map(|(_, step)| step);
        let has_changed = |step: &Step| {
            let result = self.results[step.chunk].as_ref();
            result.is_some_and(|result| result.at("changes").is_some_and(Value::truthy))
        };
        let text = |step: &Step, name: &str| self.chunks[step.chunk].at(name).map(Value::to_text).unwrap_or_default();
        watched.filter(has_changed).map(|step| format!("{}: {}", text(&step, "state"), text(&step, "__id__"))).collect()
    }
}

impl Seen {
    fn add(&mut self, kind: Requisite, result: &Map) {
        let outcome = result.at("result").and_then(Value::as_bool);
        let has_changes = result.at("changes").is_some_and(Value::truthy);
        self.skip_req |= result.at("skip_req").is_some_and(Value::truthy);
        match (kind, outcome) {
            (Requisite::Onfail, Some(true)) => self.onfail = true,
            (Requisite::Onchanges, outcome) => match outcome == Some(false) || !has_changes {
                true => self.onchanges = true,
                false => self.onchanges_met = true,
            },
            (kind, Some(false)) if kind != Requisite::Onfail => self.fail = true,
            (Requisite::Watch, _) if has_changes => self.change = true,
            (Requisite::Prereq, None) => self.pre_met = true,
            (Requisite::Prereq, _) => self.pre = true,
            _ => self.met |= result.at("__state_ran__").is_none_or(Value::truthy),
        }
    }

    /// What it comes to for requisites of one kind: of some, one is enough.
    fn weighed(mut self, kind: Requisite) -> Seen {
        if kind.is_any() {
            if self.met || self.change {
                self.fail = false;
            }
            if self.onchanges_met {
                (self.onchanges, self.fail) = (false, false);
            }
            if self.onfail && self.met {
                self.onfail = false;
            }
        }
        if kind == Requisite::OnfailAll && self.onfail {
            self.met = false;
        }
        self
    }

    fn and(self, other: Seen) -> Seen {
        Seen {
            unmet: self.unmet | other.unmet,
            fail: self.fail | other.fail,
            skip_req: self.skip_req | other.skip_req,
            onfail: self.onfail | other.onfail,
            onchanges: self.onchanges | other.onchanges,
            onchanges_met: self.onchanges_met | other.onchanges_met,
            change: self.change | other.change,
            pre: self.pre | other.pre,
            pre_met: self.pre_met | other.pre_met,
            met: self.met | other.met,
        }
    }

    fn status(self) -> Status {
        match () {
            () if self.unmet => Status::Unmet,
            () if self.fail => Status::Fail,
            () if self.skip_req && (self.onchanges_met || self.pre_met) => Status::SkipReq,
            () if self.skip_req && self.change => Status::SkipWatch,
            () if self.pre => {
                if self.pre_met {
                    Status::Met
                } else {
                    Status::Pre
                }
            }
            () if self.onfail && !self.onchanges_met => Status::Onfail,
            () if self.onchanges && !self.onchanges_met => Status::Onchanges,
            () if self.change => Status::Change,
            () if self.onfail => Status::Onfail,
            () => Status::Met,
        }
    }
}
