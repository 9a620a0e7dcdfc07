//! The cells of lists, tuples and dicts, and how they are taken apart: one inside another a hundred thousand deep must
//! not overflow the stack when the outermost is dropped.

use super::{Dict, Val};
use std::cell::{Cell, RefCell};

pub struct ListCell(pub RefCell<Vec<Val>>);

pub struct TupleCell(pub Vec<Val>);

pub struct DictCell(pub RefCell<Dict>);

/// Deeper than this, what is inside waits until the outer ones are gone.
const DIRECT: usize = 64;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static WAITING: RefCell<Vec<Val>> = const { RefCell::new(Vec::new()) };
}

fn dismantle(items: impl Iterator<Item = Val>) {
    let depth = DEPTH.try_with(Cell::get).unwrap_or(0);
    if depth >= DIRECT {
        let items: Vec<Val> = items.filter(holds_others).collect();
        let _ = WAITING.try_with(|waiting| waiting.borrow_mut().extend(items));
        return;
    }
    let _ = DEPTH.try_with(|cell| cell.set(depth + 1));
    items.for_each(drop);
    if depth == 0 {
        while let Ok(Some(next)) = WAITING.try_with(|waiting| waiting.borrow_mut().pop()) {
            drop(next);
        }
    }
    let _ = DEPTH.try_with(|cell| cell.set(depth));
}

fn holds_others(value: &Val) -> bool {
    matches!(
        value,
        Val::List(_) | Val::Tuple(_) | Val::Dict(_) | Val::Set(_) | Val::View(..) | Val::Iter(_) | Val::Object(_)
    )
}

impl Drop for ListCell {
    fn drop(&mut self) {
        let items = std::mem::take(self.0.get_mut());
        if items.iter().any(holds_others) {
            dismantle(items.into_iter());
        }
    }
}

impl Drop for TupleCell {
    fn drop(&mut self) {
        if self.0.iter().any(holds_others) {
            dismantle(std::mem::take(&mut self.0).into_iter());
        }
    }
}

impl Drop for DictCell {
    fn drop(&mut self) {
        let dict = std::mem::take(self.0.get_mut());
        if dict.iter().any(|(key, value)| holds_others(key) || holds_others(value)) {
            dismantle(dict.into_iter().flat_map(|(key, value)| [key, value]));
        }
    }
}
