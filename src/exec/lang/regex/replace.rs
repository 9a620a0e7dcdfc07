//! Python's `re.sub`: what takes the place of what is found.

use super::{Found, Regex, RegexError};

/// What is made of a text may be so long.
const LONGEST: usize = 64 << 20;

/// What takes the place: text and groups (`\1`, `\g<name>`).
pub struct Template<'r> {
    regex: &'r Regex,
    parts: Vec<Part>,
}

/// What became of a text, and how often something was replaced in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    pub text: String,
    pub count: usize,
}

/// Why a template is none: the exception that Python raises, and its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    pub kind: &'static str,
    pub message: String,
}

impl std::fmt::Display for TemplateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

#[derive(Debug)]
enum Part {
    Text(String),
    Group(usize),
}

impl<'r> Template<'r> {
    pub fn parse(text: &str, regex: &'r Regex) -> Result<Template<'r>, TemplateError> {
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
                    let unknown = || error("IndexError", format!("unknown group name '{name}'"));
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
                    let unknown = || error("error", format!("bad escape \\{c} at position 0"));
                    plain.push(control_character(c).ok_or_else(unknown)?);
                    continue;
                }
                Some(c) => {
                    plain.push('\\');
                    plain.push(c);
                    continue;
                }
                None => {
                    return Err(error("error", "bad escape (end of pattern) at position 0".to_owned()));
                }
            };
            if group > regex.group_count() {
                return Err(error("error", format!("invalid group reference {group} at position 1")));
            }
            parts.push(Part::Text(std::mem::take(&mut plain)));
            parts.push(Part::Group(group));
        }
        parts.push(Part::Text(plain));
        Ok(Template { regex, parts })
    }

    /// A text that stands for itself: no backslash in it means anything.
    pub fn literal(text: &str, regex: &'r Regex) -> Template<'r> {
        Template { regex, parts: vec![Part::Text(text.to_owned())] }
    }

    /// Replaces what is found, so many times at most.
    pub fn replace(&self, source: &str, most: usize) -> Result<Replaced, RegexError> {
        let mut replaced = Replaced { text: String::new(), count: 0 };
        let (mut at, mut from) = (0, 0);
        // Behind what was just found nothing empty is found again.
        let mut last_end = None;
        while from <= source.len() && replaced.count < most {
            let Some(found) = self.regex.search_from(source, from)? else { break };
            let range = found.range();
            if range.is_empty() && last_end == Some(range.start) {
                from = next_char(source, range.end);
                continue;
            }
            replaced.text.push_str(source.get(at..range.start).unwrap_or(""));
            self.expand(&found, &mut replaced.text);
            replaced.count += 1;
            at = range.end;
            last_end = Some(range.end);
            from = if range.is_empty() { next_char(source, range.end) } else { range.end };
            if replaced.text.len() > LONGEST {
                return Err(RegexError::new("the text is too long", None));
            }
        }
        replaced.text.push_str(source.get(at..).unwrap_or(""));
        Ok(replaced)
    }

    fn expand(&self, found: &Found, out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Group(group) => out.push_str(found.group(*group).unwrap_or("")),
            }
        }
    }
}

fn error(kind: &'static str, message: String) -> TemplateError {
    TemplateError { kind, message }
}

/// The control character that a letter behind a backslash means, in Python's strings and patterns.
pub fn control_character(letter: char) -> Option<char> {
    Some(match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        _ => return None,
    })
}

fn next_char(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(at + 1, |c| at + c.len_utf8())
}

/// Python's `re.escape`.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "()[]{}?*+-|^$\\.&~# \t\n\r\u{b}\u{c}".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_replaced_as_in_python() {
        let sub = |pattern: &str, template: &str, text: &str, most| {
            let regex = Regex::new(pattern).unwrap();
            Template::parse(template, &regex).map(|template| template.replace(text, most).unwrap())
        };
        let replaced = |text: &str, count| Ok(Replaced { text: text.to_owned(), count });
        assert_eq!(sub("(a)(b)?", r"<\1\g<2>\n>", "abxa", 9), replaced("<ab\n>x<a\n>", 2));
        assert_eq!(sub("x*", "-", "abxd", 9), replaced("-a-b-d-", 4));
        assert_eq!(sub("a", "b", "aaa", 2), replaced("bba", 2));
        assert_eq!(sub("a", r"\1", "a", 1).unwrap_err().message, "invalid group reference 1 at position 1");
        let regex = Regex::new("a").unwrap();
        assert_eq!(Template::literal(r"\1", &regex).replace("a", 1).unwrap().text, r"\1");
    }
}
