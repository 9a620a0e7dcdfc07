//! What the lexer finds in a template.

use super::ast::Pos;
use super::value::Val;
use std::rc::Rc;

#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Tok,
    pub pos: Pos,
}

#[derive(Clone, Debug)]
pub enum Tok {
    Data(Rc<str>),
    PrintBegin,
    PrintEnd,
    TagBegin,
    TagEnd,
    Name(Rc<str>),
    Str(Rc<str>),
    Integer(Val),
    Float(f64),
    Op(&'static str),
    End,
    /// The text is wrong from here on; the parser says so when it gets here.
    Wrong(String),
}

/// Longer ones first, so that the first that fits is the right one.
pub const OPERATORS: [&str; 26] = [
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".",
    ":", "|", ",", ";",
];

impl Token {
    pub fn is_op(&self, op: &str) -> bool {
        matches!(self.kind, Tok::Op(own) if own == op)
    }

    pub fn is_name(&self, name: &str) -> bool {
        matches!(&self.kind, Tok::Name(own) if &**own == name)
    }

    /// How jinja2 speaks of it.
    pub fn describe(&self) -> &str {
        match &self.kind {
            Tok::Name(name) => name,
            Tok::Op(op) => op,
            Tok::Data(_) => "template data / text",
            Tok::PrintBegin => "begin of print statement",
            Tok::PrintEnd => "end of print statement",
            Tok::TagBegin => "begin of statement block",
            Tok::TagEnd => "end of statement block",
            Tok::Str(_) => "string",
            Tok::Integer(_) => "integer",
            Tok::Float(_) => "float",
            Tok::End | Tok::Wrong(_) => "end of template",
        }
    }
}
