//! The part of YAML that most SLS files keep to, read in one pass: block mappings and sequences, words, quoted text of
//! one line, literal blocks, and lists and maps in brackets on one line.
//!
//! What is not sure to mean the same to libyaml is left to it: [`load`] then answers nothing. So no error comes from here,
//! and what is right and what is wrong is libyaml's to say alone; the tests hold both to the same answers.

use super::resolve::{Tag, resolve};
use super::{Position, Warning, scalar};
use halite_value::{Map, Value};

/// The value of a document and what is to be warned of, or nothing where libyaml has to read it.
pub fn load(text: &str) -> Option<(Value, Vec<Warning>)> {
    if !is_plain(text) {
        return None;
    }
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        at: 0,
        line: 1,
        line_start: 0,
        indent: 0,
        depth: 0,
        warnings: Vec::new(),
    };
    reader.go_to_content()?;
    if reader.indent == END {
        return None;
    }
    let value = reader.block(reader.indent)?;
    (reader.indent == END).then_some((value, reader.warnings))
}

/// Whether all characters are simple: no tab, no line end but the usual one, nothing that YAML has a rule of its own for.
fn is_plain(text: &str) -> bool {
    let simple = |byte: u8| byte == b'\n' || (b' '..=b'~').contains(&byte);
    text.bytes().all(simple)
        || text.chars().all(|c| match u8::try_from(c) {
            Ok(byte) => simple(byte) || byte >= 0xa0,
            Err(_) => !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'),
        })
}

/// The indentation of what comes behind the last line.
const END: isize = -1;

/// Deeper than this libyaml reads it, and says where it is too deep.
const DEPTH: usize = 100;

/// How long a key may be: libyaml looks no further than 1024 characters for the colon.
const KEY_LENGTH: usize = 1000;

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    /// Where the next character stands.
    at: usize,
    /// From 1.
    line: usize,
    line_start: usize,
    /// The column of the first character of this line, from 0. Lines that are empty or hold but a comment are passed over.
    indent: isize,
    depth: usize,
    warnings: Vec<Warning>,
}

impl<'t> Reader<'t> {
    /// Goes to the next line that has content; the place is at the start of a line.
    fn go_to_content(&mut self) -> Option<()> {
        loop {
            self.line_start = self.at;
            self.skip_spaces();
            match self.peek() {
                None => {
                    self.indent = END;
                    return Some(());
                }
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.go_to_line_end(),
                Some(_) => {
                    self.indent = self.column();
                    // A document ends or begins; a line of a block never looks like that.
                    let rest = &self.bytes[self.at..];
                    let marks = self.indent == 0 && (rest.starts_with(b"---") || rest.starts_with(b"..."));
                    return (!marks).then_some(());
                }
            }
            self.line += 1;
        }
    }

    /// Passes over a line end or a comment; nothing where something else follows.
    fn end_line(&mut self) -> Option<()> {
        let from = self.at;
        self.skip_spaces();
        match self.peek() {
            None => {}
            Some(b'\n') => self.at += 1,
            Some(b'#') if self.at > from => self.go_to_line_end(),
            Some(_) => return None,
        }
        self.line += 1;
        self.go_to_content()
    }

    fn go_to_line_end(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |length| length + 1);
    }

    fn skip_spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn column(&self) -> isize {
        (self.at - self.line_start) as isize
    }

    /// Whether a character is followed by a space or a line end, as the indicators of blocks are.
    fn is_apart(&self, at: usize) -> bool {
        matches!(self.bytes.get(at + 1), None | Some(b' ' | b'\n'))
    }

    fn is_item(&self) -> bool {
        self.peek() == Some(b'-') && self.is_apart(self.at)
    }

    /// Whether this is the end of the line, or a comment that is one.
    fn is_line_end(&self) -> bool {
        match self.peek() {
            None | Some(b'\n') => true,
            Some(b'#') => self.bytes.get(self.at.wrapping_sub(1)) == Some(&b' '),
            Some(_) => false,
        }
    }

    /// A mapping or sequence whose first line this is.
    fn block(&mut self, column: isize) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let value = if self.is_item() { self.sequence(column, false) } else { self.mapping(column) };
        self.depth -= 1;
        value
    }

    fn mapping(&mut self, column: isize) -> Option<Value> {
        let mut map = Map::new();
        loop {
            let key = self.key()?;
            let value = self.behind_key(column)?;
            map.add(key, value).ok()?;
            if self.indent < column {
                return Some(Value::Map(map));
            }
            if self.indent > column || self.is_item() {
                return None;
            }
        }
    }

    fn behind_key(&mut self, column: isize) -> Option<Value> {
        self.skip_spaces();
        if !self.is_line_end() {
            return self.inline(column);
        }
        self.end_line()?;
        match self.indent {
            inner if inner > column => self.block(inner),
            // The items of a list may stand as far left as the key.
            inner if inner == column && self.is_item() => self.sequence(column, true),
            _ => Some(Value::Null),
        }
    }

    /// `within` is true for one that stands as far left as the key of the mapping that it is in.
    fn sequence(&mut self, column: isize, within: bool) -> Option<Value> {
        let mut items = Vec::new();
        loop {
            self.at += 1;
            self.skip_spaces();
            let item = if self.is_line_end() {
                self.end_line()?;
                if self.indent > column { self.block(self.indent)? } else { Value::Null }
            } else if self.is_item() || self.is_key() {
                self.block(self.column())?
            } else {
                self.inline(column)?
            };
            items.push(item);
            if self.indent < column || (within && self.indent == column && !self.is_item()) {
                return Some(Value::List(items));
            }
            if self.indent > column || !self.is_item() {
                return None;
            }
        }
    }

    /// Whether a key begins here.
    fn is_key(&mut self) -> bool {
        let before = (self.at, self.warnings.len());
        let found = match self.peek() {
            Some(b'\'' | b'"') => self.quoted().is_some() && self.colon().is_some(),
            _ => self.word_before_colon().is_some(),
        };
        self.at = before.0;
        self.warnings.truncate(before.1);
        found
    }

    /// A key and its colon.
    fn key(&mut self) -> Option<Value> {
        let from = self.at;
        let key = match self.peek()? {
            b'\'' | b'"' => {
                let text = self.quoted()?;
                self.colon()?;
                Value::from(text)
            }
            _ => {
                let end = self.word_before_colon()?;
                let word = self.text[from..end].trim_end_matches(' ');
                self.key_of(word, from)?
            }
        };
        (self.at - from <= KEY_LENGTH).then_some(key)
    }

    /// What a word means as a key. Truths, fractions and nothing are equal to other keys, in Python's way.
    fn key_of(&mut self, word: &str, from: usize) -> Option<Value> {
        match self.meaning(word, from)? {
            key @ (Value::Str(_) | Value::Int(_)) => Some(key),
            _ => None,
        }
    }

    /// The end of a word that has a colon behind it, which is passed over.
    fn word_before_colon(&mut self) -> Option<usize> {
        if !self.begins_word() {
            return None;
        }
        let mut at = self.at;
        loop {
            match *self.bytes.get(at)? {
                b'\n' => return None,
                b'#' if self.bytes[at - 1] == b' ' => return None,
                b':' if self.is_apart(at) => {
                    self.at = at + 1;
                    return Some(at);
                }
                _ => at += 1,
            }
        }
    }

    fn colon(&mut self) -> Option<()> {
        self.skip_spaces();
        let is_colon = self.peek() == Some(b':') && self.is_apart(self.at);
        self.at += usize::from(is_colon);
        is_colon.then_some(())
    }

    /// Whether a word without quotes may begin here.
    fn begins_word(&self) -> bool {
        match self.peek() {
            None | Some(b' ' | b'\n') => false,
            Some(b'-') => !self.is_apart(self.at),
            Some(byte) => !b"?:,[]{}#&*!|>'\"%@`".contains(&byte),
        }
    }

    /// A value that ends with its line, and the line.
    fn inline(&mut self, column: isize) -> Option<Value> {
        let value = match self.peek()? {
            b'\'' | b'"' => Value::from(self.quoted()?),
            b'[' | b'{' => self.bracketed()?,
            b'|' => return self.literal(column),
            _ => self.word()?,
        };
        self.end_line()?;
        // A word goes on in a line that stands further in; all else would be wrong there.
        (self.indent <= column).then_some(value)
    }

    fn word(&mut self) -> Option<Value> {
        if !self.begins_word() {
            return None;
        }
        let from = self.at;
        let rest = &self.bytes[from..];
        let mut length = 0;
        while let Some(byte) = rest.get(length) {
            match byte {
                b'\n' => break,
                b'#' if rest[length - 1] == b' ' => break,
                b':' if self.is_apart(from + length) => return None,
                _ => length += 1,
            }
        }
        let word = self.text[from..from + length].trim_end_matches(' ');
        self.at = from + word.len();
        self.meaning(word, from)
    }

    /// What a word without quotes means.
    fn meaning(&mut self, word: &str, from: usize) -> Option<Value> {
        match resolve(word) {
            Tag::Str | Tag::Timestamp => Some(Value::from(word)),
            Tag::Null => Some(Value::Null),
            Tag::Bool => scalar::truth(word).ok().map(Value::Bool),
            Tag::Float => scalar::float(word).ok().map(Value::Float),
            Tag::Int => {
                let column = self.text[self.line_start..from].chars().count() + 1;
                self.warnings.extend(Warning::about_integer(word, Position { line: self.line, column }));
                scalar::int(word).ok()
            }
            _ => None,
        }
    }

    /// Quoted text that ends in its line.
    fn quoted(&mut self) -> Option<String> {
        let quote = self.peek()?;
        let mut text = String::new();
        let mut from = self.at + 1;
        loop {
            let rest = &self.bytes[from..];
            let length = rest.iter().position(|byte| *byte == quote || matches!(byte, b'\n' | b'\\'))?;
            text.push_str(&self.text[from..from + length]);
            let next = rest.get(length + 1).copied();
            from += length + 2;
            match (rest[length], next) {
                (b'\\', _) if quote == b'\'' => {
                    text.push('\\');
                    from -= 1;
                }
                (b'\\', Some(b'n')) => text.push('\n'),
                (b'\\', Some(b't')) => text.push('\t'),
                (b'\\', Some(escaped @ (b'\\' | b'"'))) => text.push(char::from(escaped)),
                (b'\\' | b'\n', _) => return None,
                (_, Some(b'\'')) if quote == b'\'' => text.push('\''),
                _ => {
                    self.at = from - 1;
                    return Some(text);
                }
            }
        }
    }

    /// A list or map in brackets that ends in its line.
    fn bracketed(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let value = if self.peek() == Some(b'[') { self.list() } else { self.map() };
        self.depth -= 1;
        value
    }

    fn list(&mut self) -> Option<Value> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_spaces();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Some(Value::List(items));
        }
        loop {
            items.push(self.bracketed_value()?);
            if self.is_last(b']')? {
                return Some(Value::List(items));
            }
        }
    }

    fn map(&mut self) -> Option<Value> {
        let mut map = Map::new();
        self.at += 1;
        self.skip_spaces();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Some(Value::Map(map));
        }
        loop {
            let from = self.at;
            let key = match self.peek()? {
                b'\'' | b'"' => Value::from(self.quoted()?),
                _ => {
                    let word = self.bracketed_word()?;
                    self.key_of(word, from)?
                }
            };
            self.skip_spaces();
            if self.peek() != Some(b':') || self.bytes.get(self.at + 1) != Some(&b' ') || self.at - from > KEY_LENGTH {
                return None;
            }
            self.at += 1;
            self.skip_spaces();
            let value = self.bracketed_value()?;
            map.add(key, value).ok()?;
            if self.is_last(b'}')? {
                return Some(Value::Map(map));
            }
        }
    }

    fn bracketed_value(&mut self) -> Option<Value> {
        let from = self.at;
        match self.peek()? {
            b'\'' | b'"' => self.quoted().map(Value::from),
            b'[' | b'{' => self.bracketed(),
            _ => {
                let word = self.bracketed_word()?;
                self.meaning(word, from)
            }
        }
    }

    /// A word in brackets: up to what may follow it there.
    fn bracketed_word(&mut self) -> Option<&'t str> {
        let rest = &self.bytes[self.at..];
        let first = *rest.first()?;
        let begins = match first {
            b'-' => rest.get(1).is_some_and(u8::is_ascii_alphanumeric),
            byte => byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_/.+~$".contains(&byte),
        };
        let length = rest.iter().position(|byte| b",[]{}:#?\n".contains(byte)).filter(|_| begins)?;
        // Of these only the ends of a word are taken, and a colon that has a space behind it.
        if matches!(rest[length], b'[' | b'{' | b'#' | b'?' | b'\n') {
            return None;
        }
        let word = self.text[self.at..self.at + length].trim_end_matches(' ');
        self.at += word.len();
        Some(word)
    }

    /// What stands behind an entry in brackets: a comma and another one, or the end.
    fn is_last(&mut self, end: u8) -> Option<bool> {
        self.skip_spaces();
        let found = self.peek()?;
        self.at += 1;
        if found == end {
            return Some(true);
        }
        self.skip_spaces();
        (found == b',' && self.peek() != Some(end)).then_some(false)
    }

    /// A literal block, whose lines stand further in than `column`.
    fn literal(&mut self, column: isize) -> Option<Value> {
        self.at += 1;
        let keeps_end = self.peek() != Some(b'-');
        self.at += usize::from(!keeps_end);
        if self.peek() != Some(b'\n') || !self.text.ends_with('\n') {
            return None;
        }
        self.at += 1;
        self.line += 1;
        let mut inner = None;
        let mut text = String::new();
        let mut empty = 0;
        while self.at < self.bytes.len() {
            let rest = &self.bytes[self.at..];
            let spaces = rest.iter().take_while(|byte| **byte == b' ').count();
            let length = rest.iter().position(|byte| *byte == b'\n')?;
            if spaces == length {
                // Spaces in empty lines count in ways of their own.
                if spaces > 0 {
                    return None;
                }
                empty += 1;
            } else {
                let indent = *inner.get_or_insert(spaces);
                if indent as isize <= column || spaces < indent {
                    break;
                }
                text.extend(std::iter::repeat_n('\n', empty));
                empty = 0;
                text.push_str(&self.text[self.at + indent..self.at + length + 1]);
            }
            self.at += length + 1;
            self.line += 1;
        }
        if text.is_empty() {
            return None;
        }
        if !keeps_end {
            text.pop();
        }
        self.go_to_content()?;
        (self.indent <= column).then_some(Value::from(text))
    }
}

#[cfg(test)]
mod tests {
    use super::super::construct::{self, Places};
    use super::super::{YamlError, compose};
    use super::*;

    fn by_libyaml(text: &str) -> Result<(Value, Vec<Warning>), YamlError> {
        construct::construct(compose::compose(text)?, Places::Dropped).map(|(value, _, warnings)| (value, warnings))
    }

    /// Whether it was read here, and then as libyaml reads it.
    fn agrees(text: &str) -> bool {
        let Some((value, mut warnings)) = load(text) else { return false };
        let (expected, mut more) = by_libyaml(text).unwrap_or_else(|error| panic!("{text:?} is refused: {error}"));
        assert_eq!(value, expected, "{text:?}");
        assert_eq!(value.to_json(), expected.to_json(), "the order of {text:?}");
        warnings.sort_by_key(|warning| warning.at);
        more.sort_by_key(|warning| warning.at);
        assert_eq!(warnings, more, "{text:?}");
        true
    }

    #[test]
    fn what_sls_files_are_made_of_is_read_here() {
        for text in [
            "a:\n  pkg.installed: []\n",
            "# first\na:\n  file.managed:\n    - mode: 0644\n    - user: root # of all\n    - names: [x, 'y', {k: v}]\n",
            "a: {b: [1, -2, 3.5, true, ~], 'c d': \"x\\n\\\"\"}\nd:\n- 1\n-\n- - x\n  - y\n- k: v\n  l:\n  - m\n",
            "text: |\n  one\n\n   two # no comment\nlast: |-\n  x\n",
            "a b : it's\nurl: http://x:80/#y\ntime: 1:30\nempty:\nname: größe\n",
            "  a: 1\n  b:\n    - x: 1\n      y: 2\n    # between\n\n    - z",
        ] {
            assert!(agrees(text), "{text:?}");
        }
    }

    #[test]
    fn what_is_not_sure_is_left_to_libyaml() {
        for text in [
            "",
            "a",
            "- |",
            "a: b: c",
            "a:\tb",
            "---\na: 1",
            "a: &x 1",
            "a: *x",
            "<<: {a: 1}",
            "a: 1\na: 2",
            "yes: 1",
            "a: !x b",
            "a: b\n  c",
            "a: [1,\n 2]",
            "a: 'b\n c'",
            "? a",
            "a: >\n  x\n",
            "a: {b}",
            "a: [b: c]",
            "[a]: b",
            "a: @b",
            "1: a\n1.0: b",
            "a:\n   b: 1\n  c: 2",
            "- a\nb: c",
            "a: 'b' c",
            "a: \"\\x41\"",
            "a: [1, ]",
            "a: |\n \n  x\n",
            "%YAML 1.1\n---\na: 1",
        ] {
            assert!(!agrees(text), "{text:?}");
        }
    }

    /// Texts of pieces that YAML is made of, in any order: what is read here is what libyaml reads.
    #[test]
    fn whatever_is_read_here_means_the_same_to_libyaml() {
        const PIECES: [&str; 40] = [
            "a", "b", "c d", ": ", ":", "- ", "-", "\n", "\n", "\n", "  ", " ", "\n  ", "\n    ", "\n- ", "\n  - ",
            "[", "]", "{", "}", ", ", "'", "\"", "\\", "#", " # x", "1", "0644", "1.5", "yes", "~", "|", "|-", "\n\n",
            "é", "a: b", "k: ", "\nb: ", "?", "<<",
        ];
        let mut state = 1u64;
        let mut next = |below: usize| {
            // Xorshift: any spread will do.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below as u64) as usize
        };
        let mut read = 0;
        for _ in 0..60_000 {
            let text: String = (0..1 + next(14)).map(|_| PIECES[next(PIECES.len())]).collect();
            read += usize::from(agrees(&text));
        }
        assert!(read > 1_000, "{read} of them were read at all");
    }
}
