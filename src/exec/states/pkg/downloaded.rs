//! `pkg.downloaded`.

use super::version::{Rules, fulfills};
use super::wanted::{Pairs, pairs, shown};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, failed, given};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

record! {
    /// Makes sure that packages are fetched, but not installed.
    ///
    ///   zsh:
    ///     pkg.downloaded:
    ///       - version: 5.0.5-4.63
    pub struct Downloaded {
        /// The package, where `pkgs` names none.
        name: String,
        /// Its version.
        version: Value = (),
        /// A list of names, or of `NAME: VERSION`.
        pkgs: Value = (),
        /// Where packages come from: a release, or a repository.
        fromrepo: Option<String> = (),
        /// Whether what stands before a colon in versions counts not.
        ignore_epoch: Option<bool> = (),
        kwargs: Keywords,
    }
}

impl State for Downloaded {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        if self.pkgs.as_list().is_some_and(<[Value]>::is_empty) {
            return Ok(already("No packages to download provided"));
        }
        let version = (!self.version.is_null()).then(|| self.version.to_text());
        let wanted = match self.pkgs.truthy() {
            true => pairs(&self.pkgs),
            false => Some(vec![(self.name.clone(), version)]),
        };
        let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else {
            return Ok(failed("Invalidly formatted pkgs parameter. See minion log."));
        };
        let Ok(there) = ask(ctx, "pkg.list_downloaded", []) else {
            return Ok(failed("The pkg.downloaded state is not available on this platform"));
        };
        let rules = Rules { ignore_epoch: self.ignore_epoch, allow_updates: false };
        let (mut targets, mut compared) = (Pairs::new(), false);
        for (name, version) in wanted {
            let fits = is_there(ctx, &there, &name, version.as_deref(), rules)?;
            compared |= version.is_some() && !versions(&there, &name).is_empty();
            if !fits {
                targets.push((name, version));
            }
        }
        if targets.is_empty() {
            let matching = if compared { " (matching specified versions)" } else { "" };
            return Ok(already(format!("All specified packages{matching} are already downloaded")));
        }
        let names: Vec<&str> = targets.iter().map(|(name, _)| name.as_str()).collect();
        let would = Outcome::new(None, format!("The following packages would be downloaded: {}", names.join(", ")));
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| self.download(ctx, &targets, rules)) })
    }
}

fn versions(there: &Value, name: &str) -> Vec<String> {
    there.at(name).and_then(Value::as_map).map(|all| all.keys().map(Value::to_text).collect()).unwrap_or_default()
}

fn is_there(ctx: &Ctx, there: &Value, name: &str, version: Option<&str>, rules: Rules) -> Result<bool, Fault> {
    let versions = versions(there, name);
    match version {
        _ if versions.is_empty() => Ok(false),
        None => Ok(true),
        Some(version) => fulfills(ctx, &versions, version, rules),
    }
}

impl Downloaded {
    fn download(self, ctx: &Ctx, targets: &Pairs, rules: Rules) -> Result<Outcome, Fault> {
        let pkgs = Value::list(
            targets.iter().map(|(name, version)| Map::from_iter([(name.as_str(), Value::from(version.clone()))])),
        );
        let mut arguments = self.kwargs.0.clone();
        arguments.extend(given([
            ("pkgs", pkgs),
            ("downloadonly", true.into()),
            ("fromrepo", self.fromrepo.clone().into()),
        ]));
        let changes = match ctx.run("pkg.install", Arguments::keywords(arguments)) {
            Ok(changes) => changes.as_map().cloned().unwrap_or_default(),
            Err(fault) => return Ok(super::troubled("downloading package(s)", &fault)),
        };
        let there = ask(ctx, "pkg.list_downloaded", [])?;
        let mut missing = Vec::new();
        for pair in targets {
            if !is_there(ctx, &there, &pair.0, pair.1.as_deref(), rules)? {
                missing.push(shown(pair));
            }
        }
        if !missing.is_empty() {
            let comment = format!("The following packages failed to download: {}", missing.join(", "));
            return Ok(Outcome::failed(comment).with_changes(changes));
        }
        let comment = match changes.is_empty() {
            true => {
                let names: Vec<&str> = targets.iter().map(|(name, _)| name.as_str()).collect();
                format!("Packages downloaded: {}", names.join(", "))
            }
            false => String::new(),
        };
        Ok(Outcome::done(comment).with_changes(changes))
    }
}
