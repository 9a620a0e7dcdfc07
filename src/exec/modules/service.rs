//! `service.*`: services of systemd, of OpenRC, or of init scripts, whichever the host has.

mod openrc;
mod systemd;
mod sysv;

use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::target::fnmatch::fnmatch;
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "service",
    doc: "Services of the host.",
    functions: &[
        function::<Available>("available"),
        function::<Disable>("disable"),
        function::<Disabled>("disabled"),
        function::<Enable>("enable"),
        function::<Enabled>("enabled"),
        function::<systemd::Execs>("execs"),
        function::<systemd::Firstboot>("firstboot"),
        function::<ForceReload>("force_reload"),
        function::<GetAll>("get_all"),
        function::<GetDisabled>("get_disabled"),
        function::<GetEnabled>("get_enabled"),
        function::<systemd::GetRunning>("get_running"),
        function::<systemd::GetStatic>("get_static"),
        function::<systemd::Mask>("mask"),
        function::<systemd::Masked>("masked"),
        function::<Missing>("missing"),
        function::<systemd::Offline>("offline"),
        function::<Reload>("reload"),
        function::<Restart>("restart"),
        function::<systemd::Show>("show"),
        function::<Start>("start"),
        function::<Status>("status"),
        function::<Stop>("stop"),
        function::<systemd::SystemctlReload>("systemctl_reload"),
        function::<systemd::Unmask>("unmask"),
    ],
};

/// Who starts services on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manager {
    Systemd,
    Openrc,
    Sysv,
}

impl Manager {
    pub fn of(ctx: &Ctx) -> Manager {
        let booted = paths::exists(ctx.host, "/run/systemd/system");
        match () {
            () if booted => Manager::Systemd,
            () if ctx.host.which("rc-service").is_some() => Manager::Openrc,
            () if ctx.host.which("systemctl").is_some() => Manager::Systemd,
            () => Manager::Sysv,
        }
    }

    /// Fails where a function is for systemd alone.
    pub fn expect_systemd(ctx: &Ctx, fun: &str) -> Result<(), Fault> {
        match Manager::of(ctx) {
            Manager::Systemd => Ok(()),
            _ => Err(Fault::execution(format!("service.{fun}: this host has no systemd"))),
        }
    }

    fn all(self, ctx: &Ctx, root: Option<&str>) -> Result<Vec<String>, Fault> {
        match self {
            Manager::Systemd => Ok(systemd::all(ctx, root)),
            Manager::Openrc => openrc::all(ctx),
            Manager::Sysv => Ok(sysv::all(ctx)),
        }
    }

    fn enabled_ones(self, ctx: &Ctx, root: Option<&str>) -> Result<Vec<String>, Fault> {
        match self {
            Manager::Systemd => systemd::listed(ctx, root, "enabled"),
            Manager::Openrc => openrc::enabled(ctx),
            Manager::Sysv => Ok(sysv::enabled(ctx)),
        }
    }

    /// Starts, stops, restarts or reloads.
    fn act(self, ctx: &Ctx, action: &str, how: &How) -> Reply {
        match self {
            Manager::Systemd => systemd::act(ctx, action, how),
            Manager::Openrc => openrc::act(ctx, &how.name, action),
            Manager::Sysv => sysv::act(ctx, &how.name, action),
        }
    }
}

/// What a service is told, and what is done before.
pub(super) struct How {
    pub name: String,
    /// Do not wait for the end of it.
    pub no_block: Option<bool>,
    pub unmask: bool,
    pub unmask_runtime: bool,
}

record! {
    /// Starts a service. Returns True.
    ///
    ///   salt '*' service.start apache2
    pub struct Start {
        /// Its name.
        name: String,
        /// Do not wait until it is started.
        no_block: bool = false,
        /// Unmask it first.
        unmask: bool = false,
        /// Unmask it until the next boot first.
        unmask_runtime: bool = false,
    }
}

impl Run for Start {
    fn run(self, ctx: &Ctx) -> Reply {
        let (unmask, unmask_runtime) = (self.unmask, self.unmask_runtime);
        Manager::of(ctx).act(
            ctx,
            "start",
            &How { name: self.name, no_block: Some(self.no_block), unmask, unmask_runtime },
        )
    }
}

record! {
    /// Stops a service. Returns whether it is stopped.
    ///
    ///   salt '*' service.stop apache2
    pub struct Stop {
        /// Its name.
        name: String,
        /// Do not wait until it is stopped; without it only for the minion itself.
        no_block: Option<bool> = (),
    }
}

impl Run for Stop {
    fn run(self, ctx: &Ctx) -> Reply {
        let how = How { name: self.name, no_block: self.no_block, unmask: false, unmask_runtime: false };
        Manager::of(ctx).act(ctx, "stop", &how)
    }
}

record! {
    /// Restarts a service. Returns True.
    ///
    ///   salt '*' service.restart apache2
    pub struct Restart {
        /// Its name.
        name: String,
        /// Do not wait until it is started; without it only for the minion itself.
        no_block: Option<bool> = (),
        /// Unmask it first.
        unmask: bool = false,
        /// Unmask it until the next boot first.
        unmask_runtime: bool = false,
    }
}

impl Run for Restart {
    fn run(self, ctx: &Ctx) -> Reply {
        let (unmask, unmask_runtime) = (self.unmask, self.unmask_runtime);
        Manager::of(ctx).act(ctx, "restart", &How { name: self.name, no_block: self.no_block, unmask, unmask_runtime })
    }
}

record! {
    /// Has a service read its configuration again. Returns True.
    ///
    ///   salt '*' service.reload apache2
    pub struct Reload {
        /// Its name.
        name: String,
        /// Do not wait for it.
        no_block: bool = false,
        /// Unmask it first.
        unmask: bool = false,
        /// Unmask it until the next boot first.
        unmask_runtime: bool = false,
    }
}

impl Run for Reload {
    fn run(self, ctx: &Ctx) -> Reply {
        let (unmask, unmask_runtime) = (self.unmask, self.unmask_runtime);
        Manager::of(ctx).act(
            ctx,
            "reload",
            &How { name: self.name, no_block: Some(self.no_block), unmask, unmask_runtime },
        )
    }
}

record! {
    /// Has a service read its configuration again, or restarts it where it cannot. Returns True.
    ///
    ///   salt '*' service.force_reload apache2
    pub struct ForceReload {
        /// Its name.
        name: String,
        /// Do not wait for it.
        no_block: bool = true,
        /// Unmask it first.
        unmask: bool = false,
        /// Unmask it until the next boot first.
        unmask_runtime: bool = false,
    }
}

impl Run for ForceReload {
    fn run(self, ctx: &Ctx) -> Reply {
        let (unmask, unmask_runtime) = (self.unmask, self.unmask_runtime);
        let how = How { name: self.name, no_block: Some(self.no_block), unmask, unmask_runtime };
        Manager::of(ctx).act(ctx, "force-reload", &how)
    }
}

record! {
    /// Shows whether a service runs; for a pattern, of each service that it matches.
    ///
    ///   salt '*' service.status apache2
    ///   salt '*' service.status 'ssh*'
    pub struct Status {
        /// Its name, or a shell pattern.
        name: String,
        /// A text in the line of its process: shows whether there is one.
        sig: Option<String> = (),
    }
}

impl Run for Status {
    fn run(self, ctx: &Ctx) -> Reply {
        let manager = Manager::of(ctx);
        if let Some(sig) = self.sig.filter(|_| manager != Manager::Systemd) {
            let pids = ctx.run("status.pid", halite_value::record::Arguments::positional([sig]))?;
            return Ok(pids.truthy().into());
        }
        let runs = |name: &str| match manager {
            Manager::Systemd => systemd::is_active(ctx, name),
            Manager::Openrc => openrc::runs(ctx, name),
            Manager::Sysv => sysv::runs(ctx, name),
        };
        if !is_pattern(&self.name) {
            return Ok(runs(&self.name)?.into());
        }
        let mut shown = Map::new();
        for name in manager.all(ctx, None)?.into_iter().filter(|name| fnmatch(name, &self.name)) {
            let running = runs(&name)?;
            shown.insert(name, running);
        }
        Ok(shown.into())
    }
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?']) || name.find('[').is_some_and(|at| name[at..].find(']').is_some_and(|end| end > 1))
}

record! {
    /// Has a service start at boot. Returns whether it does.
    ///
    ///   salt '*' service.enable apache2
    pub struct Enable {
        /// Its name.
        name: String,
        /// Do not wait for it.
        no_block: bool = false,
        /// Unmask it first.
        unmask: bool = false,
        /// Unmask it until the next boot first.
        unmask_runtime: bool = false,
        /// Another root.
        root: Option<String> = (),
        /// `runlevel`: the one of OpenRC. Others are taken and not used.
        kwargs: Keywords,
    }
}

impl Run for Enable {
    fn run(self, ctx: &Ctx) -> Reply {
        let root = self.root.as_deref();
        match Manager::of(ctx) {
            Manager::Systemd => {
                let (unmask, unmask_runtime) = (self.unmask, self.unmask_runtime);
                let how = How { name: self.name, no_block: Some(self.no_block), unmask, unmask_runtime };
                systemd::enable(ctx, &how, root)
            }
            Manager::Openrc => openrc::switch(ctx, "add", &self.name, self.kwargs.0.at("runlevel")),
            Manager::Sysv => sysv::switch(ctx, &self.name, "enable"),
        }
    }
}

record! {
    /// Has a service not start at boot. Returns whether it does not.
    ///
    ///   salt '*' service.disable apache2
    pub struct Disable {
        /// Its name.
        name: String,
        /// Do not wait for it.
        no_block: bool = false,
        /// Another root.
        root: Option<String> = (),
        /// `runlevel`: the one of OpenRC. Others are taken and not used.
        kwargs: Keywords,
    }
}

impl Run for Disable {
    fn run(self, ctx: &Ctx) -> Reply {
        match Manager::of(ctx) {
            Manager::Systemd => systemd::disable(ctx, &self.name, self.no_block, self.root.as_deref()),
            Manager::Openrc => openrc::switch(ctx, "delete", &self.name, self.kwargs.0.at("runlevel")),
            Manager::Sysv => sysv::switch(ctx, &self.name, "disable"),
        }
    }
}

fn is_enabled(ctx: &Ctx, name: &str, root: Option<&str>) -> Result<bool, Fault> {
    match Manager::of(ctx) {
        Manager::Systemd => systemd::is_enabled(ctx, name, root),
        manager => Ok(manager.enabled_ones(ctx, root)?.iter().any(|known| known == name)),
    }
}

record! {
    /// Shows whether a service starts at boot.
    ///
    ///   salt '*' service.enabled apache2
    pub struct Enabled {
        /// Its name.
        name: String,
        /// Another root.
        root: Option<String> = (),
        kwargs: Keywords,
    }
}

impl Run for Enabled {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(is_enabled(ctx, &self.name, self.root.as_deref())?.into())
    }
}

record! {
    /// Shows whether a service does not start at boot.
    ///
    ///   salt '*' service.disabled apache2
    pub struct Disabled {
        /// Its name.
        name: String,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Disabled {
    fn run(self, ctx: &Ctx) -> Reply {
        let is_known = Manager::of(ctx) == Manager::Systemd || is_available(ctx, &self.name)?;
        Ok((is_known && !is_enabled(ctx, &self.name, self.root.as_deref())?).into())
    }
}

fn is_available(ctx: &Ctx, name: &str) -> Result<bool, Fault> {
    match Manager::of(ctx) {
        Manager::Systemd => systemd::is_available(ctx, name),
        manager => Ok(manager.all(ctx, None)?.iter().any(|known| known == name)),
    }
}

record! {
    /// Shows whether there is a service.
    ///
    ///   salt '*' service.available sshd
    pub struct Available {
        /// Its name.
        name: String,
    }
}

impl Run for Available {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(is_available(ctx, &self.name)?.into())
    }
}

record! {
    /// Shows whether there is no such service.
    ///
    ///   salt '*' service.missing sshd
    pub struct Missing {
        /// Its name.
        name: String,
    }
}

impl Run for Missing {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok((!is_available(ctx, &self.name)?).into())
    }
}

record! {
    /// Lists all services.
    ///
    ///   salt '*' service.get_all
    pub struct GetAll {
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for GetAll {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(Manager::of(ctx).all(ctx, self.root.as_deref())?).into())
    }
}

record! {
    /// Lists the services that start at boot.
    ///
    ///   salt '*' service.get_enabled
    pub struct GetEnabled {
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for GetEnabled {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(Manager::of(ctx).enabled_ones(ctx, self.root.as_deref())?).into())
    }
}

record! {
    /// Lists the services that do not start at boot.
    ///
    ///   salt '*' service.get_disabled
    pub struct GetDisabled {
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for GetDisabled {
    fn run(self, ctx: &Ctx) -> Reply {
        let (manager, root) = (Manager::of(ctx), self.root.as_deref());
        if manager == Manager::Systemd {
            return Ok(Value::list(systemd::listed(ctx, root, "disabled")?).into());
        }
        let enabled = manager.enabled_ones(ctx, root)?;
        let others = manager.all(ctx, root)?.into_iter().filter(|name| !enabled.contains(name));
        Ok(Value::list(others).into())
    }
}

#[cfg(test)]
mod tests;
