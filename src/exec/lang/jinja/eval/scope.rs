//! Where names live: the scopes of tags, and what a template sees.

use super::super::ast::{Block, Name};
use super::super::error::Source;
use super::super::value::Val;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};

/// A few names, searched one by one: scopes are small.
#[derive(Default)]
pub struct Scope(RefCell<Vec<(Name, Val)>>);

impl Scope {
    pub fn value(&self, name: &str) -> Option<Val> {
        self.0.borrow().iter().find(|(own, _)| same(own, name)).map(|(_, value)| value.clone())
    }

    pub fn set(&self, name: &Name, value: Val) {
        let mut vars = self.0.borrow_mut();
        match vars.iter_mut().find(|(own, _)| same(own, name)) {
            Some((_, place)) => *place = value,
            None => vars.push((name.clone(), value)),
        }
    }

    pub fn clear(&self) {
        let old = std::mem::take(&mut *self.0.borrow_mut());
        drop(old);
    }

    pub fn names(&self) -> Vec<Name> {
        self.0.borrow().iter().map(|(name, _)| name.clone()).collect()
    }
}

/// Names of one template share their text, so most that are equal are the same text.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && (a.as_ptr() == b.as_ptr() || a == b)
}

/// What is around a place in a template; macros keep the one they were made in.
#[derive(Clone)]
pub struct Frame {
    pub source: Rc<Source>,
    pub ctx: Rc<Ctx>,
    /// The innermost last.
    pub scopes: Vec<Rc<Scope>>,
    pub autoescape: bool,
}

/// What the macros of a rendering hold on to. A macro stands in a scope that it holds itself: the rendering empties what
/// they hold when it ends, or it would stay in memory for as long as the process lives.
#[derive(Default)]
pub struct Held {
    frames: Vec<(Weak<Ctx>, Vec<Weak<Scope>>)>,
    /// At this length those are left out that nobody holds any more: macros are made in loops, too.
    full: usize,
}

impl Held {
    pub fn hold(&mut self, frame: &Frame) {
        if self.frames.len() >= self.full.max(64) {
            self.frames
                .retain(|(ctx, scopes)| ctx.strong_count() > 0 || scopes.iter().any(|scope| scope.strong_count() > 0));
            self.full = self.frames.len() * 2;
        }
        let scopes = frame.scopes.iter().map(Rc::downgrade).collect();
        self.frames.push((Rc::downgrade(&frame.ctx), scopes));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        for (ctx, scopes) in self.frames.drain(..) {
            if let Some(ctx) = ctx.upgrade() {
                ctx.vars.clear();
            }
            scopes.iter().filter_map(Weak::upgrade).for_each(|scope| scope.clear());
        }
    }
}

/// A block and the template that it stands in.
pub type Found = (Rc<Block>, Rc<Source>);

/// One run of a template: what it sets at its top, and what it sees from outside.
pub struct Ctx {
    pub vars: Scope,
    pub source: Rc<Source>,
    /// Where it was included or imported with context.
    outer: Option<Frame>,
    pub sees_context: bool,
    /// By name, the innermost child's first.
    pub blocks: RefCell<HashMap<Name, Vec<Found>>>,
    /// The template that it extends, once it said so.
    pub parent: RefCell<Option<Rc<super::Template>>>,
    /// What it had written by then.
    pub written: Cell<usize>,
}

impl Ctx {
    /// With an outer frame its names are seen; else the rendering's context is, unless [`Ctx::globals_only`].
    pub fn new(source: Rc<Source>, outer: Option<Frame>) -> Rc<Ctx> {
        let sees_context = outer.as_ref().is_none_or(|outer| outer.ctx.sees_context);
        Rc::new(Ctx::make(source, outer, sees_context))
    }

    pub fn globals_only(source: Rc<Source>) -> Rc<Ctx> {
        Rc::new(Ctx::make(source, None, false))
    }

    fn make(source: Rc<Source>, outer: Option<Frame>, sees_context: bool) -> Ctx {
        Ctx {
            vars: Scope::default(),
            source,
            outer,
            sees_context,
            blocks: RefCell::default(),
            parent: RefCell::default(),
            written: Cell::new(0),
        }
    }

    pub fn value(&self, name: &str) -> Option<Val> {
        let own = self.vars.value(name);
        own.or_else(|| {
            let outer = self.outer.as_ref()?;
            let local = outer.scopes.iter().rev().find_map(|scope| scope.value(name));
            local.or_else(|| outer.ctx.value(name))
        })
    }

    /// All names that can be seen, the innermost first.
    pub fn names(&self) -> Vec<Name> {
        let mut names = self.vars.names();
        if let Some(outer) = &self.outer {
            outer.scopes.iter().rev().for_each(|scope| names.extend(scope.names()));
            names.extend(outer.ctx.names());
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::options::Options;
    use super::super::super::{Environment, NoFunctions, NoTemplates};
    use super::super::{Interp, Template};
    use super::*;
    use halite_value::Map;

    #[test]
    fn a_rendering_leaves_nothing_behind_of_macros_that_hold_their_own_scope() {
        for text in [
            "{% macro m(a) %}{{ caller() }}{% endmacro %}{% call m(1) %}in{% endcall %}",
            "{% for i in range(200) %}{% macro inner() %}{{ i }}{% endmacro %}{{ inner() }}{% endfor %}",
        ] {
            let source = Rc::new(Source { name: "t".into(), path: "t".into(), text: text.into() });
            let environment = Environment::new(Options::default(), &NoTemplates, &NoFunctions);
            let none = Map::new();
            let template = Rc::new(Template::compile(&environment.options, source.clone()).ok().unwrap());
            let mut interp = Interp::new(&environment, &none, source.clone());
            assert!(interp.run(&template).is_ok());
            drop(interp);
            drop(template);
            assert_eq!(Rc::strong_count(&source), 1, "{text}");
        }
    }
}
