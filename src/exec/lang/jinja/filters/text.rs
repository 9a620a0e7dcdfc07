//! Filters on text.

use super::super::error::{Failure, Res};
use super::super::eval::{Args, Bound, Interp, Rest};
use super::super::methods;
use super::super::value::Val;
use super::{Filter, filter, open};

pub const FILTERS: &[Filter] = &[
    filter("capitalize", &[], 0, |_, value, _| cased(&value, capitalize)),
    filter("upper", &[], 0, |_, value, _| cased(&value, str::to_uppercase)),
    filter("lower", &[], 0, |_, value, _| cased(&value, str::to_lowercase)),
    filter("title", &[], 0, |_, value, _| cased(&value, title)),
    filter("center", &["width"], 0, center),
    open("format", &[], 0, Rest::Both, format),
    filter("indent", &["width", "first", "blank"], 0, indent),
    filter("replace", &["old", "new", "count"], 2, replace),
    filter("string", &[], 0, string),
    filter("trim", &["chars"], 0, trim),
    filter("truncate", &["length", "killwords", "end", "leeway"], 0, truncate),
    filter("wordcount", &[], 0, word_count),
    filter("wordwrap", &["width", "break_long_words", "wrapstring", "break_on_hyphens"], 0, word_wrap),
];

pub const SALT: &[Filter] = &[
    filter("to_snake_case", &[], 0, snake_case),
    filter("to_camelcase", &["uppercamel"], 0, camel_case),
    filter("contains_whitespace", &[], 0, |_, value, _| Ok(Val::Bool(text(&value)?.contains(char::is_whitespace)))),
    filter("quote", &[], 0, |_, value, _| Ok(Val::from(shell_quoted(&text(&value)?)))),
];

/// The value as text; an error for one that is undefined.
pub fn text(value: &Val) -> Res<String> {
    value.defined()?;
    Ok(value.text())
}

/// Text of the same kind as the operand: what was markup stays it.
fn like(value: &Val, text: String) -> Val {
    match value {
        Val::Markup(_) => Val::Markup(text.into()),
        _ => Val::from(text),
    }
}

fn cased(value: &Val, case: impl Fn(&str) -> String) -> Res<Val> {
    Ok(like(value, case(&text(value)?)))
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    first + &chars.as_str().to_lowercase()
}

/// Words begin behind blanks, hyphens and opening brackets.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut begins = true;
    for c in text.chars() {
        match begins {
            true => out.extend(c.to_uppercase()),
            false => out.extend(c.to_lowercase()),
        }
        begins = c.is_whitespace() || "-({[<".contains(c);
    }
    out
}

/// A method of `str` as a filter.
fn method(interp: &mut Interp, value: &Val, name: &str, args: Vec<Val>) -> Res<Val> {
    value.defined()?;
    let owner = if value.as_str().is_some() { value.clone() } else { Val::from(value.text()) };
    methods::call(interp, &owner, name, Args::of(args))
}

fn center(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let width = bound.given(0).cloned().unwrap_or(Val::Int(80));
    method(interp, &value, "center", vec![width])
}

fn format(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    if !bound.extra.is_empty() && !bound.named.is_empty() {
        return Err(Failure::type_error("can't handle positional and keyword arguments at the same time"));
    }
    let values = match bound.named.is_empty() {
        true => Val::tuple(bound.extra),
        false => Val::dict(bound.named.into_iter().map(|(name, value)| (Val::Str(name), value)).collect()),
    };
    super::super::format::percent(interp, &text(&value)?, &values, matches!(value, Val::Markup(_)))
}

fn indent(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let indention = match bound.given(0) {
        Some(Val::Str(text) | Val::Markup(text)) => text.to_string(),
        _ => {
            let width = usize::try_from(bound.int(0)?.unwrap_or(4)).unwrap_or(0);
            interp.spend(width)?;
            " ".repeat(width)
        }
    };
    let (first, blank) = (bound.truth(1, false)?, bound.truth(2, false)?);
    let source = text(&value)?;
    let mut out = String::with_capacity(source.len() * 2);
    // A line end at the end is kept, as an empty last line.
    for (at, line) in source.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if at > 0 {
            out.push('\n');
        }
        let indented = if at == 0 { first } else { blank || !line.is_empty() };
        if indented {
            out.push_str(&indention);
        }
        out.push_str(line);
        interp.spend(indention.len())?;
    }
    Ok(like(&value, out))
}

fn replace(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let (old, new) = (text(&bound.val(0))?, text(&bound.val(1))?);
    let plain = Val::from(text(&value)?);
    let count = bound.int(2)?.unwrap_or(-1);
    method(interp, &plain, "replace", vec![Val::from(old), Val::from(new), Val::Int(count)])
}

fn string(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    value.defined()?;
    Ok(if matches!(value, Val::Markup(_)) { value } else { Val::from(value.text()) })
}

fn trim(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    method(interp, &value, "strip", vec![bound.val(0)])
}

fn truncate(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let source = text(&value)?;
    let end = bound.text_or(2, "...")?;
    let length = usize::try_from(bound.int(0)?.unwrap_or(255)).unwrap_or(0);
    let leeway = usize::try_from(bound.int(3)?.unwrap_or(5)).unwrap_or(0);
    let end_length = end.chars().count();
    if length < end_length {
        return Err(Failure::python("AssertionError", format!("expected length >= {end_length}, got {length}")));
    }
    if source.chars().count() <= length.saturating_add(leeway) {
        return Ok(value);
    }
    let cut: String = source.chars().take(length - end_length).collect();
    let kept = match bound.truth(1, false)? {
        true => &cut[..],
        false => cut.rsplit_once(' ').map_or(&cut[..], |(words, _)| words),
    };
    Ok(like(&value, format!("{kept}{end}")))
}

fn word_count(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let source = text(&value)?;
    Ok(Val::from(source.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).count()))
}

fn word_wrap(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let width = usize::try_from(bound.int(0)?.unwrap_or(79)).unwrap_or(0);
    if width == 0 {
        return Err(Failure::value_error(format!("invalid width {} (must be > 0)", bound.val(0).repr())));
    }
    let breaks = bound.truth(1, true)?;
    let newline = bound.text_or(2, "\n")?.to_owned();
    let hyphens = bound.truth(3, true)?;
    let source = text(&value)?;
    interp.spend(source.len())?;
    let wrapped: Vec<String> = source.lines().map(|line| wrap(line, width, breaks, hyphens).join(&newline)).collect();
    Ok(Val::from(wrapped.join(&newline)))
}

/// One line as lines of at most so many characters, broken at blanks, behind hyphens, and inside of longer words.
fn wrap(line: &str, width: usize, breaks: bool, hyphens: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut length = 0;
    let mut pieces: std::collections::VecDeque<String> = chunks(line, hyphens).into();
    while let Some(piece) = pieces.pop_front() {
        let size = piece.chars().count();
        if length + size <= width {
            current.push_str(&piece);
            length += size;
            continue;
        }
        if piece.trim().is_empty() {
            lines.push(std::mem::take(&mut current));
            length = 0;
            continue;
        }
        if size > width && breaks {
            let room = width - length;
            let room = if room == 0 { width } else { room };
            let head: String = piece.chars().take(room).collect();
            let tail: String = piece.chars().skip(room).collect();
            if length + room > width {
                lines.push(std::mem::take(&mut current));
            }
            current.push_str(&head);
            lines.push(std::mem::take(&mut current));
            length = 0;
            pieces.push_front(tail);
            continue;
        }
        if length > 0 {
            lines.push(std::mem::take(&mut current));
        }
        current.push_str(&piece);
        length = size;
    }
    if length > 0 {
        lines.push(current);
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Words, the blanks between them, and the parts of hyphenated words.
fn chunks(line: &str, hyphens: bool) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut current = String::new();
    for c in line.chars() {
        let blank = c.is_whitespace();
        let turns = current.chars().next_back().is_some_and(|last| {
            last.is_whitespace() != blank || hyphens && last == '-' && c.is_alphabetic() && current.len() > 1
        });
        if turns {
            out.push(std::mem::take(&mut current));
        }
        current.push(c);
    }
    if !current.is_empty() {
        out.push(current);
    }
    out
}

/// A capital begins a word behind a small letter, and before one.
fn snake_case(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let letters: Vec<char> = text(&value)?.chars().collect();
    let mut out = String::new();
    let small = |at: usize| letters.get(at).is_some_and(|c| c.is_lowercase());
    for (at, c) in letters.iter().enumerate() {
        if at > 0 && c.is_uppercase() && (small(at - 1) || small(at + 1)) {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    Ok(Val::from(out))
}

fn camel_case(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let upper = bound.truth(0, false)?;
    let source = text(&value)?;
    let mut out = String::new();
    for (at, part) in source.split('_').enumerate() {
        match at == 0 && !upper {
            true => out.push_str(part),
            false => out.push_str(&capitalize(part)),
        }
    }
    Ok(Val::from(out))
}

/// A word as a shell reads it.
pub fn shell_quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\"'\"'"))
}
