//! `pkg.*`: packages, with the tools of whatever distribution the host has: apt, dnf, zypper or apk.

mod apk;
mod apt;
mod change;
mod checks;
mod debian;
mod dnf;
mod fetched;
mod keys;
mod locks;
mod manager;
mod repo_file;
mod rpm;
mod show;
mod suse;
mod zypper;

use halite_core::module::{Module, function};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "pkg",
    doc: "Packages of the host's distribution.",
    functions: &[
        function::<keys::AddRepoKey>("add_repo_key"),
        function::<change::Autoremove>("autoremove"),
        function::<show::LatestVersion>("available_version"),
        function::<locks::CleanLocks>("clean_locks"),
        function::<change::RefreshDb>("clean_metadata"),
        function::<debian::DelRepo>("del_repo"),
        function::<keys::DelRepoKey>("del_repo_key"),
        function::<fetched::Diff>("diff"),
        function::<fetched::Download>("download"),
        function::<show::FileDict>("file_dict"),
        function::<show::FileList>("file_list"),
        function::<locks::ListHolds>("get_locked_packages"),
        function::<debian::GetRepo>("get_repo"),
        function::<keys::GetRepoKeys>("get_repo_keys"),
        function::<debian::GetSelections>("get_selections"),
        function::<dnf::groups::GroupDiff>("group_diff"),
        function::<dnf::groups::GroupInfo>("group_info"),
        function::<dnf::groups::GroupInstall>("group_install"),
        function::<dnf::groups::GroupList>("group_list"),
        function::<dnf::groups::GroupInstall>("groupinstall"),
        function::<locks::Hold>("hold"),
        function::<suse::InfoAvailable>("info_available"),
        function::<show::InfoInstalled>("info_installed"),
        function::<change::Install>("install"),
        function::<show::LatestVersion>("latest_version"),
        function::<fetched::ListDownloaded>("list_downloaded"),
        function::<locks::ListHolds>("list_holds"),
        function::<suse::ListInstalledPatches>("list_installed_patches"),
        function::<suse::ListInstalledPatterns>("list_installed_patterns"),
        function::<locks::ListLocks>("list_locks"),
        function::<suse::ListPatches>("list_patches"),
        function::<suse::ListPatterns>("list_patterns"),
        function::<show::ListPkgs>("list_pkgs"),
        function::<suse::ListProducts>("list_products"),
        function::<suse::ListProvides>("list_provides"),
        function::<show::ListRepoPkgs>("list_repo_pkgs"),
        function::<debian::ListRepos>("list_repos"),
        function::<show::ListUpgrades>("list_updates"),
        function::<show::ListUpgrades>("list_upgrades"),
        function::<debian::ModRepo>("mod_repo"),
        function::<checks::Modified>("modified"),
        function::<show::NormalizeName>("normalize_name"),
        function::<show::Owner>("owner"),
        function::<show::ParseArch>("parse_arch"),
        function::<change::Purge>("purge"),
        function::<change::RefreshDb>("refresh_db"),
        function::<change::Remove>("remove"),
        function::<suse::ResolveCapabilities>("resolve_capabilities"),
        function::<suse::Search>("search"),
        function::<debian::ServicesNeedRestart>("services_need_restart"),
        function::<debian::SetSelections>("set_selections"),
        function::<show::ShowPackages>("show"),
        function::<locks::Unhold>("unhold"),
        function::<change::Update>("update"),
        function::<change::Upgrade>("upgrade"),
        function::<show::UpgradeAvailable>("upgrade_available"),
        function::<checks::Verify>("verify"),
        function::<show::Version>("version"),
        function::<show::VersionCmp>("version_cmp"),
        function::<debian::Which>("which"),
    ],
};

/// The versions of a package that are installed, several where the distribution allows that.
type Versions = Vec<String>;

/// Packages that are installed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Packages(std::collections::BTreeMap<String, Versions>);

impl Packages {
    fn add(&mut self, name: &str, version: &str) {
        let versions = self.0.entry(name.to_owned()).or_default();
        if let Err(at) = versions.binary_search_by(|known| known.as_str().cmp(version)) {
            versions.insert(at, version.to_owned());
        }
    }

    /// The versions of a package with commas between them; empty where there is none.
    fn text(&self, name: &str) -> String {
        self.0.get(name).map(|versions| versions.join(",")).unwrap_or_default()
    }

    fn shown(&self) -> Map {
        self.0.iter().map(|(name, versions)| (name.as_str(), versions.join(","))).collect()
    }

    fn shown_as_lists(&self) -> Map {
        self.0
            .iter()
            .map(|(name, versions)| (name.as_str(), Value::list(versions.iter().map(String::as_str))))
            .collect()
    }

    /// What is other than before: for each package its old and its new versions.
    fn changes_to(&self, new: &Packages) -> Map {
        let names: std::collections::BTreeSet<&String> = self.0.keys().chain(new.0.keys()).collect();
        let changed = names.into_iter().filter(|name| self.0.get(*name) != new.0.get(*name));
        changed.map(|name| (name.as_str(), change(&self.text(name), &new.text(name)))).collect()
    }
}

fn change(old: &str, new: &str) -> Map {
    Map::from_iter([("old", old), ("new", new)])
}

/// What a caller wants installed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Targets {
    /// Names, with a version or a comparison such as `>=1.2`.
    Named(Vec<(String, Option<String>)>),
    /// Files on this host.
    Files(Vec<String>),
    /// Patches, with dnf and zypper.
    Advisories(Vec<String>),
}

impl Targets {
    /// From `name`, `pkgs` and `sources`, as all functions of this module take them.
    fn read(ctx: &Ctx, name: Option<&str>, pkgs: &Value, sources: &Value) -> Result<Targets, Fault> {
        if pkgs.truthy() && sources.truthy() {
            return Err(Fault::invocation("Only one of \"pkgs\" and \"sources\" can be used."));
        }
        if pkgs.truthy() {
            let named = pairs(pkgs)?;
            let count = named.len();
            let mut unique = named;
            unique.sort();
            unique.dedup_by(|a, b| a.0 == b.0);
            if unique.len() != count {
                return Err(Fault::invocation(
                    "a package stands twice in the list: versions of one package are installed in calls of their own",
                ));
            }
            return Ok(Targets::Named(pairs(pkgs)?));
        }
        if sources.truthy() {
            return files(ctx, sources).map(Targets::Files);
        }
        let names = name.unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty());
        Ok(Targets::Named(names.map(|name| (name.to_owned(), None)).collect()))
    }

    fn is_empty(&self) -> bool {
        match self {
            Targets::Named(named) => named.is_empty(),
            Targets::Files(words) | Targets::Advisories(words) => words.is_empty(),
        }
    }
}

/// `[a, {b: 1.2}]`, a map, or text with commas.
fn pairs(given: &Value) -> Result<Vec<(String, Option<String>)>, Fault> {
    let entry = |name: &Value, version: &Value| {
        let version = (!version.is_null()).then(|| version.to_text()).filter(|version| !version.is_empty());
        (name.to_text(), version)
    };
    let items = match given {
        Value::Map(map) => return Ok(map.iter().map(|(name, version)| entry(name, version)).collect()),
        Value::List(items) => items.clone(),
        other => other.to_text().split(',').map(|name| name.trim().into()).collect(),
    };
    let mut all = Vec::new();
    for item in &items {
        match item {
            Value::Map(map) => all.extend(map.iter().map(|(name, version)| entry(name, version))),
            Value::List(_) | Value::Null => {
                return Err(Fault::invocation("a list of packages has names, or NAME: VERSION"));
            }
            name => all.push((name.to_text(), None)),
        }
    }
    Ok(all)
}

/// The files that `sources: [{name: address}]` means, fetched where they are elsewhere.
fn files(ctx: &Ctx, sources: &Value) -> Result<Vec<String>, Fault> {
    let client = halite_node::fileserver::client::FileClient::new(ctx);
    let saltenv = halite_node::fileserver::client::saltenv(ctx, None);
    let mut files = Vec::new();
    for (name, address) in pairs(sources)? {
        let address = address.ok_or_else(|| Fault::invocation(format!("sources: {name} has no address")))?;
        if address.starts_with('/') {
            files.push(address);
            continue;
        }
        let kept = client.cache_file(&address, &saltenv, &Default::default())?;
        let missing = || Fault::execution(format!("Unable to cache source {address} for package {name}"));
        files.push(kept.ok_or_else(missing)?);
    }
    Ok(files)
}

/// A word that a program takes for a package, and not for an option.
fn is_name(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-')
}

fn check_names<'n>(names: impl IntoIterator<Item = &'n String>) -> Result<(), Fault> {
    match names.into_iter().find(|name| !is_name(name)) {
        Some(name) => Err(Fault::invocation(format!("'{name}' is not the name of a package"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
