//! Python's `str()` and `repr()` of a template's values.

use super::effort::{self, WALK_LIMIT};
use super::{Val, View};
use halite_value::{Value, float_repr, str_repr};
use std::fmt::Write as _;

/// Deeper than this, and inside itself, a collection prints as `[...]`; so does one behind as much text as one walk may
/// make.
const DEPTH_LIMIT: usize = 200;

/// How maps print their text values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Python,
    /// Text with line ends or tabs is double-quoted, so that YAML reads it back: what Salt does with what it prints.
    Yaml,
}

impl Val {
    pub fn repr(&self) -> String {
        self.written(Quotes::Python)
    }

    fn written(&self, quotes: Quotes) -> String {
        let mut out = String::new();
        Writer { open: Vec::new(), quotes, out: &mut out }.write(self);
        effort::add(out.len() / 16);
        out
    }

    /// Python's `str()`.
    pub fn text(&self) -> String {
        match self {
            Val::Str(text) | Val::Markup(text) => text.to_string(),
            Val::Undefined(_) => String::new(),
            Val::Object(object) => object.text(),
            other => other.repr(),
        }
    }

    /// What `{{ }}` prints in Salt.
    pub fn printed(&self) -> String {
        match self {
            Val::List(_) | Val::Tuple(_) | Val::Dict(_) | Val::Set(_) => self.written(Quotes::Yaml),
            other => other.text(),
        }
    }
}

struct Writer<'o> {
    /// The collections around.
    open: Vec<*const u8>,
    quotes: Quotes,
    out: &'o mut String,
}

impl Writer<'_> {
    fn write(&mut self, value: &Val) {
        match value {
            Val::Undefined(_) => self.out.push_str("Undefined"),
            Val::None => self.out.push_str("None"),
            Val::Bool(true) => self.out.push_str("True"),
            Val::Bool(false) => self.out.push_str("False"),
            Val::Int(number) => drop(write!(self.out, "{number}")),
            Val::Big(number) => drop(write!(self.out, "{number}")),
            Val::Float(number) => self.out.push_str(&float_repr(*number)),
            Val::Str(text) => self.out.push_str(&str_repr(text)),
            Val::Markup(text) => drop(write!(self.out, "Markup({})", str_repr(text))),
            Val::Bytes(bytes) => self.out.push_str(&Value::Bytes(bytes.to_vec()).repr()),
            Val::List(cell) => self.nested(std::rc::Rc::as_ptr(cell).cast(), "[...]", |writer| {
                writer.sequence('[', &cell.0.borrow(), ']');
            }),
            Val::Tuple(cell) => self.nested(std::rc::Rc::as_ptr(cell).cast(), "(...)", |writer| {
                let close = if cell.0.len() == 1 { ",)" } else { ")" };
                writer.out.push('(');
                writer.items(cell.0.iter());
                writer.out.push_str(close);
            }),
            Val::Dict(cell) => self.nested(std::rc::Rc::as_ptr(cell).cast(), "{...}", |writer| {
                writer.dict(&cell.0.borrow());
            }),
            Val::Set(cell) if cell.0.borrow().is_empty() => self.out.push_str("set()"),
            Val::Set(cell) => self.nested(std::rc::Rc::as_ptr(cell).cast(), "{...}", |writer| {
                writer.out.push('{');
                writer.items(cell.0.borrow().keys());
                writer.out.push('}');
            }),
            Val::View(view, cell) => self.nested(std::rc::Rc::as_ptr(cell).cast(), "...", |writer| {
                writer.out.push_str(value.type_name());
                writer.out.push_str("([");
                match view {
                    View::Keys => writer.items(cell.0.borrow().keys()),
                    View::Values => writer.items(cell.0.borrow().values()),
                    View::Items => writer.items(super::pairs(&cell.0.borrow()).iter()),
                }
                writer.out.push_str("])");
            }),
            Val::Range(range) => {
                let step = if range.step == 1 { String::new() } else { format!(", {}", range.step) };
                let _ = write!(self.out, "range({}, {}{step})", range.start, range.stop);
            }
            Val::Iter(iter) => drop(write!(self.out, "<generator object {}>", iter.name)),
            Val::Object(object) => self.out.push_str(&object.repr()),
        }
    }

    fn nested(&mut self, cell: *const u8, again: &str, write: impl FnOnce(&mut Self)) {
        if self.open.contains(&cell) || self.open.len() >= DEPTH_LIMIT || self.out.len() > WALK_LIMIT {
            return self.out.push_str(again);
        }
        self.open.push(cell);
        write(self);
        self.open.pop();
    }

    fn sequence(&mut self, open: char, items: &[Val], close: char) {
        self.out.push(open);
        self.items(items.iter());
        self.out.push(close);
    }

    fn items<'v>(&mut self, items: impl Iterator<Item = &'v Val>) {
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.write(item);
            if self.out.len() > WALK_LIMIT {
                return self.out.push_str(", ...");
            }
        }
    }

    fn dict(&mut self, dict: &super::Dict) {
        self.out.push('{');
        for (at, (key, item)) in dict.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.write(key);
            self.out.push_str(": ");
            match item {
                Val::Str(text) if self.quotes == Quotes::Yaml && text.contains(['\n', '\r', '\t']) => {
                    self.out.push_str(&yaml_quoted(text));
                }
                item => self.write(item),
            }
            if self.out.len() > WALK_LIMIT {
                self.out.push_str(", ...");
                break;
            }
        }
        self.out.push('}');
    }
}

/// Text as a double-quoted scalar of YAML, on one line.
pub fn yaml_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0' => out.push_str("\\0"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\u{1b}' => out.push_str("\\e"),
            '\u{85}' => out.push_str("\\N"),
            '\u{a0}' => out.push_str("\\_"),
            '\u{2028}' => out.push_str("\\L"),
            '\u{2029}' => out.push_str("\\P"),
            c if (c as u32) < 0x20 || (0x7f..0xa0).contains(&(c as u32)) => drop(write!(out, "\\x{:02X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
