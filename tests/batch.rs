//! Batches: the master runs them, whatever becomes of the client.

use crate::fleet::{Fleet, Ran, wait_for};
use halite_value::{Value, parse_json};
use std::fs;
use std::process::Stdio;

#[test]
fn a_batch_runs_on_so_many_at_a_time_under_one_jid() {
    let fleet = Fleet::start(&["a", "b", "c"]);
    let log = fleet.path("log-of-batch");
    let command = format!("echo start >> {0}; sleep 0.3; echo end >> {0}", log.display());
    let ran = fleet.salt(&["-b", "1", "*", "cmd.run", &command]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for id in ["a", "b", "c"] {
        assert!(ran.out.contains(&format!("\nExecuting run on ['{id}']\n\n")), "{}", ran.out);
    }
    assert_eq!(fs::read_to_string(&log).unwrap(), "start\nend\n".repeat(3), "never two at a time");
    assert_eq!(jids(&ran).len(), 1, "{}", ran.out);
    assert_eq!(fleet.archive().returns(&jids(&ran)[0]).unwrap().len(), 3);
    let ran = fleet.salt(&["-b", "67%", "*", "test.ping", "--out=json"]);
    assert!(ran.out.contains("Executing run on ['a', 'b']\n"), "{}", ran.out);
    let ran = fleet.salt(&["-b", "1", "*", "test.ping", "--static", "--out=json"]);
    assert_eq!(parse_json(&ran.out).unwrap().as_map().unwrap().len(), 3, "{}", ran.out);
    let ran = fleet.salt(&["--batch-safe-limit", "3", "--batch-safe-size", "2", "*", "test.ping"]);
    assert!(ran.out.starts_with("\nNOTICE: Too many minions targeted, switching to batch execution.\n"), "{}", ran.out);
    assert!(ran.out.contains("Executing run on ['a', 'b']\n"), "{}", ran.out);
    assert!(!fleet.salt(&["--batch-safe-limit", "4", "*", "test.ping"]).out.contains("NOTICE"));
    let ran = fleet.salt(&["-b", "1", "z*", "test.ping"]);
    assert_eq!((ran.code, ran.out.lines().count()), (2, 2), "{}", ran.out);
}

/// The jids in a batch's answers.
fn jids(ran: &Ran) -> Vec<String> {
    let lines = ran.out.lines().map(str::trim).filter(|line| line.len() == 20 && line.starts_with("20"));
    let mut jids: Vec<String> = lines.map(str::to_owned).collect();
    jids.sort();
    jids.dedup();
    jids
}

#[test]
fn a_pause_stands_between_two_targets() {
    let fleet = Fleet::start(&["a", "b"]);
    let start = std::time::Instant::now();
    assert_eq!(fleet.salt(&["-b", "1", "--batch-wait", "1", "*", "test.ping"]).code, 0);
    assert!(start.elapsed().as_millis() >= 1000);
}

#[test]
fn a_failure_ends_a_batch_only_with_failhard() {
    let fleet = Fleet::start(&["a", "b", "c"]);
    let ran = fleet.salt(&["-b", "1", "*", "cmd.run", "exit 3"]);
    assert_eq!((ran.code, ran.out.matches("Executing").count()), (3, 3), "{}", ran.out);
    let ran = fleet.salt(&["-b", "1", "--failhard", "*", "cmd.run", "exit 3"]);
    assert_eq!((ran.code, ran.out.matches("Executing").count()), (3, 1), "{}", ran.out);
    assert!(ran.err.contains("Not started: b, c"), "{}", ran.err);
    let looked = fleet.run("salt-run", &["jobs.lookup_jid", &jids(&ran)[0], "--out=json"]);
    let states = parse_json(&looked.out).unwrap();
    let cancelled = Value::from("Minion did not return. [cancelled]");
    assert_eq!((states.at("b"), states.at("c")), (Some(&cancelled), Some(&cancelled)), "{}", looked.out);
}

#[test]
fn who_is_away_is_named_and_the_others_run() {
    let mut fleet = Fleet::start(&["a", "b"]);
    fleet.kill("b");
    fleet.wait_gone("b");
    let ran = fleet.salt(&["-b", "1", "*", "test.ping"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.starts_with("Minion b did not respond. No job will be sent.\n"), "{}", ran.out);
    assert!(ran.out.contains("a:\n    True\n"), "{}", ran.out);
}

#[test]
fn a_batch_goes_on_without_its_client_and_after_a_restart_of_the_master() {
    let mut fleet = Fleet::start(&["a", "b", "c"]);
    let log = fleet.path("log-of-batch");
    let command = fleet.behind_gate(&format!("echo x >> {}", log.display()));
    let mut client = fleet.command("salt");
    client.args(["-b", "1", "*", "cmd.run", &command]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut client = client.spawn().unwrap();
    let batch = wait_for("the batch to start", || active(&fleet).pop());
    let jid = batch.at("jid").unwrap().to_text();
    wait_for("the first to work", || fleet.path(format!("a/cache/proc/{jid}")).exists().then_some(()));
    client.kill().unwrap();
    client.wait().unwrap();
    fleet.kill("master");
    fleet.open_gate();
    fleet.start_master();
    for id in ["a", "b", "c"] {
        fleet.wait_return(&jid, id);
    }
    assert_eq!(fs::read_to_string(&log).unwrap(), "x\n".repeat(3), "each ran once");
    let status = status(&fleet, &jid);
    assert_eq!((status.at("completed"), status.at("pending")), (Some(&3.into()), Some(&0.into())), "{status}");
}

#[test]
fn a_batch_is_watched_and_stopped_by_its_runner() {
    let fleet = Fleet::start(&["a", "b", "c"]);
    let ran = fleet.salt(&["--async", "-b", "1", "*", "cmd.run", "sleep 300"]);
    assert!(ran.out.starts_with("Executed batch command with job ID: "), "{}", ran.out);
    let jid = ran.out.trim().rsplit(' ').next().unwrap();
    wait_for("the first to work", || fleet.path(format!("a/cache/proc/{jid}")).exists().then_some(()));
    let shown = active(&fleet);
    assert_eq!((shown.len(), shown[0].at("active"), shown[0].at("pending")), (1, Some(&1.into()), Some(&2.into())));
    let stopped = fleet.run("salt-run", &["batch.stop", jid, "kill=True", "--out=json"]);
    assert_eq!((stopped.code, stopped.out.trim()), (0, "true"), "{}", stopped.err);
    fleet.wait_return(jid, "a");
    let status =
        wait_for("the batch to end", || Some(status(&fleet, jid)).filter(|s| s.at("active") == Some(&0.into())));
    assert_eq!((status.at("halted"), status.at("halted_reason")), (Some(&true.into()), Some(&"stop".into())));
    let again = fleet.run("salt-run", &["batch.stop", jid, "--out=json"]);
    assert_eq!(again.out.trim(), "false");
    assert!(active(&fleet).is_empty());
}

fn active(fleet: &Fleet) -> Vec<Value> {
    let ran = fleet.run("salt-run", &["batch.list_active", "--out=json"]);
    parse_json(&ran.out).unwrap().as_list().unwrap().to_vec()
}

fn status(fleet: &Fleet, jid: &str) -> Value {
    parse_json(&fleet.run("salt-run", &["batch.status", jid, "--out=json"]).out).unwrap()
}
