//! Where zypper's packages come from: what its `.repo` files say, and what zypper makes of them.

use super::call::Zypper;
use crate::pkg::repo_file::{Repo, RepoFile, Twice, files_in};
use halite_core::accounts::below;
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

const DIRECTORY: &str = "etc/zypp/repos.d";

fn read(ctx: &Ctx, root: Option<&str>) -> Result<Vec<Repo>, Fault> {
    let directory = below(root, DIRECTORY).to_string_lossy().into_owned();
    let mut repos = Vec::new();
    for path in files_in(ctx.host, &directory) {
        repos.extend(RepoFile::read(ctx, &path, Twice::LastCounts)?.repos);
    }
    Ok(repos)
}

/// What `pkg.get_repo` shows: `0` and `1` are a no and a yes.
fn shown(repo: &Repo) -> Map {
    let value = |value: &Value| match value.as_str() {
        Some("0") => false.into(),
        Some("1") => true.into(),
        Some("NONE") => Value::Null,
        _ => value.clone(),
    };
    let mut shown: Map = repo.settings.iter().map(|(key, setting)| (key.clone(), value(setting))).collect();
    shown.insert("alias", repo.id.as_str());
    shown
}

pub fn all(ctx: &Ctx, root: Option<&str>) -> Result<Map, Fault> {
    Ok(read(ctx, root)?.iter().map(|repo| (repo.id.as_str(), shown(repo))).collect())
}

/// The repository with this name; empty: there is none.
pub fn one(ctx: &Ctx, repo: &str, root: Option<&str>) -> Result<Map, Fault> {
    Ok(read(ctx, root)?.iter().rev().find(|known| known.id == repo).map(shown).unwrap_or_default())
}

pub fn delete(ctx: &Ctx, repo: &str, root: Option<&str>) -> Result<Map, Fault> {
    if !one(ctx, repo, root)?.is_empty() {
        let words = ["rr", "--loose-auth", "--loose-query", repo].map(str::to_owned).to_vec();
        let told = Zypper::at(root).change_xml(ctx, words)?;
        if let Some(message) = told.messages("info").into_iter().next() {
            return Ok(Map::from_iter([(repo, Value::from(true)), ("message", message.into())]));
        }
    }
    Err(Fault::execution(format!("Repository '{repo}' not found.")))
}

/// An address with the path that it means.
fn normal(url: &str) -> String {
    match url.split_once("://") {
        Some((_, rest)) if !rest.contains('/') => format!("{url}/"),
        _ => url.to_owned(),
    }
}

/// Makes or changes a repository.
pub fn change(ctx: &Ctx, repo: &str, given: &Map, root: Option<&str>) -> Result<Map, Fault> {
    if !crate::pkg::is_name(repo) {
        return Err(Fault::invocation(format!("'{repo}' is not the name of a repository")));
    }
    let known = one(ctx, repo, root)?;
    let is_new = known.is_empty();
    if is_new {
        add(ctx, repo, given, root)?;
    } else if let Some(url) = given.at("baseurl").filter(|url| Some(*url) != known.at("baseurl")) {
        // zypper changes no address: the repository goes and comes again.
        let mut all = known.clone();
        all.extend(given.clone());
        all.insert("baseurl", url.clone());
        all.entry_or("cache", || false.into());
        delete(ctx, repo, root)?;
        return change(ctx, repo, &all, root);
    }
    let mut words = vec!["mr".to_owned()];
    let switches = [
        ("enabled", "--enable", "--disable"),
        ("refresh", "--refresh", "--no-refresh"),
        ("cache", "--keep-packages", "--no-keep-packages"),
        ("gpgcheck", "--gpgcheck", "--no-gpgcheck"),
    ];
    for (key, yes, no) in switches {
        words.extend(given.at(key).map(|on| if on.truthy() { yes } else { no }.to_owned()));
    }
    words.extend(given.at("priority").map(|priority| format!("--priority={}", priority.to_text())));
    words.extend(given.at("humanname").map(|name| format!("--name={}", name.to_text())));
    if let Some(name) = given.at("name") {
        words.extend(["--name".to_owned(), name.to_text()]);
    }
    let changes = words.len() > 1;
    if changes {
        words.push(repo.to_owned());
        Zypper::at(root).refreshing().change_xml(ctx, words)?;
    }
    let refreshes = given.at("gpgautoimport") == Some(&Value::Bool(true));
    if refreshes {
        let more = Map::from_iter([("repos", Value::from(repo)), ("gpgautoimport", true.into())]);
        super::refresh(ctx, &more, root)?;
    }
    let mut shown = one(ctx, repo, root)?;
    if !refreshes && !is_new && !changes {
        shown.insert("comment", "Specified arguments did not result in modification of repo");
    }
    Ok(shown)
}

fn add(ctx: &Ctx, repo: &str, given: &Map, root: Option<&str>) -> Result<(), Fault> {
    let url = ["url", "mirrorlist", "baseurl"].iter().find_map(|key| given.at(key)).filter(|url| url.truthy());
    let Some(url) = url.map(Value::to_text) else {
        return Err(Fault::execution(format!(
            "Repository '{repo}' not found, and neither 'baseurl' nor 'mirrorlist' was specified"
        )));
    };
    let scheme = url.split_once(':').map(|(scheme, _)| scheme).unwrap_or_default();
    if scheme.is_empty() || !scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) {
        return Err(Fault::execution(format!(
            "Repository '{repo}' not found and URL for baseurl/mirrorlist is malformed"
        )));
    }
    let is_same = |known: &Repo| known.settings.str_at("baseurl").is_some_and(|known| normal(known) == normal(&url));
    if let Some(known) = read(ctx, root)?.iter().find(|known| is_same(known)) {
        return Err(Fault::execution(format!("Repository '{repo}' already exists as '{}'.", known.id)));
    }
    Zypper::at(root).change_xml(ctx, vec!["ar".to_owned(), url, repo.to_owned()])?;
    match one(ctx, repo, root)?.is_empty() {
        false => Ok(()),
        true => Err(Fault::execution(format!(
            "Failed add new repository '{repo}' for unspecified reason. Please check zypper logs."
        ))),
    }
}
