//! Grains as a whole: what is configured comes over what is found, and all of it is quick.

use super::*;
use halite_core::host::Machine;
use halite_core::host::fake::Fake;
use std::time::{Duration, Instant};

#[test]
fn configured_grains_come_over_what_is_found() {
    let host = Fake::new().file("/etc/halite/grains", "role: file\nos: Mine\nlist: [1]\n");
    let configured = Map::from_iter([("role", "option"), ("site", "eu")]);
    let opts = Map::from_iter([
        ("conf_file", Value::from("/etc/halite/minion")),
        ("grains", configured.into()),
        ("id", "m1".into()),
    ]);
    let grains = collect(&host, &opts);
    assert_eq!((grains.str_at("role"), grains.str_at("site")), (Some("option"), Some("eu")));
    assert_eq!((grains.str_at("os"), grains.str_at("id")), (Some("Mine"), Some("m1")));
}

#[test]
fn a_broken_file_of_grains_does_not_keep_the_others() {
    for text in ["[1, 2]", "a: [", "", "- x\n", "\0"] {
        let host = Fake::new().file("/etc/salt/grains", text).file("/proc/sys/kernel/ostype", "Linux\n");
        assert_eq!(collect(&host, &Map::new()).str_at("kernel"), Some("Linux"), "{text}");
    }
}

fn with(text: &str) -> Map {
    let host = Fake::new()
        .file("/proc/sys/kernel/ostype", "Linux\n")
        .file("/proc/sys/kernel/hostname", "web1\n")
        .file("/etc/salt/grains", "site: {city: x, rack: 4}\nsecret_a: 1\nsecret_b: 2\n");
    collect(&host, yaml::load(text).unwrap().as_map().unwrap())
}

#[test]
fn grains_that_nobody_wants_are_left_out_of_what_is_found_but_not_of_what_is_configured() {
    let grains = with("{grains_blacklist: ['nodename', 'secret_*', 'ip[46]_.*'], grains: {secret_b: 3}}");
    for name in ["nodename", "secret_a", "ip4_interfaces", "ip6_interfaces"] {
        assert_eq!(grains.at(name), None, "{name}");
    }
    assert_eq!(grains.at("secret_b"), Some(&3.into()));
    assert_eq!(grains.str_at("host"), Some("web1"), "one grain is made of another that is left out");
    assert!(with("{}").at("secret_a").is_some());
}

#[test]
fn grains_that_are_maps_are_merged_where_that_is_wanted() {
    let city =
        |deep: &str| with(&format!("{{grains_deep_merge: {deep}, grains: {{site: {{rack: 5}}}}}}")).at("site").cloned();
    assert_eq!(city("True").unwrap().to_json(), r#"{"city": "x", "rack": 5}"#);
    assert_eq!(city("False").unwrap().to_json(), r#"{"rack": 5}"#);
}

#[test]
fn a_node_that_skips_grains_has_none() {
    assert!(with("{skip_grains: True, grains: {role: web}}").is_empty());
}

#[test]
fn this_machine_has_the_grains_that_states_rely_on_at_once() {
    let begin = Instant::now();
    let grains = collect(&Machine, &Map::from_iter([("id", "m1")]));
    // A machine that tests share is slow at times; a command or a name that is asked for takes far longer.
    assert!(begin.elapsed() < Duration::from_millis(500), "{:?}", begin.elapsed());
    for name in
        ["os", "os_family", "kernel", "kernelrelease", "nodename", "fqdn", "num_cpus", "mem_total", "ipv4", "path"]
    {
        assert!(grains.at(name).is_some_and(Value::truthy), "{name} is {:?}", grains.at(name));
    }
    assert_eq!(grains.str_at("kernel"), Some("Linux"));
}
