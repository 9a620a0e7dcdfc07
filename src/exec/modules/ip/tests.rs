//! The files of both families, on a host that has none of them.

use crate::testing::World;
use halite_core::Fault;
use halite_core::context::NoMaster;
use halite_core::host::fake::Fake;
use halite_core::module::call;
use halite_lang::yaml;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

fn world(family: &str, host: Fake) -> World {
    let grains = Map::from_iter([("os_family", Value::from(family)), ("osmajorrelease", 9.into())]);
    World { grains, ..World::on(host) }
}

fn build(world: &World, iface: &str, kind: &str, settings: &str) -> Result<String, Fault> {
    let mut arguments = Arguments::positional([iface, kind]);
    arguments.positional.push(true.into());
    arguments.keywords = yaml::load(settings).unwrap().as_map().cloned().unwrap_or_default();
    let lines = call(&world.ctx(&NoMaster), "ip.build_interface", arguments)?.value;
    let ends = if world.grains.str_at("os_family") == Some("RedHat") { "\n" } else { "" };
    Ok(lines.as_list().unwrap_or_default().iter().map(|line| line.to_text() + ends).collect())
}

const INTERFACES: &str = "# made by hand\nsource /etc/network/interfaces.d/*\n\nauto lo\niface lo inet loopback\n\n\
    auto eth0\nallow-hotplug eth0\niface eth0 inet static\n    address 10.0.0.2\n    address 10.0.0.3\n    netmask 24\n\
    \x20   dns-nameservers 1.1.1.1  8.8.8.8\n    up echo one\n    up echo two\n    link-speed 1000\n";

#[test]
fn an_interface_is_put_among_the_others_in_its_file() {
    let more = "auto eth5\niface eth5 inet dhcp\n";
    let host = Fake::new()
        .directory("/etc/network")
        .directory("/etc/network/interfaces.d")
        .file("/etc/network/interfaces", INTERFACES)
        .file("/etc/network/interfaces.d/five", more);
    let world = world("Debian", host);
    let made =
        build(&world, "eth1", "eth", "{proto: static, ipaddr: 10.1.0.1, netmask: 255.255.0.0, mtu: 9000, rx: off}");
    let stanza = "auto eth1\niface eth1 inet static\n    address 10.1.0.1\n    netmask 255.255.0.0\n    mtu 9000\n    offload-rx off\n";
    assert_eq!(made.unwrap(), format!("{stanza}\n"));
    let rest = "auto eth0\nallow-hotplug eth0\niface eth0 inet static\n    address 10.0.0.2\n    address 10.0.0.3\n    netmask 24\n    \
        dns-nameservers 1.1.1.1 8.8.8.8\n    up echo one\n    up echo two\n    link-speed 1000\n";
    let whole = format!("\nsource /etc/network/interfaces.d/*\nauto lo\niface lo inet loopback\n{rest}{stanza}");
    assert_eq!(world.host.text("/etc/network/interfaces").as_deref(), Some(whole.as_str()));
    assert_eq!(world.host.text("/etc/network/interfaces.d/five").as_deref(), Some(more));

    build(&world, "eth5", "eth", "{proto: manual}").unwrap();
    let changed = "auto eth5\niface eth5 inet manual\n";
    assert_eq!(world.host.text("/etc/network/interfaces.d/five").as_deref(), Some(changed));
    assert_eq!(world.host.text("/etc/network/interfaces").as_deref(), Some(whole.as_str()));
}

#[test]
fn what_is_wrong_with_an_interface_is_said() {
    let world = world("Debian", Fake::new().directory("/etc/network").file("/etc/network/interfaces", ""));
    let cases = [
        ("eth0", "wifi", "{}", "Option: wifi, Expected: [eth|bond"),
        ("eth0", "slave", "{}", "master is a required setting"),
        ("bond0", "bond", "{mode: 9, slaves: eth0}", "Option: mode, Expected: [0|1"),
        ("bond0", "bond", "{mode: '0', slaves: eth0}", "Option: arp_ip_target"),
        ("br0", "bridge", "{ports: eth0, stp: maybe}", "Option: stp"),
        ("eth0", "eth", "{duplex: both}", "Option: duplex, Expected: [full|half]"),
        ("../eth0", "eth", "{}", "not the name of an interface"),
    ];
    for (iface, kind, settings, wanted) in cases {
        let fault = build(&world, iface, kind, settings).unwrap_err().to_string();
        assert!(fault.contains(wanted), "{iface} {kind} {settings}: {fault}");
    }
    assert_eq!(world.host.text("/etc/network/interfaces").as_deref(), Some(""));
}

#[test]
fn files_that_are_no_interfaces_are_told() {
    for text in ["iface eth0 inet\n", "iface eth0 inet9 static\n", "iface eth0 inet static\n  address\n"] {
        let world = world("Debian", Fake::new().file("/etc/network/interfaces", text));
        let fault = call(&world.ctx(&NoMaster), "ip.get_interface", Arguments::positional(["eth0"])).unwrap_err();
        assert!(fault.to_string().contains("malformed"), "{text:?}: {fault}");
    }
}

#[test]
fn red_hats_family_has_a_file_for_each_interface() {
    let world = world("RedHat", Fake::new().directory("/etc/sysconfig/network-scripts"));
    let settings = "{proto: none, ipaddr: 10.0.0.5, netmask: 255.255.255.0, dns: [1.1.1.1], hwaddr: '00:11:22:33:44:55', \
        ipaddrs: [10.0.0.6/24], enable_ipv6: true, ipv6addr: fd00::5/64, mtu: 1400, vlan_id: 5}";
    let wanted = "DEVICE=\"eth0\"\nHWADDR=\"00:11:22:33:44:55\"\nUSERCTL=\"no\"\nTYPE=\"Ethernet\"\nBOOTPROTO=\"none\"\n\
        ONBOOT=\"yes\"\nIPADDR=\"10.0.0.5\"\nNETMASK=\"255.255.255.0\"\nIPADDR1=\"10.0.0.6\"\nPREFIX1=\"24\"\n\
        IPV6INIT=\"yes\"\nIPV6ADDR=\"fd00::5/64\"\nPEERDNS=\"yes\"\nMTU=\"1400\"\nNM_CONTROLLED=\"no\"\nDNS1=\"1.1.1.1\"\n";
    assert_eq!(build(&world, "eth0", "eth", settings).unwrap(), wanted);
    assert_eq!(world.host.text("/etc/sysconfig/network-scripts/ifcfg-eth0").as_deref(), Some(wanted));
    let bond = build(&world, "bond0", "bond", "{mode: 1, miimon: 100, primary: eth0, proto: dhcp}").unwrap();
    assert!(bond.contains("BONDING_OPTS=\"mode=1 miimon=100 downdelay=200 use_carrier=0 primary=eth0\"\n"), "{bond}");
    let fault = build(&world, "bond0", "bond", "{mode: 1, miimon: 100, updelay: 150}").unwrap_err().to_string();
    assert!(fault.contains("0 or a multiple of miimon (100)"), "{fault}");
}

#[test]
fn other_families_are_refused() {
    let world = world("Suse", Fake::new());
    let fault = call(&world.ctx(&NoMaster), "ip.get_interface", Arguments::positional(["eth0"])).unwrap_err();
    assert!(fault.to_string().contains("this host is of Suse"), "{fault}");
}
