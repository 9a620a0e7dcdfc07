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
const OPERATORS: [&str; 26] = [
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".",
    ":", "|", ",", ";",
];

/// Whether two short texts are the same; most that are not differ in their length or their first byte.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.as_bytes().first() == b.as_bytes().first() && a == b
}

/// The operator that a text begins with.
pub fn operator(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    OPERATORS.into_iter().find(|op| {
        let op = op.as_bytes();
        bytes.first() == op.first() && (op.len() == 1 || bytes.get(1) == op.get(1))
    })
}

impl Token {
    pub fn is_op(&self, op: &str) -> bool {
        matches!(self.kind, Tok::Op(own) if same(own, op))
    }

    pub fn is_name(&self, name: &str) -> bool {
        matches!(&self.kind, Tok::Name(own) if same(own, name))
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
