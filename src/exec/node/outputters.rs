//! Outputters: how an answer looks on a terminal, or to the program behind a pipe.
//!
//! An outputter is one file and one line in [`OUTPUTTERS`]: a function from a value to text. It knows nothing of files
//! and terminals; who prints decides on [`Style::colors`].

mod color;
mod highstate;
mod json;
mod key;
pub mod nested;
mod no_return;
mod pprint;
pub mod progress;
mod raw;
mod table;
mod txt;
mod yaml;

pub use color::{Color, Colors, Theme};
use halite_value::{Map, Value};

/// Every outputter, sorted by name.
pub const OUTPUTTERS: &[Outputter] = &[
    Outputter {
        name: "highstate",
        doc: "The states of a run, one block or line each, and a summary.",
        show: highstate::show,
    },
    Outputter { name: "json", doc: "JSON; indented, or one line for --out-indent=-1.", show: json::show },
    Outputter { name: "key", doc: "Keys by their standing, as salt-key shows them.", show: key::show },
    Outputter { name: "nested", doc: "Indented text; the one for people, and the default.", show: nested::show },
    Outputter { name: "no_return", doc: "Names in red: minions that did not answer.", show: no_return::show },
    Outputter { name: "pprint", doc: "Python's pprint.", show: pprint::show },
    Outputter { name: "raw", doc: "Python's repr, on one line.", show: raw::show },
    Outputter { name: "table", doc: "Lists of rows as tables with borders.", show: table::show },
    Outputter { name: "txt", doc: "NAME: LINE for each line, for grep.", show: txt::show },
    Outputter { name: "yaml", doc: "YAML in block style.", show: yaml::show },
];

/// One way of showing a value.
#[derive(Debug)]
pub struct Outputter {
    pub name: &'static str,
    pub doc: &'static str,
    pub show: fn(&Value, &Style) -> Result<String, Unfit>,
}

/// Data whose form the outputter is not for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit(pub String);

/// What bears on the look of all answers of a command.
#[derive(Clone, Debug)]
pub struct Style<'a> {
    pub colors: Colors,
    /// Spaces a level (`output_indent`); negative: no line breaks; nothing: as the outputter likes.
    pub indent: Option<i64>,
    /// The exit code of what is shown: lists and names of a failure are red.
    pub retcode: i32,
    /// The configuration, with the options of the command line above it: `state_output`, `out.table.width` and the like.
    pub opts: &'a Map,
}

impl Style<'_> {
    fn text_opt(&self, name: &str) -> Option<&str> {
        self.opts.str_at(name)
    }

    fn truth_opt(&self, name: &str, default: bool) -> bool {
        self.opts.at(name).map_or(default, Value::truthy)
    }
}

/// The outputter of a name; `text` is another name of `txt`.
pub fn find(name: &str) -> Option<&'static Outputter> {
    let name = if name == "text" { "txt" } else { name };
    OUTPUTTERS.iter().find(|outputter| outputter.name == name)
}

/// A value as text, and what the user should know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Without white space at its end; empty for empty values.
    pub text: String,
    /// An error that is not in the way of showing the value.
    pub complaint: Option<String>,
}

/// Shows a value with the outputter of a name, or with `nested` where there is none or its form is another one.
pub fn show(value: &Value, name: &str, style: &Style) -> Shown {
    let name = if name.is_empty() { "nested" } else { name };
    let (text, complaint) = match find(name) {
        // Salt once had this one, and minions still name it.
        None if name == "grains" => (nested::text(value, style), None),
        None => (nested::text(value, style), Some(format!("Invalid outputter {name} specified, fall back to nested"))),
        Some(outputter) => match (outputter.show)(value, style) {
            Ok(text) => (text, None),
            Err(Unfit(reason)) => {
                (nested::text(value, style), Some(format!("outputter {name}: {reason}; shown as nested")))
            }
        },
    };
    Shown { text: text.trim_end().to_owned(), complaint }
}

/// The lines of a text where Python's `splitlines` ends them.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    lines_with_ends(text).map(|line| {
        let line = line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
        line.strip_suffix(is_line_end).unwrap_or(line)
    })
}

/// The same, each line with what ends it.
pub fn lines_with_ends(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (at, end) = match rest.char_indices().find(|(_, c)| is_line_end(*c)) {
            None if rest.is_empty() => return None,
            None => (rest.len(), 0),
            Some((at, '\r')) if rest[at..].starts_with("\r\n") => (at, 2),
            Some((at, c)) => (at, c.len_utf8()),
        };
        let (line, tail) = rest.split_at(at + end);
        rest = tail;
        Some(line)
    })
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The entries of a map in the order in which Python sorts its keys; keys of several kinds go by their text.
fn sorted(map: &Map) -> Vec<(&Value, &Value)> {
    let mut entries: Vec<(&Value, &Value)> = map.iter().collect();
    let numbers = entries.iter().all(|(key, _)| key.as_float().is_some());
    if numbers {
        entries.sort_by(|(a, _), (b, _)| a.as_float().partial_cmp(&b.as_float()).unwrap_or(std::cmp::Ordering::Equal));
    } else {
        entries.sort_by_cached_key(|(key, _)| key.to_text());
    }
    entries
}

/// Text without the character that begins a terminal's commands: an answer must not write to the admin's terminal.
fn harmless(text: &str) -> String {
    text.replace('\u{1b}', "?")
}

#[cfg(test)]
mod tests;
