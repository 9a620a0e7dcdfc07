//! Data as TOML: of each table first the simple values, then the tables below it.

use halite_value::{Map, Value, float_repr};
use std::fmt::Write as _;

/// A document. None is left out, since TOML has no such value; what is no map at the top is refused.
pub fn dump(value: &Value) -> Result<String, String> {
    let Some(map) = value.as_map() else {
        return Err(format!("a TOML document is a map, not a {}", value.type_name()));
    };
    let mut out = String::new();
    table(map, "", &mut out);
    Ok(out)
}

/// `name` is the path of the table; empty at the top.
fn table(map: &Map, name: &str, out: &mut String) {
    let path = |key: &Value| {
        let key = quoted_key(&key.to_text());
        if name.is_empty() { key } else { format!("{name}.{key}") }
    };
    for (key, value) in map.iter().filter(|(_, value)| is_simple(value)) {
        let _ = writeln!(out, "{} = {}", quoted_key(&key.to_text()), inline(value));
    }
    for (key, value) in map.iter() {
        match value {
            Value::Map(inner) => {
                let path = path(key);
                // A table that holds only tables needs no head of its own.
                if inner.is_empty() || inner.values().any(is_simple) {
                    head(&format!("[{path}]"), out);
                }
                table(inner, &path, out);
            }
            Value::List(items) if is_tables(items) => {
                for inner in items.iter().filter_map(Value::as_map) {
                    head(&format!("[[{}]]", path(key)), out);
                    table(inner, &path(key), out);
                }
            }
            _ => {}
        }
    }
}

fn head(text: &str, out: &mut String) {
    let gap = if out.is_empty() { "" } else { "\n" };
    let _ = writeln!(out, "{gap}{text}");
}

fn is_tables(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(|item| matches!(item, Value::Map(_)))
}

fn is_simple(value: &Value) -> bool {
    match value {
        Value::Null | Value::Map(_) => false,
        Value::List(items) => !is_tables(items),
        _ => true,
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) if number.is_finite() => float_repr(*number),
        Value::Float(number) if number.is_nan() => "nan".to_owned(),
        Value::Float(number) => if *number > 0.0 { "inf" } else { "-inf" }.to_owned(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().filter(|item| !item.is_null()).map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entry = |(key, value): (&Value, &Value)| format!("{} = {}", quoted_key(&key.to_text()), inline(value));
            let entries: Vec<String> = map.iter().filter(|(_, value)| !value.is_null()).map(entry).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        other => quoted(&other.to_text()),
    }
}

fn quoted_key(key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-');
    if bare { key.to_owned() } else { quoted(key) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => drop(write!(out, "\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::super::load;
    use super::*;
    use crate::yaml;

    #[test]
    fn what_is_written_is_read_back() {
        let text = r#"{a: 1, n: null, t: {x y: true, deep: {e: [1, 2.5, [x], {k: 1}]}}, l: [{a: 1, in: {b: 2}}, {}],
                       only: {tables: {z: "é\n\"q\"\x01"}}, empty: {}, none: [], big: 1e20}"#;
        let value = yaml::load(text).unwrap();
        let mut wanted = value.as_map().unwrap().clone();
        wanted.remove("n");
        let toml = dump(&value).unwrap();
        let Value::Map(mut read) = load(&toml).unwrap() else { panic!("{toml}") };
        wanted.sort_keys();
        read.sort_keys();
        assert_eq!(read, wanted, "{toml}");
        assert!(toml.starts_with("a = 1\nnone = []\n"), "{toml}");
        assert!(toml.contains("\n[t]\n\"x y\" = true\n\n[t.deep]\n"), "{toml}");
        assert!(dump(&Value::Int(1)).is_err());
    }
}
