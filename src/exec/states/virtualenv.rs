//! `virtualenv.*`: environments of Python.

use halite_core::program::Program;
use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, failed, given, single, state};
use halite_core::{Ctx, Fault, paths};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};
use std::path::Path;

pub const MODULE: Module = Module { name: "virtualenv", doc: "Environments of Python.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Managed>("manage"), state::<Managed>("managed")];

record! {
    /// Makes sure that there is an environment of Python, with packages in it.
    ///
    ///   /srv/venv:
    ///     virtualenv.managed:
    ///       - system_site_packages: False
    ///       - requirements: salt://app/requirements.txt
    pub struct Managed {
        /// Its directory.
        name: String,
        /// The program that makes it.
        venv_bin: Option<String> = (),
        /// A file of requirements, or several.
        requirements: Value = (),
        /// Whether it sees the packages of the system.
        system_site_packages: bool = false,
        /// Of versions before 1.10.
        distribute: bool = false,
        /// Whether one that is there is made anew.
        clear: bool = false,
        /// The Python that it is for.
        python: Option<String> = (),
        /// Directories with packages.
        extra_search_dir: Value = (),
        /// Whether nothing is taken from the net.
        never_download: Value = (),
        /// What its prompt begins with.
        prompt: Option<String> = (),
        /// The account to do it as.
        user: Option<String> = (),
        /// The directory to be in.
        cwd: Option<String> = (),
        /// Where to look for packages.
        index_url: Value = (),
        /// Where to look as well.
        extra_index_url: Value = (),
        /// Take versions that are not final.
        pre_releases: bool = false,
        /// Not what the packages need.
        no_deps: bool = false,
        /// The directory to download to.
        pip_download: Value = (),
        /// The directory with what was downloaded before.
        pip_download_cache: Value = (),
        /// What to do where a directory is there: s, i, w or b.
        pip_exists_action: Value = (),
        /// Install beside what is there.
        pip_ignore_installed: bool = false,
        /// The proxy.
        proxy: Value = (),
        /// Taken, not used.
        use_vt: bool = false,
        /// Variables of the environment.
        env_vars: Value = (),
        /// Upgrade packages that are there.
        pip_upgrade: bool = false,
        /// Packages, beside or instead of requirements.
        pip_pkgs: Value = (),
        /// Keep nothing of what was downloaded.
        pip_no_cache_dir: bool = false,
        /// The directory for what was downloaded.
        pip_cache_dir: Value = (),
        /// Of versions before 19.
        process_dependency_links: bool = false,
        /// Packages that are built here.
        no_binary: Value = (),
        /// Whatever else virtualenv.create takes.
        kwargs: Keywords,
    }
}

impl State for Managed {
    fn plan(mut self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name.clone();
        let python = format!("{name}/bin/python");
        let there = context.ctx.host.stat(Path::new(&python)).is_ok();
        if let Some(source) = self.requirements.as_str().filter(|source| source.starts_with("salt://")) {
            let words = Map::from_iter([("path", source), ("saltenv", context.saltenv)]);
            let cached = context.ctx.run("cp.cache_file", Arguments::keywords(words))?;
            if !cached.truthy() {
                return Ok(failed(format!("pip requirements file '{source}' not found")));
            }
            self.requirements = cached;
        }
        let makes = !there || self.clear;
        let comment = match (there, self.clear) {
            (true, true) => format!("Virtualenv {name} is set to be cleared"),
            (true, false) => format!("Virtualenv {name} is already created"),
            (false, _) => format!("Virtualenv {name} is set to be created"),
        };
        let mut changes = Map::new();
        if there && self.clear {
            let words = single("bin_env", name.as_str());
            changes.insert("cleared_packages", context.ctx.run("pip.freeze", Arguments::keywords(words))?);
            changes.insert("old", version(context.ctx, &python)?);
        }
        let installs = self.requirements.truthy() || self.pip_pkgs.truthy();
        if !makes && !installs {
            return Ok(halite_core::state::stands(Outcome::done(comment), Outcome::done("virtualenv exists")));
        }
        // Whether packages are missing is seen by pip alone, when it installs them.
        let would = match makes {
            true => Outcome::new(None, comment).with_changes(changes.clone()),
            false => Outcome::done(comment),
        };
        Ok(Plan::Changes {
            would,
            apply: Box::new(move |ctx| {
                let mut outcome = Outcome::done("virtualenv exists").with_changes(changes);
                if makes {
                    let created = self.create(ctx)?;
                    let text = |key: &str| created.at(key).map(Value::to_text).unwrap_or_default();
                    if text("retcode") != "0" {
                        return Ok(Outcome::failed(text("stdout") + &text("stderr")));
                    }
                    outcome.changes.insert("new", version(ctx, &python)?);
                    let cleared = if self.clear { "Cleared existing virtualenv" } else { "Created new virtualenv" };
                    outcome.comment = cleared.to_owned();
                }
                if installs {
                    self.install(ctx, &mut outcome)?;
                }
                Ok(outcome)
            }),
        })
    }
}

impl Managed {
    fn create(&self, ctx: &Ctx) -> Result<Value, Fault> {
        let mut words = self.kwargs.0.clone();
        words.extend(given([
            ("path", self.name.as_str().into()),
            ("venv_bin", self.venv_bin.clone().into()),
            ("system_site_packages", self.system_site_packages.into()),
            ("distribute", self.distribute.into()),
            ("clear", self.clear.into()),
            ("python", self.python.clone().into()),
            ("extra_search_dir", self.extra_search_dir.clone()),
            ("never_download", self.never_download.clone()),
            ("prompt", self.prompt.clone().into()),
            ("user", self.user.clone().into()),
        ]));
        match ctx.run("virtualenv.create", Arguments::keywords(words)) {
            Err(Fault::Execution(why)) => Ok(Map::from_iter([
                ("retcode", Value::Int(1)),
                ("stdout", "".into()),
                ("stderr", format!("Failed to create virtualenv: {why}").into()),
            ])
            .into()),
            other => other,
        }
    }

    fn install(&self, ctx: &Ctx, outcome: &mut Outcome) -> Result<(), Fault> {
        let frozen = |ctx: &Ctx| {
            let words = given([("bin_env", self.name.as_str().into()), ("user", self.user.clone().into())]);
            let frozen = ctx.run("pip.freeze", Arguments::keywords(words))?;
            Ok::<_, Fault>(frozen.as_list().map(<[Value]>::to_vec).unwrap_or_default())
        };
        let before = frozen(ctx)?;
        // Paths in a file of requirements are relative to its directory.
        let first = match &self.requirements {
            Value::List(files) => files.first().map(Value::to_text),
            Value::Str(files) => files.split(',').next().map(str::to_owned),
            _ => None,
        };
        let directory = first.filter(|first| !first.starts_with('/')).map(|first| paths::directory_of(&first));
        let words = given([
            ("pkgs", Some(self.pip_pkgs.clone()).filter(Value::truthy).into()),
            ("requirements", Some(self.requirements.clone()).filter(Value::truthy).into()),
            ("bin_env", self.name.as_str().into()),
            ("user", self.user.clone().into()),
            ("cwd", directory.or(self.cwd.clone()).into()),
            ("index_url", self.index_url.clone()),
            ("extra_index_url", self.extra_index_url.clone()),
            ("download", self.pip_download.clone()),
            ("download_cache", self.pip_download_cache.clone()),
            ("pre_releases", self.pre_releases.into()),
            ("exists_action", self.pip_exists_action.clone()),
            ("ignore_installed", self.pip_ignore_installed.into()),
            ("upgrade", self.pip_upgrade.into()),
            ("no_deps", self.no_deps.into()),
            ("proxy", self.proxy.clone()),
            ("env_vars", self.env_vars.clone()),
            ("no_cache_dir", self.pip_no_cache_dir.into()),
            ("cache_dir", self.pip_cache_dir.clone()),
            ("process_dependency_links", self.process_dependency_links.into()),
            ("no_binary", self.no_binary.clone()),
        ]);
        let answer = ctx.run("pip.install", Arguments::keywords(words))?;
        let text = |key: &str| answer.at(key).map(Value::to_text).unwrap_or_default();
        if text("retcode") != "0" {
            outcome.result = Some(false);
            outcome.comment = format!("{}\n{}\n{}", outcome.comment, text("stdout"), text("stderr"));
        }
        let after = frozen(ctx)?;
        let only = |these: &[Value], others: &[Value]| {
            let items: Vec<Value> = these.iter().filter(|item| !others.contains(item)).cloned().collect();
            if items.is_empty() { Value::from("") } else { Value::List(items) }
        };
        let (new, old) = (only(&after, &before), only(&before, &after));
        if new.truthy() || old.truthy() {
            outcome.changes.insert("packages", Map::from_iter([("new", new), ("old", old)]));
        }
        Ok(())
    }
}

/// What the Python of an environment says that it is.
fn version(ctx: &Ctx, python: &str) -> Result<Value, Fault> {
    Ok(Program::new([python, "-V"]).mixed().query(ctx)?.stdout.trim().into())
}
