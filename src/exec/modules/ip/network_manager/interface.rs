//! `ip.get_interface` and `ip.build_interface` of NetworkManager: `IFACE.nmconnection`.

use super::super::{Settings, checked};
use super::keyfile::{self, Section};
use super::{addresses, device, routes};
use halite_core::{Ctx, Fault};

/// Settings of network-scripts and ethtool(8) that have no place in a keyfile.
const NO_PLACE: [&str; 17] = [
    "advertise",
    "channels",
    "down_cmds",
    "ethtool",
    "gro",
    "gso",
    "lro",
    "post_down_cmds",
    "post_up_cmds",
    "pre_down_cmds",
    "pre_up_cmds",
    "rx",
    "sg",
    "tso",
    "tx",
    "ufo",
    "up_cmds",
];

/// What an interface is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bond,
    Bridge,
    Eth,
    /// The member of a bond or a bridge.
    Slave,
    Vlan,
}

impl Kind {
    const ALL: [(&str, Kind); 5] = [
        ("bond", Kind::Bond),
        ("bridge", Kind::Bridge),
        ("eth", Kind::Eth),
        ("slave", Kind::Slave),
        ("vlan", Kind::Vlan),
    ];

    fn named(name: &str) -> Result<Kind, Fault> {
        let known = Kind::ALL.iter().find(|(own, _)| *own == name).map(|(_, kind)| *kind);
        known.ok_or_else(|| {
            let names = Kind::ALL.map(|(name, _)| name).join(", ");
            Fault::execution(format!("NetworkManager gets interfaces of the types {names}, not '{name}'"))
        })
    }

    /// What NetworkManager calls it.
    fn connection(self) -> &'static str {
        match self {
            Kind::Bond => "bond",
            Kind::Bridge => "bridge",
            Kind::Eth | Kind::Slave => "ethernet",
            Kind::Vlan => "vlan",
        }
    }

    /// The interfaces that belong to one.
    fn members(self, iface: &str, settings: &Settings) -> Result<Vec<String>, Fault> {
        let mut members = match self {
            Kind::Bond => settings.items(&["slaves", "interfaces"]),
            Kind::Bridge => settings.items(&["ports", "bridge_ports", "interfaces"]),
            _ => Vec::new(),
        };
        members.retain(|member| member != iface);
        members.iter().try_for_each(|member| checked(member))?;
        Ok(members)
    }
}

pub fn shown(ctx: &Ctx, iface: &str) -> Result<Vec<String>, Fault> {
    Ok(keyfile::read(ctx, iface).unwrap_or_default())
}

/// Writes an interface and the members that it has, and shows its own lines.
pub fn build(ctx: &Ctx, iface: &str, kind: &str, enabled: bool, settings: Settings) -> Result<Vec<String>, Fault> {
    let kind = Kind::named(kind)?;
    let members = kind.members(iface, &settings)?;
    let mut sections = sections(iface, kind, enabled, &settings)?;
    // The routes of an interface are built by themselves, and stand in its keyfile.
    routes::Routes::of(&keyfile::read(ctx, iface).unwrap_or_default()).add_to(&mut sections);
    let lines = keyfile::lines(&sections)?;
    if settings.is_test() {
        return Ok(lines);
    }
    keyfile::save(ctx, iface, &lines)?;
    for member in members {
        let mut connection = connection(&member, Kind::Slave, enabled);
        belongs(&mut connection, iface, kind.connection());
        keyfile::save(ctx, &member, &keyfile::lines(&[connection])?)?;
    }
    Ok(lines)
}

fn sections(iface: &str, kind: Kind, enabled: bool, settings: &Settings) -> Result<Vec<Section>, Fault> {
    let homeless: Vec<&str> = NO_PLACE.into_iter().filter(|name| settings.told(name).is_some()).collect();
    if !homeless.is_empty() {
        let names = homeless.join(", ");
        return Err(Fault::execution(format!("NetworkManager's keyfiles have no place for the settings {names}")));
    }
    let mut connection = connection(iface, kind, enabled);
    if let Some(master) = settings.told("master").filter(|_| kind == Kind::Slave) {
        let of = settings.text("slave_type").unwrap_or_else(|| Kind::Bond.connection().to_owned());
        belongs(&mut connection, &master.to_text(), &of);
        // Addresses are those of the whole.
        return Ok(vec![connection]);
    }
    if settings.told("hwaddr").is_some() && settings.told("macaddr").is_some() {
        return Err(Fault::execution(format!("the interface {iface} may have hwaddr or macaddr, not both")));
    }
    let device = match kind {
        Kind::Bond => Some(device::bond(iface, settings)?),
        Kind::Bridge => Some(device::bridge(settings)),
        Kind::Vlan => Some(device::vlan(iface, settings)?),
        Kind::Eth | Kind::Slave => None,
    };
    let below = [device, Some(device::ethernet(kind, settings)?)].into_iter().flatten();
    let mut sections = vec![connection];
    sections.extend(below.filter(|section| !section.is_empty()));
    sections.extend([addresses::ipv4(settings)?, addresses::ipv6(settings)?]);
    Ok(sections)
}

fn connection(iface: &str, kind: Kind, enabled: bool) -> Section {
    let mut section = Section::new("connection");
    section.add("id", iface);
    section.add("uuid", keyfile::uuid(iface));
    section.add("type", kind.connection());
    section.add("interface-name", iface);
    section.add("autoconnect", enabled);
    section
}

fn belongs(connection: &mut Section, whole: &str, kind: &str) {
    connection.add("master", whole);
    connection.add("slave-type", kind);
}
