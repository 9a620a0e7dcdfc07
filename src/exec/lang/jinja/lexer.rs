//! From a template's text to tokens, by the rules of jinja2's lexer: delimiters that can be chosen, whitespace control,
//! raw blocks, comments, line statements and line comments.

use super::ast::Name;
use super::ast::Pos;
use super::options::Options;
use super::token::{Tok, Token, operator};
use super::value::Val;
use crate::regex::control_character;
use num_bigint::BigInt;
use std::collections::HashMap;
use std::rc::Rc;

/// All tokens of a text, closed by [`Tok::End`] or [`Tok::Wrong`].
pub fn tokenize(text: &str, options: &Options) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        options,
        at: 0,
        marked: 0,
        pos: Pos { line: 1, column: 1 },
        line_starting: true,
        tokens: Vec::with_capacity(text.len() / 8),
        names: HashMap::new(),
    };
    let end = match lexer.run() {
        Ok(()) => Tok::End,
        Err(message) => Tok::Wrong(message),
    };
    // The end of a template stands where its last token does: jinja2's parser looks no further.
    let pos = match (&end, lexer.tokens.last()) {
        (Tok::End, Some(last)) => last.pos,
        _ => lexer.mark(lexer.at),
    };
    lexer.tokens.push(Token { kind: end, pos });
    lexer.tokens
}

/// The text with all line ends as `\n`, and without the last one unless it is to be kept.
pub fn normalize(text: &str, options: &Options) -> String {
    let mut text = if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() };
    if !options.keep_trailing_newline && text.ends_with('\n') {
        text.pop();
    }
    text
}

struct Lexer<'t> {
    text: &'t str,
    options: &'t Options,
    at: usize,
    /// Up to here `pos` has counted.
    marked: usize,
    pos: Pos,
    /// The last thing read ended a line.
    line_starting: bool,
    tokens: Vec<Token>,
    /// Each name once, so that equal names share their text.
    names: HashMap<&'t str, Name>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    Raw,
    Block,
    Print,
    Comment,
    LineStatement,
    LineComment,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    None,
    Minus,
    Plus,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Block,
    Print,
    LineStatement,
}

struct Found {
    opening: Opening,
    /// Where the text before ends and the tag begins.
    start: usize,
    sign: Sign,
    /// Behind the delimiter and its sign.
    end: usize,
}

impl<'t> Lexer<'t> {
    fn run(&mut self) -> Result<(), String> {
        while self.at < self.text.len() {
            let Some(found) = self.next_opening() else {
                self.data(self.at, self.text.len());
                self.at = self.text.len();
                return Ok(());
            };
            let end = self.stripped_end(&found);
            self.data(self.at, end);
            self.at = found.end;
            self.line_starting = self.text[..found.end].ends_with('\n');
            match found.opening {
                Opening::Raw => self.raw(found.start)?,
                Opening::Comment => self.comment()?,
                Opening::LineComment => {
                    self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |line| self.at + line);
                    self.line_starting = false;
                }
                Opening::Block => self.tag(found.start, Inside::Block)?,
                Opening::Print => self.tag(found.start, Inside::Print)?,
                Opening::LineStatement => self.tag(found.start, Inside::LineStatement)?,
            }
        }
        Ok(())
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Where the text before a tag ends, once its whitespace control is obeyed.
    fn stripped_end(&self, found: &Found) -> usize {
        let text = &self.text[self.at..found.start];
        if found.sign == Sign::Minus {
            return self.at + text.trim_end().len();
        }
        let lstrip = self.options.lstrip_blocks && found.sign != Sign::Plus && found.opening != Opening::Print;
        if lstrip {
            let line = text.rfind('\n').map_or(0, |at| at + 1);
            let blank = !text[line..].is_empty() && text[line..].trim().is_empty();
            if (line > 0 || self.line_starting) && blank {
                return self.at + line;
            }
        }
        found.start
    }

    fn data(&mut self, from: usize, to: usize) {
        if to <= from {
            return;
        }
        let text = &self.text[from..to];
        let newline = self.options.newline_sequence.as_str();
        let data: Rc<str> = if newline == "\n" { text.into() } else { text.replace('\n', newline).into() };
        self.push(from, Tok::Data(data));
    }

    fn push(&mut self, at: usize, kind: Tok) {
        let pos = self.mark(at);
        self.tokens.push(Token { kind, pos });
    }

    /// Line and column of a place at or behind the last one asked for.
    fn mark(&mut self, at: usize) -> Pos {
        if at >= self.marked {
            for &byte in &self.text.as_bytes()[self.marked..at] {
                if byte == b'\n' {
                    self.pos = Pos { line: self.pos.line + 1, column: 1 };
                } else if byte & 0xc0 != 0x80 {
                    // The first byte of a character.
                    self.pos.column += 1;
                }
            }
            self.marked = at;
        }
        self.pos
    }

    fn next_opening(&self) -> Option<Found> {
        let options = self.options;
        let lines = options.line_statement_prefix.is_some() || options.line_comment_prefix.is_some();
        let firsts = [&options.block_start, &options.variable_start, &options.comment_start]
            .map(|start| start.as_bytes().first().copied().unwrap_or(0));
        let mut at = self.at;
        loop {
            let rest = &self.text.as_bytes()[at..];
            let offset = match lines {
                true => (!rest.is_empty()).then_some(0)?,
                false => rest.iter().position(|byte| firsts.contains(byte))?,
            };
            at += offset;
            if self.text.is_char_boundary(at)
                && let Some(found) = self.opening_at(at)
            {
                return Some(found);
            }
            at += 1;
        }
    }

    /// The tag that begins here: longer delimiters are tried first, as in jinja2.
    fn opening_at(&self, at: usize) -> Option<Found> {
        let options = self.options;
        let rest = &self.text[at..];
        if let Some(end) = self.raw_begin(at) {
            let sign = sign_of(&rest[options.block_start.len()..]);
            return Some(Found { opening: Opening::Raw, start: at, sign, end });
        }
        // Length of the delimiter, rank among those of the same length, where it ends.
        let mut best: Option<(usize, u8, Opening, usize)> = None;
        let mut consider = |delimiter: &str, rank: u8, opening: Opening, end: Option<usize>| {
            if let Some(end) = end
                && best.is_none_or(|(length, other, ..)| (delimiter.len(), rank) > (length, other))
            {
                best = Some((delimiter.len(), rank, opening, end));
            }
        };
        let plain = |delimiter: &str| rest.starts_with(delimiter).then(|| at + delimiter.len());
        consider(&options.variable_start, 5, Opening::Print, plain(&options.variable_start));
        consider(&options.comment_start, 2, Opening::Comment, plain(&options.comment_start));
        consider(&options.block_start, 1, Opening::Block, plain(&options.block_start));
        let line_start = at == 0 || self.text.as_bytes()[at - 1] == b'\n';
        if let Some(prefix) = &options.line_statement_prefix {
            let begin = rest.trim_start_matches([' ', '\t', '\u{b}']);
            let end = (line_start && begin.starts_with(prefix.as_str()))
                .then(|| at + rest.len() - begin.len() + prefix.len());
            consider(prefix, 4, Opening::LineStatement, end);
        }
        if let Some(prefix) = &options.line_comment_prefix {
            let begin = rest.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
            let after_text = self.text[..at].chars().next_back().is_some_and(|c| !c.is_whitespace());
            let end = ((line_start || after_text) && begin.starts_with(prefix.as_str()))
                .then(|| at + rest.len() - begin.len() + prefix.len());
            consider(prefix, 3, Opening::LineComment, end);
        }
        let (.., opening, end) = best?;
        let sign = sign_of(&self.text[end..]);
        Some(Found { opening, start: at, sign, end: end + usize::from(sign != Sign::None) })
    }

    /// Behind `{% raw %}`, where one stands here.
    fn raw_begin(&self, at: usize) -> Option<usize> {
        let rest = self.text[at..].strip_prefix(self.options.block_start.as_str())?;
        let rest = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        let rest = rest.trim_start().strip_prefix("raw")?.trim_start();
        let end = &self.options.block_end;
        let rest = match rest.strip_prefix('-').and_then(|rest| rest.strip_prefix(end.as_str())) {
            Some(rest) => rest.trim_start(),
            None => rest.strip_prefix(end.as_str())?,
        };
        Some(self.text.len() - rest.len())
    }

    fn raw(&mut self, start: usize) -> Result<(), String> {
        let block_start = &self.options.block_start;
        let mut from = self.at;
        while let Some(offset) = self.text[from..].find(block_start.as_str()) {
            let start = from + offset;
            let inner = &self.text[start + block_start.len()..];
            let sign = sign_of(inner);
            let inner = if sign == Sign::None { inner } else { &inner[1..] };
            let name = inner.trim_start().strip_prefix("endraw").map(str::trim_start);
            if let Some(rest) = name.and_then(|rest| self.block_end(rest)) {
                let end = self.text.len() - rest.len();
                let found = Found { opening: Opening::Raw, start, sign, end };
                let data_end = self.stripped_end(&found);
                self.data(self.at, data_end);
                self.line_starting = self.text[..end].ends_with('\n');
                self.at = end;
                return Ok(());
            }
            from = start + block_start.len();
        }
        self.at = start;
        Err("Missing end of raw directive".to_owned())
    }

    /// What stands behind the end of a block that begins here, with its whitespace control.
    fn block_end(&self, text: &'t str) -> Option<&'t str> {
        let end = self.options.block_end.as_str();
        self.closing(text, end)
    }

    fn closing(&self, text: &'t str, end: &str) -> Option<&'t str> {
        if let Some(rest) = text.strip_prefix('+').and_then(|rest| rest.strip_prefix(end)) {
            return Some(rest);
        }
        if let Some(rest) = text.strip_prefix('-').and_then(|rest| rest.strip_prefix(end)) {
            return Some(rest.trim_start());
        }
        let rest = text.strip_prefix(end)?;
        Some(if self.options.trim_blocks { rest.strip_prefix('\n').unwrap_or(rest) } else { rest })
    }

    fn comment(&mut self) -> Result<(), String> {
        let end = self.options.comment_end.as_str();
        let Some(offset) = self.rest().find(end) else {
            return Err("Missing end of comment tag".to_owned());
        };
        let inner = &self.rest()[..offset];
        let sign = inner.chars().next_back().filter(|c| matches!(c, '-' | '+'));
        let from = self.at + offset - usize::from(sign.is_some());
        let rest = self.closing(&self.text[from..], end).unwrap_or("");
        self.at = self.text.len() - rest.len();
        self.line_starting = self.text[..self.at].ends_with('\n');
        Ok(())
    }

    fn tag(&mut self, start: usize, inside: Inside) -> Result<(), String> {
        self.push(start, if inside == Inside::Print { Tok::PrintBegin } else { Tok::TagBegin });
        let mut open: Vec<&'static str> = Vec::new();
        loop {
            if open.is_empty()
                && self.may_end(inside)
                && let Some(end) = self.tag_end(inside)
            {
                let kind = if inside == Inside::Print { Tok::PrintEnd } else { Tok::TagEnd };
                self.push(self.at, kind);
                self.at = end;
                self.line_starting = self.text[..end].ends_with('\n');
                return Ok(());
            }
            let rest = self.rest();
            let Some(c) = rest.chars().next() else { return Ok(()) };
            if c.is_whitespace() {
                self.at += rest.len() - rest.trim_start().len();
            } else if c.is_ascii_digit() {
                self.number(rest);
            } else if c.is_alphanumeric() || c == '_' {
                self.name(rest)?;
            } else if c == '\'' || c == '"' {
                self.string(rest, c)?;
            } else {
                self.operator(rest, &mut open)?;
            }
        }
    }

    /// Whether it is worth looking for the end of the tag here: most tokens do not begin like one.
    fn may_end(&self, inside: Inside) -> bool {
        let end = match inside {
            Inside::Block => &self.options.block_end,
            Inside::Print => &self.options.variable_end,
            Inside::LineStatement => return true,
        };
        let byte = self.text.as_bytes().get(self.at);
        matches!(byte, Some(b'-' | b'+')) || byte == end.as_bytes().first()
    }

    fn tag_end(&self, inside: Inside) -> Option<usize> {
        let rest = self.rest();
        let behind = match inside {
            Inside::Block => self.block_end(rest)?,
            Inside::Print => {
                let end = self.options.variable_end.as_str();
                match rest.strip_prefix('-').and_then(|rest| rest.strip_prefix(end)) {
                    Some(behind) => behind.trim_start(),
                    None => rest.strip_prefix(end)?,
                }
            }
            Inside::LineStatement => {
                let blank = rest.len() - rest.trim_start().len();
                match rest[..blank].rfind('\n') {
                    Some(newline) => &rest[newline + 1..],
                    None if blank == rest.len() => &rest[blank..],
                    None => return None,
                }
            }
        };
        Some(self.text.len() - behind.len())
    }

    fn name(&mut self, rest: &'t str) -> Result<(), String> {
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let text = &rest[..length];
        let name = self.names.entry(text).or_insert_with(|| text.into()).clone();
        self.push(self.at, Tok::Name(name));
        self.at += length;
        Ok(())
    }

    fn number(&mut self, rest: &str) {
        let after_dot = self.text[..self.at].ends_with('.');
        let float = if after_dot { None } else { float_length(rest) };
        if let Some(length) = float {
            let number = rest[..length].replace('_', "").parse().unwrap_or(f64::INFINITY);
            self.push(self.at, Tok::Float(number));
            self.at += length;
            return;
        }
        let (length, value) = integer(rest);
        self.push(self.at, Tok::Integer(value));
        self.at += length;
    }

    fn string(&mut self, rest: &str, quote: char) -> Result<(), String> {
        let mut escaped = false;
        for (offset, c) in rest.char_indices().skip(1) {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == quote {
                let text = unescape(&rest[1..offset])?;
                self.push(self.at, Tok::Str(text.into()));
                self.at += offset + 1;
                return Ok(());
            }
        }
        Err(self.unexpected(quote))
    }

    fn operator(&mut self, rest: &str, open: &mut Vec<&'static str>) -> Result<(), String> {
        let Some(op) = operator(rest) else {
            return Err(self.unexpected(rest.chars().next().unwrap_or(' ')));
        };
        match op {
            "{" => open.push("}"),
            "(" => open.push(")"),
            "[" => open.push("]"),
            "}" | ")" | "]" => match open.pop() {
                None => return Err(format!("unexpected '{op}'")),
                Some(expected) if expected != op => return Err(format!("unexpected '{op}', expected '{expected}'")),
                Some(_) => {}
            },
            _ => {}
        }
        self.push(self.at, Tok::Op(op));
        self.at += op.len();
        Ok(())
    }

    fn unexpected(&self, c: char) -> String {
        let at = self.text[..self.at].chars().count();
        format!("unexpected char {} at {at}", halite_value::str_repr(&c.to_string()))
    }
}

fn sign_of(text: &str) -> Sign {
    match text.as_bytes().first() {
        Some(b'-') => Sign::Minus,
        Some(b'+') => Sign::Plus,
        _ => Sign::None,
    }
}

/// Bytes of digits with single underscores between them.
fn digits(text: &str, digit: impl Fn(u8) -> bool) -> usize {
    let bytes = text.as_bytes();
    let mut length = 0;
    while let Some(&byte) = bytes.get(length) {
        let joined = byte == b'_' && length > 0 && bytes.get(length + 1).is_some_and(|&next| digit(next));
        if !digit(byte) && !joined {
            break;
        }
        length += 1;
    }
    length
}

fn float_length(text: &str) -> Option<usize> {
    let decimal = |byte: u8| byte.is_ascii_digit();
    let mut length = digits(text, decimal);
    let mut float = false;
    if text[length..].starts_with('.') {
        let fraction = digits(&text[length + 1..], decimal);
        if fraction > 0 {
            length += 1 + fraction;
            float = true;
        }
    }
    if text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = digits(&text[length + 1 + sign..], decimal);
        if exponent > 0 {
            return Some(length + 1 + sign + exponent);
        }
    }
    float.then_some(length)
}

fn integer(text: &str) -> (usize, Val) {
    for (prefix, radix) in [("0b", 2), ("0o", 8), ("0x", 16)] {
        let head = text.get(..2).unwrap_or("").to_ascii_lowercase();
        if head == prefix {
            let length = digits(text[2..].trim_start_matches('_'), |byte| (byte as char).is_digit(radix));
            let skipped = text[2..].len() - text[2..].trim_start_matches('_').len();
            if length > 0 && skipped < 2 {
                return (2 + skipped + length, number(&text[2..2 + skipped + length], radix));
            }
        }
    }
    let length = match text.starts_with('0') {
        true => digits(text, |byte| byte == b'0'),
        false => digits(text, |byte| byte.is_ascii_digit()),
    };
    (length.max(1), number(&text[..length.max(1)], 10))
}

fn number(digits: &str, radix: u32) -> Val {
    let digits = digits.replace('_', "");
    match i64::from_str_radix(&digits, radix) {
        Ok(small) => Val::Int(small),
        Err(_) => Val::big(BigInt::parse_bytes(digits.as_bytes(), radix).unwrap_or_default()),
    }
}

/// A string literal's text: Python's escapes, unknown ones left as they are.
fn unescape(text: &str) -> Result<String, String> {
    if !text.contains('\\') {
        return Ok(text.to_owned());
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(kind) = chars.next() else { break };
        if let Some(control) = control_character(kind) {
            out.push(control);
            continue;
        }
        let size = match kind {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            '0'..='7' => {
                let more: String = chars.clone().take_while(|c| c.is_digit(8)).take(2).collect();
                let code = u32::from_str_radix(&format!("{kind}{more}"), 8).unwrap_or(0);
                chars = skipping(chars, more.len());
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                continue;
            }
            '\\' | '\'' | '"' => {
                out.push(kind);
                continue;
            }
            '\n' => continue,
            other => {
                out.push('\\');
                out.push(other);
                continue;
            }
        };
        let code: String = chars.clone().take(size).take_while(char::is_ascii_hexdigit).collect();
        if code.len() < size {
            let shape = if kind == 'x' {
                "\\xXX"
            } else if kind == 'u' {
                "\\uXXXX"
            } else {
                "\\UXXXXXXXX"
            };
            return Err(format!("truncated {shape} escape"));
        }
        chars = skipping(chars, size);
        let code = u32::from_str_radix(&code, 16).unwrap_or(u32::MAX);
        out.push(char::from_u32(code).ok_or("illegal Unicode character")?);
    }
    Ok(out)
}

fn skipping(mut chars: std::str::Chars<'_>, count: usize) -> std::str::Chars<'_> {
    for _ in 0..count {
        chars.next();
    }
    chars
}
