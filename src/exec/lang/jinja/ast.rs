//! What a template means: statements and expressions, each with its place in the text.

use super::filters::Filter;
use super::tests::Test;
use super::value::Val;
use std::rc::Rc;

pub type Name = Rc<str>;

/// A place in a template's text; both count from 1, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pos {
    pub line: u32,
    pub column: u32,
}

pub type Body = Vec<Stmt>;

/// A whole template.
pub struct Tree {
    pub body: Body,
    /// All blocks, those inside of others too.
    pub blocks: Vec<Rc<Block>>,
}

pub struct Stmt {
    pub pos: Pos,
    pub kind: StmtKind,
}

pub enum StmtKind {
    Data(Rc<str>),
    Print(Expr),
    Do(Expr),
    If {
        branches: Vec<(Pos, Expr, Body)>,
        otherwise: Body,
    },
    For(Rc<For>),
    Set(Target, Expr),
    /// The filter's innermost operand is [`ExprKind::Captured`].
    SetBlock {
        target: Target,
        filter: Option<Expr>,
        body: Body,
    },
    Macro(Rc<Macro>),
    Call {
        call: Expr,
        caller: Rc<Macro>,
    },
    Filter {
        filter: Expr,
        body: Body,
    },
    With {
        bindings: Vec<(Target, Expr)>,
        body: Body,
    },
    Autoescape {
        on: Expr,
        body: Body,
    },
    Block(Rc<Block>),
    Extends(Expr),
    Include {
        template: Expr,
        missing: Missing,
        context: Sees,
    },
    Import {
        template: Expr,
        target: Name,
        context: Sees,
        format: Option<&'static Filter>,
    },
    FromImport {
        template: Expr,
        names: Vec<(Name, Name)>,
        context: Sees,
    },
    Load {
        target: Target,
        filter: &'static Filter,
        body: Body,
    },
    Profile {
        label: Expr,
        body: Body,
    },
    Break,
    Continue,
}

/// What an `include` does about a template that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    Refused,
    Ignored,
}

/// Whether another template sees the variables of this one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sees {
    Context,
    GlobalsOnly,
}

pub struct For {
    pub target: Target,
    pub items: Expr,
    pub test: Option<Expr>,
    pub recursive: bool,
    pub body: Body,
    pub otherwise: Body,
}

pub struct Macro {
    pub name: Name,
    pub params: Vec<(Name, Option<Expr>)>,
    pub body: Body,
    pub uses: MacroUses,
}

/// Which of the special names a macro's body mentions: what it may be called with depends on them.
#[derive(Clone, Copy, Default)]
pub struct MacroUses {
    pub caller: bool,
    pub kwargs: bool,
    pub varargs: bool,
}

pub struct Block {
    pub name: Name,
    pub scoped: bool,
    pub required: bool,
    pub body: Body,
}

pub enum Target {
    Name(Name),
    Tuple(Vec<Target>),
    Attr(Name, Name),
}

pub struct Expr {
    pub pos: Pos,
    height: u16,
    pub kind: ExprKind,
}

impl Expr {
    pub fn new(pos: Pos, kind: ExprKind) -> Expr {
        let height = kind.height();
        Expr { pos, height, kind }
    }

    /// How many expressions stand one within the other below this one.
    pub fn height(&self) -> u16 {
        self.height
    }
}

pub enum ExprKind {
    Const(Val),
    Name(Name),
    /// The text of the block that a filter is put on.
    Captured,
    List(Vec<Expr>),
    Tuple(Vec<Expr>),
    Dict(Vec<(Expr, Expr)>),
    Attr(Box<Expr>, Name),
    Item(Box<Expr>, Box<Expr>),
    Slice(Box<[Option<Expr>; 3]>),
    Call(Box<Expr>, Box<CallArgs>),
    Filter(Box<Expr>, Name, Option<&'static Filter>, Box<CallArgs>),
    Test(Box<Expr>, Name, Option<&'static Test>, Box<CallArgs>),
    Not(Box<Expr>),
    Neg(Box<Expr>),
    Plus(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    Compare(Box<Expr>, Vec<(Comparison, Expr)>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Concat(Vec<Expr>),
    Cond {
        test: Box<Expr>,
        then: Box<Expr>,
        otherwise: Option<Box<Expr>>,
    },
}

impl ExprKind {
    /// One more than that of its highest part.
    fn height(&self) -> u16 {
        let above = |below: u16| below.saturating_add(1);
        match self {
            ExprKind::Const(_) | ExprKind::Name(_) | ExprKind::Captured => 0,
            ExprKind::List(items) | ExprKind::Tuple(items) | ExprKind::Concat(items) => above(highest(items)),
            ExprKind::Dict(items) => above(highest(items.iter().flat_map(|(key, value)| [key, value]))),
            ExprKind::Attr(owner, _) => above(owner.height),
            ExprKind::Item(owner, key) => above(owner.height.max(key.height)),
            ExprKind::Slice(parts) => above(highest(parts.iter().flatten())),
            ExprKind::Call(operand, args)
            | ExprKind::Filter(operand, _, _, args)
            | ExprKind::Test(operand, _, _, args) => above(operand.height.max(args.height())),
            ExprKind::Not(operand) | ExprKind::Neg(operand) | ExprKind::Plus(operand) => above(operand.height),
            ExprKind::Binary(_, left, right) | ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                above(left.height.max(right.height))
            }
            ExprKind::Compare(first, rest) => above(first.height.max(highest(rest.iter().map(|(_, right)| right)))),
            ExprKind::Cond { test, then, otherwise } => {
                above(test.height.max(then.height).max(otherwise.as_ref().map_or(0, |otherwise| otherwise.height)))
            }
        }
    }
}

fn highest<'e>(parts: impl IntoIterator<Item = &'e Expr>) -> u16 {
    parts.into_iter().map(|part| part.height).max().unwrap_or(0)
}

impl CallArgs {
    fn height(&self) -> u16 {
        let named = highest(self.named.iter().map(|(_, value)| value));
        highest(self.positional.iter().chain(&self.spread).chain(&self.spread_named)).max(named)
    }
}

#[derive(Default)]
pub struct CallArgs {
    pub positional: Vec<Expr>,
    pub named: Vec<(Name, Expr)>,
    pub spread: Option<Expr>,
    pub spread_named: Option<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    NotIn,
}
