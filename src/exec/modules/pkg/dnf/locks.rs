//! Packages that are held, with the versionlock of dnf.

use super::{dnf, tool};
use crate::pkg;
use crate::pkg::rpm;
use halite_core::{Ctx, Fault, text_file};
use halite_lang::regex;
use halite_lang::toml;
use halite_value::{Map, Value};

/// What names of packages are like, before epoch and version.
pub const NAMES: &str = r"[\w+]+(?:[.-][^-]+)*";

/// Where dnf5 keeps what is held.
const LOCKS: &str = "/etc/dnf/versionlock.toml";

/// Fails where the tool cannot hold packages.
pub fn check(ctx: &Ctx) -> Result<(), Fault> {
    let release = |name: &str| ctx.grains.at(name).and_then(|value| value.to_text().parse::<u32>().ok()).unwrap_or(0);
    let plugin = match tool(ctx) {
        // It holds them itself.
        "dnf5" => return Ok(()),
        "tdnf" => return Err(Fault::invocation("Cannot proceed, no versionlock for tdnf")),
        "dnf" if ctx.grains.str_at("os") == Some("Fedora") => match release("osrelease") >= 26 {
            true => "python3-dnf-plugin-versionlock",
            false => "python3-dnf-plugins-extras-versionlock",
        },
        "dnf" if release("osmajorrelease") >= 8 => "python3-dnf-plugin-versionlock",
        "dnf" => "python2-dnf-plugin-versionlock",
        _ => "yum-plugin-versionlock",
    };
    match rpm::installed(ctx, None)?.0.contains_key(plugin) {
        true => Ok(()),
        false => Err(Fault::invocation(format!("Cannot proceed, {plugin} is not installed."))),
    }
}

/// How much of what is held is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    Names,
    /// `NAME-EPOCH:VERSION-RELEASE.*`
    Versions,
}

/// What is held; `pattern`: a regular expression for names.
pub fn held(ctx: &Ctx, pattern: &str, show: Show) -> Result<Vec<String>, Fault> {
    check(ctx)?;
    if tool(ctx) == "dnf5" {
        return held_by_dnf5(ctx, show);
    }
    let told = dnf(ctx, ["versionlock", "list"]).mixed().query(ctx)?;
    // yum has the epoch before the name, dnf before the version.
    let expression = match (tool(ctx), show) {
        ("dnf", _) => format!(r"({pattern}-\S+)"),
        (_, Show::Versions) => format!(r"(\d+:{pattern}-\S+)"),
        (_, Show::Names) => format!(r"\d+:({pattern}-\S+)"),
    };
    let wrong = |error: regex::RegexError| Fault::invocation(format!("pattern: {error}"));
    let expression = regex::Regex::new(&expression).map_err(wrong)?;
    let mut found = Vec::new();
    for line in told.stdout.lines() {
        let Some(groups) = expression.search(line).map_err(wrong)? else { continue };
        let Some(whole) = groups.group(1) else { continue };
        match show {
            Show::Versions => found.push(whole.to_owned()),
            Show::Names => {
                let bare = whole.rsplit_once('.').map_or(whole, |(bare, _)| bare);
                found.push(bare.rsplitn(3, '-').last().unwrap_or(bare).to_owned());
            }
        }
    }
    Ok(found)
}

fn held_by_dnf5(ctx: &Ctx, show: Show) -> Result<Vec<String>, Fault> {
    let text = text_file::read(ctx.host, LOCKS).unwrap_or_default();
    let data = toml::load(&text).map_err(|problem| Fault::execution(format!("{LOCKS}: {problem}")))?;
    let mut found: Vec<String> = Vec::new();
    for package in data.at("packages").and_then(Value::as_list).unwrap_or_default() {
        let Some(name) = package.at("name").and_then(Value::as_str) else { continue };
        if show == Show::Names {
            if !found.iter().any(|known| known == name) {
                found.push(name.to_owned());
            }
            continue;
        }
        let conditions = package.at("conditions").and_then(Value::as_list).unwrap_or_default();
        let is_version = |condition: &&Value| {
            let is = |key: &str, value: &str| condition.at(key).and_then(Value::as_str) == Some(value);
            is("key", "evr") && is("comparator", "=")
        };
        let version = conditions.iter().find(is_version).and_then(|condition| condition.at("value"));
        found.extend(version.map(Value::to_text).map(|version| match version.contains(':') {
            true => format!("{name}-{version}.*"),
            false => format!("{name}-0:{version}.*"),
        }));
    }
    Ok(found)
}

/// The names of packages that are held.
pub fn held_names(ctx: &Ctx) -> Result<Vec<String>, Fault> {
    held(ctx, NAMES, Show::Names)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Add,
    Delete,
}

/// Holds a package or lets it go; false: the tool failed.
pub fn change(ctx: &Ctx, name: &str, verb: Verb) -> Result<bool, Fault> {
    let word = if verb == Verb::Add { "add" } else { "delete" };
    Ok(dnf(ctx, ["versionlock", word, name]).run(ctx)?.is_success())
}

/// What `pkg.hold` tells of a package.
pub fn hold(ctx: &Ctx, name: &str, is_test: bool) -> Result<Map, Fault> {
    let told = match held_names(ctx)?.iter().any(|held| held == name) {
        true => ("", "", true.into(), "is already set to be held."),
        false if is_test => ("", "", Value::Null, "is set to be held."),
        false if change(ctx, name, Verb::Add)? => ("", "hold", true.into(), "is now being held."),
        false => ("", "", false.into(), "was unable to be held."),
    };
    Ok(told_of(name, told))
}

/// What `pkg.unhold` tells of a package.
pub fn unhold(ctx: &Ctx, name: &str, is_test: bool) -> Result<Map, Fault> {
    // yum wants the lock as it lists it.
    let lock = match tool(ctx) {
        "yum" => {
            let is_of = |lock: &String| lock.split_once(':').is_some_and(|(_, rest)| is_lock_of(rest, name));
            held(ctx, NAMES, Show::Versions)?.into_iter().find(is_of)
        }
        _ => held_names(ctx)?.into_iter().find(|held| held == name),
    };
    let told = match lock {
        None => ("", "", true.into(), "is not being held."),
        Some(_) if is_test => ("", "", Value::Null, "is set to be unheld."),
        Some(lock) if change(ctx, &lock, Verb::Delete)? => ("hold", "", true.into(), "is no longer held."),
        Some(_) => ("", "", false.into(), "was unable to be unheld."),
    };
    Ok(told_of(name, told))
}

/// Whether `NAME-VERSION-RELEASE.*` locks a package.
fn is_lock_of(lock: &str, name: &str) -> bool {
    lock.rsplitn(3, '-').last() == Some(name)
}

fn told_of(name: &str, (old, new, result, what): (&str, &str, Value, &str)) -> Map {
    let changes = if old == new { Map::new() } else { pkg::change(old, new) };
    Map::from_iter([
        ("name", Value::from(name)),
        ("changes", changes.into()),
        ("result", result),
        ("comment", format!("Package {name} {what}").into()),
    ])
}
