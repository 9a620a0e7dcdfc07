//! What stands between `{%` and `%}`.

use super::super::ast::{
    Block, Expr, ExprKind, For, Macro, MacroUses, Missing, Name, Pos, Sees, Stmt, StmtKind, Target,
};
use super::super::error::{Failure, Kind, Res};
use super::super::filters;
use super::super::options::Dialect;
use super::super::token::Tok;
use super::Parser;
use halite_value::str_repr;
use std::rc::Rc;

impl Parser {
    pub(super) fn statement(&mut self, body: &mut Vec<Stmt>) -> Res<()> {
        let token = self.current().clone();
        let Tok::Name(tag) = token.kind else {
            return self.fail("tag name expected");
        };
        let salt = self.dialect == Dialect::Salt;
        let parse: fn(&mut Parser, &mut Vec<Stmt>, Pos) -> Res<()> = match &*tag {
            "print" => Parser::print,
            "if" => |parser, body, pos| parser.plain(body, pos, Parser::if_tag),
            "for" => |parser, body, pos| parser.plain(body, pos, Parser::for_tag),
            "set" => |parser, body, pos| parser.plain(body, pos, Parser::set_tag),
            "macro" => |parser, body, pos| parser.plain(body, pos, Parser::macro_tag),
            "call" => |parser, body, pos| parser.plain(body, pos, Parser::call_tag),
            "filter" => |parser, body, pos| parser.plain(body, pos, Parser::filter_tag),
            "with" => |parser, body, pos| parser.plain(body, pos, Parser::with_tag),
            "autoescape" => |parser, body, pos| parser.plain(body, pos, Parser::autoescape_tag),
            "block" => |parser, body, pos| parser.plain(body, pos, Parser::block_tag),
            "extends" => |parser, body, pos| parser.plain(body, pos, Parser::extends_tag),
            "include" => |parser, body, pos| parser.plain(body, pos, Parser::include_tag),
            "import" => |parser, body, pos| parser.plain(body, pos, Parser::import_tag),
            "from" => |parser, body, pos| parser.plain(body, pos, Parser::import_names_tag),
            "do" => |parser, body, pos| parser.plain(body, pos, Parser::do_tag),
            "break" => |parser, body, pos| parser.plain(body, pos, |parser| parser.bare(StmtKind::Break)),
            "continue" => |parser, body, pos| parser.plain(body, pos, |parser| parser.bare(StmtKind::Continue)),
            "load_yaml" | "load_json" | "load_text" if salt => {
                |parser, body, pos| parser.plain(body, pos, Parser::load_tag)
            }
            "import_yaml" | "import_json" | "import_text" if salt => {
                |parser, body, pos| parser.plain(body, pos, Parser::import_data_tag)
            }
            "profile" if salt => |parser, body, pos| parser.plain(body, pos, Parser::profile_tag),
            _ => return Err(self.unexpected_tag(Some(&tag))),
        };
        self.tags.push(tag.to_string());
        parse(self, body, token.pos)?;
        self.tags.pop();
        Ok(())
    }

    fn plain(&mut self, body: &mut Vec<Stmt>, pos: Pos, parse: fn(&mut Parser) -> Res<StmtKind>) -> Res<()> {
        let kind = parse(self)?;
        body.push(Stmt { pos, kind });
        Ok(())
    }

    fn bare(&mut self, kind: StmtKind) -> Res<StmtKind> {
        if self.loops == 0 {
            let break_ = matches!(kind, StmtKind::Break);
            return self.fail(if break_ { "'break' outside loop" } else { "'continue' not properly in loop" });
        }
        self.advance()?;
        Ok(kind)
    }

    fn print(&mut self, body: &mut Vec<Stmt>, _: Pos) -> Res<()> {
        self.advance()?;
        let mut first = true;
        while !matches!(self.current().kind, Tok::TagEnd) {
            if !first {
                self.expect_op(",")?;
            }
            first = false;
            let expr = self.expression()?;
            body.push(Stmt { pos: expr.pos, kind: StmtKind::Print(expr) });
        }
        Ok(())
    }

    fn do_tag(&mut self) -> Res<StmtKind> {
        self.advance()?;
        self.tuple().map(StmtKind::Do)
    }

    fn if_tag(&mut self) -> Res<StmtKind> {
        let mut branches = Vec::new();
        self.in_branch(|parser| {
            loop {
                let pos = parser.advance()?.pos;
                let test = parser.plain_tuple(None)?;
                let body = parser.body(&["elif", "else", "endif"])?;
                branches.push((pos, test, body));
                if parser.current().is_name("elif") {
                    continue;
                }
                let otherwise = match parser.advance()?.is_name("else") {
                    true => parser.closed_body(&["endif"])?,
                    false => Vec::new(),
                };
                return Ok(StmtKind::If { branches: std::mem::take(&mut branches), otherwise });
            }
        })
    }

    fn for_tag(&mut self) -> Res<StmtKind> {
        self.advance()?;
        let target = self.target(Some("in"), Namespaces::Not)?;
        self.expect_keyword("in")?;
        let items = self.plain_tuple(Some("recursive"))?;
        self.in_scope(|parser| {
            let test = match parser.skip_name("if")? {
                true => Some(parser.expression()?),
                false => None,
            };
            let recursive = parser.skip_name("recursive")?;
            parser.loops += 1;
            let body = parser.body(&["endfor", "else"])?;
            parser.loops -= 1;
            let otherwise = match parser.advance()?.is_name("endfor") {
                true => Vec::new(),
                false => parser.closed_body(&["endfor"])?,
            };
            Ok(StmtKind::For(Rc::new(For { target, items, test, recursive, body, otherwise })))
        })
    }

    fn set_tag(&mut self) -> Res<StmtKind> {
        self.advance()?;
        let target = self.target(None, Namespaces::Too)?;
        if self.skip_op("=")? {
            return Ok(StmtKind::Set(target, self.tuple()?));
        }
        self.in_scope(|parser| {
            let filter = parser.block_filters()?;
            let body = parser.closed_body(&["endset"])?;
            Ok(StmtKind::SetBlock { target, filter, body })
        })
    }

    fn macro_tag(&mut self) -> Res<StmtKind> {
        self.advance()?;
        let name = self.expect_name()?;
        self.macro_rest(name, &["endmacro"]).map(StmtKind::Macro)
    }

    fn macro_rest(&mut self, name: Name, ends: &'static [&'static str]) -> Res<Rc<Macro>> {
        let outer = std::mem::take(&mut self.uses);
        let loops = std::mem::take(&mut self.loops);
        let params = self.signature()?;
        let body = self.in_scope(|parser| parser.closed_body(ends))?;
        let uses = self.leave_macro(outer);
        self.loops = loops;
        Ok(Rc::new(Macro { name, params, body, uses }))
    }

    fn leave_macro(&mut self, outer: MacroUses) -> MacroUses {
        let uses = self.uses;
        self.uses = MacroUses {
            caller: outer.caller || uses.caller,
            kwargs: outer.kwargs || uses.kwargs,
            varargs: outer.varargs || uses.varargs,
        };
        uses
    }

    fn signature(&mut self) -> Res<Vec<(Name, Option<Expr>)>> {
        let mut params: Vec<(Name, Option<Expr>)> = Vec::new();
        self.expect_op("(")?;
        while !self.current().is_op(")") {
            if !params.is_empty() {
                self.expect_op(",")?;
            }
            let name = self.expect_name()?;
            let default = match self.skip_op("=")? {
                true => Some(self.expression()?),
                false if params.iter().any(|(_, default)| default.is_some()) => {
                    return self.fail("non-default argument follows default argument");
                }
                false => None,
            };
            params.push((name, default));
        }
        self.expect_op(")")?;
        Ok(params)
    }

    fn call_tag(&mut self) -> Res<StmtKind> {
        let pos = self.advance()?.pos;
        let params = match self.current().is_op("(") {
            true => self.signature()?,
            false => Vec::new(),
        };
        let call = self.expression()?;
        if !matches!(call.kind, ExprKind::Call(..)) {
            return Err(Failure::syntax("expected call", pos));
        }
        let outer = std::mem::take(&mut self.uses);
        let loops = std::mem::take(&mut self.loops);
        let body = self.in_scope(|parser| parser.closed_body(&["endcall"]))?;
        let uses = self.leave_macro(outer);
        self.loops = loops;
        let name = "caller".into();
        Ok(StmtKind::Call { call, caller: Rc::new(Macro { name, params, body, uses }) })
    }

    fn filter_tag(&mut self) -> Res<StmtKind> {
        self.advance()?;
        self.in_scope(|parser| {
            let filter = parser.tag_filters()?;
            let body = parser.closed_body(&["endfilter"])?;
            Ok(StmtKind::Filter { filter, body })
        })
    }

    fn with_tag(&mut self) -> Res<StmtKind> {
        self.advance()?;
        let mut bindings = Vec::new();
        while !matches!(self.current().kind, Tok::TagEnd) {
            if !bindings.is_empty() {
                self.expect_op(",")?;
            }
            let target = self.target(None, Namespaces::Not)?;
            self.expect_op("=")?;
            bindings.push((target, self.expression()?));
        }
        let body = self.in_scope(|parser| parser.closed_body(&["endwith"]))?;
        Ok(StmtKind::With { bindings, body })
    }

    fn autoescape_tag(&mut self) -> Res<StmtKind> {
        self.advance()?;
        let on = self.expression()?;
        let body = self.in_scope(|parser| parser.closed_body(&["endautoescape"]))?;
        Ok(StmtKind::Autoescape { on, body })
    }

    fn block_tag(&mut self) -> Res<StmtKind> {
        let pos = self.advance()?.pos;
        let name = self.expect_name()?;
        let scoped = self.skip_name("scoped")?;
        let required = self.skip_name("required")?;
        if self.current().is_op("-") {
            return self.fail(
                "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an \
                 underscore instead.",
            );
        }
        let loops = std::mem::take(&mut self.loops);
        let body = self.in_scope(|parser| parser.closed_body(&["endblock"]))?;
        self.loops = loops;
        let blank = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Data(text) if text.trim().is_empty());
        if required && !body.iter().all(blank) {
            return self.fail("Required blocks can only contain comments or whitespace");
        }
        self.skip_name(&name)?;
        if self.blocks.iter().any(|block| block.name == name) {
            let message = format!("block {} defined twice", str_repr(&name));
            let mut failure = Failure::new(Kind::Assertion, message);
            failure.at = Some(pos);
            return Err(failure);
        }
        let block = Rc::new(Block { name, scoped, required, body });
        self.blocks.push(block.clone());
        Ok(StmtKind::Block(block))
    }

    fn extends_tag(&mut self) -> Res<StmtKind> {
        self.advance()?;
        self.expression().map(StmtKind::Extends)
    }

    fn include_tag(&mut self) -> Res<StmtKind> {
        self.advance()?;
        let template = self.expression()?;
        let missing = match self.current().is_name("ignore") && self.look().is_name("missing") {
            true => {
                self.advance()?;
                self.advance()?;
                Missing::Ignored
            }
            false => Missing::Refused,
        };
        let context = self.context()?.unwrap_or(Sees::Context);
        Ok(StmtKind::Include { template, missing, context })
    }

    /// `with context` or `without context`.
    fn context(&mut self) -> Res<Option<Sees>> {
        let sees = match &self.current().kind {
            Tok::Name(name) if &**name == "with" => Sees::Context,
            Tok::Name(name) if &**name == "without" => Sees::GlobalsOnly,
            _ => return Ok(None),
        };
        if !self.look().is_name("context") {
            return Ok(None);
        }
        self.advance()?;
        self.advance()?;
        Ok(Some(sees))
    }

    fn import_tag(&mut self) -> Res<StmtKind> {
        self.import(None)
    }

    fn import_data_tag(&mut self) -> Res<StmtKind> {
        let loader = match &self.current().kind {
            Tok::Name(name) => name.replacen("import_", "load_", 1),
            _ => String::new(),
        };
        let format = filters::find(&loader, self.dialect);
        self.import(format)
    }

    fn import(&mut self, format: Option<&'static filters::Filter>) -> Res<StmtKind> {
        self.advance()?;
        let template = self.expression()?;
        self.expect_keyword("as")?;
        let target = self.expect_name()?;
        let context = self.context()?.unwrap_or(Sees::GlobalsOnly);
        Ok(StmtKind::Import { template, target, context, format })
    }

    fn import_names_tag(&mut self) -> Res<StmtKind> {
        self.advance()?;
        let template = self.expression()?;
        self.expect_keyword("import")?;
        let mut names = Vec::new();
        let mut context;
        loop {
            if !names.is_empty() {
                self.expect_op(",")?;
            }
            context = self.context()?;
            if context.is_some() {
                break;
            }
            let pos = self.pos();
            let name = self.expect_name()?;
            if name.starts_with('_') {
                let mut failure = Failure::new(Kind::Assertion, "names starting with an underline can not be imported");
                failure.at = Some(pos);
                return Err(failure);
            }
            let alias = match self.skip_name("as")? {
                true => self.expect_name()?,
                false => name.clone(),
            };
            names.push((name, alias));
            context = self.context()?;
            if context.is_some() || !self.current().is_op(",") {
                break;
            }
        }
        Ok(StmtKind::FromImport { template, names, context: context.unwrap_or(Sees::GlobalsOnly) })
    }

    fn load_tag(&mut self) -> Res<StmtKind> {
        let name = self.expect_name()?;
        let Some(filter) = filters::find(&name, self.dialect) else {
            return self.fail(format!("Unable to parse {name}"));
        };
        self.expect_keyword("as")?;
        let target = self.target(None, Namespaces::Not)?;
        let body = self.in_scope(|parser| parser.closed_body(&["endload"]))?;
        Ok(StmtKind::Load { target, filter, body })
    }

    fn profile_tag(&mut self) -> Res<StmtKind> {
        self.advance()?;
        self.expect_keyword("as")?;
        let label = self.expression()?;
        let body = self.closed_body(&["endprofile"])?;
        Ok(StmtKind::Profile { label, body })
    }

    /// What a value is bound to: a name, several, or (for `set`) an attribute of a namespace.
    fn target(&mut self, end: Option<&str>, namespaces: Namespaces) -> Res<Target> {
        let mut items = Vec::new();
        let mut is_tuple = false;
        loop {
            if !items.is_empty() {
                self.expect_op(",")?;
            }
            if self.tuple_ends(end) {
                break;
            }
            items.push(self.simple_target(namespaces)?);
            if !self.current().is_op(",") {
                break;
            }
            is_tuple = true;
        }
        if is_tuple {
            return Ok(Target::Tuple(items));
        }
        match items.pop() {
            Some(only) => Ok(only),
            None => {
                let got = str_repr(self.current().describe());
                self.fail(format!("Expected an expression, got {got}"))
            }
        }
    }

    fn simple_target(&mut self, namespaces: Namespaces) -> Res<Target> {
        let token = self.current().clone();
        match token.kind {
            Tok::Name(name) => {
                self.advance()?;
                if matches!(&*name, "true" | "false" | "none" | "True" | "False" | "None") {
                    return Err(Failure::syntax("can't assign to 'const'", token.pos));
                }
                if namespaces == Namespaces::Too && self.skip_op(".")? {
                    return Ok(Target::Attr(name, self.expect_name()?));
                }
                Ok(Target::Name(name))
            }
            Tok::Op("(") => {
                self.advance()?;
                let inner = self.deeper(|parser| parser.target(None, namespaces))?;
                self.expect_op(")")?;
                Ok(inner)
            }
            Tok::Op("[") => Err(Failure::syntax("can't assign to 'list'", token.pos)),
            Tok::Op("{") => Err(Failure::syntax("can't assign to 'dict'", token.pos)),
            Tok::Str(_) | Tok::Integer(_) | Tok::Float(_) => Err(Failure::syntax("can't assign to 'const'", token.pos)),
            _ => self.fail(format!("unexpected {}", str_repr(token.describe()))),
        }
    }
}

/// Whether an attribute of a namespace may be bound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Namespaces {
    Too,
    Not,
}
