//! Names and addresses.
//!
//! No name is asked of DNS here, unless `enable_fqdns_grains` wants it: a minion must start where there is no network.
//! The full name comes from `/etc/hosts`.

use super::{Look, is_on};
use halite_core::names;
use halite_value::{Map, Value};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(super) fn grains(look: &Look) -> Map {
    let mut grains = names(look);
    grains.extend(addresses(look));
    grains.insert("dns", resolver(&look.text("/etc/resolv.conf").unwrap_or_default()));
    grains.extend(gateways(look));
    grains
}

fn names(look: &Look) -> Map {
    let node = look.found("nodename").to_owned();
    let hosts = look.text("/etc/hosts").unwrap_or_default();
    let entries: Vec<(IpAddr, Vec<&str>)> = hosts.lines().filter_map(entry).collect();
    let own = entries.iter().filter(|(_, names)| names.contains(&node.as_str()));
    let full = own.flat_map(|(_, names)| names).find(|name| name.contains('.') && !name.starts_with("localhost"));
    let full =
        if node.contains('.') { node.clone() } else { full.map_or_else(|| node.clone(), |name| name.to_string()) };
    let (host, domain) = full.split_once('.').unwrap_or((&full, ""));
    let of_family = |is_v4: bool| {
        let own = entries.iter().filter(|(ip, names)| ip.is_ipv4() == is_v4 && names.contains(&full.as_str()));
        Value::list(own.map(|(ip, _)| ip.to_string()))
    };
    let mut grains = Map::new();
    grains.insert("localhost", node.as_str());
    grains.insert("fqdn", full.as_str());
    grains.insert("host", host);
    grains.insert("domain", domain);
    grains.insert("fqdn_ip4", of_family(true));
    grains.insert("fqdn_ip6", of_family(false));
    grains.insert("fqdns", Value::list(all_names(look)));
    grains
}

/// The names of all addresses but the loopback's, where they are asked for.
fn all_names(look: &Look) -> Vec<String> {
    if !is_on(look.opts, "enable_fqdns_grains") {
        return Vec::new();
    }
    let own = look.host.addresses().unwrap_or_default().into_iter().map(|address| address.ip);
    names::of(look.host, own.filter(|ip| !ip.is_loopback()))
}

/// A line of `/etc/hosts`.
fn entry(line: &str) -> Option<(IpAddr, Vec<&str>)> {
    let line = line.split('#').next().unwrap_or_default();
    let mut words = line.split_whitespace();
    Some((words.next()?.parse().ok()?, words.collect()))
}

fn addresses(look: &Look) -> Map {
    let all = look.host.addresses().unwrap_or_default();
    let mut interfaces = interfaces(look);
    for address in &all {
        if !interfaces.contains(&address.interface) {
            interfaces.push(address.interface.clone());
        }
    }
    let (mut both, mut four, mut six, mut hardware) = (Map::new(), Map::new(), Map::new(), Map::new());
    for interface in &interfaces {
        let of = |is_wanted: fn(&IpAddr) -> bool| -> Vec<String> {
            let own = all.iter().filter(|address| address.interface == *interface && is_wanted(&address.ip));
            own.map(|address| address.ip.to_string()).collect()
        };
        let (v4, v6) = (of(IpAddr::is_ipv4), of(IpAddr::is_ipv6));
        both.insert(interface, Value::list(v4.iter().chain(&v6)));
        four.insert(interface, v4);
        six.insert(interface, v6);
        if let Some(mac) = look.line(&format!("/sys/class/net/{interface}/address")).filter(|mac| !mac.is_empty()) {
            hardware.insert(interface, mac);
        }
    }
    let mut v4: Vec<Ipv4Addr> =
        all.iter().filter_map(|a| if let IpAddr::V4(ip) = a.ip { Some(ip) } else { None }).collect();
    let mut v6: Vec<Ipv6Addr> =
        all.iter().filter_map(|a| if let IpAddr::V6(ip) = a.ip { Some(ip) } else { None }).collect();
    v4.sort();
    v4.dedup();
    v6.sort();
    v6.dedup();
    let mut grains = Map::new();
    grains.insert("hwaddr_interfaces", hardware);
    grains.insert("ip4_interfaces", four);
    grains.insert("ip6_interfaces", six);
    grains.insert("ip_interfaces", both);
    grains.insert("ipv4", Value::list(v4.iter().map(Ipv4Addr::to_string)));
    grains.insert("ipv6", Value::list(v6.iter().map(Ipv6Addr::to_string)));
    grains
}

/// In the kernel's order, the loopback first.
fn interfaces(look: &Look) -> Vec<String> {
    let mut names = look.names("/sys/class/net");
    names.sort_by_key(|name| {
        let index = look.line(&format!("/sys/class/net/{name}/ifindex"));
        index.and_then(|index| index.parse().ok()).unwrap_or(u32::MAX)
    });
    names
}

/// What `/etc/resolv.conf` says.
fn resolver(text: &str) -> Map {
    let (mut servers, mut search, mut options, mut sortlist) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut domain = String::new();
    for line in text.lines() {
        let line = line.split(['#', ';']).next().unwrap_or_default();
        let mut words = line.split_whitespace().map(str::to_owned);
        match words.next().as_deref() {
            Some("nameserver") => servers.extend(words.next().filter(|server| !servers.contains(server))),
            // The last of both counts.
            Some("domain") => domain = words.next().unwrap_or_default(),
            Some("search") => search = words.collect(),
            Some("options") => options.extend(words),
            Some("sortlist") => sortlist.extend(words),
            _ => {}
        }
    }
    let of = |is_wanted: fn(&IpAddr) -> bool| -> Vec<String> {
        let address = |server: &str| server.split('%').next().and_then(|ip| ip.parse::<IpAddr>().ok());
        servers.iter().filter(|server| address(server).is_some_and(|ip| is_wanted(&ip))).cloned().collect()
    };
    let (v4, v6) = (of(IpAddr::is_ipv4), of(IpAddr::is_ipv6));
    let mut dns = Map::new();
    dns.insert("nameservers", servers);
    dns.insert("ip4_nameservers", v4);
    dns.insert("ip6_nameservers", v6);
    dns.insert("sortlist", sortlist);
    dns.insert("domain", domain);
    dns.insert("search", search);
    dns.insert("options", options);
    dns
}

/// Whether there is a default route, and through whom.
fn gateways(look: &Look) -> Map {
    let v4 = look.text("/proc/net/route").and_then(|text| default_v4(&text));
    let v6 = look.text("/proc/net/ipv6_route").and_then(|text| default_v6(&text));
    let mut grains = Map::new();
    grains.insert("ip_gw", v4.is_some() || v6.is_some());
    grains.insert("ip4_gw", v4.map_or(Value::Bool(false), |ip| ip.to_string().into()));
    grains.insert("ip6_gw", v6.map_or(Value::Bool(false), |ip| ip.to_string().into()));
    grains
}

/// Columns are interface, destination, gateway, ..., mask at the eighth; addresses are in the byte order of the machine.
fn default_v4(text: &str) -> Option<Ipv4Addr> {
    text.lines().skip(1).find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let is_default = columns.get(1) == Some(&"00000000") && columns.get(7) == Some(&"00000000");
        let gateway = u32::from_str_radix(columns.get(2).filter(|_| is_default)?, 16).ok()?;
        (gateway != 0).then(|| Ipv4Addr::from(gateway.to_ne_bytes()))
    })
}

/// Columns are destination, its length, source, its length, gateway.
fn default_v6(text: &str) -> Option<Ipv6Addr> {
    text.lines().find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let is_default = columns.first()?.bytes().all(|byte| byte == b'0') && columns.get(1) == Some(&"00");
        let gateway = u128::from_str_radix(columns.get(4).filter(|_| is_default)?, 16).ok()?;
        (gateway != 0).then(|| Ipv6Addr::from(gateway))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grains::collect;
    use halite_core::host::fake::Fake;

    #[test]
    fn the_full_name_comes_from_the_hosts_file() {
        let host = Fake::new().file("/proc/sys/kernel/hostname", "web1\n").file(
            "/etc/hosts",
            "127.0.0.1 localhost.localdomain localhost web1\n10.0.0.5 web1.example.org web1 # me\nbroken\n",
        );
        let grains = collect(&host, &Map::new());
        assert_eq!((grains.str_at("fqdn"), grains.str_at("domain")), (Some("web1.example.org"), Some("example.org")));
        assert_eq!((grains.str_at("host"), grains.str_at("localhost")), (Some("web1"), Some("web1")));
        assert_eq!(grains.at("fqdn_ip4"), Some(&Value::list(["10.0.0.5"])));
    }

    #[test]
    fn the_names_of_all_addresses_are_asked_for_where_that_is_wanted() {
        let host = Fake::new()
            .address("lo", "127.0.0.1")
            .address("eth0", "192.0.2.10")
            .address("eth1", "192.0.2.11")
            .program("/usr/bin/getent")
            .answers(["getent", "hosts", "192.0.2.10"], "192.0.2.10      web1.example.org web1\n")
            .answers(["getent", "hosts", "192.0.2.11"], "");
        assert_eq!(collect(&host, &Map::new()).at("fqdns"), Some(&Value::List(Vec::new())));
        let grains = collect(&host, &Map::from_iter([("enable_fqdns_grains", true)]));
        assert_eq!(grains.at("fqdns"), Some(&Value::list(["web1.example.org"])));
    }

    #[test]
    fn addresses_are_sorted_as_numbers_and_interfaces_without_any_are_shown() {
        let host = Fake::new()
            .file("/sys/class/net/eth0/address", "02:fc:00:00:00:01\n")
            .file("/sys/class/net/eth0/ifindex", "2\n")
            .file("/sys/class/net/dummy0/address", "\n")
            .file("/sys/class/net/dummy0/ifindex", "3\n")
            .address("eth0", "192.0.2.10")
            .address("eth0", "192.0.2.9")
            .address("lo", "127.0.0.1")
            .address("eth0", "fd00::2");
        let grains = collect(&host, &Map::new());
        assert_eq!(grains.at("ipv4"), Some(&Value::list(["127.0.0.1", "192.0.2.9", "192.0.2.10"])));
        assert_eq!(
            grains.at("ip4_interfaces").unwrap().to_json(),
            r#"{"eth0": ["192.0.2.10", "192.0.2.9"], "dummy0": [], "lo": ["127.0.0.1"]}"#
        );
        assert_eq!(
            grains.at("ip_interfaces").unwrap().at("eth0"),
            Some(&Value::list(["192.0.2.10", "192.0.2.9", "fd00::2"]))
        );
        assert_eq!(grains.at("hwaddr_interfaces").unwrap().to_json(), r#"{"eth0": "02:fc:00:00:00:01"}"#);
    }

    #[test]
    fn the_resolver_file_is_read() {
        let dns = resolver(
            "# x\nnameserver 10.0.0.1\nnameserver fe80::1%eth0\nsearch a.b c.d\noptions ndots:2 rotate\ndomain x.y\n",
        );
        assert_eq!(
            Value::from(dns).to_json(),
            "{\"nameservers\": [\"10.0.0.1\", \"fe80::1%eth0\"], \"ip4_nameservers\": [\"10.0.0.1\"], \
             \"ip6_nameservers\": [\"fe80::1%eth0\"], \"sortlist\": [], \"domain\": \"x.y\", \"search\": [\"a.b\", \"c.d\"], \
             \"options\": [\"ndots:2\", \"rotate\"]}"
        );
    }

    #[test]
    fn the_default_route_names_the_gateway() {
        let gateway = u32::from_ne_bytes([192, 0, 2, 1]);
        let text = format!("Iface\tDestination\tGateway\neth0\t00000000\t{gateway:08X}\t0003\t0\t0\t0\t00000000\t0\n");
        assert_eq!(default_v4(&text), Some(Ipv4Addr::new(192, 0, 2, 1)));
        assert_eq!(default_v4("Iface\n\n"), None);
        let zero = "0".repeat(32);
        let line = format!("{zero} 00 {zero} 00 fd000000000000000000000000000001 00000400 1 0 3 eth0\n");
        assert_eq!(default_v6(&line), Some("fd00::1".parse().unwrap()));
    }
}
