//! The sections of a device: `[ethernet]`, `[bond]`, `[bridge]` and `[vlan]`.

use super::super::Settings;
use super::super::bridge::PARAMETERS;
use super::super::check::whole;
use super::interface::Kind;
use super::keyfile::Section;
use halite_core::Fault;
use halite_value::Value;

/// What is no option of a bond. All else is: the kernel knows more of them than a list here could have.
const NO_BOND: &[&str] = &[
    // The state and the function.
    "type",
    "test",
    "enabled",
    "onboot",
    "name",
    "noifupdown",
    "addr",
    // What belongs to what.
    "slaves",
    "interfaces",
    "ports",
    "bridge_ports",
    "master",
    "slave_type",
    // Addresses.
    "proto",
    "ipaddr",
    "ipaddrs",
    "addresses",
    "netmask",
    "prefix",
    "gateway",
    "broadcast",
    "metric",
    "pointopoint",
    "scope",
    "srcaddr",
    "dns",
    "nameservers",
    "dns_search",
    "domain",
    "search",
    "peerdns",
    "enable_ipv6",
    "ipv6proto",
    "ipv6addr",
    "ipv6ipaddr",
    "ipv6addrs",
    "ipv6gateway",
    "ipv6netmask",
    "ipv6_autoconf",
    "ipv6_peerdns",
    "ipv6_defroute",
    "ipv6_peerroutes",
    "dhcpv6c",
    "defroute",
    "ipv4_failure_fatal",
    "peerroutes",
    "arpcheck",
    "routes",
    // The card.
    "mtu",
    "hwaddr",
    "macaddr",
    "autoneg",
    "speed",
    "duplex",
    "wol",
    "ethtool",
    "advertise",
    "channels",
    "rx",
    "tx",
    "sg",
    "tso",
    "ufo",
    "gso",
    "gro",
    "lro",
    // Commands.
    "up_cmds",
    "down_cmds",
    "pre_up_cmds",
    "post_up_cmds",
    "pre_down_cmds",
    "post_down_cmds",
    // Bridges and VLANs.
    "stp",
    "fd",
    "forward_delay",
    "ageing",
    "maxage",
    "hello",
    "priority",
    "id",
    "vlan_id",
    "parent",
    "link",
    "vlan-raw-device",
    "vlan_raw_device",
    "reorder_hdr",
    "gvrp",
    "loose_binding",
    // Of network-scripts alone.
    "zone",
    "uuid",
    "nickname",
    "userctl",
    "nm_controlled",
];

/// The events that wake a host, by their names and bits.
const WAKING: [(&str, i64); 8] = [
    ("arp", 0x20),
    ("broadcast", 0x10),
    ("default", 0x1),
    ("ignore", 0x8000),
    ("magic", 0x40),
    ("multicast", 0x8),
    ("phy", 0x2),
    ("unicast", 0x4),
];

/// What a connection says of the card below it. Of all but cards themselves that is the size of packets, and of a VLAN
/// the card that it is on.
pub fn ethernet(kind: Kind, settings: &Settings) -> Result<Section, Fault> {
    let mut section = Section::new("ethernet");
    if let Some(mtu) = settings.told("mtu") {
        section.add("mtu", number("mtu", mtu)?);
    }
    if let Some(address) = hardware(settings).filter(|_| matches!(kind, Kind::Eth | Kind::Vlan)) {
        section.add("mac-address", address);
    }
    if kind != Kind::Eth {
        return Ok(section);
    }
    if let Some(address) = settings.told("macaddr") {
        section.add("cloned-mac-address", address);
    }
    if let Some(word) = given(settings, "autoneg") {
        section.add("auto-negotiate", is_yes(word));
    }
    match (given(settings, "speed"), given(settings, "duplex").map(|word| word.to_text().to_lowercase())) {
        (None, None) => {}
        (Some(speed), Some(duplex)) if matches!(duplex.as_str(), "half" | "full") => {
            section.add("speed", number("speed", speed)?);
            section.add("duplex", duplex);
        }
        (Some(_), Some(duplex)) => return Err(Fault::execution(format!("duplex may be half or full, not '{duplex}'"))),
        _ => return Err(Fault::execution("speed and duplex can only be set together")),
    }
    if let Some(events) = given(settings, "wol").map(waking).transpose()?.flatten() {
        section.add("wake-on-lan", events);
    }
    Ok(section)
}

pub fn bond(iface: &str, settings: &Settings) -> Result<Section, Fault> {
    if given(settings, "mode").is_none() {
        let why = "the kernel's own is balance-rr, which is rarely meant";
        return Err(Fault::execution(format!("the bond {iface} has no mode (such as active-backup, 802.3ad): {why}")));
    }
    let mut options = Vec::new();
    for (name, value) in settings.0.iter().map(|(name, value)| (name.to_text(), value)) {
        // What a job is called comes with its arguments.
        if value.is_null() || name.starts_with("__") || NO_BOND.contains(&name.as_str()) {
            continue;
        }
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(Fault::execution(format!("'{name}' is no name of an option of a bond: [a-zA-Z0-9_]")));
        }
        options.push((name, kernel_text(value)));
    }
    options.sort();
    let mut section = Section::new("bond");
    options.into_iter().for_each(|(name, value)| section.add(name, value));
    Ok(section)
}

/// A value as the driver of bonds reads it.
fn kernel_text(value: &Value) -> String {
    match value {
        Value::Bool(is_on) => u8::from(*is_on).to_string(),
        Value::List(items) => items.iter().map(Value::to_text).collect::<Vec<String>>().join(","),
        other => other.to_text(),
    }
}

pub fn bridge(settings: &Settings) -> Section {
    let mut section = Section::new("bridge");
    if let Some(word) = given(settings, "stp") {
        section.add("stp", is_yes(word));
    }
    for (name, key) in PARAMETERS {
        if let Some(value) = given(settings, name) {
            section.add(*key, value);
        }
    }
    if let Some(address) = hardware(settings) {
        section.add("mac-address", address);
    }
    section
}

/// A VLAN whose number or card is not given may have them in its name: `eth0.100`.
pub fn vlan(iface: &str, settings: &Settings) -> Result<Section, Fault> {
    let (base, tag) = iface.rsplit_once('.').map_or((None, None), |(base, tag)| (Some(base), Some(tag)));
    let tag = tag.filter(|tag| !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_digit())).map(Value::from);
    let id = settings.told("vlan_id").or_else(|| given(settings, "id")).cloned().or(tag);
    let named = ["vlan-raw-device", "vlan_raw_device", "parent", "link"].iter().find_map(|name| settings.told(name));
    let parent = named.map(Value::to_text).or(base.map(str::to_owned)).filter(|parent| !parent.is_empty());
    let (Some(id), Some(parent)) = (id, parent) else {
        let how = "vlan_id and parent, or a name such as eth0.100";
        return Err(Fault::execution(format!("the VLAN {iface} needs its number and its parent: {how}")));
    };
    let mut section = Section::new("vlan");
    section.add("id", number("vlan_id", &id)?);
    section.add("parent", parent);
    let is_on = |name: &str, bit: u8| if settings.at(name).is_some_and(is_yes) { bit } else { 0 };
    let reordered = if settings.at("reorder_hdr").is_none_or(is_yes) { 1 } else { 0 };
    // Only 1 is what NetworkManager takes where nothing is said.
    match reordered | is_on("gvrp", 2) | is_on("loose_binding", 4) {
        1 => {}
        flags => section.add("flags", flags),
    }
    Ok(section)
}

/// The address that a card has from its maker, if it is to be known by that.
fn hardware(settings: &Settings) -> Option<String> {
    let address = settings.told("hwaddr")?.to_text();
    (!matches!(address.trim().to_lowercase().as_str(), "auto" | "none")).then_some(address)
}

/// The bits of the events that wake a host; nothing where none is named.
fn waking(value: &Value) -> Result<Option<i64>, Fault> {
    let text = match value {
        Value::Bool(true) => "magic".to_owned(),
        Value::Bool(false) => "ignore".to_owned(),
        other => other.to_text().to_lowercase(),
    };
    if let Ok(number) = text.trim().parse() {
        return Ok(Some(number));
    }
    let mut bits = None;
    for word in text.split(|sign: char| sign.is_whitespace() || sign == ',').filter(|word| !word.is_empty()) {
        let Some((_, bit)) = WAKING.iter().find(|(name, _)| *name == word) else {
            let names = WAKING.map(|(name, _)| name).join(", ");
            return Err(Fault::execution(format!("wol may be a number or some of {names}, not '{}'", value.to_text())));
        };
        bits = Some(bits.unwrap_or(0) | bit);
    }
    Ok(bits)
}

fn given<'a>(settings: &'a Settings, name: &str) -> Option<&'a Value> {
    settings.at(name).filter(|value| !value.is_null())
}

fn is_yes(value: &Value) -> bool {
    matches!(value.to_text().to_lowercase().as_str(), "true" | "yes" | "on" | "1")
}

fn number(name: &str, value: &Value) -> Result<i64, Fault> {
    whole(value).ok_or_else(|| Fault::execution(format!("{name} is a whole number, not '{}'", value.to_text())))
}
