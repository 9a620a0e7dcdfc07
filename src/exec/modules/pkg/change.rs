//! Installing, upgrading, removing and holding packages.

use super::manager::{Done, How, Manager};
use super::{Packages, Targets, apt, pairs};
use halite_core::host::Host;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::target::fnmatch::fnmatch;
use halite_node::apt_sources::is_true;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};
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

/// Reads the lists of packages anew; those of apt unless they are younger than `cache_valid_time` seconds.
pub(super) fn refresh_unless_fresh(ctx: &Ctx, manager: Manager, how: &How) -> Result<Value, Fault> {
    let seconds = how.more.at("cache_valid_time").and_then(Value::as_float).unwrap_or(0.0);
    if manager == Manager::Apt && seconds > 0.0 && is_fresh(ctx.host, seconds) {
        return Ok(Map::new().into());
    }
    manager.refresh(ctx, how)
}

fn is_fresh(host: &dyn Host, seconds: f64) -> bool {
    let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let age = host.stat(Path::new("/var/lib/apt/lists")).ok().map(|stat| host.now().duration_since(stat.modified));
    age.is_some_and(|age| age.is_ok_and(|age| age < limit))
}

record! {
    /// Reads the lists of packages anew. For apt each line of it: True where something new came, None where nothing did,
    /// False where it failed; for dnf True where there is something to upgrade to, None where there is nothing, False
    /// where it failed; for zypper each list: True where it has changed.
    ///
    ///   salt '*' pkg.refresh_db
    ///   salt '*' pkg.clean_metadata
    pub struct RefreshDb {
        /// Not if they are younger than these seconds.
        cache_valid_time: Value = 0,
        /// Fail where one cannot be read, with apt.
        failhard: bool = false,
        /// `enablerepo`, `disablerepo`, `disableexcludes`, `branch`, `setopt` of dnf; `force`, `repos`, `gpgautoimport`,
        /// `root` of zypper.
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
        let mut how = how(&self.kwargs.0);
        how.more.insert("cache_valid_time", self.cache_valid_time);
        Ok(refresh_unless_fresh(ctx, manager, &how)?.into())
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
        /// `advisory_ids` (patches in place of packages) and `root` of dnf and zypper; `enablerepo`, `disablerepo`,
        /// `disableexcludes`, `branch`, `setopt`, `update_holds` of dnf; `no_recommends`, `ignore_repo_failure`,
        /// `resolve_capabilities` of zypper. Others are taken and not used.
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
        let mut targets = match more.at("advisory_ids") {
            Some(_) if self.pkgs.truthy() => {
                return Err(Fault::invocation("Cannot use \"advisory_ids\" and \"pkgs\" at the same time"));
            }
            Some(ids) if ids.truthy() => Targets::Advisories(super::dnf::split(Some(ids))),
            Some(_) => Targets::Advisories(self.name.iter().cloned().collect()),
            None => Targets::read(ctx, self.name.as_deref(), &self.pkgs, &self.sources)?,
        };
        if matches!(targets, Targets::Advisories(_)) {
            Manager::expect(ctx, "install advisory_ids=..", &[Manager::Dnf, Manager::Zypper])?;
        }
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
            ignore_epoch: self.ignore_epoch,
            ..how(more)
        };
        if is_true(&self.refresh) {
            refresh_unless_fresh(ctx, manager, &how)?;
        }
        told(manager.install(ctx, &targets, &how)?, "installing package(s)")
    }
}

/// What keywords say of it.
pub(super) fn how(more: &Map) -> How {
    let on = |name: &str| more.at(name).is_some_and(is_true);
    let text = |name: &str| more.at(name).filter(|value| value.truthy()).map(Value::to_text);
    How {
        fromrepo: text("fromrepo"),
        skip_verify: on("skip_verify"),
        downloadonly: on("downloadonly") || on("download_only"),
        only_upgrade: on("only_upgrade"),
        force_conf_new: on("force_conf_new"),
        force_yes: on("force_yes"),
        allow_downgrades: on("allow_downgrades"),
        recommends: more.at("install_recommends").map(is_true),
        update_holds: on("update_holds"),
        root: text("root"),
        more: more.clone(),
        ..How::default()
    }
}

record! {
    /// Upgrades all packages that can be. Returns what has changed, for apk with `result` and `comment`.
    ///
    ///   salt '*' pkg.upgrade
    ///   salt '*' pkg.upgrade pkgs='["foo", "bar"]'
    ///   salt '*' pkg.upgrade dist_upgrade=True
    pub struct Upgrade {
        /// Read the lists anew first.
        refresh: Value = true,
        /// Also what needs other packages, with apt and zypper.
        dist_upgrade: bool = false,
        /// `name` or `pkgs`: these alone, but for apt. `force_conf_new`, `skip_verify`, `downloadonly`, `allow_downgrades`,
        /// `cache_valid_time` of apt; `minimal`, `obsoletes`, `enablerepo`, `disablerepo`, `disableexcludes`, `branch`,
        /// `setopt` of dnf, for which others are options of its own; `fromrepo`, `dryrun`, `novendorchange`,
        /// `no_recommends` of zypper; `root` of both.
        kwargs: Keywords,
    }
}

impl Run for Upgrade {
    fn run(self, ctx: &Ctx) -> Reply {
        let manager = Manager::of(ctx)?;
        let how = How { dist_upgrade: self.dist_upgrade, ..how(&self.kwargs.0) };
        if is_true(&self.refresh) {
            refresh_unless_fresh(ctx, manager, &how)?;
        }
        let name = how.more.at("name").filter(|name| name.truthy()).map(Value::to_text);
        let pkgs = how.more.at("pkgs").cloned().unwrap_or_default();
        let names = match Targets::read(ctx, name.as_deref(), &pkgs, &Value::Null)? {
            Targets::Named(named) => named.into_iter().map(|(name, _)| name).collect(),
            _ => Vec::new(),
        };
        if manager == Manager::Zypper && how.more.at("dryrun").is_some_and(is_true) {
            return Ok(super::zypper::rehearse(ctx, &names, &how)?.into());
        }
        let done = manager.upgrade(ctx, &names, &how)?;
        if manager == Manager::Apk {
            let (result, comment) = (done.errors.is_empty(), done.errors.join("\n"));
            let shown =
                [("changes", done.changes.into()), ("result", Value::from(result)), ("comment", comment.into())];
            return Ok(Map::from_iter(shown).into());
        }
        told(done, "upgrading packages")
    }
}

record! {
    /// Upgrades packages, and replaces none that are obsolete: `pkg.upgrade` with `obsoletes=False`, of dnf.
    ///
    ///   salt '*' pkg.update
    ///   salt '*' pkg.update name=openssl
    pub struct Update {
        /// A package, or several with commas between them; without any all.
        name: Option<String> = (),
        /// A list of them.
        pkgs: Value = (),
        /// Read the lists anew first.
        refresh: Value = true,
        /// Install what nobody has signed.
        skip_verify: bool = false,
        /// Taken, not used: the host's own architecture is always left out of names.
        normalize: bool = true,
        /// No newer versions than what advisories need.
        minimal: bool = false,
        /// Replace packages that are obsolete.
        obsoletes: bool = false,
        kwargs: Keywords,
    }
}

impl Run for Update {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "update", &[Manager::Dnf])?;
        let mut kwargs = self.kwargs;
        kwargs.0.extend(Map::from_iter([
            ("name", Value::from(self.name)),
            ("pkgs", self.pkgs),
            ("skip_verify", self.skip_verify.into()),
            ("minimal", self.minimal.into()),
            ("obsoletes", self.obsoletes.into()),
        ]));
        Upgrade { refresh: self.refresh, dist_upgrade: false, kwargs }.run(ctx)
    }
}

/// Packages that are there, of what a caller wants removed: names and shell patterns, each with the version that alone is
/// meant.
fn present(packages: &Packages, name: Option<&str>, pkgs: &Value) -> Result<Vec<(String, Option<String>)>, Fault> {
    let wanted: Vec<(String, Option<String>)> = match pkgs.truthy() {
        true => pairs(pkgs)?,
        false => name.unwrap_or_default().split(',').map(|name| (name.trim().to_owned(), None)).collect(),
    };
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    for (wanted, version) in wanted.iter().filter(|(wanted, _)| !wanted.is_empty()) {
        let fits = |(known, versions): &(&String, &super::Versions)| {
            let is_meant = *known == wanted || fnmatch(known, wanted);
            is_meant && version.as_ref().is_none_or(|version| versions.contains(version))
        };
        for (known, _) in packages.0.iter().filter(fits) {
            if !found.iter().any(|(name, _)| name == known) {
                found.push((known.clone(), version.clone()));
            }
        }
    }
    Ok(found)
}

fn names_of(found: Vec<(String, Option<String>)>) -> Vec<String> {
    found.into_iter().map(|(name, _)| name).collect()
}

/// The word that rpm's tools know a package by, in one version.
fn rpm_word((name, version): &(String, Option<String>)) -> String {
    let Some(version) = version else { return name.clone() };
    let (short, arch) = super::rpm::split_arch(name);
    let bare = version.split_once(':').map_or(version.as_str(), |(_, rest)| rest);
    format!("{short}-{bare}{}", arch.map(|arch| format!(".{arch}")).unwrap_or_default())
}

record! {
    /// Removes packages. Returns what has changed.
    ///
    ///   salt '*' pkg.remove bash
    ///   salt '*' pkg.remove pkgs='["foo", "bar"]'
    pub struct Remove {
        /// A package or a shell pattern, or several with commas between them.
        name: Option<String> = (),
        /// A list of them, or of `NAME: VERSION`.
        pkgs: Value = (),
        /// `root`: another root, for dnf and zypper; `purge`: what was changed in configuration too, for apk. Others are
        /// taken and not used.
        kwargs: Keywords,
    }
}

impl Run for Remove {
    fn run(self, ctx: &Ctx) -> Reply {
        let manager = Manager::of(ctx)?;
        let how = how(&self.kwargs.0);
        let installed = match manager {
            Manager::Zypper => {
                let named = match self.pkgs.truthy() {
                    true => names_of(pairs(&self.pkgs)?),
                    false => self.name.iter().cloned().collect(),
                };
                super::zypper::installed(ctx, how.root.as_deref(), &super::zypper::kinds(&named))?
            }
            manager => manager.installed(ctx, how.root.as_deref())?,
        };
        let found = present(&installed, self.name.as_deref(), &self.pkgs)?;
        let names: Vec<String> = match manager {
            Manager::Dnf | Manager::Zypper => found.iter().map(rpm_word).collect(),
            Manager::Apt | Manager::Apk => names_of(found),
        };
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
            let mut kwargs = self.kwargs;
            kwargs.0.insert("purge", true);
            return Remove { name: self.name, pkgs: self.pkgs, kwargs }.run(ctx);
        }
        let before = apt::known(ctx)?;
        let mut names = names_of(present(&before.installed, self.name.as_deref(), &self.pkgs)?);
        names.extend(names_of(present(&before.removed, self.name.as_deref(), &self.pkgs)?));
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
        Manager::expect(ctx, "autoremove", &[Manager::Apt])?;
        let mut argv = vec!["apt-get", if self.list_only { "--assume-no" } else { "--assume-yes" }];
        argv.extend(self.purge.then_some("--purge"));
        argv.push("autoremove");
        if !self.list_only {
            let before = apt::installed(ctx)?;
            apt::call(ctx, &argv, None)?;
            return Ok(before.changes_to(&apt::installed(ctx)?).into());
        }
        let told = halite_core::program::Program::new(argv).query(ctx)?;
        let lines = told.stdout.lines().skip_while(|line| !line.contains("The following packages will be REMOVED:"));
        let mut names: Vec<&str> =
            lines.skip(1).take_while(|line| line.starts_with(' ')).flat_map(str::split_whitespace).collect();
        names.sort_unstable();
        Ok(Value::list(names).into())
    }
}
