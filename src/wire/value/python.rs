//! How Python prints a value: Salt shows `str()` and `repr()` of its data in many places.

use super::Value;
use std::borrow::Cow;
use std::fmt::Write as _;

impl Value {
    /// Python's `str()`.
    pub fn to_text(&self) -> String {
        match self {
            Value::Str(text) => text.to_string(),
            other => other.repr(),
        }
    }

    /// The same as [`to_text`](Value::to_text), without a copy of what is text.
    pub fn as_text(&self) -> Cow<'_, str> {
        match self {
            Value::Str(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.to_text()),
        }
    }

    /// Python's `repr()`.
    pub fn repr(&self) -> String {
        let mut out = String::new();
        write_repr(self, &mut out);
        out
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_text())
    }
}

/// Python's `repr()` of a float: the shortest digits that read back the same, an exponent below 1e-4 and from 1e16.
pub fn float_repr(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if number == 0.0 {
        return if number.is_sign_negative() { "-0.0" } else { "0.0" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{number}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Python's `repr()` of text: single quotes unless only they occur in it.
pub fn str_repr(text: &str) -> String {
    let mut out = String::new();
    write_str_repr(text, &mut out);
    out
}

fn write_repr(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Int(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Big(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Float(number) => out.push_str(&float_repr(*number)),
        Value::Str(text) => write_str_repr(text, out),
        Value::Bytes(bytes) => write_bytes_repr(bytes, out),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_repr(item, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (at, (key, item)) in map.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_repr(key, out);
                out.push_str(": ");
                write_repr(item, out);
            }
            out.push('}');
        }
    }
}

fn write_str_repr(text: &str, out: &mut String) {
    let quote = quote_for(text.contains('\''), text.contains('"'));
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if printable(c) => out.push(c),
            c => {
                let code = c as u32;
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
}

fn write_bytes_repr(bytes: &[u8], out: &mut String) {
    let quote = quote_for(bytes.contains(&b'\''), bytes.contains(&b'"'));
    out.push('b');
    out.push(quote);
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            byte if byte == quote as u8 => {
                out.push('\\');
                out.push(quote);
            }
            0x20..=0x7e => out.push(byte as char),
            byte => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push(quote);
}

fn quote_for(single: bool, double: bool) -> char {
    if single && !double { '"' } else { '\'' }
}

/// Python prints letters, marks, numbers, punctuation, symbols and the plain space; controls, surrogates, separators
/// and unassigned code points are escaped. The ranges here are the escaped ones that occur.
fn printable(c: char) -> bool {
    let code = c as u32;
    !(c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(code, 0xad | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x180e | 0x200b..=0x200f | 0x202a..=0x202e
            | 0x2060..=0x206f | 0xe000..=0xf8ff | 0xfeff | 0xfff0..=0xfffb | 0xfffe | 0xffff | 0xe0000..=0x10ffff))
}

#[cfg(test)]
mod tests {
    use super::super::Map;
    use super::*;

    #[test]
    fn floats_print_as_python_prints_them() {
        for (number, text) in [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-0.0, "-0.0"),
            (123456789.125, "123456789.125"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(float_repr(number), text);
        }
    }

    #[test]
    fn text_prints_as_python_prints_it() {
        for (text, shown) in [
            ("a", "'a'"),
            ("it's", "\"it's\""),
            ("it's \"x\"", "'it\\'s \"x\"'"),
            ("a\n\t\\", "'a\\n\\t\\\\'"),
            ("é\u{7f}\u{a0}", "'é\\x7f\\xa0'"),
            ("\u{200b}", "'\\u200b'"),
        ] {
            assert_eq!(str_repr(text), shown);
        }
    }

    #[test]
    fn collections_print_as_python_prints_them() {
        let map = Map::from_iter([(Value::from(1), Value::list([Value::Null, Value::Bool(true)]))]);
        assert_eq!(Value::from(map).repr(), "{1: [None, True]}");
        assert_eq!(Value::Bytes(vec![0, b'a', b'\'']).repr(), "b\"\\x00a'\"");
        assert_eq!(Value::from("x").to_text(), "x");
    }
}
