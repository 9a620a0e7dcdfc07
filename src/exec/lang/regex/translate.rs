//! From Python's notation to that of fancy-regex.
//!
//! Every literal, class and group is written anew, so that nothing has a meaning there that it has not in Python. What
//! depends on a flag is decided here (`^`, `$`, ASCII classes, verbose blanks); `i` and `s` are handed on. Named groups
//! become numbered ones, their names are kept aside.

use super::{Flags, RegexError};

/// The result: the new notation, and what the groups are called.
#[derive(Debug)]
pub struct Translation {
    pub text: String,
    pub groups: usize,
    pub names: Vec<(String, usize)>,
}

/// Groups nested deeper are refused; the engine that compiles them is recursive.
const DEPTH_LIMIT: usize = 200;

pub fn translate(pattern: &str, flags: Flags) -> Result<Translation, RegexError> {
    let mut translator = Translator {
        chars: pattern.chars().collect(),
        at: 0,
        out: String::with_capacity(pattern.len() + 16),
        flags,
        open: Vec::new(),
        groups: 0,
        names: Vec::new(),
        last: Last::Nothing,
    };
    translator.global_flags()?;
    translator.run()?;
    let handed_on = handed_on(translator.flags);
    let text = format!("(?{handed_on}:{})", translator.out);
    Ok(Translation { text, groups: translator.groups, names: translator.names })
}

struct Translator {
    chars: Vec<char>,
    at: usize,
    out: String,
    flags: Flags,
    open: Vec<Group>,
    groups: usize,
    names: Vec<(String, usize)>,
    last: Last,
}

/// A group that is not closed yet.
struct Group {
    position: usize,
    flags_outside: Flags,
    /// Where it begins in the output.
    start: usize,
    /// Its number, where it has one.
    index: Option<usize>,
}

/// What a repetition would repeat.
#[derive(Clone, Copy)]
enum Last {
    Nothing,
    /// `^`, `\b` and the like, which have no width.
    Anchor,
    Repetition,
    /// Begins there in the output.
    Item(usize),
}

impl Translator {
    /// Flags for the whole pattern stand at its very beginning.
    fn global_flags(&mut self) -> Result<(), RegexError> {
        while self.chars[self.at..].starts_with(&['(', '?']) {
            let letters = self.chars[self.at + 2..].iter().take_while(|c| c.is_ascii_alphabetic()).count();
            let end = self.at + 2 + letters;
            if letters == 0 || self.chars.get(end) != Some(&')') {
                return Ok(());
            }
            for at in self.at + 2..end {
                self.flag(at, true)?;
            }
            self.at = end + 1;
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), RegexError> {
        while let Some(c) = self.peek(0) {
            let start = self.at;
            self.at += 1;
            match c {
                _ if self.flags.verbose && c.is_whitespace() => {}
                '#' if self.flags.verbose => self.skip_line(),
                '\\' => self.escape(start)?,
                '[' => self.set(start)?,
                '(' => self.group(start)?,
                ')' => self.close(start)?,
                '|' => {
                    self.out.push('|');
                    self.last = Last::Nothing;
                }
                '*' | '+' | '?' => self.repeat(start, c.to_string())?,
                '{' => self.counted(start)?,
                '^' if self.flags.multi_line => self.anchor("(?m:^)"),
                '^' => self.anchor(r"\A"),
                '$' if self.flags.multi_line => self.anchor("(?m:$)"),
                '$' => self.anchor(r"(?=\n?\z)"),
                '.' => self.item("."),
                c => self.literal(c),
            }
        }
        match self.open.pop() {
            Some(group) => Err(error("missing ), unterminated subpattern", group.position)),
            None => Ok(()),
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek(0) == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn item(&mut self, text: &str) {
        self.last = Last::Item(self.out.len());
        self.out.push_str(text);
    }

    fn anchor(&mut self, text: &str) {
        self.out.push_str(text);
        self.last = Last::Anchor;
    }

    fn literal(&mut self, c: char) {
        self.last = Last::Item(self.out.len());
        push_escaped(c, &mut self.out);
    }

    fn repeat(&mut self, position: usize, quantifier: String) -> Result<(), RegexError> {
        let start = match self.last {
            Last::Item(start) => start,
            Last::Repetition => return Err(error("multiple repeat", position)),
            Last::Nothing | Last::Anchor => return Err(error("nothing to repeat", position)),
        };
        let item = &self.out[start..];
        let empty = item.starts_with("(?") && item.find(':').is_some_and(|colon| &item[colon..] == ":)");
        if empty || ["(?=", "(?!", "(?<"].iter().any(|look| item.starts_with(look)) {
            self.repeat_without_width(start, &quantifier);
            return Ok(());
        }
        self.out.push_str(&quantifier);
        if self.take('?') {
            self.out.push('?');
        } else if self.take('+') {
            self.out.insert_str(start, "(?>");
            self.out.push(')');
        }
        self.last = Last::Repetition;
        Ok(())
    }

    /// The engine repeats neither look-around nor nothing. Once is as good as often; not at all is possible where zero
    /// is allowed.
    fn repeat_without_width(&mut self, start: usize, quantifier: &str) {
        let _ = self.take('?') || self.take('+');
        if matches!(quantifier, "*" | "?") || quantifier.starts_with("{0,") {
            self.out.insert_str(start, "(?:");
            self.out.push_str("|)");
        }
        self.last = Last::Repetition;
    }

    /// `{m}`, `{m,}`, `{,n}`, `{m,n}`; anything else is a brace like any other character.
    fn counted(&mut self, start: usize) -> Result<(), RegexError> {
        let rest: String = self.chars[self.at..].iter().take_while(|c| **c != '}').collect();
        let closed = self.at + rest.chars().count() < self.chars.len();
        let (low, high) = rest.split_once(',').unwrap_or((&rest, &rest));
        let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        if rest.is_empty() || !closed || !digits(low) || !digits(high) {
            self.literal('{');
            return Ok(());
        }
        let number = |text: &str, empty: Option<u32>| match text {
            "" => Ok(empty),
            text => text.parse().map(Some).map_err(|_| error("the repetition number is too large", start + 1)),
        };
        let (low, high) = (number(low, Some(0))?.unwrap_or(0), number(high, None)?);
        if high.is_some_and(|high| high < low) {
            return Err(error("min repeat greater than max repeat", start + 1));
        }
        self.at += rest.chars().count() + 1;
        let high = high.map(|high| high.to_string()).unwrap_or_default();
        self.repeat(start, format!("{{{low},{high}}}"))
    }

    fn group(&mut self, position: usize) -> Result<(), RegexError> {
        if self.open.len() >= DEPTH_LIMIT {
            return Err(error(format!("groups are nested more than {DEPTH_LIMIT} deep"), position));
        }
        if !self.take('?') {
            return self.numbered(position, None);
        }
        let Some(kind) = self.peek(0) else { return Err(error("unexpected end of pattern", self.at)) };
        self.at += 1;
        match kind {
            ':' => self.begin(position, "(?:", None),
            '=' => self.begin(position, "(?=", None),
            '!' => self.begin(position, "(?!", None),
            '>' => self.begin(position, "(?>", None),
            '#' => return self.comment(position),
            'P' => return self.named(position),
            '(' => return self.conditional(position),
            '<' => match self.peek(0) {
                Some('=') => self.look_behind(position, "(?<="),
                Some('!') => self.look_behind(position, "(?<!"),
                Some(c) => return Err(error(format!("unknown extension ?<{c}"), position + 1)),
                None => return Err(error("unexpected end of pattern", self.at)),
            },
            c if c.is_ascii_alphabetic() || c == '-' => return self.scoped_flags(position),
            c => return Err(error(format!("unknown extension ?{c}"), position + 1)),
        }
        Ok(())
    }

    fn look_behind(&mut self, position: usize, text: &str) {
        self.at += 1;
        self.begin(position, text, None);
    }

    fn begin(&mut self, position: usize, text: &str, index: Option<usize>) {
        let group = Group { position, flags_outside: self.flags, start: self.out.len(), index };
        self.open.push(group);
        self.out.push_str(text);
        self.last = Last::Nothing;
    }

    fn numbered(&mut self, position: usize, name: Option<String>) -> Result<(), RegexError> {
        self.groups += 1;
        self.names.extend(name.map(|name| (name, self.groups)));
        self.begin(position, "(", Some(self.groups));
        Ok(())
    }

    fn close(&mut self, position: usize) -> Result<(), RegexError> {
        let Some(group) = self.open.pop() else { return Err(error("unbalanced parenthesis", position)) };
        self.out.push(')');
        self.flags = group.flags_outside;
        self.last = Last::Item(group.start);
        Ok(())
    }

    fn comment(&mut self, position: usize) -> Result<(), RegexError> {
        while let Some(c) = self.peek(0) {
            self.at += 1;
            if c == ')' {
                return Ok(());
            }
        }
        Err(error("missing ), unterminated comment", position))
    }

    /// `(?P<name>...)` and `(?P=name)`.
    fn named(&mut self, position: usize) -> Result<(), RegexError> {
        if self.take('<') {
            let at = self.at;
            let name = self.name('>')?;
            if let Some((_, known)) = self.names.iter().find(|(known, _)| *known == name) {
                let group = self.groups + 1;
                let problem = format!("redefinition of group name '{name}' as group {group}; was group {known}");
                return Err(error(problem, at));
            }
            return self.numbered(position, Some(name));
        }
        if self.take('=') {
            let at = self.at;
            let name = self.name(')')?;
            let Some(index) = self.named_index(&name) else {
                return Err(error(format!("unknown group name '{name}'"), at));
            };
            return self.back_reference(index, at);
        }
        match self.peek(0) {
            Some(c) => Err(error(format!("unknown extension ?P{c}"), position + 1)),
            None => Err(error("unexpected end of pattern", self.at)),
        }
    }

    fn named_index(&self, name: &str) -> Option<usize> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, index)| *index)
    }

    fn name(&mut self, end: char) -> Result<String, RegexError> {
        let start = self.at;
        let name = self.until(end)?;
        let identifier = name.chars().all(|c| c == '_' || c.is_alphanumeric()) && !name.starts_with(char::is_numeric);
        if !identifier {
            return Err(error(format!("bad character in group name '{name}'"), start));
        }
        Ok(name)
    }

    fn until(&mut self, end: char) -> Result<String, RegexError> {
        let start = self.at;
        let name: String = self.chars[start..].iter().take_while(|c| **c != end).collect();
        let length = name.chars().count();
        if start + length >= self.chars.len() {
            let problem =
                if length == 0 { "missing group name".to_owned() } else { format!("missing {end}, unterminated name") };
            return Err(error(problem, start));
        }
        if length == 0 {
            return Err(error("missing group name", start));
        }
        self.at += length + 1;
        Ok(name)
    }

    /// `(?(1)yes|no)`, also by name.
    fn conditional(&mut self, position: usize) -> Result<(), RegexError> {
        let at = self.at;
        let name = self.until(')')?;
        let index = match name.parse::<usize>() {
            Ok(0) => return Err(error("bad group number", at)),
            Ok(index) if index <= self.groups => index,
            Ok(index) => return Err(error(format!("invalid group reference {index}"), at)),
            Err(_) => self.named_index(&name).ok_or_else(|| error(format!("unknown group name '{name}'"), at))?,
        };
        self.begin(position, &format!("(?({index})"), None);
        Ok(())
    }

    /// `(?i-s:...)`. Flags for the whole pattern are at its beginning, where they were taken already.
    fn scoped_flags(&mut self, position: usize) -> Result<(), RegexError> {
        self.at -= 1;
        let outside = self.flags;
        let mut on = true;
        while let Some(c) = self.peek(0) {
            match c {
                ':' => {
                    self.at += 1;
                    let text = format!("(?{}:", handed_on(self.flags));
                    self.begin(position, &text, None);
                    if let Some(group) = self.open.last_mut() {
                        group.flags_outside = outside;
                    }
                    return Ok(());
                }
                ')' => return Err(error("global flags not at the start of the expression", position)),
                '-' if on => on = false,
                _ => self.flag(self.at, on)?,
            }
            self.at += 1;
        }
        Err(error("missing -, : or )", self.at))
    }

    fn flag(&mut self, at: usize, on: bool) -> Result<(), RegexError> {
        let c = self.chars[at];
        match c {
            'i' => self.flags.ignore_case = on,
            'm' => self.flags.multi_line = on,
            's' => self.flags.dot_all = on,
            'x' => self.flags.verbose = on,
            'a' => self.flags.ascii = on,
            'u' => self.flags.ascii = false,
            'L' => return Err(error("bad inline flags: cannot use 'L' flag with a str pattern", at + 1)),
            _ if self.chars.get(at.wrapping_sub(1)) == Some(&'?') => {
                return Err(error(format!("unknown extension ?{c}"), at - 1));
            }
            _ => return Err(error("unknown flag", at)),
        }
        Ok(())
    }

    fn back_reference(&mut self, index: usize, position: usize) -> Result<(), RegexError> {
        if self.open.iter().any(|group| group.index == Some(index)) {
            return Err(error("cannot refer to an open group", position));
        }
        // Enclosed, so that a digit behind it stays a digit.
        self.item(&format!(r"(?:\{index})"));
        Ok(())
    }

    fn escape(&mut self, start: usize) -> Result<(), RegexError> {
        let Some(c) = self.peek(0) else { return Err(error("bad escape (end of pattern)", start)) };
        self.at += 1;
        match c {
            'A' => self.anchor(r"\A"),
            'Z' => self.anchor(r"\z"),
            'b' | 'B' => self.anchor(boundary(c, self.flags.ascii)),
            'w' | 'W' | 'd' | 'D' | 's' | 'S' => self.item(&format!("[{}]", class(c, self.flags.ascii))),
            '1'..='9' => return self.numeric_escape(start, c),
            _ => {
                let c = self.character_escape(start, c)?;
                self.literal(c);
            }
        }
        Ok(())
    }

    /// A reference to a group, or three octal digits.
    fn numeric_escape(&mut self, start: usize, first: char) -> Result<(), RegexError> {
        let mut digits = String::from(first);
        if let Some(second) = self.peek(0).filter(char::is_ascii_digit) {
            self.at += 1;
            digits.push(second);
            let octal = |c: char| matches!(c, '0'..='7');
            if let Some(third) = self.peek(0).filter(|third| octal(first) && octal(second) && octal(*third)) {
                self.at += 1;
                digits.push(third);
                let c = octal_character(&digits, start)?;
                self.literal(c);
                return Ok(());
            }
        }
        match digits.parse() {
            Ok(index) if index <= self.groups => self.back_reference(index, start),
            _ => Err(error(format!("invalid group reference {digits}"), start + 1)),
        }
    }

    /// The character that an escape stands for, inside a set and outside.
    fn character_escape(&mut self, start: usize, c: char) -> Result<char, RegexError> {
        let fixed = match c {
            'a' => '\u{7}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '0' => {
                let digits: String =
                    self.chars[self.at..].iter().take(2).take_while(|c| matches!(c, '0'..='7')).collect();
                self.at += digits.len();
                return octal_character(&format!("0{digits}"), start);
            }
            'x' => return self.hex(start, c, 2),
            'u' => return self.hex(start, c, 4),
            'U' => return self.hex(start, c, 8),
            c if c.is_ascii_alphanumeric() => return Err(error(format!("bad escape \\{c}"), start)),
            c => c,
        };
        Ok(fixed)
    }

    fn hex(&mut self, start: usize, kind: char, length: usize) -> Result<char, RegexError> {
        let digits: String = self.chars[self.at..].iter().take(length).take_while(|c| c.is_ascii_hexdigit()).collect();
        if digits.len() < length {
            return Err(error(format!("incomplete escape \\{kind}{digits}"), start));
        }
        self.at += length;
        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
        code.ok_or_else(|| error(format!("bad escape \\{kind}{digits}"), start))
    }

    fn set(&mut self, start: usize) -> Result<(), RegexError> {
        let unterminated = || error("unterminated character set", start);
        let mut text = String::from("[");
        if self.take('^') {
            text.push('^');
        }
        let first = self.at;
        loop {
            let from = self.at;
            let c = self.peek(0).ok_or_else(unterminated)?;
            self.at += 1;
            if c == ']' && from > first {
                break;
            }
            let low = self.member(from, c)?;
            let ranged = self.peek(0) == Some('-') && self.peek(1).is_some_and(|c| c != ']');
            if !ranged {
                low.push(&mut text);
                continue;
            }
            self.at += 1;
            let to = self.at;
            let c = self.peek(0).ok_or_else(unterminated)?;
            self.at += 1;
            match (low, self.member(to, c)?) {
                (Member::Char(low), Member::Char(high)) if low <= high => {
                    push_escaped(low, &mut text);
                    text.push('-');
                    push_escaped(high, &mut text);
                }
                _ => {
                    let shown: String = self.chars[from..self.at].iter().collect();
                    return Err(error(format!("bad character range {shown}"), from));
                }
            }
        }
        text.push(']');
        self.item(&text);
        Ok(())
    }

    fn member(&mut self, start: usize, c: char) -> Result<Member, RegexError> {
        if c != '\\' {
            return Ok(Member::Char(c));
        }
        let Some(c) = self.peek(0) else { return Err(error("bad escape (end of pattern)", start)) };
        self.at += 1;
        match c {
            'w' | 'W' | 'd' | 'D' | 's' | 'S' => Ok(Member::Class(class(c, self.flags.ascii))),
            'b' => Ok(Member::Char('\u{8}')),
            '0'..='7' => {
                let more: String =
                    self.chars[self.at..].iter().take(2).take_while(|c| matches!(c, '0'..='7')).collect();
                self.at += more.len();
                octal_character(&format!("{c}{more}"), start).map(Member::Char)
            }
            c => self.character_escape(start, c).map(Member::Char),
        }
    }
}

enum Member {
    Char(char),
    Class(&'static str),
}

impl Member {
    fn push(&self, out: &mut String) {
        match self {
            Member::Char(c) => push_escaped(*c, out),
            Member::Class(text) => out.push_str(text),
        }
    }
}

/// The flags that the engine knows as Python does, as a group begins.
fn handed_on(flags: Flags) -> &'static str {
    match (flags.ignore_case, flags.dot_all) {
        (true, true) => "is",
        (true, false) => "i-s",
        (false, true) => "s-i",
        (false, false) => "-is",
    }
}

/// A class as the members of a set. Python counts four separators among the blanks that the engine does not.
fn class(letter: char, ascii: bool) -> &'static str {
    match (letter, ascii) {
        ('w', true) => "0-9A-Za-z_",
        ('W', true) => "[^0-9A-Za-z_]",
        ('d', true) => "0-9",
        ('D', true) => "[^0-9]",
        ('s', true) => r"\t-\r\x20",
        ('S', true) => r"[^\t-\r\x20]",
        ('w', false) => r"\w",
        ('W', false) => r"\W",
        ('d', false) => r"\d",
        ('D', false) => r"\D",
        ('s', false) => r"\s\x1c-\x1f",
        _ => r"[^\s\x1c-\x1f]",
    }
}

fn boundary(letter: char, ascii: bool) -> &'static str {
    match (letter, ascii) {
        ('b', false) => r"\b",
        // Python finds no boundary in an empty text, and no place without one either.
        (_, false) => r"(?!\A\z)\B",
        ('b', true) => r"(?:(?<![0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<=[0-9A-Za-z_])(?![0-9A-Za-z_]))",
        (_, true) => r"(?!\A\z)(?:(?<![0-9A-Za-z_])(?![0-9A-Za-z_])|(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_]))",
    }
}

fn push_escaped(c: char, out: &mut String) {
    if r"\.+*?()|[]{}^$&-~#".contains(c) {
        out.push('\\');
    }
    out.push(c);
}

fn octal_character(digits: &str, position: usize) -> Result<char, RegexError> {
    match u32::from_str_radix(digits, 8) {
        Ok(code) if code <= 0o377 => Ok(char::from_u32(code).unwrap_or_default()),
        _ => Err(error(format!("octal escape value \\{digits} outside of range 0-0o377"), position)),
    }
}

fn error(message: impl Into<String>, position: usize) -> RegexError {
    RegexError::new(message, Some(position))
}
