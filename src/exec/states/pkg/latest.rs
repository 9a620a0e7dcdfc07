//! `pkg.latest`.

use super::wanted::pairs;
use super::{note_refreshed, refreshes};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, failed, given};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

record! {
    /// Makes sure that packages are installed in the newest version that there is.
    ///
    ///   mypkgs:
    ///     pkg.latest:
    ///       - pkgs:
    ///         - foo
    ///         - bar
    pub struct Latest {
        /// The package, where `pkgs` names none.
        name: String,
        /// Read the lists of packages anew first; once a run, if not given.
        refresh: Value = (),
        /// Where packages come from: a release, or a repository.
        fromrepo: Option<String> = (),
        /// Install what nobody has signed.
        skip_verify: bool = false,
        /// A list of names.
        pkgs: Value = (),
        /// Taken, not used: for Gentoo.
        watch_flags: bool = true,
        kwargs: Keywords,
    }
}

impl State for Latest {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        if self.kwargs.0.at("sources").is_some_and(Value::truthy) {
            return Ok(failed("The \"sources\" parameter is not supported."));
        }
        let names: Vec<String> = match &self.pkgs {
            Value::List(items) if items.is_empty() => return Ok(already("No packages to install provided")),
            pkgs if pkgs.truthy() => match pairs(pkgs).filter(|pairs| !pairs.is_empty()) {
                Some(pairs) => pairs.into_iter().map(|(name, _)| name).collect(),
                None => return Ok(failed("Invalidly formatted \"pkgs\" parameter. See minion log.")),
            },
            _ => vec![self.name.clone()],
        };
        let work = Work { names, state: self };
        // The lists cannot be read anew while one only looks: what is announced is what is known now.
        let refreshes = refreshes(context.ctx, &work.state.refresh);
        let found = work.find(context.ctx)?;
        let would = work.would(&found);
        if !refreshes && !matches!(&found, Found::Newer(_)) {
            return Ok(Plan::Stands(would));
        }
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| work.apply(ctx, refreshes)) })
    }
}

struct Work {
    names: Vec<String>,
    state: Latest,
}

/// What is to be done.
enum Found {
    Wrong(String),
    Current,
    /// Names with their new and old versions.
    Newer(Vec<(String, String, String)>),
}

impl Work {
    fn find(&self, ctx: &Ctx) -> Result<Found, Fault> {
        let names = Arguments::positional(self.names.iter().map(String::as_str));
        let asked = names.clone().with("refresh", false);
        let asked = match &self.state.fromrepo {
            Some(repo) => asked.with("fromrepo", repo.as_str()),
            None => asked,
        };
        let available = match ctx.run("pkg.latest_version", asked) {
            Ok(available) => available,
            Err(fault) => {
                return Ok(Found::Wrong(format!(
                    "An error was encountered while checking the newest available version of package(s): {fault}"
                )));
            }
        };
        let installed = ctx.run("pkg.version", names)?;
        let of = |answer: &Value, name: &str| match answer {
            Value::Map(map) => map.at(name).map(Value::to_text).unwrap_or_default(),
            other => other.to_text(),
        };
        let (mut newer, mut problems) = (Vec::new(), Vec::new());
        for name in &self.names {
            let (new, old) = (of(&available, name), of(&installed, name));
            match (new.is_empty(), old.is_empty()) {
                (true, true) => problems.push(format!("No information found for '{name}'.")),
                (true, false) => {}
                (false, _) => newer.push((name.clone(), new, old)),
            }
        }
        Ok(match (problems.is_empty(), newer.is_empty()) {
            (false, _) => Found::Wrong(problems.join(" ")),
            (true, true) => Found::Current,
            (true, false) => Found::Newer(newer),
        })
    }

    /// Those of the list that need nothing.
    fn current(&self, newer: &[(String, String, String)]) -> Vec<String> {
        let is_newer = |name: &String| newer.iter().any(|(other, ..)| other == name);
        let mut names: Vec<String> = match self.state.pkgs.truthy() {
            true => self.names.iter().filter(|name| !is_newer(name)).cloned().collect(),
            false => Vec::new(),
        };
        names.sort();
        names
    }

    fn would(&self, found: &Found) -> Outcome {
        match found {
            Found::Wrong(wrong) => Outcome::failed(wrong.clone()),
            Found::Current => Outcome::done(self.all_current()),
            Found::Newer(newer) => {
                let mut names: Vec<&str> = newer.iter().map(|(name, ..)| name.as_str()).collect();
                names.sort_unstable();
                let mut comment = format!("The following packages would be installed/upgraded: {}", names.join(", "));
                let current = self.current(newer);
                if current.len() > 10 {
                    comment.push_str(&format!("\n{} packages are already up-to-date", current.len()));
                } else if !current.is_empty() {
                    comment
                        .push_str(&format!("\nThe following packages are already up-to-date: {}", current.join(", ")));
                }
                let change = |(name, new, old): &(String, String, String)| {
                    let change = Map::from_iter([("new", new.as_str()), ("old", old.as_str())]);
                    (Value::from(name.as_str()), Value::from(change))
                };
                Outcome::new(None, comment).with_changes(newer.iter().map(change).collect())
            }
        }
    }

    fn all_current(&self) -> String {
        match self.names.as_slice() {
            [one] => format!("Package {one} is already up-to-date"),
            several if several.len() > 10 => format!("All {} packages are up-to-date.", several.len()),
            several => {
                let mut several = several.to_vec();
                several.sort();
                format!("All packages are up-to-date ({}).", several.join(", "))
            }
        }
    }

    fn apply(self, ctx: &Ctx, refresh: bool) -> Result<Outcome, Fault> {
        if refresh {
            note_refreshed(ctx);
            if let Err(fault) = ask(ctx, "pkg.refresh_db", []) {
                log::warn!("the lists of packages could not be read anew: {fault}");
            }
        }
        let found = self.find(ctx)?;
        let Found::Newer(newer) = found else { return Ok(self.would(&found)) };
        let mut arguments = self.state.kwargs.0.clone();
        arguments.extend(given([
            ("refresh", false.into()),
            ("fromrepo", self.state.fromrepo.clone().into()),
            ("skip_verify", self.state.skip_verify.into()),
            ("pkgs", Value::list(newer.iter().map(|(name, ..)| name.as_str()))),
        ]));
        let changes = match ctx.run("pkg.install", Arguments::keywords(arguments)) {
            Ok(changes) => changes.as_map().cloned().unwrap_or_default(),
            Err(fault) => {
                return Ok(Outcome::failed(format!("An error was encountered while installing package(s): {fault}")));
            }
        };
        Ok(self.told(newer, changes))
    }

    fn told(&self, newer: Vec<(String, String, String)>, changes: Map) -> Outcome {
        let mut current = self.current(&newer);
        let also = match current.len() {
            0 => None,
            1..=10 => Some(format!("The following packages were already up-to-date: {}", current.join(", "))),
            count => Some(format!("{count} packages were already up-to-date ")),
        };
        current.clear();
        let mut names: Vec<&str> = newer.iter().map(|(name, ..)| name.as_str()).collect();
        names.sort_unstable();
        if changes.is_empty() {
            let comment = match names.as_slice() {
                [one] => format!("Package {one} failed to update."),
                several if several.len() > 10 => {
                    format!("{} targeted packages failed to update. See debug log for details.", several.len())
                }
                several => format!(
                    "The following targeted packages failed to update. See debug log for details: ({}).",
                    several.join(", ")
                ),
            };
            let comment = also.map_or(comment.clone(), |also| format!("{comment} {also}"));
            return Outcome::failed(comment).with_changes(changes);
        }
        let is_done = |(name, new, _): &&(String, String, String)| {
            let now = changes.at(name).and_then(|change| change.at("new")).map(Value::to_text);
            now.is_some_and(|now| now.split(',').any(|version| version == new))
        };
        let named = |done: bool| {
            let mut names: Vec<&str> =
                newer.iter().filter(|one| is_done(one) == done).map(|(name, ..)| name.as_str()).collect();
            names.sort_unstable();
            names.join(", ")
        };
        let (failures, successes) = (named(false), named(true));
        let mut comments = Vec::new();
        if !failures.is_empty() {
            comments.push(format!("The following packages failed to update: {failures}"));
        }
        if !successes.is_empty() {
            comments.push(format!("The following packages were successfully installed/upgraded: {successes}"));
        }
        comments.extend(also);
        Outcome::new(Some(failures.is_empty()), comments.join(" ")).with_changes(changes)
    }
}
