//! Packages that are held, in zypper's file of locks.

use super::call::Zypper;
use super::search;
use crate::pkg;
use crate::pkg::rpm;
use crate::pkg::rpm::Which;
use halite_core::accounts::below;
use halite_core::{Ctx, Fault};
use halite_lang::regex;
use halite_value::{Map, Value};

const LOCKS: &str = "etc/zypp/locks";

/// The locks, by the name of what is locked: `type`, `match_type`, `case_sensitive`, `version`.
pub fn locks(ctx: &Ctx, root: Option<&str>) -> Map {
    let text = ctx.host.read(&below(root, LOCKS)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut locks = Map::new();
    for stanza in text.split("\n\n") {
        let settings = stanza.lines().filter_map(|line| line.split_once(':'));
        let mut lock: Map = settings.map(|(key, value)| (key.trim(), value.trim())).collect();
        if let Some(name) = lock.remove("solvable_name").filter(Value::truthy) {
            locks.insert(name, lock);
        }
    }
    locks
}

/// Removes locks of what is not there any more. How many, as zypper says it.
pub fn clean(ctx: &Ctx, root: Option<&str>) -> Result<Map, Fault> {
    let mut removed = Value::from(0);
    if ctx.host.stat(&below(root, LOCKS)).is_ok() {
        let told = Zypper::at(root).change_xml(ctx, vec!["cl".to_owned()])?;
        let count = told.messages("info").into_iter().find_map(|message| {
            let lower = message.to_lowercase();
            lower.starts_with("removed").then(|| lower.split(' ').nth(1).unwrap_or_default().to_owned())
        });
        removed = count.map_or(removed, Value::from);
    }
    Ok(Map::from_iter([("removed", removed)]))
}

/// How much of what is held is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    Names,
    /// `NAME-EPOCH:VERSION-RELEASE.*`
    Versions,
}

/// Packages that are installed and locked; `pattern`: a regular expression for names.
pub fn held(ctx: &Ctx, pattern: Option<&str>, show: Show, root: Option<&str>) -> Result<Vec<String>, Fault> {
    let wrong = |error: regex::RegexError| Fault::invocation(format!("pattern: {error}"));
    let pattern = pattern.map(|pattern| regex::Regex::new(&format!(r"{pattern}-\S+"))).transpose().map_err(wrong)?;
    let mut found: Vec<String> = Vec::new();
    for (name, lock) in locks(ctx, root).iter() {
        let (name, text) = (name.to_text(), |key: &str| lock.at(key).and_then(Value::as_str));
        if text("type").is_some_and(|kind| kind != "package") {
            continue;
        }
        let mut options = Map::from_iter([("installed_only", true), ("details", true)]);
        if text("case_sensitive").unwrap_or("on") == "on" {
            options.insert("case_sensitive", true);
        }
        if !name.contains('*') {
            options.insert("match", "exact");
        }
        let Ok(packages) = search::search(ctx, &name, &options, root) else { continue };
        for package in packages.keys().map(Value::to_text) {
            let editions = rpm::info(ctx, std::slice::from_ref(&package), &["epoch".to_owned()], Which::All, root)?;
            for edition in editions.at(&package).and_then(Value::as_list).unwrap_or_default() {
                let text = |key: &str| edition.at(key).map(Value::to_text);
                let shown = match show {
                    Show::Names => package.clone(),
                    Show::Versions => {
                        let epoch = text("epoch").unwrap_or_else(|| "0".to_owned());
                        format!("{package}-{epoch}:{}.*", text("edition").unwrap_or_default())
                    }
                };
                let fits = match &pattern {
                    Some(pattern) => pattern.match_start(&shown).map_err(wrong)?.is_some(),
                    None => true,
                };
                if fits && !found.contains(&shown) {
                    found.push(shown);
                }
            }
        }
    }
    Ok(found)
}

/// What zypper is to lock or to let go, `NAME` or `NAME=VERSION`, and what `pkg.hold` tells of it.
type Told = (Option<String>, Map);

pub fn hold(ctx: &Ctx, targets: &[(String, Option<String>)], root: Option<&str>) -> Result<Map, Fault> {
    let locks = locks(ctx, root);
    let told = |name: &String, version: &Option<String>| match locks.contains(name) {
        true => (None, told(name, None, true, "is already set to be held.")),
        false => {
            let word = version.as_ref().map_or_else(|| name.clone(), |version| format!("{name}={version}"));
            (Some(word), told(name, Some(("", "hold")), true, "is now being held."))
        }
    };
    all(ctx, "al", targets, told, root)
}

pub fn unhold(ctx: &Ctx, targets: &[(String, Option<String>)], root: Option<&str>) -> Result<Map, Fault> {
    let locks = locks(ctx, root);
    let told = |name: &String, version: &Option<String>| {
        let Some(lock) = locks.at(name) else { return (None, told(name, None, true, "was already unheld.")) };
        let locked = lock.at("version").map(|version| version.to_text().trim_start_matches(['=', ' ']).to_owned());
        if version.is_some() && *version != locked {
            let mut told = told(name, None, false, "");
            let comment = format!("Unable to unhold package {name} as it is held with the other version.");
            told.insert("comment", comment);
            return (None, told);
        }
        let word = locked.map_or_else(|| name.clone(), |locked| format!("{name}={locked}"));
        (Some(word), told(name, Some(("hold", "")), true, "is no longer held."))
    };
    all(ctx, "rl", targets, told, root)
}

fn all(
    ctx: &Ctx,
    verb: &str,
    targets: &[(String, Option<String>)],
    told: impl Fn(&String, &Option<String>) -> Told,
    root: Option<&str>,
) -> Result<Map, Fault> {
    let (mut words, mut shown) = (vec![verb.to_owned()], Map::new());
    for (name, version) in targets {
        let (word, told) = told(name, version);
        words.extend(word);
        shown.insert(name.as_str(), told);
    }
    if words.len() > 1 {
        Zypper::at(root).change(ctx, words)?;
    }
    Ok(shown)
}

fn told(name: &str, change: Option<(&str, &str)>, result: bool, what: &str) -> Map {
    let changes = change.map(|(old, new)| pkg::change(old, new)).unwrap_or_default();
    Map::from_iter([
        ("name", Value::from(name)),
        ("changes", changes.into()),
        ("result", result.into()),
        ("comment", format!("Package {name} {what}").into()),
    ])
}
