//! What is installed and what could be.

use super::manager::{How, Manager};
use super::{Packages, apk, apt, debian, dnf, rpm, zypper};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::target::fnmatch::fnmatch;
use halite_node::apt_sources::is_true;
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};
use std::cmp::Ordering;

fn names(rest: &Rest) -> Vec<String> {
    rest.0.iter().map(Value::to_text).collect()
}

fn is_on(keywords: &Keywords, name: &str, default: bool) -> bool {
    keywords.0.at(name).map_or(default, is_true)
}

/// One answer alone, several by name.
fn one_or_all(mut shown: Map) -> Value {
    match shown.len() {
        1 => shown.iter_mut().next().map(|(_, value)| std::mem::take(value)).unwrap_or_default(),
        _ => shown.into(),
    }
}

record! {
    /// Lists the packages that are installed, with their versions.
    ///
    ///   salt '*' pkg.list_pkgs
    ///   salt '*' pkg.list_pkgs versions_as_list=True
    pub struct ListPkgs {
        /// Show each package's versions as a list.
        versions_as_list: Value = false,
        /// List those that are removed and have left their configuration.
        removed: Value = false,
        /// List those that are to be purged.
        purge_desired: Value = false,
        /// `attr`: show these of each version, a list or text with commas: `epoch`, `version`, `release`, `arch`,
        /// `install_date`, `install_date_time_t` or `all`, with rpm; `root`: another root, `includes`: a list of what is
        /// shown beside packages, `product`, `pattern` or `patch`, for zypper. Others are taken and not used.
        kwargs: Keywords,
    }
}

impl Run for ListPkgs {
    fn run(self, ctx: &Ctx) -> Reply {
        let manager = Manager::of(ctx)?;
        let root = self.kwargs.0.str_at("root");
        let asked = dnf::split(self.kwargs.0.at("attr").filter(|attr| attr.truthy()));
        let is_rpm = matches!(manager, Manager::Dnf | Manager::Zypper);
        if is_rpm && !asked.is_empty() && !is_true(&self.removed) && !is_true(&self.purge_desired) {
            let mut shown = rpm::attributes(ctx, root, &asked)?;
            shown.retain(|name, _| manager == Manager::Dnf || !name.as_text().starts_with("gpg-pubkey"));
            return Ok(shown.into());
        }
        let packages = match manager {
            Manager::Apt if is_true(&self.removed) => apt::known(ctx)?.removed,
            Manager::Apt if is_true(&self.purge_desired) => apt::known(ctx)?.purge_desired,
            _ if is_true(&self.removed) || is_true(&self.purge_desired) => Packages::default(),
            Manager::Zypper => zypper::installed(ctx, root, &dnf::split(self.kwargs.0.at("includes")))?,
            manager => manager.installed(ctx, root)?,
        };
        Ok(if is_true(&self.versions_as_list) { packages.shown_as_lists() } else { packages.shown() }.into())
    }
}

record! {
    /// Shows the versions of packages that are installed; an empty text where there is none.
    ///
    ///   salt '*' pkg.version bash
    ///   salt '*' pkg.version bash coreutils 'lib*'
    pub struct Version {
        /// The packages, or shell patterns.
        names: Rest,
        /// `versions_as_list`: show lists.
        kwargs: Keywords,
    }
}

impl Run for Version {
    fn run(self, ctx: &Ctx) -> Reply {
        let names = names(&self.names);
        if names.is_empty() {
            return Ok(Map::new().into());
        }
        let packages = Manager::of(ctx)?.installed(ctx, self.kwargs.0.str_at("root"))?;
        let as_list = is_on(&self.kwargs, "versions_as_list", false);
        let shown = |name: &str| match as_list {
            true => Value::list(packages.0.get(name).into_iter().flatten().map(String::as_str)),
            false => packages.text(name).into(),
        };
        let (mut all, mut has_pattern) = (Map::new(), false);
        for name in &names {
            if !name.contains('*') {
                all.insert(name.as_str(), shown(name));
                continue;
            }
            has_pattern = true;
            for found in packages.0.keys().filter(|found| fnmatch(found, name)) {
                all.insert(found.as_str(), shown(found));
            }
        }
        Ok(if has_pattern { all.into() } else { one_or_all(all) }.into())
    }
}

record! {
    /// Shows the newest version of packages that can be had, an empty text where none is newer than what is installed.
    ///
    ///   salt '*' pkg.latest_version bash
    ///   salt '*' pkg.available_version bash
    pub struct LatestVersion {
        /// The packages.
        names: Rest,
        /// `refresh` (True): read the lists anew first; `cache_valid_time`: not if they are younger than these seconds;
        /// `show_installed`: also show what is installed; `fromrepo`: where to look; `enablerepo`, `disablerepo`,
        /// `disableexcludes`, `branch`, `setopt` of dnf; `root` of zypper.
        kwargs: Keywords,
    }
}

impl Run for LatestVersion {
    fn run(self, ctx: &Ctx) -> Reply {
        let keywords = &self.kwargs;
        let manager = Manager::of(ctx)?;
        let mut how = super::change::how(&keywords.0);
        match keywords.0.str_at("repo") {
            Some(_) if manager == Manager::Apt => {
                return Err(Fault::invocation("The 'repo' argument is invalid, use 'fromrepo' instead"));
            }
            repo => how.fromrepo = how.fromrepo.or(repo.map(str::to_owned)),
        }
        let names = names(&self.names);
        if names.is_empty() {
            return Ok(if manager == Manager::Zypper { Map::new().into() } else { Value::from("") }.into());
        }
        if is_on(keywords, "refresh", true) {
            super::change::refresh_unless_fresh(ctx, manager, &how)?;
        }
        Ok(one_or_all(latest(ctx, manager, &names, is_on(keywords, "show_installed", false), &how)?).into())
    }
}

/// For each name the newest version, empty where it is installed.
pub(super) fn latest(
    ctx: &Ctx,
    manager: Manager,
    names: &[String],
    show_installed: bool,
    how: &How,
) -> Result<Map, Fault> {
    match manager {
        Manager::Apt => {}
        Manager::Dnf => return dnf::latest(ctx, names, how),
        Manager::Zypper => return zypper::latest(ctx, names, how),
        Manager::Apk => return apk::latest(ctx, names),
    }
    let installed = apt::installed(ctx)?;
    let candidates = apt::candidates(ctx, names, how.fromrepo.as_deref())?;
    let mut shown = Map::new();
    for name in names {
        let candidate = candidates.str_at(name).unwrap_or_default();
        let mut is_newer = true;
        if !show_installed && !candidate.is_empty() {
            for had in installed.0.get(name).into_iter().flatten() {
                let order = manager.compare(ctx, had, candidate)?;
                is_newer &= !matches!(order, Some(Ordering::Greater | Ordering::Equal));
            }
        }
        shown.insert(name.as_str(), if is_newer { candidate } else { "" });
    }
    Ok(shown)
}

record! {
    /// Shows whether a newer version of a package can be had.
    ///
    ///   salt '*' pkg.upgrade_available bash
    pub struct UpgradeAvailable {
        /// The package.
        name: String,
        /// `refresh` (True) and what `pkg.latest_version` takes.
        kwargs: Keywords,
    }
}

impl Run for UpgradeAvailable {
    fn run(self, ctx: &Ctx) -> Reply {
        let manager = Manager::of(ctx)?;
        let how = super::change::how(&self.kwargs.0);
        if is_on(&self.kwargs, "refresh", true) {
            super::change::refresh_unless_fresh(ctx, manager, &how)?;
        }
        let newest = latest(ctx, manager, std::slice::from_ref(&self.name), false, &how)?;
        Ok(newest.str_at(&self.name).is_some_and(|version| !version.is_empty()).into())
    }
}

record! {
    /// Lists the packages that an upgrade would change, with their new versions.
    ///
    ///   salt '*' pkg.list_upgrades
    ///   salt '*' pkg.list_updates
    pub struct ListUpgrades {
        /// Read the lists anew first.
        refresh: Value = true,
        /// Also what needs other packages, with apt.
        dist_upgrade: bool = true,
        /// `cache_valid_time`: do not read lists that are younger than these seconds, with apt; `fromrepo`: where to look;
        /// `enablerepo`, `disablerepo`, `disableexcludes`, `branch`, `setopt` of dnf; `root` of zypper.
        kwargs: Keywords,
    }
}

impl Run for ListUpgrades {
    fn run(self, ctx: &Ctx) -> Reply {
        let manager = Manager::of(ctx)?;
        let how = How { dist_upgrade: self.dist_upgrade, ..super::change::how(&self.kwargs.0) };
        if is_true(&self.refresh) {
            super::change::refresh_unless_fresh(ctx, manager, &how)?;
        }
        Ok(manager.upgrades(ctx, &how)?.into())
    }
}

record! {
    /// Compares two versions: -1, 0 or 1. None: they cannot be compared.
    ///
    ///   salt '*' pkg.version_cmp '0.2.4-0ubuntu1' '0.2.4.1-0ubuntu1'
    pub struct VersionCmp {
        /// A version.
        pkg1: Value,
        /// Another one.
        pkg2: Value,
        /// Whether what stands before a colon does not count.
        ignore_epoch: bool = false,
        kwargs: Keywords,
    }
}

impl Run for VersionCmp {
    fn run(self, ctx: &Ctx) -> Reply {
        let version = |value: &Value| {
            let text = value.to_text();
            match text.split_once(':') {
                Some((_, rest)) if self.ignore_epoch => rest.to_owned(),
                _ => text,
            }
        };
        let order = Manager::of(ctx)?.compare(ctx, &version(&self.pkg1), &version(&self.pkg2))?;
        Ok(order.map(|order| order as i64).map_or(Value::Null, Value::from).into())
    }
}

record! {
    /// Shows which package a file belongs to; an empty text: none.
    ///
    ///   salt '*' pkg.owner /usr/bin/apt-get
    ///   salt '*' pkg.owner /usr/bin/apt-get /usr/bin/basename
    pub struct Owner {
        /// The paths.
        paths: Rest,
        kwargs: Keywords,
    }
}

impl Run for Owner {
    fn run(self, ctx: &Ctx) -> Reply {
        let paths = names(&self.paths);
        let manager = Manager::of(ctx)?;
        if paths.is_empty() {
            return Ok(if manager == Manager::Apk { "You must provide a path" } else { "" }.into());
        }
        let mut shown = Map::new();
        for path in paths {
            let owner = manager.owner(ctx, &path, self.kwargs.0.str_at("root"))?;
            shown.insert(path, owner);
        }
        Ok(one_or_all(shown).into())
    }
}

record! {
    /// Lists the files of packages, or of all; of apk by package.
    ///
    ///   salt '*' pkg.file_list hostname
    ///   salt '*' pkg.file_list hostname mount
    pub struct FileList {
        /// The packages.
        packages: Rest,
        /// `root`: another root, for dnf and zypper.
        kwargs: Keywords,
    }
}

impl Run for FileList {
    fn run(self, ctx: &Ctx) -> Reply {
        let names = names(&self.packages);
        super::check_names(&names)?;
        match Manager::of(ctx)? {
            Manager::Apt => {}
            Manager::Dnf | Manager::Zypper => {
                return Ok(rpm::file_list(ctx, &names, self.kwargs.0.str_at("root"))?.into());
            }
            Manager::Apk => return apk::file_dict(ctx, &names),
        }
        if let Some(complaint) = debian::unknown(ctx, &names)? {
            return Ok(complaint.into());
        }
        let mut files = std::collections::BTreeSet::new();
        for name in listed(ctx, names)? {
            files.extend(apt::files(ctx, &name)?);
        }
        let errors = Value::List(Vec::new());
        Ok(Map::from_iter([("errors", errors), ("files", Value::list(files))]).into())
    }
}

/// The packages that a call names, else all.
fn listed(ctx: &Ctx, names: Vec<String>) -> Result<Vec<String>, Fault> {
    match names.is_empty() {
        false => Ok(names),
        true => Ok(apt::installed(ctx)?.0.into_keys().collect()),
    }
}

record! {
    /// Lists the files of packages, or of all, by package.
    ///
    ///   salt '*' pkg.file_dict hostname
    ///   salt '*' pkg.file_dict hostname mount
    pub struct FileDict {
        /// The packages.
        packages: Rest,
        /// `root`: another root, for dnf and zypper.
        kwargs: Keywords,
    }
}

impl Run for FileDict {
    fn run(self, ctx: &Ctx) -> Reply {
        let names = names(&self.packages);
        super::check_names(&names)?;
        match Manager::of(ctx)? {
            Manager::Apt => {}
            Manager::Dnf | Manager::Zypper => {
                return Ok(rpm::file_dict(ctx, &names, self.kwargs.0.str_at("root"))?.into());
            }
            Manager::Apk => return apk::file_dict(ctx, &names),
        }
        if let Some(complaint) = debian::unknown(ctx, &names)? {
            return Ok(complaint.into());
        }
        let mut packages = Map::new();
        for name in listed(ctx, names)? {
            let files = Value::list(apt::files(ctx, &name)?);
            packages.insert(name, files);
        }
        let errors = Value::List(Vec::new());
        Ok(Map::from_iter([("errors", errors), ("packages", packages.into())]).into())
    }
}

record! {
    /// Lists all versions of packages that can be had, or of all packages.
    ///
    ///   salt '*' pkg.list_repo_pkgs
    ///   salt '*' pkg.list_repo_pkgs foo bar baz
    ///   salt '*' pkg.list_repo_pkgs 'samba4*' fromrepo=base,updates byrepo=True
    pub struct ListRepoPkgs {
        /// The packages, or shell patterns with dnf and zypper.
        args: Rest,
        /// `fromrepo`, `byrepo` (list them by repository) of dnf and zypper; `enablerepo`, `disablerepo`, `cacheonly` of
        /// dnf; `root` of zypper.
        kwargs: Keywords,
    }
}

impl Run for ListRepoPkgs {
    fn run(self, ctx: &Ctx) -> Reply {
        let those = [Manager::Apt, Manager::Dnf, Manager::Zypper];
        let manager = Manager::expect(ctx, "list_repo_pkgs", &those)?;
        let names = names(&self.args);
        if manager == Manager::Apt {
            let found = apt::offered(ctx, &names)?;
            return Ok(found.into_iter().map(|(name, versions)| (name, Value::list(versions))).collect::<Map>().into());
        }
        let how = super::change::how(&self.kwargs.0);
        let offers = match manager {
            Manager::Zypper => zypper::offers(ctx, &names, &how)?,
            _ => dnf::offers(ctx, &names, &how)?,
        };
        let by_name =
            |packages: &Map| -> std::collections::BTreeSet<String> { packages.keys().map(Value::to_text).collect() };
        if is_on(&self.kwargs, "byrepo", false) {
            let sorted = |packages: &Value| -> Map {
                let packages = Map::from_iter([("one", packages.clone())]);
                let names = packages.at("one").and_then(Value::as_map).map(by_name).unwrap_or_default();
                names
                    .into_iter()
                    .map(|name| {
                        let versions = dnf::versions_of(&packages, &name);
                        (name, Value::list(versions))
                    })
                    .collect()
            };
            return Ok(offers.iter().map(|(repo, packages)| (repo.clone(), sorted(packages))).collect::<Map>().into());
        }
        let names: std::collections::BTreeSet<String> =
            offers.values().filter_map(Value::as_map).flat_map(by_name).collect();
        let versions = names.into_iter().map(|name| {
            let versions = Value::list(dnf::versions_of(&offers, &name));
            (name, versions)
        });
        Ok(versions.collect::<Map>().into())
    }
}

record! {
    /// Shows what the lists of packages say of some, by version.
    ///
    ///   salt '*' pkg.show bash
    ///   salt '*' pkg.show bash filter=description,provides
    pub struct ShowPackages {
        /// The packages, or shell patterns.
        names: Rest,
        /// `filter`: the fields that are shown; `refresh`: read the lists anew first.
        kwargs: Keywords,
    }
}

impl Run for ShowPackages {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect(ctx, "show", &[Manager::Apt])?;
        debian::show(ctx, &names(&self.names), &self.kwargs.0)
    }
}

record! {
    /// Shows what is known of packages that are installed.
    ///
    ///   salt '*' pkg.info_installed bash
    pub struct InfoInstalled {
        /// The packages; without any all.
        names: Rest,
        /// `failhard` (True): fail where one is not installed, with apt; `attr` (text with commas): show these alone,
        /// `all_versions`: list all versions of each, `root`: another root, for dnf and zypper.
        kwargs: Keywords,
    }
}

impl Run for InfoInstalled {
    fn run(self, ctx: &Ctx) -> Reply {
        let names = names(&self.names);
        super::check_names(&names)?;
        match Manager::of(ctx)? {
            Manager::Apt => debian::info(ctx, &names, is_on(&self.kwargs, "failhard", true)),
            Manager::Dnf | Manager::Zypper => {
                let more = &self.kwargs.0;
                let which =
                    if is_on(&self.kwargs, "all_versions", false) { rpm::Which::All } else { rpm::Which::Newest };
                let asked = dnf::split(more.at("attr").filter(|attr| attr.truthy()));
                Ok(rpm::info(ctx, &names, &asked, which, more.str_at("root"))?.into())
            }
            Manager::Apk => Err(Fault::execution("'pkg.info_installed' is not available with apk")),
        }
    }
}

record! {
    /// Shows a package's name without the architecture that is the host's own.
    ///
    ///   salt '*' pkg.normalize_name zsh:amd64
    pub struct NormalizeName {
        /// The name.
        name: String,
    }
}

impl Run for NormalizeName {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(match Manager::of(ctx)? {
            Manager::Apt => apt::normalized(ctx, &self.name),
            Manager::Dnf | Manager::Zypper => rpm::normalized(ctx, &self.name),
            Manager::Apk => self.name,
        }
        .into())
    }
}

record! {
    /// Shows name and architecture of a package's name.
    ///
    ///   salt '*' pkg.parse_arch zsh:amd64
    pub struct ParseArch {
        /// The name.
        name: String,
    }
}

impl Run for ParseArch {
    fn run(self, ctx: &Ctx) -> Reply {
        let (name, arch) = match Manager::of(ctx)? {
            Manager::Apt => match self.name.rsplit_once(':') {
                Some((name, arch)) => (name, Some(arch)),
                None => (self.name.as_str(), None),
            },
            _ => rpm::split_arch(&self.name),
        };
        let arch = Value::from(arch);
        Ok(Map::from_iter([("name", name.into()), ("arch", arch)]).into())
    }
}
