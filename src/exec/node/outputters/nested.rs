//! `nested`: a name, and below it, four columns further in, what belongs to it.

use super::color::Color;
use super::{Style, Unfit, harmless, lines, sorted};
use halite_value::{Map, Value};

pub fn show(value: &Value, style: &Style) -> Result<String, Unfit> {
    Ok(text(value, style))
}

/// As [`show`]: every value has this form.
pub fn text(value: &Value, style: &Style) -> String {
    let indent = style.opts.at("nested_indent").and_then(Value::as_int).unwrap_or(0);
    indented(value, style, usize::try_from(indent).unwrap_or(0))
}

/// The text that begins in a later column.
pub fn indented(value: &Value, style: &Style, indent: usize) -> String {
    let mut nested = Nested { style, out: Vec::new() };
    nested.add(value, indent, "");
    nested.out.join("\n")
}

struct Nested<'a> {
    style: &'a Style<'a>,
    out: Vec<String>,
}

impl Nested<'_> {
    fn add(&mut self, value: &Value, indent: usize, prefix: &str) {
        match value {
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) => {
                self.line(indent, Color::LightYellow, prefix, &value.repr(), "");
            }
            Value::Str(text) => self.text(text, indent, prefix),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => self.text(text, indent, prefix),
                Err(_) => self.text(&value.repr(), indent, prefix),
            },
            Value::List(items) => self.list(items, indent),
            Value::Map(map) => self.map(map, indent, prefix),
        }
    }

    fn text(&mut self, text: &str, indent: usize, prefix: &str) {
        let below = " ".repeat(prefix.len());
        for (at, line) in lines(text).enumerate() {
            let prefix = if at == 0 { prefix } else { &below };
            self.line(indent, Color::Green, prefix, &harmless(line), "");
        }
    }

    fn list(&mut self, items: &[Value], indent: usize) {
        for item in items {
            match item {
                Value::List(_) => {
                    self.line(indent, self.unless_failed(Color::Green), "", "|_", "");
                    self.add(item, indent + 2, "- ");
                }
                Value::Map(_) => {
                    self.line(indent, self.unless_failed(Color::Green), "", "|_", "");
                    self.add(item, indent + 2, "");
                }
                _ => self.add(item, indent, "- "),
            }
        }
    }

    fn map(&mut self, map: &Map, indent: usize, prefix: &str) {
        let color = self.unless_failed(Color::Cyan);
        if indent > 0 {
            self.line(indent, color, "", "----------", "");
        }
        for (key, value) in sorted(map) {
            self.line(indent, color, prefix, &harmless(&key.to_text()), ":");
            self.add(value, indent + 4, "");
        }
    }

    fn unless_failed(&self, color: Color) -> Color {
        if self.style.retcode == 0 { color } else { Color::Red }
    }

    fn line(&mut self, indent: usize, color: Color, prefix: &str, text: &str, suffix: &str) {
        let (start, end) = (self.style.colors.start(color), self.style.colors.end());
        self.out.push(format!("{:indent$}{start}{prefix}{text}{end}{suffix}", ""));
    }
}
