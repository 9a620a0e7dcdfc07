//! apk of Alpine.

use super::manager::{Done, How};
use super::{Packages, Targets, check_names};
use halite_core::program::{Answer, Program};
use halite_core::{Ctx, Fault, Reply};
use halite_node::apt_sources::is_true;
use halite_value::{Map, Value};
use std::cmp::Ordering;

/// Name and version of `busybox-1.36.1-r5`: the version begins at the last hyphen but one.
fn split(word: &str) -> Option<(String, String)> {
    let (rest, release) = word.rsplit_once('-')?;
    let (name, version) = rest.rsplit_once('-')?;
    Some((name.to_owned(), format!("{version}-{release}")))
}

pub(super) fn installed(ctx: &Ctx) -> Result<Packages, Fault> {
    let told = Program::new(["apk", "info", "-v"]).query(ctx)?;
    let mut packages = Packages::default();
    for (name, version) in told.stdout.lines().filter_map(|line| split(line.trim())) {
        packages.add(&name, &version);
    }
    Ok(packages)
}

pub(super) fn refresh(ctx: &Ctx) -> Result<Value, Fault> {
    Program::new(["apk", "update"]).run(ctx)?.expect_success("the lists of packages cannot be read")?;
    Ok(true.into())
}

/// For each name the newest version that can be had, empty where that is installed.
pub(super) fn latest(ctx: &Ctx, names: &[String]) -> Result<Map, Fault> {
    check_names(names)?;
    let (installed, upgrades) = (installed(ctx)?, upgrades(ctx)?);
    let mut shown = Map::new();
    for name in names {
        if let Some(version) = upgrades.at(name) {
            shown.insert(name.as_str(), version.clone());
            continue;
        }
        let told = Program::new(["apk", "search", name]).query(ctx)?;
        let offers = told.stdout.lines().filter_map(|line| split(line.trim())).filter(|(known, _)| known == name);
        let newest = offers.map(|(_, version)| version).next_back().unwrap_or_default();
        shown.insert(name.as_str(), if installed.text(name) == newest { String::new() } else { newest });
    }
    Ok(shown)
}

pub(super) fn upgrades(ctx: &Ctx) -> Result<Map, Fault> {
    let told = Program::new(["apk", "upgrade", "-s"]).query(ctx)?.expect_success("apk upgrade -s")?;
    let mut found = Map::new();
    // (1/2) Upgrading busybox (1.36.1-r4 -> 1.36.1-r5)
    for line in told.stdout.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [_, "Upgrading", name, _, "->", version] = words.as_slice() {
            found.insert(*name, version.trim_end_matches(')'));
        }
    }
    Ok(found)
}

pub(super) fn install(ctx: &Ctx, targets: &Targets, how: &How) -> Result<Done, Fault> {
    let before = installed(ctx)?;
    let mut program = Program::new(["apk", "add"]);
    match targets {
        Targets::Files(files) => program = program.arg("--allow-untrusted").args(files.iter().map(String::as_str)),
        Targets::Named(named) => {
            check_names(named.iter().map(|(name, _)| name))?;
            // Else apk leaves what is installed as it is.
            if how.reinstall || named.iter().any(|(name, _)| before.0.contains_key(name)) {
                program = program.arg("--upgrade");
            }
            for (name, version) in named {
                program = program.arg(match version {
                    Some(version) if version.starts_with(['<', '>', '=', '~']) => format!("{name}{version}"),
                    Some(version) => format!("{name}={version}"),
                    None => name.clone(),
                });
            }
        }
        Targets::Advisories(_) => return Err(Fault::execution("apk knows no advisories")),
    }
    done(ctx, &before, program.run(ctx)?)
}

/// Upgrades all that can be, or what is named.
pub(super) fn upgrade(ctx: &Ctx, names: &[String]) -> Result<Done, Fault> {
    check_names(names)?;
    let before = installed(ctx)?;
    let words: &[&str] = if names.is_empty() { &["upgrade"] } else { &["add", "--upgrade"] };
    let program = Program::new(["apk"]).args(words.iter().copied()).args(names.iter().map(String::as_str));
    done(ctx, &before, program.mixed().run(ctx)?)
}

fn done(ctx: &Ctx, before: &Packages, answer: Answer) -> Result<Done, Fault> {
    let errors = if answer.is_success() { Vec::new() } else { vec![answer.complaint().to_owned()] };
    Ok(Done { changes: before.changes_to(&installed(ctx)?), errors })
}

pub(super) fn remove(ctx: &Ctx, names: &[String], how: &How) -> Result<Answer, Fault> {
    let mut program = Program::new(["apk", "del"]);
    if how.more.at("purge").is_some_and(is_true) {
        program = program.arg("--purge");
    }
    program.args(names.iter().map(String::as_str)).run(ctx)
}

pub(super) fn compare(ctx: &Ctx, a: &str, b: &str) -> Result<Option<Ordering>, Fault> {
    Ok(match Program::new(["apk", "version", "-t", a, b]).query(ctx)?.stdout.as_str() {
        "<" => Some(Ordering::Less),
        "=" => Some(Ordering::Equal),
        ">" => Some(Ordering::Greater),
        _ => None,
    })
}

/// `/bin/ls is owned by busybox-1.36.1-r5`, with what a link points to behind it on older ones.
pub(super) fn owner(ctx: &Ctx, path: &str) -> Result<String, Fault> {
    let told = Program::new(["apk", "info", "--who-owns", path]).query(ctx)?;
    let named = told.stdout.rsplit_once(" owned by ").map_or("", |(_, word)| word);
    Ok(split(named).filter(|_| told.is_success()).map(|(name, _)| name).unwrap_or_default())
}

/// The files of packages, by package.
pub(super) fn file_dict(ctx: &Ctx, names: &[String]) -> Reply {
    if names.is_empty() {
        return Ok("Package name should be provided".into());
    }
    let mut packages = Map::new();
    for name in names {
        let told = Program::new(["apk", "info", "-L", name]).query(ctx)?;
        let files = told.stdout.lines().filter(|line| !line.is_empty() && !line.ends_with("contains:"));
        let files: Vec<&str> = files.collect();
        if !files.is_empty() {
            packages.insert(name.as_str(), Value::list(files));
        }
    }
    Ok(Map::from_iter([("errors", Value::List(Vec::new())), ("packages", packages.into())]).into())
}
