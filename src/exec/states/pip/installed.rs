//! `pip.installed`.

use super::requirement::Requirement;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, change, failed, given};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};
use pep440_rs::Version;
use std::str::FromStr;

record! {
    /// Makes sure that packages are installed, for the system or in an environment.
    ///
    ///   django:
    ///     pip.installed:
    ///       - name: django >= 4, < 5
    ///       - bin_env: /srv/venv
    pub struct Installed {
        /// The package, with the versions that will do.
        name: String,
        /// Several packages, instead of the one that is named.
        pkgs: Value = (),
        /// An old name of `bin_env`.
        pip_bin: Option<String> = (),
        /// A file of requirements, or several.
        requirements: Value = (),
        /// An environment, its Python or its pip.
        bin_env: Option<String> = (),
        /// Refused by pip from version 10 on.
        use_wheel: bool = false,
        /// Refused by pip from version 10 on.
        no_use_wheel: bool = false,
        /// What to install as it is in its directory.
        editable: Value = (),
        /// Where to look.
        index_url: Value = (),
        /// Where to look as well.
        extra_index_url: Value = (),
        /// Upgrade what is there.
        upgrade: bool = false,
        /// Install what is there again.
        force_reinstall: bool = false,
        /// Install beside what is there.
        ignore_installed: bool = false,
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
        /// Variables of the environment.
        env_vars: Value = (),
        /// Taken, not used, as by Salt.
        repo: Value = (),
        /// Whatever else pip.install takes: `log`, `proxy`, `timeout`, `find_links`, `no_index`, `target`, `no_deps`,
        /// `pre_releases`, `cert`, `trusted_host`, `no_cache_dir`, `cache_dir`, `no_binary`, `extra_args` and so on.
        kwargs: Keywords,
    }
}

/// The versions of pip that knew wheels as an option.
const WHEEL: (&str, &str) = ("1.4", "9.0.3");

impl State for Installed {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let texts = match &self.pkgs {
            Value::List(pkgs) => pkgs.iter().map(text_of).collect(),
            other if other.truthy() => return Ok(failed("pkgs argument must be formatted as a list")),
            _ => vec![self.name.clone()],
        };
        let job = Job::new(self, texts, context);
        let named = job.texts.join(";");
        let plan = job.plan(context.ctx)?;
        Ok(match plan {
            Plan::Stands(outcome) => Plan::Stands(outcome.with("name", named)),
            Plan::Changes { would, apply } => Plan::Changes {
                would: would.with("name", named.as_str()),
                apply: Box::new(move |ctx| Ok(apply(ctx)?.with("name", named))),
            },
        })
    }
}

/// An item of `pkgs`: a text, or a map of a name and its versions.
fn text_of(item: &Value) -> String {
    match item.as_map().and_then(|map| map.iter().next()) {
        Some((name, versions)) => format!("{} {}", name.to_text(), versions.to_text()),
        None => item.to_text(),
    }
}

/// What is to be installed, and how.
struct Job {
    name: String,
    texts: Vec<String>,
    by_file: bool,
    requirements: Value,
    editable: Value,
    upgrade: bool,
    force: bool,
    beside: bool,
    old_options: [(&'static str, bool); 2],
    /// Where pip is and whose: words for every function of it.
    place: Map,
    env_vars: Value,
    indexes: Map,
    /// Words for pip.install alone.
    more: Map,
    user: Option<String>,
}

impl Job {
    fn new(state: Installed, texts: Vec<String>, context: &PlanContext) -> Job {
        let bin_env = state.bin_env.or(state.pip_bin);
        let mut more = state.kwargs.0;
        more.insert("saltenv", context.saltenv);
        Job {
            name: state.name,
            texts,
            by_file: state.requirements.truthy() || state.editable.truthy(),
            requirements: state.requirements,
            editable: state.editable,
            upgrade: state.upgrade,
            force: state.force_reinstall,
            beside: state.ignore_installed,
            old_options: [("use_wheel", state.use_wheel), ("no_use_wheel", state.no_use_wheel)],
            place: given([("bin_env", bin_env.into()), ("user", state.user.clone().into()), ("cwd", state.cwd.into())]),
            env_vars: state.env_vars,
            indexes: given([("index_url", state.index_url), ("extra_index_url", state.extra_index_url)]),
            more,
            user: state.user,
        }
    }

    fn plan(self, ctx: &Ctx) -> Result<Plan, Fault> {
        let bin_env = self.place.at("bin_env").cloned().unwrap_or_default();
        let version = match ask(ctx, "pip.version", [("bin_env", bin_env)]) {
            Ok(version) => version.to_text(),
            Err(fault) => return Ok(failed(format!("Error installing '{}': {fault}", self.name))),
        };
        for (option, is_set) in self.old_options {
            if is_set && !is_within(&version, WHEEL) {
                return Ok(failed(format!(
                    "The '{option}' option is only supported in pip between {} and {}. The version of pip detected was \
                     {version}.",
                    WHEEL.0, WHEEL.1
                )));
            }
        }
        let mut wanted = Vec::new();
        if !self.by_file {
            let read: Vec<Result<Requirement, String>> =
                self.texts.iter().map(|text| Requirement::parse(text)).collect();
            let wrong: Vec<String> = read.iter().filter_map(|read| read.as_ref().err().cloned()).collect();
            if !wrong.is_empty() {
                return Ok(failed(wrong.join("\n")));
            }
            wanted = read.into_iter().flatten().collect();
        }
        if let Some(user) = self.user.as_deref()
            && ctx.host.user(user).ok().flatten().is_none()
        {
            return Ok(failed(format!("User {user} does not exist")));
        }
        if self.by_file {
            let would = self.would_by_file();
            return Ok(change(Map::new(), would, move |ctx| self.install(ctx, &[], Vec::new())));
        }
        let there = self.installed(ctx)?;
        let (mut missing, mut comments) = (Vec::new(), Vec::new());
        for requirement in wanted {
            match self.stands(ctx, &requirement, &there)? {
                Some(comment) => comments.push(comment),
                None => missing.push(requirement),
            }
        }
        let Some(first) = missing.first() else {
            let up = if self.upgrade { " and up-to-date" } else { "" };
            comments.push(format!("All specified packages are already installed{up}"));
            return Ok(already(comments.join("\n")));
        };
        let would = match self.texts.len() {
            1 => format!("Python package {} is set to be installed", first.text),
            _ => format!("Python package(s) set to be installed:\n{}", self.texts.join("\n")),
        };
        Ok(change(Map::new(), would, move |ctx| self.install(ctx, &missing, comments)))
    }

    fn would_by_file(&self) -> String {
        let mut lines = Vec::new();
        if self.requirements.truthy() {
            lines.push(format!("Requirements file '{}' will be processed.", self.requirements.to_text()));
        }
        if self.editable.truthy() {
            lines.push(format!(
                "Package will be installed in editable mode (i.e. setuptools \"develop mode\") from {}.",
                self.editable.to_text()
            ));
        }
        lines.join(" ")
    }

    /// The packages that are there, by their normal names.
    fn installed(&self, ctx: &Ctx) -> Result<Map, Fault> {
        let mut words = self.place.clone();
        words.extend(given([("env_vars", self.env_vars.clone())]));
        let listed = ctx.run("pip.list", Arguments::keywords(words))?;
        Ok(listed.as_map().cloned().unwrap_or_default())
    }

    /// What is said of a package that is there as it is wanted; nothing of one that is to be installed.
    fn stands(&self, ctx: &Ctx, wanted: &Requirement, there: &Map) -> Result<Option<String>, Fault> {
        let Some(name) = &wanted.name else {
            return Ok(None);
        };
        let Some(version) = there.str_at(&normal(ctx, name)?).filter(|_| !self.beside && !self.force) else {
            return Ok(None);
        };
        let stands = || Ok(Some(format!("Python package {} was already installed", wanted.text)));
        if !self.upgrade {
            return if wanted.takes(version) { stands() } else { Ok(None) };
        }
        let mut words = self.place.clone();
        words.extend(self.indexes.clone());
        words.insert("pkg", name.as_str());
        for (option, kind) in [("include_alpha", "a"), ("include_beta", "b"), ("include_rc", "rc")] {
            words.insert(option, wanted.names(kind));
        }
        let available = ctx.run("pip.list_all_versions", Arguments::keywords(words))?;
        let available: Vec<String> = available.as_list().unwrap_or_default().iter().map(Value::to_text).collect();
        match available.iter().rev().find(|version| wanted.takes(version)) {
            None => Ok(Some(format!(
                "Python package {} was already installed and\nthe available upgrade doesn't fulfills the version \
                 requirements",
                normal(ctx, name)?
            ))),
            Some(newest) if is_same(newest, version) => stands(),
            Some(_) => Ok(None),
        }
    }

    fn install(&self, ctx: &Ctx, missing: &[Requirement], mut comments: Vec<String>) -> Result<Outcome, Fault> {
        let mut words = self.more.clone();
        words.extend(self.place.clone());
        words.extend(self.indexes.clone());
        // A comma ends a package there.
        let pkgs: Vec<String> = missing.iter().map(|wanted| wanted.text.replace(',', ";")).collect();
        words.extend(given([
            ("pkgs", pkgs.join(",").into()),
            ("requirements", Some(self.requirements.clone()).filter(Value::truthy).into()),
            ("editable", Some(self.editable.clone()).filter(Value::truthy).into()),
            ("upgrade", self.upgrade.into()),
            ("force_reinstall", self.force.into()),
            ("ignore_installed", self.beside.into()),
            ("env_vars", self.env_vars.clone()),
            ("disable_version_check", true.into()),
        ]));
        let answer = ctx.run("pip.install", Arguments::keywords(words))?;
        let text = |key: &str| answer.at(key).map(Value::to_text).unwrap_or_default();
        if answer.at("retcode").and_then(Value::as_int) != Some(0) {
            let error = match answer.at("stdout") {
                Some(stdout) => format!("Error: {} {}", stdout.to_text(), text("stderr")),
                None => format!("Error: {}", text("comment")),
            };
            return Ok(Outcome::failed(match self.by_file {
                true => self.not_by_file(&error),
                false => {
                    comments.push(format!("Failed to install packages: {}. {error}", pkgs.join(", ")));
                    comments.join("\n")
                }
            }));
        }
        match self.by_file {
            true => Ok(self.done_by_file(&text("stdout"))),
            false => self.done(ctx, missing, comments, &text("stdout")),
        }
    }

    fn not_by_file(&self, error: &str) -> String {
        let mut lines = Vec::new();
        if self.requirements.truthy() {
            lines.push(format!("Unable to process requirements file \"{}\"", self.requirements.to_text()));
        }
        if self.editable.truthy() {
            lines.push(format!("Unable to install from VCS checkout {}.", self.editable.to_text()));
        }
        lines.push(error.to_owned());
        lines.join(" ")
    }

    fn done_by_file(&self, said: &str) -> Outcome {
        // What pip says when nothing was to be done.
        const NOTHING: [&str; 7] = [
            "Requirement already satisfied",
            "Requirement already up-to-date",
            "Requirement not upgraded",
            "Collecting",
            "Cloning",
            "Cleaning up...",
            "Looking in indexes",
        ];
        let (mut lines, mut changes) = (Vec::new(), Map::new());
        if self.requirements.truthy() {
            let is_nothing = |line: &str| NOTHING.iter().any(|start| line.trim().starts_with(start));
            if said.split('\n').all(is_nothing) {
                lines.push("Requirements were already installed.".to_owned());
            } else {
                changes.insert("requirements", true);
                lines.push(format!("Successfully processed requirements file {}.", self.requirements.to_text()));
            }
        }
        if self.editable.truthy() {
            changes.insert("editable", true);
            lines.push(format!("Package successfully installed from VCS checkout {}.", self.editable.to_text()));
        }
        Outcome::done(lines.join(" ")).with_changes(changes)
    }

    fn done(
        &self,
        ctx: &Ctx,
        missing: &[Requirement],
        mut comments: Vec<String>,
        said: &str,
    ) -> Result<Outcome, Fault> {
        let satisfied = ["Requirement already satisfied: ", "Requirement already up-to-date: "];
        let mut untouched = Vec::new();
        for line in said.lines() {
            let rest = satisfied.iter().find_map(|start| line.strip_prefix(start));
            if let Some(word) = rest.and_then(|rest| rest.split_whitespace().next()) {
                untouched.push(normal(ctx, word.split(['=', '!', '<', '>', '~', '@']).next().unwrap_or_default())?);
            }
        }
        let there = self.installed(ctx)?;
        let (mut changes, mut lost) = (Map::new(), Vec::new());
        for wanted in missing {
            let Some(name) = &wanted.name else {
                changes.insert(format!("{}==???", wanted.text), "Installed");
                continue;
            };
            let name = normal(ctx, name)?;
            match there.str_at(&name) {
                None => lost.push(format!(
                    "There was no error installing package '{}' although it does not show when calling 'pip.freeze'.",
                    wanted.text
                )),
                Some(_) if untouched.contains(&name) => {}
                Some(version) => drop(changes.insert(format!("{name}=={version}"), "Installed")),
            }
        }
        match lost.is_empty() {
            true => comments.push("All packages were successfully installed".to_owned()),
            false => comments.extend(lost),
        }
        Ok(Outcome::done(comments.join("\n")).with_changes(changes))
    }
}

fn normal(ctx: &Ctx, name: &str) -> Result<String, Fault> {
    Ok(ctx.run("pip.normalize", Arguments::positional([name]))?.to_text())
}

fn is_same(one: &str, other: &str) -> bool {
    match (Version::from_str(one), Version::from_str(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

fn is_within(version: &str, (least, most): (&str, &str)) -> bool {
    let read = |text: &str| Version::from_str(text).ok();
    match (read(version), read(least), read(most)) {
        (Some(version), Some(least), Some(most)) => least <= version && version <= most,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::fake::Fake;
    use halite_lang::yaml;

    fn world() -> World {
        let host = Fake::new()
            .answers(["python3", "-m", "pip", "--version"], "pip 23.0.1 from /usr/lib (python 3.11)")
            .answers(
                ["python3", "-m", "pip", "list", "--format=json", "--disable-pip-version-check"],
                "[{\"name\": \"six\", \"version\": \"1.16.0\"}, {\"name\": \"Foo_Bar\", \"version\": \"2\"}]",
            );
        World::on(host)
    }

    #[test]
    fn what_is_there_in_a_version_that_will_do_is_left_alone() {
        for (arguments, result, comment) in [
            (
                "{name: six}",
                Some(true),
                "Python package six was already installed\nAll specified packages are already installed",
            ),
            (
                "{name: foo-bar>=1}",
                Some(true),
                "Python package foo-bar>=1 was already installed\nAll specified packages are already installed",
            ),
            ("{name: six<1}", None, "Python package six<1 is set to be installed"),
            ("{name: x, pkgs: [six, zope]}", None, "Python package(s) set to be installed:\nsix\nzope"),
            ("{name: six, force_reinstall: true}", None, "Python package six is set to be installed"),
            (
                "{name: six=1}",
                Some(false),
                "Invalid version specification in package six=1. '=' is not supported, use '==' instead.",
            ),
            ("{name: x, requirements: /r.txt}", None, "Requirements file '/r.txt' will be processed."),
            ("{name: x, pkgs: six}", Some(false), "pkgs argument must be formatted as a list"),
            ("{name: six, user: nobody-here}", Some(false), "User nobody-here does not exist"),
        ] {
            let given = yaml::load(arguments).unwrap().as_map().unwrap().clone();
            let world = world();
            let outcome = match planned(&world, "pip.installed", Arguments::keywords(given)) {
                Ok(Plan::Stands(outcome)) | Ok(Plan::Changes { would: outcome, .. }) => outcome,
                Err(fault) => panic!("{arguments}: {fault}"),
            };
            assert_eq!((outcome.result, outcome.comment.as_str()), (result, comment), "{arguments}");
        }
        let (gone, _) = both(&world(), planned(&world(), "pip.removed", Arguments::default().with("name", "zope")));
        assert_eq!(gone.comment, "Package is not installed.");
    }
}
