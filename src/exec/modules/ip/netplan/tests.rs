//! Interfaces and routes on a host that has netplan.

use crate::testing::World;
use halite_core::Fault;
use halite_core::context::NoMaster;
use halite_core::host::fake::Fake;
use halite_core::host::{Finished, HostFiles};
use halite_core::module::call;
use halite_lang::yaml;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::path::Path;

fn world(host: Fake) -> World {
    let grains = Map::from_iter([("os_family", Value::from("Debian"))]);
    World { grains, ..World::on(host.program("/usr/bin/netplan").directory("/etc/netplan")) }
}

fn asked(world: &World, fun: &str, positional: &[&str], settings: &str) -> Result<Value, Fault> {
    let mut arguments = Arguments::positional(positional.iter().copied());
    if fun == "ip.build_interface" {
        arguments.positional.push(true.into());
    }
    arguments.keywords = yaml::load(settings).unwrap().as_map().cloned().unwrap_or_default();
    Ok(call(&world.ctx(&NoMaster), fun, arguments)?.value)
}

fn build(world: &World, iface: &str, kind: &str, settings: &str) -> Result<String, Fault> {
    Ok(text(&asked(world, "ip.build_interface", &[iface, kind], settings)?))
}

fn text(lines: &Value) -> String {
    lines.as_list().unwrap_or_default().iter().map(Value::to_text).collect()
}

#[test]
fn an_interface_has_a_file_that_only_root_reads() {
    let world = world(Fake::new());
    let settings = "{proto: static, ipaddr: 10.0.0.5, netmask: 255.255.255.0, ipaddrs: '10.0.0.6/24, 10.0.0.7', \
        ipv6addr: 'fd00::5', ipv6netmask: 64, gateway: 10.0.0.1, dns: 1.1.1.1 8.8.8.8, mtu: '1400'}";
    let wanted = "network:\n  ethernets:\n    eth0:\n      addresses:\n      - 10.0.0.5/24\n      - 10.0.0.6/24\n      \
        - 10.0.0.7/24\n      - fd00::5/64\n      dhcp4: false\n      mtu: 1400\n      nameservers:\n        addresses:\n        \
        - 1.1.1.1\n        - 8.8.8.8\n      routes:\n      - to: default\n        via: 10.0.0.1\n  renderer: networkd\n  \
        version: 2\n";
    let test = settings.replacen('{', "{test: true, ", 1);
    assert_eq!(build(&world, "eth0", "eth", &test).unwrap(), wanted);
    assert_eq!(world.host.text("/etc/netplan/90-salt-eth0.yaml"), None);
    assert_eq!(build(&world, "eth0", "eth", settings).unwrap(), wanted);
    assert_eq!(world.host.text("/etc/netplan/90-salt-eth0.yaml").as_deref(), Some(wanted));
    let stat = world.host.stat(Path::new("/etc/netplan/90-salt-eth0.yaml")).unwrap();
    assert_eq!(stat.mode & 0o7777, 0o600);
    assert_eq!(text(&asked(&world, "ip.get_interface", &["eth0"], "{}").unwrap()), wanted);
}

#[test]
fn members_are_declared_as_cards_unless_they_are_something_else() {
    let host = Fake::new()
        .file("/etc/netplan/01-all.yaml", "network: {renderer: NetworkManager, bonds: {bond1: {interfaces: [eth3]}}}\n")
        .file("/etc/netplan/02-broken.yaml", "network: [\n");
    let world = world(host);
    let bond = build(&world, "bond0", "bond", "{slaves: eth1 eth2, mode: 1, miimon: 100, lacp_rate: 1, proto: dhcp}");
    let wanted = "network:\n  bonds:\n    bond0:\n      dhcp4: true\n      interfaces:\n      - eth1\n      - eth2\n      \
        parameters:\n        lacp-rate: fast\n        mii-monitor-interval: 100\n        mode: active-backup\n  ethernets:\n    \
        eth1: {}\n    eth2: {}\n  renderer: NetworkManager\n  version: 2\n";
    assert_eq!(bond.unwrap(), wanted);
    let bridge = build(&world, "br0", "bridge", "{ports: [bond0, bond1, eth4], stp: 'on', fd: 0}").unwrap();
    let wanted = "network:\n  bridges:\n    br0:\n      dhcp4: false\n      interfaces:\n      - bond0\n      - bond1\n      \
        - eth4\n      parameters:\n        forward-delay: 0\n        stp: true\n  ethernets:\n    eth4: {}\n  \
        renderer: NetworkManager\n  version: 2\n";
    assert_eq!(bridge, wanted);
    let vlan = build(&world, "bond0.7", "vlan", "{}").unwrap();
    assert!(vlan.contains("      id: 7\n      link: bond0\n") && !vlan.contains("ethernets"), "{vlan}");
}

#[test]
fn what_netplan_would_refuse_is_not_written() {
    let world = world(Fake::new());
    let cases = [
        ("eth0", "wifi", "{}", "Option: wifi, Expected: [bond|bridge|eth|slave|vlan]"),
        ("eth0", "eth", "{up_cmds: [x], ethtool: {a: b}}", "no word for ethtool, up_cmds"),
        ("eth0", "eth", "{ipaddr: 10.0.0.5}", "Option: 10.0.0.5"),
        ("eth0", "eth", "{ipaddr: 10.0.0.5, netmask: 255.0.255.0}", "Option: 10.0.0.5"),
        ("eth0", "eth", "{ipaddrs: [10.0.0.5/33]}", "Option: 10.0.0.5/33"),
        ("eth0", "eth", "{mtu: wide}", "Option: mtu"),
        ("bond0", "bond", "{mode: ninth}", "Option: mode, Expected: [balance-rr|"),
        ("bond0", "bond", "{lacp_rate: quick}", "Option: lacp_rate"),
        ("five", "vlan", "{vlan_id: 5}", "Option: vlan-raw-device"),
        ("eth0.x", "vlan", "{}", "Option: vlan_id"),
        ("../eth0", "eth", "{}", "not the name of an interface"),
    ];
    for (iface, kind, settings, wanted) in cases {
        let fault = build(&world, iface, kind, settings).unwrap_err().to_string();
        assert!(fault.contains(wanted), "{iface} {kind} {settings}: {fault}");
        assert_eq!(world.host.text(&format!("/etc/netplan/90-salt-{iface}.yaml")), None);
    }
}

#[test]
fn routes_outlive_a_change_of_their_interface() {
    let world = world(Fake::new());
    build(&world, "eth0.5", "vlan", "{gateway: 10.0.0.1}").unwrap();
    let shown = || text(&asked(&world, "ip.get_routes", &["eth0.5"], "{}").unwrap());
    assert_eq!(shown(), "routes:\n- to: default\n  via: 10.0.0.1\n");
    let settings = "{routes: [{name: office, ipaddr: 10.2.0.0, netmask: 255.255.0.0, gateway: 10.0.0.9, metric: 5}, \
        {name: default, gateway: 10.0.0.1}, {destination: 10.3.0.0/16}]}";
    let wanted =
        "routes:\n- metric: 5\n  to: 10.2.0.0/16\n  via: 10.0.0.9\n- to: default\n  via: 10.0.0.1\n- to: 10.3.0.0/16\n";
    let built = text(&asked(&world, "ip.build_routes", &["eth0.5"], settings).unwrap());
    assert_eq!((built.as_str(), shown().as_str()), (wanted, wanted));
    let file = world.host.text("/etc/netplan/91-salt-eth0.5-routes.yaml").unwrap();
    assert!(file.starts_with("network:\n  version: 2\n  vlans:\n    eth0.5:\n      routes:\n"), "{file}");
    build(&world, "eth0.5", "vlan", "{gateway: 10.0.0.2}").unwrap();
    assert_eq!(shown(), wanted);
    asked(&world, "ip.build_routes", &["eth0.5"], "{routes: []}").unwrap();
    assert_eq!(shown(), "");
    let fault = asked(&world, "ip.build_routes", &["eth0"], "{routes: [{name: office}]}").unwrap_err().to_string();
    assert!(fault.contains("Option: office"), "{fault}");
}

#[test]
fn files_that_are_broken_are_told_without_their_text() {
    let world = world(Fake::new().file("/etc/netplan/90-salt-eth0.yaml", "network: {password: secret\n"));
    let fault = asked(&world, "ip.get_routes", &["eth0"], "{}").unwrap_err().to_string();
    assert!(fault.contains("90-salt-eth0.yaml is no YAML") && !fault.contains("secret"), "{fault}");
}

#[test]
fn netplan_checks_before_it_applies() {
    let refuses = Finished { code: 1, stderr: b"Error in network definition".to_vec(), ..Finished::default() };
    let broken = world(Fake::new().command(["/usr/bin/netplan", "generate"], refuses));
    let fault = asked(&broken, "ip.apply_network_settings", &[], "{}").unwrap_err().to_string();
    assert!(fault.contains("netplan generate failed: Error in network definition"), "{fault}");
    assert_eq!(broken.host.ran().len(), 1);
    let host = Fake::new()
        .answers(["/usr/bin/netplan", "generate"], "")
        .answers(["/usr/bin/netplan", "apply"], "")
        .answers(["ip", "link", "set", "dev", "eth0", "down"], "");
    let world = world(host);
    assert_eq!(asked(&world, "ip.apply_network_settings", &[], "{test: true}").unwrap(), true.into());
    assert_eq!(asked(&world, "ip.apply_network_settings", &[], "{require_reboot: yes}").unwrap(), true.into());
    assert_eq!(world.host.ran().len(), 0);
    assert_eq!(asked(&world, "ip.up", &["eth0"], "{}").unwrap(), true.into());
    assert_eq!(asked(&world, "ip.down", &["eth0"], "{}").unwrap(), "".into());
    assert_eq!(world.host.ran().len(), 3);
    assert_eq!(asked(&world, "ip.get_network_settings", &[], "{}").unwrap(), Value::List(Vec::new()));
    assert!(asked(&world, "ip.get_bond", &["bond0"], "{}").is_err());
}
