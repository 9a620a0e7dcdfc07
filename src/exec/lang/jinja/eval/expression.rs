//! What an expression is worth.

use super::super::ast::{CallArgs, Comparison, Expr, ExprKind, Name, Operator};
use super::super::error::{Failure, Res};
use super::super::value::{Dict, Val, effort};
use super::super::{filters, methods, tests};
use super::operators::{arithmetic, compare, concat, contains, negate};
use super::{Args, Interp, located};
use halite_value::str_repr;

impl Interp<'_> {
    pub fn eval(&mut self, expr: &Expr) -> Res<Val> {
        let value = match &expr.kind {
            ExprKind::Const(value) => return Ok(value.clone()),
            ExprKind::Name(name) => return Ok(self.name(name)),
            _ => self.compound(expr),
        };
        value.map_err(|failure| located(failure, expr))
    }

    fn compound(&mut self, expr: &Expr) -> Res<Val> {
        match &expr.kind {
            ExprKind::Const(value) => Ok(value.clone()),
            ExprKind::Name(name) => Ok(self.name(name)),
            ExprKind::Captured => Ok(self.captured.last().cloned().unwrap_or(Val::None)),
            ExprKind::List(items) => Ok(Val::list(self.all(items)?)),
            ExprKind::Tuple(items) => Ok(Val::tuple(self.all(items)?)),
            ExprKind::Dict(items) => self.dict(items),
            ExprKind::Attr(owner, name) => {
                let owner = self.eval(owner)?;
                self.attribute(&owner, name)
            }
            ExprKind::Item(owner, key) => {
                let owner = self.eval(owner)?;
                if let ExprKind::Slice(parts) = &key.kind {
                    return self.slice(&owner, parts);
                }
                let key = self.eval(key)?;
                self.item(&owner, &key)
            }
            ExprKind::Slice(_) => Err(Failure::type_error("a slice stands in brackets only")),
            ExprKind::Call(callee, args) => self.call_expr(callee, args, None),
            ExprKind::Filter(operand, name, filter, args) => {
                let Some(filter) = filter else {
                    return Err(Failure::runtime(format!("No filter named {} found.", str_repr(name))));
                };
                let operand = self.eval(operand)?;
                self.apply(filter, operand, args)
            }
            ExprKind::Test(operand, name, test, args) => {
                let Some(test) = test else {
                    return Err(Failure::runtime(format!("No test named {} found.", str_repr(name))));
                };
                let operand = self.eval(operand)?;
                let args = self.args(args)?;
                let bound = test.signature.bind(args)?;
                (test.run)(self, &operand, &bound).map(Val::Bool)
            }
            ExprKind::Not(operand) => Ok(Val::Bool(!self.truth(operand)?)),
            ExprKind::Neg(operand) => negate(&self.eval(operand)?),
            ExprKind::Plus(operand) => {
                let value = self.eval(operand)?;
                value.defined()?;
                match value {
                    Val::Bool(truth) => Ok(Val::Int(truth.into())),
                    Val::Int(_) | Val::Big(_) | Val::Float(_) => Ok(value),
                    other => {
                        let kind = other.type_name();
                        Err(Failure::type_error(format!("bad operand type for unary +: '{kind}'")))
                    }
                }
            }
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExprKind::Compare(first, rest) => self.comparison(first, rest),
            ExprKind::And(left, right) => {
                let left = self.eval(left)?;
                if left.truth()? { self.eval(right) } else { Ok(left) }
            }
            ExprKind::Or(left, right) => {
                let left = self.eval(left)?;
                if left.truth()? { Ok(left) } else { self.eval(right) }
            }
            ExprKind::Concat(items) => {
                let items = self.all(items)?;
                concat(self, &items)
            }
            ExprKind::Cond { test, then, otherwise } => match (self.truth(test)?, otherwise) {
                (true, _) => self.eval(then),
                (false, Some(otherwise)) => self.eval(otherwise),
                (false, None) => Ok(Val::Undefined(std::rc::Rc::new(super::super::value::Undefined {
                    message: format!(
                        "the inline if-expression on line {} evaluated to false and no else section was defined.",
                        expr.pos.line
                    ),
                    lenient: true,
                }))),
            },
        }
    }

    fn binary(&mut self, operator: Operator, left: &Expr, right: &Expr) -> Res<Val> {
        let left = self.eval(left)?;
        let right = self.eval(right)?;
        arithmetic(self, operator, &left, &right)
    }

    fn comparison(&mut self, first: &Expr, rest: &[(Comparison, Expr)]) -> Res<Val> {
        let mut left = self.eval(first)?;
        for (comparison, right) in rest {
            let right = self.eval(right)?;
            let holds = match comparison {
                Comparison::In => contains(self, &right, &left)?,
                Comparison::NotIn => !contains(self, &right, &left)?,
                other => compare(*other, &left, &right)?,
            };
            if !holds {
                return Ok(Val::Bool(false));
            }
            left = right;
        }
        Ok(Val::Bool(true))
    }

    fn all(&mut self, items: &[Expr]) -> Res<Vec<Val>> {
        self.spend(items.len())?;
        items.iter().map(|item| self.eval(item)).collect()
    }

    fn dict(&mut self, items: &[(Expr, Expr)]) -> Res<Val> {
        self.spend(items.len())?;
        let mut dict = Dict::with_capacity(items.len());
        for (key, value) in items {
            let key = self.eval(key)?;
            key.hashable()?;
            let value = self.eval(value)?;
            dict.insert(key, value);
        }
        Ok(Val::dict(dict))
    }

    pub fn args(&mut self, args: &CallArgs) -> Res<Args> {
        let mut positional = self.all(&args.positional)?;
        if let Some(spread) = &args.spread {
            let more = self.eval(spread)?;
            positional.extend(more.items(self)?);
        }
        let mut named = Vec::with_capacity(args.named.len());
        for (name, value) in &args.named {
            named.push((name.clone(), self.eval(value)?));
        }
        if let Some(spread) = &args.spread_named {
            let more = self.eval(spread)?;
            more.defined()?;
            let Val::Dict(dict) = &more else {
                let kind = more.type_name();
                return Err(Failure::type_error(format!("argument after ** must be a mapping, not {kind}")));
            };
            for (key, value) in dict.0.borrow().iter() {
                let Some(name) = key.as_str() else { return Err(Failure::type_error("keywords must be strings")) };
                named.push((Name::from(name), value.clone()));
            }
        }
        Ok(Args { positional, named })
    }

    fn apply(&mut self, filter: &'static filters::Filter, operand: Val, args: &CallArgs) -> Res<Val> {
        let args = self.args(args)?;
        let bound = filter.signature.bind(args)?;
        let value = (filter.run)(self, operand, bound)?;
        self.spend_on(&value)?;
        Ok(value)
    }

    /// Counts what a function gave: few know beforehand what they will make.
    fn spend_on(&mut self, value: &Val) -> Res<()> {
        let size = match value {
            Val::Str(text) | Val::Markup(text) => text.len() / 16,
            Val::List(items) => items.0.borrow().len(),
            Val::Tuple(items) => items.0.len(),
            Val::Dict(items) => items.0.borrow().len(),
            Val::Iter(items) => items.items.borrow().len(),
            _ => 0,
        };
        self.spend(size + 1 + effort::take())
    }

    /// A filter by its name, as `map` calls it.
    pub fn apply_named(&mut self, name: &str, operand: Val, args: Args) -> Res<Val> {
        let Some(filter) = filters::find(name, self.env.options.dialect) else {
            return Err(Failure::runtime(format!("No filter named {}.", str_repr(name))));
        };
        let bound = filter.signature.bind(args)?;
        let value = (filter.run)(self, operand, bound)?;
        self.spend_on(&value)?;
        Ok(value)
    }

    /// A test by its name, as `select` calls it.
    pub fn holds_named(&mut self, name: &str, operand: &Val, args: Args) -> Res<bool> {
        let Some(test) = tests::find(name, self.env.options.dialect) else {
            return Err(Failure::runtime(format!("No test named {}.", str_repr(name))));
        };
        let bound = test.signature.bind(args)?;
        (test.run)(self, operand, &bound)
    }

    /// The value of a `call` tag's expression, with its body as `caller`.
    pub fn call_with_caller(&mut self, call: &Expr, caller: Val) -> Res<Val> {
        match &call.kind {
            ExprKind::Call(callee, args) => {
                self.call_expr(callee, args, Some(caller)).map_err(|failure| located(failure, call))
            }
            _ => self.eval(call),
        }
    }

    fn call_expr(&mut self, callee: &Expr, args: &CallArgs, caller: Option<Val>) -> Res<Val> {
        // A method is called without being made a value first.
        let function = match &callee.kind {
            ExprKind::Attr(owner, name) => {
                let owner = self.eval(owner)?;
                if methods::has(&owner, name) {
                    let args = self.args_with(args, caller)?;
                    let value = self.deeper(|interp| methods::call(interp, &owner, name, args))?;
                    self.spend_on(&value)?;
                    return Ok(value);
                }
                self.attribute(&owner, name).map_err(|failure| located(failure, callee))?
            }
            _ => self.eval(callee)?,
        };
        function.defined().map_err(|failure| located(failure, callee))?;
        let args = self.args_with(args, caller)?;
        self.call(&function, args)
    }

    fn args_with(&mut self, args: &CallArgs, caller: Option<Val>) -> Res<Args> {
        let mut args = self.args(args)?;
        args.named.extend(caller.map(|caller| (Name::from("caller"), caller)));
        Ok(args)
    }

    pub fn call(&mut self, function: &Val, args: Args) -> Res<Val> {
        function.defined()?;
        match function {
            Val::Object(object) => {
                let object = object.clone();
                let value = self.deeper(|interp| object.call(interp, args))?;
                self.spend_on(&value)?;
                Ok(value)
            }
            other => Err(Failure::type_error(format!("'{}' object is not callable", other.type_name()))),
        }
    }
}
