//! Filters on lists and other things that can be gone through.

use super::super::ast::Operator;
use super::super::error::{Failure, Res};
use super::super::eval::{Bound, Interp, escape};
use super::super::value::{Dict, Val};
use super::sorting::{attribute, folded};
use super::{Filter, filter};
use crate::random;

pub const FILTERS: &[Filter] = &[
    filter("first", &[], 0, first),
    filter("last", &[], 0, last),
    filter("length", &[], 0, |_, value, _| value.length().map(Val::from)),
    filter("count", &[], 0, |_, value, _| value.length().map(Val::from)),
    filter("list", &[], 0, |interp, value, _| value.items(interp).map(Val::list)),
    filter("join", &["d", "attribute"], 0, join),
    filter("reverse", &[], 0, reverse),
    filter("random", &[], 0, random_item),
    filter("batch", &["linecount", "fill_with"], 1, batch),
    filter("slice", &["slices", "fill_with"], 1, slice),
    filter("sum", &["attribute", "start"], 0, sum),
    filter("unique", &["case_sensitive", "attribute"], 0, unique),
    filter("items", &[], 0, items),
];

fn first(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let item = match &value {
        Val::Iter(iter) => iter.items.borrow_mut().pop_front(),
        other => other.items(interp)?.into_iter().next(),
    };
    Ok(item.unwrap_or_else(|| interp.undefined("No first item, sequence was empty.".to_owned())))
}

fn last(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    if let Val::Iter(_) = &value {
        return Err(Failure::type_error("'generator' object is not reversible"));
    }
    let item = value.items(interp)?.pop();
    Ok(item.unwrap_or_else(|| interp.undefined("No last item, sequence was empty.".to_owned())))
}

fn random_item(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let mut items = value.items(interp)?;
    if items.is_empty() {
        return Ok(interp.undefined("No random item, sequence was empty.".to_owned()));
    }
    let at = random::up_to(items.len() as u64 - 1) as usize;
    Ok(items.swap_remove(at))
}

fn join(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let separator = bound.given(0).map(Val::text).unwrap_or_default();
    let mut parts = value.items(interp)?;
    if let Some(path) = bound.given(1).filter(|path| !path.is_none()) {
        parts = parts.iter().map(|item| attribute(interp, item, path, None)).collect::<Res<_>>()?;
    }
    let safe = interp.frame.autoescape && parts.iter().any(|part| matches!(part, Val::Markup(_)));
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        part.defined()?;
        if at > 0 {
            out.push_str(&separator);
        }
        match part {
            Val::Markup(text) => out.push_str(text),
            part if safe => out.push_str(&escape(&part.text())),
            part => out.push_str(&part.text()),
        }
    }
    interp.spend(out.len())?;
    Ok(if safe { Val::Markup(out.into()) } else { Val::from(out) })
}

fn reverse(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    if let Some(text) = value.as_str() {
        return Ok(Val::from(text.chars().rev().collect::<String>()));
    }
    if !value.is_iterable() {
        value.defined()?;
        return Err(super::super::error::Failure::new(super::super::error::Kind::Runtime, "argument must be iterable"));
    }
    let mut items = value.items(interp)?;
    items.reverse();
    Ok(match value {
        Val::Iter(_) => Val::list(items),
        _ => Val::iter("list_reverseiterator", items),
    })
}

fn batch(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let size = usize::try_from(bound.int(0)?.unwrap_or(1)).unwrap_or(0).max(1);
    let items = value.items(interp)?;
    let mut rows: Vec<Vec<Val>> = items.chunks(size).map(<[Val]>::to_vec).collect();
    if let (Some(fill), Some(row)) = (bound.given(1).filter(|fill| !fill.is_none()), rows.last_mut()) {
        interp.spend(size)?;
        row.resize(size, fill.clone());
    }
    Ok(Val::iter("do_batch", rows.into_iter().map(Val::list).collect()))
}

fn slice(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let count = usize::try_from(bound.int(0)?.unwrap_or(1)).unwrap_or(0);
    if count == 0 {
        return Err(Failure::python("ZeroDivisionError", "integer division or modulo by zero"));
    }
    interp.spend(count)?;
    let items = value.items(interp)?;
    let (size, longer) = (items.len() / count, items.len() % count);
    let mut items = items.into_iter();
    let mut columns = Vec::with_capacity(count);
    for at in 0..count {
        let mut column: Vec<Val> = items.by_ref().take(size + usize::from(at < longer)).collect();
        if let Some(fill) = bound.given(1).filter(|fill| !fill.is_none() && longer > 0 && at >= longer) {
            column.push(fill.clone());
        }
        columns.push(Val::list(column));
    }
    Ok(Val::iter("sync_do_slice", columns))
}

fn sum(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let mut total = bound.given(1).cloned().unwrap_or(Val::Int(0));
    if total.as_str().is_some() {
        return Err(Failure::type_error("sum() can't sum strings [use ''.join(seq) instead]"));
    }
    for item in value.items(interp)? {
        let item = match bound.given(0).filter(|path| !path.is_none()) {
            Some(path) => attribute(interp, &item, path, None)?,
            None => item,
        };
        total = super::super::eval::arithmetic(interp, Operator::Add, &total, &item)?;
    }
    Ok(total)
}

fn unique(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let sensitive = bound.truth(0, false)?;
    let mut seen = Dict::new();
    let mut kept = Vec::new();
    for item in value.items(interp)? {
        let key = match bound.given(1).filter(|path| !path.is_none()) {
            Some(path) => attribute(interp, &item, path, None)?,
            None => item.clone(),
        };
        let key = if sensitive { key } else { folded(key) };
        key.hashable()?;
        if seen.insert(key, Val::None).is_none() {
            kept.push(item);
        }
    }
    Ok(Val::iter("sync_do_unique", kept))
}

fn items(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let items = match &value {
        Val::Undefined(_) => Vec::new(),
        Val::Dict(dict) => super::super::value::pairs(&dict.0.borrow()),
        _ => return Err(Failure::type_error("Can only get item pairs from a mapping.")),
    };
    Ok(Val::iter("do_items", items))
}
