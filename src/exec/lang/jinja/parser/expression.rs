//! Expressions, by jinja2's precedence.

use super::super::ast::{CallArgs, Comparison, Expr, ExprKind, Operator, Pos};
use super::super::error::Res;
use super::super::token::Tok;
use super::super::value::Val;
use super::super::{filters, tests};
use super::Parser;
use halite_value::str_repr;

/// How many expressions may stand one within the other, as those of `1 + 1 + 1` do: whatever walks a tree is recursive.
const HEIGHT_LIMIT: u16 = 200;

/// Whether `a if b else c` may stand without brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Conditional {
    Allowed,
    Not,
}

impl Parser {
    fn node(&self, pos: Pos, kind: ExprKind) -> Res<Expr> {
        let expr = Expr::new(pos, kind);
        match expr.height() > HEIGHT_LIMIT {
            true => Err(super::Failure::syntax(format!("this chains more than {HEIGHT_LIMIT} operators"), pos)),
            false => Ok(expr),
        }
    }

    pub(super) fn expression(&mut self) -> Res<Expr> {
        self.deeper(Parser::conditional)
    }

    /// One expression, or several with commas between, which are a tuple.
    pub(super) fn tuple(&mut self) -> Res<Expr> {
        self.tuple_of(Conditional::Allowed, None, false)
    }

    /// The same where `if` means something else: behind `for x in` and `if`.
    pub(super) fn plain_tuple(&mut self, end: Option<&str>) -> Res<Expr> {
        self.tuple_of(Conditional::Not, end, false)
    }

    fn tuple_of(&mut self, conditional: Conditional, end: Option<&str>, bracketed: bool) -> Res<Expr> {
        let mut pos = self.pos();
        let mut items = Vec::new();
        let mut is_tuple = false;
        loop {
            if !items.is_empty() {
                self.expect_op(",")?;
            }
            if self.tuple_ends(end) {
                break;
            }
            items.push(match conditional {
                Conditional::Allowed => self.expression()?,
                Conditional::Not => self.deeper(Parser::or)?,
            });
            if !self.current().is_op(",") {
                break;
            }
            is_tuple = true;
            pos = self.pos();
        }
        if !is_tuple {
            if let Some(only) = items.pop() {
                return Ok(only);
            }
            if !bracketed {
                let got = str_repr(self.current().describe());
                return self.fail(format!("Expected an expression, got {got}"));
            }
        }
        self.node(pos, ExprKind::Tuple(items))
    }

    pub(super) fn tuple_ends(&self, end: Option<&str>) -> bool {
        let token = self.current();
        matches!(token.kind, Tok::PrintEnd | Tok::TagEnd)
            || token.is_op(")")
            || end.is_some_and(|name| token.is_name(name))
    }

    fn conditional(&mut self) -> Res<Expr> {
        let mut pos = self.pos();
        let before = self.absent.len();
        let mut expr = self.or()?;
        while self.skip_name("if")? {
            let test = Box::new(self.or()?);
            let otherwise = match self.skip_name("else")? {
                true => Some(Box::new(self.deeper(Parser::conditional)?)),
                false => None,
            };
            self.forgive(before);
            expr = self.node(pos, ExprKind::Cond { test, then: Box::new(expr), otherwise })?;
            pos = self.pos();
        }
        Ok(expr)
    }

    fn or(&mut self) -> Res<Expr> {
        let mut pos = self.pos();
        let mut left = self.and()?;
        while self.skip_name("or")? {
            let right = self.and()?;
            left = self.node(pos, ExprKind::Or(Box::new(left), Box::new(right)))?;
            pos = self.pos();
        }
        Ok(left)
    }

    fn and(&mut self) -> Res<Expr> {
        let mut pos = self.pos();
        let mut left = self.not()?;
        while self.skip_name("and")? {
            let right = self.not()?;
            left = self.node(pos, ExprKind::And(Box::new(left), Box::new(right)))?;
            pos = self.pos();
        }
        Ok(left)
    }

    fn not(&mut self) -> Res<Expr> {
        if !self.current().is_name("not") {
            return self.compare();
        }
        let pos = self.advance()?.pos;
        let operand = self.deeper(Parser::not)?;
        self.node(pos, ExprKind::Not(Box::new(operand)))
    }

    fn compare(&mut self) -> Res<Expr> {
        let pos = self.pos();
        let first = self.sum()?;
        let mut rest = Vec::new();
        loop {
            let comparison = match &self.current().kind {
                Tok::Op("==") => Comparison::Eq,
                Tok::Op("!=") => Comparison::Ne,
                Tok::Op("<") => Comparison::Lt,
                Tok::Op("<=") => Comparison::Le,
                Tok::Op(">") => Comparison::Gt,
                Tok::Op(">=") => Comparison::Ge,
                Tok::Name(name) if &**name == "in" => Comparison::In,
                Tok::Name(name) if &**name == "not" && self.look().is_name("in") => {
                    self.advance()?;
                    Comparison::NotIn
                }
                _ => break,
            };
            self.advance()?;
            rest.push((comparison, self.sum()?));
        }
        match rest.is_empty() {
            true => Ok(first),
            false => self.node(pos, ExprKind::Compare(Box::new(first), rest)),
        }
    }

    fn sum(&mut self) -> Res<Expr> {
        self.binary(&[("+", Operator::Add), ("-", Operator::Sub)], Parser::concat)
    }

    fn concat(&mut self) -> Res<Expr> {
        let pos = self.pos();
        let mut items = vec![self.product()?];
        while self.skip_op("~")? {
            items.push(self.product()?);
        }
        match items.len() {
            1 => items.pop().map_or_else(|| self.fail("expression expected"), Ok),
            _ => self.node(pos, ExprKind::Concat(items)),
        }
    }

    fn product(&mut self) -> Res<Expr> {
        let operators = [("*", Operator::Mul), ("/", Operator::Div), ("//", Operator::FloorDiv), ("%", Operator::Mod)];
        self.binary(&operators, Parser::power)
    }

    fn power(&mut self) -> Res<Expr> {
        self.binary(&[("**", Operator::Pow)], Parser::unary)
    }

    fn binary(&mut self, operators: &[(&str, Operator)], operand: fn(&mut Parser) -> Res<Expr>) -> Res<Expr> {
        let mut pos = self.pos();
        let mut left = operand(self)?;
        while matches!(self.current().kind, Tok::Op(_))
            && let Some((_, operator)) = operators.iter().find(|(op, _)| self.current().is_op(op))
        {
            self.advance()?;
            let right = operand(self)?;
            left = self.node(pos, ExprKind::Binary(*operator, Box::new(left), Box::new(right)))?;
            pos = self.pos();
        }
        Ok(left)
    }

    fn unary(&mut self) -> Res<Expr> {
        let operand = self.signed()?;
        self.filtered(operand)
    }

    fn signed(&mut self) -> Res<Expr> {
        let pos = self.pos();
        let node = if self.skip_op("-")? {
            let operand = Box::new(self.deeper(Parser::signed)?);
            self.node(pos, ExprKind::Neg(operand))?
        } else if self.skip_op("+")? {
            let operand = Box::new(self.deeper(Parser::signed)?);
            self.node(pos, ExprKind::Plus(operand))?
        } else {
            self.primary()?
        };
        self.postfix(node)
    }

    fn primary(&mut self) -> Res<Expr> {
        let token = self.current();
        let pos = token.pos;
        let kind = match &token.kind {
            Tok::Name(name) => {
                let name = name.clone();
                self.advance()?;
                match &*name {
                    "true" | "True" => ExprKind::Const(Val::Bool(true)),
                    "false" | "False" => ExprKind::Const(Val::Bool(false)),
                    "none" | "None" => ExprKind::Const(Val::None),
                    _ => {
                        match &*name {
                            "caller" => self.uses.caller = true,
                            "kwargs" => self.uses.kwargs = true,
                            "varargs" => self.uses.varargs = true,
                            _ => {}
                        }
                        ExprKind::Name(name)
                    }
                }
            }
            Tok::Str(text) => {
                let mut text = text.clone();
                self.advance()?;
                while let Tok::Str(more) = &self.current().kind {
                    text = format!("{text}{more}").into();
                    self.advance()?;
                }
                ExprKind::Const(Val::Str(text))
            }
            Tok::Integer(number) => {
                let number = number.clone();
                self.advance()?;
                ExprKind::Const(number)
            }
            Tok::Float(number) => {
                let number = *number;
                self.advance()?;
                ExprKind::Const(Val::Float(number))
            }
            Tok::Op("(") => {
                self.advance()?;
                let inner = self.deeper(|parser| parser.tuple_of(Conditional::Allowed, None, true))?;
                self.expect_op(")")?;
                return Ok(inner);
            }
            Tok::Op("[") => ExprKind::List(self.list()?),
            Tok::Op("{") => ExprKind::Dict(self.dict()?),
            _ => {
                let got = str_repr(self.current().describe());
                return self.fail(format!("unexpected {got}"));
            }
        };
        self.node(pos, kind)
    }

    fn list(&mut self) -> Res<Vec<Expr>> {
        self.expect_op("[")?;
        let mut items = Vec::new();
        while !self.current().is_op("]") {
            if !items.is_empty() {
                self.expect_op(",")?;
            }
            if self.current().is_op("]") {
                break;
            }
            items.push(self.expression()?);
        }
        self.expect_op("]")?;
        Ok(items)
    }

    fn dict(&mut self) -> Res<Vec<(Expr, Expr)>> {
        self.expect_op("{")?;
        let mut items = Vec::new();
        while !self.current().is_op("}") {
            if !items.is_empty() {
                self.expect_op(",")?;
            }
            if self.current().is_op("}") {
                break;
            }
            let key = self.expression()?;
            self.expect_op(":")?;
            items.push((key, self.expression()?));
        }
        self.expect_op("}")?;
        Ok(items)
    }

    fn postfix(&mut self, mut node: Expr) -> Res<Expr> {
        loop {
            node = match self.current().kind {
                Tok::Op("." | "[") => self.subscript(node)?,
                Tok::Op("(") => self.call(node)?,
                _ => return Ok(node),
            };
        }
    }

    /// Filters, tests and calls behind an operand.
    fn filtered(&mut self, mut node: Expr) -> Res<Expr> {
        loop {
            node = match &self.current().kind {
                Tok::Op("|") => self.filters(node)?,
                Tok::Name(name) if &**name == "is" => self.test(node)?,
                Tok::Op("(") => self.call(node)?,
                _ => return Ok(node),
            };
        }
    }

    fn call(&mut self, node: Expr) -> Res<Expr> {
        let pos = self.pos();
        let args = Box::new(self.call_args()?);
        self.node(pos, ExprKind::Call(Box::new(node), args))
    }

    fn subscript(&mut self, node: Expr) -> Res<Expr> {
        let token = self.advance()?;
        let pos = token.pos;
        if token.is_op(".") {
            let attribute = self.advance()?;
            let kind = match attribute.kind {
                Tok::Name(name) => ExprKind::Attr(Box::new(node), name),
                Tok::Integer(index) => {
                    let index = self.node(attribute.pos, ExprKind::Const(index))?;
                    ExprKind::Item(Box::new(node), Box::new(index))
                }
                _ => return Err(super::Failure::syntax("expected name or number", attribute.pos)),
            };
            return self.node(pos, kind);
        }
        let mut items = Vec::new();
        while !self.current().is_op("]") {
            if !items.is_empty() {
                self.expect_op(",")?;
            }
            items.push(self.subscribed()?);
        }
        self.expect_op("]")?;
        let index = match items.len() {
            1 => items.remove(0),
            _ => self.node(pos, ExprKind::Tuple(items))?,
        };
        self.node(pos, ExprKind::Item(Box::new(node), Box::new(index)))
    }

    fn subscribed(&mut self) -> Res<Expr> {
        let pos = self.pos();
        let start = match self.current().is_op(":") {
            true => None,
            false => {
                let node = self.expression()?;
                if !self.current().is_op(":") {
                    return Ok(node);
                }
                Some(node)
            }
        };
        self.expect_op(":")?;
        let ends = |parser: &Parser| parser.current().is_op("]") || parser.current().is_op(",");
        let stop = match self.current().is_op(":") || ends(self) {
            true => None,
            false => Some(self.expression()?),
        };
        let step = match self.skip_op(":")? && !ends(self) {
            true => Some(self.expression()?),
            false => None,
        };
        self.node(pos, ExprKind::Slice(Box::new([start, stop, step])))
    }

    fn call_args(&mut self) -> Res<CallArgs> {
        let pos = self.expect_op("(")?.pos;
        let mut args = CallArgs::default();
        let wrong = || super::Failure::syntax("invalid syntax for function call expression", pos);
        let mut comma = false;
        while !self.current().is_op(")") {
            if comma {
                self.expect_op(",")?;
                if self.current().is_op(")") {
                    break;
                }
            }
            comma = true;
            let named = matches!(self.current().kind, Tok::Name(_)) && self.look().is_op("=");
            if self.current().is_op("*") {
                if args.spread.is_some() || args.spread_named.is_some() {
                    return Err(wrong());
                }
                self.advance()?;
                args.spread = Some(self.expression()?);
                continue;
            }
            if args.spread_named.is_some() {
                return Err(wrong());
            }
            if self.skip_op("**")? {
                args.spread_named = Some(self.expression()?);
            } else if named {
                let name = self.expect_name()?;
                self.advance()?;
                args.named.push((name, self.expression()?));
            } else if args.spread.is_some() || !args.named.is_empty() {
                return Err(wrong());
            } else {
                args.positional.push(self.expression()?);
            }
        }
        self.expect_op(")")?;
        Ok(args)
    }

    fn filters(&mut self, mut node: Expr) -> Res<Expr> {
        while self.skip_op("|")? {
            node = self.filter(node)?;
        }
        Ok(node)
    }

    /// Filters behind nothing: the operand is the text of a block.
    pub(super) fn block_filters(&mut self) -> Res<Option<Expr>> {
        if !self.current().is_op("|") {
            return Ok(None);
        }
        let captured = self.node(self.pos(), ExprKind::Captured)?;
        self.filters(captured).map(Some)
    }

    /// The filters of a `filter` tag: the first stands without a bar.
    pub(super) fn tag_filters(&mut self) -> Res<Expr> {
        let captured = self.node(self.pos(), ExprKind::Captured)?;
        let first = self.filter(captured)?;
        self.filters(first)
    }

    fn filter(&mut self, node: Expr) -> Res<Expr> {
        let pos = self.pos();
        let name = self.dotted_name()?;
        let filter = filters::find(&name, self.dialect);
        if filter.is_none() {
            self.missing("filter", &name, pos);
        }
        let args = match self.current().is_op("(") {
            true => self.call_args()?,
            false => CallArgs::default(),
        };
        self.node(pos, ExprKind::Filter(Box::new(node), name.into(), filter, Box::new(args)))
    }

    fn dotted_name(&mut self) -> Res<String> {
        let mut name = self.expect_name()?.to_string();
        while self.skip_op(".")? {
            name.push('.');
            name.push_str(&self.expect_name()?);
        }
        Ok(name)
    }

    fn test(&mut self, node: Expr) -> Res<Expr> {
        let pos: Pos = self.advance()?.pos;
        let negated = self.skip_name("not")?;
        let name = self.dotted_name()?;
        let test = tests::find(&name, self.dialect);
        if test.is_none() {
            self.missing("test", &name, pos);
        }
        let mut args = CallArgs::default();
        let token = self.current();
        let operand =
            matches!(token.kind, Tok::Name(_) | Tok::Str(_) | Tok::Integer(_) | Tok::Float(_) | Tok::Op("[" | "{"))
                && !["else", "or", "and"].iter().any(|word| token.is_name(word));
        if token.is_op("(") {
            args = self.call_args()?;
        } else if operand {
            if token.is_name("is") {
                return self.fail("You cannot chain multiple tests with is");
            }
            let primary = self.primary()?;
            args.positional.push(self.postfix(primary)?);
        }
        let node = self.node(pos, ExprKind::Test(Box::new(node), name.into(), test, Box::new(args)))?;
        Ok(match negated {
            true => self.node(pos, ExprKind::Not(Box::new(node)))?,
            false => node,
        })
    }
}
