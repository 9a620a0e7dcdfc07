//! YAML as Salt reads and writes it: SLS, pillar, configuration and command line arguments.
//!
//! Scanning and parsing are libyaml's (the crate `libyaml-safer`), which Salt uses too, so that errors name the same
//! line and column in the same words. What a scalar means is decided here, since Salt's rules are its own: `0644` is
//! 644, `08` and `1e3` are text, `1:30` is 90, a date stays text, a key given twice is an error, and a tag that would
//! make an object is refused.
//!
//! ```
//! use halite_lang::yaml;
//! let value = yaml::load("mode: 0644\nnames: [a, b]\n").unwrap();
//! assert_eq!(value.at("mode").unwrap().as_int(), Some(644));
//! assert_eq!(yaml::dump(&value), "mode: 644\nnames:\n- a\n- b\n");
//! let error = yaml::load("a: b: c\n").unwrap_err();
//! assert_eq!((error.line, error.column), (1, 5));
//! ```

mod aggregate;
mod compose;
mod construct;
mod dump;
mod resolve;
mod scalar;
mod simple;

use super::pipe::{RenderError, Rendered, Renderer, Rendering};
use construct::Places;
use halite_value::Value;
use std::fmt;

pub use aggregate::load_aggregated;
pub use dump::{DumpStyle, Flow, Keys, dump, dump_with};

pub const RENDERER: Renderer = Renderer { name: "yaml", doc: "YAML as data.", render };

fn render(input: Rendered, rendering: &Rendering) -> Result<Rendered, RenderError> {
    let text = input.text(RENDERER.name)?;
    let (value, warnings) = read(&text).map_err(|error| RenderError::Yaml(Box::new(error)))?;
    for warning in warnings {
        log::warn!("{}, as rendered, {warning}", rendering.name);
    }
    Ok(Rendered::Data(value))
}

/// Collections nested deeper than this are refused: the code that walks values is recursive.
pub const DEPTH_LIMIT: usize = 256;

/// What aliases and merge keys may add to a document, in bytes.
pub const EXPANSION_LIMIT: usize = 64 << 20;

/// Reads a text that holds one document; a text without any is null. A second document is an error.
pub fn load(text: &str) -> Result<Value, YamlError> {
    read(text).map(|(value, _)| value)
}

/// The value of a text, and what may not be meant in it.
fn read(text: &str) -> Result<(Value, Vec<Warning>), YamlError> {
    if let Some(read) = simple::load(text) {
        return Ok(read);
    }
    construct::construct(compose::compose(text)?, Places::Dropped).map(|(value, _, warnings)| (value, warnings))
}

/// Reads as [`load`] does, and says where each thing stood and what may not be meant.
pub fn load_document(text: &str) -> Result<Document, YamlError> {
    let (value, marks, warnings) = construct::construct(compose::compose(text)?, Places::Kept)?;
    Ok(Document { value, marks, warnings })
}

/// A value and where it came from.
#[derive(Clone, Debug, Default)]
pub struct Document {
    pub value: Value,
    pub marks: Marks,
    /// In the order in which they were found.
    pub warnings: Vec<Warning>,
}

/// A place in a text; both count from 1, columns in characters. 0 is no place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// Where a value and all below it stood: a tree of the value's shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Where the value begins.
    pub at: Position,
    /// For a map, where each key begins, in the map's order.
    pub keys: Vec<Position>,
    /// For a map or list, the marks of each value, in order.
    pub items: Vec<Marks>,
}

impl Marks {
    fn leaf(at: Position) -> Marks {
        Marks { at, ..Marks::default() }
    }

    /// Where the key stands that a map holds at this index.
    pub fn key(&self, index: usize) -> Position {
        self.keys.get(index).copied().unwrap_or(self.at)
    }
}

/// Something that is allowed and seldom meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub at: Position,
    pub message: String,
}

impl Warning {
    fn about_integer(text: &str, at: Position) -> Option<Warning> {
        let digits = text.trim_start_matches(['-', '+']);
        let message = if digits.contains(':') {
            format!("{text} is read as a number in base sixty; quote it if it is a time or an address")
        } else if digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|c| c.is_ascii_digit()) {
            let number = scalar::int(text).ok()?;
            format!("{text} is read as the number {number}; quote it to keep it as it is written")
        } else {
            return None;
        };
        Some(Warning { at, message })
    }

    fn about_key(text: &str, at: Position) -> Option<Warning> {
        let truth = scalar::truth(text).ok()?;
        let word = !matches!(text.to_ascii_lowercase().as_str(), "true" | "false");
        let shown = Value::Bool(truth);
        word.then(|| Warning { at, message: format!("the key {text} is read as {shown}; quote it if it is a word") })
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.at.line, self.at.column, self.message)
    }
}

/// Which step refused a text. Salt prints scanner errors in another way than the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A character that no YAML text may hold.
    Reader,
    Scanner,
    Parser,
    /// Documents, anchors and aliases.
    Composer,
    /// What nodes mean: tags, keys, numbers.
    Constructor,
}

/// Why a text is no YAML, or none that Salt takes. Always the fault of whoever wrote it.
///
/// It prints as Salt prints it: what was going on and where, then what was wrong and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    pub stage: Stage,
    /// What is wrong, without its place.
    pub message: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What was being read when it happened, and where that began.
    pub context: Option<(String, Position)>,
    /// The file, once [`YamlError::named`] has said it.
    pub source: Option<String>,
}

impl YamlError {
    fn new(stage: Stage, message: impl Into<String>, at: Position) -> YamlError {
        YamlError { stage, message: message.into(), line: at.line, column: at.column, context: None, source: None }
    }

    fn within(mut self, context: &str, at: Position) -> YamlError {
        self.context = Some((context.to_owned(), at));
        self
    }

    /// The same error of a text whose name (a path, an URL) is known.
    pub fn named(mut self, source: impl Into<String>) -> YamlError {
        self.source = Some(source.into());
        self
    }

    pub fn at(&self) -> Position {
        Position { line: self.line, column: self.column }
    }
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = self.source.as_deref().unwrap_or("<unicode string>");
        let place = |at: Position| format!("\n  in \"{source}\", line {}, column {}", at.line, at.column);
        if let Some((context, at)) = &self.context {
            let elsewhere = if *at == self.at() { String::new() } else { place(*at) };
            writeln!(f, "{context}{elsewhere}")?;
        }
        f.write_str(&self.message)?;
        if self.line == 0 {
            return Ok(());
        }
        f.write_str(&place(self.at()))
    }
}

impl std::error::Error for YamlError {}

#[cfg(test)]
mod tests;
