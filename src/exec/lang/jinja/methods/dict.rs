//! Methods of `dict` and `set`.

use super::super::error::{Failure, Res};
use super::super::eval::{Args, Bound, Interp, Rest, Signature};
use super::super::globals::dict_of;
use super::super::value::{Dict, DictCell, Val, View};
use std::rc::Rc;

pub const NAMES: &[&str] =
    &["clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"];

pub const SET_NAMES: &[&str] = &[
    "add",
    "clear",
    "copy",
    "difference",
    "discard",
    "intersection",
    "isdisjoint",
    "issubset",
    "issuperset",
    "remove",
    "symmetric_difference",
    "union",
    "update",
];

pub fn call(interp: &mut Interp, cell: &Rc<DictCell>, name: &str, args: Args) -> Res<Val> {
    let bind = |params: &'static [&'static str], required| -> Res<Bound> {
        Signature::new(NAMES.iter().find(|own| **own == name).copied().unwrap_or("dict"), params, required)
            .bind(args.clone())
    };
    Ok(match name {
        "get" => {
            let bound = bind(&["key", "default"], 1)?;
            let key = bound.val(0);
            key.hashable()?;
            let found = cell.0.borrow().get(&key).cloned();
            found.unwrap_or_else(|| bound.val(1))
        }
        "items" => Val::View(View::Items, cell.clone()),
        "keys" => Val::View(View::Keys, cell.clone()),
        "values" => Val::View(View::Values, cell.clone()),
        "update" => {
            let bound = Signature::with("update", &[], 0, Rest::Both).bind(args)?;
            let more = dict_of(interp, bound)?;
            cell.0.borrow_mut().extend(more);
            Val::None
        }
        "copy" => {
            let copy = cell.0.borrow().clone();
            interp.spend(copy.len())?;
            Val::dict(copy)
        }
        "clear" => {
            let old = std::mem::take(&mut *cell.0.borrow_mut());
            drop(old);
            Val::None
        }
        "setdefault" => {
            let bound = bind(&["key", "default"], 1)?;
            let key = bound.val(0);
            key.hashable()?;
            cell.0.borrow_mut().entry(key).or_insert_with(|| bound.val(1)).clone()
        }
        "pop" => {
            let bound = bind(&["key", "default"], 1)?;
            let key = bound.val(0);
            key.hashable()?;
            let removed = cell.0.borrow_mut().shift_remove(&key);
            match removed.or_else(|| bound.given(1).cloned()) {
                Some(value) => value,
                None => return Err(Failure::python("KeyError", key.repr())),
            }
        }
        "popitem" => {
            let popped = cell.0.borrow_mut().pop();
            let (key, value) = popped.ok_or_else(|| Failure::python("KeyError", "'popitem(): dictionary is empty'"))?;
            Val::tuple(vec![key, value])
        }
        _ => {
            let bound = bind(&["iterable", "value"], 1)?;
            let mut dict = Dict::new();
            for key in bound.val(0).items(interp)? {
                key.hashable()?;
                dict.insert(key, bound.val(1));
            }
            Val::dict(dict)
        }
    })
}

pub fn set_call(interp: &mut Interp, cell: &Rc<DictCell>, name: &str, args: Args) -> Res<Val> {
    let other = match args.positional.first() {
        Some(other) if !matches!(name, "add" | "discard" | "remove") => {
            let items = other.items(interp)?;
            items.iter().try_for_each(Val::hashable)?;
            items.into_iter().map(|item| (item, Val::None)).collect()
        }
        _ => Dict::new(),
    };
    let item = args.positional.first().cloned().unwrap_or(Val::None);
    let own = cell.0.borrow().clone();
    let keep = |wanted: &dyn Fn(&Val) -> bool| Val::set(own.keys().filter(|key| wanted(key)).cloned());
    Ok(match name {
        "add" => {
            item.hashable()?;
            cell.0.borrow_mut().insert(item, Val::None);
            Val::None
        }
        "discard" | "remove" => {
            item.hashable()?;
            let removed = cell.0.borrow_mut().shift_remove(&item);
            if removed.is_none() && name == "remove" {
                return Err(Failure::python("KeyError", item.repr()));
            }
            Val::None
        }
        "clear" => {
            cell.0.borrow_mut().clear();
            Val::None
        }
        "copy" => Val::set(own.into_keys()),
        "update" => {
            cell.0.borrow_mut().extend(other);
            Val::None
        }
        "union" => Val::set(own.into_keys().chain(other.into_keys())),
        "difference" => keep(&|key| !other.contains_key(key)),
        "intersection" => keep(&|key| other.contains_key(key)),
        "symmetric_difference" => {
            let left = own.keys().filter(|key| !other.contains_key(*key)).cloned();
            let right = other.keys().filter(|key| !own.contains_key(*key)).cloned();
            Val::set(left.chain(right).collect::<Vec<_>>())
        }
        "isdisjoint" => Val::Bool(!own.keys().any(|key| other.contains_key(key))),
        "issubset" => Val::Bool(own.keys().all(|key| other.contains_key(key))),
        _ => Val::Bool(other.keys().all(|key| own.contains_key(key))),
    })
}
