//! `ip.get_interface` and `ip.build_interface` in Debian's family.

use super::super::check::wrong;
use super::super::{Family, Settings, bond, ethtool, needs, write};
use super::options::{self, COMMANDS};
use super::stanza::{Interface, Interfaces, SOURCE, Stanza};
use super::{DIRECTORY, FAMILIES, FILE, bridge, pppoe};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

const KINDS: [&str; 11] =
    ["eth", "bond", "alias", "clone", "ipsec", "dialup", "bridge", "slave", "vlan", "pppoe", "source"];

/// The lines of an interface; none where there is none.
pub fn shown(ctx: &Ctx, iface: &str) -> Result<Vec<String>, Fault> {
    let all = Interfaces::read(ctx)?;
    Ok(all.find(iface).map_or_else(Vec::new, |interface| match iface {
        SOURCE => super::shown(&interface.sources_text()),
        _ => super::shown(&interface.text(iface)),
    }))
}

/// Writes an interface, and shows its lines.
pub fn build(ctx: &Ctx, iface: &str, kind: &str, enabled: bool, settings: Settings) -> Result<Vec<String>, Fault> {
    if !KINDS.contains(&kind) {
        return Err(wrong(iface, kind, &KINDS.join("|")));
    }
    required(kind, &settings)?;
    let interface = match kind {
        "source" => Interface { sources: settings.list("source").unwrap_or_default(), ..Interface::default() },
        "alias" | "clone" | "ipsec" | "dialup" => {
            return Err(Fault::invocation(format!("Interface {iface}: the type {kind} has no form in {FILE}")));
        }
        _ => interface(ctx, iface, kind, enabled, &settings)?,
    };
    let text = if kind == "source" { interface.sources_text() } else { interface.text(iface) };
    if settings.is_test() {
        return Ok(super::shown(&text));
    }
    for package in packages(kind) {
        needs(ctx, package)?;
    }
    save(ctx, iface, interface, &text, &settings)?;
    if kind == "pppoe" {
        pppoe::write(ctx, iface, &pppoe::options(&settings, iface)?)?;
    }
    Ok(super::shown(&text))
}

/// What an interface of a kind cannot do without.
fn required(kind: &str, settings: &Settings) -> Result<(), Fault> {
    let missing = match kind {
        "slave" if settings.at("master").is_none() => "master is a required setting for slave interfaces",
        "bond" if settings.at("slaves").is_none() => "slaves is a required setting for bond interfaces",
        "bridge" if settings.at("ports").is_none() => {
            "ports is a required setting for bridge interfaces on Debian or Ubuntu based systems"
        }
        "source" if settings.at("source").is_none() => "source is a required setting: which file is read?",
        _ => return Ok(()),
    };
    Err(Fault::invocation(missing))
}

fn packages(kind: &str) -> &'static [&'static str] {
    match kind {
        "vlan" => &["vlan"],
        "pppoe" => &["ppp"],
        "bridge" => &["bridge-utils"],
        _ => &[],
    }
}

fn interface(ctx: &Ctx, iface: &str, kind: &str, enabled: bool, settings: &Settings) -> Result<Interface, Fault> {
    let mut built = Built { stanzas: Default::default(), is_meant: [false; 2] };
    built.of_kind(ctx, iface, kind, settings)?;
    let mut given = settings.0.clone();
    // Of a bond it is the mode of its driver, not that of a tunnel.
    given.remove("mode");
    if kind == "slave" {
        given.insert("proto", "manual");
    }
    for (name, value) in given.iter() {
        built.set(&name.to_text(), value);
    }
    for name in COMMANDS {
        if let Some(commands) = given.at(name) {
            built.stanzas.iter_mut().for_each(|stanza| drop(stanza.options.insert(name, commands.clone())));
        }
    }
    let is_off = |name: &str| settings.at(name) == Some(&Value::Bool(false));
    if let Some(search) = given.at("search") {
        log::warn!("search: {} is set for the host as a whole, by network.system", search.to_text());
    }
    let keeps = [built.is_meant[0] && !is_off("enable_ipv4"), built.is_meant[1] && !is_off("enable_ipv6")];
    let [inet, inet6] = built.stanzas;
    Ok(Interface {
        auto: enabled,
        hotplug: settings.is_on("hotplug"),
        stanzas: [keeps[0].then_some(inet), keeps[1].then_some(inet6)],
        ..Interface::default()
    })
}

/// The stanzas of an interface while they are made.
struct Built {
    stanzas: [Stanza; 2],
    /// Whether anything says that there is to be one for this version of IP.
    is_meant: [bool; 2],
}

impl Built {
    /// What its kind brings with it.
    fn of_kind(&mut self, ctx: &Ctx, iface: &str, kind: &str, settings: &Settings) -> Result<(), Fault> {
        let ethtool = match kind {
            "bridge" => Map::new(),
            _ => ethtool_words(settings, iface)?,
        };
        let bridging = if kind == "bridge" { bridge::options(settings, iface)? } else { Map::new() };
        let mut bonding = Map::new();
        if kind == "bond" {
            bonding = bond::options(ctx, Family::Debian, settings, iface)?;
            bonding.insert("slaves", settings.at("slaves").cloned().unwrap_or_default());
        }
        let mut options = Map::new();
        match kind {
            "slave" => options.extend(Map::from_iter([("master", settings.at("master").cloned().unwrap_or_default())])),
            "vlan" => options.extend(Map::from_iter([("vlan-raw-device", raw_device(iface))])),
            "pppoe" => options.extend(pppoe::options(settings, iface)?),
            _ => {}
        }
        self.is_meant = [matches!(kind, "bridge" | "bond" | "slave" | "vlan" | "pppoe"); 2];
        for stanza in &mut self.stanzas {
            stanza.options = options.clone();
            stanza.ethtool = ethtool.clone();
            stanza.bridging = bridging.clone();
            stanza.bonding = bonding.clone();
        }
        Ok(())
    }

    /// One setting: `ipv6...` is for that version alone, an address for version 4, others for both.
    fn set(&mut self, given: &str, value: &Value) {
        let (name, only) = match given {
            _ if given.starts_with("ipv4") => (&given[4..], Some(0)),
            _ if given.starts_with("ipv6") => (&given[4..], Some(1)),
            "ipaddr" | "address" | "ipaddresses" | "addresses" | "gateway" | "proto" => (given, Some(0)),
            _ => (given, None),
        };
        if let Some(family) = only {
            self.is_meant[family] = true;
        }
        let name = match name {
            "dns" => "dns-nameservers",
            "hwaddr" => "hwaddress",
            "ipaddr" | "addr" => "address",
            "ipaddrs" | "addrs" => "addresses",
            other => other,
        };
        for (family, stanza) in self.stanzas.iter_mut().enumerate() {
            if only.is_some_and(|only| only != family) {
                continue;
            }
            if name == "proto" {
                let method = value.to_text();
                match options::is_method(&method, family) {
                    true => stanza.method = Some(method),
                    false => log::warn!("{given}: {method} is no method of {}: it is left out", FAMILIES[family]),
                }
                continue;
            }
            let Some(known) = options::find(name) else { continue };
            match known.accepted(value, family) {
                Some(value) if only.is_some() || !stanza.options.contains(name) => {
                    stanza.options.insert(name, value);
                }
                Some(_) => {}
                None if only.is_some() => log::warn!("{given}: '{}' does not fit: it is left out", value.to_text()),
                None => {}
            }
        }
    }
}

/// The name of a VLAN without its number: the interface that it is on.
fn raw_device(iface: &str) -> String {
    let mut parts = iface.split('.');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| name + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Options of the card by the words that the file has for them.
fn ethtool_words(settings: &Settings, iface: &str) -> Result<Map, Fault> {
    let mut words = Map::new();
    for (name, value) in ethtool::line(settings, iface)?.iter() {
        let word = match name.as_str() {
            Some("speed") => "link-speed",
            Some("duplex") => "link-duplex",
            _ => "ethernet-autoneg",
        };
        words.insert(word, value.clone());
    }
    for (name, value) in ethtool::offloads(settings, iface)?.iter() {
        words.insert(format!("offload-{}", name.to_text()), value.clone());
    }
    Ok(words)
}

/// Puts an interface in the place of the one of its name, in the file that has it; one that is new into the file of all, or
/// into one of its own.
fn save(ctx: &Ctx, iface: &str, interface: Interface, text: &str, settings: &Settings) -> Result<(), Fault> {
    if let Some(name) = settings.text("filename") {
        let path = if name.starts_with('/') { name } else { format!("{DIRECTORY}/{name}") };
        return write(ctx, &path, text, None);
    }
    let mut all = Interfaces::read(ctx)?;
    let name = if interface.sources.is_empty() { iface } else { SOURCE };
    let old = all.entry(name, FILE);
    let file = old.file.clone();
    let new = interface.sources.iter().filter(|path| !old.sources.contains(path)).cloned();
    let sources = old.sources.iter().cloned().chain(new).collect();
    *old = Interface { sources, file: file.clone(), ..interface };
    write(ctx, &file, &all.text(&file), None)
}
