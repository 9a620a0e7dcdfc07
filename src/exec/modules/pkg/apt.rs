//! apt and dpkg.

use super::manager::{Done, How};
use super::{Packages, Targets, check_names};
use halite_core::program::{Answer, Program};
use halite_core::{Ctx, Fault};
use halite_lang::regex::Regex;
pub(super) use halite_node::apt_sources::{Keep, Source, Sources};
use halite_value::{Map, Value};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

/// How often, with growing pauses, a lock of another apt is waited for.
const TRIES: u32 = 10;

/// Packages by what dpkg says of them.
#[derive(Default)]
pub(super) struct Known {
    pub installed: Packages,
    pub removed: Packages,
    pub purge_desired: Packages,
}

/// Runs a program of apt's without questions, and again while another one holds its lock.
pub(super) fn call(ctx: &Ctx, words: &[&str], stdin: Option<&str>) -> Result<Answer, Fault> {
    let mut program = Program::new(words.iter().copied())
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("APT_LISTBUGS_FRONTEND", "none")
        .env("APT_LISTCHANGES_FRONTEND", "none")
        .env("UCF_FORCE_CONFFOLD", "1");
    if let Some(text) = stdin {
        program = program.stdin(text);
    }
    let mut tries = 0;
    loop {
        let answer = program.run(ctx)?;
        if !answer.stderr.contains("Could not get lock") || tries == TRIES {
            return Ok(answer);
        }
        if ctx.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        tries += 1;
        ctx.host.sleep(Duration::from_secs(1 << tries.min(6)));
    }
}

pub(super) fn known(ctx: &Ctx) -> Result<Known, Fault> {
    let format = "${Status} ${Package} ${Version} ${Architecture}\n";
    let told = Program::new(["dpkg-query", "--showformat", format, "-W"]).query(ctx)?;
    let osarch = ctx.grains.str_at("osarch").unwrap_or_default();
    let mut known = Known::default();
    for line in told.stdout.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [want, _, status, name, version, arch, ..] = words.as_slice() else { continue };
        let is_foreign = osarch == "amd64" && *arch != "all" && *arch != osarch;
        let name = if is_foreign { format!("{name}:{arch}") } else { name.to_string() };
        let list = match (*want, *status) {
            ("install" | "hold", "installed") => &mut known.installed,
            (want, _) if want.contains("deinstall") => &mut known.removed,
            (want, "installed") if want.contains("purge") => &mut known.purge_desired,
            _ => continue,
        };
        list.add(&name, version);
    }
    Ok(known)
}

pub(super) fn installed(ctx: &Ctx) -> Result<Packages, Fault> {
    let mut known = known(ctx)?;
    known.installed.0.append(&mut known.purge_desired.0);
    Ok(known.installed)
}

/// A name without the architecture that is the host's own.
pub(super) fn normalized(ctx: &Ctx, name: &str) -> String {
    let own = ctx.grains.str_at("osarch").unwrap_or_default();
    match name.rsplit_once(':') {
        Some((short, arch)) if [own, "all", "any"].contains(&arch) => short.to_owned(),
        _ => name.to_owned(),
    }
}

/// Reads the lists of packages anew: for each line of apt True (new), None (as before) or False (failed).
pub(super) fn refresh(ctx: &Ctx) -> Result<Map, Fault> {
    Ok(refreshed(ctx)?.0)
}

/// The same, with those that apt could not read; what it passes over is not among them.
pub(super) fn refreshed(ctx: &Ctx) -> Result<(Map, Vec<String>), Fault> {
    let answer = call(ctx, &["apt-get", "-q", "update"], None)?;
    if !answer.is_success() {
        return Err(Fault::execution(answer.stderr));
    }
    let size = Regex::new(r" \[.+B\]$").map_err(|error| Fault::Internal(error.to_string()))?;
    let mut shown = Map::new();
    let mut failed = Vec::new();
    for line in answer.stdout.lines() {
        let Some((word, rest)) = line.trim().split_once(char::is_whitespace) else { continue };
        let rest = rest.split_whitespace().collect::<Vec<&str>>().join(" ");
        if word.contains("Get") {
            let end = size.search(&rest).ok().flatten().map_or(rest.len(), |found| found.range().start);
            shown.insert(&rest[..end], true);
        } else if word.contains("Ign") {
            shown.insert(rest, false);
        } else if word.contains("Err") {
            failed.push(rest.clone());
            shown.insert(rest, false);
        } else if word.contains("Hit") {
            shown.insert(rest, Value::Null);
        }
    }
    Ok((shown, failed))
}

pub(super) fn candidates(ctx: &Ctx, names: &[String], fromrepo: Option<&str>) -> Result<Map, Fault> {
    check_names(names)?;
    let mut words = vec!["apt-cache".to_owned(), "-q".to_owned(), "policy".to_owned()];
    words.extend(names.iter().cloned());
    if let Some(release) = fromrepo {
        words.extend(["-o".to_owned(), format!("APT::Default-Release={release}")]);
    }
    let told = Program::new(words).query(ctx)?;
    let mut found = Map::new();
    let mut package = String::new();
    for line in told.stdout.lines().map(str::trim) {
        if let Some(name) = line.strip_suffix(':').filter(|name| !name.starts_with("Version table")) {
            package = normalized(ctx, name);
        } else if let Some(rest) = line.strip_prefix("Candidate:") {
            let version = rest.trim();
            found.insert(package.as_str(), if version.eq_ignore_ascii_case("(none)") { "" } else { version });
        }
    }
    Ok(found)
}

pub(super) fn upgrades(ctx: &Ctx, how: &How) -> Result<Map, Fault> {
    let release = how.fromrepo.as_ref().map(|release| format!("APT::Default-Release={release}"));
    let verb = if how.dist_upgrade { "dist-upgrade" } else { "upgrade" };
    let mut program = Program::new(["apt-get", "--just-print", verb]);
    if let Some(release) = &release {
        program = program.args(["-o", release]);
    }
    let told = program.query(ctx)?.expect_success("Failed to get upgrades")?;
    let mut found = Map::new();
    // Conf bash (5.2.15-2+b2 Debian:12.1/stable [amd64])
    for line in told.stdout.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["Conf", name, version, ..] = words.as_slice() {
            found.insert(*name, version.trim_start_matches('('));
        }
    }
    Ok(found)
}

fn prefix(how: &How) -> Vec<String> {
    let mut words: Vec<String> = ["apt-get", "-q", "-y"].map(str::to_owned).to_vec();
    let mut option = |option: &str| words.extend(["-o".to_owned(), format!("DPkg::Options::=--{option}")]);
    if how.force_conf_new {
        option("force-confnew");
    } else {
        option("force-confold");
        option("force-confdef");
    }
    let flags = [
        (how.force_yes, "--force-yes"),
        (how.recommends == Some(false), "--no-install-recommends"),
        (how.recommends == Some(true), "--install-recommends"),
        (how.only_upgrade, "--only-upgrade"),
        (how.skip_verify, "--allow-unauthenticated"),
        (how.downloadonly, "--download-only"),
        (how.allow_downgrades, "--allow-downgrades"),
    ];
    words.extend(flags.into_iter().filter(|(wanted, _)| *wanted).map(|(_, flag)| flag.to_owned()));
    words
}

pub(super) fn install(ctx: &Ctx, targets: &Targets, how: &How) -> Result<Done, Fault> {
    let before = installed(ctx)?;
    let (mut plain, mut downgrades, mut again) = (Vec::new(), Vec::new(), Vec::new());
    let mut errors = Vec::new();
    let mut names = Vec::new();
    match targets {
        Targets::Advisories(_) => return Err(Fault::execution("apt knows no advisories")),
        Targets::Files(files) => {
            for file in files {
                names.push(package_of(ctx, file)?.0);
                plain.push(file.clone());
            }
        }
        Targets::Named(named) => {
            check_names(named.iter().map(|(name, _)| name))?;
            for (name, version) in named {
                let name = normalized(ctx, name);
                let version = match version.as_deref().map(|version| version.trim_start_matches('=')) {
                    Some(wanted) if wanted.starts_with(['<', '>']) => match fitting(ctx, &name, wanted) {
                        Ok(version) => Some(version),
                        Err(Fault::Comment(complaint)) => {
                            errors.push(complaint);
                            continue;
                        }
                        Err(fault) => return Err(fault),
                    },
                    other => other.map(str::to_owned),
                };
                let had = before.text(&name);
                let word = version.as_ref().map_or_else(|| name.clone(), |version| format!("{name}={version}"));
                names.push(name);
                let order = match &version {
                    Some(version) if !had.is_empty() => compare(ctx, version, &had)?,
                    _ => None,
                };
                match order {
                    _ if how.reinstall && !had.is_empty() && (version.is_none() || order == Some(Ordering::Equal)) => {
                        again.push(word);
                    }
                    Some(Ordering::Less) => downgrades.push(word),
                    _ => plain.push(word),
                }
            }
        }
    }
    let held: Vec<String> = match names.is_empty() {
        true => Vec::new(),
        false => {
            let all = selections(ctx, None)?.remove("hold").unwrap_or_default();
            all.into_iter().filter(|name| names.contains(name)).collect()
        }
    };
    for name in &held {
        select(ctx, name, "install")?;
    }
    for (words, flag) in [(&plain, None), (&downgrades, Some("--allow-downgrades")), (&again, Some("--reinstall"))] {
        if words.is_empty() {
            continue;
        }
        let mut argv = prefix(how);
        if let (Some(release), Targets::Named(_)) = (&how.fromrepo, targets) {
            argv.extend(["-t".to_owned(), release.clone()]);
        }
        argv.push("install".to_owned());
        argv.extend(flag.map(str::to_owned));
        argv.extend(words.iter().cloned());
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        let answer = call(ctx, &argv, None)?;
        if !answer.is_success() {
            errors.push(answer.complaint().to_owned());
        }
    }
    let after = installed(ctx)?;
    let mut changes = before.changes_to(&after);
    for word in &again {
        let name = word.split('=').next().unwrap_or(word);
        if !changes.contains(name) {
            changes.insert(name, super::change(&before.text(name), &after.text(name)));
        }
    }
    for name in &held {
        select(ctx, name, "hold")?;
    }
    Ok(Done { changes, errors })
}

/// The newest version of a package that fits a comparison, or what to say where there is none.
fn fitting(ctx: &Ctx, name: &str, wanted: &str) -> Result<String, Fault> {
    let versions = offered(ctx, &[name.to_owned()])?.remove(name).unwrap_or_default();
    let end = wanted.find(|c| !matches!(c, '<' | '>' | '=')).unwrap_or(wanted.len());
    let (sign, limit) = wanted.split_at(end);
    let mut best: Option<String> = None;
    for version in &versions {
        let order = compare(ctx, version, limit.trim())?;
        let fits = match sign {
            ">" => order == Some(Ordering::Greater),
            ">=" => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            "<" => order == Some(Ordering::Less),
            _ => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        };
        let is_newer = match &best {
            Some(best) if fits => compare(ctx, version, best)? == Some(Ordering::Greater),
            _ => fits,
        };
        if is_newer {
            best = Some(version.clone());
        }
    }
    let known = if versions.is_empty() { "None".to_owned() } else { versions.join(", ") };
    best.ok_or_else(|| {
        Fault::comment(format!("No version matching '{name}{wanted}' could be found (available: {known})"))
    })
}

/// All versions of packages that can be had.
pub(super) fn offered(ctx: &Ctx, names: &[String]) -> Result<BTreeMap<String, Vec<String>>, Fault> {
    check_names(names)?;
    let verb = if names.is_empty() { "dump" } else { "show" };
    let told = Program::new(["apt-cache", verb]).args(names.iter().map(String::as_str)).query(ctx)?;
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut package = String::new();
    for line in told.stdout.lines() {
        if let Some(name) = line.strip_prefix("Package: ") {
            package = name.to_owned();
        } else if let Some(version) = line.trim_start().strip_prefix("Version: ") {
            found.entry(package.clone()).or_default().push(version.to_owned());
        }
    }
    Ok(found)
}

pub(super) fn upgrade(ctx: &Ctx, how: &How) -> Result<Done, Fault> {
    let before = installed(ctx)?;
    let mut argv = prefix(how);
    argv.push(if how.dist_upgrade { "dist-upgrade" } else { "upgrade" }.to_owned());
    let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
    let answer = call(ctx, &argv, None)?;
    let errors = if answer.is_success() { Vec::new() } else { vec![answer.complaint().to_owned()] };
    Ok(Done { changes: before.changes_to(&installed(ctx)?), errors })
}

/// Removes or purges packages.
pub(super) fn remove(ctx: &Ctx, verb: &str, names: &[String]) -> Result<Answer, Fault> {
    let mut argv = vec!["apt-get", "-q", "-y", verb];
    argv.extend(names.iter().map(String::as_str));
    call(ctx, &argv, None)
}

pub(super) fn compare(ctx: &Ctx, a: &str, b: &str) -> Result<Option<Ordering>, Fault> {
    for (sign, order) in [("lt", Ordering::Less), ("eq", Ordering::Equal), ("gt", Ordering::Greater)] {
        if Program::new(["dpkg", "--compare-versions", a, sign, b]).query(ctx)?.is_success() {
            return Ok(Some(order));
        }
    }
    Ok(None)
}

pub(super) fn owner(ctx: &Ctx, path: &str) -> Result<String, Fault> {
    let told = Program::new(["dpkg", "-S", path]).query(ctx)?;
    let found = told.stdout.split(':').next().unwrap_or_default();
    Ok(if found.to_lowercase().contains("no path found") { String::new() } else { found.to_owned() })
}

pub(super) fn files(ctx: &Ctx, name: &str) -> Result<Vec<String>, Fault> {
    Ok(Program::new(["dpkg", "-L", name]).query(ctx)?.stdout.lines().map(str::to_owned).collect())
}

/// What dpkg is told to do with packages: their names by `install`, `hold`, `deinstall` and `purge`.
pub(super) fn selections(ctx: &Ctx, pattern: Option<&str>) -> Result<BTreeMap<String, Vec<String>>, Fault> {
    let told = Program::new(["dpkg", "--get-selections", pattern.unwrap_or("*")]).query(ctx)?;
    Ok(parse_selections(&told.stdout))
}

pub(super) fn parse_selections(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(state)) = (words.next(), words.next()) {
            found.entry(state.to_owned()).or_default().push(name.to_owned());
        }
    }
    found
}

pub(super) fn select(ctx: &Ctx, name: &str, state: &str) -> Result<(), Fault> {
    let answer = call(ctx, &["dpkg", "--set-selections"], Some(&format!("{name} {state}")))?;
    answer.expect_success(&format!("failed to set state {state} for package {name}")).map(drop)
}

/// Name and version of a package that is a file.
pub(super) fn package_of(ctx: &Ctx, path: &str) -> Result<(String, String), Fault> {
    let told = Program::new(["dpkg", "-I", path]).query(ctx)?;
    let told = told.expect_success(&format!("Unable to get info for {path}"))?;
    let field = |name: &str| {
        let line = told.stdout.lines().find_map(|line| line.trim().strip_prefix(name)?.trim_start().strip_prefix(':'));
        line.map(|value| value.trim().to_owned())
    };
    match (field("Package"), field("Version")) {
        (Some(name), Some(version)) => Ok((name, version)),
        _ => Err(Fault::execution(format!("Unable to get name, version for {path}"))),
    }
}
