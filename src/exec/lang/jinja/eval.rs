//! Running a template: statements here, expressions and the rest below.

mod access;
mod call;
mod expression;
mod operators;
mod scope;
mod stack;
mod templates;

use super::Environment;
use super::ast::{Body, Expr, For, Macro, Name, Stmt, StmtKind, Target};
use super::error::{Failure, Res, Source};
use super::objects::{BlockRef, LoopObject, MacroObject, Namespace};
use super::options::Dialect;
use super::value::{Val, effort};
use halite_value::{Map, str_repr};
use stack::Stack;
use std::collections::HashMap;
use std::rc::Rc;

pub use call::{Args, Bound, Rest, Signature};
pub use operators::{arithmetic, compare, contains, escape};
use scope::Held;
pub use scope::{Ctx, Frame, Scope};
pub use templates::Template;

/// What one turn of a loop counts as.
const TURN: usize = 50;

/// What one element of a collection counts as: what it takes in memory, near enough.
pub const ELEMENT: usize = 16;

/// How deep macros, includes and expressions may nest.
const DEPTH_LIMIT: usize = 180;

/// One rendering.
pub struct Interp<'e> {
    pub env: &'e Environment<'e>,
    pub out: String,
    pub frame: Frame,
    /// The template that the rendering is about.
    main: Rc<Source>,
    /// The texts of the blocks that filters are put on.
    captured: Vec<Val>,
    work: usize,
    depth: usize,
    stack: Stack,
    context: &'e Map,
    /// Values of the context, made when they are first asked for.
    converted: HashMap<String, Val>,
    /// The same for the globals.
    made: HashMap<String, Val>,
    /// Names of either that were asked for, to be found at once: a template uses a few of them again and again.
    outside: Vec<(Box<str>, Val)>,
    /// Globals that loading a template changes: `tplfile` and its like.
    overrides: HashMap<&'static str, Val>,
    templates: HashMap<String, Rc<Template>>,
    /// Templates imported without context run once.
    modules: HashMap<String, Val>,
    held: Held,
}

/// How a statement ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    On,
    Break,
    Continue,
}

impl<'e> Interp<'e> {
    pub fn new(env: &'e Environment<'e>, context: &'e Map, source: Rc<Source>) -> Interp<'e> {
        Interp {
            env,
            out: String::with_capacity(source.text.len()),
            main: source.clone(),
            frame: Frame {
                ctx: Ctx::new(source.clone(), None),
                source,
                scopes: Vec::new(),
                autoescape: env.options.autoescape,
            },
            captured: Vec::new(),
            work: 0,
            depth: 0,
            stack: Stack::begin(),
            context,
            converted: HashMap::new(),
            made: HashMap::new(),
            outside: Vec::new(),
            overrides: HashMap::new(),
            templates: HashMap::new(),
            modules: HashMap::new(),
            held: Held::default(),
        }
    }

    /// A map that the rendering was given.
    pub fn map_at(&self, name: &str) -> Option<&Map> {
        match self.context.at(name) {
            Some(value) => value.as_map(),
            None => self.around(name),
        }
    }

    fn around(&self, name: &str) -> Option<&'e Map> {
        self.env.around.iter().find(|(own, _)| *own == name).map(|(_, map)| *map)
    }

    /// The texts of all templates that take part.
    pub fn sources(&self) -> Vec<&str> {
        let others = self.templates.values().map(|template| template.source.text.as_str());
        std::iter::once(self.main.text.as_str()).chain(others).collect()
    }

    /// Counts work against what one rendering may do.
    pub fn spend(&mut self, amount: usize) -> Res<()> {
        self.work = self.work.saturating_add(amount);
        let limit = self.env.work_limit;
        match self.work > limit {
            true => Err(Failure::limit(format!(
                "the template does more than {limit} steps: turns of loops, characters, elements"
            ))),
            false => Ok(()),
        }
    }

    /// Runs something one level deeper.
    pub fn deeper<T>(&mut self, run: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT || self.stack.is_used_up() {
            let levels = self.depth - 1;
            self.depth = levels;
            return Err(Failure::limit(format!("the template nests deeper than {levels} levels")));
        }
        let result = run(self);
        self.depth -= 1;
        result
    }

    pub fn write(&mut self, text: &str) -> Res<()> {
        self.spend(text.len())?;
        self.out.push_str(text);
        Ok(())
    }

    /// Runs something and takes what it writes.
    pub fn capture(&mut self, run: impl FnOnce(&mut Self) -> Res<()>) -> Res<Val> {
        let outer = std::mem::take(&mut self.out);
        let result = run(self);
        let text = std::mem::replace(&mut self.out, outer);
        result?;
        Ok(match self.frame.autoescape {
            true => Val::Markup(text.into()),
            false => Val::from(text),
        })
    }

    pub fn body(&mut self, body: &Body) -> Res<Flow> {
        for stmt in body {
            let flow = match &stmt.kind {
                StmtKind::Data(text) => {
                    self.write(text)?;
                    Flow::On
                }
                _ => match self.statement(stmt) {
                    Ok(flow) => flow,
                    Err(failure) => return Err(failure.passed(&self.frame.source, stmt.pos)),
                },
            };
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn statement(&mut self, stmt: &Stmt) -> Res<Flow> {
        match &stmt.kind {
            StmtKind::Data(text) => self.write(text)?,
            StmtKind::Print(expr) => {
                let value = self.eval(expr)?;
                self.print(&value)?;
            }
            StmtKind::Do(expr) => drop(self.eval(expr)?),
            StmtKind::If { branches, otherwise } => return self.branches(branches, otherwise),
            StmtKind::For(each) => self.each(each)?,
            StmtKind::Set(target, expr) => {
                let value = self.eval(expr)?;
                self.assign(target, value)?;
            }
            StmtKind::SetBlock { target, filter, body } => {
                let text = self.scoped_text(body)?;
                let value = self.filtered(filter.as_ref(), text)?;
                self.assign(target, value)?;
            }
            StmtKind::Macro(declared) => {
                let object = self.macro_object(declared);
                self.set(&declared.name, object);
            }
            StmtKind::Call { call, caller } => {
                let caller = self.macro_object(caller);
                let value = self.call_with_caller(call, caller)?;
                self.print(&value)?;
            }
            StmtKind::Filter { filter, body } => {
                let text = self.scoped_text(body)?;
                let value = self.filtered(Some(filter), text)?;
                self.print(&value)?;
            }
            StmtKind::With { bindings, body } => return self.with(bindings, body),
            StmtKind::Autoescape { on, body } => return self.autoescape(on, body),
            StmtKind::Block(block) => self.block_statement(block)?,
            StmtKind::Extends(template) => self.extends(template)?,
            StmtKind::Include { template, missing, context } => self.include(template, *missing, *context)?,
            StmtKind::Import { template, target, context, format } => {
                let module = self.import(template, *context)?;
                let value = match format {
                    Some(filter) => (filter.run)(self, module, Bound::default())?,
                    None => module,
                };
                self.set(target, value);
            }
            StmtKind::FromImport { template, names, context } => {
                self.import_names(template, names, *context, stmt.pos)?;
            }
            StmtKind::Load { target, filter, body } => {
                let text = self.scoped_text(body)?;
                let value = (filter.run)(self, text, Bound::default())?;
                self.assign(target, value)?;
            }
            StmtKind::Profile { label, body } => return self.profile(label, body),
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::On)
    }

    fn print(&mut self, value: &Val) -> Res<()> {
        value.defined()?;
        match value {
            Val::Str(text) if self.frame.autoescape => self.write(&escape(text)),
            Val::Str(text) | Val::Markup(text) => self.write(text),
            value => {
                let text = match self.env.options.dialect {
                    Dialect::Salt => value.printed(),
                    Dialect::Plain => value.text(),
                };
                match self.frame.autoescape {
                    true => self.write(&escape(&text)),
                    false => self.write(&text),
                }
            }
        }
    }

    fn branches(&mut self, branches: &[(super::ast::Pos, Expr, Body)], otherwise: &Body) -> Res<Flow> {
        for (pos, test, body) in branches {
            let holds = self.truth(test).map_err(|failure| failure.passed(&self.frame.source, *pos))?;
            if holds {
                return self.body(body);
            }
        }
        self.body(otherwise)
    }

    pub fn truth(&mut self, expr: &Expr) -> Res<bool> {
        let value = self.eval(expr)?;
        value.truth().map_err(|failure| located(failure, expr))
    }

    fn each(&mut self, each: &Rc<For>) -> Res<()> {
        let items = self.eval(&each.items)?;
        self.run_loop(each, &items, 0)
    }

    /// One loop over the items; `depth` counts how often a recursive loop called itself.
    pub fn run_loop(&mut self, each: &Rc<For>, items: &Val, depth: usize) -> Res<()> {
        let items = items.items(self).map_err(|failure| located(failure, &each.items))?;
        let outer = (each.recursive || each.test.is_some()).then(|| self.frame.clone());
        let state = Rc::new(LoopObject::new(each.clone(), items, depth, outer));
        let loop_name: Name = "loop".into();
        let base = self.frame.scopes.len();
        let mut turns = 0_usize;
        let mut result = Ok(());
        loop {
            let item = match state.next(self) {
                Ok(Some(item)) => item,
                Ok(None) => break,
                Err(failure) => {
                    result = Err(failure);
                    break;
                }
            };
            turns += 1;
            self.fresh_scope(base);
            self.set(&loop_name, Val::Object(state.clone()));
            let turn = self
                .assign(&each.target, item)
                .and_then(|()| self.spend(TURN + effort::take()))
                .and_then(|()| self.body(&each.body));
            match turn {
                Ok(Flow::Break) => break,
                Ok(_) => {}
                Err(failure) => {
                    result = Err(failure);
                    break;
                }
            }
        }
        self.frame.scopes.truncate(base);
        result?;
        if turns == 0 {
            self.in_scope(|interp| interp.body(&each.otherwise))?;
        }
        Ok(())
    }

    /// An empty scope on top of the first `base`: the one of the turn before, unless something still sees it.
    fn fresh_scope(&mut self, base: usize) {
        self.frame.scopes.truncate(base + 1);
        if let Some(scope) = self.frame.scopes.get(base)
            && Rc::strong_count(scope) == 1
        {
            return scope.clear();
        }
        self.frame.scopes.truncate(base);
        self.frame.scopes.push(Rc::default());
    }

    pub fn in_scope<T>(&mut self, run: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        self.frame.scopes.push(Rc::default());
        let result = run(self);
        self.frame.scopes.pop();
        result
    }

    fn scoped_text(&mut self, body: &Body) -> Res<Val> {
        self.capture(|interp| interp.in_scope(|interp| interp.body(body).map(drop)))
    }

    fn filtered(&mut self, filter: Option<&Expr>, text: Val) -> Res<Val> {
        let Some(filter) = filter else { return Ok(text) };
        self.captured.push(text);
        let value = self.eval(filter);
        self.captured.pop();
        value
    }

    fn with(&mut self, bindings: &[(Target, Expr)], body: &Body) -> Res<Flow> {
        let values = bindings.iter().map(|(_, expr)| self.eval(expr)).collect::<Res<Vec<Val>>>()?;
        self.in_scope(|interp| {
            for ((target, _), value) in bindings.iter().zip(values) {
                interp.assign(target, value)?;
            }
            interp.body(body)
        })
    }

    fn autoescape(&mut self, on: &Expr, body: &Body) -> Res<Flow> {
        let on = self.truth(on)?;
        let before = std::mem::replace(&mut self.frame.autoescape, on);
        let flow = self.in_scope(|interp| interp.body(body));
        self.frame.autoescape = before;
        flow
    }

    fn profile(&mut self, label: &Expr, body: &Body) -> Res<Flow> {
        let label = self.eval(label)?.text();
        let start = std::time::Instant::now();
        let flow = self.body(body);
        log::debug!("Time (in seconds) to render profile block '{label}': {}", start.elapsed().as_secs_f64());
        flow
    }

    pub fn macro_object(&mut self, declared: &Rc<Macro>) -> Val {
        self.held.hold(&self.frame);
        Val::object(MacroObject { declared: declared.clone(), frame: self.frame.clone() })
    }

    /// Binds a name in the innermost scope; outside of all, in the template, which exports it.
    pub fn set(&mut self, name: &Name, value: Val) {
        match self.frame.scopes.last() {
            Some(scope) => scope.set(name, value),
            None => self.frame.ctx.vars.set(name, value),
        }
    }

    pub fn assign(&mut self, target: &Target, value: Val) -> Res<()> {
        match target {
            Target::Name(name) => {
                self.set(name, value);
                Ok(())
            }
            Target::Tuple(targets) => {
                let items = match &value {
                    Val::Tuple(items) if items.0.len() == targets.len() => {
                        for (target, item) in targets.iter().zip(&items.0) {
                            self.assign(target, item.clone())?;
                        }
                        return Ok(());
                    }
                    value if value.is_iterable() || value.is_undefined() => value.items(self)?,
                    value => {
                        let kind = value.type_name();
                        return Err(Failure::type_error(format!("cannot unpack non-iterable {kind} object")));
                    }
                };
                let (wanted, got) = (targets.len(), items.len());
                if got < wanted {
                    let message = format!("not enough values to unpack (expected {wanted}, got {got})");
                    return Err(Failure::value_error(message));
                }
                if got > wanted {
                    return Err(Failure::value_error(format!("too many values to unpack (expected {wanted})")));
                }
                targets.iter().zip(items).try_for_each(|(target, item)| self.assign(target, item))
            }
            Target::Attr(name, attribute) => {
                let owner = self.name(name);
                match owner.downcast::<Namespace>() {
                    Some(namespace) => {
                        namespace.set(attribute, value);
                        Ok(())
                    }
                    None => Err(Failure::runtime("cannot assign attribute on non-namespace object")),
                }
            }
        }
    }

    /// What a name stands for here.
    pub fn name(&mut self, name: &str) -> Val {
        if let Some(value) = self.frame.scopes.iter().rev().find_map(|scope| scope.value(name)) {
            return value;
        }
        if let Some(value) = self.frame.ctx.value(name) {
            return value;
        }
        if name == "self" {
            return Val::object(BlockRef::all(self.frame.ctx.clone()));
        }
        if self.frame.ctx.sees_context {
            return self.outside(name);
        }
        self.global(name).unwrap_or_else(|| self.undefined(format!("{} is undefined", str_repr(name))))
    }

    /// What a name that no template sets stands for: a value of the context, else a global.
    fn outside(&mut self, name: &str) -> Val {
        if let Some((_, value)) = self.outside.iter().find(|(own, _)| &**own == name) {
            return value.clone();
        }
        let found = self.context_value(name).or_else(|| self.global(name));
        // The names of the template change when another is loaded.
        if let Some(value) = found.as_ref().filter(|_| !name.starts_with("tpl")) {
            self.outside.push((name.into(), value.clone()));
        }
        found.unwrap_or_else(|| self.undefined(format!("{} is undefined", str_repr(name))))
    }

    pub fn undefined(&self, message: String) -> Val {
        let lenient = self.env.options.undefined == super::options::UndefinedPolicy::Lenient;
        Val::Undefined(Rc::new(super::value::Undefined { message, lenient }))
    }
}

/// Marks an error with the place of an expression, unless it has one.
pub fn located(mut failure: Box<Failure>, expr: &Expr) -> Box<Failure> {
    failure.at.get_or_insert(expr.pos);
    failure
}
