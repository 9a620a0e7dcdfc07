//! Services that are init scripts.

use halite_core::accounts::below;
use halite_core::host::{Access, FileKind};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths};
use std::collections::BTreeSet;
use std::path::Path;

/// The scripts in `/etc/init.d` that can be run.
pub(super) fn scripts(ctx: &Ctx, root: Option<&str>) -> Vec<String> {
    let directory = below(root, "etc/init.d");
    let can_run = |name: &String| {
        let path = directory.join(name);
        ctx.host.may(&path, Access::Execute)
            && paths::followed(ctx.host, &path).is_ok_and(|stat| stat.kind != FileKind::Directory)
    };
    ctx.host.list(&directory).unwrap_or_default().into_iter().filter(can_run).collect()
}

pub(super) fn all(ctx: &Ctx) -> Vec<String> {
    let scripts = ctx.host.list(Path::new("/etc/init.d")).unwrap_or_default();
    let all: BTreeSet<String> = scripts.into_iter().filter(|name| name != "README").chain(enabled(ctx)).collect();
    all.into_iter().collect()
}

/// Those that start in the present run level, or before any.
pub(super) fn enabled(ctx: &Ctx) -> Vec<String> {
    let mut names = BTreeSet::new();
    for level in ["S".to_owned(), level(ctx)] {
        for link in ctx.host.list(Path::new(&format!("/etc/rc{level}.d"))).unwrap_or_default() {
            if let Some(name) = link.strip_prefix('S') {
                names.insert(name.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned());
            }
        }
    }
    names.into_iter().collect()
}

/// The present run level: `runlevel` prints the one before and it.
fn level(ctx: &Ctx) -> String {
    let told = Program::new(["runlevel"]).query(ctx).map(|answer| answer.stdout).unwrap_or_default();
    match told.split_whitespace().nth(1) {
        Some(level) => level.to_owned(),
        None => "2".to_owned(),
    }
}

/// Whether a script starts in the present run level.
pub(super) fn starts(ctx: &Ctx, name: &str, root: Option<&str>) -> bool {
    let directory = below(root, &format!("etc/rc{}.d", level(ctx)));
    let is_it = |link: &String| {
        let rest = link.strip_prefix('S').unwrap_or_default();
        rest.trim_start_matches(|c: char| c.is_ascii_digit()) == name
    };
    ctx.host.list(&directory).unwrap_or_default().iter().any(is_it)
}

fn service(ctx: &Ctx, name: &str, action: &str) -> Program {
    match ctx.host.which("service") {
        Some(service) => Program::new([service.to_string_lossy().into_owned(), name.to_owned(), action.to_owned()]),
        None => Program::new([format!("/etc/init.d/{name}"), action.to_owned()]),
    }
}

pub(super) fn act(ctx: &Ctx, name: &str, action: &str) -> Reply {
    Ok(service(ctx, check(name)?, action).run(ctx)?.is_success().into())
}

pub(super) fn runs(ctx: &Ctx, name: &str) -> Result<bool, Fault> {
    Ok(service(ctx, check(name)?, "status").query(ctx)?.is_success())
}

/// A service is a name, not a path or an option.
fn check(name: &str) -> Result<&str, Fault> {
    match name.is_empty() || name.contains('/') || name.starts_with('-') {
        true => Err(Fault::invocation(format!("'{name}' is not the name of a service"))),
        false => Ok(name),
    }
}

/// Has a script start at boot, or not: with Debian's tool or with the one of Red Hat.
pub(super) fn switch(ctx: &Ctx, name: &str, verb: &str) -> Reply {
    let name = check(name)?;
    if ctx.host.which("chkconfig").is_some() {
        let state = if verb == "enable" { "on" } else { "off" };
        return Ok(Program::new(["chkconfig", name, state]).run(ctx)?.is_success().into());
    }
    if verb == "enable" {
        // Links are made first: update-rc.d only switches those that are there.
        Program::new(["update-rc.d", name, "defaults"]).run(ctx)?;
    }
    Ok(Program::new(["update-rc.d", name, verb]).run(ctx)?.is_success().into())
}

/// The same on a host with systemd, for a script that has no unit.
pub(super) fn register(ctx: &Ctx, name: &str, on: bool) -> Result<bool, Fault> {
    let program = match (ctx.host.which("update-rc.d"), ctx.host.which("chkconfig")) {
        (Some(_), _) if on => Program::new(["update-rc.d", "-f", name, "defaults", "99"]),
        (Some(_), _) => Program::new(["update-rc.d", "-f", name, "remove"]),
        (None, Some(_)) => Program::new(["chkconfig", name, if on { "on" } else { "off" }]),
        (None, None) => {
            return Err(Fault::execution("Unable to find sysv service manager (tried update-rc.d, chkconfig)"));
        }
    };
    Ok(program.run(ctx)?.is_success())
}
