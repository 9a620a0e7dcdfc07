//! The host's network interfaces, as ip(8) shows them.

use halite_core::program::Program;
use halite_core::{Ctx, Fault};
use halite_lang::net::Net;
use halite_value::{Map, Value};
use std::net::IpAddr;
use std::path::Path;

/// An address that an interface has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub ip: IpAddr,
    pub net: Net,
    broadcast: Option<String>,
    scope: Option<String>,
    label: String,
    is_secondary: bool,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    pub name: String,
    is_up: bool,
    parent: Option<String>,
    pub hwaddr: Option<String>,
    pub addresses: Vec<Address>,
}

/// All interfaces. Without ip(8) what the system lists of them, which is less.
pub fn all(ctx: &Ctx) -> Result<Vec<Interface>, Fault> {
    match ctx.host.which("ip") {
        Some(ip) => {
            let ip = ip.to_string_lossy().into_owned();
            Ok(parse(&Program::new([ip.as_str(), "addr", "show"]).query(ctx)?.stdout))
        }
        None => Ok(listed(ctx)),
    }
}

fn parse(text: &str) -> Vec<Interface> {
    let mut found: Vec<Interface> = Vec::new();
    for line in text.lines() {
        if line.starts_with(|c: char| c.is_ascii_digit()) {
            // 2: eth0@if3: <BROADCAST,UP,LOWER_UP> mtu 1500 ...
            let mut parts = line.splitn(3, ": ");
            let (Some(_), Some(name), Some(rest)) = (parts.next(), parts.next(), parts.next()) else { continue };
            let (name, parent) = match name.split_once('@') {
                Some((name, parent)) => (name, Some(parent.to_owned())),
                None => (name, None),
            };
            let flags = rest.split(['<', '>']).nth(1).unwrap_or_default();
            let is_up = flags.split(',').any(|flag| flag == "UP");
            found.push(Interface { name: name.to_owned(), is_up, parent, ..Interface::default() });
            continue;
        }
        let Some(interface) = found.last_mut() else { continue };
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [kind, value, ..] if kind.starts_with("link/") => interface.hwaddr = Some(value.to_string()),
            ["inet" | "inet6", value, ..] => {
                let ip = value.split('/').next().and_then(|ip| ip.parse().ok());
                let (Some(ip), Ok(net)) = (ip, Net::parse(value)) else { continue };
                let behind = |name: &str| {
                    let at = words.iter().position(|word| *word == name)?;
                    words.get(at + 1).map(|word| word.to_string())
                };
                interface.addresses.push(Address {
                    ip,
                    net,
                    broadcast: behind("brd"),
                    scope: behind("scope"),
                    label: words.last().map(|word| word.to_string()).unwrap_or_default(),
                    is_secondary: words.contains(&"secondary"),
                });
            }
            _ => {}
        }
    }
    found
}

fn listed(ctx: &Ctx) -> Vec<Interface> {
    let addresses = ctx.host.addresses().unwrap_or_default();
    let directory = Path::new("/sys/class/net");
    let text = |name: &str, file: &str| {
        let bytes = ctx.host.read(&directory.join(name).join(file)).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    let interface = |name: String| {
        let own = addresses.iter().filter(|address| address.interface == name);
        let address = |ip: IpAddr| Address {
            ip,
            net: Net::host(ip),
            broadcast: None,
            scope: None,
            label: name.clone(),
            is_secondary: false,
        };
        Interface {
            is_up: text(&name, "operstate").is_some_and(|state| state != "down"),
            hwaddr: text(&name, "address"),
            addresses: own.map(|own| address(own.ip)).collect(),
            parent: None,
            name,
        }
    };
    ctx.host.list(directory).unwrap_or_default().into_iter().map(interface).collect()
}

impl Address {
    fn shown(&self) -> Map {
        let ip = Value::from(self.ip.to_string());
        match self.ip.is_ipv4() {
            true => Map::from_iter([
                ("address", ip),
                ("netmask", self.net.mask().to_string().into()),
                ("broadcast", self.broadcast.clone().into()),
                ("label", self.label.as_str().into()),
            ]),
            false => Map::from_iter([
                ("address", ip),
                ("prefixlen", self.net.length().to_string().into()),
                ("scope", self.scope.clone().into()),
            ]),
        }
    }
}

impl Interface {
    /// Those of a family, the first ones alone or all.
    pub fn of_family(&self, is_v4: bool) -> Value {
        let own = self.addresses.iter().filter(|address| address.ip.is_ipv4() == is_v4 && !address.is_secondary);
        Value::list(own.map(Address::shown))
    }

    pub fn shown(&self) -> Map {
        let mut shown = Map::from_iter([("up", self.is_up)]);
        if let Some(parent) = &self.parent {
            shown.insert("parent", parent.as_str());
        }
        if let Some(address) = &self.hwaddr {
            shown.insert("hwaddr", address.as_str());
        }
        for (key, is_v4) in [("inet", true), ("inet6", false)] {
            let own = self.of_family(is_v4);
            if own.truthy() {
                shown.insert(key, own);
            }
        }
        let secondary = self.addresses.iter().filter(|address| address.is_secondary).map(|address| {
            let mut shown = Map::from_iter([("type", if address.ip.is_ipv4() { "inet" } else { "inet6" })]);
            shown.extend(address.shown());
            shown
        });
        let secondary: Vec<Map> = secondary.collect();
        if !secondary.is_empty() {
            shown.insert("secondary", secondary);
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN\n    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n    inet 127.0.0.1/8 scope host lo\n       valid_lft forever preferred_lft forever\n2: eth0@if3: <BROADCAST,MULTICAST> mtu 1500\n    link/ether 02:fc:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n    inet 192.0.2.2/24 brd 192.0.2.255 scope global eth0\n    inet 192.0.2.3/24 brd 192.0.2.255 scope global secondary eth0:1\n    inet6 fe80::1/64 scope link\n";

    #[test]
    fn interfaces_are_read() {
        let found = parse(SHOWN);
        assert_eq!(found.len(), 2);
        assert_eq!(
            Value::from(found[1].shown()).to_json(),
            r#"{"up": false, "parent": "if3", "hwaddr": "02:fc:00:00:00:01", "inet": [{"address": "192.0.2.2", "netmask": "255.255.255.0", "broadcast": "192.0.2.255", "label": "eth0"}], "inet6": [{"address": "fe80::1", "prefixlen": "64", "scope": "link"}], "secondary": [{"type": "inet", "address": "192.0.2.3", "netmask": "255.255.255.0", "broadcast": "192.0.2.255", "label": "eth0:1"}]}"#
        );
    }
}
