//! Which tag a scalar without one has: YAML 1.1's rules, as Salt's loader applies them. The dumper asks the same
//! question to know what must be quoted.

/// The tags that Salt's loader knows, and any other by its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tag {
    Null,
    Bool,
    Int,
    Float,
    Str,
    Unicode,
    Binary,
    Timestamp,
    Seq,
    Map,
    Set,
    Omap,
    Pairs,
    Merge,
    Value,
    Other(Box<str>),
}

const PREFIX: &str = "tag:yaml.org,2002:";

const NAMES: [(&str, Tag); 15] = [
    ("null", Tag::Null),
    ("bool", Tag::Bool),
    ("int", Tag::Int),
    ("float", Tag::Float),
    ("str", Tag::Str),
    ("python/unicode", Tag::Unicode),
    ("binary", Tag::Binary),
    ("timestamp", Tag::Timestamp),
    ("seq", Tag::Seq),
    ("map", Tag::Map),
    ("set", Tag::Set),
    ("omap", Tag::Omap),
    ("pairs", Tag::Pairs),
    ("merge", Tag::Merge),
    ("value", Tag::Value),
];

impl Tag {
    /// The tag for its full text, such as `tag:yaml.org,2002:int`.
    pub fn from_text(text: &str) -> Tag {
        let known = text.strip_prefix(PREFIX).and_then(|name| NAMES.iter().find(|(known, _)| *known == name));
        known.map_or_else(|| Tag::Other(text.into()), |(_, tag)| tag.clone())
    }

    /// The full text, as messages show it.
    pub fn text(&self) -> String {
        match self {
            Tag::Other(text) => text.to_string(),
            known => {
                let name = NAMES.iter().find(|(_, tag)| tag == known).map_or("", |(name, _)| name);
                format!("{PREFIX}{name}")
            }
        }
    }
}

/// The tag of a plain scalar. Only a few first characters can begin anything but text, which decides most cases.
pub fn resolve(text: &str) -> Tag {
    let Some(first) = text.bytes().next() else { return Tag::Null };
    match first {
        b'0'..=b'9' | b'-' | b'+' | b'.' => number(text),
        b'~' if text == "~" => Tag::Null,
        b'<' if text == "<<" => Tag::Merge,
        b'=' if text == "=" => Tag::Value,
        b'n' | b'N' if matches!(text, "null" | "Null" | "NULL") => Tag::Null,
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' if is_bool(text) => Tag::Bool,
        _ => Tag::Str,
    }
}

fn is_bool(text: &str) -> bool {
    matches!(
        text,
        "yes"
            | "Yes"
            | "YES"
            | "no"
            | "No"
            | "NO"
            | "true"
            | "True"
            | "TRUE"
            | "false"
            | "False"
            | "FALSE"
            | "on"
            | "On"
            | "ON"
            | "off"
            | "Off"
            | "OFF"
    )
}

fn number(text: &str) -> Tag {
    if is_float(text) {
        Tag::Float
    } else if is_int(text) {
        Tag::Int
    } else if is_timestamp(text) {
        Tag::Timestamp
    } else {
        Tag::Str
    }
}

fn is_int(text: &str) -> bool {
    let digits = unsigned(text);
    if let Some(rest) = digits.strip_prefix("0b") {
        return all(rest, |c| matches!(c, b'0' | b'1' | b'_'));
    }
    if let Some(rest) = digits.strip_prefix("0x") {
        return all(rest, |c| c.is_ascii_hexdigit() || c == b'_');
    }
    if let Some(rest) = digits.strip_prefix('0') {
        return rest.is_empty() || all(rest, |c| matches!(c, b'0'..=b'7' | b'_'));
    }
    let (head, parts) = digits.split_once(':').map_or((digits, None), |(head, parts)| (head, Some(parts)));
    is_digits(head) && parts.is_none_or(|parts| parts.split(':').all(is_sixtieth))
}

fn is_float(text: &str) -> bool {
    let digits = unsigned(text);
    if matches!(digits, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let Some((head, tail)) = digits.split_once('.') else { return false };
    if head.is_empty() {
        // Without digits before the point no sign is allowed, and at least one digit must follow.
        return digits.len() == text.len() && split_exponent(tail).is_some_and(is_digits);
    }
    if let Some((first, parts)) = head.split_once(':') {
        return is_digits(first) && parts.split(':').all(is_sixtieth) && fraction(tail);
    }
    is_digits(head) && split_exponent(tail).is_some_and(fraction)
}

/// What stands before an exponent; nothing when there is a malformed one. An exponent must carry its sign.
fn split_exponent(tail: &str) -> Option<&str> {
    let Some(at) = tail.find(['e', 'E']) else { return Some(tail) };
    let exponent = tail[at + 1..].strip_prefix(['-', '+'])?;
    all(exponent, |c| c.is_ascii_digit()).then_some(&tail[..at])
}

fn fraction(text: &str) -> bool {
    text.bytes().all(|c| c.is_ascii_digit() || c == b'_')
}

fn is_digits(text: &str) -> bool {
    text.as_bytes().first().is_some_and(u8::is_ascii_digit) && fraction(text)
}

/// `0` to `59`, one digit or two.
fn is_sixtieth(text: &str) -> bool {
    match text.as_bytes() {
        [unit] => unit.is_ascii_digit(),
        [ten, unit] => matches!(ten, b'0'..=b'5') && unit.is_ascii_digit(),
        _ => false,
    }
}

fn is_timestamp(text: &str) -> bool {
    let Some((year, rest)) = text.split_at_checked(4) else { return false };
    if !all(year, |c| c.is_ascii_digit()) {
        return false;
    }
    let bytes = rest.as_bytes();
    if let [b'-', m1, m2, b'-', d1, d2] = bytes {
        return [m1, m2, d1, d2].iter().all(|c| c.is_ascii_digit());
    }
    let mut at = Cursor { rest: bytes };
    at.byte(b"-")
        && at.digits(1, 2)
        && at.byte(b"-")
        && at.digits(1, 2)
        && (at.byte(b"Tt") || at.blanks() > 0)
        && at.digits(1, 2)
        && at.byte(b":")
        && at.digits(2, 2)
        && at.byte(b":")
        && at.digits(2, 2)
        && at.zone()
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl Cursor<'_> {
    fn byte(&mut self, any: &[u8]) -> bool {
        let found = self.rest.first().is_some_and(|c| any.contains(c));
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn digits(&mut self, least: usize, most: usize) -> bool {
        let count = self.rest.iter().take(most).take_while(|c| c.is_ascii_digit()).count();
        self.rest = &self.rest[count..];
        count >= least
    }

    fn blanks(&mut self) -> usize {
        let count = self.rest.iter().take_while(|c| matches!(c, b' ' | b'\t')).count();
        self.rest = &self.rest[count..];
        count
    }

    /// An optional fraction of a second and an optional zone, to the end.
    fn zone(&mut self) -> bool {
        if self.byte(b".") {
            self.digits(0, usize::MAX);
        }
        if self.rest.is_empty() {
            return true;
        }
        self.blanks();
        let named = self.byte(b"Z")
            || (self.byte(b"-+")
                && self.digits(1, 2)
                && (self.rest.is_empty() || (self.byte(b":") && self.digits(2, 2))));
        named && self.rest.is_empty()
    }
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

/// At least one byte, and all of them fit.
fn all(text: &str, fits: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_have_the_tags_of_yaml_1_1() {
        for (tag, texts) in [
            (Tag::Null, vec!["", "~", "null", "NULL"]),
            (Tag::Bool, vec!["yes", "No", "ON", "off", "true", "FALSE"]),
            (Tag::Int, vec!["0", "-0", "0644", "+12", "0b1_0", "-0x1F", "1_000", "1:30", "190:20:30", "0x_", "00"]),
            (Tag::Float, vec!["1.", "1.5", ".5", "1.0e+3", "-.INF", ".nan", "1_0.5_0", "12:30:45.6", "1.5E-3"]),
            (
                Tag::Timestamp,
                vec!["2024-01-31", "2024-1-3 1:02:03", "2024-01-31T10:20:30.5Z", "2024-01-31 10:20:30 +01:00"],
            ),
            (Tag::Merge, vec!["<<"]),
            (Tag::Value, vec!["="]),
            (
                Tag::Str,
                vec![
                    "08",
                    "1e3",
                    "1.5e3",
                    "0o17",
                    "yEs",
                    "nULL",
                    "none",
                    "-",
                    "+",
                    ".",
                    "-.5",
                    "-.nan",
                    "1:60",
                    "0:05",
                    "0b",
                    "0x",
                    "_1",
                    "2024-1-3",
                    "2024-01-31 10:20",
                    "1.2.3",
                    "é",
                    "y",
                    "n",
                    "12é4-",
                    "1.5e+",
                    "..5",
                ],
            ),
        ] {
            for text in texts {
                assert_eq!(resolve(text), tag, "{text:?}");
            }
        }
    }

    #[test]
    fn a_tag_and_its_text_belong_together() {
        for (name, tag) in NAMES {
            assert_eq!(Tag::from_text(&format!("{PREFIX}{name}")), tag);
            assert_eq!(tag.text(), format!("{PREFIX}{name}"));
        }
        assert_eq!(Tag::from_text("!x").text(), "!x");
    }
}
