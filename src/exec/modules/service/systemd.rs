//! Services of systemd, by systemctl.

use super::{How, Manager};
use halite_core::accounts::{below, tool};
use halite_core::module::Run;
use halite_core::program::{Answer, Program};
use halite_core::{Ctx, Fault, Reply, paths};
use halite_value::record;
use halite_value::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// The kinds of units that count as services here.
const KINDS: [&str; 9] = ["service", "socket", "device", "mount", "automount", "swap", "target", "path", "timer"];
const UNITS: [&str; 3] = ["lib/systemd/system", "usr/lib/systemd/system", "etc/systemd/system"];

/// `name.service`, unless it has a kind already.
fn unit(name: &str) -> String {
    match KINDS.iter().any(|kind| name.ends_with(kind)) {
        true => name.to_owned(),
        false => format!("{name}.service"),
    }
}

/// The name that a unit's file gives it; nothing for other files.
fn short(file: &str) -> Option<String> {
    let (name, kind) = file.rsplit_once('.')?;
    match kind {
        "service" => Some(name.to_owned()),
        kind if KINDS.contains(&kind) => Some(file.to_owned()),
        _ => None,
    }
}

fn systemctl(ctx: &Ctx, root: Option<&str>) -> Result<Program, Fault> {
    let program = Program::new([tool(ctx, "systemctl")?]);
    Ok(match root.filter(|root| !root.is_empty()) {
        Some(root) => program.args(["--root", root]),
        None => program,
    })
}

/// systemctl in a scope of its own, so that a restart of the minion does not end it with the minion.
fn scoped(ctx: &Ctx, root: Option<&str>, no_block: bool) -> Result<Program, Fault> {
    let wanted = ctx.opt("systemd.scope").is_none_or(Value::truthy);
    let booted = !is_offline(ctx);
    let mut argv = Vec::new();
    if wanted
        && booted
        && let Some(run) = ctx.host.which("systemd-run")
    {
        argv.extend([run.to_string_lossy().into_owned(), "--scope".to_owned()]);
    }
    argv.push(tool(ctx, "systemctl")?);
    if no_block {
        argv.push("--no-block".to_owned());
    }
    if let Some(root) = root.filter(|root| !root.is_empty()) {
        argv.extend(["--root".to_owned(), root.to_owned()]);
    }
    Ok(Program::new(argv))
}

fn is_offline(ctx: &Ctx) -> bool {
    !paths::exists(ctx.host, "/run/systemd/system")
}

fn status(ctx: &Ctx, name: &str) -> Result<Answer, Fault> {
    systemctl(ctx, None)?.args(["status", &unit(name), "-n", "0"]).mixed().query(ctx)
}

pub(super) fn is_available(ctx: &Ctx, name: &str) -> Result<bool, Fault> {
    read_changes(ctx, name)?;
    knows(ctx, name)
}

fn knows(ctx: &Ctx, name: &str) -> Result<bool, Fault> {
    if is_offline(ctx) {
        return Err(Fault::execution(format!(
            "Cannot run in offline mode. Failed to get information on unit '{name}'"
        )));
    }
    Ok((0..4).contains(&status(ctx, name)?.retcode))
}

/// Has systemd read its units again if one was put there or changed since.
fn read_changes(ctx: &Ctx, name: &str) -> Result<(), Fault> {
    let own = Path::new("/etc/systemd/system").join(unit(name));
    let is_new = ctx.host.stat(&own).is_ok() && !knows(ctx, name)?;
    let is_changed =
        || Ok::<bool, Fault>(status(ctx, name)?.stdout.to_lowercase().contains("'systemctl daemon-reload'"));
    if is_new || is_changed()? {
        daemon_reload(ctx)?;
    }
    Ok(())
}

fn daemon_reload(ctx: &Ctx) -> Result<(), Fault> {
    let answer = systemctl(ctx, None)?.args(["--system", "daemon-reload"]).mixed().run(ctx)?;
    answer.expect_success("Problem performing systemctl daemon-reload").map(drop)
}

pub(super) fn act(ctx: &Ctx, action: &str, how: &How) -> Reply {
    let is_minion = unit(&how.name) == "salt-minion.service";
    prepare(ctx, how, None)?;
    let program = scoped(ctx, None, how.no_block.unwrap_or(is_minion))?;
    let answer = program.args([action, &unit(&how.name)]).run(ctx)?;
    if action == "stop" {
        return Ok(answer.is_success().into());
    }
    done(answer)
}

fn prepare(ctx: &Ctx, how: &How, root: Option<&str>) -> Result<(), Fault> {
    read_changes(ctx, &how.name)?;
    for (wanted, runtime) in [(how.unmask, false), (how.unmask_runtime, true)] {
        if wanted {
            unmask(ctx, &how.name, runtime, root)?;
        }
    }
    Ok(())
}

/// True, or what systemctl complains about.
fn done(answer: Answer) -> Reply {
    if answer.is_success() {
        return Ok(true.into());
    }
    let lines: Vec<&str> = answer.stderr.lines().filter(|line| !line.ends_with(".scope")).collect();
    Err(Fault::execution(lines.join("\n").trim()))
}

pub(super) fn is_active(ctx: &Ctx, name: &str) -> Result<bool, Fault> {
    read_changes(ctx, name)?;
    Ok(systemctl(ctx, None)?.args(["is-active", &unit(name)]).query(ctx)?.is_success())
}

pub(super) fn enable(ctx: &Ctx, how: &How, root: Option<&str>) -> Reply {
    prepare(ctx, how, root)?;
    if scripts(ctx, root).contains(&how.name) {
        return Ok(super::sysv::register(ctx, &how.name, true)?.into());
    }
    done(scoped(ctx, root, how.no_block == Some(true))?.args(["enable", &unit(&how.name)]).run(ctx)?)
}

pub(super) fn disable(ctx: &Ctx, name: &str, no_block: bool, root: Option<&str>) -> Reply {
    read_changes(ctx, name)?;
    if scripts(ctx, root).contains(name) {
        return Ok(super::sysv::register(ctx, name, false)?.into());
    }
    Ok(scoped(ctx, root, no_block)?.args(["disable", &unit(name)]).run(ctx)?.is_success().into())
}

pub(super) fn is_enabled(ctx: &Ctx, name: &str, root: Option<&str>) -> Result<bool, Fault> {
    let ask = |name: &str| systemctl(ctx, root)?.args(["is-enabled", &unit(name)]).query(ctx);
    let told = ask(name)?;
    if told.stdout == "alias" {
        let id = systemctl(ctx, root)?.args(["show", &unit(name), "-P", "Id"]).query(ctx)?.stdout;
        return Ok(ask(&id)?.is_success());
    }
    if told.is_success() {
        return Ok(true);
    }
    if name.contains('@') {
        return Ok(has_link(ctx, Path::new("/etc/systemd/system"), name, 4));
    }
    Ok(scripts(ctx, root).contains(name) && super::sysv::starts(ctx, name, root))
}

/// Whether a link with a name is below a directory.
fn has_link(ctx: &Ctx, directory: &Path, name: &str, depth: usize) -> bool {
    ctx.host.list(directory).unwrap_or_default().into_iter().any(|entry| {
        let path = directory.join(&entry);
        let is_link = ctx.host.stat(&path).is_ok_and(|stat| stat.target.is_some());
        (entry == name && is_link) || (!is_link && depth > 0 && has_link(ctx, &path, name, depth - 1))
    })
}

/// Units by the directories that they are in.
fn units(ctx: &Ctx, root: Option<&str>) -> BTreeSet<String> {
    let directories = UNITS.iter().map(|directory| below(root, directory));
    let directories = directories.filter(|directory| ctx.host.stat(directory).is_ok_and(|stat| stat.target.is_none()));
    directories
        .flat_map(|directory| ctx.host.list(&directory).unwrap_or_default())
        .filter_map(|name| short(&name))
        .collect()
}

/// Init scripts that no unit stands for.
fn scripts(ctx: &Ctx, root: Option<&str>) -> BTreeSet<String> {
    let units = units(ctx, root);
    super::sysv::scripts(ctx, root).into_iter().filter(|name| !units.contains(name)).collect()
}

pub(super) fn all(ctx: &Ctx, root: Option<&str>) -> Vec<String> {
    let mut all = units(ctx, root);
    all.extend(scripts(ctx, root));
    all.into_iter().collect()
}

/// Units whose files are in a state: enabled, disabled or static.
pub(super) fn listed(ctx: &Ctx, root: Option<&str>, state: &str) -> Result<Vec<String>, Fault> {
    let words = ["--full", "--no-legend", "--no-pager", "list-unit-files"];
    let told = systemctl(ctx, root)?.args(words).query(ctx)?;
    let mut found: BTreeSet<String> = BTreeSet::new();
    for line in told.stdout.lines() {
        let mut words = line.split_whitespace();
        if let (Some(file), Some(own)) = (words.next(), words.next())
            && own == state
        {
            found.extend(short(file));
        }
    }
    if state != "static" {
        let wanted = state == "enabled";
        found.extend(scripts(ctx, root).into_iter().filter(|name| super::sysv::starts(ctx, name, root) == wanted));
    }
    Ok(found.into_iter().collect())
}

record! {
    /// Has systemd read its units again.
    ///
    ///   salt '*' service.systemctl_reload
    pub struct SystemctlReload {}
}

impl Run for SystemctlReload {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect_systemd(ctx, "systemctl_reload")?;
        daemon_reload(ctx)?;
        Ok(true.into())
    }
}

record! {
    /// Lists the services that run.
    ///
    ///   salt '*' service.get_running
    pub struct GetRunning {}
}

impl Run for GetRunning {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect_systemd(ctx, "get_running")?;
        let told = systemctl(ctx, None)?.args(["--full", "--no-legend", "--no-pager"]).query(ctx)?;
        let mut found: BTreeSet<String> = BTreeSet::new();
        for line in told.stdout.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.get(3) == Some(&"running") {
                found.extend(short(words[0]));
            }
        }
        Ok(Value::list(found).into())
    }
}

record! {
    /// Lists the units that cannot be enabled, since others want them.
    ///
    ///   salt '*' service.get_static
    pub struct GetStatic {
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for GetStatic {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect_systemd(ctx, "get_static")?;
        Ok(Value::list(listed(ctx, self.root.as_deref(), "static")?).into())
    }
}

record! {
    /// Masks a service: nothing can start it.
    ///
    ///   salt '*' service.mask foo runtime=True
    pub struct Mask {
        /// Its name.
        name: String,
        /// Until the next boot alone.
        runtime: bool = false,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Mask {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect_systemd(ctx, "mask")?;
        read_changes(ctx, &self.name)?;
        let mut program = scoped(ctx, self.root.as_deref(), false)?.arg("mask");
        if self.runtime {
            program = program.arg("--runtime");
        }
        let answer = program.arg(unit(&self.name)).mixed().run(ctx)?;
        answer.expect_success(&format!("Failed to mask service '{}'", self.name))?;
        Ok(true.into())
    }
}

record! {
    /// Unmasks a service.
    ///
    ///   salt '*' service.unmask foo
    pub struct Unmask {
        /// Its name.
        name: String,
        /// The mask that lasts until the next boot.
        runtime: bool = false,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Unmask {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect_systemd(ctx, "unmask")?;
        read_changes(ctx, &self.name)?;
        unmask(ctx, &self.name, self.runtime, self.root.as_deref())?;
        Ok(true.into())
    }
}

fn unmask(ctx: &Ctx, name: &str, runtime: bool, root: Option<&str>) -> Result<(), Fault> {
    if !is_masked(ctx, name, runtime, root) {
        return Ok(());
    }
    let mut program = scoped(ctx, root, false)?.arg("unmask");
    if runtime {
        program = program.arg("--runtime");
    }
    match program.arg(unit(name)).mixed().run(ctx)?.is_success() {
        true => Ok(()),
        false => Err(Fault::execution(format!("Failed to unmask service '{name}'"))),
    }
}

record! {
    /// Shows whether a service is masked.
    ///
    ///   salt '*' service.masked foo
    pub struct Masked {
        /// Its name.
        name: String,
        /// The mask that lasts until the next boot.
        runtime: bool = false,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Masked {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect_systemd(ctx, "masked")?;
        read_changes(ctx, &self.name)?;
        Ok(is_masked(ctx, &self.name, self.runtime, self.root.as_deref()).into())
    }
}

fn is_masked(ctx: &Ctx, name: &str, runtime: bool, root: Option<&str>) -> bool {
    let directory = if runtime { "run/systemd/system" } else { "etc/systemd/system" };
    let link = below(root, directory).join(unit(name));
    ctx.host.stat(&link).is_ok_and(|stat| stat.target.as_deref() == Some(Path::new("/dev/null")))
}

record! {
    /// Shows all that systemd knows of a service.
    ///
    ///   salt '*' service.show sshd
    pub struct Show {
        /// Its name.
        name: String,
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Show {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect_systemd(ctx, "show")?;
        Ok(shown(ctx, &self.name, self.root.as_deref())?.into())
    }
}

fn shown(ctx: &Ctx, name: &str, root: Option<&str>) -> Result<Map, Fault> {
    let told = systemctl(ctx, root)?.args(["show", &unit(name)]).mixed().query(ctx)?;
    let line = |line: &str| -> (String, Value) {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let value = match value {
            value if value.starts_with('{') => {
                let parts = value.trim_matches(['{', '}', ' ']).split(" ; ");
                parts
                    .map(|part| {
                        part.split_once('=').map_or((part.trim(), ""), |(key, value)| (key.trim(), value.trim()))
                    })
                    .collect::<Map>()
                    .into()
            }
            value if ["Before", "After", "Wants"].contains(&name) => Value::list(value.split_whitespace()),
            value => value.into(),
        };
        (name.to_owned(), value)
    };
    Ok(told.stdout.lines().map(line).collect())
}

record! {
    /// Lists the programs of all services that have one.
    ///
    ///   salt '*' service.execs
    pub struct Execs {
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Execs {
    fn run(self, ctx: &Ctx) -> Reply {
        Manager::expect_systemd(ctx, "execs")?;
        let root = self.root.as_deref();
        let mut programs = Map::new();
        for name in all(ctx, root) {
            if ctx.is_cancelled() {
                return Err(Fault::Cancelled);
            }
            if let Some(path) = shown(ctx, &name, root)?.at("ExecStart").and_then(|start| start.at("path")) {
                programs.insert(name, path.clone());
            }
        }
        Ok(programs.into())
    }
}

record! {
    /// Sets what a new system is asked at its first boot, with systemd-firstboot.
    ///
    ///   salt '*' service.firstboot keymap=jp locale=en_US.UTF-8
    pub struct Firstboot {
        /// The locale.
        locale: Option<String> = (),
        /// The locale of messages.
        locale_message: Option<String> = (),
        /// The keyboard.
        keymap: Option<String> = (),
        /// The time zone.
        timezone: Option<String> = (),
        /// The host's name.
        hostname: Option<String> = (),
        /// The machine's id.
        machine_id: Option<String> = (),
        /// Another root.
        root: Option<String> = (),
    }
}

impl Run for Firstboot {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut program = Program::new([tool(ctx, "systemd-firstboot")?]);
        let options = [
            ("--locale", self.locale),
            ("--locale-message", self.locale_message),
            ("--keymap", self.keymap),
            ("--timezone", self.timezone),
            ("--hostname", self.hostname),
            ("--machine-ID", self.machine_id),
            ("--root", self.root),
        ];
        for (option, value) in options {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                program = program.args([option, value.as_str()]);
            }
        }
        program.run(ctx)?.expect_success("systemd-firstboot error")?;
        Ok(true.into())
    }
}

record! {
    /// Shows whether systemctl is there and systemd does not run, as in an image that is being made: the path of systemctl,
    /// else False.
    ///
    ///   salt '*' service.offline
    pub struct Offline {}
}

impl Run for Offline {
    fn run(self, ctx: &Ctx) -> Reply {
        if !is_offline(ctx) {
            return Ok(false.into());
        }
        let path = ctx.host.which("systemctl").map(|path| path.to_string_lossy().into_owned());
        Ok(Value::from(path).into())
    }
}
