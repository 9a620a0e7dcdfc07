//! Runs of states over real processes: one at a time, paused, ended.

use crate::fleet::{Fleet, Ran, wait_for};
use halite_wire::message::LocalAsk;
use rustix::process::Signal;
use std::fs;

/// A fleet whose SLS files are these.
fn fleet(files: &[(&str, &str)]) -> Fleet {
    let mut fleet = Fleet::prepare(&["web1"], "", "");
    let root = fleet.path("srv");
    let path = fleet.path("conf/master");
    let text = fs::read_to_string(&path).unwrap();
    let at = root.display();
    fs::write(path, format!("{text}auto_accept: True\nfile_roots: {{base: [{at}]}}\npillar_roots: {{}}\n")).unwrap();
    fs::create_dir_all(&root).unwrap();
    for (name, text) in files {
        fs::write(root.join(name), text.replace("DIRECTORY", &at.to_string())).unwrap();
    }
    fleet.start_master();
    fleet.start_minion("web1");
    fleet.wait_connected(&["web1"]);
    fleet
}

/// Starts a run and waits until it is before its first state or in it; its jid.
fn begin(fleet: &Fleet, words: &[&str]) -> String {
    let ran = fleet.salt(&[&["--async", "web1"], words].concat());
    let jid = ran.out.trim().rsplit(' ').next().unwrap_or_default().to_owned();
    assert_eq!(jid.len(), 20, "{}{}", ran.out, ran.err);
    let _ = fleet.ask(&LocalAsk::States { jid: jid.clone() });
    jid
}

fn running(fleet: &Fleet) -> String {
    fleet.salt(&["web1", "state.running", "--out=json"]).out
}

fn wait_running(fleet: &Fleet, jid: &str) {
    wait_for("the run to begin", || running(fleet).contains(jid).then_some(()));
}

/// Waits for a file, which the test makes.
const SLOW: (&str, &str) =
    ("slow.sls", "wait:\n  cmd.run:\n    - name: until test -e DIRECTORY/go; do sleep 0.05; done\n");
const QUICK: (&str, &str) =
    ("quick.sls", "note:\n  cmd.run:\n    - name: echo {{ pillar.get('word', 'x') }} >> DIRECTORY/log\n");

#[test]
fn one_run_at_a_time_and_the_others_wait_in_the_order_of_asking() {
    let fleet = fleet(&[SLOW, QUICK]);
    let first = begin(&fleet, &["state.apply", "slow"]);
    wait_running(&fleet, &first);
    let refused = fleet.salt(&["web1", "state.apply", "quick"]);
    let told = "The function \"state.apply\" is running as PID ";
    assert!(refused.code != 0 && refused.out.contains(told) && refused.out.contains(&first), "{}", refused.out);
    let mut call = fleet.command("salt-call");
    let call = call.arg("-c").arg(fleet.path("web1/conf")).args(["state.apply", "quick"]);
    let refused = Ran::from(call.output().unwrap());
    assert!(refused.code != 0 && refused.out.contains(&first), "salt-call: {}{}", refused.out, refused.err);
    assert_eq!(fleet.salt(&["web1", "state.apply", "quick", "concurrent=True", "pillar={word: beside}"]).code, 0);
    let mut waiting = Vec::new();
    for word in ["one", "two", "three"] {
        let jid = begin(&fleet, &["state.apply", "quick", "queue=True", &format!("pillar={{word: {word}}}")]);
        wait_running(&fleet, &jid);
        waiting.push(jid);
    }
    let refused = fleet.salt(&["web1", "state.apply", "quick", "queue=4"]);
    assert!(refused.code != 0 && refused.out.contains("is running as PID"), "four are there: {}", refused.out);
    fs::write(fleet.path("srv/go"), "").unwrap();
    for jid in waiting.iter().chain([&first]) {
        fleet.wait_return(jid, "web1");
    }
    assert_eq!(fs::read_to_string(fleet.path("srv/log")).unwrap(), "beside\none\ntwo\nthree\n");
    assert_eq!(running(&fleet).trim(), "{\n    \"web1\": []\n}");
}

#[test]
fn a_run_that_was_killed_is_in_nobodys_way() {
    let mut fleet = fleet(&[SLOW, QUICK]);
    let jid = begin(&fleet, &["state.apply", "slow"]);
    wait_running(&fleet, &jid);
    for worker in fleet.workers("web1") {
        crate::fleet::signal(worker, Signal::KILL);
    }
    wait_for("the way to be free", || (fleet.salt(&["web1", "state.apply", "quick"]).code == 0).then_some(()));
    // A daemon that starts anew finds the run of the one before it.
    let jid = begin(&fleet, &["state.apply", "slow"]);
    wait_running(&fleet, &jid);
    fleet.kill("web1");
    fleet.wait_gone("web1");
    fleet.start_minion("web1");
    fleet.wait_connected(&["web1"]);
    let refused = fleet.salt(&["web1", "state.apply", "quick"]);
    assert!(refused.out.contains(&jid), "{}", refused.out);
    fs::write(fleet.path("srv/go"), "").unwrap();
    fleet.wait_return(&jid, "web1");
    assert_eq!(fleet.salt(&["web1", "state.apply", "quick"]).code, 0);
}

#[test]
fn a_run_waits_where_it_is_paused_and_ends_where_it_is_told_to() {
    let states = "wait:\n  cmd.run:\n    - name: until test -e DIRECTORY/go; do sleep 0.05; done\nfirst:\n  cmd.run:\n    \
                  - name: echo first >> DIRECTORY/log\nsecond:\n  cmd.run:\n    - name: echo second >> DIRECTORY/log\n";
    let fleet = fleet(&[("steps.sls", states)]);
    let log = || fs::read_to_string(fleet.path("srv/log")).unwrap_or_default();
    let jid = begin(&fleet, &["state.apply", "steps"]);
    wait_running(&fleet, &jid);
    assert_eq!(fleet.salt(&["web1", "state.pause", &jid, "second"]).code, 0);
    assert!(fleet.salt(&["web1", "state.get_pauses", "--out=json"]).out.contains("\"second\": {}"));
    fs::write(fleet.path("srv/go"), "").unwrap();
    wait_for("the first state", || (log() == "first\n").then_some(()));
    assert!(running(&fleet).contains(&jid), "it waits before the second");
    assert_eq!(fleet.salt(&["web1", "state.resume", &jid]).code, 0);
    let full = fleet.wait_return(&jid, "web1");
    assert_eq!((full.at("retcode").and_then(|code| code.as_int()), log().as_str()), (Some(0), "first\nsecond\n"));
    fs::remove_file(fleet.path("srv/go")).unwrap();
    let jid = begin(&fleet, &["state.apply", "steps"]);
    wait_running(&fleet, &jid);
    assert_eq!(fleet.salt(&["web1", "state.soft_kill", &jid, "second"]).code, 0);
    fs::write(fleet.path("srv/go"), "").unwrap();
    let full = fleet.wait_return(&jid, "web1");
    assert_eq!(full.at("return").and_then(|told| told.as_map()).map(|told| told.len()), Some(2));
    assert_eq!(log(), "first\nsecond\nfirst\n");
    assert_eq!(fleet.salt(&["web1", "state.get_pauses", "--out=json"]).out, "{\n    \"web1\": {}\n}\n");
}

#[test]
fn what_is_disabled_does_not_run_until_it_is_enabled() {
    let fleet = fleet(&[QUICK]);
    let ran = fleet.salt(&["web1", "state.disable", "quick", "--out=json"]);
    assert!(ran.out.contains("Info: quick state disabled."), "{}", ran.out);
    wait_for("the grain", || fleet.salt(&["web1", "state.list_disabled"]).out.contains("quick").then_some(()));
    let ran = fleet.salt(&["web1", "state.apply", "quick"]);
    assert!(
        ran.code != 0 && ran.out.contains("is currently disabled, to re-enable, run state.enable quick"),
        "{}",
        ran.out
    );
    assert_eq!(fleet.salt(&["web1", "state.enable", "quick"]).code, 0);
    wait_for("the grain", || (fleet.salt(&["web1", "state.apply", "quick"]).code == 0).then_some(()));
}

#[test]
fn each_state_fires_an_event_where_that_is_asked_for() {
    let sls =
        "told:\n  test.succeed_with_changes:\n    - fire_event: True\nown:\n  test.nop:\n    - fire_event: my/tag\n";
    let fleet = fleet(&[("events.sls", sls)]);
    let mut watch = fleet.command("salt-run");
    watch.args(["state.event", "salt/state_result/*", "count=2"]).stdout(std::process::Stdio::piped());
    let mut watch = watch.spawn().unwrap();
    // Until it has heard both: it may begin to listen after the first run.
    wait_for("both events", || {
        let jid = begin(&fleet, &["state.apply", "events"]);
        fleet.wait_return(&jid, "web1");
        watch.try_wait().unwrap()
    });
    let out = String::from_utf8(watch.wait_with_output().unwrap().stdout).unwrap();
    assert!(out.contains("/web1/told\t") && out.contains("/web1/my/tag\t"), "{out}");
}
