//! Which tools a host has for its packages, and what all of them can do.

use super::{Packages, Targets, apk, apt, dnf, rpm, zypper};
use halite_core::{Ctx, Fault};
use halite_node::package_tool::package_tool;
use halite_value::{Map, Value};
use std::cmp::Ordering;

/// The tools of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manager {
    Apt,
    Dnf,
    Zypper,
    Apk,
}

/// How packages are installed or upgraded.
#[derive(Clone, Debug, Default)]
pub(super) struct How {
    pub fromrepo: Option<String>,
    pub skip_verify: bool,
    pub reinstall: bool,
    pub downloadonly: bool,
    pub only_upgrade: bool,
    pub force_conf_new: bool,
    pub force_yes: bool,
    pub allow_downgrades: bool,
    pub dist_upgrade: bool,
    /// With or without what is recommended; nothing: as the host is set up.
    pub recommends: Option<bool>,
    /// Change packages that are held.
    pub update_holds: bool,
    /// Whether what stands before a colon in versions does not count.
    pub ignore_epoch: bool,
    /// Another root, for dnf and zypper.
    pub root: Option<String>,
    /// All that a caller has given, for what one tool alone understands.
    pub more: Map,
}

/// What became of packages: what has changed and what was complained about.
pub(super) struct Done {
    pub changes: Map,
    pub errors: Vec<String>,
}

impl Manager {
    pub fn of(ctx: &Ctx) -> Result<Manager, Fault> {
        Ok(match package_tool(ctx)? {
            "apt" => Manager::Apt,
            "dnf" => Manager::Dnf,
            "zypper" => Manager::Zypper,
            _ => Manager::Apk,
        })
    }

    /// The name of the tool.
    pub fn name(self) -> &'static str {
        match self {
            Manager::Apt => "apt",
            Manager::Dnf => "dnf",
            Manager::Zypper => "zypper",
            Manager::Apk => "apk",
        }
    }

    /// The host's tools; fails where a function is not for them.
    pub fn expect(ctx: &Ctx, fun: &str, those: &[Manager]) -> Result<Manager, Fault> {
        let manager = Manager::of(ctx)?;
        match those.contains(&manager) {
            true => Ok(manager),
            false => {
                let names: Vec<&str> = those.iter().map(|manager| manager.name()).collect();
                let (own, names) = (manager.name(), names.join(" and "));
                Err(Fault::execution(format!("'pkg.{fun}' is not available with {own}: it is for {names}")))
            }
        }
    }

    pub fn installed(self, ctx: &Ctx, root: Option<&str>) -> Result<Packages, Fault> {
        match self {
            Manager::Apt => apt::installed(ctx),
            Manager::Dnf => rpm::installed(ctx, root),
            Manager::Zypper => zypper::installed(ctx, root, &[]),
            Manager::Apk => apk::installed(ctx),
        }
    }

    /// Reads the lists of packages anew. What is told of it is each tool's own.
    pub fn refresh(self, ctx: &Ctx, how: &How) -> Result<Value, Fault> {
        match self {
            Manager::Apt => Ok(apt::refresh(ctx)?.into()),
            Manager::Dnf => dnf::refresh(ctx, how),
            Manager::Zypper => zypper::refresh(ctx, &how.more, how.root.as_deref()),
            Manager::Apk => apk::refresh(ctx),
        }
    }

    pub fn upgrades(self, ctx: &Ctx, how: &How) -> Result<Map, Fault> {
        match self {
            Manager::Apt => apt::upgrades(ctx, how),
            Manager::Dnf => dnf::upgrades(ctx, how),
            Manager::Zypper => zypper::upgrades(ctx, how),
            Manager::Apk => apk::upgrades(ctx),
        }
    }

    pub fn install(self, ctx: &Ctx, targets: &Targets, how: &How) -> Result<Done, Fault> {
        match self {
            Manager::Apt => apt::install(ctx, targets, how),
            Manager::Dnf => dnf::install(ctx, targets, how),
            Manager::Zypper => zypper::install(ctx, targets, how),
            Manager::Apk => apk::install(ctx, targets, how),
        }
    }

    /// Upgrades all that can be, or what is named (not with apt).
    pub fn upgrade(self, ctx: &Ctx, names: &[String], how: &How) -> Result<Done, Fault> {
        match self {
            Manager::Apt => apt::upgrade(ctx, how),
            Manager::Dnf => dnf::upgrade(ctx, names, how),
            Manager::Zypper => zypper::upgrade(ctx, names, how),
            Manager::Apk => apk::upgrade(ctx, names),
        }
    }

    /// Removes packages that are installed: names, for rpm also with their version.
    pub fn remove(self, ctx: &Ctx, names: &[String], how: &How) -> Result<Done, Fault> {
        let before = self.installed(ctx, how.root.as_deref())?;
        let answer = match self {
            Manager::Apt => apt::remove(ctx, "remove", names),
            Manager::Dnf => dnf::remove(ctx, names, how),
            Manager::Zypper => zypper::remove(ctx, names, how).map(|()| Default::default()),
            Manager::Apk => apk::remove(ctx, names, how),
        }?;
        let errors = if answer.is_success() { Vec::new() } else { vec![answer.complaint().to_owned()] };
        Ok(Done { changes: before.changes_to(&self.installed(ctx, how.root.as_deref())?), errors })
    }

    /// Which of two versions is newer; nothing where the host's tool cannot say.
    pub fn compare(self, ctx: &Ctx, a: &str, b: &str) -> Result<Option<Ordering>, Fault> {
        match self {
            Manager::Apt => apt::compare(ctx, a, b),
            Manager::Dnf | Manager::Zypper => Ok(Some(rpm::compare(a, b))),
            Manager::Apk => apk::compare(ctx, a, b),
        }
    }

    /// The package that a file belongs to; empty: none.
    pub fn owner(self, ctx: &Ctx, path: &str, root: Option<&str>) -> Result<String, Fault> {
        match self {
            Manager::Apt => apt::owner(ctx, path),
            Manager::Dnf | Manager::Zypper => rpm::owner(ctx, path, root),
            Manager::Apk => apk::owner(ctx, path),
        }
    }
}
