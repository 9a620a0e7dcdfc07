//! Keyfiles, on a host where NetworkManager has the network.

use crate::testing::World;
use halite_core::Fault;
use halite_core::context::NoMaster;
use halite_core::host::Finished;
use halite_core::host::fake::Fake;
use halite_core::module::call;
use halite_lang::yaml;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

const DIRECTORY: &str = "/etc/NetworkManager/system-connections";

fn host() -> Fake {
    Fake::new().env("PATH", "/usr/bin").program("/usr/bin/nmcli").directory("/run/NetworkManager").directory(DIRECTORY)
}

fn world(host: Fake) -> World {
    World { grains: Map::from_iter([("os_family", "RedHat")]), ..World::on(host) }
}

fn answer(world: &World, fun: &str, positional: &[&str], keywords: &str) -> Result<Value, Fault> {
    let mut arguments = Arguments::positional(positional.iter().copied());
    arguments.keywords = yaml::load(keywords).unwrap().as_map().cloned().unwrap_or_default();
    Ok(call(&world.ctx(&NoMaster), fun, arguments)?.value)
}

fn shown(value: Value) -> String {
    value.as_list().unwrap_or_default().iter().map(Value::to_text).collect()
}

fn build(world: &World, iface: &str, kind: &str, settings: &str) -> Result<String, Fault> {
    answer(world, "ip.build_interface", &[iface, kind, "True"], settings).map(shown)
}

fn written(world: &World, iface: &str) -> Option<String> {
    world.host.text(&format!("{DIRECTORY}/{iface}.nmconnection"))
}

#[test]
fn a_card_has_a_keyfile() {
    let world = world(host());
    let settings = "{proto: none, ipaddr: 10.0.0.5, netmask: 255.255.255.0, gateway: 10.0.0.1, ipaddrs: [10.0.0.6/16], \
        dns: [1.1.1.1, '2606:4700::1111'], domain: 'a.example;b.example', mtu: 1400, hwaddr: '00:11:22:33:44:55', \
        autoneg: 'on', speed: 1000, duplex: Full, wol: 'magic, phy', ipv6ipaddr: fd00::5, ipv6netmask: 64, \
        ipv6gateway: fd00::1}";
    let wanted = "[connection]\nid=eth0\nuuid=68f596d3-a86a-541f-a309-fb4064947f4c\ntype=ethernet\ninterface-name=eth0\n\
        autoconnect=true\n\n[ethernet]\nmtu=1400\nmac-address=00:11:22:33:44:55\nauto-negotiate=true\nspeed=1000\n\
        duplex=full\nwake-on-lan=66\n\n[ipv4]\nmethod=manual\naddress1=10.0.0.5/24,10.0.0.1\naddress2=10.0.0.6/16\n\
        dns=1.1.1.1;\ndns-search=a.example;b.example;\n\n[ipv6]\nmethod=manual\naddress1=fd00::5/64,fd00::1\n\
        dns=2606:4700::1111;\ndns-search=a.example;b.example;\n\n";
    assert_eq!(build(&world, "eth0", "eth", &settings.replace('}', ", test: true}")).unwrap(), wanted);
    assert_eq!(written(&world, "eth0"), None);
    assert_eq!(build(&world, "eth0", "eth", settings).unwrap(), wanted);
    assert_eq!(written(&world, "eth0").as_deref(), Some(wanted));
    assert_eq!(shown(answer(&world, "ip.get_interface", &["eth0"], "{}").unwrap()), wanted);
    assert_eq!(answer(&world, "ip.get_interface", &["eth1"], "{}").unwrap(), Value::List(Vec::new()));
    assert_eq!(answer(&world, "ip.nm_managed", &[], "{}").unwrap(), true.into());
}

#[test]
fn members_have_keyfiles_that_name_what_they_belong_to() {
    let world = world(host());
    let bond = "{mode: 802.3ad, miimon: 100, use_carrier: true, arp_ip_target: [10.0.0.1, 10.0.0.2], slaves: eth1 eth2, \
        proto: dhcp, mtu: 9000}";
    let made = build(&world, "bond0", "bond", bond).unwrap();
    let device =
        "[bond]\narp_ip_target=10.0.0.1,10.0.0.2\nmiimon=100\nmode=802.3ad\nuse_carrier=1\n\n[ethernet]\nmtu=9000\n";
    assert!(made.contains(device), "{made}");
    let member = written(&world, "eth2").unwrap();
    assert!(member.ends_with("autoconnect=true\nmaster=bond0\nslave-type=bond\n\n"), "{member}");
    assert_eq!(build(&world, "eth2", "slave", "{master: bond0}").unwrap(), member);
    let made =
        build(&world, "br0", "bridge", "{ports: [eth3, br0], stp: false, fd: 4, hwaddr: '00:11:22:33:44:55'}").unwrap();
    assert!(made.contains("[bridge]\nstp=false\nforward-delay=4\nmac-address=00:11:22:33:44:55\n"), "{made}");
    assert!(written(&world, "eth3").is_some_and(|text| text.contains("slave-type=bridge\n")));
    let made = build(&world, "eth0.100", "vlan", "{gvrp: true, reorder_hdr: false, proto: none}").unwrap();
    assert!(made.contains("[vlan]\nid=100\nparent=eth0\nflags=2\n\n[ipv4]\nmethod=disabled\n"), "{made}");
}

#[test]
fn what_a_job_is_called_is_no_option_of_its_bond() {
    let made = build(&world(host()), "bond0", "bond", "{mode: 1, __pub_jid: '20261130', __pub_fun: x}").unwrap();
    assert!(made.contains("[bond]\nmode=1\n\n"), "{made}");
}

#[test]
fn off_is_a_no_to_yaml_and_means_off() {
    let made = build(&world(host()), "eth0", "eth", "{proto: off, ipv6proto: off, dns_search: a.example}").unwrap();
    assert!(made.ends_with("[ipv4]\nmethod=disabled\n\n[ipv6]\nmethod=disabled\n\n"), "{made}");
}

#[test]
fn settings_that_cannot_be_are_told_before_anything_is_written() {
    let world = world(host());
    let cases = [
        ("eth0", "wifi", "{}", "not 'wifi'"),
        ("eth0", "eth", "{gro: true, up_cmds: [ls], lro: false}", "no place for the settings gro, up_cmds"),
        ("eth0", "eth", "{ipaddr: 10.0.0.1}", "10.0.0.1 has no netmask"),
        ("eth0", "eth", "{ipaddr: 10.0.0.1, netmask: 33}", "Invalid address/netmask 10.0.0.1/33"),
        ("eth0", "eth", "{speed: 1000}", "together"),
        ("eth0", "eth", "{speed: 1000, duplex: both}", "not 'both'"),
        ("eth0", "eth", "{speed: fast, duplex: full}", "speed is a whole number"),
        ("eth0", "eth", "{wol: smoke}", "not 'smoke'"),
        ("eth0", "eth", "{hwaddr: '00:11:22:33:44:55', macaddr: '00:11:22:33:44:55'}", "not both"),
        ("eth0", "eth", "{macaddr: \"x\\n[vpn]\"}", "more than a line"),
        ("bond0", "bond", "{}", "has no mode"),
        ("bond0", "bond", "{mode: 1, 'hashing-algorithm': layer2}", "'hashing-algorithm' is no name"),
        ("bond0", "bond", "{mode: 1, slaves: ../x}", "not the name of an interface"),
        ("vlan5", "vlan", "{vlan_id: 5}", "its parent"),
        ("eth0.x", "vlan", "{}", "its number"),
        ("../x", "eth", "{}", "not the name of an interface"),
    ];
    for (iface, kind, settings, wanted) in cases {
        let fault = build(&world, iface, kind, settings).unwrap_err().to_string();
        assert!(fault.contains(wanted), "{iface} {kind} {settings}: {fault}");
        assert_eq!(written(&world, iface), None, "{iface} {kind} {settings}");
    }
}

#[test]
fn an_interface_keeps_its_routes_when_it_is_built_again() {
    let world = world(host());
    build(&world, "eth0", "eth", "{proto: dhcp}").unwrap();
    let routes = "{routes: [{ipaddr: 10.2.0.0, netmask: 255.255.0.0, gateway: 10.0.0.1, metric: 5}, \
        {name: default, gateway: 10.0.0.9}, {ipaddr: 10.9.0.0/16, metric: 0}, {ipaddr: 'fd01::', netmask: 64}]}";
    let lines = "[ipv4]\nroute1=10.2.0.0/16,10.0.0.1,5\nroute2=0.0.0.0/0,10.0.0.9\nroute3=10.9.0.0/16,0.0.0.0,0\n\n\
        [ipv6]\nroute1=fd01::/64\n\n";
    for _ in 0..2 {
        assert_eq!(shown(answer(&world, "ip.build_routes", &["eth0"], routes).unwrap()), lines);
        let whole = written(&world, "eth0").unwrap();
        let rest = "route3=10.9.0.0/16,0.0.0.0,0\n\n[ipv6]\nmethod=auto\nroute1=fd01::/64\n\n";
        assert!(whole.ends_with(rest), "{whole}");
        assert_eq!(build(&world, "eth0", "eth", "{proto: dhcp}").unwrap(), whole);
    }
    assert_eq!(shown(answer(&world, "ip.get_routes", &["eth0"], "{}").unwrap()), lines);
    assert_eq!(shown(answer(&world, "ip.build_routes", &["eth0"], "{routes: []}").unwrap()), "");
    assert!(written(&world, "eth0").is_some_and(|text| !text.contains("route")));
    let fault = answer(&world, "ip.build_routes", &["eth9"], routes).unwrap_err().to_string();
    assert!(fault.contains("eth9.nmconnection"), "{fault}");
}

#[test]
fn routes_leave_other_settings_of_a_keyfile_alone() {
    let keyfile = "[ipv4]\nroute-metric=100\nroute1=10.0.0.0/8\nroute1_options=mtu=1400\nmethod=auto";
    let world = world(host().file(&format!("{DIRECTORY}/eth0.nmconnection"), keyfile));
    answer(&world, "ip.build_routes", &["eth0"], "{routes: [{ipaddr: 0.0.0.0}, {ipaddr: 'fd01::', netmask: 64}]}")
        .unwrap();
    let wanted = "[ipv4]\nroute-metric=100\nmethod=auto\nroute1=0.0.0.0/0\n\n[ipv6]\nroute1=fd01::/64\n\n";
    assert_eq!(written(&world, "eth0").as_deref(), Some(wanted));
}

#[test]
fn nmcli_reads_the_keyfiles_and_turns_connections_on_and_off() {
    let failed = Finished { code: 4, stdout: b"Error: no such device".to_vec(), ..Finished::default() };
    let host = host()
        .answers(["/usr/bin/nmcli", "connection", "reload"], "")
        .answers(["/usr/bin/nmcli", "connection", "up", "eth0"], "on\n")
        .command(["/usr/bin/nmcli", "connection", "up", "eth9"], failed.clone())
        .command(["/usr/bin/nmcli", "connection", "down", "eth9"], failed);
    let world = world(host);
    assert_eq!(answer(&world, "ip.up", &["eth0"], "{}").unwrap(), "on".into());
    let ran: Vec<Vec<String>> = world.host.ran().into_iter().map(|command| command.argv).collect();
    assert_eq!(ran.iter().map(|argv| argv[2].as_str()).collect::<Vec<&str>>(), ["reload", "up"]);
    let fault = answer(&world, "ip.up", &["eth9", "eth"], "{}").unwrap_err().to_string();
    assert_eq!(fault, "eth9 could not be brought up: Error: no such device");
    assert_eq!(answer(&world, "ip.down", &["eth9", "eth"], "{}").unwrap(), "Error: no such device".into());
    assert_eq!(answer(&world, "ip.down", &["eth9", "Slave"], "{}").unwrap(), ().into());
    assert_eq!(answer(&world, "ip.apply_network_settings", &[], "{require_reboot: true}").unwrap(), true.into());
    let count = world.host.ran().len();
    assert_eq!(answer(&world, "ip.apply_network_settings", &[], "{test: true}").unwrap(), true.into());
    assert_eq!(world.host.ran().len(), count);
    let none = Value::List(Vec::new());
    assert_eq!(answer(&world, "ip.build_network_settings", &[], "{hostname: web1}").unwrap(), none);
    assert_eq!(answer(&world, "ip.get_network_settings", &[], "{}").unwrap(), none);
}

#[test]
fn network_scripts_keep_the_network_where_they_are_there() {
    let world = world(host().program("/usr/bin/ifup").answers(["ifup", "eth0"], "up"));
    assert_eq!(answer(&world, "ip.nm_managed", &[], "{}").unwrap(), false.into());
    assert_eq!(answer(&world, "ip.up", &["eth0", "eth"], "{}").unwrap(), "up".into());
    let fault = answer(&world, "ip.up", &["eth0"], "{}").unwrap_err();
    assert!(matches!(fault, Fault::Arguments { .. }), "{fault}");
}
