//! Salt's own answers (tests/data/yaml.json), and what Salt leaves open: limits, warnings, places.

use super::*;
use halite_value::{Map, parse_json};

const CASES: &str = include_str!("../../../../tests/data/yaml.json");

#[test]
fn a_text_may_begin_with_any_character_that_is_no_byte_order_mark() {
    for text in ["\u{f0a8}: 1", "\u{feff}\u{f0a8}: 1", "\u{f0a8}: !!int '1'"] {
        let expected = Value::from(Map::from_iter([("\u{f0a8}", 1)]));
        assert_eq!(super::load(text), Ok(expected.clone()), "{text:?}");
        assert_eq!(super::load_document(text).map(|document| document.value), Ok(expected), "{text:?}");
    }
}

#[test]
fn documents_are_read_and_written_as_salt_does() {
    let cases = parse_json(CASES).unwrap();
    let mut wrong = Vec::new();
    for case in cases.as_list().unwrap() {
        let text = case.at("doc").unwrap().as_str().unwrap();
        let (found, wanted) = match (load(text), case.at("value")) {
            (Ok(value), Some(tagged)) => {
                let found = (value.repr(), dump(&value));
                (found, (untagged(tagged).repr(), case.at("dump").unwrap().to_text()))
            }
            (Ok(value), None) => ((value.repr(), String::new()), (case.at("error").unwrap().to_text(), String::new())),
            (Err(error), Some(tagged)) => ((error.to_string(), String::new()), (tagged.repr(), String::new())),
            (Err(error), None) => {
                ((error.to_string(), String::new()), (case.at("error").unwrap().to_text(), String::new()))
            }
        };
        if found != wanted {
            wrong.push(format!("{text:?}\n   found {found:?}\n  wanted {wanted:?}"));
        }
    }
    // A set has no kind of its own here: it is the list that Salt sends for it, and is written as one.
    let (set, wrong): (Vec<_>, Vec<_>) = wrong.into_iter().partition(|case| case.starts_with("\"a: !!set {x, y}"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(set.len() == 1 && set[0].contains(r#"found ("{'a': ['x', 'y']}", "a:\n- x\n- y\n")"#), "{set:?}");
}

/// The value of a tagged form such as `{"int": "644"}`.
fn untagged(tagged: &Value) -> Value {
    let (kind, content) = tagged.as_map().unwrap().first().unwrap();
    let text = content.to_text();
    match kind.as_str().unwrap() {
        "null" => Value::Null,
        "bool" => content.clone(),
        "int" => Value::from_big(text.parse().unwrap()),
        "float" => Value::Float(text.parse().unwrap()),
        "str" => Value::from(text),
        "set" => content.clone(),
        "list" | "tuple" => Value::List(content.as_list().unwrap().iter().map(untagged).collect()),
        "map" => {
            let pairs = content.as_list().unwrap().iter().map(|pair| {
                let pair = pair.as_list().unwrap();
                (untagged(&pair[0]), untagged(&pair[1]))
            });
            Value::Map(Map::from_iter(pairs))
        }
        other => panic!("the case file has an unknown kind {other}"),
    }
}

/// The error of a text, as one line.
fn refusal(text: &str) -> String {
    load(text).unwrap_err().to_string().replace("\n  in \"<unicode string>\",", " at").replace('\n', "; ")
}

#[test]
fn what_is_refused_is_refused_as_in_salt() {
    for (text, message) in [
        (
            "a: 1\n---\nb: 2\n",
            "expected a single document in the stream at line 1, column 1; but found another document at line 2, column 1",
        ),
        (
            "a: &x 1\nb: &x 2\n",
            "found duplicate anchor; first occurrence at line 1, column 4; second occurrence at line 2, column 4",
        ),
        (
            "? &a [*a]\n: 1\n",
            "while constructing a mapping at line 1, column 1; found unacceptable key [SequenceNode(tag='tag:yaml.org,2002:seq', value=[...])] at line 1, column 3",
        ),
        ("a: !!str {a: 1}\n", "expected a scalar node, but found mapping at line 1, column 4"),
        ("a: !!seq x\n", "expected a sequence node, but found scalar at line 1, column 4"),
        (
            "<<: 5\n",
            "while constructing a mapping at line 1, column 1; expected a mapping or list of mappings for merging, but found scalar at line 1, column 5",
        ),
        (
            "<<: [5]\n",
            "while constructing a mapping at line 1, column 1; expected a mapping for merging, but found scalar at line 1, column 6",
        ),
        (
            "a: !!omap [1]\n",
            "while constructing an ordered map at line 1, column 4; expected a mapping of length 1, but found scalar at line 1, column 12",
        ),
        (
            "x: &a {k: 1}\ny: &b {k: 2}\nz:\n  <<: [*a, *b]\n",
            "while constructing a mapping at line 4, column 3; found conflicting ID 'k' at line 1, column 8",
        ),
        (
            "a: {x: 1, x: 2}\na: 3\n",
            "while constructing a mapping at line 1, column 1; found conflicting ID 'a' at line 2, column 1",
        ),
        ("a: {x: 1, x: !y 2}\n", "could not determine a constructor for the tag '!y' at line 1, column 14"),
        ("a: &a [*a]\n", "found unconstructable recursive node at line 1, column 4"),
        ("é: \u{7}\n", "unacceptable character #x0007: control characters are not allowed at line 1, column 4"),
        (
            "a: 'x",
            "while scanning a quoted scalar at line 1, column 4; found unexpected end of stream at line 1, column 6",
        ),
        ("a: !!int abc", "invalid literal for int() with base 10: 'abc' at line 1, column 4"),
    ] {
        assert_eq!(refusal(text), message, "{text:?}");
    }
}

#[test]
fn a_text_need_not_end_with_a_line_end() {
    for (text, value) in [
        ("|\n  x", "x"),
        ("|+\n  x", "x"),
        ("|\n  x\n ", "x\n"),
        ("|\n  x\n   ", "x\n "),
        (">-\n  x\n  y", "x y"),
        ("|\n  x\u{2028}\n  y", "x\u{2028}\ny"),
        ("|2\n   x\u{2028} ", " x\u{2028}"),
        ("plain", "plain"),
        ("plain # comment", "plain"),
    ] {
        assert_eq!(load(text), Ok(Value::from(value)), "{text:?}");
    }
    assert!(load("\"a\\").is_err());
    assert_eq!(refusal("a:\n  [1, !x,2]"), "a tag must be followed by a space, not by a comma at line 2, column 7");
}

#[test]
fn a_few_lines_cannot_become_gigabytes_or_a_deep_stack() {
    let mut bomb = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    let mut merges = String::from("a0: &a0 {k: v}\n");
    let mut chain = String::from("a0: &a0 [x]\n");
    for level in 1..600 {
        let below = level - 1;
        bomb += &format!("a{level}: &a{level} [{}]\n", vec![format!("*a{below}"); 9].join(", "));
        merges += &format!("a{level}: &a{level}\n  l{level}: {{<<: [{}]}}\n", vec![format!("*a{below}"); 9].join(", "));
        chain += &format!("a{level}: &a{level} [*a{below}]\n");
    }
    assert!(refusal(&bomb).starts_with("aliases expand to more than 64 MiB"), "{}", refusal(&bomb));
    assert!(refusal(&chain).starts_with("nested more than 256 levels deep"), "{}", refusal(&chain));
    assert!(load(&merges).is_err());
    assert!(refusal(&"[".repeat(100_000)).starts_with("nested more than 256 levels deep"));
    assert!(refusal(&"- ".repeat(100_000)).starts_with("nested more than 256 levels deep"));
    assert!(load(&format!("{}{}", "[".repeat(DEPTH_LIMIT), "]".repeat(DEPTH_LIMIT))).is_ok());
}

#[test]
fn what_is_seldom_meant_is_told_with_its_line() {
    let document =
        load_document("mode: 0644\ntime: 12:30\nyes: 1\nplain: 644\nquoted: '0644'\nfalse: x\nzero: 0\n").unwrap();
    let shown: Vec<String> = document.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(shown.len(), 3, "{shown:?}");
    assert!(shown[0].starts_with("line 1, column 7: 0644 is read as the number 644"), "{shown:?}");
    assert!(shown[1].starts_with("line 2, column 7: 12:30 is read as a number in base sixty"), "{shown:?}");
    assert!(shown[2].starts_with("line 3, column 1: the key yes is read as True"), "{shown:?}");
}

#[test]
fn marks_have_the_shape_of_the_value() {
    let marks = load_document("a: 1\nb:\n  - x\n  - c: 2\n").unwrap().marks;
    let place = |at: Position| (at.line, at.column);
    assert_eq!(place(marks.key(1)), (2, 1));
    assert_eq!(place(marks.items[0].at), (1, 4));
    assert_eq!(place(marks.items[1].items[0].at), (3, 5));
    assert_eq!(place(marks.items[1].items[1].key(0)), (4, 5));
}

#[test]
fn an_error_names_its_file() {
    let error = load("a: b: c\n").unwrap_err().named("/srv/salt/top.sls");
    let shown = "mapping values are not allowed in this context\n  in \"/srv/salt/top.sls\", line 1, column 5";
    assert_eq!(error.to_string(), shown);
}

#[test]
fn styles_are_those_of_salt() {
    let value = load("a: [1, 2]\nb: {x: [y]}\nB: !!binary aGVsbG8=\n").unwrap();
    let style = |flow, keys| dump_with(&value, DumpStyle { flow, keys, ..DumpStyle::default() });
    assert_eq!(style(Flow::Flow, Keys::Sorted), "{B: !!binary \"aGVsbG8=\\n\", a: [1, 2], b: {x: [y]}}\n");
    assert_eq!(style(Flow::Leaves, Keys::AsTheyAre), "a: [1, 2]\nb:\n  x: [y]\nB: !!binary |\n  aGVsbG8=\n");
    let wide = dump_with(&value, DumpStyle { indent: 4, ..DumpStyle::default() });
    assert_eq!(wide, "B: !!binary |\n    aGVsbG8=\na:\n- 1\n- 2\nb:\n    x:\n    - y\n");
}

/// Broken documents: pieces of good ones put together at random, from a fixed seed.
#[test]
fn nothing_panics_and_what_is_written_reads_back() {
    let cases = parse_json(CASES).unwrap();
    let texts: Vec<String> = cases.as_list().unwrap().iter().map(|case| case.at("doc").unwrap().to_text()).collect();
    let mut seed = 7_u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below.max(1)
    };
    for _ in 0..3000 {
        let mut text = String::new();
        for _ in 0..1 + next(3) {
            let piece = &texts[next(texts.len())];
            let start = next(piece.chars().count());
            text.extend(piece.chars().skip(start).take(1 + next(20)));
        }
        if let Ok(value) = load(&text) {
            let written = dump(&value);
            assert_eq!(load(&written).map(|again| dump(&again)), Ok(written.clone()), "{text:?} {written:?}");
        }
    }
}
