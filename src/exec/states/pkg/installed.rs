//! `pkg.installed`.

use super::verify::{Verify, listed};
use super::version::{Rules, fulfills};
use super::wanted::{Found, Pairs, Request, newest, shown};
use super::{installed_versions, normal, note_refreshed, refreshes, troubled, versions_of};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, failed, from_to, given};
use halite_core::{Ctx, Fault};
use halite_node::package_tool::package_tool;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

record! {
    /// Makes sure that packages are installed, in any version or in a certain one.
    ///
    ///   httpd:
    ///     pkg.installed:
    ///       - version: '>=2.4'
    ///   mypkgs:
    ///     pkg.installed:
    ///       - pkgs:
    ///         - foo
    ///         - bar: 1.2.3-4
    pub struct Installed {
        /// The package, where `pkgs` and `sources` name none.
        name: String,
        /// Its version, `latest`, or conditions such as `'>=1.2, <2'`.
        version: Value = (),
        /// Read the lists of packages anew first; once a run, if not given.
        refresh: Value = (),
        /// Where packages come from: a release, or a repository.
        fromrepo: Option<String> = (),
        /// Install what nobody has signed.
        skip_verify: bool = false,
        /// Taken, not used: there are no suggestions for names that are not known.
        skip_suggestions: bool = false,
        /// A list of names, or of `NAME: VERSION`.
        pkgs: Value = (),
        /// A list of `NAME: ADDRESS` of packages that are files.
        sources: Value = (),
        /// A newer version is as good as the one that is named.
        allow_updates: bool = false,
        /// Install again what is installed and whose files were altered, with rpm: True, or a list of `ignore_types` (kinds of
        /// files that do not count: config, doc, ghost, license, readme) and `verify_options` (of rpm, without their hyphens).
        pkg_verify: Value = false,
        /// Taken, not used: the host's own architecture is always left out of names.
        normalize: bool = true,
        /// Whether what stands before a colon in versions counts not.
        ignore_epoch: Option<bool> = (),
        /// Install again what is installed.
        reinstall: bool = false,
        /// Change packages that are held.
        update_holds: bool = false,
        /// `hold`: whether they are held from then on; what `pkg.install` takes.
        kwargs: Keywords,
    }
}

impl State for Installed {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        if self.pkgs.as_list().is_some_and(<[Value]>::is_empty) {
            return Ok(already("No packages to install provided"));
        }
        let verify = match Verify::asked(&self.pkg_verify, self.kwargs.0.str_at("root")) {
            Ok(verify) => verify,
            Err(wrong) => return Ok(failed(wrong)),
        };
        if verify.is_some() && !matches!(package_tool(ctx).ok(), Some("dnf" | "zypper")) {
            return Ok(failed("pkg.verify not implemented"));
        }
        let version = (!self.version.is_null()).then(|| self.version.to_text());
        let request = Request {
            name: self.name.clone(),
            version,
            pkgs: self.pkgs.clone(),
            sources: self.sources.clone(),
            reinstall: self.reinstall,
            verify,
            rules: Rules { ignore_epoch: self.ignore_epoch, allow_updates: self.allow_updates },
        };
        let found = request.find(ctx)?;
        let hold = self.kwargs.0.at("hold").map(Value::truthy);
        if found.is_empty() {
            let end = match found.compared && !self.sources.truthy() {
                true => " and are at the desired version",
                false => "",
            };
            let done = Outcome::done(format!("All specified packages are already installed{end}"));
            let Some(hold) = hold else { return Ok(Plan::Stands(done)) };
            let would = done.clone();
            let done = Outcome { comment: done.comment + ".", ..done };
            return Ok(Plan::Changes { would, apply: Box::new(move |ctx| held_too(ctx, &found, hold, done)) });
        }
        let would = self.would(ctx, &found)?;
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| self.install(ctx, found, hold)) })
    }
}

impl Installed {
    fn would(&self, ctx: &Ctx, found: &Found) -> Result<Outcome, Fault> {
        let mut changes = Map::new();
        let mut comment = Vec::new();
        if !found.targets.is_empty() {
            let names: Vec<String> = found.targets.iter().map(|(name, _)| name.clone()).collect();
            let bare: Vec<String> = match self.sources.truthy() {
                true => Vec::new(),
                false => found.targets.iter().filter(|(_, version)| version.is_none()).map(shown).collect(),
            };
            let versions = if bare.is_empty() { Vec::new() } else { newest(ctx, &bare)? };
            for pair in &found.targets {
                let name = &pair.0;
                let new = match pair.1.is_some() && !self.sources.truthy() {
                    true => offered(ctx, pair)?,
                    false => bare.iter().position(|other| other == name).and_then(|at| versions.get(at)?.clone()),
                };
                changes.insert(name.as_str(), from_new(new.unwrap_or_else(|| "installed".to_owned())));
            }
            comment.push(format!("The following packages would be installed/updated: {}", names.join(", ")));
        }
        if !found.unpurged.is_empty() {
            comment.push(format!(
                "The following packages would have their selection status changed from 'purge' to 'install': {}",
                found.unpurged.join(", ")
            ));
            changes.extend(found.unpurged.iter().map(|name| (name.as_str(), from_new("installed"))).collect());
        }
        for (name, files) in &found.altered {
            comment.push(format!(
                "Package '{}' would be reinstalled because the following files have been altered:\n{}",
                self.as_asked(found, name),
                listed(ctx, files)
            ));
            changes.insert(name.as_str(), Map::new());
        }
        if self.reinstall && !found.reinstalled.is_empty() {
            let names: Vec<String> = found.reinstalled.iter().map(|pair| self.shown(pair)).collect();
            comment.push(format!("The following packages would be reinstalled: {}", names.join(", ")));
            changes.extend(names.iter().map(|name| (name.as_str(), from_new("installed"))).collect());
        }
        Ok(Outcome::new(None, comment.join("\n")).with_changes(changes))
    }

    /// A package as results name it: files have no version there.
    fn shown(&self, pair: &(String, Option<String>)) -> String {
        if self.sources.truthy() { pair.0.clone() } else { shown(pair) }
    }

    /// A package as results name it, with the version that the SLS asks for.
    fn as_asked(&self, found: &Found, name: &str) -> String {
        let asked = found.desired.iter().find(|(other, _)| other == name);
        asked.map_or_else(|| name.to_owned(), |pair| self.shown(pair))
    }

    fn install(self, ctx: &Ctx, found: Found, hold: Option<bool>) -> Result<Outcome, Fault> {
        let mut changes = Map::new();
        if !found.targets.is_empty() || !found.reinstalled.is_empty() {
            let refresh = refreshes(ctx, &self.refresh);
            let pairs: Vec<Value> = found
                .targets
                .iter()
                .chain(&found.reinstalled)
                .map(|(name, version)| Map::from_iter([(name.as_str(), Value::from(version.clone()))]).into())
                .collect();
            let kind = if self.sources.truthy() { "sources" } else { "pkgs" };
            let mut arguments = self.kwargs.0.clone();
            arguments.remove("hold");
            arguments.extend(given([
                (kind, Value::List(pairs)),
                ("refresh", refresh.into()),
                ("fromrepo", self.fromrepo.clone().into()),
                ("skip_verify", self.skip_verify.into()),
                ("reinstall", (!found.reinstalled.is_empty()).into()),
                ("ignore_epoch", self.ignore_epoch.into()),
            ]));
            if refresh {
                note_refreshed(ctx);
            }
            match ctx.run("pkg.install", Arguments::keywords(arguments)) {
                Ok(Value::Map(done)) => changes.extend(done),
                Ok(_) => {}
                Err(fault) => return Ok(troubled("installing package(s)", &fault)),
            }
        }
        if !found.unpurged.is_empty() {
            let selection = Map::from_iter(found.unpurged.iter().map(|name| (name.as_str(), "install")));
            let done = ask(ctx, "pkg.set_selections", [("selection", Value::list([selection]))])?;
            changes.insert("purge_desired", done);
        }
        self.told(ctx, found, changes, hold)
    }

    /// Whose installation again has succeeded and whose has not, with the files that were altered.
    fn remedied(&self, ctx: &Ctx, found: &Found, changes: &Map) -> Result<(Remedied, Remedied), Fault> {
        let (mut again, mut still) = (Remedied::new(), Remedied::new());
        for (name, _) in &found.reinstalled {
            let shown = self.as_asked(found, name);
            let altered = found.altered.iter().find(|(other, _)| other == name).map(|(_, files)| files);
            let (Some(verify), Some(before)) = (&found.verify, altered) else {
                let list = if changes.contains(name) { &mut again } else { &mut still };
                list.push((shown, None));
                continue;
            };
            let now = verify.altered(ctx, name)?;
            match now.is_empty() {
                true => again.push((shown, Some(listed(ctx, before)))),
                false => still.push((shown, Some(listed(ctx, &now)))),
            }
        }
        Ok((again, still))
    }

    fn told(&self, ctx: &Ctx, found: Found, changes: Map, hold: Option<bool>) -> Result<Outcome, Fault> {
        let rules = Rules { ignore_epoch: self.ignore_epoch, allow_updates: false };
        let now = installed_versions(ctx)?;
        let is = |list: &Pairs, name: &String| list.iter().any(|(other, _)| other == name);
        let (mut modified, mut same, mut failures) = (Vec::new(), Vec::new(), Vec::new());
        for pair in &found.desired {
            let (name, wanted) = pair;
            let versions = match versions_of(&now, name) {
                none if none.is_empty() => versions_of(&now, &normal(ctx, name)?),
                versions => versions,
            };
            let wanted = wanted.as_deref().filter(|wanted| !self.sources.truthy() && !wanted.is_empty());
            let is_there = match (self.sources.truthy(), wanted) {
                (true, _) => !is(&found.targets, name) || changes.contains(name),
                (false, None) => !versions.is_empty(),
                (false, Some(wanted)) => !versions.is_empty() && fulfills(ctx, &versions, wanted, rules)?,
            };
            let list = match (is_there, is(&found.targets, name), is(&found.reinstalled, name)) {
                (true, true, _) => &mut modified,
                (true, false, false) => &mut same,
                (false, true, _) => &mut failures,
                _ => continue,
            };
            list.push(self.shown(pair));
        }
        let mut comment = Vec::new();
        if !failures.is_empty() {
            comment.push(format!("The following packages failed to install/update: {}", failures.join(", ")));
        }
        if !modified.is_empty() {
            comment.push(summary(
                &modified,
                modified.join(", ").len() < 20,
                |names| format!("The following packages were installed/updated: {names}"),
                "installed/updated.",
            ));
        }
        if !same.is_empty() {
            comment.push(summary(
                &same,
                same.len() <= 20,
                |names| format!("The following packages were already installed: {names}"),
                "already installed",
            ));
        }
        let (again, still) = self.remedied(ctx, &found, &changes)?;
        let succeeded = failures.is_empty() && still.is_empty();
        comment.extend(again.iter().map(|(shown, files)| match files {
            None => format!("Package {shown} was reinstalled."),
            Some(files) => format!("Package {shown} was reinstalled. The following files were remediated:\n{files}"),
        }));
        comment.extend(still.iter().map(|(shown, files)| {
            let told = format!("Reinstall was not successful for package {shown}.");
            match files {
                None => told,
                Some(files) => format!("{told} The following files could not be remediated:\n{files}"),
            }
        }));
        let outcome = Outcome::new(Some(succeeded), comment.join("\n")).with_changes(changes);
        match hold {
            Some(hold) => held_too(ctx, &found, hold, outcome),
            None => Ok(outcome),
        }
    }
}

/// Packages as results name them, each with its altered files where these were the reason.
type Remedied = Vec<(String, Option<String>)>;

/// The version that a repository has of what is asked for; nothing where it has none that is named so.
fn offered(ctx: &Ctx, pair: &(String, Option<String>)) -> Result<Option<String>, Fault> {
    let listed = ctx.run("pkg.list_repo_pkgs", Arguments::positional([shown(pair)]))?;
    let versions = listed.at(&pair.0).and_then(Value::as_list).unwrap_or_default();
    Ok(versions.first().map(Value::to_text))
}

fn from_new(new: impl Into<Value>) -> Value {
    Map::from_iter([("new", new.into()), ("old", "".into())]).into()
}

fn summary(names: &[String], lists: bool, listed: impl Fn(&str) -> String, done: &str) -> String {
    match (lists, names.len()) {
        (true, _) => listed(&names.join(", ")),
        (false, 1) => format!("1 targeted package was {done}"),
        (false, count) => format!("{count} targeted packages were {done}"),
    }
}

/// Holds the packages or lets them go, and adds what came of that.
fn held_too(ctx: &Ctx, found: &Found, hold: bool, mut outcome: Outcome) -> Result<Outcome, Fault> {
    let function = if hold { "pkg.hold" } else { "pkg.unhold" };
    let names = Value::list(found.desired.iter().map(|(name, _)| name.as_str()));
    let answer = match ask(ctx, function, [("pkgs", names)]) {
        Ok(answer) => answer,
        Err(fault) => {
            outcome.result = Some(false);
            outcome.comment = format!("{}\n{fault}", outcome.comment).trim().to_owned();
            return Ok(outcome);
        }
    };
    for (name, one) in answer.as_map().into_iter().flat_map(Map::iter) {
        let comment = one.at("comment").map(Value::to_text).unwrap_or_default();
        outcome.comment = format!("{}\n{comment}", outcome.comment).trim().to_owned();
        if let Some(changes) = one.at("changes").filter(|changes| changes.truthy()) {
            let text = |map: &Value, key: &str| map.at(key).map(Value::to_text).unwrap_or_default();
            match outcome.changes.at_value_mut(name) {
                Some(Value::Map(own)) => {
                    let had = Value::Map(own.clone());
                    let joined = |key: &str| {
                        [text(&had, key), text(changes, key)]
                            .into_iter()
                            .filter(|text| !text.is_empty())
                            .collect::<Vec<String>>()
                            .join("\n")
                    };
                    *own = from_to(joined("old"), joined("new"));
                }
                _ => drop(outcome.changes.insert(name.clone(), changes.clone())),
            }
        }
        if one.at("result") == Some(&Value::Bool(false)) {
            outcome.result = Some(false);
        }
    }
    Ok(outcome)
}
