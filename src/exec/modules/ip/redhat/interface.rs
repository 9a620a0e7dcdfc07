//! `ip.get_interface` and `ip.build_interface` in Red Hat's family: `ifcfg-IFACE`.

use super::super::check::{SWITCHES, is_hardware, is_ipv4, is_ipv6, switch, whole, wrong};
use super::super::{Family, Settings, bond, ethtool, needs, write};
use super::{DIRECTORY, lines_of};
use halite_core::{Ctx, Fault};
use halite_value::record::Arguments;
use halite_value::{Map, Value};

const KINDS: [&str; 13] =
    ["eth", "bond", "team", "alias", "clone", "ipsec", "dialup", "bridge", "slave", "teamport", "vlan", "ipip", "ib"];
/// Options that are yes or no.
const SWITCHED: [&str; 13] = [
    "onparent",
    "peerdns",
    "peerroutes",
    "slave",
    "vlan",
    "defroute",
    "stp",
    "ipv6_peerdns",
    "ipv6_defroute",
    "ipv6_peerroutes",
    "ipv6_autoconf",
    "ipv4_failure_fatal",
    "dhcpv6c",
];
/// Options that are written as they are given.
const PLAIN: [&str; 16] = [
    "ipaddr",
    "master",
    "srcaddr",
    "delay",
    "gateway",
    "uuid",
    "nickname",
    "zone",
    "ipv6addr",
    "ipv6gateway",
    "enable_ipv6",
    "ipaddr_start",
    "ipaddr_end",
    "clonenum_start",
    "macaddr",
    "team_master",
];

pub fn shown(ctx: &Ctx, iface: &str) -> Result<Vec<String>, Fault> {
    Ok(lines_of(ctx, &path(iface)))
}

fn path(iface: &str) -> String {
    format!("{DIRECTORY}/ifcfg-{iface}")
}

/// Writes an interface, and shows its lines.
pub fn build(ctx: &Ctx, iface: &str, kind: &str, enabled: bool, mut settings: Settings) -> Result<Vec<String>, Fault> {
    if !KINDS.contains(&kind) {
        return Err(wrong(iface, kind, &KINDS.join("|")));
    }
    if matches!(kind, "clone" | "ipsec" | "dialup") {
        return Err(Fault::invocation(format!("Interface {iface}: the type {kind} has no file of its own")));
    }
    complete(iface, kind, &mut settings)?;
    let file = File { ctx, iface, kind, settings: &settings };
    let text = text(&file.options(enabled)?);
    if settings.is_test() {
        return Ok(super::shown(&text));
    }
    match kind {
        "bridge" => {
            needs(ctx, "bridge-utils")?;
            file.bypass_firewall()?;
        }
        "team" => needs(ctx, "teamd")?,
        _ => {}
    }
    write(ctx, &path(iface), &text, None)?;
    shown(ctx, iface)
}

/// What an interface of a kind cannot do without, and what is so with all of its kind.
fn complete(iface: &str, kind: &str, settings: &mut Settings) -> Result<(), Fault> {
    let missing = |what: &str| Err(Fault::invocation(what));
    match kind {
        "slave" if settings.at("master").is_none() => {
            return missing("master is a required setting for slave interfaces");
        }
        "slave" => settings.0.insert("slave", "yes"),
        "vlan" => settings.0.insert("vlan", "yes"),
        "bond" if settings.at("mode").is_none() => return missing("mode is required for bond interfaces"),
        "teamport" => match (settings.0.remove("master"), settings.at("team_master").cloned()) {
            (None, None) => {
                return missing("master or team_master is a required setting for teamport interfaces");
            }
            (Some(master), Some(team)) => {
                let (team, master) = (team.to_text(), master.to_text());
                log::warn!("{iface} has the masters {team} and {master}: team_master is taken");
                None
            }
            (Some(master), None) => settings.0.insert("team_master", master),
            (None, Some(_)) => None,
        },
        _ => None,
    };
    if settings.at("hwaddr").is_some() && settings.at("macaddr").is_some() {
        return missing("Cannot pass both hwaddr and macaddr. Must use either hwaddr or macaddr");
    }
    if settings.at("prefix").is_some() && settings.at("netmask").is_some() {
        return missing("Cannot use prefix and netmask together");
    }
    Ok(())
}

/// A file while it is made.
struct File<'a> {
    ctx: &'a Ctx<'a>,
    iface: &'a str,
    kind: &'a str,
    settings: &'a Settings,
}

impl File<'_> {
    /// The options by the names that [`LINES`] has.
    fn options(&self, enabled: bool) -> Result<Map, Fault> {
        let mut options = Map::from_iter([("name", self.iface)]);
        for name in PLAIN.iter().chain(&["prefix", "netmask"]) {
            if let Some(value) = self.settings.at(name) {
                options.insert(*name, value.clone());
            }
        }
        self.addresses(&mut options)?;
        self.of_kind(&mut options)?;
        self.hardware(&mut options)?;
        for name in SWITCHED {
            if let Some(word) = self.yes_or_no(name)? {
                options.insert(name, word);
            }
        }
        options.insert("onboot", if enabled { "yes" } else { "no" });
        // Users may not turn it on and off, and NetworkManager leaves it alone, unless it is said.
        for name in ["userctl", "nm_controlled"] {
            options.insert(name, self.yes_or_no(name)?.unwrap_or("no"));
        }
        if self.settings.at("arpcheck").and_then(switch) == Some(false) {
            options.insert("arpcheck", "no");
        }
        if let Some(domains) = self.settings.list("domain") {
            options.insert("domain", domains.join(" "));
        }
        Ok(options)
    }

    fn addresses(&self, options: &mut Map) -> Result<(), Fault> {
        if let Some(method) = self.settings.text("proto") {
            if !["none", "bootp", "dhcp"].contains(&method.as_str()) {
                return Err(wrong(self.iface, &method, "none|bootp|dhcp"));
            }
            options.insert("proto", method);
        }
        if let Some(servers) = self.settings.list("dns") {
            options.insert("dns", servers);
            options.insert("peerdns", "yes");
        }
        if let Some(mtu) = self.settings.at("mtu") {
            options.insert("mtu", whole(mtu).ok_or_else(|| wrong(self.iface, "mtu", "integer"))?);
        }
        if let Some(addresses) = self.settings.list("ipaddrs") {
            for (at, address) in (1..).zip(&addresses) {
                let Some((ip, length)) = address.split_once('/').filter(|_| is_ipv4(&address.as_str().into())) else {
                    return Err(Fault::invocation("ipv4 CIDR is invalid"));
                };
                options.insert(format!("IPADDR{at}"), ip.trim());
                options.insert(format!("PREFIX{at}"), length.trim());
            }
        }
        if let Some(addresses) = self.settings.list("ipv6addrs") {
            if !addresses.iter().all(|address| is_ipv6(&address.as_str().into())) {
                return Err(Fault::invocation("ipv6 CIDR is invalid"));
            }
            options.insert("ipv6addrs", addresses.join(" "));
        }
        Ok(())
    }

    fn of_kind(&self, options: &mut Map) -> Result<(), Fault> {
        if self.kind != "bridge" {
            let mut words = ethtool::line(self.settings, self.iface)?;
            words.extend(ethtool::channels(self.ctx, self.settings, self.iface)?);
            words.extend(ethtool::offloads(self.settings, self.iface)?);
            let words: Vec<String> =
                words.iter().map(|(name, value)| format!("{} {}", name.to_text(), value.to_text())).collect();
            options.insert("ethtool", words.join(" "));
            if let Some(bridge) = self.settings.at("bridge") {
                options.insert("bridge", bridge.clone());
            }
        }
        let kind = match self.kind {
            "eth" => "Ethernet",
            "bond" => "Bond",
            "bridge" => "Bridge",
            "ipip" => "IPIP",
            "ib" => "InfiniBand",
            _ => "",
        };
        options.insert("devtype", kind);
        match self.kind {
            "slave" => drop(options.insert("proto", "none")),
            "team" => {
                options.insert("devicetype", "Team");
                self.json("team_config", options);
            }
            "teamport" => {
                options.insert("devicetype", "TeamPort");
                self.json("team_port_config", options);
            }
            "bond" => {
                let bond = bond::options(self.ctx, Family::RedHat, self.settings, self.iface)?;
                let words = bond.iter().map(|(name, value)| format!("{}={}", name.to_text(), value.to_text()));
                options.insert("bonding", words.collect::<Vec<String>>().join(" "));
            }
            "vlan" => self.vlan(options)?,
            "ipip" => {
                for name in ["my_inner_ipaddr", "my_outer_ipaddr"] {
                    let address = self.settings.at(name).ok_or_else(|| wrong(self.iface, name, "1.2.3.4"))?;
                    options.insert(name, address.clone());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn vlan(&self, options: &mut Map) -> Result<(), Fault> {
        let mut is_vlan = false;
        for (name, expected) in
            [("reorder_hdr", SWITCHES), ("vlan_id", "Positive integer"), ("phys_dev", "Non-empty string")]
        {
            let Some(value) = self.settings.at(name) else { continue };
            let fits = match name {
                "reorder_hdr" => switch(value).is_some(),
                "vlan_id" => whole(value).is_some_and(|number| number > 0),
                _ => value.truthy(),
            };
            if !fits {
                return Err(wrong(self.iface, name, expected));
            }
            options.insert(name, value.clone());
            is_vlan = true;
        }
        if is_vlan {
            options.insert("devtype", "Vlan");
        }
        Ok(())
    }

    /// The address of the card, by which the file is known to be meant for it.
    fn hardware(&self, options: &mut Map) -> Result<(), Fault> {
        match self.settings.at("hwaddr") {
            Some(address)
                if is_hardware(address) || matches!(self.kind, "bond" | "team" | "vlan" | "bridge" | "ipip") =>
            {
                options.insert("hwaddr", address.clone());
                return Ok(());
            }
            Some(word) if word.as_str() == Some("none") => return Ok(()),
            None if matches!(self.kind, "bond" | "team" | "vlan" | "bridge" | "ipip") => return Ok(()),
            Some(word) if word.as_str() != Some("auto") => {
                return Err(wrong(self.iface, &word.to_text(), "AA:BB:CC:DD:EE:FF|auto|none"));
            }
            _ => {}
        }
        if self.kind != "slave" {
            let interfaces = self.ctx.run("network.interfaces", Arguments::default())?;
            if let Some(address) = interfaces.at(self.iface).and_then(|interface| interface.at("hwaddr")) {
                options.insert("hwaddr", address.clone());
            }
        }
        Ok(())
    }

    fn json(&self, name: &str, options: &mut Map) {
        if let Some(value) = self.settings.at(name) {
            options.insert(name, value.to_json());
        }
    }

    fn yes_or_no(&self, name: &str) -> Result<Option<&'static str>, Fault> {
        let Some(value) = self.settings.at(name) else { return Ok(None) };
        match switch(value) {
            Some(true) => Ok(Some("yes")),
            Some(false) => Ok(Some("no")),
            None => Err(wrong(self.iface, &value.to_text(), SWITCHES)),
        }
    }

    /// What crosses a bridge does not pass the packet filter, unless it is said.
    fn bypass_firewall(&self) -> Result<(), Fault> {
        let filtered = match self.yes_or_no("bypassfirewall")? {
            Some("no") => "1",
            _ => "0",
        };
        for table in ["ip6tables", "iptables", "arptables"] {
            let name = format!("net.bridge.bridge-nf-call-{table}");
            if let Err(fault) = self.ctx.run("sysctl.persist", Arguments::positional([name.as_str(), filtered])) {
                log::warn!("{name} could not be set: {fault}");
            }
        }
        Ok(())
    }
}

/// How a value stands in its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted {
    Double,
    Single,
    Bare,
    /// In double quotes, and only where version 6 of IP is on.
    Version6,
    /// In double quotes, and only in a VLAN.
    Vlan,
}

use Quoted::*;

/// The lines of a file, in their order: the name of an option, the word of the file, and how its value stands there.
const LINES: &[(&str, &str, Quoted)] = &[
    ("name", "DEVICE", Double),
    ("nickname", "NAME", Double),
    ("hwaddr", "HWADDR", Double),
    ("macaddr", "MACADDR", Double),
    ("uuid", "UUID", Double),
    ("userctl", "USERCTL", Double),
    ("master", "MASTER", Double),
    ("slave", "SLAVE", Double),
    ("vlan", "VLAN", Double),
    ("reorder_hdr", "REORDER_HDR", Vlan),
    ("vlan_id", "VID", Vlan),
    ("phys_dev", "PHYSDEV", Vlan),
    ("devtype", "TYPE", Double),
    ("devicetype", "DEVICETYPE", Double),
    ("team_config", "TEAM_CONFIG", Single),
    ("team_port_config", "TEAM_PORT_CONFIG", Single),
    ("team_master", "TEAM_MASTER", Double),
    ("proto", "BOOTPROTO", Double),
    ("onboot", "ONBOOT", Double),
    ("onparent", "ONPARENT", Bare),
    ("ipv4_failure_fatal", "IPV4_FAILURE_FATAL", Double),
    ("ipaddr", "IPADDR", Double),
    ("ipaddr_start", "IPADDR_START", Double),
    ("ipaddr_end", "IPADDR_END", Double),
    ("clonenum_start", "CLONENUM_START", Double),
    ("netmask", "NETMASK", Double),
    ("prefix", "PREFIX", Double),
    (NUMBERED, "", Double),
    ("gateway", "GATEWAY", Double),
    ("arpcheck", "ARPCHECK", Double),
    ("enable_ipv6", "IPV6INIT", Double),
    ("ipv6_autoconf", "IPV6_AUTOCONF", Version6),
    ("dhcpv6c", "DHCPV6C", Version6),
    ("ipv6addr", "IPV6ADDR", Version6),
    ("ipv6gateway", "IPV6_DEFAULTGW", Version6),
    ("ipv6addrs", "IPV6ADDR_SECONDARIES", Version6),
    ("ipv6_peerdns", "IPV6_PEERDNS", Version6),
    ("ipv6_defroute", "IPV6_DEFROUTE", Version6),
    ("ipv6_peerroutes", "IPV6_PEERROUTES", Version6),
    ("srcaddr", "SRCADDR", Double),
    ("peerdns", "PEERDNS", Double),
    ("peerroutes", "PEERROUTES", Double),
    ("defroute", "DEFROUTE", Double),
    ("bridge", "BRIDGE", Double),
    ("stp", "STP", Double),
    ("delay", "DELAY", Double),
    ("mtu", "MTU", Double),
    ("zone", "ZONE", Double),
    ("my_inner_ipaddr", "MY_INNER_IPADDR", Bare),
    ("my_outer_ipaddr", "MY_OUTER_IPADDR", Bare),
    ("bonding", "BONDING_OPTS", Double),
    ("ethtool", "ETHTOOL_OPTS", Double),
    ("domain", "DOMAIN", Double),
    ("nm_controlled", "NM_CONTROLLED", Double),
    (SERVERS, "", Double),
];

/// Where the further addresses stand.
const NUMBERED: &str = "ipaddrs";
/// Where the name servers stand.
const SERVERS: &str = "dns";

fn text(options: &Map) -> String {
    let given = |name: &str| {
        let is_said = |value: &&Value| value.truthy() || (name == "delay" && value.as_int() == Some(0));
        options.at(name).filter(is_said)
    };
    let mut text = String::new();
    for &(name, word, quoted) in LINES {
        match (name, quoted) {
            (NUMBERED, _) => {
                (1..).map_while(|at| options.at(&format!("IPADDR{at}")).map(|ip| (at, ip))).for_each(|(at, ip)| {
                    let length = options.at(&format!("PREFIX{at}")).map(Value::to_text).unwrap_or_default();
                    text.push_str(&format!("IPADDR{at}=\"{}\"\nPREFIX{at}=\"{length}\"\n", ip.to_text()));
                })
            }
            (SERVERS, _) => {
                let servers = given(name).and_then(Value::as_list).unwrap_or_default();
                for (at, server) in (1..).zip(servers) {
                    text.push_str(&format!("DNS{at}=\"{}\"\n", server.to_text()));
                }
            }
            (_, Version6) if given("enable_ipv6").is_none() => {}
            (_, Vlan) if given("vlan").is_none() => {}
            _ => {
                let Some(value) = given(name) else { continue };
                let value = if name == "enable_ipv6" { "yes".to_owned() } else { value.to_text() };
                match quoted {
                    Bare => text.push_str(&format!("{word}={value}\n")),
                    Single => text.push_str(&format!("{word}='{value}'\n")),
                    _ => text.push_str(&format!("{word}=\"{value}\"\n")),
                }
            }
        }
    }
    text
}
