//! Compound targets, `web* and not G@os:Debian`, and nodegroups, which are made of them.
//!
//! Words stand apart by spaces, parentheses too. `not` binds closest, then `and`, then `or`; `not` behind an operand
//! means `and not`.

use super::address::Network;
use super::grain::{Path, Style};
use super::pattern::Pattern;
use super::{Expression, Kind, TargetError};
use halite_value::{Map, Value};
use indexmap::IndexSet;

/// Reads the parts of a target.
pub(super) struct Reader<'a> {
    pub nodegroups: Option<&'a Map>,
    pub delimiter: &'a str,
}

/// A word of a compound target and the character at which it begins.
struct Word {
    text: String,
    at: usize,
}

const OPERATORS: [&str; 5] = ["and", "or", "not", "(", ")"];
/// Deeper nesting is a mistake, or an attack on the stack.
const DEEPEST: usize = 64;

impl Reader<'_> {
    /// A target of one text.
    pub fn simple(&self, kind: Kind, text: &str, delimiter: &str) -> Result<Expression, String> {
        let path = |style| Path::parse(text, delimiter, style);
        Ok(match kind {
            Kind::Glob => Expression::Id(Pattern::glob(text)),
            Kind::Pcre => Expression::Id(Pattern::pcre(text)?),
            Kind::List => Expression::List(list(text)),
            Kind::Grain => Expression::Grain(path(Style::Glob)?),
            Kind::GrainPcre => Expression::Grain(path(Style::Pcre)?),
            Kind::Pillar => Expression::Pillar(path(Style::Glob)?),
            Kind::PillarPcre => Expression::Pillar(path(Style::Pcre)?),
            Kind::PillarExact => Expression::Pillar(path(Style::Exact)?),
            Kind::Address => Expression::Address(Network::parse(text)?),
        })
    }

    /// A compound target as text.
    pub fn compound(&self, text: &str) -> Result<Expression, TargetError> {
        self.parse(split(text), text, &mut Vec::new())
    }

    /// A compound target whose words stand in a list.
    pub fn words(&self, words: &[Value]) -> Result<Expression, TargetError> {
        let (words, text) = join(words);
        self.parse(words, &text, &mut Vec::new())
    }

    /// A nodegroup of the configuration.
    pub fn nodegroup(&self, name: &str) -> Result<Expression, String> {
        self.nodegroup_in(name, &mut Vec::new())
    }

    /// `open`: the nodegroups that are being read, to notice one that holds itself.
    fn nodegroup_in(&self, name: &str, open: &mut Vec<String>) -> Result<Expression, String> {
        let Some(definition) = self.nodegroups.and_then(|groups| groups.at(name)) else {
            return Err(format!("the nodegroup '{name}' is not in the master's configuration"));
        };
        if open.iter().any(|outer| outer == name) {
            return Err(format!("the nodegroup '{name}' holds itself"));
        }
        let (words, text) = match definition {
            Value::List(words) => join(words),
            Value::Str(text) => (split(text), text.to_string()),
            other => return Err(format!("the nodegroup '{name}' is a {}, not text or a list", other.type_name())),
        };
        if let Some(plain) = plain_group(&words) {
            return plain;
        }
        open.push(name.to_owned());
        let expression = self.parse(words, &text, open);
        open.pop();
        expression.map_err(|error| format!("in the nodegroup '{name}': {error}"))
    }

    fn parse(&self, words: Vec<Word>, text: &str, open: &mut Vec<String>) -> Result<Expression, TargetError> {
        let mut parser = Parser { reader: self, words: words.into_iter().peekable(), text, open, depth: 0 };
        let expression = parser.any()?;
        match parser.words.next() {
            None => Ok(expression),
            Some(word) if word.text == ")" => Err(parser.fault(word.at, "this parenthesis closes nothing")),
            Some(word) => Err(parser.fault(word.at, format!("'and' or 'or' is missing before '{}'", word.text))),
        }
    }

    /// `G@os:Debian`, `L@a,b`, or a glob without a prefix.
    fn operand(&self, word: &str, open: &mut Vec<String>) -> Result<Expression, String> {
        let Some((kind, delimiter, text)) = prefix(word, self.delimiter) else {
            if word.contains(['(', ')']) {
                return Err(format!("in '{word}' a parenthesis is part of the word: it needs spaces around it"));
            }
            if let Some((letter, _)) = word.split_once('@').filter(|(head, _)| is_capital(head)) {
                return Err(unknown_kind(letter));
            }
            return self.simple(Kind::Glob, word, self.delimiter);
        };
        if text.is_empty() {
            return Err(format!("'{word}' has nothing after its '@'"));
        }
        let kind = match kind {
            'G' => Kind::Grain,
            'P' => Kind::GrainPcre,
            'I' => Kind::Pillar,
            'J' => Kind::PillarPcre,
            'L' => Kind::List,
            'S' => Kind::Address,
            'E' => Kind::Pcre,
            'N' => return self.nodegroup_in(text, open),
            other => return Err(unknown_kind(&other.to_string())),
        };
        // In a regular expression they have a meaning.
        if !matches!(kind, Kind::Pcre | Kind::GrainPcre | Kind::PillarPcre)
            && text.matches(')').count() > text.matches('(').count()
        {
            return Err(format!("in '{word}' a parenthesis is part of the word: it needs spaces around it"));
        }
        self.simple(kind, text, delimiter)
    }
}

struct Parser<'a, 'r> {
    reader: &'a Reader<'r>,
    words: std::iter::Peekable<std::vec::IntoIter<Word>>,
    text: &'a str,
    open: &'a mut Vec<String>,
    depth: usize,
}

impl Parser<'_, '_> {
    fn any(&mut self) -> Result<Expression, TargetError> {
        let mut parts = vec![self.all()?];
        while self.takes("or") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Expression::Any))
    }

    fn all(&mut self) -> Result<Expression, TargetError> {
        let mut parts = vec![self.not()?];
        // `a not b` is what Salt reads as `a and not b`.
        while self.takes("and") || self.words.peek().is_some_and(|word| word.text == "not") {
            parts.push(self.not()?);
        }
        Ok(one_or(parts, Expression::All))
    }

    fn not(&mut self) -> Result<Expression, TargetError> {
        let mut negated = false;
        while self.takes("not") {
            negated = !negated;
        }
        let operand = self.operand()?;
        Ok(if negated { Expression::Not(Box::new(operand)) } else { operand })
    }

    fn operand(&mut self) -> Result<Expression, TargetError> {
        let Some(word) = self.words.next() else {
            return Err(self.fault(self.text.chars().count(), "the expression ends where a target is expected"));
        };
        match word.text.as_str() {
            "(" => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(self.fault(word.at, format!("parentheses are nested deeper than {DEEPEST}")));
                }
                let inner = self.any()?;
                if !self.takes(")") {
                    return Err(self.fault(word.at, "this parenthesis is never closed"));
                }
                self.depth -= 1;
                Ok(inner)
            }
            text if OPERATORS.contains(&text) => {
                Err(self.fault(word.at, format!("a target is expected here, not '{text}'")))
            }
            text => {
                let operand = self.reader.operand(text, self.open);
                operand.map_err(|message| self.fault(word.at, message))
            }
        }
    }

    fn takes(&mut self, wanted: &str) -> bool {
        self.words.next_if(|word| word.text == wanted).is_some()
    }

    fn fault(&self, position: usize, message: impl Into<String>) -> TargetError {
        TargetError { message: message.into(), expression: self.text.to_owned(), position }
    }
}

fn is_capital(word: &str) -> bool {
    word.len() == 1 && word.bytes().all(|letter| letter.is_ascii_uppercase())
}

fn unknown_kind(letter: &str) -> String {
    format!("'{letter}@' is not a kind of target that this version knows: it knows E@, G@, I@, J@, L@, N@, P@ and S@")
}

fn one_or(mut parts: Vec<Expression>, many: fn(Vec<Expression>) -> Expression) -> Expression {
    if parts.len() == 1 { parts.remove(0) } else { many(parts) }
}

/// The letter, the delimiter (`G|@os|Debian` names its own) and the text of a word with a prefix.
fn prefix<'a>(word: &'a str, delimiter: &'a str) -> Option<(char, &'a str, &'a str)> {
    let (head, text) = word.split_once('@')?;
    let kind = head.chars().next().filter(|kind| "GPIJLNSERTM".contains(*kind))?;
    let own = &head[1..];
    match own.chars().count() {
        0 => Some((kind, delimiter, text)),
        1 if "GPIJ".contains(kind) => Some((kind, own, text)),
        _ => None,
    }
}

/// A nodegroup that is only names: a list of ids, or with the characters of regular expressions one of those.
fn plain_group(words: &[Word]) -> Option<Result<Expression, String>> {
    let is_plain = !words.is_empty()
        && words.iter().all(|word| {
            !OPERATORS.contains(&word.text.as_str()) && !word.text.contains('*') && !has_letter_prefix(&word.text)
        });
    if !is_plain {
        return None;
    }
    let all: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let all = all.join(",");
    Some(match all.contains(['(', '[', '{', '\\', '?', '}', ']', ')']) {
        true => Pattern::pcre(&all).map(Expression::Id),
        false => Ok(Expression::List(list(&all))),
    })
}

fn has_letter_prefix(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() > 1 && bytes[0].is_ascii_uppercase() && (bytes[1] == b'@' || prefix(word, ":").is_some())
}

fn list(text: &str) -> IndexSet<String> {
    text.split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

fn split(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut is_inside = false;
    for (at, c) in text.chars().enumerate() {
        if c.is_whitespace() {
            is_inside = false;
            continue;
        }
        match words.last_mut() {
            Some(word) if is_inside => word.text.push(c),
            _ => words.push(Word { text: c.to_string(), at }),
        }
        is_inside = true;
    }
    words
}

fn join(words: &[Value]) -> (Vec<Word>, String) {
    let texts: Vec<String> = words.iter().map(Value::to_text).collect();
    let mut at = 0;
    let mut placed = Vec::with_capacity(texts.len());
    for text in &texts {
        placed.push(Word { text: text.clone(), at });
        at += text.chars().count() + 1;
    }
    (placed, texts.join(" "))
}
