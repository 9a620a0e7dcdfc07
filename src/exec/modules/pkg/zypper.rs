//! zypper of SUSE. What is installed is asked of rpm.

mod call;
pub mod locks;
pub mod repos;
pub mod search;

use super::manager::{Done, How};
use super::rpm::{self, compare};
use super::{Packages, Targets, check_names, fetched};
use call::Zypper;
use halite_core::{Ctx, Fault};
use halite_lang::target::fnmatch::fnmatch;
use halite_node::apt_sources::is_true;
use halite_value::{Map, Value};
use std::collections::BTreeSet;

/// Which lists are read anew: True where one has changed.
pub fn refresh(ctx: &Ctx, more: &Map, root: Option<&str>) -> Result<Value, Fault> {
    let configured = || ctx.pillar.at("zypper").and_then(|zypper| zypper.at("refreshdb_force"));
    let is_forced = match more.at("force") {
        None | Some(Value::Null) => configured().is_none_or(Value::truthy),
        Some(force) => force.truthy(),
    };
    let mut words: Vec<String> = Vec::new();
    if more.at("gpgautoimport").is_some_and(Value::truthy) {
        words.push("--gpg-auto-import-keys".to_owned());
    }
    words.push("refresh".to_owned());
    if is_forced {
        words.push("--force".to_owned());
    }
    words.extend(super::dnf::split(more.at("repos")));
    let told = Zypper::at(root).refreshing().change(ctx, words)?;
    let mut shown = Map::new();
    for line in told.lines() {
        let Some(name) = line.split('\'').nth(1).map(str::trim) else { continue };
        if line.trim().starts_with("Repository") && line.contains("is up to date") {
            shown.insert(name, false);
        } else if line.trim().starts_with("Building") && line.contains("done") {
            shown.insert(name, true);
        }
    }
    Ok(shown.into())
}

/// What is installed; `kinds`: what is listed beside packages, such as `patch` or `product`.
pub fn installed(ctx: &Ctx, root: Option<&str>, kinds: &[String]) -> Result<Packages, Fault> {
    let mut packages = rpm::installed(ctx, root)?;
    packages.0.retain(|name, _| !name.starts_with("gpg-pubkey"));
    for kind in kinds {
        let names: Vec<String> = match kind.as_str() {
            "product" => {
                for product in search::products(ctx, search::Products::Installed, root)? {
                    let text = |key: &str| product.at(key).map(Value::to_text).unwrap_or_default();
                    let version = format!("{}:{}-{}", text("epoch"), text("version"), text("release"));
                    packages.add(&format!("product:{}", text("name")), version.trim_start_matches(':'));
                }
                continue;
            }
            "pattern" => search::installed_patterns(ctx, root)?,
            "patch" => search::patches(ctx, search::Patches::Installed, root)?,
            _ => continue,
        }
        .keys()
        .map(Value::to_text)
        .collect();
        for name in names {
            let full = format!("{kind}:{name}");
            let known = search::info(ctx, std::slice::from_ref(&full), root)?;
            let version = known.at(&name).and_then(|info| info.at("version")).map(Value::to_text).unwrap_or_default();
            packages.add(&full, &version);
        }
    }
    Ok(packages)
}

/// The kinds of things that are named beside packages: `patch` of `patch:NAME`.
pub fn kinds(words: &[String]) -> Vec<String> {
    let kinds: BTreeSet<&str> = words.iter().filter_map(|word| word.split_once(':')).map(|(kind, _)| kind).collect();
    kinds.into_iter().map(str::to_owned).collect()
}

pub fn upgrades(ctx: &Ctx, how: &How) -> Result<Map, Fault> {
    let mut words = vec!["list-updates".to_owned()];
    for repo in super::dnf::split(how.more.at("fromrepo")) {
        words.extend(["--repo".to_owned(), repo]);
    }
    let document = Zypper::at(how.root.as_deref()).look_xml(ctx, words)?;
    let updates = document.all("update");
    let packages = updates.into_iter().filter(|update| update.str_at("kind") == Some("package"));
    Ok(packages.map(|update| (update.at("name").cloned().unwrap_or_default(), update.at("edition").cloned())).collect())
}

/// For each name the newest version where that is not installed, else an empty text.
pub fn latest(ctx: &Ctx, names: &[String], how: &How) -> Result<Map, Fault> {
    let known = search::info(ctx, names, how.root.as_deref())?;
    let newest = |name: &String| {
        let text = |key: &str| known.at(name).and_then(|info| info.at(key)).map(Value::to_text).unwrap_or_default();
        let status = text("status").to_lowercase();
        let is_newer = status.contains("not installed") || status.contains("out-of-date");
        if is_newer { text("version") } else { String::new() }
    };
    Ok(names.iter().map(|name| (name.as_str(), newest(name))).collect())
}

/// All versions that can be had of packages, by repository and name.
pub fn offers(ctx: &Ctx, names: &[String], how: &How) -> Result<Map, Fault> {
    check_names(names)?;
    let words = ["se", "-s"].into_iter().chain(names.iter().map(String::as_str)).map(str::to_owned).collect();
    let mut shown = Map::new();
    for found in Zypper::at(how.root.as_deref()).look_xml(ctx, words)?.all("solvable") {
        let text = |key: &str| found.str_at(key).unwrap_or_default();
        let (repo, name) = (text("repository"), text("name"));
        if text("kind") != "package" || repo.is_empty() || how.fromrepo.as_deref().is_some_and(|from| from != repo) {
            continue;
        }
        // zypper finds names that have the word anywhere.
        if !super::dnf::is_meant(name, names) {
            continue;
        }
        let version = Value::from(text("edition"));
        if let Value::Map(packages) = shown.entry_or(repo, || Map::new().into())
            && let Value::List(versions) = packages.entry_or(name, || Value::List(Vec::new()))
            && !versions.contains(&version)
        {
            versions.push(version);
        }
    }
    Ok(shown)
}

pub fn install(ctx: &Ctx, targets: &Targets, how: &How) -> Result<Done, Fault> {
    let root = how.root.as_deref();
    let is_on = |name: &str| how.more.at(name).is_some_and(is_true);
    let words = words(ctx, targets, how)?;
    // The kinds that a caller names: what comes of patches is told by their packages.
    let kinds = if matches!(targets, Targets::Advisories(_)) { Vec::new() } else { kinds(&words) };
    let before = installed(ctx, root, &kinds)?;
    let kept = if how.downloadonly { fetched::downloaded(ctx, root)? } else { Map::new() };
    let mut options: Vec<&str> = vec!["install", "--auto-agree-with-licenses"];
    options.push(if is_on("resolve_capabilities") { "--capability" } else { "--name" });
    if how.skip_verify {
        options.insert(0, "--no-gpg-checks");
    }
    if how.downloadonly {
        options.push("--download-only");
    }
    if let Some(repo) = &how.fromrepo {
        options.extend(["--force", "--force-resolution", "--from", repo]);
    }
    if is_on("no_recommends") || how.recommends == Some(false) {
        options.push("--no-recommends");
    }
    let call = |words: &[String]| {
        let all = options.iter().copied().map(str::to_owned).chain(words.iter().cloned()).collect();
        Zypper::at(root).forgiving(is_on("ignore_repo_failure")).change(ctx, all)
    };
    let mut older = Vec::new();
    for words in words.chunks(500) {
        for line in call(words)?.lines() {
            let rest = line.strip_prefix("The selected package '").filter(|rest| rest.contains("has lower version"));
            older.extend(rest.and_then(|rest| rest.split('\'').next()).map(str::to_owned));
        }
    }
    for words in older.chunks(500) {
        call(&["--force".to_owned()].into_iter().chain(words.iter().cloned()).collect::<Vec<String>>())?;
    }
    let changes = match how.downloadonly {
        true => fetched::changes(&kept, &fetched::downloaded(ctx, root)?),
        false => before.changes_to(&installed(ctx, root, &kinds)?),
    };
    Ok(Done { changes, errors: Vec::new() })
}

/// The words that zypper is given for what is wanted.
fn words(ctx: &Ctx, targets: &Targets, how: &How) -> Result<Vec<String>, Fault> {
    let root = how.root.as_deref();
    match targets {
        Targets::Files(files) => Ok(files.clone()),
        Targets::Advisories(ids) => {
            let known = search::patches(ctx, search::Patches::All, root)?;
            match ids.iter().find(|id| !known.contains(id)) {
                Some(id) => Err(Fault::execution(format!("Advisory id \"{id}\" not found"))),
                None => Ok(ids.iter().map(|id| format!("patch:{id}")).collect()),
            }
        }
        Targets::Named(named) => {
            check_names(named.iter().map(|(name, _)| name))?;
            let word = |(name, version): &(String, Option<String>)| {
                let Some(version) = version else { return Ok(name.clone()) };
                let at = version.find(|c| !matches!(c, '<' | '>' | '=')).unwrap_or(version.len());
                let (operator, wanted) = (&version[..at], version[at..].trim());
                let wanted =
                    if wanted.contains('*') { newest_like(ctx, name, wanted, root)? } else { wanted.to_owned() };
                Ok(format!("{name}{}{wanted}", if operator.is_empty() { "=" } else { operator }))
            };
            named.iter().map(word).collect()
        }
    }
}

/// The newest version of a package that is like a pattern.
fn newest_like(ctx: &Ctx, name: &str, pattern: &str, root: Option<&str>) -> Result<String, Fault> {
    let found = Zypper::at(root).look_xml(ctx, ["se", "-xv", name].map(str::to_owned).to_vec())?.all("solvable");
    let versions = found.iter().filter_map(|found| found.str_at("edition")).filter(|version| fnmatch(version, pattern));
    let newest = versions.max_by(|a, b| compare(a, b)).map(str::to_owned);
    newest.ok_or_else(|| Fault::execution(format!("No packages found matching '{name}' in the version '{pattern}'")))
}

pub fn upgrade(ctx: &Ctx, names: &[String], how: &How) -> Result<Done, Fault> {
    let root = how.root.as_deref();
    let before = installed(ctx, root, &[])?;
    let answer = Zypper::at(root).answer(ctx, upgrade_words(names, how)?)?;
    let errors = match call::is_success(answer.retcode) {
        true => Vec::new(),
        false => vec![answer.complaint().to_owned()],
    };
    Ok(Done { changes: before.changes_to(&installed(ctx, root, &[])?), errors })
}

/// What zypper says that an upgrade would do.
pub fn rehearse(ctx: &Ctx, names: &[String], how: &How) -> Result<String, Fault> {
    let mut words = upgrade_words(names, how)?;
    words.push("--dry-run".to_owned());
    let answer = Zypper::at(how.root.as_deref()).answer(ctx, words)?;
    let told = format!("{}\n{}", answer.stdout, answer.stderr).trim().to_owned();
    match call::is_success(answer.retcode) {
        true => Ok(told),
        false => Err(Fault::execution(format!("Problem encountered upgrading packages: {told}"))),
    }
}

fn upgrade_words(names: &[String], how: &How) -> Result<Vec<String>, Fault> {
    check_names(names)?;
    let is_on = |name: &str| how.more.at(name).is_some_and(is_true);
    let mut words: Vec<String> = Vec::new();
    if how.skip_verify {
        words.push("--no-gpg-checks".to_owned());
    }
    words.push(if how.dist_upgrade { "dist-upgrade" } else { "update" }.to_owned());
    words.push("--auto-agree-with-licenses".to_owned());
    for repo in super::dnf::split(how.more.at("fromrepo").filter(|value| value.truthy())) {
        words.extend([if how.dist_upgrade { "--from" } else { "--repo" }.to_owned(), repo]);
    }
    if how.dist_upgrade {
        words.extend(is_on("novendorchange").then(|| "--no-allow-vendor-change".to_owned()));
        words.extend(is_on("no_recommends").then(|| "--no-recommends".to_owned()));
    } else {
        words.extend(names.iter().cloned());
    }
    Ok(words)
}

/// Removes packages: names, or names with a version. What is a temporary fix is removed with what it came with.
pub fn remove(ctx: &Ctx, words: &[String], how: &How) -> Result<(), Fault> {
    let root = how.root.as_deref();
    let told = rpm::rpm(root).args(["-q", "--qf", "%{NAME}: [%{PROVIDES} ]\n"]);
    let told = told.args(words.iter().map(String::as_str)).query(ctx)?;
    let fixes: Vec<&str> = told
        .stdout
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(_, provides)| provides.contains("ptf()"))
        .map(|(name, _)| name)
        .collect();
    let (fixes, plain): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| fixes.contains(&word.as_str()));
    for words in plain.chunks(500) {
        let all = ["remove".to_owned()].into_iter().chain(words.iter().map(|word| (*word).clone())).collect();
        Zypper::at(root).change(ctx, all)?;
    }
    for words in fixes.chunks(500) {
        let first = ["removeptf", "--allow-downgrade"].map(str::to_owned).into_iter();
        Zypper::at(root).change(ctx, first.chain(words.iter().map(|word| (*word).clone())).collect())?;
    }
    Ok(())
}

/// Fetches packages; each with its file and where it came from.
pub fn download(ctx: &Ctx, names: &[String], root: Option<&str>) -> Result<Map, Fault> {
    let words = ["download"].into_iter().chain(names.iter().map(String::as_str)).map(str::to_owned).collect();
    let document = Zypper::at(root).change_xml(ctx, words)?;
    let mut shown = Map::new();
    for (name, repo, path) in document.downloads() {
        let is_whole = rpm::rpm(root).args(["-K", "--quiet", &path]).query(ctx)?.is_success();
        if is_whole {
            let text = |key: &str| repo.str_at(key).unwrap_or_default().to_owned();
            let entry = [("repository-name", text("name")), ("repository-alias", text("alias")), ("path", path)];
            shown.insert(name, Map::from_iter(entry));
        }
    }
    Ok(shown)
}

/// The services that use files which were upgraded since they started.
pub fn services_to_restart(ctx: &Ctx, root: Option<&str>) -> Result<Vec<String>, Fault> {
    let told = Zypper::at(root).look(ctx, ["ps", "-sss"].map(str::to_owned).to_vec())?;
    Ok(told.split_whitespace().map(str::to_owned).collect())
}
