//! apk of Alpine.

use super::manager::{Done, How};
use super::{Packages, Targets, check_names};
use crate::exec::program::{Answer, Program};
use crate::exec::{Ctx, Fault};
use crate::wire::value::Map;
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

pub(super) fn refresh(ctx: &Ctx) -> Result<Map, Fault> {
    let told = Program::new(["apk", "update"]).run(ctx)?.expect_success("apk update")?;
    let fetched = told.stdout.lines().filter_map(|line| line.strip_prefix("fetch "));
    Ok(fetched.map(|address| (address.trim(), true)).collect())
}

pub(super) fn candidates(ctx: &Ctx, names: &[String]) -> Result<Map, Fault> {
    check_names(names)?;
    let told = Program::new(["apk", "policy"]).args(names.iter().map(String::as_str)).query(ctx)?;
    let mut found = Map::new();
    let mut name = String::new();
    // busybox policy:
    //   1.36.1-r5:
    //     lib/apk/db/installed
    for line in told.stdout.lines() {
        if let Some(package) = line.strip_suffix(" policy:") {
            name = package.to_owned();
        } else if let Some(version) = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) {
            found.insert(name.as_str(), version.trim_end_matches(':'));
        }
    }
    Ok(found)
}

pub(super) fn upgrades(ctx: &Ctx) -> Result<Map, Fault> {
    let told = Program::new(["apk", "upgrade", "-s"]).query(ctx)?;
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
            for (name, version) in named {
                program = program.arg(match version {
                    Some(version) if version.starts_with(['<', '>', '=', '~']) => format!("{name}{version}"),
                    Some(version) => format!("{name}={version}"),
                    None => name.clone(),
                });
            }
        }
    }
    if how.only_upgrade || how.reinstall {
        program = program.arg("--upgrade");
    }
    done(ctx, &before, program.run(ctx)?)
}

pub(super) fn upgrade(ctx: &Ctx, _: &How) -> Result<Done, Fault> {
    let before = installed(ctx)?;
    done(ctx, &before, Program::new(["apk", "upgrade"]).run(ctx)?)
}

fn done(ctx: &Ctx, before: &Packages, answer: Answer) -> Result<Done, Fault> {
    let errors = if answer.is_success() { Vec::new() } else { vec![answer.complaint().to_owned()] };
    Ok(Done { changes: before.changes_to(&installed(ctx)?), errors })
}

pub(super) fn remove(ctx: &Ctx, names: &[String]) -> Result<Answer, Fault> {
    Program::new(["apk", "del"]).args(names.iter().map(String::as_str)).run(ctx)
}

pub(super) fn compare(ctx: &Ctx, a: &str, b: &str) -> Result<Option<Ordering>, Fault> {
    Ok(match Program::new(["apk", "version", "-t", a, b]).query(ctx)?.stdout.as_str() {
        "<" => Some(Ordering::Less),
        "=" => Some(Ordering::Equal),
        ">" => Some(Ordering::Greater),
        _ => None,
    })
}

pub(super) fn owner(ctx: &Ctx, path: &str) -> Result<String, Fault> {
    let told = Program::new(["apk", "info", "--who-owns", path]).query(ctx)?;
    let word = told.stdout.rsplit(' ').next().unwrap_or_default();
    Ok(split(word).filter(|_| told.is_success()).map(|(name, _)| name).unwrap_or_default())
}

pub(super) fn files(ctx: &Ctx, name: &str) -> Result<Vec<String>, Fault> {
    let told = Program::new(["apk", "info", "--contents", name]).query(ctx)?;
    let lines = told.stdout.lines().filter(|line| !line.is_empty() && !line.ends_with("contains:"));
    Ok(lines.map(|line| format!("/{line}")).collect())
}
