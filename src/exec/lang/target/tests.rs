//! Tables of targets in `tests/data/targets.json`, and what must hold for all of them.

use super::*;
use halite_value::parse_json;

fn table() -> Value {
    parse_json(include_str!("../../../../tests/data/targets.json")).unwrap()
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case.at(key).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn each_target_means_its_minions() {
    let table = table();
    let nodegroups = table.at("nodegroups").and_then(Value::as_map);
    let minions = table.at("minions").and_then(Value::as_map).unwrap();
    let cases = table.at("targets").and_then(Value::as_list).unwrap();
    assert!(cases.len() > 50);
    for case in cases {
        let delimiter = case.at("delimiter").and_then(Value::as_str).unwrap_or(DELIMITER);
        let tgt = case.at("tgt").unwrap();
        let target = Target::parse_with(text(case, "kind"), tgt, nodegroups, delimiter);
        let target = target.unwrap_or_else(|error| panic!("{error}"));
        let found: Vec<&str> = minions
            .iter()
            .filter(|(id, data)| {
                target.matches(&Minion {
                    id: id.as_str().unwrap(),
                    grains: data.at("grains").and_then(Value::as_map).unwrap(),
                    pillar: data.at("pillar").and_then(Value::as_map).unwrap(),
                })
            })
            .filter_map(|(id, _)| id.as_str())
            .collect();
        assert_eq!(found.join(" "), text(case, "minions"), "{} {tgt}", text(case, "kind"));
    }
}

#[test]
fn each_error_names_its_place() {
    let table = table();
    let nodegroups = table.at("nodegroups").and_then(Value::as_map);
    for case in table.at("errors").and_then(Value::as_list).unwrap() {
        let tgt = case.at("tgt").unwrap();
        let error = Target::parse(text(case, "kind"), tgt, nodegroups).unwrap_err();
        assert!(error.message.contains(text(case, "message")), "{tgt}: {error}");
        assert_eq!(Some(error.position as i64), case.at("position").and_then(Value::as_int), "{tgt}: {error}");
    }
}

#[test]
fn what_must_be_known_is_the_most_that_a_part_needs() {
    let needs = |kind: &str, tgt: &str| Target::parse(kind, &tgt.into(), None).unwrap().needs();
    assert_eq!(needs("compound", "web* and not L@a,b"), Needs::Ids);
    assert_eq!(needs("compound", "web* or G@os:Debian"), Needs::Grains);
    assert_eq!(needs("compound", "not ( G@os:Debian and I@a:b )"), Needs::Pillar);
    assert_eq!(needs("ipcidr", "10.0.0.0/8"), Needs::Grains);
    assert_eq!(needs("glob", "*"), Needs::Ids);
}

#[test]
fn only_a_list_names_ids() {
    let named = |kind: &str, tgt: &str| {
        let target = Target::parse(kind, &tgt.into(), None).unwrap();
        target.named().map(|ids| ids.iter().cloned().collect::<Vec<String>>().join(" "))
    };
    assert_eq!(named("list", "a, b,,c,a").as_deref(), Some("a b c"));
    assert_eq!(named("glob", "a"), None);
}

/// No text makes the parser panic or recurse without end, and what it accepts has Python's truth: `not` before `and`
/// before `or`.
#[test]
fn expressions_have_the_truth_of_boolean_algebra() {
    let mut state = 7_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let nothing = Map::new();
    for _ in 0..2000 {
        let (expression, expected) = random_expression(&mut next, 4);
        let target = Target::parse("compound", &expression.as_str().into(), None).unwrap();
        let minion = Minion { id: "yes", grains: &nothing, pillar: &nothing };
        assert_eq!(target.matches(&minion), expected, "{expression}");
    }
    let words = ["and", "or", "not", "(", ")", "web*", "G@", "G@a:b", "N@x", "E@[", "@", "S@1"];
    for _ in 0..2000 {
        let text: Vec<&str> = (0..next(9)).map(|_| words[next(words.len() as u64) as usize]).collect();
        let _ = Target::parse("compound", &text.join(" ").into(), None);
    }
    let deep = "( ".repeat(100_000);
    assert!(Target::parse("compound", &deep.into(), None).is_err());
}

fn random_expression(next: &mut impl FnMut(u64) -> u64, depth: usize) -> (String, bool) {
    if depth == 0 || next(3) == 0 {
        return if next(2) == 0 { ("yes".to_owned(), true) } else { ("no*".to_owned(), false) };
    }
    match next(3) {
        0 => {
            let (inner, truth) = random_expression(next, depth - 1);
            (format!("not ( {inner} )"), !truth)
        }
        1 => {
            let (a, a_truth) = random_expression(next, depth - 1);
            let (b, b_truth) = random_expression(next, depth - 1);
            (format!("( {a} ) and ( {b} )"), a_truth && b_truth)
        }
        _ => {
            // Without parentheses: `and` binds closer than `or`.
            let truths: Vec<bool> = (0..4).map(|_| next(2) == 0).collect();
            let name = |truth: bool| if truth { "yes" } else { "no" };
            let text = format!(
                "{} or {} and not {} or {}",
                name(truths[0]),
                name(truths[1]),
                name(truths[2]),
                name(truths[3])
            );
            (text, truths[0] || truths[1] && !truths[2] || truths[3])
        }
    }
}
