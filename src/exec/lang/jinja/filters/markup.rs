//! Filters that make or unmake HTML and URLs.

use super::super::error::{Failure, Res};
use super::super::eval::{Bound, Interp, escape};
use super::super::value::Val;
use super::text::text;
use super::{Filter, filter};

pub const FILTERS: &[Filter] = &[
    filter("escape", &[], 0, escaped),
    filter("e", &[], 0, escaped),
    filter("forceescape", &[], 0, |_, value, _| Ok(Val::Markup(escape(&text(&value)?).into()))),
    filter("safe", &[], 0, |_, value, _| Ok(Val::Markup(text(&value)?.into()))),
    filter("striptags", &[], 0, strip_tags),
    filter("urlencode", &[], 0, url_encode),
    filter("urlize", &["trim_url_limit", "nofollow", "target", "rel", "extra_schemes"], 0, urlize),
    filter("xmlattr", &["autospace"], 0, xml_attributes),
];

fn escaped(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    Ok(match value {
        Val::Markup(_) => value,
        other => Val::Markup(escape(&text(&other)?).into()),
    })
}

/// Text without tags and comments, its blanks made single.
fn strip_tags(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let source = text(&value)?;
    let mut out = String::new();
    let mut rest = &source[..];
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let (end, skip) = if rest[at..].starts_with("<!--") { ("-->", 3) } else { (">", 1) };
        match rest[at..].find(end) {
            Some(close) => rest = &rest[at + close + skip..],
            None => {
                out.push_str(&rest[at..]);
                rest = "";
            }
        }
    }
    out.push_str(rest);
    let words: Vec<&str> = out.split_whitespace().collect();
    Ok(Val::from(unescape(&words.join(" "))))
}

fn unescape(text: &str) -> String {
    let mut text = text.to_owned();
    for (entity, plain) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#34;", "\""),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", "\u{a0}"),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, plain);
    }
    text
}

pub fn quoted(text: &str, safe: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => out.push(byte as char),
            byte if safe.as_bytes().contains(&byte) => out.push(byte as char),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn url_encode(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    value.defined()?;
    if value.as_str().is_some() || !value.is_iterable() {
        return Ok(Val::from(quoted(&value.text(), "/")));
    }
    let entries = match &value {
        Val::Dict(dict) => super::super::value::pairs(&dict.0.borrow()),
        other => other.items(interp)?,
    };
    let mut parts = Vec::with_capacity(entries.len());
    for entry in entries {
        let Ok([key, value]) = <[Val; 2]>::try_from(entry.items(interp)?) else {
            return Err(Failure::value_error("not enough values to unpack (expected 2)"));
        };
        let part = |value: &Val| quoted(&value.text(), "").replace("%20", "+");
        parts.push(format!("{}={}", part(&key), part(&value)));
    }
    Ok(Val::from(parts.join("&")))
}

/// Makes links of the words that are URLs, domains or mail addresses.
fn urlize(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let limit = bound.int(0)?.and_then(|limit| usize::try_from(limit).ok());
    let mut rel: Vec<&str> = bound.text_or(3, "")?.split_whitespace().collect();
    if bound.truth(1, false)? {
        rel.push("nofollow");
    }
    rel.push("noopener");
    rel.sort_unstable();
    rel.dedup();
    let rel = format!(" rel=\"{}\"", rel.join(" "));
    let target = bound.text(2)?.map_or_else(String::new, |target| format!(" target=\"{}\"", escape(target)));
    let source = escape(&text(&value)?);
    interp.spend(source.len())?;
    let mut out = String::new();
    for piece in source.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        let blank = &piece[word.len()..];
        let start = word.len() - word.trim_start_matches(['(', '<']).len();
        let inner = &word[start..];
        let end = inner.trim_end_matches(['.', ',', ')', '\n', ';', '!', '?']).len();
        let (middle, tail) = inner.split_at(end);
        let shown = match limit {
            Some(limit) if middle.chars().count() > limit => middle.chars().take(limit).collect::<String>() + "...",
            _ => middle.to_owned(),
        };
        out.push_str(&word[..start]);
        let domain = [".com", ".net", ".org"].iter().any(|end| middle.ends_with(end)) && !middle.contains('@');
        if middle.starts_with("http://") || middle.starts_with("https://") {
            out.push_str(&format!("<a href=\"{middle}\"{rel}{target}>{shown}</a>"));
        } else if middle.starts_with("www.") || domain {
            out.push_str(&format!("<a href=\"https://{middle}\"{rel}{target}>{shown}</a>"));
        } else if middle.starts_with("mailto:") && middle.contains('@') {
            out.push_str(&format!("<a href=\"{middle}\">{}</a>", &middle["mailto:".len()..]));
        } else if middle.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.')) {
            out.push_str(&format!("<a href=\"mailto:{middle}\">{middle}</a>"));
        } else {
            out.push_str(middle);
        }
        out.push_str(tail);
        out.push_str(blank);
    }
    Ok(if interp.frame.autoescape { Val::Markup(out.into()) } else { Val::from(out) })
}

fn xml_attributes(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    value.defined()?;
    let Val::Dict(dict) = &value else {
        return Err(Failure::python(
            "AttributeError",
            format!("'{}' object has no attribute 'items'", value.type_name()),
        ));
    };
    let mut parts = Vec::new();
    for (key, value) in dict.0.borrow().iter() {
        if value.is_none() || value.is_undefined() {
            continue;
        }
        let key = key.text();
        if key.contains([' ', '\t', '\n', '\r', '\u{c}', '/', '>', '=']) {
            let key = Val::from(key).repr();
            return Err(Failure::value_error(format!("Invalid character in attribute name: {key}")));
        }
        let value = if let Val::Markup(text) = value { text.to_string() } else { escape(&value.text()) };
        parts.push(format!("{}=\"{value}\"", escape(&key)));
    }
    let mut out = parts.join(" ");
    if bound.truth(0, true)? && !out.is_empty() {
        out.insert(0, ' ');
    }
    Ok(if interp.frame.autoescape { Val::Markup(out.into()) } else { Val::from(out) })
}
