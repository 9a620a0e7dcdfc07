//! `pkg.held`, `pkg.unheld`.

use super::super::{Look, Outcome, Plan, State, already, ask};
use super::wanted::pairs;
use crate::exec::{Ctx, Fault};
use crate::record;
use crate::wire::record::Keywords;
use crate::wire::value::{Map, Value};

record! {
    /// Makes sure that packages are held: they are not upgraded.
    ///
    ///   linux-image-amd64:
    ///     pkg.held: []
    pub struct Held {
        /// The package, where `pkgs` names none.
        name: String,
        /// Taken, not used: a package is held whatever its version.
        version: Value = (),
        /// A list of names.
        pkgs: Value = (),
        /// All others are let go.
        replace: bool = false,
        kwargs: Keywords,
    }
}

impl State for Held {
    fn plan(self, look: &Look) -> Result<Plan, Fault> {
        if self.pkgs.as_list().is_some_and(<[Value]>::is_empty) && !self.replace {
            return Ok(already("No packages to be held provided"));
        }
        let names = names(&self.name, &self.pkgs);
        let held = held(look.ctx)?;
        let missing: Vec<String> = names.iter().filter(|name| !held.contains(name)).cloned().collect();
        let others: Vec<String> = match self.replace {
            true => held.into_iter().filter(|name| !names.contains(name)).collect(),
            false => Vec::new(),
        };
        let mut comments: Vec<String> =
            missing.iter().map(|name| format!("The following package would be held: {name}")).collect();
        comments.extend(others.iter().map(|name| format!("The following package would be unheld: {name}")));
        if comments.is_empty() {
            return Ok(already("No changes made"));
        }
        let apply = move |ctx: &Ctx| {
            let mut told = Told::default();
            for name in &missing {
                told.hold(ctx, name)?;
            }
            for name in &others {
                told.unhold(ctx, name)?;
            }
            Ok(told.outcome())
        };
        // Salt calls that a success in test mode, not a change.
        Ok(Plan::Changes { would: Outcome::done(comments.join("\n")), apply: Box::new(apply) })
    }
}

record! {
    /// Makes sure that packages are not held.
    ///
    ///   linux-image-amd64:
    ///     pkg.unheld: []
    pub struct Unheld {
        /// The package, where `pkgs` names none.
        name: String,
        /// Taken, not used: a package is held whatever its version.
        version: Value = (),
        /// A list of names.
        pkgs: Value = (),
        /// All packages that are held.
        all: bool = false,
        kwargs: Keywords,
    }
}

impl State for Unheld {
    fn plan(self, look: &Look) -> Result<Plan, Fault> {
        if self.pkgs.as_list().is_some_and(<[Value]>::is_empty) && !self.all {
            return Ok(already("No packages to be unheld provided"));
        }
        let names = names(&self.name, &self.pkgs);
        let found: Vec<String> = held(look.ctx)?.into_iter().filter(|name| self.all || names.contains(name)).collect();
        if found.is_empty() {
            return Ok(already("No changes made"));
        }
        let comments: Vec<String> =
            found.iter().map(|name| format!("The following package would be unheld: {name}")).collect();
        let apply = move |ctx: &Ctx| {
            let mut told = Told::default();
            for name in &found {
                told.unhold(ctx, name)?;
            }
            Ok(told.outcome())
        };
        Ok(Plan::Changes { would: Outcome::done(comments.join("\n")), apply: Box::new(apply) })
    }
}

fn names(name: &str, pkgs: &Value) -> Vec<String> {
    match pkgs {
        Value::Null => vec![name.to_owned()],
        pkgs => pairs(pkgs).unwrap_or_default().into_iter().map(|(name, _)| name).collect(),
    }
}

/// The packages that are held.
fn held(ctx: &Ctx) -> Result<Vec<String>, Fault> {
    let answer = ask(ctx, "pkg.get_selections", [("state", "hold".into())])?;
    let held = answer.at("hold").and_then(Value::as_list).unwrap_or_default();
    Ok(held.iter().map(Value::to_text).collect())
}

/// What is told of all packages together.
#[derive(Default)]
struct Told {
    comments: Vec<String>,
    changes: Map,
    has_failed: bool,
}

impl Told {
    fn hold(&mut self, ctx: &Ctx, name: &str) -> Result<(), Fault> {
        let done = self.call(ctx, "pkg.hold", name)?.is_some();
        let what = if done { "is now being held" } else { "was not held" };
        self.comments.push(format!("Package {name} {what}"));
        Ok(())
    }

    fn unhold(&mut self, ctx: &Ctx, name: &str) -> Result<(), Fault> {
        if let Some(one) = self.call(ctx, "pkg.unhold", name)? {
            self.comments.extend(one.at("comment").map(Value::to_text).filter(|comment| !comment.is_empty()));
        }
        Ok(())
    }

    /// What a function says of a package where it has succeeded.
    fn call(&mut self, ctx: &Ctx, function: &str, name: &str) -> Result<Option<Value>, Fault> {
        let answer = ask(ctx, function, [("pkgs", Value::list([name]))])?;
        self.changes.extend(answer.as_map().cloned().unwrap_or_default());
        let one = answer.at(name).cloned().filter(|one| one.at("result").is_some_and(Value::truthy));
        self.has_failed |= one.is_none();
        Ok(one)
    }

    fn outcome(self) -> Outcome {
        Outcome::new(Some(!self.has_failed), self.comments.join("\n")).with_changes(self.changes)
    }
}
