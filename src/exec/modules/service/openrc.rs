//! Services of OpenRC, as Alpine and Gentoo have it.

use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_value::Value;
use std::collections::BTreeSet;

pub(super) fn all(ctx: &Ctx) -> Result<Vec<String>, Fault> {
    let told = Program::new(["rc-service", "--list"]).query(ctx)?;
    let names: BTreeSet<String> = told.stdout.lines().map(|line| line.trim().to_owned()).collect();
    Ok(names.into_iter().filter(|name| !name.is_empty()).collect())
}

/// Those that stand in a run level: `sshd | default`.
pub(super) fn enabled(ctx: &Ctx) -> Result<Vec<String>, Fault> {
    let told = Program::new(["rc-update", "show", "--all"]).query(ctx)?;
    let mut names = BTreeSet::new();
    for line in told.stdout.lines() {
        if let Some((name, levels)) = line.split_once('|')
            && !levels.trim().is_empty()
        {
            names.insert(name.trim().to_owned());
        }
    }
    Ok(names.into_iter().collect())
}

pub(super) fn act(ctx: &Ctx, name: &str, action: &str) -> Reply {
    let action = if action == "force-reload" { "reload" } else { action };
    Ok(Program::new(["rc-service", name, action]).run(ctx)?.is_success().into())
}

pub(super) fn runs(ctx: &Ctx, name: &str) -> Result<bool, Fault> {
    Ok(Program::new(["rc-service", name, "status"]).query(ctx)?.is_success())
}

/// Puts a service into a run level or takes it out.
pub(super) fn switch(ctx: &Ctx, verb: &str, name: &str, level: Option<&Value>) -> Reply {
    let level = level.filter(|level| level.truthy()).map(Value::to_text);
    let program = Program::new(["rc-update", verb, name]);
    let program = match level {
        Some(level) => program.arg(level),
        None => program,
    };
    Ok(program.run(ctx)?.is_success().into())
}
