//! Installing, upgrading, removing and holding packages.

use super::manager::{Done, How, Manager};
use super::show::is_true;
use super::{Packages, Targets, apt, pairs};
use crate::exec::host::Host;
use crate::exec::modules::Run;
use crate::exec::target::fnmatch::fnmatch;
use crate::exec::{Ctx, Fault, Reply};
use crate::record;
use crate::wire::record::{Arguments, Keywords};
use crate::wire::value::{Map, Value};
use std::path::Path;
use std::time::Duration;

/// What was changed, or a fault that says what was complained about.
fn told(done: Done, what: &str) -> Reply {
    match done.errors.is_empty() {
        true => Ok(done.changes.into()),
        false => {
            let line = |error: &String| format!("    - {}", error.replace('\n', "\n      "));
            let errors = done.errors.iter().map(line).collect::<Vec<String>>().join("\n");
            let changes = if done.changes.is_empty() {
                String::new()
            } else {
                format!("\nchanged:\n    {}", done.changes_text())
            };
            Err(Fault::execution(format!(
                "Problem encountered {what}. Additional info follows:\n\nerrors:\n{errors}{changes}"
            )))
        }
    }
}

impl Done {
    fn changes_text(&self) -> String {
        self.changes.keys().map(Value::to_text).collect::<Vec<String>>().join(", ")
    }
}

/// Reads the lists of packages anew, unless they are younger than so many seconds.
pub(super) fn refresh_unless_fresh(ctx: &Ctx, manager: Manager, seconds: Option<&Value>) -> Result<Map, Fault> {
    let seconds = seconds.and_then(Value::as_float).unwrap_or(0.0);
    if manager == Manager::Apt && seconds > 0.0 && is_fresh(ctx.host, seconds) {
        return Ok(Map::new());
    }
    manager.refresh(ctx)
}

fn is_fresh(host: &dyn Host, seconds: f64) -> bool {
    let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let age = host.stat(Path::new("/var/lib/apt/lists")).ok().map(|stat| host.now().duration_since(stat.modified));
    age.is_some_and(|age| age.is_ok_and(|age| age < limit))
}

record! {
    /// Reads the lists of packages anew. For apt each line of it: True where something new came, None where nothing did,
    /// False where it failed.
    ///
    ///   salt '*' pkg.refresh_db
    pub struct RefreshDb {
        /// Not if they are younger than these seconds.
        cache_valid_time: Value = 0,
        /// Fail where one cannot be read.
        failhard: bool = false,
        kwargs: Keywords,
    }
}

impl Run for RefreshDb {
    fn run(self, ctx: &Ctx) -> Reply {
        let manager = Manager::of(ctx)?;
        if manager == Manager::Apt
            && self.failhard
            && !is_fresh(ctx.host, self.cache_valid_time.as_float().unwrap_or(0.0))
        {
            let (shown, failed) = apt::refreshed(ctx)?;
            return match failed.is_empty() {
                true => Ok(shown.into()),
                false => Err(Fault::execution(format!("Error getting repos: {}", failed.join(", ")))),
            };
        }
        Ok(refresh_unless_fresh(ctx, manager, Some(&self.cache_valid_time))?.into())
    }
}

record! {
    /// Installs packages. Returns what has changed, with old and new versions.
    ///
    ///   salt '*' pkg.install bash
    ///   salt '*' pkg.install pkgs='["foo", {"bar": "1.2.3-0ubuntu0"}]'
    ///   salt '*' pkg.install sources='[{"foo": "salt://foo.deb"}]'
    pub struct Install {
        /// A package, or several with commas between them.
        name: Option<String> = (),
        /// Read the lists anew first.
        refresh: Value = false,
        /// Where they come from: a release, or a repository.
        fromrepo: Option<String> = (),
        /// Install what nobody has signed.
        skip_verify: bool = false,
        /// Answers for debconf: the address of a file.
        debconf: Option<String> = (),
        /// A list of names, or of `NAME: VERSION`; a version may be a comparison such as `'>=1.2'`.
        pkgs: Value = (),
        /// A list of `NAME: ADDRESS` of packages that are files.
        sources: Value = (),
        /// Also install again what is installed.
        reinstall: bool = false,
        /// Get them and do not install them.
        downloadonly: bool = false,
        /// Whether what stands before a colon in versions does not count.
        ignore_epoch: bool = false,
        /// Taken, not used: the host's own architecture is always left out of names.
        normalize: bool = true,
        /// `version`; `install_recommends`, `only_upgrade`, `force_conf_new`, `force_yes`, `cache_valid_time`, `repo` of apt;
        /// `enablerepo`, `disablerepo`, `root` of dnf. Others are taken and not used.
        kwargs: Keywords,
    }
}

impl Run for Install {
    fn run(self, ctx: &Ctx) -> Reply {
        let manager = Manager::of(ctx)?;
        let more = &self.kwargs.0;
        if let Some(file) = self.debconf.filter(|file| !file.is_empty()) {
            ctx.run("debconf.set_file", Arguments::positional([file]))?;
        }
        let mut targets = Targets::read(ctx, self.name.as_deref(), &self.pkgs, &self.sources)?;
        if targets.is_empty() {
            return Ok(Map::new().into());
        }
        let version = more.at("version").filter(|version| version.truthy()).map(Value::to_text);
        if let (Some(version), Targets::Named(named), false) = (&version, &mut targets, self.pkgs.truthy()) {
            match named.as_mut_slice() {
                [(_, wanted)] => *wanted = Some(version.clone()),
                _ => log::warn!("'version' is ignored where there are several packages"),
            }
        }
        let how = How {
            fromrepo: self.fromrepo.or_else(|| more.str_at("repo").map(str::to_owned)).filter(|repo| !repo.is_empty()),
            skip_verify: self.skip_verify,
            reinstall: self.reinstall,
            downloadonly: self.downloadonly,
            ..how(more)
        };
        if is_true(&self.refresh) {
            refresh_unless_fresh(ctx, manager, more.at("cache_valid_time"))?;
        }
        told(manager.install(ctx, &targets, &how)?, "installing package(s)")
    }
}

/// What keywords say of it.
fn how(more: &Map) -> How {
    let on = |name: &str| more.at(name).is_some_and(is_true);
    let text = |name: &str| more.at(name).filter(|value| value.truthy()).map(Value::to_text);
    How {
        fromrepo: text("fromrepo"),
        enablerepo: text("enablerepo"),
        disablerepo: text("disablerepo"),
        skip_verify: on("skip_verify"),
        downloadonly: on("downloadonly") || on("download_only"),
        only_upgrade: on("only_upgrade"),
        force_conf_new: on("force_conf_new"),
        force_yes: on("force_yes"),
        allow_downgrades: on("allow_downgrades"),
        recommends: more.at("install_recommends").map(is_true),
        root: text("root"),
        ..How::default()
    }
}

record! {
    /// Upgrades all packages that can be. Returns what has changed.
    ///
    ///   salt '*' pkg.upgrade
    ///   salt '*' pkg.upgrade dist_upgrade=True
    pub struct Upgrade {
        /// Read the lists anew first.
        refresh: Value = true,
        /// Also what needs other packages, with apt.
        dist_upgrade: bool = false,
        /// `force_conf_new`, `skip_verify`, `downloadonly`, `allow_downgrades`, `cache_valid_time` of apt; `enablerepo`,
        /// `disablerepo`, `root` of dnf. Others are taken and not used.
        kwargs: Keywords,
    }
}

impl Run for Upgrade {
    fn run(self, ctx: &Ctx) -> Reply {
        let manager = Manager::of(ctx)?;
        if is_true(&self.refresh) {
            refresh_unless_fresh(ctx, manager, self.kwargs.0.at("cache_valid_time"))?;
        }
        let how = How { dist_upgrade: self.dist_upgrade, ..how(&self.kwargs.0) };
        told(manager.upgrade(ctx, &how)?, "upgrading packages")
    }
}

/// The names of packages that are there, of what a caller wants removed: names and shell patterns.
fn present(packages: &Packages, name: Option<&str>, pkgs: &Value) -> Result<Vec<String>, Fault> {
    let wanted: Vec<String> = match pkgs.truthy() {
        true => pairs(pkgs)?.into_iter().map(|(name, _)| name).collect(),
        false => name.unwrap_or_default().split(',').map(|name| name.trim().to_owned()).collect(),
    };
    let mut found: Vec<String> = Vec::new();
    for wanted in wanted.iter().filter(|wanted| !wanted.is_empty()) {
        let fits = |known: &&String| *known == wanted || fnmatch(known, wanted);
        for known in packages.0.keys().filter(fits) {
            if !found.contains(known) {
                found.push(known.clone());
            }
        }
    }
    Ok(found)
}

record! {
    /// Removes packages. Returns what has changed.
    ///
    ///   salt '*' pkg.remove bash
    ///   salt '*' pkg.remove pkgs='["foo", "bar"]'
    pub struct Remove {
        /// A package or a shell pattern, or several with commas between them.
        name: Option<String> = (),
        /// A list of them.
        pkgs: Value = (),
        /// `root`: another root, for dnf and zypper. Others are taken and not used.
        kwargs: Keywords,
    }
}

impl Run for Remove {
    fn run(self, ctx: &Ctx) -> Reply {
        let manager = Manager::of(ctx)?;
        let how = how(&self.kwargs.0);
        let installed = manager.installed(ctx, how.root.as_deref())?;
        let names = present(&installed, self.name.as_deref(), &self.pkgs)?;
        match names.is_empty() {
            true => Ok(Map::new().into()),
            false => told(manager.remove(ctx, &names, &how)?, "removing package(s)"),
        }
    }
}

record! {
    /// Removes packages and their configuration. Returns what has changed, for apt below `removed` and `installed`.
    ///
    ///   salt '*' pkg.purge bash
    ///   salt '*' pkg.purge pkgs='["foo", "bar"]'
    pub struct Purge {
        /// A package or a shell pattern, or several with commas between them.
        name: Option<String> = (),
        /// A list of them.
        pkgs: Value = (),
        kwargs: Keywords,
    }
}

impl Run for Purge {
    fn run(self, ctx: &Ctx) -> Reply {
        if Manager::of(ctx)? != Manager::Apt {
            return Remove { name: self.name, pkgs: self.pkgs, kwargs: self.kwargs }.run(ctx);
        }
        let before = apt::known(ctx)?;
        let mut names = present(&before.installed, self.name.as_deref(), &self.pkgs)?;
        names.extend(present(&before.removed, self.name.as_deref(), &self.pkgs)?);
        if names.is_empty() {
            return Ok(Map::new().into());
        }
        let answer = apt::remove(ctx, "purge", &names)?;
        let after = apt::known(ctx)?;
        let changes = Map::from_iter([
            ("removed", before.removed.changes_to(&after.removed)),
            ("installed", before.installed.changes_to(&after.installed)),
        ]);
        let errors = if answer.is_success() { Vec::new() } else { vec![answer.complaint().to_owned()] };
        told(Done { changes, errors }, "removing package(s)")
    }
}

record! {
    /// Removes packages that nothing needs any more. Returns what has changed.
    ///
    ///   salt '*' pkg.autoremove list_only=True
    pub struct Autoremove {
        /// Only list them.
        list_only: bool = false,
        /// Their configuration too.
        purge: bool = false,
    }
}

impl Run for Autoremove {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect_apt(ctx, "autoremove")?;
        let mut argv = vec!["apt-get", if self.list_only { "--assume-no" } else { "--assume-yes" }];
        argv.extend(self.purge.then_some("--purge"));
        argv.push("autoremove");
        if !self.list_only {
            let before = apt::installed(ctx)?;
            apt::call(ctx, &argv, None)?;
            return Ok(before.changes_to(&apt::installed(ctx)?).into());
        }
        let told = crate::exec::program::Program::new(argv).query(ctx)?;
        let lines = told.stdout.lines().skip_while(|line| !line.contains("The following packages will be REMOVED:"));
        let mut names: Vec<&str> =
            lines.skip(1).take_while(|line| line.starts_with(' ')).flat_map(str::split_whitespace).collect();
        names.sort_unstable();
        Ok(Value::list(names).into())
    }
}

record! {
    /// Holds packages: no upgrade changes them. Returns what a state returns, for each.
    ///
    ///   salt '*' pkg.hold bash
    ///   salt '*' pkg.hold pkgs='["foo", "bar"]'
    pub struct Hold {
        /// A package.
        name: Option<String> = (),
        /// A list of them.
        pkgs: Value = (),
        /// A list of `NAME: ADDRESS`: their names count.
        sources: Value = (),
        kwargs: Keywords,
    }
}

impl Run for Hold {
    fn run(self, ctx: &Ctx) -> Reply {
        held(ctx, self.name, &self.pkgs, &self.sources, true)
    }
}

record! {
    /// Lets packages go that are held. Returns what a state returns, for each.
    ///
    ///   salt '*' pkg.unhold bash
    ///   salt '*' pkg.unhold pkgs='["foo", "bar"]'
    pub struct Unhold {
        /// A package.
        name: Option<String> = (),
        /// A list of them.
        pkgs: Value = (),
        /// A list of `NAME: ADDRESS`: their names count.
        sources: Value = (),
        kwargs: Keywords,
    }
}

impl Run for Unhold {
    fn run(self, ctx: &Ctx) -> Reply {
        held(ctx, self.name, &self.pkgs, &self.sources, false)
    }
}

fn held(ctx: &Ctx, name: Option<String>, pkgs: &Value, sources: &Value, hold: bool) -> Reply {
    if pkgs.truthy() && sources.truthy() {
        return Err(Fault::invocation("Only one of pkgs or sources can be specified."));
    }
    let targets: Vec<String> = match (name.filter(|name| !name.is_empty()), pkgs.truthy(), sources.truthy()) {
        (_, true, _) => pairs(pkgs)?.into_iter().map(|(name, _)| name).collect(),
        (_, _, true) => pairs(sources)?.into_iter().map(|(name, _)| name).collect(),
        (Some(name), ..) => vec![name],
        _ => return Err(Fault::invocation("One of name, pkgs, or sources must be specified.")),
    };
    super::check_names(&targets)?;
    let manager = Manager::of(ctx)?;
    let is_test = ctx.opt("test").is_some_and(Value::truthy);
    let mut shown = Map::new();
    for target in targets {
        let held = manager.held(ctx)?.contains(&target);
        let (verb, word) = if hold { ("is now being held", "held") } else { ("is no longer being held", "held") };
        let (changes, result, comment) = match held == hold {
            _ if !hold && manager == Manager::Apt && apt::selections(ctx, Some(&target))?.is_empty() => {
                (Map::new(), Value::Bool(false), format!("Package {target} does not have a state."))
            }
            true => {
                let not = if hold { "" } else { "not " };
                (Map::new(), true.into(), format!("Package {target} is already set {not}to be {word}."))
            }
            false if is_test => {
                let not = if hold { "" } else { "not " };
                (Map::new(), Value::Null, format!("Package {target} is set {not}to be {word}."))
            }
            false => {
                let old = apt_state(ctx, manager, &target)?;
                manager.hold(ctx, &target, hold)?;
                let new = if hold { "hold" } else { "install" };
                let changes = Map::from_iter([("old", old), ("new", new.into())]);
                (changes, true.into(), format!("Package {target} {verb}."))
            }
        };
        let state = [
            ("name", Value::from(target.as_str())),
            ("changes", changes.into()),
            ("result", result),
            ("comment", comment.into()),
        ];
        shown.insert(target, Map::from_iter(state));
    }
    Ok(shown.into())
}

/// What dpkg is told to do with a package; for others whether it is held.
fn apt_state(ctx: &Ctx, manager: Manager, name: &str) -> Result<Value, Fault> {
    if manager != Manager::Apt {
        let held = manager.held(ctx)?.iter().any(|known| known == name);
        return Ok(if held { "hold" } else { "install" }.into());
    }
    let states = apt::selections(ctx, None)?;
    let state = states.into_iter().find(|(_, names)| names.iter().any(|known| known == name));
    Ok(state.map_or(Value::Null, |(state, _)| state.into()))
}
