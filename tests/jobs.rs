//! Jobs over real processes: from the command to every target's end.

use crate::fleet::{Fleet, signal, wait_for};
use halite_value::Value;
use halite_wire::message::LocalAsk;
use rustix::process::Signal;
use std::fs;

#[test]
fn a_command_runs_on_every_target_and_on_nobody_else() {
    let fleet = Fleet::start(&["web1", "web2", "db1"]);
    let ran = fleet.salt(&["web*", "cmd.run", "echo hello $((40 + 2))", "--out=txt"]);
    let mut lines: Vec<&str> = ran.out.lines().collect();
    lines.sort();
    assert_eq!((ran.code, lines), (0, vec!["web1: hello 42", "web2: hello 42"]), "{}", ran.err);
    let ran = fleet.salt(&["-L", "web1,db1", "test.ping", "--static", "--out=json"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "{\n    \"db1\": true,\n    \"web1\": true\n}\n"));
    let ran = fleet.salt(&["nobody", "test.ping"]);
    assert_eq!(
        (ran.code, ran.out.lines().next()),
        (2, Some("No minions matched the target. No command was sent, no jid was assigned."))
    );
}

#[test]
fn a_target_that_is_not_connected_is_named_at_once() {
    let mut fleet = Fleet::start(&["web1", "web2"]);
    fleet.kill("web2");
    fleet.wait_gone("web2");
    let start = std::time::Instant::now();
    let ran = fleet.salt(&["*", "test.ping", "--out=txt"]);
    assert!(start.elapsed().as_secs() < 3, "it was waited for");
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("web1: True") && ran.out.contains("web2: Minion did not return. [Not connected]"),
        "{}",
        ran.out
    );
}

#[test]
fn a_suspended_minion_is_shown_as_away() {
    let fleet = Fleet::start(&["web1"]);
    signal(fleet.pid("web1"), Signal::STOP);
    // A job makes the master look: answered and not stood again is away.
    let _ = fleet.salt(&["web1", "test.ping", "-t", "1"]);
    fleet.wait_gone("web1");
    signal(fleet.pid("web1"), Signal::CONT);
    fleet.wait_connected(&["web1"]);
}

#[test]
fn a_running_job_is_seen_and_killed_and_ends_as_killed() {
    let fleet = Fleet::start(&["web1"]);
    let jid = start_job(&fleet, "web1", &["cmd.run", "sleep 300"]);
    wait_for("the job to run", || {
        fleet.salt(&["web1", "saltutil.running", "--out=json"]).out.contains(&jid).then_some(())
    });
    let ran = fleet.salt(&["web1", "saltutil.kill_job", &jid]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let full = fleet.wait_return(&jid, "web1");
    assert_eq!(full.at("success"), Some(&Value::Bool(false)));
    wait_for("the state", || {
        fleet.archive().ends(&jid).unwrap().contains(&("web1".into(), "killed".into())).then_some(())
    });
    assert_eq!(fleet.salt(&["web1", "test.ping"]).code, 0, "the minion lives");
}

#[test]
fn a_return_that_the_master_could_not_take_comes_when_it_is_back() {
    let mut fleet = Fleet::start(&["web1"]);
    // The minion has its pillar by then: what is taken before waits for it.
    assert_eq!(fleet.salt(&["web1", "cmd.run", "echo here"]).code, 0);
    let ran = fleet.path("ran");
    let command = fleet.behind_gate(&format!("echo x >> {}", ran.display()));
    let jid = start_job(&fleet, "web1", &["cmd.run", &command]);
    wait_for("the job to be taken", || fleet.path(format!("web1/cache/proc/{jid}")).exists().then_some(()));
    fleet.kill("master");
    fleet.open_gate();
    wait_for("the job to end", || fs::read_to_string(&ran).ok().filter(|text| !text.is_empty()));
    fleet.start_master();
    fleet.wait_return(&jid, "web1");
    assert_eq!(fs::read_to_string(&ran).unwrap(), "x\n", "it ran once");
}

#[test]
fn a_deleted_key_ends_the_session_at_once_and_the_others_notice_nothing() {
    let fleet = Fleet::start(&["web1", "web2"]);
    let ran = fleet.run("salt-key", &["-y", "-d", "web2"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(fleet.connected(), ["web1"], "its session ended before salt-key did");
    assert_eq!(fleet.salt(&["web1", "test.ping"]).code, 0);
}

#[test]
fn a_minion_whose_key_was_put_there_by_hand_is_missed_at_once() {
    let fleet = with_accepted(&["web1"]);
    let keys = fleet.path("pki/master/minions");
    fs::copy(keys.join("web1"), keys.join("ghost1")).unwrap();
    let ran = fleet.salt(&["--static", "--out=json", "*", "test.ping"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.contains(r#""web1": true"#) && format!("{}{}", ran.out, ran.err).contains("ghost1"), "{ran:?}");
}

#[test]
fn a_minion_listens_on_no_port() {
    let fleet = Fleet::start(&["web1"]);
    let pid = fleet.pid("web1");
    let own: Vec<String> = fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok()?.to_str().map(str::to_owned))
        .collect();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let listening = fields[3] == "0A" || table.starts_with("udp");
            let socket = format!("socket:[{}]", fields[9]);
            assert!(!(listening && own.contains(&socket)), "it listens: {line}");
        }
    }
}

/// A fleet whose keys an admin has accepted.
fn with_accepted(minions: &[&str]) -> Fleet {
    let mut fleet = Fleet::prepare(minions, "", "");
    fleet.start_master();
    for id in minions {
        fleet.start_minion(id);
        wait_for("a key", || is_unaccepted(&fleet, id).then_some(()));
    }
    assert_eq!(fleet.run("salt-key", &["-y", "-A"]).code, 0);
    fleet.wait_connected(minions);
    fleet
}

fn is_unaccepted(fleet: &Fleet, id: &str) -> bool {
    fleet.run("salt-key", &["-l", "un"]).out.contains(id)
}

/// Starts a job and does not wait for it; its jid.
fn start_job(fleet: &Fleet, target: &str, words: &[&str]) -> String {
    let ran = fleet.salt(&[&["--async", target], words].concat());
    let jid = ran.out.trim().rsplit(' ').next().unwrap_or_default().to_owned();
    assert_eq!(jid.len(), 20, "{}{}", ran.out, ran.err);
    let _ = fleet.ask(&LocalAsk::States { jid: jid.clone() });
    jid
}

#[test]
fn a_return_longer_than_a_message_arrives_whole() {
    let fleet = Fleet::start(&["web1"]);
    let ran = fleet.salt(&["web1", "cmd.run", "head -c 3000000 /dev/zero | tr '\\0' x", "--out=txt"]);
    assert_eq!((ran.code, ran.out.len()), (0, "web1: ".len() + 3_000_000 + 1), "{}", ran.err);
}

#[test]
fn many_jobs_run_at_once_on_one_minion() {
    let fleet = Fleet::start(&["web1"]);
    let command = fleet.behind_gate("echo done");
    let jids: Vec<String> = (0..60).map(|_| start_job(&fleet, "web1", &["cmd.run", &command])).collect();
    wait_for("all to work", || (fleet.workers("web1").len() >= jids.len()).then_some(()));
    let threads = std::fs::read_dir(format!("/proc/{}/task", fleet.pid("web1"))).unwrap().count();
    assert!(threads < 40, "a thread a job: {threads}");
    fleet.open_gate();
    for jid in jids {
        assert_eq!(fleet.wait_return(&jid, "web1").at("return"), Some(&Value::from("done")));
    }
}
