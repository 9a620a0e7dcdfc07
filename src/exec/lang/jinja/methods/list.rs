//! Methods of `list`, and those that tuples share.

use super::super::error::{Failure, Res};
use super::super::eval::{Args, Bound, Interp, Signature};
use super::super::filters::sorting;
use super::super::value::{ListCell, Val};
use std::rc::Rc;

pub const NAMES: &[&str] =
    &["append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort"];

pub fn call(interp: &mut Interp, cell: &Rc<ListCell>, name: &str, args: Args) -> Res<Val> {
    let bind = |params: &'static [&'static str], required| -> Res<Bound> {
        Signature::new(NAMES.iter().find(|own| **own == name).copied().unwrap_or("list"), params, required)
            .bind(args.clone())
    };
    interp.spend(1)?;
    match name {
        "append" => cell.0.borrow_mut().push(bind(&["object"], 1)?.val(0)),
        "extend" => {
            let items = bind(&["iterable"], 1)?.val(0).items(interp)?;
            cell.0.borrow_mut().extend(items);
        }
        "insert" => {
            let bound = bind(&["index", "object"], 2)?;
            let index = bound.int(0)?.unwrap_or(0);
            let mut items = cell.0.borrow_mut();
            let at = place(index, items.len()).min(items.len());
            items.insert(at, bound.val(1));
        }
        "pop" => {
            let index = bind(&["index"], 0)?.int(0)?.unwrap_or(-1);
            let mut items = cell.0.borrow_mut();
            if items.is_empty() {
                return Err(Failure::python("IndexError", "pop from empty list"));
            }
            let at = exact(index, items.len());
            return match at {
                Some(at) => Ok(items.remove(at)),
                None => Err(Failure::python("IndexError", "pop index out of range")),
            };
        }
        "remove" => {
            let value = bind(&["value"], 1)?.val(0);
            let at = cell.0.borrow().iter().position(|item| *item == value);
            let at = at.ok_or_else(|| Failure::value_error("list.remove(x): x not in list"))?;
            let removed = cell.0.borrow_mut().remove(at);
            drop(removed);
        }
        "clear" => drop(std::mem::take(&mut *cell.0.borrow_mut())),
        "reverse" => cell.0.borrow_mut().reverse(),
        "copy" => {
            let items = cell.0.borrow().clone();
            interp.spend(items.len())?;
            return Ok(Val::list(items));
        }
        "sort" => {
            let bound = bind(&["key", "reverse"], 0)?;
            let mut items = cell.0.borrow().clone();
            sorting::sort(interp, &mut items, bound.given(0), bound.truth(1, false)?)?;
            *cell.0.borrow_mut() = items;
        }
        _ => {
            let items = cell.0.borrow().clone();
            return search(interp, &items, "list", name, args);
        }
    }
    Ok(Val::None)
}

/// `count` and `index`.
pub fn search(_: &mut Interp, items: &[Val], kind: &str, name: &str, args: Args) -> Res<Val> {
    let bound = match name {
        "count" => Signature::new("count", &["value"], 1).bind(args)?,
        _ => Signature::new("index", &["value", "start", "stop"], 1).bind(args)?,
    };
    let value = bound.val(0);
    value.defined()?;
    if name == "count" {
        return Ok(Val::from(items.iter().filter(|item| **item == value).count()));
    }
    let start = place(bound.int(1)?.unwrap_or(0), items.len());
    let stop = place(bound.int(2)?.unwrap_or(i64::MAX), items.len()).min(items.len());
    let found = items.iter().take(stop).skip(start).position(|item| *item == value);
    match found {
        Some(at) => Ok(Val::from(start + at)),
        None if kind == "list" => Err(Failure::value_error("list.index(x): x not in list")),
        None => Err(Failure::value_error(format!("{kind}.index(x): x not in {kind}"))),
    }
}

/// An index as slices count: below zero from the end, never before the first.
pub fn place(index: i64, length: usize) -> usize {
    match index {
        0.. => usize::try_from(index).unwrap_or(usize::MAX),
        _ => length.saturating_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX)),
    }
}

fn exact(index: i64, length: usize) -> Option<usize> {
    let at = match index {
        0.. => usize::try_from(index).ok()?,
        _ => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
    };
    (at < length).then_some(at)
}
