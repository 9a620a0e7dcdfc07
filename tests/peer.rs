//! Minions that have each other, and the master, do something: the options `peer` and `peer_run`.

use crate::fleet::{Fleet, Ran};
use halite_value::{Value, parse_json};
use std::process::{Command, Stdio};

const PEER: &str =
    "auto_accept: True\npeer: {web1: [test.*, {db1: [grains.item]}]}\npeer_run: {web1: [manage.up, test.*]}\n";

fn fleet() -> Fleet {
    let mut fleet = Fleet::prepare(&["web1", "db1"], PEER, "");
    fleet.start_master();
    for id in ["web1", "db1"] {
        fleet.start_minion(id);
    }
    fleet.wait_connected(&["web1", "db1"]);
    fleet
}

fn answer(fleet: &Fleet, id: &str, args: &[&str]) -> Value {
    let ran = fleet.salt(&[&[id, "--out=json", "--static", "-t", "30"], args].concat());
    let all = parse_json(&ran.out).unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err));
    all.at(id).cloned().unwrap_or_else(|| panic!("{}{}", ran.out, ran.err))
}

#[test]
fn a_minion_has_others_do_what_the_master_lets_it() {
    let fleet = fleet();
    let asked = |id: &str, args: &[&str]| answer(&fleet, id, args);
    let mut pong = asked("web1", &["publish.publish", "*", "test.ping", "timeout=20"]).as_map().unwrap().clone();
    assert_eq!((pong.remove("web1"), pong.remove("db1")), (Some(true.into()), Some(true.into())));
    let echoed = asked("web1", &["publish.publish", "db1", "test.arg", "[a, 5, x=1]", "timeout=20"]);
    let given = echoed.at("db1").unwrap();
    assert_eq!(given.at("args").unwrap().to_json(), r#"["a", 5]"#);
    assert_eq!(given.at("kwargs").and_then(|kwargs| kwargs.at("x")), Some(&1.into()));
    let full = asked("web1", &["publish.full_data", "db1", "grains.item", "id", "timeout=20"]);
    assert_eq!(full.at("db1").and_then(|data| data.at("ret")).unwrap().to_json(), r#"{"id": "db1"}"#);

    for refused in [
        ["web1", "*", "cmd.run", "id"],
        ["web1", "*", "grains.item", "id"],
        ["web1", "*", "publish.publish", "x"],
        ["db1", "*", "test.ping", ""],
    ] {
        let [id, tgt, fun, arg] = refused;
        assert_eq!(asked(id, &["publish.publish", tgt, fun, arg]).to_json(), "{}", "{refused:?}");
    }
}

#[test]
fn a_minion_has_a_runner_called_where_the_master_lets_it() {
    let fleet = fleet();
    let asked = |id: &str, args: &[&str]| answer(&fleet, id, args);
    let up = asked("web1", &["publish.runner", "manage.up", "timeout=60"]);
    assert_eq!(up.to_json(), r#"["db1", "web1"]"#);
    let given = asked("web1", &["publish.runner", "test.arg", "[a, x=1]", "timeout=60"]);
    assert_eq!(given.at("kwargs").and_then(|kwargs| kwargs.at("x")), Some(&1.into()), "{given}");
    assert_eq!(asked("db1", &["publish.runner", "manage.up"]).to_json(), "{}");
    assert_eq!(asked("web1", &["publish.runner", "jobs.list_jobs"]).to_json(), "{}");
}

#[test]
fn salt_call_asks_through_the_daemon_and_without_it() {
    let mut fleet = fleet();
    let call = |fleet: &Fleet, id: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
        command.arg("salt-call").arg("-c").arg(fleet.path(id).join("conf")).stdin(Stdio::null());
        command.args(["--out=json", "publish.publish", "db1", "test.ping", "timeout=20"]);
        let ran = Ran::from(command.output().unwrap());
        parse_json(&ran.out).unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err))
    };
    assert_eq!(call(&fleet, "web1").to_json(), r#"{"local": {"db1": true}}"#);
    fleet.stop("web1");
    assert_eq!(call(&fleet, "web1").to_json(), r#"{"local": {"db1": true}}"#);
}
