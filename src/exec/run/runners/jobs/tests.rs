use crate::runners::tests::Made;
use halite_core::Fault;
use halite_value::record::Arguments;
use halite_value::{Map, Value, parse_json};

const JID: &str = "20261129205033700833";

fn map(json: &str) -> Map {
    parse_json(json).unwrap().as_map().unwrap().clone()
}

fn made() -> Made {
    let load = |fun: &str, tgt: &str, more: &str| {
        map(&format!(
            r#"{{"fun": "{fun}", "arg": [], "tgt": "{tgt}", "tgt_type": "glob", "user": "root", "Minions": ["a", "b", "c", "d"]{more}}}"#
        ))
    };
    Made {
        jobs: vec![
            ("20261128205033700833".to_owned(), load("cmd.run", "db*", r#", "metadata": {"who": "me"}"#)),
            (JID.to_owned(), load("test.ping", "*", "")),
            ("20261130205033700833".to_owned(), load("saltutil.find_job", "*", "")),
        ],
        returns: vec![(
            "a".to_owned(),
            map(r#"{"return": true, "retcode": 0, "success": true, "jid": "x", "out": "txt"}"#),
        )],
        ends: vec![("b".to_owned(), "absent".to_owned())],
        states: map(r#"{"c": "taken", "a": "returned"}"#),
        ..Made::default()
    }
}

fn jids(fun: &str, arguments: Arguments) -> Vec<String> {
    let found = made().value(fun, arguments);
    found.as_map().unwrap().keys().map(|jid| jid.to_text()[6..8].to_owned()).collect()
}

#[test]
fn each_target_of_a_job_is_shown_with_its_state() {
    let shown = made().call("jobs.lookup_jid", Arguments::positional([JID])).unwrap();
    assert_eq!(shown.out, Some("txt"));
    let expected = r#"{"a": true, "b": "Minion did not return. [absent]", "c": "Minion did not return. [taken]", "d": "Minion did not return. [open]"}"#;
    assert_eq!(shown.value.to_json(), expected);
    let only = |name: &str| made().value("jobs.lookup_jid", Arguments::positional([JID]).with(name, false));
    assert_eq!(only("missing").to_json(), r#"{"a": true}"#);
    assert_eq!(only("returned").as_map().unwrap().len(), 3);
}

#[test]
fn a_job_that_is_not_kept_is_a_fault() {
    for fun in ["jobs.lookup_jid", "jobs.list_job", "jobs.print_job", "jobs.exit_success"] {
        let unknown = made().call(fun, Arguments::positional(["20200101000000000000"]));
        assert!(matches!(unknown, Err(Fault::Execution(_))), "{fun}");
        assert!(matches!(made().call(fun, Arguments::positional(["xyz"])), Err(Fault::Invocation(_))), "{fun}");
    }
}

#[test]
fn a_job_is_shown_whole() {
    let shown = made().value("jobs.list_job", Arguments::positional([JID]));
    let keys: Vec<String> = shown.as_map().unwrap().keys().map(Value::to_text).collect();
    let expected = ["jid", "Function", "Arguments", "Target", "Target-type", "User", "Minions", "StartTime", "Result"];
    assert_eq!(keys, expected);
    let result = shown.at("Result").and_then(|all| all.at("a")).unwrap();
    assert_eq!(result.to_json(), r#"{"return": true, "retcode": 0, "success": true, "out": "txt"}"#);
    assert_eq!(
        made().value("jobs.print_job", Arguments::positional([JID])).at(JID).unwrap().at("User"),
        Some(&"root".into())
    );
    let success = made().value("jobs.exit_success", Arguments::positional([JID]));
    assert_eq!(success.to_json(), r#"{"a": true, "b": false, "c": false, "d": false}"#);
}

#[test]
fn jobs_are_found_by_function_target_metadata_and_time() {
    let by = |name: &str, value: &str| jids("jobs.list_jobs", Arguments::default().with(name, value));
    assert_eq!(jids("jobs.list_jobs", Arguments::default()), ["28", "29", "30"]);
    assert_eq!(by("search_function", "test.*,cmd.*"), ["28", "29"]);
    assert_eq!(by("search_target", "d*"), ["28"]);
    assert_eq!(by("start_time", "2026-11-29"), ["29", "30"]);
    assert_eq!(by("end_time", "2026, Nov 29 20:50:33"), ["28"]);
    let metadata = |json: &str| jids("jobs.list_jobs", Arguments::default().with("search_metadata", map(json)));
    assert_eq!(metadata(r#"{"who": "me", "x": 1}"#), ["28"]);
    assert!(metadata(r#"{"who": "you"}"#).is_empty());
    let shown = made().call("jobs.list_jobs", Arguments::default().with("outputter", "yaml")).unwrap();
    assert_eq!(shown.out, Some("yaml"));
    assert!(made().call("jobs.list_jobs", Arguments::default().with("start_time", "soon")).is_err());
}

#[test]
fn the_latest_jobs_are_found() {
    let latest = |arguments: Arguments| {
        let shown = made().value("jobs.list_jobs_filter", arguments);
        let jids = shown.as_list().unwrap().iter().map(|job| job.at("JID").unwrap().to_text()[6..8].to_owned());
        jids.collect::<Vec<String>>()
    };
    assert_eq!(latest(Arguments::positional([1])), ["29"]);
    assert_eq!(latest(Arguments::positional([2]).with("filter_find_job", false)), ["29", "30"]);
    assert!(made().call("jobs.list_jobs_filter", Arguments::positional([-1])).is_err());
    assert_eq!(jids("jobs.last_run", Arguments::default().with("function", "cmd.run")), ["28"]);
    assert_eq!(made().value("jobs.last_run", Arguments::default().with("target", "nobody")), false.into());
}

#[test]
fn running_jobs_are_shown_by_jid() {
    let job = parse_json(&format!(r#"[{{"jid": "{JID}", "fun": "test.sleep", "arg": [9], "tgt": "*", "tgt_type": "glob", "user": "root", "pid": 7}}]"#)).unwrap();
    let made = Made {
        returns: vec![("z".to_owned(), Map::new())],
        ..Made::answering(&[("a", job.clone()), ("b", job), ("broken", "ERROR".into())], &[])
    };
    let shown = made.value("jobs.active", Arguments::default());
    let job = shown.at(JID).unwrap();
    assert_eq!(job.at("Running").unwrap().to_json(), r#"[{"a": 7}, {"b": 7}]"#);
    assert_eq!(job.at("Returned").unwrap().to_json(), r#"["z"]"#);
    assert_eq!(job.at("Function"), Some(&"test.sleep".into()));
}
