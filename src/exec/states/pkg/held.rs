//! `pkg.held`, `pkg.unheld`.

use super::wanted::{Pairs, pairs};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, failed};
use halite_core::{Ctx, Fault};
use halite_node::package_tool::package_tool;
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

const NO_LOCKS: &str = "No any function to get the list of held packages available.\nCheck if the package manager supports \
                        package locking.";

record! {
    /// Makes sure that packages are held: they are not upgraded.
    ///
    ///   linux-image-amd64:
    ///     pkg.held: []
    pub struct Held {
        /// The package, where `pkgs` names none.
        name: String,
        /// Its version, with zypper; others hold a package whatever its version.
        version: Value = (),
        /// A list of names, or of `NAME: VERSION`.
        pkgs: Value = (),
        /// All others are let go.
        replace: bool = false,
        kwargs: Keywords,
    }
}

impl State for Held {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        if self.pkgs.as_list().is_some_and(<[Value]>::is_empty) && !self.replace {
            return Ok(already("No packages to be held provided"));
        }
        let wanted = wanted(&self.name, &self.version, &self.pkgs);
        let Some(locks) = locks(context.ctx)? else { return Ok(failed(NO_LOCKS)) };
        let find = |name: &str| locks.iter().find(|lock| lock.name == name);
        let mut missing: Vec<(String, Option<String>, bool)> = Vec::new();
        for (name, version) in &wanted {
            let lock = find(name);
            if lock.is_none_or(|lock| lock.has_versions && lock.version != *version) {
                missing.push((name.clone(), version.clone(), lock.is_some()));
            }
        }
        let is_other = |lock: &&Lock| lock.is_package && !wanted.iter().any(|(name, _)| *name == lock.name);
        let others: Vec<String> = match self.replace {
            true => locks.iter().filter(is_other).map(|lock| lock.name.clone()).collect(),
            false => Vec::new(),
        };
        let would = |(name, version, is_held): &(String, Option<String>, bool)| {
            let version = version.as_ref().map(|version| format!(" (version = {version})")).unwrap_or_default();
            match is_held {
                true => format!("The following package's hold rule would be updated: {name}{version}"),
                false => format!("The following package would be held: {name}{version}"),
            }
        };
        let mut comments: Vec<String> = missing.iter().map(would).collect();
        comments.extend(others.iter().map(|name| format!("The following package would be unheld: {name}")));
        if comments.is_empty() {
            return Ok(already("No changes made"));
        }
        let apply = move |ctx: &Ctx| {
            let mut told = Told::default();
            for (name, version, is_held) in &missing {
                told.hold(ctx, name, version.as_deref(), *is_held)?;
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
        /// The version that is let go, with zypper; others hold a package whatever its version.
        version: Value = (),
        /// A list of names, or of `NAME: VERSION`.
        pkgs: Value = (),
        /// All packages that are held.
        all: bool = false,
        kwargs: Keywords,
    }
}

impl State for Unheld {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        if self.pkgs.as_list().is_some_and(<[Value]>::is_empty) && !self.all {
            return Ok(already("No packages to be unheld provided"));
        }
        let wanted = wanted(&self.name, &self.version, &self.pkgs);
        let Some(locks) = locks(context.ctx)? else { return Ok(failed(NO_LOCKS)) };
        let version_of = |lock: &Lock| wanted.iter().find(|(name, _)| *name == lock.name).map(|(_, version)| version);
        let is_meant = |lock: &&Lock| {
            lock.is_package
                && (self.all
                    || version_of(lock).is_some_and(|version| {
                        !lock.has_versions || lock.version.is_none() || lock.version == *version
                    }))
        };
        let found: Vec<&Lock> = locks.iter().filter(is_meant).collect();
        if found.is_empty() {
            return Ok(already("No changes made"));
        }
        let would = |lock: &&Lock| {
            let locked = version_of(lock).and_then(Option::as_ref).and(lock.version.as_ref());
            let version = locked.map(|version| format!(" (version = {version})")).unwrap_or_default();
            format!("The following package would be unheld: {}{version}", lock.name)
        };
        let comments: Vec<String> = found.iter().map(would).collect();
        let names: Vec<String> = found.into_iter().map(|lock| lock.name.clone()).collect();
        let apply = move |ctx: &Ctx| {
            let mut told = Told::default();
            for name in &names {
                told.unhold(ctx, name)?;
            }
            Ok(told.outcome())
        };
        Ok(Plan::Changes { would: Outcome::done(comments.join("\n")), apply: Box::new(apply) })
    }
}

fn wanted(name: &str, version: &Value, pkgs: &Value) -> Pairs {
    match pkgs {
        Value::Null => {
            let version = (!version.is_null()).then(|| version.to_text()).filter(|version| !version.is_empty());
            vec![(name.to_owned(), version)]
        }
        pkgs => pairs(pkgs).unwrap_or_default(),
    }
}

/// A package that is held.
struct Lock {
    name: String,
    version: Option<String>,
    /// Whether the host's tool holds a certain version.
    has_versions: bool,
    /// zypper locks patterns and the like as well.
    is_package: bool,
}

/// What is held; nothing: the host's tool holds no packages.
fn locks(ctx: &Ctx) -> Result<Option<Vec<Lock>>, Fault> {
    let plain = |name: String| Lock { name, version: None, has_versions: false, is_package: true };
    Ok(match package_tool(ctx).ok() {
        Some("zypper") => {
            let answer = ask(ctx, "pkg.list_locks", [])?;
            let lock = |(name, lock): (&Value, &Value)| Lock {
                name: name.to_text(),
                version: lock.at("version").map(|version| version.to_text().trim_start_matches(['=', ' ']).to_owned()),
                has_versions: true,
                is_package: lock.at("type").is_none_or(|kind| kind.as_str() == Some("package")),
            };
            Some(answer.as_map().into_iter().flat_map(Map::iter).map(lock).collect())
        }
        Some("dnf") => {
            let answer = ask(ctx, "pkg.list_holds", [("full", false.into())])?;
            Some(answer.as_list().unwrap_or_default().iter().map(Value::to_text).map(plain).collect())
        }
        Some("apt") => {
            let answer = ask(ctx, "pkg.get_selections", [("state", "hold".into())])?;
            let held = answer.at("hold").and_then(Value::as_list).unwrap_or_default();
            Some(held.iter().map(Value::to_text).map(plain).collect())
        }
        _ => None,
    })
}

/// What is told of all packages together.
#[derive(Default)]
struct Told {
    comments: Vec<String>,
    changes: Map,
    has_failed: bool,
}

impl Told {
    fn hold(&mut self, ctx: &Ctx, name: &str, version: Option<&str>, is_held: bool) -> Result<(), Fault> {
        // A lock of another version goes first.
        let is_gone = is_held && is_true(&ask(ctx, "pkg.unhold", [("pkgs", Value::list([name]))])?, name);
        let one: Value = match version {
            Some(version) => Map::from_iter([(name, version)]).into(),
            None => name.into(),
        };
        let done = self.call(ctx, "pkg.hold", name, one)?.is_some();
        let what = match done {
            true if is_gone => "was updated with hold rule",
            true => "is now being held",
            false => "was not held",
        };
        self.comments.push(format!("Package {name} {what}"));
        Ok(())
    }

    fn unhold(&mut self, ctx: &Ctx, name: &str) -> Result<(), Fault> {
        if let Some(one) = self.call(ctx, "pkg.unhold", name, name.into())? {
            self.comments.extend(one.at("comment").map(Value::to_text).filter(|comment| !comment.is_empty()));
        }
        Ok(())
    }

    /// What a function says of a package where it has succeeded.
    fn call(&mut self, ctx: &Ctx, function: &str, name: &str, pkg: Value) -> Result<Option<Value>, Fault> {
        let answer = ask(ctx, function, [("pkgs", Value::List(vec![pkg]))])?;
        self.changes.extend(answer.as_map().cloned().unwrap_or_default());
        let one = is_true(&answer, name).then(|| answer.at(name).cloned()).flatten();
        self.has_failed |= one.is_none();
        Ok(one)
    }

    fn outcome(self) -> Outcome {
        Outcome::new(Some(!self.has_failed), self.comments.join("\n")).with_changes(self.changes)
    }
}

fn is_true(answer: &Value, name: &str) -> bool {
    answer.at(name).and_then(|one| one.at("result")).is_some_and(Value::truthy)
}
