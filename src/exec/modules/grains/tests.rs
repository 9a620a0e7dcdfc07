//! What `grains.*` answers and writes.

use super::*;
use crate::testing::World;
use halite_core::context::NoMaster;
use halite_core::host::fake::Fake;
use halite_core::module::call;
use halite_value::parse_json;
use halite_value::record::Arguments;

fn json(text: &str) -> Value {
    parse_json(text).unwrap()
}

fn world(file: Option<&str>) -> World {
    let host = file.map_or_else(Fake::new, |text| Fake::new().file("/etc/salt/grains", text));
    let grains = json(
        r#"{"os": "Debian", "os_family": "Debian", "site": {"dc": "eu1"}, "roles": ["web"], "id": "m1",
            "host": "m1", "text": "dc", "deep": {"list": [1]}}"#,
    );
    World { grains: grains.as_map().unwrap().clone(), ..World::on(host) }
}

fn value(world: &World, fun: &str, arguments: Arguments) -> Value {
    call(&world.ctx(&NoMaster), fun, arguments).unwrap().value
}

fn args(json_list: &str) -> Arguments {
    Arguments::positional(json(json_list).as_list().unwrap().to_vec())
}

#[test]
fn grains_are_looked_up() {
    let world = world(None);
    let value = |fun: &str, arguments: Arguments| value(&world, fun, arguments);
    assert_eq!(value("grains.get", args(r#"["site:dc"]"#)), "eu1".into());
    assert_eq!(value("grains.get", args(r#"["roles:0"]"#)), "web".into());
    assert_eq!(value("grains.get", args(r#"["nope"]"#).with("default", "dd")), "dd".into());
    assert_eq!(value("grains.get", args(r#"["site|dc"]"#).with("delimiter", "|")), "eu1".into());
    assert_eq!(value("grains.fetch", args(r#"["os"]"#)), "Debian".into());
    assert_eq!(value("grains.has_value", args(r#"["site:none"]"#)), false.into());
    assert_eq!(value("grains.equals", args(r#"["site:dc", "eu1"]"#)), true.into());
    assert_eq!(
        value("grains.item", args(r#"["os", "site:dc", "x"]"#)),
        json(r#"{"os": "Debian", "site:dc": "eu1", "x": ""}"#)
    );
    assert_eq!(value("grains.items", Arguments::default()).at("roles"), Some(&json(r#"["web"]"#)));
    let sane = value("grains.items", Arguments::default().with("sanitize", true));
    assert_eq!(
        (sane.at("id"), sane.at("host"), sane.at("domain")),
        (Some(&"MINION.DOMAINNAME".into()), Some(&"MINION".into()), None)
    );
    assert_eq!(value("grains.ls", Arguments::default()).as_list().unwrap()[0], "deep".into());
}

#[test]
fn a_map_is_filtered_by_a_grain() {
    let world = world(None);
    let filter = |arguments: Arguments| value(&world, "grains.filter_by", arguments);
    let lookup =
        r#"[{"Deb*": {"p": "apache2", "sub": {"a": 1}}, "RedHat": {"p": "httpd"}, "base": {"b": 2}, "default": 3}"#;
    assert_eq!(filter(args(&format!("{lookup}]"))).at("p"), Some(&"apache2".into()));
    let merged = filter(args(&format!("{lookup}]")).with("merge", json(r#"{"sub": {"c": 3}}"#)));
    assert_eq!(merged.at("sub"), Some(&json(r#"{"a": 1, "c": 3}"#)));
    assert_eq!(filter(args(&format!("{lookup}]")).with("base", "base")).at("b"), Some(&2.into()));
    assert_eq!(filter(args(&format!("{lookup}, \"nograin\"]"))), 3.into());
    assert_eq!(filter(args(r#"[{"web": 1, "db": 2}, "roles"]"#)), 1.into());
    assert_eq!(filter(args(r#"[{"x": 1}]"#)), Value::Null);
}

#[test]
fn grains_are_set_in_their_file() {
    let world = world(Some("kept: 1\nnewg: old\n"));
    assert_eq!(value(&world, "grains.setval", args(r#"["newg", "val"]"#)), json(r#"{"newg": "val"}"#));
    assert_eq!(world.host.text("/etc/salt/grains").unwrap(), "kept: 1\nnewg: val\n");
    assert_eq!(value(&world, "grains.append", args(r#"["roles", "db"]"#)), json(r#"{"roles": ["web", "db"]}"#));
    assert_eq!(value(&world, "grains.append", args(r#"["g2", "b"]"#)), json(r#"{"g2": ["b"]}"#));
    assert_eq!(value(&world, "grains.append", args(r#"["deep:list", [2]]"#)), json(r#"{"deep": {"list": [1, 2]}}"#));
    assert_eq!(
        value(&world, "grains.append", args(r#"["roles", "web"]"#)),
        "The val web was already in the list roles".into()
    );
    assert_eq!(value(&world, "grains.append", args(r#"["os", "x"]"#)), "The key os is not a valid list".into());
    assert_eq!(value(&world, "grains.append", args(r#"["os", "x", true]"#)), json(r#"{"os": ["Debian", "x"]}"#));
    assert_eq!(value(&world, "grains.remove", args(r#"["roles", "web"]"#)), json(r#"{"roles": []}"#));
    assert_eq!(value(&world, "grains.remove", args(r#"["roles", "x"]"#)), "The val x was not in the list roles".into());
    assert_eq!(
        value(&world, "grains.setvals", args(r#"[{"newg": null, "a": 1}, true]"#)),
        json(r#"{"newg": null, "a": 1}"#)
    );
    let file = halite_lang::yaml::load(&world.host.text("/etc/salt/grains").unwrap()).unwrap();
    assert_eq!((file.at("newg"), file.at("a"), file.at("kept")), (None, Some(&1.into()), Some(&1.into())));
}

#[test]
fn set_shows_what_has_changed_and_keeps_lists_and_maps() {
    let world = world(None);
    let set = |text: &str| value(&world, "grains.set", args(text));
    let comment = |value: Value| value.at("comment").unwrap().to_text();
    assert_eq!(set(r#"["apps:web:port", 80]"#).at("changes"), Some(&json(r#"{"apps": {"web": {"port": 80}}}"#)));
    assert_eq!(set(r#"["site:dc", "us"]"#).at("changes"), Some(&json(r#"{"site": {"dc": "us"}}"#)));
    assert_eq!(comment(set(r#"["os", "Debian"]"#)), "Grain is already set");
    assert_eq!(
        comment(set(r#"["site", 1]"#)),
        "The key 'site' exists but is a dict or a list. Use 'force=True' to overwrite."
    );
    assert_eq!(set(r#"["os", [1]]"#).at("result"), Some(&false.into()));
    assert_eq!(set(r#"["site", 1, true]"#).at("changes"), Some(&json(r#"{"site": 1}"#)));
    assert!(comment(set(r#"["os:x", 1]"#)).contains("which is different from the provided key 'x'"));
    assert_eq!(set(r#"["text:dc", 1]"#).at("changes"), Some(&json(r#"{"text": {"dc": 1}}"#)));
    assert_eq!(set(r#"["roles:web", 1]"#).at("changes"), Some(&json(r#"{"roles": [{"web": 1}]}"#)));
    let gone = value(&world, "grains.delval", args(r#"["os"]"#));
    assert_eq!((gone.at("changes"), gone.at("result")), (Some(&json(r#"{"os": null}"#)), Some(&true.into())));
    value(&world, "grains.delkey", args(r#"["os"]"#));
    assert!(!world.host.text("/etc/salt/grains").unwrap().contains("os:"));
}

#[test]
fn a_file_that_is_not_understood_is_left_as_it_is() {
    for text in ["a: [", "- list\n"] {
        let world = world(Some(text));
        assert!(call(&world.ctx(&NoMaster), "grains.setval", args(r#"["a", 1]"#)).is_err());
        assert_eq!(world.host.text("/etc/salt/grains").unwrap(), text);
    }
}
