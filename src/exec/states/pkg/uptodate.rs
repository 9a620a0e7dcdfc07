//! `pkg.uptodate`.

use super::note_refreshed;
use super::wanted::pairs;
use halite_core::state::{Outcome, Plan, PlanContext, State, ask, failed, from_to, given};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

record! {
    /// Upgrades all packages that can be.
    ///
    ///   all current:
    ///     pkg.uptodate:
    ///       - refresh: True
    pub struct Uptodate {
        /// Any text.
        name: String,
        /// Read the lists of packages anew first.
        refresh: Value = false,
        /// Only these packages count.
        pkgs: Value = (),
        kwargs: Keywords,
    }
}

impl State for Uptodate {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let Value::Bool(refresh) = self.refresh else {
            return Ok(failed("refresh must be either True or False"));
        };
        let names = match &self.pkgs {
            Value::List(_) => pairs(&self.pkgs).map(|pairs| pairs.into_iter().map(|(name, _)| name).collect()),
            _ => None,
        };
        let work = Work { names, more: self.kwargs.0 };
        let would = match work.expected(context.ctx) {
            Err(fault) => return Ok(failed(fault.to_string())),
            Ok(expected) if expected.is_empty() && !refresh => {
                return Ok(halite_core::state::already("System is already up-to-date"));
            }
            Ok(expected) if expected.is_empty() => Outcome::done("System is already up-to-date"),
            Ok(expected) => Outcome::new(None, "System update will be performed").with_changes(expected),
        };
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| work.upgrade(ctx, refresh)) })
    }
}

struct Work {
    names: Option<Vec<String>>,
    more: Map,
}

impl Work {
    /// What an upgrade would change, with the lists of packages that are there.
    fn expected(&self, ctx: &Ctx) -> Result<Map, Fault> {
        let mut asked = self.more.clone();
        asked.insert("refresh", false);
        let answer = ctx.run("pkg.list_upgrades", Arguments::keywords(asked))?;
        let mut expected = Map::new();
        for (name, version) in answer.as_map().into_iter().flat_map(Map::iter) {
            if self.names.as_ref().is_none_or(|names| names.contains(&name.to_text())) {
                let own = ctx.run("pkg.version", Arguments::positional([name.clone()]))?;
                expected.insert(name.clone(), from_to(own, version.clone()));
            }
        }
        Ok(expected)
    }

    fn upgrade(self, ctx: &Ctx, refresh: bool) -> Result<Outcome, Fault> {
        if refresh {
            note_refreshed(ctx);
            if let Err(fault) = ask(ctx, "pkg.refresh_db", []) {
                return Ok(Outcome::failed(fault.to_string()));
            }
        }
        let expected = self.expected(ctx)?;
        if expected.is_empty() {
            return Ok(Outcome::done("System is already up-to-date"));
        }
        let mut arguments = self.more.clone();
        arguments.extend(given([
            ("refresh", false.into()),
            ("pkgs", self.names.as_ref().map(|names| Value::list(names.iter().map(String::as_str))).into()),
        ]));
        let changes = match ctx.run("pkg.upgrade", Arguments::keywords(arguments)) {
            Ok(changes) => changes.as_map().cloned().unwrap_or_default(),
            Err(fault) => return Ok(super::troubled("updating packages", &fault)),
        };
        let missing: Vec<String> = match self.names {
            None => Vec::new(),
            Some(_) => expected.keys().map(Value::to_text).filter(|name| !changes.contains(name)).collect(),
        };
        Ok(match missing.is_empty() {
            true => Outcome::done("Upgrade ran successfully").with_changes(changes),
            false => Outcome::failed(format!("The following package(s) failed to update: {}", missing.join(", ")))
                .with_changes(changes),
        })
    }
}
