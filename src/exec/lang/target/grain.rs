//! Targets by a value inside grains or pillar: `os:Debian`, `roles:web`, `site:dc:eu*`.
//!
//! The steps of a path are tried with the longest key first, since keys and values may hold the delimiter too. Case does
//! not matter in what is matched. A list matches when one of its items does; a map when the text is one of its keys;
//! a step `*` stands for every key.

use super::pattern::Pattern;
use crate::regex::{Flags, Regex};
use halite_value::{Map, Value};
use std::sync::Arc;

/// What stands between the steps of a path when nothing else is asked for.
pub const DELIMITER: &str = ":";

/// How the end of a path is compared with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Glob,
    Pcre,
    Exact,
}

/// A path with the value that is expected at its end.
#[derive(Clone, Debug)]
pub(super) struct Path {
    delimiter: String,
    steps: Vec<String>,
    /// At `n` the pattern made of the steps from `n` on: each may be what is left when the steps before it were a key.
    /// Nothing where that is no regular expression: the delimiter stands in one.
    patterns: Vec<Option<Pattern>>,
}

impl Path {
    pub fn parse(text: &str, delimiter: &str, style: Style) -> Result<Path, String> {
        if delimiter.is_empty() || !text.contains(delimiter) {
            return Err(format!("'{text}' needs a key and a value, with '{delimiter}' between them"));
        }
        let steps: Vec<String> = text.split(delimiter).map(str::to_owned).collect();
        let read = |from: usize| pattern(&steps[from..].join(delimiter), style);
        let patterns: Vec<Result<Pattern, String>> = (0..steps.len()).map(read).collect();
        if let Some(Err(error)) = patterns.last().filter(|_| patterns[1..].iter().all(Result::is_err)) {
            return Err(error.clone());
        }
        let patterns = patterns.into_iter().map(Result::ok).collect();
        Ok(Path { delimiter: delimiter.to_owned(), steps, patterns })
    }

    pub fn matches(&self, data: &Map) -> bool {
        self.matches_from(data, 0)
    }

    /// Whether the steps from `start` on match in `data`: some as a key, the rest as the value under it.
    fn matches_from(&self, data: &Map, start: usize) -> bool {
        (start + 1..self.steps.len()).rev().any(|end| {
            if self.steps[start..end] == ["*"] {
                return self.matches_map(data, start);
            }
            let key = self.steps[start..end].join(&self.delimiter);
            match traverse(data, &key, &self.delimiter) {
                None => false,
                Some(Value::Map(map)) => !map.is_empty() && self.matches_map(map, end),
                Some(Value::List(items)) => items.iter().any(|item| match item {
                    Value::Map(map) => self.matches_map(map, end) || self.fits(item, end),
                    _ => self.fits(item, end),
                }),
                Some(value) => self.fits(value, end),
            }
        })
    }

    fn matches_map(&self, map: &Map, mut rest: usize) -> bool {
        let is_wild = self.steps[rest] == "*" && rest + 1 < self.steps.len();
        if is_wild {
            rest += 1;
        }
        if self.steps[rest..] == ["*"] || map.keys().any(|key| self.fits(key, rest)) || self.matches_from(map, rest) {
            return true;
        }
        is_wild
            && map.values().any(|value| match value {
                Value::Map(inner) => self.matches_map(inner, rest),
                Value::List(items) => items.iter().any(|item| self.fits(item, rest)),
                value => self.fits(value, rest),
            })
    }

    fn fits(&self, value: &Value, rest: usize) -> bool {
        self.patterns[rest].as_ref().is_some_and(|pattern| pattern.matches(&value.to_text().to_lowercase()))
    }
}

fn traverse<'a>(data: &'a Map, key: &str, delimiter: &str) -> Option<&'a Value> {
    let mut steps = key.split(delimiter);
    let first = data.at(steps.next()?)?;
    let rest: Vec<&str> = steps.collect();
    if rest.is_empty() { Some(first) } else { first.traverse(&rest.join(delimiter), delimiter) }
}

fn pattern(text: &str, style: Style) -> Result<Pattern, String> {
    match style {
        Style::Exact => Ok(Pattern::Exact(text.to_lowercase())),
        Style::Glob => Ok(Pattern::glob(&text.to_lowercase())),
        Style::Pcre => match Regex::with_flags(text, Flags { ignore_case: true, ..Flags::default() }) {
            Ok(regex) => Ok(Pattern::Pcre(Arc::new(regex))),
            Err(error) => Err(format!("'{text}' is not a regular expression: {error}")),
        },
    }
}
