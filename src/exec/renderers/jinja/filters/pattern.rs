//! Salt's filters with regular expressions and globs.

use super::super::error::{Failure, Res};
use super::super::eval::{Bound, Interp};
use super::super::lexer::control_character;
use super::super::value::Val;
use super::text::text;
use super::{Filter, filter};
use crate::exec::regex::{Flags, Found, Regex};
use crate::exec::target::fnmatch::fnmatch;

pub const SALT: &[Filter] = &[
    filter("regex_search", &["rgx", "ignorecase", "multiline"], 1, |_, value, bound| {
        groups(&value, &bound, Regex::search)
    }),
    filter("regex_match", &["rgx", "ignorecase", "multiline"], 1, |_, value, bound| {
        groups(&value, &bound, Regex::match_start)
    }),
    filter("regex_replace", &["rgx", "val", "ignorecase", "multiline"], 2, replace),
    filter("regex_escape", &[], 0, |_, value, _| Ok(Val::from(escaped(&text(&value)?)))),
    filter("check_whitelist_blacklist", &["whitelist", "blacklist"], 0, listed),
];

fn compiled(bound: &Bound, flags_at: usize) -> Res<Regex> {
    let flags = Flags {
        ignore_case: bound.truth(flags_at, false)?,
        multi_line: bound.truth(flags_at + 1, false)?,
        ..Flags::default()
    };
    Regex::with_flags(&text(&bound.val(0))?, flags).map_err(|error| Failure::python("error", error.to_string()))
}

fn subject(value: &Val) -> Res<&str> {
    value.defined()?;
    value.as_str().ok_or_else(|| {
        Failure::type_error(format!("expected string or bytes-like object, got '{}'", value.type_name()))
    })
}

type Search = for<'t> fn(&Regex, &'t str) -> Result<Option<Found<'t>>, crate::exec::regex::RegexError>;

/// The groups of what is found, or all of it where there are none.
fn groups(value: &Val, bound: &Bound, search: Search) -> Res<Val> {
    let regex = compiled(bound, 1)?;
    let found = search(&regex, subject(value)?).map_err(|error| Failure::limit(error.to_string()))?;
    let Some(found) = found else { return Ok(Val::None) };
    let mut parts: Vec<Val> = found.groups().map(|group| group.map_or(Val::None, Val::from)).collect();
    if parts.is_empty() {
        parts.push(found.group(0).map_or(Val::None, Val::from));
    }
    Ok(Val::tuple(parts))
}

fn replace(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let regex = compiled(&bound, 2)?;
    let template = Template::parse(&text(&bound.val(1))?, &regex)?;
    let source = subject(&value)?;
    let mut out = String::new();
    let (mut at, mut from) = (0, 0);
    // Behind what was just found nothing empty is found again.
    let mut last_end = None;
    while from <= source.len() {
        let found = regex.search_from(source, from).map_err(|error| Failure::limit(error.to_string()))?;
        let Some(found) = found else { break };
        let range = found.range();
        if range.is_empty() && last_end == Some(range.start) {
            from = next_char(source, range.end);
            continue;
        }
        out.push_str(source.get(at..range.start).unwrap_or(""));
        template.expand(&found, &mut out);
        interp.spend(out.len() / 16 + 1)?;
        at = range.end;
        last_end = Some(range.end);
        from = range.end;
        if range.is_empty() {
            from = next_char(source, range.end);
        }
        if out.len() > (64 << 20) {
            return Err(Failure::limit("the text is too long"));
        }
    }
    out.push_str(source.get(at..).unwrap_or(""));
    Ok(Val::from(out))
}

fn next_char(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(at + 1, |c| at + c.len_utf8())
}

/// What takes the place: text and groups (`\1`, `\g<name>`).
struct Template(Vec<Part>);

enum Part {
    Text(String),
    Group(usize),
}

impl Template {
    fn parse(text: &str, regex: &Regex) -> Res<Template> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '\\' {
                plain.push(c);
                continue;
            }
            let group = match chars.next() {
                Some('g') => {
                    let name: String = chars.by_ref().skip_while(|c| *c == '<').take_while(|c| *c != '>').collect();
                    let unknown = || Failure::python("IndexError", format!("unknown group name '{name}'"));
                    name.parse().ok().or_else(|| regex.group_index(&name)).ok_or_else(unknown)?
                }
                Some('0') => {
                    plain.push('\0');
                    continue;
                }
                Some(digit) if digit.is_ascii_digit() => {
                    let mut number = digit.to_digit(10).unwrap_or(0) as usize;
                    if let Some(second) = chars.next_if(char::is_ascii_digit) {
                        number = number * 10 + second.to_digit(10).unwrap_or(0) as usize;
                    }
                    number
                }
                Some('\\') => {
                    plain.push('\\');
                    continue;
                }
                Some(c) if c.is_ascii_alphabetic() => {
                    let unknown = || Failure::python("error", format!("bad escape \\{c} at position 0"));
                    plain.push(control_character(c).ok_or_else(unknown)?);
                    continue;
                }
                Some(c) => {
                    plain.push('\\');
                    plain.push(c);
                    continue;
                }
                None => {
                    return Err(Failure::python("error", "bad escape (end of pattern) at position 0"));
                }
            };
            if group > regex.group_count() {
                return Err(Failure::python("error", format!("invalid group reference {group} at position 1")));
            }
            parts.push(Part::Text(std::mem::take(&mut plain)));
            parts.push(Part::Group(group));
        }
        parts.push(Part::Text(plain));
        Ok(Template(parts))
    }

    fn expand(&self, found: &Found, out: &mut String) {
        for part in &self.0 {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Group(group) => out.push_str(found.group(*group).unwrap_or("")),
            }
        }
    }
}

/// Python's `re.escape`.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "()[]{}?*+-|^$\\.&~# \t\n\r\u{b}\u{c}".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Whether a name is on the white list and not on the black one.
fn listed(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let name = text(&value)?;
    let mut on = |at: usize| -> Res<Option<bool>> {
        let list = bound.val(at);
        if !list.truth()? {
            return Ok(None);
        }
        let patterns = if list.as_str().is_some() { vec![list] } else { list.items(interp)? };
        Ok(Some(patterns.iter().any(|pattern| fits(&name, &pattern.text()))))
    };
    let (white, black) = (on(0)?, on(1)?);
    Ok(Val::Bool(black != Some(true) && white != Some(false)))
}

fn fits(name: &str, pattern: &str) -> bool {
    let regex =
        || Regex::with_flags(&format!("^(?:{pattern})$"), Flags::default()).and_then(|regex| regex.is_match(name));
    fnmatch(name, pattern) || regex().unwrap_or(false)
}
