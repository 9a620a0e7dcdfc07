//! `pkg.removed`, `pkg.purged`.

use super::version::{Rules, fulfills};
use super::wanted::{Pairs, pairs};
use super::{installed_versions, normal, troubled, versions_of};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, failed};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

record! {
    /// Makes sure that packages are not installed; with apt their configuration stays.
    ///
    ///   telnet:
    ///     pkg.removed: []
    pub struct Removed {
        /// The package, where `pkgs` names none.
        name: String,
        /// Only if it is this version, or one that meets such conditions.
        version: Value = (),
        /// A list of names, or of `NAME: VERSION`.
        pkgs: Value = (),
        /// Taken, not used: the host's own architecture is always left out of names.
        normalize: bool = true,
        /// Whether what stands before a colon in versions counts not.
        ignore_epoch: Option<bool> = (),
        kwargs: Keywords,
    }
}

impl State for Removed {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let request =
            Request { name: self.name, version: self.version, pkgs: self.pkgs, ignore_epoch: self.ignore_epoch };
        request.plan(context.ctx, Action::Remove)
    }
}

record! {
    /// Makes sure that packages are not installed, and that apt has nothing left of them.
    ///
    ///   telnet:
    ///     pkg.purged: []
    pub struct Purged {
        /// The package, where `pkgs` names none.
        name: String,
        /// Only if it is this version, or one that meets such conditions.
        version: Value = (),
        /// A list of names, or of `NAME: VERSION`.
        pkgs: Value = (),
        /// Taken, not used: the host's own architecture is always left out of names.
        normalize: bool = true,
        /// Whether what stands before a colon in versions counts not.
        ignore_epoch: Option<bool> = (),
        kwargs: Keywords,
    }
}

impl State for Purged {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let request =
            Request { name: self.name, version: self.version, pkgs: self.pkgs, ignore_epoch: self.ignore_epoch };
        request.plan(context.ctx, Action::Purge)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Remove,
    Purge,
}

impl Action {
    fn verb(self) -> &'static str {
        if self == Action::Remove { "remove" } else { "purge" }
    }
}

struct Request {
    name: String,
    version: Value,
    pkgs: Value,
    ignore_epoch: Option<bool>,
}

impl Request {
    fn plan(self, ctx: &Ctx, action: Action) -> Result<Plan, Fault> {
        let Some(wanted) = self.wanted(ctx)? else {
            return Ok(failed("Invalidly formatted pkgs parameter. See minion log."));
        };
        let (mut targets, compared) = self.targets(ctx, &wanted)?;
        if targets.is_empty() && action == Action::Remove {
            let matching = if compared { " (matching specified versions)" } else { "" };
            return Ok(already(format!("All specified packages{matching} are already absent")));
        }
        if action == Action::Purge {
            let left = removed(ctx)?;
            let more = wanted.iter().map(|(name, _)| name.clone()).filter(|name| left.contains(name));
            targets.extend(more.collect::<Vec<String>>());
        }
        targets.sort();
        targets.dedup();
        let verb = action.verb();
        if targets.is_empty() {
            let partly = if action == Action::Purge { " or partially installed" } else { "" };
            return Ok(already(format!("None of the targeted packages are installed{partly}")));
        }
        let change = || Value::from(Map::from_iter([("new", format!("{verb}d")), ("old", String::new())]));
        let changes = Map::from_iter(targets.iter().map(|name| (name.as_str(), change())));
        let would = Outcome::new(None, format!("The following packages will be {verb}d: {}.", targets.join(", ")));
        let apply = move |ctx: &Ctx| apply(ctx, action, &wanted, &targets);
        Ok(Plan::Changes { would: would.with_changes(changes), apply: Box::new(apply) })
    }

    fn wanted(&self, ctx: &Ctx) -> Result<Option<Pairs>, Fault> {
        let version = self.version.truthy().then(|| self.version.to_text());
        let listed = match self.pkgs.truthy() {
            true => pairs(&self.pkgs),
            false => Some(vec![(self.name.clone(), version)]),
        };
        let Some(listed) = listed else { return Ok(None) };
        let normal = |(name, version): (String, Option<String>)| Ok((normal(ctx, &name)?, version));
        listed.into_iter().map(normal).collect::<Result<Pairs, Fault>>().map(Some)
    }

    /// The packages that are there, and whether a version was compared.
    fn targets(&self, ctx: &Ctx, wanted: &Pairs) -> Result<(Vec<String>, bool), Fault> {
        let installed = installed_versions(ctx)?;
        let rules = Rules { ignore_epoch: self.ignore_epoch, allow_updates: false };
        let (mut targets, mut compared) = (Vec::new(), false);
        for (name, version) in wanted {
            let versions = versions_of(&installed, name);
            if versions.is_empty() {
                continue;
            }
            let fits = match version {
                None => true,
                Some(version) => {
                    compared = true;
                    fulfills(ctx, &versions, version, rules)?
                }
            };
            if fits {
                targets.push(name.clone());
            }
        }
        Ok((targets, compared))
    }
}

/// Packages that are removed and have left their configuration.
fn removed(ctx: &Ctx) -> Result<Vec<String>, Fault> {
    let answer = ask(ctx, "pkg.list_pkgs", [("removed", true.into())])?;
    Ok(answer.as_map().map(|map| map.keys().map(Value::to_text).collect()).unwrap_or_default())
}

fn apply(ctx: &Ctx, action: Action, wanted: &Pairs, targets: &[String]) -> Result<Outcome, Fault> {
    let verb = action.verb();
    let arguments = Arguments::default().with("pkgs", Value::list(wanted.iter().map(|(name, _)| name.as_str())));
    let changes = match ctx.run(&format!("pkg.{verb}"), arguments) {
        Ok(changes) => changes.as_map().cloned().unwrap_or_default(),
        Err(fault) => {
            return Ok(troubled(if verb == "purge" { "purging package(s)" } else { "removing package(s)" }, &fault));
        }
    };
    let now = installed_versions(ctx)?;
    let left = if action == Action::Purge { removed(ctx)? } else { Vec::new() };
    let mut failures: Vec<&str> = wanted
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| now.contains(name) || left.iter().any(|other| other == name))
        .collect();
    failures.sort_unstable();
    if !failures.is_empty() {
        let comment = format!("The following packages failed to {verb}: {}.", failures.join(", "));
        return Ok(Outcome::failed(comment).with_changes(changes));
    }
    let mut absent: Vec<&str> = wanted
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| !targets.iter().any(|other| other == name))
        .collect();
    absent.sort_unstable();
    let comment = match absent.is_empty() {
        true => format!("All targeted packages were {verb}d."),
        false => format!(
            "The following packages were not installed: {} The following packages were {verb}d: {}.",
            absent.join(", "),
            targets.join(", ")
        ),
    };
    Ok(Outcome::done(comment).with_changes(changes))
}
