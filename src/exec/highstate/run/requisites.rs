//! What the requisites of a state allow, given what became of those that it names.

use super::super::graph::Step;
use super::super::requisite::Requisite;
use super::Runner;
use crate::wire::value::{Map, Value};

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

/// The requisites of a state, by kind.
pub type Found = Vec<(Requisite, Vec<Step>)>;

/// What was seen of requisites.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
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
    pub(super) fn status(&self, node: usize) -> (Status, Found) {
        let mut found: Found = Vec::new();
        for (kind, step) in self.graph.dependencies(node) {
            match found.iter_mut().find(|(other, _)| *other == kind) {
                Some((_, steps)) => steps.push(step),
                None => found.push((kind, vec![step])),
            }
        }
        let all = found.iter().map(|(kind, steps)| self.seen(*kind, steps)).fold(Seen::default(), Seen::and);
        (all.status(), found)
    }

    fn result_for(&self, kind: Requisite, step: &Step) -> Option<&Map> {
        let results = if kind.base() == Requisite::Prereq { &self.checked } else { &self.results };
        results.get(step.chunk)?.as_ref()
    }

    /// What was seen of the requisites of one kind.
    fn seen(&self, kind: Requisite, steps: &[Step]) -> Seen {
        let mut seen = Seen::default();
        for step in steps {
            match self.result_for(kind, step) {
                Some(result) => seen.add(kind.base(), result),
                None => seen.unmet = true,
            }
        }
        if kind.is_any() {
            if seen.met || seen.change {
                seen.fail = false;
            }
            if seen.onchanges_met {
                (seen.onchanges, seen.fail) = (false, false);
            }
            if seen.onfail && seen.met {
                seen.onfail = false;
            }
        }
        if kind == Requisite::OnfailAll && seen.onfail {
            seen.met = false;
        }
        seen
    }

    /// `SLS.ID` of the requisites that have failed.
    pub(super) fn failed(&self, found: &Found) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for step in found.iter().flat_map(|(_, steps)| steps) {
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
    pub(super) fn changed(&self, found: &Found) -> Vec<String> {
        let watched = found.iter().filter(|(kind, _)| *kind == Requisite::Watch).flat_map(|(_, steps)| steps);
        let has_changed = |step: &&Step| {
            let result = self.results[step.chunk].as_ref();
            result.is_some_and(|result| result.at("changes").is_some_and(Value::truthy))
        };
        let text = |step: &Step, name: &str| self.chunks[step.chunk].at(name).map(Value::to_text).unwrap_or_default();
        watched.filter(has_changed).map(|step| format!("{}: {}", text(step, "state"), text(step, "__id__"))).collect()
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
