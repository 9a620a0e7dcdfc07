//! `network.managed`: an interface.

use super::status::{Turn, is_up};
use super::{Call, Difference, members};
use halite_core::program::Program;
use halite_core::state::{Outcome, Plan, PlanContext, State, ask, failed, single};
use halite_core::{Ctx, Fault};
use halite_node::network_owner::is_bond_apart;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Makes sure that an interface is configured, and that it is up or down.
    ///
    ///   eth0:
    ///     network.managed:
    ///       - type: eth
    ///       - proto: static
    ///       - ipaddr: 10.1.0.1
    ///       - netmask: 255.255.255.0
    ///       - dns:
    ///         - 8.8.8.8
    pub struct Managed {
        /// The interface.
        name: String,
        /// Whether it is up, and comes up when the host boots.
        enabled: bool = true,
        /// `type` (eth, bond, bridge, slave, vlan, ...) and the settings that `ip.build_interface` takes; with `noifupdown`
        /// it is not brought up or taken down.
        kwargs: Keywords,
    }
}

/// What is wanted of an interface.
struct Interface {
    name: String,
    kind: String,
    enabled: bool,
    /// Whether it may be brought up and taken down.
    is_turned: bool,
    settings: Map,
    warning: Option<String>,
}

/// A file of an interface and how it differs.
struct File {
    old: Value,
    call: Call,
    /// What it is called in comments.
    what: String,
    key: &'static str,
    /// The change that is shown of what was not there.
    new: String,
}

impl State for Managed {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let interface = Interface::of(self);
        let ctx = context.ctx;
        let files = interface.files(ctx)?;
        let mut comment = format!("Interface {} is up to date.", interface.name);
        let mut is_changed = false;
        for file in &files {
            let new = match file.call.would(ctx) {
                Ok(new) => new,
                Err(Fault::Invocation(what)) => return Ok(interface.warned(failed(what))),
                Err(fault) => return Err(fault),
            };
            match Difference::of(&file.old, &new) {
                Difference::None => continue,
                Difference::Added => comment = format!("{} is set to be added.", file.what),
                Difference::Changed(text) => comment = format!("{} is set to be updated:\n{text}", file.what),
            }
            is_changed = true;
        }
        if !is_changed {
            let stale = interface.stale_members(ctx)?;
            if !stale.is_empty() {
                comment = format!("Interface {} is set to get the members {}.", interface.name, stale.join(", "));
                is_changed = true;
            }
        }
        let turn = interface.turn(ctx, is_changed)?;
        if !is_changed && turn == Turn::Nothing {
            return Ok(interface.warned(Plan::Stands(Outcome::done(comment))));
        }
        if let Some(announced) = turn.announced(&interface.name).filter(|_| !is_changed) {
            comment = format!("{comment}\n{announced}");
        }
        let would = interface.marked(Outcome::new(None, comment));
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| interface.apply(ctx, files)) })
    }
}

impl Interface {
    fn of(state: Managed) -> Interface {
        let Managed { name, enabled, kwargs: Keywords(mut settings) } = state;
        let kind = settings.remove("type").map_or_else(|| "eth".to_owned(), |kind| kind.to_text());
        let warning = settings.remove("addr").map(|address| {
            let fate = match settings.at("hwaddr") {
                Some(_) => "it has been ignored in favor of 'hwaddr'.",
                None => "its value has been assigned to 'hwaddr' instead.",
            };
            settings.entry_or("hwaddr", || address);
            format!("'addr' is not a valid argument name, {fate} Update your SLS file to get rid of this warning.")
        });
        let is_turned = !settings.contains("noifupdown") && kind != "source";
        Interface { name, kind, enabled, is_turned, settings, warning }
    }

    fn files(&self, ctx: &Ctx) -> Result<Vec<File>, Fault> {
        let name = self.name.as_str();
        let show = |fun: &str| ask(ctx, fun, [("iface", name.into())]);
        let mut files = vec![File {
            old: show("ip.get_interface")?,
            call: Call {
                fun: "ip.build_interface",
                positional: vec![name.into(), self.kind.as_str().into(), self.enabled.into()],
                settings: self.settings.clone(),
            },
            what: format!("Interface {name}"),
            key: "interface",
            new: "Added network interface.".to_owned(),
        }];
        // Red Hat's family and netplan have the options of a bond in the file of the interface.
        if self.kind == "bond" && is_bond_apart(ctx) {
            files.push(File {
                old: show("ip.get_bond")?,
                call: Call { fun: "ip.build_bond", positional: vec![name.into()], settings: self.settings.clone() },
                what: format!("Bond interface {name}"),
                key: "bond",
                new: format!("Added bond {name}."),
            });
        }
        Ok(files)
    }

    fn stale_members(&self, ctx: &Ctx) -> Result<Vec<String>, Fault> {
        members::stale(ctx, &self.name, &self.kind, self.enabled, &self.settings)
    }

    fn turn(&self, ctx: &Ctx, is_changed: bool) -> Result<Turn, Fault> {
        match self.is_turned && !self.is_range() {
            true => Ok(Turn::of(is_up(ctx, &self.name)?, self.enabled, is_changed)),
            false => Ok(Turn::Nothing),
        }
    }

    /// A file of Red Hat's family for many addresses, which no program turns on or off.
    fn is_range(&self) -> bool {
        self.name.contains("range")
    }

    fn apply(self, ctx: &Ctx, files: Vec<File>) -> Result<Outcome, Fault> {
        let mut changes = Map::new();
        let mut comment = format!("Interface {} is up to date.", self.name);
        let stale = self.stale_members(ctx)?.join(", ");
        for file in files {
            match Difference::of(&file.old, &file.call.write(ctx)?) {
                Difference::None => {}
                Difference::Added => {
                    comment = format!("{} added.", file.what);
                    changes.insert(file.key, file.new);
                }
                Difference::Changed(text) => {
                    comment = format!("{} updated.", file.what);
                    changes.insert(file.key, text);
                }
            }
        }
        if changes.is_empty() && !stale.is_empty() {
            comment = format!("Interface {} got the members {stale}.", self.name);
            changes.insert("members", stale);
        }
        if self.is_range() && !changes.is_empty() {
            let restarted = ask(ctx, "service.restart", [("name", "network".into())])?.truthy();
            let comment = "network restarted for change of ranged interfaces";
            return Ok(self.marked(Outcome::new(Some(restarted), comment).with_changes(changes)));
        }
        let was_up = self.kind != "source" && is_up(ctx, &self.name)?;
        let turn = self.turn(ctx, !changes.is_empty())?;
        match turn.make(ctx, &self.name, &self.kind) {
            Ok(Some(status)) => drop(changes.insert("status", status)),
            Ok(None) => {}
            Err(fault) => return Ok(self.marked(Outcome::failed(fault.to_string()).with_changes(changes))),
        }
        if self.kind == "bond" && self.is_turned {
            changes.extend(self.enslave(ctx)?);
        }
        if !(self.enabled && was_up) && self.kind != "source" {
            // Addresses are grains.
            ctx.run("saltutil.refresh_grains", Arguments::default())?;
        }
        Ok(self.marked(Outcome::done(comment).with_changes(changes)))
    }

    /// Gives a bond the members that it does not have yet; what is shown of it.
    fn enslave(&self, ctx: &Ctx) -> Result<Map, Fault> {
        let wanted: Vec<String> = match self.settings.at("slaves") {
            Some(Value::List(names)) => names.iter().map(Value::to_text).collect(),
            Some(names) => names.to_text().split_whitespace().map(str::to_owned).collect(),
            None => Vec::new(),
        };
        let path = format!("/sys/class/net/{}/bonding/slaves", self.name);
        let present = ctx.host.read(Path::new(&path)).unwrap_or_default();
        let present = String::from_utf8_lossy(&present).into_owned();
        let missing: Vec<String> =
            wanted.into_iter().filter(|name| !present.split_whitespace().any(|known| known == name)).collect();
        if missing.is_empty() {
            return Ok(Map::new());
        }
        match ctx.host.which("ifenslave") {
            Some(program) => {
                let program = program.to_string_lossy().into_owned();
                Program::new([program, self.name.clone()]).args(missing.clone()).run(ctx)?;
            }
            None => log::error!("Command 'ifenslave' not found"),
        }
        let (members, name) = (missing.join(" "), &self.name);
        Ok(single("enslave", format!("Added slaves '{members}' to master '{name}'")))
    }

    fn marked(&self, outcome: Outcome) -> Outcome {
        match &self.warning {
            Some(warning) => outcome.with("warnings", vec![warning.as_str()]),
            None => outcome,
        }
    }

    fn warned(&self, plan: Plan) -> Plan {
        match plan {
            Plan::Stands(outcome) => Plan::Stands(self.marked(outcome)),
            changes => changes,
        }
    }
}
