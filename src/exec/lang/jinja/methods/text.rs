//! Methods of `str` and `bytes`.

use super::super::error::{Failure, Res};
use super::super::eval::{Args, Bound, Interp, Signature, escape};
use super::super::format;
use super::super::value::{Dict, Val};
use super::list::place;

pub const NAMES: &[&str] = &[
    "capitalize",
    "casefold",
    "center",
    "count",
    "encode",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "format_map",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "maketrans",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "translate",
    "upper",
    "zfill",
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    /// What is put in is escaped, and the result is markup.
    Markup,
}

pub fn call(interp: &mut Interp, text: &str, name: &str, args: Args, kind: Kind) -> Res<Val> {
    interp.spend(text.len() / 16 + 1)?;
    let safe = kind == Kind::Markup;
    if name == "format" {
        return format::format(interp, text, &args, safe);
    }
    let value = method(interp, text, name, args, safe)?;
    Ok(match value {
        Val::Str(text) if safe => Val::Markup(text),
        other => other,
    })
}

fn method(interp: &mut Interp, text: &str, name: &str, args: Args, safe: bool) -> Res<Val> {
    let own_name = NAMES.iter().find(|own| **own == name).copied().unwrap_or("str");
    let bind = |params: &'static [&'static str], required| -> Res<Bound> {
        Signature::new(own_name, params, required).bind(args.clone())
    };
    let all = |test: fn(char) -> bool| Val::Bool(!text.is_empty() && text.chars().all(test));
    Ok(match name {
        "upper" => Val::from(text.to_uppercase()),
        "lower" | "casefold" => Val::from(text.to_lowercase()),
        "title" => Val::from(title(text)),
        "capitalize" => Val::from(capitalize(text)),
        "swapcase" => Val::from(text.chars().flat_map(swapped).collect::<String>()),
        "strip" | "lstrip" | "rstrip" => {
            let bound = bind(&["chars"], 0)?;
            Val::from(strip(text, bound.text(0)?, name != "rstrip", name != "lstrip"))
        }
        "split" | "rsplit" => {
            let bound = bind(&["sep", "maxsplit"], 0)?;
            let most = usize::try_from(bound.int(1)?.unwrap_or(-1)).ok();
            let parts = split(text, bound.text(0)?, most, name == "rsplit")?;
            interp.spend(parts.len())?;
            Val::list(parts.into_iter().map(Val::from).collect())
        }
        "splitlines" => {
            let keep = bind(&["keepends"], 0)?.truth(0, false)?;
            Val::list(lines(text, keep).into_iter().map(Val::from).collect())
        }
        "join" => {
            let items = bind(&["iterable"], 1)?.val(0).items(interp)?;
            let mut parts = Vec::with_capacity(items.len());
            for (at, item) in items.iter().enumerate() {
                let part = item.as_str().ok_or_else(|| {
                    let kind = item.type_name();
                    Failure::type_error(format!("sequence item {at}: expected str instance, {kind} found"))
                })?;
                parts.push(if safe && !matches!(item, Val::Markup(_)) { escape(part) } else { part.to_owned() });
            }
            let joined = parts.join(text);
            interp.spend(joined.len())?;
            Val::from(joined)
        }
        "replace" => {
            let bound = bind(&["old", "new", "count"], 2)?;
            let (old, new) = (needed(&bound, 0)?, needed(&bound, 1)?);
            let new = if safe && !matches!(bound.val(1), Val::Markup(_)) { escape(new) } else { new.to_owned() };
            Val::from(replace(interp, text, old, &new, bound.int(2)?.unwrap_or(-1))?)
        }
        "startswith" | "endswith" => {
            let bound = bind(&["prefix", "start", "end"], 1)?;
            let part = window(text, bound.int(1)?, bound.int(2)?);
            Val::Bool(affixed(name, part, &bound.val(0))?)
        }
        "find" | "rfind" | "index" | "rindex" | "count" => {
            let bound = bind(&["sub", "start", "end"], 1)?;
            return search(text, name, &bound);
        }
        "partition" | "rpartition" => {
            let bound = bind(&["sep"], 1)?;
            return partition(text, needed(&bound, 0)?, name == "rpartition");
        }
        "removeprefix" => {
            let bound = bind(&["prefix"], 1)?;
            Val::from(text.strip_prefix(needed(&bound, 0)?).unwrap_or(text))
        }
        "removesuffix" => {
            let bound = bind(&["suffix"], 1)?;
            Val::from(text.strip_suffix(needed(&bound, 0)?).unwrap_or(text))
        }
        "ljust" | "rjust" | "center" => {
            let bound = bind(&["width", "fillchar"], 1)?;
            let width = usize::try_from(bound.int(0)?.unwrap_or(0)).unwrap_or(0);
            interp.spend(width)?;
            let mut fill = bound.text_or(1, " ")?.chars();
            let (Some(fill), None) = (fill.next(), fill.next()) else {
                return Err(Failure::type_error("The fill character must be exactly one character long"));
            };
            Val::from(justify(text, width, fill, name))
        }
        "zfill" => {
            let width = usize::try_from(bind(&["width"], 1)?.int(0)?.unwrap_or(0)).unwrap_or(0);
            interp.spend(width)?;
            let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
            let sign = &text[..text.len() - digits.len()];
            let missing = width.saturating_sub(text.chars().count());
            Val::from(format!("{sign}{}{digits}", "0".repeat(missing)))
        }
        "expandtabs" => {
            let size = usize::try_from(bind(&["tabsize"], 0)?.int(0)?.unwrap_or(8)).unwrap_or(0);
            interp.spend(size.saturating_mul(text.matches('\t').count()))?;
            Val::from(expand_tabs(text, size))
        }
        "encode" => {
            let bound = bind(&["encoding", "errors"], 0)?;
            let encoding = bound.text_or(0, "utf-8")?.to_lowercase();
            return encode(text, &encoding, bound.text_or(1, "strict")?);
        }
        "format_map" => {
            let Val::Dict(dict) = bind(&["mapping"], 1)?.val(0) else {
                return Err(Failure::type_error("format_map() takes a mapping"));
            };
            let dict = dict.0.borrow();
            let named = dict.iter().filter_map(|(key, value)| Some((key.as_str()?.into(), value.clone()))).collect();
            return format::format(interp, text, &Args { positional: Vec::new(), named }, safe);
        }
        "isdigit" | "isdecimal" | "isnumeric" => all(char::is_numeric),
        "isalpha" => all(char::is_alphabetic),
        "isalnum" => all(char::is_alphanumeric),
        "isspace" => all(char::is_whitespace),
        "isascii" => Val::Bool(text.is_ascii()),
        "isprintable" => Val::Bool(text.chars().all(|c| !c.is_control())),
        "isidentifier" => {
            let first = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
            Val::Bool(first && text.chars().all(|c| c.is_alphanumeric() || c == '_'))
        }
        "isupper" => Val::Bool(text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase)),
        "islower" => Val::Bool(text.chars().any(char::is_lowercase) && !text.chars().any(char::is_uppercase)),
        "istitle" => Val::Bool(text.chars().any(char::is_alphabetic) && title(text) == text),
        "maketrans" => {
            let bound = bind(&["x", "y", "z"], 1)?;
            return make_translation(&bound);
        }
        _ => {
            let Val::Dict(table) = bind(&["table"], 1)?.val(0) else {
                return Err(Failure::type_error("translate() takes a table"));
            };
            Val::from(translate(text, &table.0.borrow()))
        }
    })
}

fn needed(bound: &Bound, at: usize) -> Res<&str> {
    bound.text(at)?.ok_or_else(|| Failure::type_error("argument must be str, not None"))
}

pub fn replace(interp: &mut Interp, text: &str, old: &str, new: &str, count: i64) -> Res<String> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let found = if old.is_empty() { text.chars().count() + 1 } else { text.matches(old).count() };
    interp.spend(found.min(count).saturating_mul(new.len()).saturating_add(text.len()))?;
    Ok(text.replacen(old, new, count))
}

/// Letters behind what is no letter large, the others small.
pub fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        match inside {
            true => out.extend(c.to_lowercase()),
            false => out.extend(c.to_uppercase()),
        }
        inside = c.is_lowercase() || c.is_uppercase();
    }
    out
}

pub fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    first + &chars.as_str().to_lowercase()
}

fn swapped(c: char) -> Vec<char> {
    if c.is_uppercase() { c.to_lowercase().collect() } else { c.to_uppercase().collect() }
}

pub fn strip<'t>(text: &'t str, chars: Option<&str>, left: bool, right: bool) -> &'t str {
    let drops = |c: char| chars.map_or(python_space(c), |chars| chars.contains(c));
    let text = if left { text.trim_start_matches(drops) } else { text };
    if right { text.trim_end_matches(drops) } else { text }
}

fn python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

pub fn split(text: &str, separator: Option<&str>, most: Option<usize>, from_right: bool) -> Res<Vec<String>> {
    let own = |parts: Vec<&str>| parts.into_iter().map(str::to_owned).collect::<Vec<String>>();
    let Some(separator) = separator else { return Ok(split_blanks(text, most, from_right)) };
    if separator.is_empty() {
        return Err(Failure::value_error("empty separator"));
    }
    Ok(match (most, from_right) {
        (None, _) => own(text.split(separator).collect()),
        (Some(most), false) => own(text.splitn(most.saturating_add(1), separator).collect()),
        (Some(most), true) => {
            let mut parts: Vec<&str> = text.rsplitn(most.saturating_add(1), separator).collect();
            parts.reverse();
            own(parts)
        }
    })
}

fn split_blanks(text: &str, most: Option<usize>, from_right: bool) -> Vec<String> {
    let most = most.unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut rest = if from_right { text.trim_end_matches(python_space) } else { text.trim_start_matches(python_space) };
    while !rest.is_empty() {
        let cut = if from_right { rest.rfind(python_space) } else { rest.find(python_space) };
        let Some(at) = cut.filter(|_| parts.len() < most) else {
            parts.push(rest.to_owned());
            break;
        };
        if from_right {
            let width = rest[at..].chars().next().map_or(1, char::len_utf8);
            parts.push(rest[at + width..].to_owned());
            rest = rest[..at].trim_end_matches(python_space);
        } else {
            parts.push(rest[..at].to_owned());
            rest = rest[at..].trim_start_matches(python_space);
        }
    }
    if from_right {
        parts.reverse();
    }
    parts
}

/// Python's line ends.
fn lines(text: &str, keep: bool) -> Vec<String> {
    let mut out = Vec::new();
    let mut line = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if !matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}') {
            line.push(c);
            continue;
        }
        if keep {
            line.push(c);
        }
        if c == '\r' && chars.next_if_eq(&'\n').is_some() && keep {
            line.push('\n');
        }
        out.push(std::mem::take(&mut line));
    }
    if !line.is_empty() {
        out.push(line);
    }
    out
}

fn affixed(name: &str, text: &str, affix: &Val) -> Res<bool> {
    let one = |affix: &Val| match affix.as_str() {
        Some(affix) if name == "startswith" => Ok(text.starts_with(affix)),
        Some(affix) => Ok(text.ends_with(affix)),
        None => {
            let kind = affix.type_name();
            Err(Failure::type_error(format!("{name} first arg must be str or a tuple of str, not {kind}")))
        }
    };
    affix.defined()?;
    match affix {
        Val::Tuple(items) => {
            for item in &items.0 {
                if one(item)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        other => one(other),
    }
}

/// The part of a text that start and end, in characters, leave.
fn window(text: &str, start: Option<i64>, end: Option<i64>) -> &str {
    if start.is_none() && end.is_none() {
        return text;
    }
    let length = text.chars().count();
    let start = place(start.unwrap_or(0), length);
    let end = place(end.unwrap_or(i64::MAX), length).min(length);
    let byte = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    if start > end { "" } else { &text[byte(start)..byte(end)] }
}

fn search(text: &str, name: &str, bound: &Bound) -> Res<Val> {
    let part = needed(bound, 0)?;
    let length = text.chars().count();
    let start = place(bound.int(1)?.unwrap_or(0), length);
    let inside = window(text, bound.int(1)?, bound.int(2)?);
    if name == "count" {
        let count = if part.is_empty() { inside.chars().count() + 1 } else { inside.matches(part).count() };
        return Ok(Val::from(count));
    }
    let found = if name.starts_with('r') { inside.rfind(part) } else { inside.find(part) };
    match found {
        Some(at) => Ok(Val::from(start + inside[..at].chars().count())),
        None if name.ends_with("index") => Err(Failure::value_error("substring not found")),
        None => Ok(Val::Int(-1)),
    }
}

fn partition(text: &str, separator: &str, from_right: bool) -> Res<Val> {
    if separator.is_empty() {
        return Err(Failure::value_error("empty separator"));
    }
    let cut = if from_right { text.rsplit_once(separator) } else { text.split_once(separator) };
    let parts = match cut {
        Some((left, right)) => [left, separator, right],
        None if from_right => ["", "", text],
        None => [text, "", ""],
    };
    Ok(Val::tuple(parts.into_iter().map(Val::from).collect()))
}

pub fn justify(text: &str, width: usize, fill: char, name: &str) -> String {
    let missing = width.saturating_sub(text.chars().count());
    let (left, right) = match name {
        "ljust" => (0, missing),
        "rjust" => (missing, 0),
        // Python puts the odd one left where the width is odd.
        _ => {
            let left = missing / 2 + (missing & width & 1);
            (left, missing - left)
        }
    };
    let fill = |count: usize| -> String { std::iter::repeat_n(fill, count).collect() };
    format!("{}{text}{}", fill(left), fill(right))
}

fn expand_tabs(text: &str, size: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\t' if size == 0 => {}
            '\t' => {
                let blanks = size - column % size;
                out.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            }
            c => {
                column = if c == '\n' || c == '\r' { 0 } else { column + 1 };
                out.push(c);
            }
        }
    }
    out
}

fn encode(text: &str, encoding: &str, errors: &str) -> Res<Val> {
    let most = match encoding.replace('_', "-").as_str() {
        "utf-8" | "utf8" => return Ok(Val::Bytes(text.as_bytes().into())),
        "ascii" | "us-ascii" => 0x7f,
        "latin-1" | "latin1" | "iso-8859-1" => 0xff,
        _ => return Err(Failure::python("LookupError", format!("unknown encoding: {encoding}"))),
    };
    let mut out = Vec::with_capacity(text.len());
    for (at, c) in text.chars().enumerate() {
        match u32::from(c) {
            code if code <= most => out.push(code as u8),
            _ if errors == "ignore" => {}
            _ if errors == "replace" => out.push(b'?'),
            code => {
                let limit = most + 1;
                return Err(Failure::python(
                    "UnicodeEncodeError",
                    format!(
                        "'{encoding}' codec can't encode character '\\x{code:02x}' in position {at}: ordinal not in \
                         range({limit})"
                    ),
                ));
            }
        }
    }
    Ok(Val::Bytes(out.into()))
}

fn make_translation(bound: &Bound) -> Res<Val> {
    let code = |c: char| Val::Int(u32::from(c).into());
    let mut table = Dict::new();
    match (bound.val(0), bound.given(1)) {
        (Val::Dict(source), None) => {
            for (key, value) in source.0.borrow().iter() {
                let key = key.as_str().and_then(|text| text.chars().next()).map_or_else(|| key.clone(), code);
                table.insert(key, value.clone());
            }
        }
        (from, Some(to)) => {
            let (from, to) = (from.text(), to.text());
            if from.chars().count() != to.chars().count() {
                return Err(Failure::value_error("the first two maketrans arguments must have equal length"));
            }
            table.extend(from.chars().map(code).zip(to.chars().map(code)));
            if let Some(gone) = bound.text(2)? {
                table.extend(gone.chars().map(|c| (code(c), Val::None)));
            }
        }
        _ => return Err(Failure::type_error("if you give only one argument to maketrans it must be a dict")),
    }
    Ok(Val::dict(table))
}

fn translate(text: &str, table: &Dict) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match table.get(&Val::Int(u32::from(c).into())) {
            None => out.push(c),
            Some(Val::None) => {}
            Some(other) => match other.as_index().and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32) {
                Some(c) => out.push(c),
                None => out.push_str(&other.text()),
            },
        }
    }
    out
}

pub fn bytes(bytes: &[u8], name: &str, args: Args) -> Res<Val> {
    match name {
        "decode" => {
            let bound = Signature::new("decode", &["encoding", "errors"], 0).bind(args)?;
            let encoding = bound.text_or(0, "utf-8")?.to_lowercase();
            if encoding.starts_with("latin") || encoding.starts_with("iso-8859-1") {
                return Ok(Val::from(bytes.iter().map(|&byte| char::from(byte)).collect::<String>()));
            }
            match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Val::from(text)),
                Err(_) if bound.text_or(1, "strict")? != "strict" => {
                    Ok(Val::from(String::from_utf8_lossy(bytes).into_owned()))
                }
                Err(error) => {
                    let at = error.valid_up_to();
                    let byte = bytes.get(at).copied().unwrap_or(0);
                    Err(Failure::python(
                        "UnicodeDecodeError",
                        format!("'utf-8' codec can't decode byte 0x{byte:02x} in position {at}: invalid start byte"),
                    ))
                }
            }
        }
        "hex" => Ok(Val::from(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())),
        _ => {
            let Some(Val::Bytes(part)) = args.positional.first() else {
                return Err(Failure::type_error(format!("{name} first arg must be bytes")));
            };
            Ok(Val::Bool(if name == "startswith" { bytes.starts_with(part) } else { bytes.ends_with(part) }))
        }
    }
}
