//! `ip.get_interface` and `ip.build_interface` with netplan: `90-salt-IFACE.yaml`, which comes after the files of others.

use super::super::bond::MODES;
use super::super::bridge::PARAMETERS;
use super::super::check::{switch, whole, wrong};
use super::super::{Settings, lines_of, write};
use super::{Declared, ETHERNETS, lines, words};
use halite_core::{Ctx, Fault};
use halite_lang::net::Net;
use halite_lang::yaml;
use halite_node::network_owner::NETPLAN;
use halite_value::{Map, Value};
use std::net::{IpAddr, Ipv4Addr};

/// Kinds of interfaces, and the section that has them.
const SECTIONS: [(&str, &str); 5] =
    [("bond", "bonds"), ("bridge", "bridges"), ("eth", ETHERNETS), ("slave", ETHERNETS), ("vlan", "vlans")];

/// Settings that netplan has no word for.
const REFUSED: [&str; 7] =
    ["down_cmds", "ethtool", "post_down_cmds", "post_up_cmds", "pre_down_cmds", "pre_up_cmds", "up_cmds"];

/// Parameters of bonds: how they are set, and netplan's word.
const BOND: &[(&str, &str)] = &[
    ("mode", "mode"),
    ("miimon", "mii-monitor-interval"),
    ("lacp_rate", "lacp-rate"),
    ("xmit_hash_policy", "transmit-hash-policy"),
    ("downdelay", "down-delay"),
    ("updelay", "up-delay"),
    ("arp_interval", "arp-interval"),
    ("primary", "primary"),
];

pub fn path(iface: &str) -> String {
    format!("{NETPLAN}/90-salt-{iface}.yaml")
}

pub fn shown(ctx: &Ctx, iface: &str) -> Result<Vec<String>, Fault> {
    Ok(lines_of(ctx, &path(iface)).unwrap_or_default())
}

pub fn build(ctx: &Ctx, iface: &str, kind: &str, settings: &Settings) -> Result<Vec<String>, Fault> {
    let text = yaml::dump(&document(&Declared::read(ctx), iface, kind, settings)?);
    if !settings.is_test() {
        // Files of netplan may hold passwords, and it complains of those that all can read.
        write(ctx, &path(iface), &text, Some(0o600))?;
    }
    Ok(lines(&text))
}

fn document(declared: &Declared, iface: &str, kind: &str, settings: &Settings) -> Result<Value, Fault> {
    let Some((_, section)) = SECTIONS.iter().find(|(known, _)| *known == kind) else {
        return Err(wrong(iface, kind, &SECTIONS.map(|(known, _)| known).join("|")));
    };
    let refused: Vec<&str> = REFUSED.into_iter().filter(|name| settings.is_on(name)).collect();
    if !refused.is_empty() {
        let what = format!("Interface {iface}: netplan has no word for {}", refused.join(", "));
        return Err(Fault::invocation(what));
    }
    let wanted = Wanted { iface, settings };
    let mut own = wanted.common()?;
    let members = match kind {
        "bond" => wanted.bond(&mut own)?,
        "bridge" => wanted.bridge(&mut own),
        "vlan" => wanted.vlan(&mut own)?,
        _ => Vec::new(),
    };
    let mut network = Map::from_iter([("version", Value::from(2)), ("renderer", declared.renderer())]);
    network.insert(*section, Map::from_iter([(iface, own)]));
    // netplan refuses members that it has not heard of, and those that are declared as two kinds.
    let unheard = members.iter().filter(|member| *member != iface && declared.section(member) == ETHERNETS);
    let bare: Map = unheard.map(|member| (member, Map::new())).collect();
    if !bare.is_empty() {
        network.insert(ETHERNETS, bare);
    }
    Ok(Map::from_iter([("network", network)]).into())
}

/// What is asked of an interface.
struct Wanted<'a> {
    iface: &'a str,
    settings: &'a Settings,
}

impl Wanted<'_> {
    /// What all kinds have.
    fn common(&self) -> Result<Map, Fault> {
        let is_one_of = |name: &str, words: [&str; 2]| {
            self.settings.text(name).is_some_and(|word| words.contains(&word.to_lowercase().as_str()))
        };
        let mut own = Map::from_iter([("dhcp4", is_one_of("proto", ["dhcp", "dhcp4"]))]);
        if is_one_of("ipv6proto", ["dhcp", "dhcp6"]) {
            own.insert("dhcp6", true);
        }
        let mut addresses = self.addresses(&["ipaddr"], &["ipaddrs", "addresses"], "netmask")?;
        addresses.extend(self.addresses(&["ipv6ipaddr", "ipv6addr"], &["ipv6addrs"], "ipv6netmask")?);
        if !addresses.is_empty() {
            own.insert("addresses", addresses);
        }
        let gateways = ["gateway", "ipv6gateway"].into_iter().filter_map(|name| self.given(&[name]));
        let routes: Vec<Map> =
            gateways.map(|via| Map::from_iter([("to", "default".to_owned()), ("via", via.to_text())])).collect();
        if !routes.is_empty() {
            own.insert("routes", routes);
        }
        let servers = words(self.given(&["dns", "nameservers"]));
        if !servers.is_empty() {
            own.insert("nameservers", Map::from_iter([("addresses", servers)]));
        }
        if let Some(mtu) = self.given(&["mtu"]) {
            own.insert("mtu", whole(mtu).ok_or_else(|| wrong(self.iface, "mtu", "integer"))?);
        }
        Ok(own)
    }

    /// Of one version of IP: the address, then the further ones.
    fn addresses(&self, one: &[&str], more: &[&str], mask: &str) -> Result<Vec<String>, Fault> {
        let mask = self.given(&[mask]).map(Value::to_text);
        let first = self.given(one).map(Value::to_text);
        let all = first.into_iter().chain(words(self.given(more)));
        all.map(|address| with_length(&address, mask.as_deref()).ok_or_else(|| self.no_address(&address))).collect()
    }

    fn no_address(&self, address: &str) -> Fault {
        wrong(self.iface, address, "an address with its mask or length")
    }

    fn bond(&self, own: &mut Map) -> Result<Vec<String>, Fault> {
        let mut parameters = self.parameters(BOND);
        if let Some(mode) = parameters.at("mode") {
            let number = whole(mode).and_then(|number| usize::try_from(number).ok());
            let name = number.and_then(|number| MODES.get(number).copied()).or(mode.as_str());
            let known = MODES.into_iter().find(|known| name == Some(*known));
            parameters.insert("mode", known.ok_or_else(|| wrong(self.iface, "mode", &MODES.join("|")))?);
        }
        if let Some(rate) = parameters.at("lacp-rate") {
            let word = match rate.to_text().as_str() {
                "0" | "slow" => "slow",
                "1" | "fast" => "fast",
                _ => return Err(wrong(self.iface, "lacp_rate", "slow|fast")),
            };
            parameters.insert("lacp-rate", word);
        }
        Ok(self.with_members(&["slaves", "interfaces"], parameters, own))
    }

    fn bridge(&self, own: &mut Map) -> Vec<String> {
        let mut parameters = self.parameters(PARAMETERS);
        if let Some(stp) = self.settings.at("stp").filter(|stp| !stp.is_null()) {
            let is_on = switch(&stp.to_text().to_lowercase().into()) == Some(true);
            parameters.insert("stp", is_on);
        }
        self.with_members(&["ports", "bridge_ports", "interfaces"], parameters, own)
    }

    fn with_members(&self, names: &[&str], parameters: Map, own: &mut Map) -> Vec<String> {
        let members = words(self.given(names));
        if !members.is_empty() {
            own.insert("interfaces", members.clone());
        }
        if !parameters.is_empty() {
            own.insert("parameters", parameters);
        }
        members
    }

    /// The number of a VLAN and what it is on; the name of the interface may say both.
    fn vlan(&self, own: &mut Map) -> Result<Vec<String>, Fault> {
        let (base, tag) = self.iface.rsplit_once('.').unzip();
        let id = self.given(&["vlan_id", "id"]).map(Value::to_text).or_else(|| tag.map(str::to_owned));
        let id = id.and_then(|id| id.parse::<u16>().ok()).filter(|id| *id <= 4094);
        let id = id.ok_or_else(|| wrong(self.iface, "vlan_id", "0 to 4094"))?;
        let link = self.given(&["vlan-raw-device", "vlan_raw_device", "parent", "link"]).map(Value::to_text);
        let link = link.or_else(|| base.map(str::to_owned));
        let link = link.ok_or_else(|| wrong(self.iface, "vlan-raw-device", "an interface"))?;
        own.insert("id", i64::from(id));
        own.insert("link", link.as_str());
        Ok(vec![link])
    }

    fn parameters(&self, known: &[(&str, &str)]) -> Map {
        let given = known.iter().filter_map(|(name, word)| Some((*word, self.settings.at(name)?.clone())));
        given.filter(|(_, value)| !value.is_null()).collect()
    }

    /// The first of some settings that is there and not empty.
    fn given(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.settings.at(name).filter(|value| value.truthy()))
    }
}

/// An address with the length of its network behind it; nothing where there is none.
pub fn with_length(address: &str, mask: Option<&str>) -> Option<String> {
    let (ip, mask) = match address.split_once('/') {
        Some((ip, mask)) => (ip, mask),
        None => (address, mask?),
    };
    let net = Net::parse(&format!("{ip}/{mask}")).ok().or_else(|| from_other_end(ip, mask))?;
    // What has its length is left as it is spelled.
    match address.split_once('/').is_some_and(|(_, length)| length.parse::<u8>().is_ok()) {
        true => Some(address.to_owned()),
        false => Some(format!("{}/{}", ip.parse::<IpAddr>().ok()?, net.length())),
    }
}

/// A mask such as 0.0.0.255.
fn from_other_end(ip: &str, mask: &str) -> Option<Net> {
    let mask = Ipv4Addr::from_bits(!mask.parse::<Ipv4Addr>().ok()?.to_bits());
    Net::parse(&format!("{ip}/{mask}")).ok()
}
