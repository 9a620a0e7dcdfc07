//! What Salt 3008.4 answered to calls of functions that do not look at the machine: `tests/data/modules/*.json`, written
//! by `tests/compare.py --record`.

use crate::testing::World;
use halite_core::module::call;
use halite_core::{Fault, NoMaster};
use halite_value::record::Arguments;
use halite_value::{Map, Value, parse_json};

/// The minion that `tests/compare.py` describes.
fn world() -> World {
    let grains = parse_json(
        r#"{"id": "web1", "roles": ["web", "db"], "site": {"dc": "eu1"}, "ipv4": ["127.0.0.1"], "ipv6": ["::1"]}"#,
    );
    let opts = Map::from_iter([("id", "web1"), ("file_client", "local")]);
    World { grains: grains.unwrap().as_map().unwrap().clone(), opts, ..World::new() }
}

fn assert_answers(recorded: &str) {
    let recorded = parse_json(recorded).unwrap();
    let mut wrong = Vec::new();
    for entry in recorded.as_list().unwrap() {
        let Some([fun, positional, keywords]) = entry.at("call").and_then(Value::as_list) else { panic!("{entry:?}") };
        let arguments = Arguments {
            positional: positional.as_list().unwrap().to_vec(),
            keywords: keywords.as_map().unwrap().clone(),
        };
        let answer = call(&world().ctx(&NoMaster), fun.as_str().unwrap(), arguments);
        if !agrees(entry, answer.as_ref().map(|returned| &returned.value)) {
            wrong.push(format!("{}\n    here: {answer:?}", entry.to_json()));
        }
    }
    assert!(wrong.is_empty(), "{} answers differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Where Salt fails we fail; the same sentence is demanded of the faults that Salt means for its users.
fn agrees(entry: &Value, answer: Result<&Value, &Fault>) -> bool {
    let message = entry.at("message").and_then(Value::as_str);
    match (entry.at("raises").and_then(Value::as_str), answer) {
        (None, Ok(value)) => entry.at("answer").is_some_and(|expected| *expected == as_recorded(value)),
        (Some("CommandExecutionError"), Err(fault)) => message == Some(&fault.to_string()),
        (Some(_), Err(_)) => true,
        _ => false,
    }
}

fn as_recorded(value: &Value) -> Value {
    match value {
        Value::Bytes(bytes) => Map::from_iter([("bytes", halite_lang::digest::hex(bytes))]).into(),
        other => other.clone(),
    }
}

#[test]
fn defaults_answers_as_salt() {
    assert_answers(include_str!("../../../tests/data/modules/defaults.json"));
}

#[test]
fn environ_answers_as_salt() {
    assert_answers(include_str!("../../../tests/data/modules/environ.json"));
}

#[test]
fn hashutil_answers_as_salt() {
    assert_answers(include_str!("../../../tests/data/modules/hashutil.json"));
}

#[test]
fn match_answers_as_salt() {
    assert_answers(include_str!("../../../tests/data/modules/match.json"));
}

#[test]
fn random_answers_as_salt() {
    assert_answers(include_str!("../../../tests/data/modules/random.json"));
}

#[test]
fn slsutil_answers_as_salt() {
    assert_answers(include_str!("../../../tests/data/modules/slsutil.json"));
}
