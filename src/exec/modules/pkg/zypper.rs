//! zypper. What is installed is asked of rpm.

use super::dnf::installed;
use super::manager::{Done, How};
use super::{Targets, check_names};
use crate::exec::program::{Answer, Program};
use crate::exec::{Ctx, Fault};
use crate::wire::value::Map;

fn zypper(how: &How) -> Program {
    let mut program = Program::new(["zypper", "--non-interactive", "--no-refresh"]);
    if let Some(root) = &how.root {
        program = program.args(["--installroot", root]);
    }
    if how.skip_verify {
        program = program.arg("--no-gpg-checks");
    }
    program
}

pub(super) fn refresh(ctx: &Ctx) -> Result<Map, Fault> {
    let told = Program::new(["zypper", "--non-interactive", "refresh", "--force"]).run(ctx)?;
    let told = told.expect_success("the lists of packages cannot be read")?;
    let mut shown = Map::new();
    for line in told.stdout.lines() {
        let name = line.split('\'').nth(1).unwrap_or_default();
        if line.starts_with("Repository") && !name.is_empty() {
            shown.insert(name, false);
        } else if line.contains("Building repository") && !name.is_empty() {
            shown.insert(name, true);
        }
    }
    Ok(shown)
}

/// Rows of a table: `v | repository | name | current | available | arch`.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|line| line.contains('|')).map(|line| line.split('|').map(str::trim).collect())
}

pub(super) fn candidates(ctx: &Ctx, names: &[String]) -> Result<Map, Fault> {
    check_names(names)?;
    let program = zypper(&How::default()).args(["info", "-t", "package"]);
    let told = program.args(names.iter().map(String::as_str)).query(ctx)?;
    let mut found = Map::new();
    let mut name = "";
    for line in told.stdout.lines() {
        match line.split_once(':').map(|(key, value)| (key.trim(), value.trim())) {
            Some(("Name", value)) => name = value,
            Some(("Version", value)) if !name.is_empty() => drop(found.insert(name, value)),
            _ => {}
        }
    }
    Ok(found)
}

pub(super) fn upgrades(ctx: &Ctx) -> Result<Map, Fault> {
    let told = zypper(&How::default()).arg("list-updates").query(ctx)?;
    let row = |row: Vec<&str>| match row.as_slice() {
        ["v", _, name, _, available, ..] => Some((name.to_string(), available.to_string())),
        _ => None,
    };
    Ok(rows(&told.stdout).filter_map(row).collect())
}

pub(super) fn install(ctx: &Ctx, targets: &Targets, how: &How) -> Result<Done, Fault> {
    let root = how.root.as_deref();
    let before = installed(ctx, root)?;
    let words: Vec<String> = match targets {
        Targets::Files(files) => files.clone(),
        Targets::Named(named) => {
            check_names(named.iter().map(|(name, _)| name))?;
            let word = |(name, version): &(String, Option<String>)| match version {
                Some(version) if version.starts_with(['<', '>', '=']) => format!("{name}{version}"),
                Some(version) => format!("{name}={version}"),
                None => name.clone(),
            };
            named.iter().map(word).collect()
        }
    };
    let mut program = zypper(how).args(["install", "--auto-agree-with-licenses", "--oldpackage"]);
    if how.reinstall {
        program = program.arg("--force");
    }
    if how.downloadonly {
        program = program.arg("--download-only");
    }
    if let Some(recommends) = how.recommends {
        program = program.arg(if recommends { "--recommends" } else { "--no-recommends" });
    }
    if let Some(repo) = &how.fromrepo {
        program = program.args(["--from", repo]);
    }
    let answer = program.args(words).run(ctx)?;
    Ok(Done { changes: before.changes_to(&installed(ctx, root)?), errors: errors(&answer) })
}

pub(super) fn upgrade(ctx: &Ctx, how: &How) -> Result<Done, Fault> {
    let root = how.root.as_deref();
    let before = installed(ctx, root)?;
    let verb = if how.dist_upgrade { "dist-upgrade" } else { "update" };
    let answer = zypper(how).args([verb, "--auto-agree-with-licenses"]).run(ctx)?;
    Ok(Done { changes: before.changes_to(&installed(ctx, root)?), errors: errors(&answer) })
}

/// 100 to 106 say that all went well and something else, such as that the host should be restarted.
fn errors(answer: &Answer) -> Vec<String> {
    match answer.retcode {
        0 | 100..=106 => Vec::new(),
        _ => vec![answer.complaint().to_owned()],
    }
}

pub(super) fn remove(ctx: &Ctx, names: &[String], how: &How) -> Result<Answer, Fault> {
    zypper(how).arg("remove").args(names.iter().map(String::as_str)).run(ctx)
}

pub(super) fn held(ctx: &Ctx) -> Result<Vec<String>, Fault> {
    let told = zypper(&How::default()).arg("locks").query(ctx)?;
    let row = |row: Vec<&str>| match row.as_slice() {
        [number, name, ..] if number.parse::<u32>().is_ok() => Some(name.to_string()),
        _ => None,
    };
    Ok(rows(&told.stdout).filter_map(row).collect())
}

pub(super) fn hold(ctx: &Ctx, name: &str, hold: bool) -> Result<(), Fault> {
    let verb = if hold { "addlock" } else { "removelock" };
    zypper(&How::default()).args([verb, name]).run(ctx)?.expect_success(&format!("{verb} {name}")).map(drop)
}
