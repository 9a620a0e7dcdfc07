//! From tokens to statements: jinja2's grammar with the tags of Salt, and its words for what is wrong.

mod expression;
mod tags;

use super::ast::{Block, Body, MacroUses, Name, Pos, Stmt, StmtKind, Tree};
use super::error::{Failure, Kind, Res};
use super::lexer;
use super::options::{Dialect, Options};
use super::token::{Tok, Token};
use halite_value::str_repr;
use std::rc::Rc;

/// How deep expressions and tags may nest.
const DEPTH_LIMIT: usize = 100;

/// Reads a text whose line ends are normalized.
pub fn parse(text: &str, options: &Options) -> Res<Tree> {
    let tokens = lexer::tokenize(text, options);
    let mut parser = Parser {
        tokens,
        at: 0,
        dialect: options.dialect,
        tags: Vec::new(),
        ends: Vec::new(),
        uses: MacroUses::default(),
        absent: Vec::new(),
        depth: 0,
        loops: 0,
        blocks: Vec::new(),
    };
    parser.check()?;
    let body = parser.subparse(None)?;
    match std::mem::take(&mut parser.absent).into_iter().next() {
        Some(absent) => Err(absent.failure()),
        None => Ok(Tree { body, blocks: parser.blocks }),
    }
}

pub(super) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    dialect: Dialect,
    /// The tags that are open, by name.
    tags: Vec<String>,
    /// What would close them.
    ends: Vec<&'static [&'static str]>,
    /// Special names met since the macro began.
    uses: MacroUses,
    /// Filters and tests that do not exist, where that is known before anything runs.
    absent: Vec<Absent>,
    depth: usize,
    /// Loops around, within the macro or block that is being read.
    loops: usize,
    blocks: Vec<Rc<Block>>,
}

/// A filter or test that does not exist. In a branch that may not be taken it is an error only once it is used.
struct Absent {
    kind: &'static str,
    name: String,
    pos: Pos,
    certain: bool,
}

impl Absent {
    fn failure(self) -> Box<Failure> {
        let mut failure = Failure::new(Kind::Assertion, format!("No {} named {}.", self.kind, str_repr(&self.name)));
        failure.at = Some(self.pos);
        failure
    }
}

impl Parser {
    fn current(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn look(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    fn pos(&self) -> Pos {
        self.current().pos
    }

    /// One token on; the one left behind is returned.
    fn advance(&mut self) -> Res<Token> {
        let last = self.tokens.len() - 1;
        let at = self.at.min(last);
        self.at = (at + 1).min(last);
        let token = match at < last {
            // Nobody looks at it again.
            true => std::mem::replace(&mut self.tokens[at], Token { kind: Tok::End, pos: Pos::default() }),
            false => self.tokens[last].clone(),
        };
        self.check()?;
        Ok(token)
    }

    fn check(&self) -> Res<()> {
        match &self.current().kind {
            Tok::Wrong(message) => Err(Failure::syntax(message.clone(), self.pos())),
            _ => Ok(()),
        }
    }

    fn fail<T>(&self, message: impl Into<String>) -> Res<T> {
        Err(Failure::syntax(message, self.pos()))
    }

    fn skip_op(&mut self, op: &str) -> Res<bool> {
        let there = self.current().is_op(op);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    fn skip_name(&mut self, name: &str) -> Res<bool> {
        let there = self.current().is_name(name);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    fn expect(&mut self, fits: impl Fn(&Token) -> bool, wanted: &str) -> Res<Token> {
        if fits(self.current()) {
            return self.advance();
        }
        if matches!(self.current().kind, Tok::End) {
            return self.fail(format!("unexpected end of template, expected {}.", str_repr(wanted)));
        }
        let got = str_repr(self.current().describe());
        self.fail(format!("expected token {}, got {got}", str_repr(wanted)))
    }

    fn expect_op(&mut self, op: &'static str) -> Res<Token> {
        self.expect(|token| token.is_op(op), op)
    }

    fn expect_keyword(&mut self, name: &'static str) -> Res<Token> {
        self.expect(|token| token.is_name(name), name)
    }

    fn expect_tag_end(&mut self) -> Res<Token> {
        self.expect(|token| matches!(token.kind, Tok::TagEnd), "end of statement block")
    }

    fn expect_name(&mut self) -> Res<Name> {
        let token = self.expect(|token| matches!(token.kind, Tok::Name(_)), "name")?;
        match token.kind {
            Tok::Name(name) => Ok(name),
            _ => self.fail("name expected"),
        }
    }

    /// Text and tags up to one of the closing tags, which is then the current token.
    fn subparse(&mut self, ends: Option<&'static [&'static str]>) -> Res<Body> {
        self.ends.extend(ends);
        let body = self.deeper(|parser| parser.statements(ends));
        if ends.is_some() {
            self.ends.pop();
        }
        body
    }

    fn statements(&mut self, ends: Option<&'static [&'static str]>) -> Res<Body> {
        let mut body = Vec::new();
        loop {
            match &self.current().kind {
                Tok::End => return Ok(body),
                Tok::Data(text) => {
                    let (text, pos) = (text.clone(), self.pos());
                    self.advance()?;
                    body.push(Stmt { pos, kind: StmtKind::Data(text) });
                }
                Tok::PrintBegin => {
                    self.advance()?;
                    let expr = self.tuple()?;
                    self.expect(|token| matches!(token.kind, Tok::PrintEnd), "end of print statement")?;
                    body.push(Stmt { pos: expr.pos, kind: StmtKind::Print(expr) });
                }
                _ => {
                    self.advance()?;
                    let closes = |name: &&str| self.current().is_name(name);
                    if ends.is_some_and(|ends| ends.iter().any(closes)) {
                        return Ok(body);
                    }
                    self.statement(&mut body)?;
                    self.expect_tag_end()?;
                }
            }
        }
    }

    /// The body of a tag up to one of the closing tags.
    fn body(&mut self, ends: &'static [&'static str]) -> Res<Body> {
        self.skip_op(":")?;
        self.expect_tag_end()?;
        let body = self.subparse(Some(ends))?;
        if matches!(self.current().kind, Tok::End) {
            self.ends.push(ends);
            return Err(self.unexpected_tag(None));
        }
        Ok(body)
    }

    /// The same, with the closing tag's name taken.
    fn closed_body(&mut self, ends: &'static [&'static str]) -> Res<Body> {
        let body = self.body(ends)?;
        self.advance()?;
        Ok(body)
    }

    /// The error of a tag that is not known, or stands where it cannot; without a name, of an early end.
    fn unexpected_tag(&self, name: Option<&str>) -> Box<Failure> {
        let mut message = match name {
            None => "Unexpected end of template.".to_owned(),
            Some(name) => format!("Encountered unknown tag {}.", str_repr(name)),
        };
        if let Some(ends) = self.ends.last() {
            let looking: Vec<String> = ends.iter().map(|end| str_repr(end)).collect();
            let looking = looking.join(" or ");
            let misplaced = name.is_some_and(|name| self.ends.iter().any(|ends| ends.contains(&name)));
            message += &match misplaced {
                true => format!(
                    " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for \
                     {looking}."
                ),
                false => format!(" Jinja was looking for the following tags: {looking}."),
            };
        }
        if let Some(tag) = self.tags.last() {
            message += &format!(" The innermost block that needs to be closed is {}.", str_repr(tag));
        }
        Failure::syntax(message, self.pos())
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Parser) -> Res<T>) -> Res<T> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return self.fail(format!("this is nested deeper than {DEPTH_LIMIT} levels"));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Parses what runs only if a condition holds: filters that do not exist are no error there yet.
    fn in_branch<T>(&mut self, parse: impl FnOnce(&mut Parser) -> Res<T>) -> Res<T> {
        let before = self.absent.len();
        let parsed = parse(self)?;
        self.forgive(before);
        Ok(parsed)
    }

    fn forgive(&mut self, before: usize) {
        let mut at = 0;
        self.absent.retain(|absent| {
            at += 1;
            at <= before || absent.certain
        });
    }

    /// Parses the body of a tag with a scope of its own, where they are errors again, whatever is around.
    fn in_scope<T>(&mut self, parse: impl FnOnce(&mut Parser) -> Res<T>) -> Res<T> {
        let before = self.absent.len();
        let parsed = parse(self)?;
        self.absent.iter_mut().skip(before).for_each(|absent| absent.certain = true);
        Ok(parsed)
    }

    fn missing(&mut self, kind: &'static str, name: &str, pos: Pos) {
        self.absent.push(Absent { kind, name: name.to_owned(), pos, certain: false });
    }
}
