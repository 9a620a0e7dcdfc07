//! `loop`: where a `for` is, and a way to run it again on other items.

use super::super::ast::For;
use super::super::error::{Failure, Res};
use super::super::eval::{Args, Frame, Interp};
use super::super::value::{Object, Val};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

pub struct LoopObject {
    each: Rc<For>,
    /// Not yet judged by the loop's `if`.
    raw: RefCell<VecDeque<Val>>,
    /// Judged and not yet gone through.
    ahead: RefCell<VecDeque<Val>>,
    previous: RefCell<Option<Val>>,
    current: RefCell<Option<Val>>,
    state: Rc<LoopState>,
    depth: usize,
    /// What is around the loop: for its `if`, and for running it again.
    outer: Option<Frame>,
}

/// What the methods of a loop share with it.
#[derive(Default)]
struct LoopState {
    /// How many turns have begun.
    turns: Cell<usize>,
    /// What `loop.changed` was last called with.
    last_changed: RefCell<Option<Vec<Val>>>,
}

impl LoopObject {
    pub fn new(each: Rc<For>, items: Vec<Val>, depth: usize, outer: Option<Frame>) -> LoopObject {
        let (raw, ahead) = if each.test.is_some() { (items, Vec::new()) } else { (Vec::new(), items) };
        LoopObject {
            each,
            raw: RefCell::new(raw.into()),
            ahead: RefCell::new(ahead.into()),
            previous: RefCell::default(),
            current: RefCell::default(),
            state: Rc::default(),
            depth,
            outer,
        }
    }

    /// The next item that the loop's `if` lets through.
    pub fn next(&self, interp: &mut Interp) -> Res<Option<Val>> {
        self.fill(interp, 1)?;
        let next = self.ahead.borrow_mut().pop_front();
        if let Some(item) = &next {
            self.state.turns.set(self.state.turns.get() + 1);
            let before = self.current.borrow_mut().replace(item.clone());
            *self.previous.borrow_mut() = before;
        }
        Ok(next)
    }

    /// Judges items until so many wait, or none is left.
    fn fill(&self, interp: &mut Interp, wanted: usize) -> Res<()> {
        while self.ahead.borrow().len() < wanted {
            let Some(item) = self.raw.borrow_mut().pop_front() else { return Ok(()) };
            if self.passes(interp, &item)? {
                self.ahead.borrow_mut().push_back(item);
            }
        }
        Ok(())
    }

    fn passes(&self, interp: &mut Interp, item: &Val) -> Res<bool> {
        let (Some(test), Some(outer)) = (&self.each.test, &self.outer) else { return Ok(true) };
        interp.spend(1)?;
        interp.within(outer.clone(), |interp| {
            interp.in_scope(|interp| {
                interp.assign(&self.each.target, item.clone())?;
                interp.truth(test)
            })
        })
    }

    /// How many items are still to come.
    fn remaining(&self, interp: &mut Interp) -> Res<usize> {
        self.fill(interp, usize::MAX)?;
        Ok(self.ahead.borrow().len())
    }
}

impl Object for LoopObject {
    fn kind(&self) -> &str {
        "jinja2.runtime.LoopContext"
    }

    fn repr(&self) -> String {
        let turns = self.state.turns.get();
        format!("<LoopContext {turns}/{}>", turns + self.ahead.borrow().len() + self.raw.borrow().len())
    }

    fn attribute(&self, interp: &mut Interp, name: &str) -> Res<Option<Val>> {
        let turns = self.state.turns.get();
        Ok(Some(match name {
            "index" => Val::from(turns),
            "index0" => Val::from(turns.saturating_sub(1)),
            "first" => Val::Bool(turns == 1),
            "last" => {
                self.fill(interp, 1)?;
                Val::Bool(self.ahead.borrow().is_empty())
            }
            "length" => Val::from(turns + self.remaining(interp)?),
            "revindex" => Val::from(self.remaining(interp)? + 1),
            "revindex0" => Val::from(self.remaining(interp)?),
            "depth" => Val::from(self.depth + 1),
            "depth0" => Val::from(self.depth),
            "previtem" => match self.previous.borrow().clone() {
                Some(item) => item,
                None => interp.undefined("there is no previous item".to_owned()),
            },
            "nextitem" => {
                self.fill(interp, 1)?;
                match self.ahead.borrow().front().cloned() {
                    Some(item) => item,
                    None => interp.undefined("there is no next item".to_owned()),
                }
            }
            "cycle" => Val::object(LoopMethod { state: self.state.clone(), name: "cycle" }),
            "changed" => Val::object(LoopMethod { state: self.state.clone(), name: "changed" }),
            _ => return Ok(None),
        }))
    }

    fn callable(&self) -> bool {
        self.each.recursive
    }

    fn call(&self, interp: &mut Interp, args: Args) -> Res<Val> {
        let Some(outer) = self.outer.clone().filter(|_| self.each.recursive) else {
            let message = "The loop must have the 'recursive' marker to be called recursively.";
            return Err(Failure::type_error(message));
        };
        let items = args.positional.into_iter().next().unwrap_or(Val::None);
        interp.within(outer, |interp| interp.capture(|interp| interp.run_loop(&self.each, &items, self.depth + 1)))
    }

    fn length(&self) -> Option<usize> {
        Some(self.state.turns.get() + self.ahead.borrow().len() + self.raw.borrow().len())
    }
}

/// `loop.cycle` and `loop.changed`.
struct LoopMethod {
    state: Rc<LoopState>,
    name: &'static str,
}

impl Object for LoopMethod {
    fn kind(&self) -> &str {
        "method"
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, _: &mut Interp, args: Args) -> Res<Val> {
        let values = args.positional;
        if self.name == "changed" {
            let mut last = self.state.last_changed.borrow_mut();
            let changed = last.as_ref() != Some(&values);
            *last = Some(values);
            return Ok(Val::Bool(changed));
        }
        if values.is_empty() {
            return Err(Failure::type_error("no items for cycling given"));
        }
        let at = self.state.turns.get().saturating_sub(1) % values.len();
        Ok(values[at].clone())
    }
}
