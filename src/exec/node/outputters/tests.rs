//! Outputters against what Salt 3008.4 prints of the same values (`tests/data/outputters.json`).

use super::*;
use halite_value::parse_json;
use std::fs;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../..")).join("tests/data").join(name)
}

fn style(opts: &Map) -> Style<'_> {
    Style { colors: Colors::Off, indent: None, retcode: 0, opts }
}

fn shown(value: &Value, name: &str) -> Shown {
    show(value, name, &style(&Map::new()))
}

#[test]
fn the_table_is_sorted_and_documented() {
    assert!(OUTPUTTERS.is_sorted_by(|a, b| a.name < b.name));
    assert!(OUTPUTTERS.iter().all(|outputter| outputter.doc.ends_with('.')));
    assert_eq!(find("text").map(|outputter| outputter.name), Some("txt"));
}

#[test]
fn every_outputter_prints_what_salt_prints() {
    let cases = parse_json(&fs::read_to_string(data("outputters.json")).unwrap()).unwrap();
    for case in cases.as_list().unwrap() {
        let field = |name: &str| case.at(name).map(Value::to_text).unwrap_or_default();
        let opts = case.at("opts").and_then(Value::as_map).cloned().unwrap_or_default();
        let colors = if opts.contains("color") { Colors::On } else { Colors::Off };
        let indent = opts.at("output_indent").and_then(Value::as_int);
        let retcode = opts.at("_retcode").and_then(Value::as_int).map_or(0, |code| code as i32);
        let style = Style { colors, indent, retcode, opts: &opts };
        let shown = show(case.at("value").unwrap(), &field("out"), &style);
        let wanted: Vec<String> = case.at("text").unwrap().as_list().unwrap().iter().map(Value::to_text).collect();
        assert_eq!(shown.text, wanted.join("\n"), "{} {}", field("out"), field("name"));
    }
}

#[test]
fn pprint_breaks_where_python_breaks() {
    let cases = parse_json(&fs::read_to_string(data("pprint.json")).unwrap()).unwrap();
    for case in cases.as_list().unwrap() {
        assert_eq!(pprint::text(case.at("value").unwrap(), 1), case.at("text").unwrap().to_text());
    }
}

#[test]
fn what_has_no_outputter_is_shown_nested_with_a_complaint() {
    let value = Value::from(Map::from_iter([("web1", true)]));
    for name in ["quiet", "virt_query"] {
        let shown = shown(&value, name);
        assert_eq!(shown.text, "web1:\n    True");
        assert_eq!(shown.complaint, Some(format!("Invalid outputter {name} specified, fall back to nested")));
    }
    let misfit = shown(&value, "key");
    assert_eq!(misfit.text, "web1:\n    True");
    assert!(misfit.complaint.unwrap().contains("'web1' is no standing"));
}

#[test]
fn an_answer_cannot_command_the_terminal() {
    let value = Value::from(Map::from_iter([("web1\u{1b}[2J", "\u{1b}]0;title\u{7}")]));
    for outputter in OUTPUTTERS {
        // It hands on what a command printed, byte for byte.
        if outputter.name == "txt" {
            continue;
        }
        assert!(!shown(&value, outputter.name).text.contains('\u{1b}'), "{}", outputter.name);
    }
}

#[test]
fn lines_end_where_python_ends_them() {
    let ends: Vec<&str> = lines("a\r\nb\rc\n\nd\u{b}e\u{2028}f").collect();
    assert_eq!(ends, ["a", "b", "c", "", "d", "e", "f"]);
    assert_eq!(lines("").count(), 0);
    assert_eq!(lines("x\n").collect::<Vec<_>>(), ["x"]);
}
