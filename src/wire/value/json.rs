//! Values as JSON, in the forms that Python's `json.dumps` writes.

use super::{Map, Value, python::float_repr};
use std::fmt::Write as _;

/// The choices of `json.dumps` that Salt uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonStyle {
    /// Spaces a level; nothing: all on one line.
    pub indent: Option<usize>,
    pub sort_keys: bool,
    /// `\uXXXX` for everything beyond ASCII.
    pub ascii: bool,
    /// Without the space after `,` and `:`.
    pub tight: bool,
}

impl Value {
    /// JSON on one line, as `json.dumps` writes it without options (but not escaped to ASCII, as in Salt).
    pub fn to_json(&self) -> String {
        self.to_json_with(JsonStyle::default())
    }

    pub fn to_json_with(&self, style: JsonStyle) -> String {
        let mut out = String::new();
        write(self, &style, 0, &mut out);
        out
    }
}

/// Reads one JSON document. The error names line and column.
pub fn parse_json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn write(value: &Value, style: &JsonStyle, depth: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Big(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Float(number) => out.push_str(&json_float(*number)),
        Value::Str(text) => write_str(text, style, out),
        Value::Bytes(bytes) => write_str(&String::from_utf8_lossy(bytes), style, out),
        Value::List(items) => write_items(items, style, depth, out),
        Value::Map(map) => write_map(map, style, depth, out),
    }
}

fn write_items(items: &[Value], style: &JsonStyle, depth: usize, out: &mut String) {
    if items.is_empty() {
        return out.push_str("[]");
    }
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        separate(at, style, depth + 1, out);
        write(item, style, depth + 1, out);
    }
    close(style, depth, out);
    out.push(']');
}

fn write_map(map: &Map, style: &JsonStyle, depth: usize, out: &mut String) {
    if map.is_empty() {
        return out.push_str("{}");
    }
    let mut entries: Vec<(String, &Value)> = map.iter().map(|(key, value)| (key_text(key), value)).collect();
    if style.sort_keys {
        entries.sort_by(|a, b| a.0.cmp(&b.0));
    }
    out.push('{');
    for (at, (key, item)) in entries.into_iter().enumerate() {
        separate(at, style, depth + 1, out);
        write_str(&key, style, out);
        out.push_str(if style.tight { ":" } else { ": " });
        write(item, style, depth + 1, out);
    }
    close(style, depth, out);
    out.push('}');
}

/// `json.dumps` turns keys into text: `True` is `true`, `None` is `null`, numbers are their digits.
fn key_text(key: &Value) -> String {
    match key {
        Value::Str(text) => text.to_string(),
        Value::Null | Value::Bool(_) | Value::Float(_) => key.to_json(),
        other => other.to_text(),
    }
}

fn separate(at: usize, style: &JsonStyle, depth: usize, out: &mut String) {
    match style.indent {
        Some(width) => {
            if at > 0 {
                out.push(',');
            }
            new_line(width * depth, out);
        }
        None if at == 0 => {}
        None => out.push_str(if style.tight { "," } else { ", " }),
    }
}

fn close(style: &JsonStyle, depth: usize, out: &mut String) {
    if let Some(width) = style.indent {
        new_line(width * depth, out);
    }
}

fn new_line(mut blanks: usize, out: &mut String) {
    const BLANKS: &str = "                                ";
    out.push('\n');
    while blanks > 0 {
        let some = blanks.min(BLANKS.len());
        out.push_str(&BLANKS[..some]);
        blanks -= some;
    }
}

fn write_str(text: &str, style: &JsonStyle, out: &mut String) {
    out.push('"');
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\' || (style.ascii && !byte.is_ascii());
    let mut rest = text;
    // What needs no escape is copied in one piece.
    while let Some(at) = rest.bytes().position(is_special) {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = special.chars();
        chars.next().into_iter().for_each(|c| write_special(c, out));
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn write_special(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        c => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
}

fn json_float(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    float_repr(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_what_python_writes() {
        let value =
            parse_json(r#"{"b": [1, 2.5, null, true], "a": {}, "é": "x\n\u0001", "n": 99999999999999999999}"#).unwrap();
        assert_eq!(
            value.to_json(),
            "{\"b\": [1, 2.5, null, true], \"a\": {}, \"é\": \"x\\n\\u0001\", \"n\": 99999999999999999999}"
        );
        let style = JsonStyle { indent: Some(4), sort_keys: true, ascii: true, tight: false };
        assert_eq!(
            Value::from(Map::from_iter([("é", Value::list([1])), ("a", Value::list(Vec::<i64>::new()))]))
                .to_json_with(style),
            "{\n    \"a\": [],\n    \"\\u00e9\": [\n        1\n    ]\n}"
        );
    }

    #[test]
    fn bad_json_names_the_place() {
        let error = parse_json("{\"a\": 1,\n x}").unwrap_err();
        assert!(error.contains("line 2 column 2"), "{error}");
    }

    #[test]
    fn keys_become_text() {
        let map = Map::from_iter([
            (Value::Bool(true), Value::Int(1)),
            (Value::Null, Value::Int(2)),
            (Value::Int(3), Value::Int(4)),
        ]);
        assert_eq!(Value::from(map).to_json(), "{\"true\": 1, \"null\": 2, \"3\": 4}");
    }
}
