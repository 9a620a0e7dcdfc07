//! dnf and what came before and after it: yum, dnf5, tdnf.

pub mod groups;
mod install;
pub mod locks;
pub mod repos;

pub use install::install;

use super::check_names;
use super::manager::{Done, How};
use super::rpm::{self, compare, installed};
use halite_core::program::{Answer, Program};
use halite_core::{Ctx, Fault};
use halite_lang::target::fnmatch::fnmatch;
use halite_node::apt_sources::is_true;
use halite_value::{Map, Value};
use std::cmp::Ordering;

/// The tool that the host has.
pub fn tool(ctx: &Ctx) -> &'static str {
    let tools = ["dnf5", "dnf", "tdnf"].into_iter();
    tools.into_iter().find(|tool| ctx.host.which(tool).is_some()).unwrap_or("yum")
}

fn is_dnf(ctx: &Ctx) -> bool {
    ["dnf", "dnf5"].contains(&tool(ctx))
}

fn dnf<const N: usize>(ctx: &Ctx, words: [&str; N]) -> Program {
    Program::new([tool(ctx)]).args(words)
}

/// A list, or a text with commas between its items.
pub fn split(value: Option<&Value>) -> Vec<String> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::List(items)) => items.iter().map(Value::to_text).collect(),
        Some(other) => other.to_text().split(',').map(|item| item.trim().to_owned()).collect(),
    }
}

/// Options that say where packages come from and go to.
pub fn options(how: &How) -> Vec<String> {
    let several = |name: &str| match how.more.at(name).filter(|value| value.truthy()) {
        Some(Value::List(items)) => items.iter().map(Value::to_text).collect(),
        value => value.map(Value::to_text).into_iter().collect::<Vec<String>>(),
    };
    let mut options = Vec::new();
    if let Some(repo) = &how.fromrepo {
        options.extend(["--disablerepo=*".to_owned(), format!("--enablerepo={repo}")]);
    } else {
        options.extend(several("disablerepo").iter().map(|repo| format!("--disablerepo={repo}")));
        options.extend(several("enablerepo").iter().map(|repo| format!("--enablerepo={repo}")));
    }
    for name in ["disableexcludes", "branch"] {
        options.extend(several(name).first().map(|value| format!("--{name}={value}")));
    }
    options.extend(split(how.more.at("setopt")).iter().map(|item| format!("--setopt={item}")));
    options.extend(how.root.iter().map(|root| format!("--installroot={root}")));
    options
}

/// True: there is something to upgrade to; None: there is nothing; False: it failed.
pub fn refresh(ctx: &Ctx, how: &How) -> Result<Value, Fault> {
    dnf(ctx, ["--quiet", "--assumeyes", "clean", "expire-cache"]).args(options(how)).run(ctx)?;
    let mut program = dnf(ctx, ["--quiet", "--assumeyes", "check-update"]);
    if ctx.grains.at("osmajorrelease").and_then(Value::as_int) == Some(7) {
        // It takes long where repositories are large, and nothing reads it.
        program = program.arg("--setopt=autocheck_running_kernel=false");
    }
    Ok(match program.args(options(how)).run(ctx)?.retcode {
        100 => true.into(),
        0 => Value::Null,
        _ => false.into(),
    })
}

/// A package that `dnf list` tells of.
struct Offered {
    name: String,
    version: String,
    repo: String,
}

/// Words of `dnf list` in threes: long ones have lines of their own.
fn offered(ctx: &Ctx, text: &str) -> Vec<Offered> {
    const HEADS: [&str; 5] =
        ["installed packages", "available packages", "available upgrades", "updated packages", "upgraded packages"];
    let lines = text.lines().filter(|line| !HEADS.contains(&line.trim().to_lowercase().as_str()));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let package = |words: &[&str]| Offered {
        name: rpm::normalized(ctx, words[0]),
        version: words[1].trim_end_matches('-').to_owned(),
        repo: words[2].trim_start_matches('@').to_owned(),
    };
    words.chunks_exact(3).map(package).collect()
}

/// For each name the newest version that can be had, empty where nothing newer than what is installed.
pub fn latest(ctx: &Ctx, names: &[String], how: &How) -> Result<Map, Fault> {
    check_names(names)?;
    let installed = installed(ctx, how.root.as_deref())?;
    let program = dnf(ctx, ["--quiet"]).args(options(how)).args(["list", "available"]);
    let told = program.args(names.iter().map(String::as_str)).query(ctx)?;
    let mut found = if told.is_success() { offered(ctx, &told.stdout) } else { Vec::new() };
    found.sort_by(|a, b| compare(&b.version, &a.version));
    let newest = |name: &String| {
        let had = || installed.0.get(name).into_iter().flatten();
        let fits = |package: &&Offered| {
            package.name == *name && had().all(|had| compare(had, &package.version) == Ordering::Less)
        };
        found.iter().find(fits).map_or_else(String::new, |package| package.version.clone())
    };
    Ok(names.iter().map(|name| (name.as_str(), newest(name))).collect())
}

pub fn upgrades(ctx: &Ctx, how: &How) -> Result<Map, Fault> {
    let what = if is_dnf(ctx) { "--upgrades" } else { "updates" };
    // It ends with 1 where there are none.
    let told = dnf(ctx, ["--quiet"]).args(options(how)).args(["list", what]).query(ctx)?;
    let found = offered(ctx, &told.stdout);
    Ok(found.into_iter().map(|package| (package.name, package.version)).collect())
}

/// All versions that can be had of packages, the newest first, by repository and name. `more`: `fromrepo`, `enablerepo`,
/// `disablerepo`, `cacheonly`.
pub fn offers(ctx: &Ctx, names: &[String], how: &How) -> Result<Map, Fault> {
    check_names(names)?;
    let listed = |name: &str| {
        let mut repos = split(how.more.at(name).filter(|value| value.truthy()));
        repos.retain(|repo| repo != "*");
        repos
    };
    let repos = match &how.fromrepo {
        Some(repos) => split(Some(&repos.as_str().into())),
        None => {
            let (enabled, disabled) = (listed("enablerepo"), listed("disablerepo"));
            let all = repos::all(ctx, &repos::Where::read(&how.more))?;
            let is_on = |(id, repo): &(&Value, &Value)| {
                let id = id.to_text();
                let is_set = repo.at("enabled").is_none_or(|on| on.to_text() == "1");
                enabled.contains(&id) || !disabled.contains(&id) && is_set
            };
            all.iter().filter(is_on).map(|(id, _)| id.to_text()).collect()
        }
    };
    let mut shown = Map::new();
    for repo in &repos {
        let mut program = match tool(ctx) {
            "tdnf" => dnf(ctx, ["--quiet"]).args([&format!("--enablerepo={repo}"), "list"]),
            _ => dnf(ctx, ["--quiet", "--showduplicates", "repository-packages", repo, "list"]),
        };
        if how.more.at("cacheonly").is_some_and(is_true) {
            program = program.arg("-C");
        }
        let told = program.args(names.iter().map(String::as_str)).query(ctx)?;
        for package in offered(ctx, &told.stdout) {
            if let Value::Map(packages) = shown.entry_or(package.repo, || Map::new().into())
                && let Value::List(versions) = packages.entry_or(package.name, || Value::List(Vec::new()))
                && !versions.contains(&package.version.as_str().into())
            {
                versions.push(package.version.into());
            }
        }
    }
    Ok(shown)
}

/// What one package has to offer, of what all repositories have: the newest first.
pub fn versions_of(offers: &Map, name: &str) -> Vec<String> {
    let of = |packages: &Value| packages.at(name).and_then(Value::as_list).unwrap_or_default().to_vec();
    let mut versions: Vec<String> = offers.values().flat_map(of).map(|version| version.to_text()).collect();
    versions.sort_by(|a, b| compare(b, a));
    versions
}

/// What `more` says that no option of ours is: options of the tool's own.
fn extra_options(more: &Map) -> Vec<String> {
    const OURS: [&str; 17] = [
        "name",
        "pkgs",
        "refresh",
        "skip_verify",
        "normalize",
        "minimal",
        "obsoletes",
        "diff_attr",
        "fromrepo",
        "repo",
        "disablerepo",
        "enablerepo",
        "disableexcludes",
        "branch",
        "setopt",
        "root",
        "cache_valid_time",
    ];
    let mut more = more.clone();
    more.sort_keys();
    let option = |(key, value): (&Value, &Value)| {
        let key = key.to_text();
        match value {
            _ if OURS.contains(&key.as_str()) || key.starts_with("__") => None,
            Value::Str(value) => Some(format!("--{key}={value}")),
            Value::Bool(true) => Some(format!("--{key}")),
            _ => None,
        }
    };
    more.iter().filter_map(option).collect()
}

pub fn upgrade(ctx: &Ctx, names: &[String], how: &How) -> Result<Done, Fault> {
    check_names(names)?;
    let before = installed(ctx, how.root.as_deref())?;
    let is_on = |name: &str, default: bool| how.more.at(name).map_or(default, is_true);
    let obsoletes = is_on("obsoletes", true);
    let mut program = dnf(ctx, ["--quiet", "-y"]).args(options(how));
    if is_dnf(ctx) && !obsoletes {
        program = program.arg("--setopt=obsoletes=False");
    }
    program = program.args(extra_options(&how.more));
    if how.skip_verify {
        program = program.arg("--nogpgcheck");
    }
    let verb = match (obsoletes || is_dnf(ctx), is_on("minimal", false)) {
        (true, false) => "upgrade",
        (true, true) => "upgrade-minimal",
        (false, false) => "update",
        (false, true) => "update-minimal",
    };
    let answer = program.arg(verb).args(names.iter().map(String::as_str)).run(ctx)?;
    let errors = if answer.is_success() { Vec::new() } else { vec![answer.complaint().to_owned()] };
    Ok(Done { changes: before.changes_to(&installed(ctx, how.root.as_deref())?), errors })
}

/// Removes packages: names, or names with a version.
pub fn remove(ctx: &Ctx, words: &[String], how: &How) -> Result<Answer, Fault> {
    dnf(ctx, ["-y"]).args(options(how)).arg("remove").args(words.iter().map(String::as_str)).run(ctx)
}

/// The advisories of all repositories; `installed`: whether all that they mend is installed.
pub fn patches(ctx: &Ctx) -> Result<Map, Fault> {
    let told = dnf(ctx, ["--quiet", "updateinfo", "list", "all"]).query(ctx)?;
    let mut shown = Map::new();
    // i HS-2024:001 Important/Sec. hello-2.0-1.noarch
    for line in told.stdout.lines() {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let has = line.starts_with("i ");
        if has {
            words.remove(0);
        }
        let [id, _, package, ..] = words.as_slice() else {
            log::warn!("{} updateinfo list: {line}", tool(ctx));
            continue;
        };
        let make = || Map::from_iter([("installed", Value::from(has)), ("summary", Value::List(Vec::new()))]).into();
        if let Value::Map(patch) = shown.entry_or(*id, make) {
            if !has {
                patch.insert("installed", false);
            }
            if let Some(Value::List(packages)) = patch.at_mut("summary") {
                packages.push((*package).into());
            }
        }
    }
    Ok(shown)
}

/// The services that use files which were upgraded since they started.
pub fn services_to_restart(ctx: &Ctx) -> Result<Vec<String>, Fault> {
    if !is_dnf(ctx) {
        return Err(Fault::execution("dnf or dnf5 is required to list outdated services."));
    }
    if !halite_core::paths::exists(ctx.host, "/run/systemd/system") {
        return Err(Fault::execution("systemd is required to list outdated services."));
    }
    let told = dnf(ctx, ["--quiet", "needs-restarting"]).query(ctx)?;
    let mut services = std::collections::BTreeSet::new();
    // 812 : /usr/sbin/crond -n
    for (pid, _) in told.stdout.lines().filter_map(|line| line.split_once(':')) {
        let Ok(pid) = pid.trim().parse::<u32>() else { continue };
        // 0::/system.slice/crond.service
        let groups = halite_core::text_file::read(ctx.host, &format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let units = groups.lines().filter_map(|line| line.rsplit('/').find_map(|part| part.strip_suffix(".service")));
        services.extend(units.map(str::to_owned));
    }
    Ok(services.into_iter().collect())
}

/// Fetches packages, each into a file whose path is told; a package that was not is left out.
pub fn download(ctx: &Ctx, names: &[String]) -> Result<Map, Fault> {
    let directory = format!("/var/cache/{}/packages", tool(ctx));
    let path = std::path::Path::new(&directory);
    let is_of = |file: &str, name: &String| file.ends_with(".rpm") && file.starts_with(&format!("{name}-"));
    let io = |error: std::io::Error| Fault::execution(format!("{directory}: {error}"));
    if !halite_core::paths::is_directory(ctx.host, &directory) {
        ctx.host.make_directory(path, 0o755).map_err(io)?;
    }
    for file in ctx.host.list(path).map_err(io)? {
        if names.iter().any(|name| is_of(&file, name)) {
            ctx.host.remove(&path.join(&file)).map_err(io)?;
        }
    }
    let destination = format!("--destdir={directory}");
    let program = match ctx.host.which("yumdownloader").is_some() {
        true => Program::new(["yumdownloader", "-q", &destination]),
        false => dnf(ctx, ["-q", "download", &destination]),
    };
    program.args(names.iter().map(String::as_str)).run(ctx)?;
    let files = ctx.host.list(path).map_err(io)?;
    let mut shown = Map::new();
    for file in files {
        if let Some(name) = names.iter().find(|name| is_of(&file, name)) {
            shown.insert(name.as_str(), format!("{directory}/{file}"));
        }
    }
    Ok(shown)
}

/// Whether a name is meant by one of some shell patterns, or there are none.
pub fn is_meant(name: &str, patterns: &[String]) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| fnmatch(name, pattern))
}
