//! Which tools a host has for its packages, and what all of them can do.

use super::{Packages, Targets, apk, apt, dnf, zypper};
use crate::exec::{Ctx, Fault};
use crate::wire::value::Map;
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
    pub enablerepo: Option<String>,
    pub disablerepo: Option<String>,
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
    /// Another root, for dnf and zypper.
    pub root: Option<String>,
}

/// What became of packages: what has changed and what was complained about.
pub(super) struct Done {
    pub changes: Map,
    pub errors: Vec<String>,
}

impl Manager {
    pub fn of(ctx: &Ctx) -> Result<Manager, Fault> {
        let has = |program: &str| ctx.host.which(program).is_some();
        match ctx.grains.str_at("os_family") {
            Some("Debian") => Ok(Manager::Apt),
            Some("RedHat") => Ok(Manager::Dnf),
            Some("Suse") => Ok(Manager::Zypper),
            Some("Alpine") => Ok(Manager::Apk),
            _ if has("apt-get") => Ok(Manager::Apt),
            _ if has("dnf") || has("yum") => Ok(Manager::Dnf),
            _ if has("zypper") => Ok(Manager::Zypper),
            _ if has("apk") => Ok(Manager::Apk),
            _ => Err(Fault::execution("pkg: this host has none of apt-get, dnf, yum, zypper and apk")),
        }
    }

    /// Fails where a function is for apt alone.
    pub fn expect_apt(ctx: &Ctx, fun: &str) -> Result<(), Fault> {
        match Manager::of(ctx)? {
            Manager::Apt => Ok(()),
            _ => Err(Fault::execution(format!("pkg.{fun}: this version has it for apt alone"))),
        }
    }

    pub fn installed(self, ctx: &Ctx, root: Option<&str>) -> Result<Packages, Fault> {
        match self {
            Manager::Apt => apt::installed(ctx),
            Manager::Dnf | Manager::Zypper => dnf::installed(ctx, root),
            Manager::Apk => apk::installed(ctx),
        }
    }

    pub fn refresh(self, ctx: &Ctx) -> Result<Map, Fault> {
        match self {
            Manager::Apt => apt::refresh(ctx),
            Manager::Dnf => dnf::refresh(ctx),
            Manager::Zypper => zypper::refresh(ctx),
            Manager::Apk => apk::refresh(ctx),
        }
    }

    /// The newest version that can be had of each, or none.
    pub fn candidates(self, ctx: &Ctx, names: &[String], how: &How) -> Result<Map, Fault> {
        match self {
            Manager::Apt => apt::candidates(ctx, names, how.fromrepo.as_deref()),
            Manager::Dnf => dnf::candidates(ctx, names, how),
            Manager::Zypper => zypper::candidates(ctx, names),
            Manager::Apk => apk::candidates(ctx, names),
        }
    }

    pub fn upgrades(self, ctx: &Ctx, how: &How) -> Result<Map, Fault> {
        match self {
            Manager::Apt => apt::upgrades(ctx, how),
            Manager::Dnf => dnf::upgrades(ctx, how),
            Manager::Zypper => zypper::upgrades(ctx),
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

    /// Upgrades all that can be.
    pub fn upgrade(self, ctx: &Ctx, how: &How) -> Result<Done, Fault> {
        match self {
            Manager::Apt => apt::upgrade(ctx, how),
            Manager::Dnf => dnf::upgrade(ctx, how),
            Manager::Zypper => zypper::upgrade(ctx, how),
            Manager::Apk => apk::upgrade(ctx, how),
        }
    }

    /// Removes packages that are installed.
    pub fn remove(self, ctx: &Ctx, names: &[String], how: &How) -> Result<Done, Fault> {
        let before = self.installed(ctx, how.root.as_deref())?;
        let answer = match self {
            Manager::Apt => apt::remove(ctx, "remove", names),
            Manager::Dnf => dnf::remove(ctx, names, how),
            Manager::Zypper => zypper::remove(ctx, names, how),
            Manager::Apk => apk::remove(ctx, names),
        }?;
        let errors = if answer.is_success() { Vec::new() } else { vec![answer.complaint().to_owned()] };
        Ok(Done { changes: before.changes_to(&self.installed(ctx, how.root.as_deref())?), errors })
    }

    /// Which of two versions is newer; nothing where the host's tool cannot say.
    pub fn compare(self, ctx: &Ctx, a: &str, b: &str) -> Result<Option<Ordering>, Fault> {
        match self {
            Manager::Apt => apt::compare(ctx, a, b),
            Manager::Dnf | Manager::Zypper => Ok(Some(dnf::compare(a, b))),
            Manager::Apk => apk::compare(ctx, a, b),
        }
    }

    /// The package that a file belongs to; empty: none.
    pub fn owner(self, ctx: &Ctx, path: &str) -> Result<String, Fault> {
        match self {
            Manager::Apt => apt::owner(ctx, path),
            Manager::Dnf | Manager::Zypper => dnf::owner(ctx, path),
            Manager::Apk => apk::owner(ctx, path),
        }
    }

    /// The files of a package.
    pub fn files(self, ctx: &Ctx, name: &str) -> Result<Vec<String>, Fault> {
        match self {
            Manager::Apt => apt::files(ctx, name),
            Manager::Dnf | Manager::Zypper => dnf::files(ctx, name),
            Manager::Apk => apk::files(ctx, name),
        }
    }

    /// The packages that are held.
    pub fn held(self, ctx: &Ctx) -> Result<Vec<String>, Fault> {
        match self {
            Manager::Apt => Ok(apt::selections(ctx, None)?.remove("hold").unwrap_or_default()),
            Manager::Dnf => dnf::held(ctx),
            Manager::Zypper => zypper::held(ctx),
            Manager::Apk => Err(Fault::execution("pkg.hold: apk holds no packages")),
        }
    }

    /// Holds a package or lets it go.
    pub fn hold(self, ctx: &Ctx, name: &str, hold: bool) -> Result<(), Fault> {
        match self {
            Manager::Apt => apt::select(ctx, name, if hold { "hold" } else { "install" }),
            Manager::Dnf => dnf::hold(ctx, name, hold),
            Manager::Zypper => zypper::hold(ctx, name, hold),
            Manager::Apk => Err(Fault::execution("pkg.hold: apk holds no packages")),
        }
    }
}
