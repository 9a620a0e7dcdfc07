//! Where dnf's packages come from: the `.repo` files in its directories, and Copr.

use super::{dnf, is_dnf, split};
use crate::pkg::repo_file::{Repo, RepoFile, Twice, files_in};
use crate::pkg::rpm;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, paths, text_file};
use halite_node::apt_sources::is_true;
use halite_value::{Map, Value};
use std::path::Path;

/// Settings of which a repository has one: where its packages are.
const LINKS: [&str; 3] = ["baseurl", "mirrorlist", "metalink"];

/// Which directories are looked at, and how strictly.
#[derive(Clone, Debug)]
pub struct Where {
    directories: Vec<String>,
    twice: Twice,
}

impl Where {
    /// From `basedir` and `strict_config`, as functions take them.
    pub fn read(more: &Map) -> Where {
        let is_strict = more.at("strict_config").is_none_or(is_true);
        Where {
            directories: split(more.at("basedir").filter(|value| value.truthy())),
            twice: if is_strict { Twice::Refused } else { Twice::LastCounts },
        }
    }

    /// The directories that are named, else those of the tool's configuration.
    fn directories(&self, ctx: &Ctx) -> Result<Vec<String>, Fault> {
        if !self.directories.is_empty() {
            return Ok(self.directories.clone());
        }
        let files = ["/etc/yum/yum.conf", "/etc/yum.conf", "/etc/dnf/dnf.conf", "/etc/tdnf/tdnf.conf"];
        let Some(file) = files.into_iter().find(|file| paths::exists(ctx.host, file)) else {
            return Err(Fault::execution(format!("No suitable yum config file found in: {}", files.join(", "))));
        };
        let configuration = RepoFile::read(ctx, file, self.twice)?;
        let set = configuration.repo("main").and_then(|main| main.settings.at("reposdir"));
        Ok(match set {
            Some(directories) => split(Some(directories)),
            None => ["/etc/yum/repos.d", "/etc/yum.repos.d"].map(str::to_owned).to_vec(),
        })
    }
}

/// `copr:OWNER/PROJECT` as its section is named.
fn section(repo: &str) -> String {
    match repo.strip_prefix("copr:").and_then(|rest| rest.split_once('/')) {
        Some((owner, project)) => format!("copr:copr.fedorainfracloud.org:{owner}:{project}"),
        None => repo.to_owned(),
    }
}

/// Each file with its repositories.
fn files(ctx: &Ctx, at: &Where) -> Result<Vec<(String, RepoFile)>, Fault> {
    let mut files = Vec::new();
    for directory in at.directories(ctx)? {
        for path in files_in(ctx.host, &directory) {
            match RepoFile::read(ctx, &path, at.twice) {
                Ok(file) => files.push((path, file)),
                Err(fault) if at.twice == Twice::Refused => return Err(fault),
                Err(fault) => log::error!("{fault}"),
            }
        }
    }
    Ok(files)
}

/// All repositories by name, each with its file.
pub fn all(ctx: &Ctx, at: &Where) -> Result<Map, Fault> {
    let mut shown = Map::new();
    for (path, file) in files(ctx, at)? {
        for repo in file.repos {
            let mut entry = repo.shown();
            entry.insert("file", path.as_str());
            shown.insert(repo.id, entry);
        }
    }
    Ok(shown)
}

/// The repository with this name; empty: there is none.
pub fn one(ctx: &Ctx, repo: &str, at: &Where) -> Result<Map, Fault> {
    let id = section(repo);
    let found = files(ctx, at)?.into_iter().rev().find_map(|(_, file)| file.repo(&id).map(Repo::shown));
    Ok(found.unwrap_or_default())
}

/// Removes a repository, and its file with the last one. What was done, in words.
pub fn delete(ctx: &Ctx, repo: &str, at: &Where) -> Result<String, Fault> {
    let id = section(repo);
    let Some((path, mut file)) = files(ctx, at)?.into_iter().rev().find(|(_, file)| file.repo(&id).is_some()) else {
        let directories = Value::list(at.directories(ctx)?);
        return Ok(format!("Error: the {id} repo does not exist in {}", directories.to_text()));
    };
    file.repos.retain(|repo| repo.id != id);
    if file.repos.is_empty() {
        ctx.host.remove(Path::new(&path)).map_err(|error| Fault::execution(format!("{path}: {error}")))?;
        return Ok(format!("File {path} containing repo {id} has been removed"));
    }
    text_file::write(ctx.host, &path, &file.text())?;
    Ok(format!("Repo {id} has been removed from {path}"))
}

/// Makes or changes a repository: settings that are given, those that are empty are removed. The file with all of it.
pub fn change(ctx: &Ctx, repo: &str, given: &Map, at: &Where) -> Result<Map, Fault> {
    let mut given = given.clone();
    given
        .retain(|key, _| !["saltenv", "basedir"].contains(&key.as_text().as_ref()) && !key.to_text().starts_with("__"));
    if LINKS.iter().filter(|link| given.contains(link)).count() > 1 {
        return Err(Fault::invocation(format!("One and only one of {} can be used", LINKS.join(", "))));
    }
    // What is empty is removed; 0 and False are settings.
    let is_empty =
        |value: &Value| !value.truthy() && !matches!(value, Value::Int(_) | Value::Bool(_) | Value::Float(_));
    let mut gone: Vec<String> =
        given.iter().filter(|(_, value)| is_empty(value)).map(|(key, _)| key.to_text()).collect();
    given.retain(|_, value| !is_empty(value));
    if let Some(link) = LINKS.iter().find(|link| given.contains(link)) {
        gone.extend(LINKS.iter().filter(|other| other != &link).map(|other| (*other).to_owned()));
    }
    if gone.iter().any(|key| key == "name") {
        return Err(Fault::invocation("The repo name cannot be deleted"));
    }
    let id = section(repo);
    let find = || Ok(files(ctx, at)?.into_iter().rev().find(|(_, file)| file.repo(&id).is_some()));
    let (path, mut file) = match find()? {
        Some(found) => found,
        None => match repo.strip_prefix("copr:") {
            Some(project) => {
                enable_copr(ctx, project)?;
                find()?
                    .ok_or_else(|| Fault::execution(format!("{project} was enabled, but no repository {id} came")))?
            }
            None => made(ctx, &id, &given, at)?,
        },
    };
    let Some(repo) = file.repos.iter_mut().find(|repo| repo.id == id) else {
        return Err(Fault::Internal(format!("{path} has no {id}")));
    };
    for link in LINKS {
        let others: Vec<&str> = LINKS.into_iter().filter(|other| *other != link).collect();
        let is_last = others.iter().all(|other| !given.contains(other) && !repo.settings.contains(other));
        if is_last && gone.iter().any(|key| key == link) {
            return Err(Fault::invocation(format!("Cannot delete {link} without specifying {}", others.join(" or "))));
        }
    }
    for key in &gone {
        repo.settings.remove(key);
    }
    match given.remove("comments") {
        Some(Value::List(comments)) => repo.comments = comments.iter().map(Value::to_text).collect(),
        Some(comment) => repo.comments = vec![comment.to_text()],
        None if gone.iter().any(|key| key == "comments") => repo.comments.clear(),
        None => {}
    }
    repo.settings.extend(given);
    text_file::write(ctx.host, &path, &file.text())?;
    let shown: Map = file.repos.iter().map(|repo| (repo.id.as_str(), repo.settings.clone())).collect();
    Ok(Map::from_iter([(path, shown)]))
}

/// A file of its own for a new repository.
fn made(ctx: &Ctx, id: &str, given: &Map, at: &Where) -> Result<(String, RepoFile), Fault> {
    let directories = at.directories(ctx)?;
    let Some(directory) = directories.iter().find(|directory| paths::exists(ctx.host, directory)) else {
        return Err(Fault::invocation(format!(
            "The repo does not exist and needs to be created, but none of the following basedir directories exist: {}",
            Value::list(directories).to_text()
        )));
    };
    if id.contains('/') {
        return Err(Fault::invocation(format!("'{id}' cannot be the name of a file in {directory}")));
    }
    if !given.contains("name") {
        return Err(Fault::invocation("The repo does not exist and needs to be created, but a name was not given"));
    }
    if !LINKS.iter().any(|link| given.contains(link)) {
        return Err(Fault::invocation(format!(
            "The repo does not exist and needs to be created, but none of {} was given",
            LINKS.join(", ")
        )));
    }
    let repo = Repo { id: id.to_owned(), ..Repo::default() };
    Ok((format!("{directory}/{id}.repo"), RepoFile { repos: vec![repo], ..RepoFile::default() }))
}

fn enable_copr(ctx: &Ctx, project: &str) -> Result<(), Fault> {
    let plugin = if is_dnf(ctx) { "dnf-plugins-core" } else { "yum-plugin-copr" };
    if !rpm::installed(ctx, None)?.0.contains_key(plugin) {
        return Err(Fault::invocation(format!("{plugin} must be installed to use COPR")));
    }
    let program: Program = dnf(ctx, ["copr", "enable", project, "-y"]);
    program.run(ctx)?.expect_success(&format!("Unable to add COPR '{project}'")).map(drop)
}
