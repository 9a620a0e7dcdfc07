//! `pprint`: Python's `pprint.pformat`, with the same breaks at the same columns.

use super::{Style, Unfit, lines_with_ends, sorted};
use halite_value::{Value, str_repr};

const WIDTH: usize = 80;

pub fn show(value: &Value, style: &Style) -> Result<String, Unfit> {
    let indent = style.indent.and_then(|indent| usize::try_from(indent).ok()).unwrap_or(1);
    Ok(text(value, indent))
}

/// The value with this many spaces a level.
pub fn text(value: &Value, indent: usize) -> String {
    let mut printer = Printer { per_level: indent, out: String::new() };
    printer.format(value, 0, 0, Level::Top);
    printer.out
}

/// Text that stands alone is put in parentheses when it takes several lines.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Top,
    Inner,
}

struct Printer {
    per_level: usize,
    out: String,
}

impl Printer {
    /// `indent` is the column, `allowance` the closing brackets that must still fit on the last line.
    fn format(&mut self, value: &Value, indent: usize, allowance: usize, level: Level) {
        let whole = repr_sorted(value);
        if whole.chars().count() + indent + allowance <= WIDTH {
            return self.out.push_str(&whole);
        }
        match value {
            Value::Map(map) if !map.is_empty() => {
                self.open('{');
                let entries = sorted(map);
                let below = indent + self.per_level;
                for (at, (key, item)) in entries.iter().enumerate() {
                    let last = at + 1 == entries.len();
                    let key = repr_sorted(key);
                    self.out.push_str(&key);
                    self.out.push_str(": ");
                    let column = below + key.chars().count() + 2;
                    self.format(item, column, if last { allowance + 1 } else { 1 }, Level::Inner);
                    self.between(last, below);
                }
                self.out.push('}');
            }
            Value::List(items) if !items.is_empty() => {
                self.open('[');
                let below = indent + self.per_level;
                for (at, item) in items.iter().enumerate() {
                    let last = at + 1 == items.len();
                    self.format(item, below, if last { allowance + 1 } else { 1 }, Level::Inner);
                    self.between(last, below);
                }
                self.out.push(']');
            }
            Value::Str(text) => self.text(text, indent, allowance, level),
            _ => self.out.push_str(&whole),
        }
    }

    fn open(&mut self, bracket: char) {
        self.out.push(bracket);
        self.out.extend(std::iter::repeat_n(' ', self.per_level.saturating_sub(1)));
    }

    fn between(&mut self, last: bool, indent: usize) {
        if !last {
            self.out.push_str(",\n");
            self.out.extend(std::iter::repeat_n(' ', indent));
        }
    }

    fn text(&mut self, text: &str, indent: usize, allowance: usize, level: Level) {
        let (indent, allowance) = match level {
            Level::Top => (indent + 1, allowance + 1),
            Level::Inner => (indent, allowance),
        };
        let chunks = chunks(text, WIDTH.saturating_sub(indent), allowance);
        if let [one] = &chunks[..] {
            return self.out.push_str(one);
        }
        let whole = chunks.join(&format!("\n{:indent$}", ""));
        match level {
            Level::Top => self.out.push_str(&format!("({whole})")),
            Level::Inner => self.out.push_str(&whole),
        }
    }
}

/// A text in pieces that fit the width: its lines, and lines that are too long at their spaces.
fn chunks(text: &str, width: usize, allowance: usize) -> Vec<String> {
    let mut chunks = Vec::new();
    let mut lines = lines_with_ends(text).peekable();
    while let Some(line) = lines.next() {
        let last_line = lines.peek().is_none();
        let room = if last_line { width.saturating_sub(allowance) } else { width };
        let whole = str_repr(line);
        if whole.chars().count() <= room {
            chunks.push(whole);
            continue;
        }
        let mut current = String::new();
        let mut words = words(line).peekable();
        while let Some(word) = words.next() {
            let room = if last_line && words.peek().is_none() { width.saturating_sub(allowance) } else { width };
            let candidate = format!("{current}{word}");
            if str_repr(&candidate).chars().count() > room {
                if !current.is_empty() {
                    chunks.push(str_repr(&current));
                }
                current = word.to_owned();
            } else {
                current = candidate;
            }
        }
        if !current.is_empty() {
            chunks.push(str_repr(&current));
        }
    }
    chunks
}

/// Words with the white space after them.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let space = rest[word..].find(|c: char| !c.is_whitespace()).unwrap_or(rest.len() - word);
        let (this, tail) = rest.split_at(word + space);
        rest = tail;
        Some(this)
    })
}

fn repr_sorted(value: &Value) -> String {
    match value {
        Value::Map(map) => {
            let entries: Vec<String> = sorted(map)
                .into_iter()
                .map(|(key, item)| format!("{}: {}", repr_sorted(key), repr_sorted(item)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(repr_sorted).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.repr(),
    }
}
