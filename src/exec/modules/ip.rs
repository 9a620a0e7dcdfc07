//! `ip.*`: how network interfaces are configured: in Debian's family the files of ifupdown or netplan, in Red Hat's those
//! of network-scripts or NetworkManager.
//!
//! What an interface is to be like comes as keyword arguments, by the names that the states of `network` have for them.

mod bond;
mod bridge;
mod check;
mod debian;
mod ethtool;
mod netplan;
mod network_manager;
mod redhat;
#[cfg(test)]
mod tests;

use check::switch;
use halite_core::host::Attributes;
use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_node::network_owner::{is_netplan, is_network_manager};
use halite_value::record;
use halite_value::record::{ArgumentError, Arguments, Keywords, Record};
use halite_value::{Map, Value};
use std::path::Path;
use std::time::Duration;

pub const MODULE: Module = Module {
    name: "ip",
    doc: "How network interfaces are configured.",
    functions: &[
        function::<ApplyNetworkSettings>("apply_network_settings"),
        function::<BuildBond>("build_bond"),
        function::<BuildInterface>("build_interface"),
        function::<BuildNetworkSettings>("build_network_settings"),
        function::<BuildRoutes>("build_routes"),
        function::<Down>("down"),
        function::<GetBond>("get_bond"),
        function::<GetInterface>("get_interface"),
        function::<GetNetworkSettings>("get_network_settings"),
        function::<GetRoutes>("get_routes"),
        function::<NetplanActive>("netplan_active"),
        function::<NmManaged>("nm_managed"),
        function::<Up>("up"),
    ],
};

/// Whose files it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Debian,
    /// Debian's, where netplan has the network and the files of ifupdown have no effect.
    Netplan,
    RedHat,
    /// Red Hat's family as well.
    NetworkManager,
}

impl Family {
    fn of(ctx: &Ctx) -> Result<Family, Fault> {
        match ctx.grains.str_at("os_family") {
            Some("Debian") if is_netplan(ctx) => Ok(Family::Netplan),
            Some("Debian") => Ok(Family::Debian),
            Some("RedHat") if is_network_manager(ctx) => Ok(Family::NetworkManager),
            Some("RedHat") => Ok(Family::RedHat),
            other => Err(Fault::execution(format!(
                "interfaces can be configured in the families Debian and RedHat, this host is of {}",
                other.unwrap_or("an unknown one")
            ))),
        }
    }

    /// For what only Debian's family has.
    fn debian(ctx: &Ctx, what: &str) -> Result<(), Fault> {
        match Family::of(ctx)? {
            Family::Debian => Ok(()),
            _ => {
                Err(Fault::execution(format!("{what} is a file of its own in Debian's family alone, without netplan")))
            }
        }
    }
}

/// The keyword arguments of a call.
struct Settings(Map);

impl Settings {
    fn at(&self, name: &str) -> Option<&Value> {
        self.0.at(name)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.at(name).map(Value::to_text)
    }

    fn is_on(&self, name: &str) -> bool {
        self.at(name).is_some_and(Value::truthy)
    }

    /// Whether it is only asked what would be written.
    fn is_test(&self) -> bool {
        self.is_on("test")
    }

    /// A list, or the words of a text.
    fn list(&self, name: &str) -> Option<Vec<String>> {
        Some(match self.at(name)? {
            Value::List(items) => items.iter().map(Value::to_text).collect(),
            text => text.to_text().split_whitespace().map(str::to_owned).collect(),
        })
    }

    /// The routes of an interface.
    fn routes(&self, iface: &str) -> Result<Vec<Map>, Fault> {
        let routes = self.0.iter().find(|(name, _)| name.to_text().to_lowercase() == "routes").map(|(_, value)| value);
        let wrong = |found: &str| {
            let what = format!("Route interface: {iface}, Option: routes, Expected: [List of routes]");
            Fault::invocation(format!("Invalid option -- {what}{found}"))
        };
        let Some(Value::List(routes)) = routes else { return Err(wrong("")) };
        let mut maps = Vec::new();
        for route in routes {
            match route {
                Value::Map(route) => maps.push(route.clone()),
                other => return Err(wrong(&format!(", found: {}", other.to_text()))),
            }
        }
        Ok(maps)
    }
}

/// A name of an interface becomes part of the name of a file.
fn checked(iface: &str) -> Result<(), Fault> {
    let is_wrong = iface.is_empty() || iface.starts_with(['-', '.']) || iface.contains(['/', '\0', '\n', ' ']);
    match is_wrong {
        true => Err(Fault::invocation(format!("'{iface}' is not the name of an interface"))),
        false => Ok(()),
    }
}

record! {
    /// Shows how an interface is configured.
    ///
    ///   salt '*' ip.get_interface eth0
    pub struct GetInterface {
        /// The interface.
        iface: String,
    }
}

impl Run for GetInterface {
    fn run(self, ctx: &Ctx) -> Reply {
        checked(&self.iface)?;
        Ok(match Family::of(ctx)? {
            Family::Debian => debian::interface::shown(ctx, &self.iface)?.into(),
            Family::Netplan => netplan::interface::shown(ctx, &self.iface)?.into(),
            Family::RedHat => redhat::interface::shown(ctx, &self.iface)?.into(),
            Family::NetworkManager => network_manager::interface::shown(ctx, &self.iface)?.into(),
        })
    }
}

record! {
    /// Configures an interface; what is written is shown.
    ///
    ///   salt '*' ip.build_interface eth0 eth True proto=static ipaddr=10.1.0.1 netmask=255.255.255.0
    pub struct BuildInterface {
        /// The interface.
        iface: String,
        /// What it is: eth, bond, bridge, slave, vlan, ...
        iface_type: String,
        /// Whether it comes up when the host boots.
        enabled: bool,
        /// What it is like; `test=True` only shows what would be written.
        settings: Keywords,
    }
}

impl Run for BuildInterface {
    fn run(self, ctx: &Ctx) -> Reply {
        checked(&self.iface)?;
        let (kind, settings) = (self.iface_type.to_lowercase(), Settings(self.settings.0));
        Ok(match Family::of(ctx)? {
            Family::Debian => debian::interface::build(ctx, &self.iface, &kind, self.enabled, settings)?.into(),
            Family::Netplan => netplan::interface::build(ctx, &self.iface, &kind, &settings)?.into(),
            Family::RedHat => redhat::interface::build(ctx, &self.iface, &kind, self.enabled, settings)?.into(),
            Family::NetworkManager => {
                network_manager::interface::build(ctx, &self.iface, &kind, self.enabled, settings)?.into()
            }
        })
    }
}

record! {
    /// Shows the options of the driver of a bond, in Debian's family.
    ///
    ///   salt '*' ip.get_bond bond0
    pub struct GetBond {
        /// The bond.
        iface: String,
    }
}

impl Run for GetBond {
    fn run(self, ctx: &Ctx) -> Reply {
        checked(&self.iface)?;
        Family::debian(ctx, "a bond")?;
        Ok(debian::bond::shown(ctx, &self.iface)?.into())
    }
}

record! {
    /// Writes the options of the driver of a bond, in Debian's family, and loads it.
    ///
    ///   salt '*' ip.build_bond bond0 mode=balance-alb
    pub struct BuildBond {
        /// The bond.
        iface: String,
        /// The options; `test=True` only shows what would be written.
        settings: Keywords,
    }
}

impl Run for BuildBond {
    fn run(self, ctx: &Ctx) -> Reply {
        checked(&self.iface)?;
        Family::debian(ctx, "a bond")?;
        Ok(debian::bond::build(ctx, &self.iface, &Settings(self.settings.0))?.into())
    }
}

record! {
    /// Shows the routes that are configured for an interface.
    ///
    ///   salt '*' ip.get_routes eth0
    pub struct GetRoutes {
        /// The interface.
        iface: String,
    }
}

impl Run for GetRoutes {
    fn run(self, ctx: &Ctx) -> Reply {
        checked(&self.iface)?;
        Ok(match Family::of(ctx)? {
            Family::Debian => debian::routes::shown(ctx, &self.iface)?.into(),
            Family::Netplan => netplan::routes::shown(ctx, &self.iface)?.into(),
            Family::RedHat => redhat::routes::shown(ctx, &self.iface)?.into(),
            Family::NetworkManager => network_manager::routes::shown(ctx, &self.iface)?.into(),
        })
    }
}

record! {
    /// Whether the network of this host of Red Hat's family is NetworkManager's: it runs, and network-scripts are not there.
    ///
    ///   salt '*' ip.nm_managed
    pub struct NmManaged {}
}

impl Run for NmManaged {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok((Family::of(ctx)? == Family::NetworkManager).into())
    }
}

record! {
    /// Configures the routes of an interface; what is written is shown.
    ///
    ///   salt '*' ip.build_routes eth0 routes='[{ipaddr: 10.2.0.0, netmask: 16, gateway: 10.1.0.1}]'
    pub struct BuildRoutes {
        /// The interface.
        iface: String,
        /// `routes`, a list of maps with `name`, `ipaddr`, `netmask`, `gateway` and `metric`; `test=True` only shows what
        /// would be written.
        settings: Keywords,
    }
}

impl Run for BuildRoutes {
    fn run(self, ctx: &Ctx) -> Reply {
        checked(&self.iface)?;
        let settings = Settings(self.settings.0);
        Ok(match Family::of(ctx)? {
            Family::Debian => debian::routes::build(ctx, &self.iface, &settings)?.into(),
            Family::Netplan => netplan::routes::build(ctx, &self.iface, &settings)?.into(),
            Family::RedHat => redhat::routes::build(ctx, &self.iface, &settings)?.into(),
            Family::NetworkManager => network_manager::routes::build(ctx, &self.iface, &settings)?.into(),
        })
    }
}

record! {
    /// Shows what is configured for the network as a whole: with netplan, nothing.
    ///
    ///   salt '*' ip.get_network_settings
    pub struct GetNetworkSettings {}
}

impl Run for GetNetworkSettings {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(match Family::of(ctx)? {
            Family::Debian => debian::settings::shown(ctx)?.into(),
            Family::Netplan => Vec::<String>::new().into(),
            Family::RedHat => redhat::settings::shown(ctx)?.into(),
            // Each of its keyfiles stands for itself.
            Family::NetworkManager => Vec::<String>::new().into(),
        })
    }
}

record! {
    /// Configures the network as a whole; what there is afterwards is shown. With netplan there is nothing to configure.
    ///
    ///   salt '*' ip.build_network_settings enabled=True hostname=web1.example.com
    pub struct BuildNetworkSettings {
        /// `enabled`, `hostname`, `search` and, in Red Hat's family, `gateway`, `nozeroconf` and others; `test=True` only
        /// shows what would be written.
        settings: Keywords,
    }
}

impl Run for BuildNetworkSettings {
    fn run(self, ctx: &Ctx) -> Reply {
        let lowered =
            self.settings.0.iter().map(|(name, value)| (Value::from(name.to_text().to_lowercase()), value.clone()));
        let settings = Settings(lowered.collect());
        Ok(match Family::of(ctx)? {
            Family::Debian => debian::settings::build(ctx, &settings)?.into(),
            Family::Netplan => Vec::<String>::new().into(),
            Family::RedHat => redhat::settings::build(ctx, &settings)?.into(),
            Family::NetworkManager => network_manager::build_settings(&settings).into(),
        })
    }
}

record! {
    /// Has the network started anew, so that what is configured is in force.
    ///
    ///   salt '*' ip.apply_network_settings
    pub struct ApplyNetworkSettings {
        /// `require_reboot=True`: it is not, the next boot does it. `apply_hostname=True`: the host gets the name `hostname`.
        /// With netplan, `test=True` does nothing.
        settings: Keywords,
    }
}

impl Run for ApplyNetworkSettings {
    fn run(self, ctx: &Ctx) -> Reply {
        let (family, settings) = (Family::of(ctx)?, Settings(self.settings.0));
        match family {
            Family::Netplan if settings.is_test() => return Ok(true.into()),
            Family::NetworkManager => return Ok(network_manager::apply(ctx, &settings)?.into()),
            _ => {}
        }
        let is_on = |name: &str| settings.at(name).and_then(switch) == Some(true);
        let mut is_named = true;
        if is_on("apply_hostname") {
            is_named = match settings.at("hostname") {
                Some(name) => {
                    let words = Arguments::keywords(Map::from_iter([("hostname", name.clone())]));
                    ctx.run("network.mod_hostname", words)?.truthy()
                }
                None => {
                    log::warn!("apply_hostname is set, but there is no hostname");
                    false
                }
            };
        }
        if is_on("require_reboot") {
            log::warn!("the network as it is configured is in force after the next boot");
            return Ok(is_named.into());
        }
        let service = |fun: &str, name: &str| -> Result<bool, Fault> {
            Ok(ctx.run(fun, Arguments::positional([name]))?.truthy())
        };
        let is_applied = match family {
            Family::Netplan => netplan::apply(ctx)?,
            Family::Debian => {
                let stopped = service("service.stop", "networking")?;
                // Interfaces that go down take a moment.
                ctx.host.sleep(Duration::from_secs(2));
                stopped && service("service.start", "networking")?
            }
            Family::RedHat | Family::NetworkManager => {
                let release = ctx.grains.at("osmajorrelease").and_then(Value::as_int).unwrap_or(8);
                service("service.restart", if release >= 8 { "NetworkManager" } else { "network" })?
            }
        };
        Ok((is_named && is_applied).into())
    }
}

record! {
    /// Brings an interface up, as it is configured. The members of a bond come up with it.
    ///
    ///   salt '*' ip.up eth0 eth
    pub struct Up {
        /// The interface.
        iface: String,
        /// What it is: eth, bond, bridge, slave, vlan, ...; netplan and NetworkManager know it without.
        iface_type: Option<String> = (),
    }
}

record! {
    /// Takes an interface down. The members of a bond go down with it.
    ///
    ///   salt '*' ip.down eth0 eth
    pub struct Down {
        /// The interface.
        iface: String,
        /// What it is: eth, bond, bridge, slave, vlan, ...; netplan and NetworkManager know it without.
        iface_type: Option<String> = (),
    }
}

record! {
    /// Whether netplan has the network: its program and `/etc/netplan` are there.
    ///
    ///   salt '*' ip.netplan_active
    pub struct NetplanActive {}
}

impl Run for NetplanActive {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(is_netplan(ctx).into())
    }
}

impl Run for Up {
    fn run(self, ctx: &Ctx) -> Reply {
        turn::<Self>(ctx, "up", &self.iface, self.iface_type)
    }
}

impl Run for Down {
    fn run(self, ctx: &Ctx) -> Reply {
        turn::<Self>(ctx, "down", &self.iface, self.iface_type)
    }
}

fn turn<R: Record>(ctx: &Ctx, way: &str, iface: &str, kind: Option<String>) -> Reply {
    checked(iface)?;
    let family = Family::of(ctx)?;
    let others = match (family, way) {
        (Family::Netplan, "up") => return Ok(netplan::apply(ctx)?.into()),
        (Family::Netplan, _) => return netplan::down(ctx, iface),
        (Family::Debian, _) => ["slave", "source"],
        (Family::RedHat | Family::NetworkManager, _) => ["slave", "teamport"],
    };
    let is_missing = kind.is_none();
    if kind.is_some_and(|kind| others.contains(&kind.to_lowercase().as_str())) {
        return Ok(().into());
    }
    match (family, way) {
        (Family::NetworkManager, "up") => Ok(network_manager::up(ctx, iface)?.into()),
        (Family::NetworkManager, _) => Ok(network_manager::down(ctx, iface)?.into()),
        _ if is_missing => {
            let error = ArgumentError::Missing { names: vec!["iface_type"], required: 2, given: 1 };
            Err(Fault::arguments::<R>(format!("ip.{way}"), error))
        }
        _ => Ok(Program::new([format!("if{way}").as_str(), iface]).mixed().run(ctx)?.stdout.into()),
    }
}

/// The lines of a file; none where it cannot be read.
fn lines_of(ctx: &Ctx, path: &str) -> Option<Vec<String>> {
    let bytes = ctx.host.read(Path::new(path)).ok()?;
    Some(String::from_utf8_lossy(&bytes).split_inclusive('\n').map(str::to_owned).collect())
}

/// Writes a file into a directory that must be there. Without a mode it keeps its own; a new one is for all to read.
fn write(ctx: &Ctx, path: &str, text: &str, mode: Option<u32>) -> Result<(), Fault> {
    let directory = paths::directory_of(path);
    if !paths::exists(ctx.host, &directory) {
        return Err(Fault::invocation(format!("{path} cannot be written. {directory} does not exist")));
    }
    let real = paths::real(ctx.host, path);
    let mode = mode.or_else(|| (!paths::exists(ctx.host, &real)).then_some(0o644));
    ctx.host
        .write(Path::new(&real), text.as_bytes(), Attributes { mode, ..Attributes::default() })
        .map_err(|error| Fault::execution(format!("{path}: {error}")))
}

/// Has a package installed that an interface of this kind needs.
fn needs(ctx: &Ctx, package: &str) -> Result<(), Fault> {
    if ctx.run("pkg.version", Arguments::positional([package]))?.truthy() {
        return Ok(());
    }
    ctx.run("pkg.install", Arguments::positional([package])).map(|_| ())
}
