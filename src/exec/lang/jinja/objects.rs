//! Values with behaviour of their own: macros, loops, blocks, imported templates, methods, namespaces, functions.

mod functions;
mod loops;
mod macros;

use super::ast::Name;
use super::error::Res;
use super::eval::{Args, Bound, Ctx, Interp, Signature};
use super::methods;
use super::value::{Dict, Object, Val};
use halite_value::str_repr;
use std::cell::RefCell;
use std::rc::Rc;

pub use functions::{Functions, Machine, SaltFunctions};
pub use loops::LoopObject;
pub use macros::MacroObject;

/// A method that was taken from its owner and not yet called.
pub struct Method {
    pub owner: Val,
    pub name: Name,
}

impl Object for Method {
    fn kind(&self) -> &str {
        "builtin_function_or_method"
    }

    fn repr(&self) -> String {
        format!("<built-in method {} of {} object>", self.name, self.owner.type_name())
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, interp: &mut Interp, args: Args) -> Res<Val> {
        methods::call(interp, &self.owner, &self.name, args)
    }
}

/// A function of ours.
pub struct Builtin {
    pub signature: Signature,
    pub run: fn(&mut Interp, Bound) -> Res<Val>,
}

impl Object for &'static Builtin {
    fn kind(&self) -> &str {
        "function"
    }

    fn repr(&self) -> String {
        format!("<function {}>", self.signature.name)
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, interp: &mut Interp, args: Args) -> Res<Val> {
        let bound = self.signature.bind(args)?;
        (self.run)(interp, bound)
    }
}

/// `namespace()`: attributes that inner scopes can set.
pub struct Namespace(RefCell<Dict>);

impl Namespace {
    pub fn new(attributes: Dict) -> Namespace {
        Namespace(RefCell::new(attributes))
    }

    pub fn set(&self, name: &Name, value: Val) {
        let old = self.0.borrow_mut().insert(Val::Str(name.clone()), value);
        drop(old);
    }
}

impl Object for Namespace {
    fn kind(&self) -> &str {
        "jinja2.utils.Namespace"
    }

    fn repr(&self) -> String {
        format!("<Namespace {}>", Val::dict(self.0.borrow().clone()).repr())
    }

    fn attribute(&self, _: &mut Interp, name: &str) -> Res<Option<Val>> {
        Ok(self.0.borrow().get(name).cloned())
    }
}

/// `cycler()`: one value after the other.
pub struct Cycler {
    items: Vec<Val>,
    at: std::cell::Cell<usize>,
}

impl Cycler {
    pub fn new(items: Vec<Val>) -> Cycler {
        Cycler { items, at: std::cell::Cell::new(0) }
    }

    fn current(&self) -> Val {
        self.items.get(self.at.get()).cloned().unwrap_or(Val::None)
    }
}

/// Wraps what acts on the shared object, so that `c.next` can be a value.
pub struct CyclerHandle(pub Rc<Cycler>);

impl Object for CyclerHandle {
    fn kind(&self) -> &str {
        "jinja2.utils.Cycler"
    }

    fn attribute(&self, _: &mut Interp, name: &str) -> Res<Option<Val>> {
        Ok(match name {
            "current" => Some(self.0.current()),
            "next" | "reset" => Some(Val::object(CyclerMethod { cycler: self.0.clone(), advances: name == "next" })),
            _ => None,
        })
    }
}

struct CyclerMethod {
    cycler: Rc<Cycler>,
    advances: bool,
}

impl Object for CyclerMethod {
    fn kind(&self) -> &str {
        "method"
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, _: &mut Interp, _: Args) -> Res<Val> {
        if !self.advances {
            self.cycler.at.set(0);
            return Ok(Val::None);
        }
        let value = self.cycler.current();
        self.cycler.at.set((self.cycler.at.get() + 1) % self.cycler.items.len().max(1));
        Ok(value)
    }
}

/// `joiner()`: nothing the first time, then its text.
pub struct Joiner {
    pub separator: Val,
    pub used: std::cell::Cell<bool>,
}

impl Object for Joiner {
    fn kind(&self) -> &str {
        "jinja2.utils.Joiner"
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, _: &mut Interp, _: Args) -> Res<Val> {
        Ok(if self.used.replace(true) { self.separator.clone() } else { Val::from("") })
    }
}

/// An imported template: what it set, and what it wrote.
pub struct Module {
    pub ctx: Rc<Ctx>,
    pub text: String,
}

impl Object for Module {
    fn kind(&self) -> &str {
        "jinja2.environment.TemplateModule"
    }

    fn repr(&self) -> String {
        format!("<TemplateModule {}>", str_repr(&self.ctx.source.name))
    }

    fn text(&self) -> String {
        self.text.clone()
    }

    fn attribute(&self, _: &mut Interp, name: &str) -> Res<Option<Val>> {
        Ok(if name.starts_with('_') { None } else { self.ctx.vars.value(name) })
    }
}

/// `self`, `self.block` and `super`.
pub struct BlockRef {
    ctx: Rc<Ctx>,
    /// Nothing: all blocks.
    block: Option<(Name, usize)>,
}

impl BlockRef {
    pub fn all(ctx: Rc<Ctx>) -> BlockRef {
        BlockRef { ctx, block: None }
    }

    pub fn one(ctx: Rc<Ctx>, name: Name, level: usize) -> BlockRef {
        BlockRef { ctx, block: Some((name, level)) }
    }

    fn exists(&self, name: &str, level: usize) -> bool {
        self.ctx.blocks.borrow().get(name).is_some_and(|chain| chain.len() > level)
    }
}

impl Object for BlockRef {
    fn kind(&self) -> &str {
        if self.block.is_some() { "jinja2.runtime.BlockReference" } else { "jinja2.runtime.TemplateReference" }
    }

    fn attribute(&self, interp: &mut Interp, name: &str) -> Res<Option<Val>> {
        Ok(match &self.block {
            None => self.exists(name, 0).then(|| Val::object(BlockRef::one(self.ctx.clone(), name.into(), 0))),
            Some((block, level)) if name == "super" => Some(match self.exists(block, level + 1) {
                true => Val::object(BlockRef::one(self.ctx.clone(), block.clone(), level + 1)),
                false => interp.undefined(format!("there is no parent block called {}.", str_repr(block))),
            }),
            Some(_) => None,
        })
    }

    fn callable(&self) -> bool {
        self.block.is_some()
    }

    fn call(&self, interp: &mut Interp, _: Args) -> Res<Val> {
        let Some((name, level)) = &self.block else {
            return Err(super::error::Failure::type_error("'TemplateReference' object is not callable"));
        };
        let mut frame = interp.frame.clone();
        frame.ctx = self.ctx.clone();
        interp.within(frame, |interp| interp.capture(|interp| interp.block(name, *level, Vec::new())))
    }
}
