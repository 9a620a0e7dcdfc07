//! The functions of `firewalld` against what firewall-cmd 1.3 prints.

use crate::testing::World;
use halite_core::Fault;
use halite_core::context::NoMaster;
use halite_core::host::Finished;
use halite_core::host::fake::Fake;
use halite_core::module::call;
use halite_value::Value;
use halite_value::record::Arguments;

fn run(world: &World, fun: &str, words: &[&str]) -> Result<Value, Fault> {
    let arguments = Arguments::positional(words.iter().copied());
    call(&world.ctx(&NoMaster), fun, arguments).map(|returned| returned.value)
}

const ZONE: &str = "public (active)\n  target: default\n  icmp-block-inversion: no\n  interfaces: eth0\n  sources: \n  services: \
                    dhcpv6-client ssh\n  ports: \n  protocols: \n  forward: yes\n  masquerade: no\n  forward-ports: \n\
                    \tport=80:proto=tcp:toport=443:toaddr=\n  source-ports: \n  icmp-blocks: \n  rich rules: \n\
                    \trule protocol value=\"icmp\" accept\n";

#[test]
fn zones_are_read_line_by_line() {
    let host = Fake::new()
        .answers(["firewall-cmd", "--zone=public", "--list-all", "--permanent"], ZONE)
        .answers(["firewall-cmd", "--list-all"], "drop\n  target: DROP\n  masquerade: yes\n")
        .answers(["firewall-cmd", "--get-zones", "--permanent"], "block dmz drop\n");
    let world = World::on(host);
    let zones = run(&world, "firewalld.list_all", &["public"]).unwrap();
    let zone = zones.at("public (active)").unwrap();
    assert_eq!(zone.at("services").unwrap().to_json(), r#"["dhcpv6-client ssh"]"#);
    assert_eq!(zone.at("forward-ports").unwrap().to_json(), r#"["", "port=80:proto=tcp:toport=443:toaddr="]"#);
    assert_eq!(zone.at("rich rules").unwrap().to_json(), r#"["", "rule protocol value=\"icmp\" accept"]"#);
    assert_eq!(run(&world, "firewalld.get_masquerade", &["public"]).unwrap(), false.into());
    let all = Arguments::default().with("permanent", false);
    assert_eq!(call(&world.ctx(&NoMaster), "firewalld.get_masquerade", all).unwrap().value, true.into());
    assert_eq!(run(&world, "firewalld.get_zones", &[]).unwrap().to_json(), r#"["block", "dmz", "drop"]"#);
}

#[test]
fn a_change_is_one_command_without_a_shell() {
    let rule = "--add-rich-rule=rule protocol value=\"icmp\" accept; id";
    let forward = "--add-forward-port=port=80:proto=tcp:toport=443:toaddr=";
    let host = Fake::new()
        .answers(["firewall-cmd", "--zone=dmz", rule, "--permanent"], "success\n")
        .answers(["firewall-cmd", "--new-zone=a", "--permanent"], "success\n")
        .answers(["firewall-cmd", "--reload"], "success\n")
        .answers(["firewall-cmd", "--zone=public", "--list-all", "--permanent"], ZONE)
        .answers(["firewall-cmd", "--zone=public", "--add-masquerade", "--permanent"], "success\n")
        .answers(["firewall-cmd", "--zone=public", forward, "--permanent"], "success\n")
        .answers(
            ["firewall-cmd", "--zone=public", "--list-forward-ports", "--permanent"],
            "port=80:proto=tcp:toport=443:toaddr=\n",
        )
        .answers(["firewall-cmd", "--get-icmptypes", "--permanent"], "echo-reply echo-request\n")
        .answers(["firewall-cmd", "--zone=public", "--list-icmp-blocks", "--permanent"], "echo-reply\n")
        .answers(["firewall-cmd", "--get-services", "--permanent"], "ssh\n")
        .command(
            ["firewall-cmd", "--set-default-zone=none"],
            Finished { code: 112, stderr: b"Error: INVALID_ZONE: none\n".to_vec(), ..Finished::default() },
        );
    let world = World::on(host);
    let ran = |words: &[&str]| run(&world, words[0], &words[1..]);
    assert_eq!(ran(&["firewalld.add_rich_rule", "dmz", &rule[16..]]).unwrap(), "success".into());
    assert_eq!(ran(&["firewalld.new_zone", "a"]).unwrap(), "success".into());
    let forced = Arguments::positional(["public", "80", "443"]).with("force_masquerade", true);
    assert_eq!(call(&world.ctx(&NoMaster), "firewalld.add_port_fwd", forced).unwrap().value, "success".into());
    assert_eq!(
        ran(&["firewalld.list_port_fwd", "public"]).unwrap().to_json(),
        r#"[{"Source port": "80", "Protocol": "tcp", "Destination port": "443", "Destination address": ""}]"#
    );
    assert_eq!(ran(&["firewalld.block_icmp", "public", "echo-reply"]).unwrap(), "success".into());
    assert_eq!(ran(&["firewalld.allow_icmp", "public", "none"]).unwrap(), false.into());
    let error = ran(&["firewalld.set_default_zone", "none"]).unwrap_err().to_string();
    assert_eq!(error, "firewall-cmd failed: Error: INVALID_ZONE: none");
    assert!(ran(&["firewalld.add_service_port", "none", "80/tcp"]).unwrap_err().to_string().contains("does not exist"));
}
