//! Filters that order: `sort`, `dictsort`, `min`, `max`; and the attributes that these and others look at.

use super::super::error::{Failure, Res};
use super::super::eval::{Args, Bound, Interp};
use super::super::value::{Val, pairs};
use super::{Filter, filter};
use std::cmp::Ordering;

pub const FILTERS: &[Filter] = &[
    filter("sort", &["reverse", "case_sensitive", "attribute"], 0, sorted),
    filter("dictsort", &["case_sensitive", "by", "reverse"], 0, dict_sorted),
    filter("min", &["case_sensitive", "attribute"], 0, |interp, value, bound| {
        extreme(interp, value, bound, Ordering::Less)
    }),
    filter("max", &["case_sensitive", "attribute"], 0, |interp, value, bound| {
        extreme(interp, value, bound, Ordering::Greater)
    }),
];

/// A value that compares without regard to case.
pub fn folded(value: Val) -> Val {
    match &value {
        Val::Str(text) | Val::Markup(text) => Val::from(text.to_lowercase()),
        _ => value,
    }
}

/// The order of two keys, remembering the first pair that has none.
pub fn compare_keys(a: &Val, b: &Val, failed: &mut Option<Box<Failure>>) -> Ordering {
    match a.order(b, "<") {
        Ok(order) => order.unwrap_or(Ordering::Equal),
        Err(failure) => {
            failed.get_or_insert(failure);
            Ordering::Equal
        }
    }
}

fn by_keys(keyed: &mut [(Val, Val)], reverse: bool) -> Res<()> {
    let mut failed = None;
    // Equal items keep their order, backwards too.
    keyed.sort_by(|a, b| match reverse {
        false => compare_keys(&a.0, &b.0, &mut failed),
        true => compare_keys(&b.0, &a.0, &mut failed),
    });
    failed.map_or(Ok(()), Err)
}

/// `list.sort(key=, reverse=)`.
pub fn sort(interp: &mut Interp, items: &mut Vec<Val>, key: Option<&Val>, reverse: bool) -> Res<()> {
    let mut keyed = Vec::with_capacity(items.len());
    for item in items.iter() {
        let key = match key.filter(|key| !key.is_none()) {
            Some(function) => interp.call(function, Args::of(vec![item.clone()]))?,
            None => item.clone(),
        };
        keyed.push((key, item.clone()));
    }
    by_keys(&mut keyed, reverse)?;
    *items = keyed.into_iter().map(|(_, item)| item).collect();
    Ok(())
}

/// `a.b.0` of an item, by way of items and attributes; a default where it is not there.
pub fn attribute(interp: &mut Interp, item: &Val, path: &Val, default: Option<&Val>) -> Res<Val> {
    let steps: Vec<Val> = match path {
        Val::Str(text) | Val::Markup(text) => text.split('.').map(step).collect(),
        other => vec![other.clone()],
    };
    let mut value = item.clone();
    for step in steps {
        value = interp.item(&value, &step)?;
        if let (true, Some(default)) = (value.is_undefined(), default) {
            value = default.clone();
        }
    }
    Ok(value)
}

fn step(text: &str) -> Val {
    match text.parse::<i64>() {
        Ok(index) if text.bytes().all(|byte| byte.is_ascii_digit()) => Val::Int(index),
        _ => Val::from(text),
    }
}

fn sorted(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let (reverse, sensitive) = (bound.truth(0, false)?, bound.truth(1, false)?);
    let mut keyed = Vec::new();
    for item in value.items(interp)? {
        let key = match bound.given(2).filter(|path| !path.is_none()) {
            None => item.clone(),
            Some(path) => {
                let paths = path.text();
                let single = path.as_str().is_none() || !paths.contains(',');
                match single {
                    true => attribute(interp, &item, path, None)?,
                    false => {
                        let parts = paths.split(',').map(|path| attribute(interp, &item, &Val::from(path), None));
                        let parts: Vec<Val> = parts.collect::<Res<_>>()?;
                        Val::tuple(if sensitive { parts } else { parts.into_iter().map(folded).collect() })
                    }
                }
            }
        };
        keyed.push((if sensitive { key } else { folded(key) }, item));
    }
    by_keys(&mut keyed, reverse)?;
    Ok(Val::list(keyed.into_iter().map(|(_, item)| item).collect()))
}

fn dict_sorted(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    value.defined()?;
    let Val::Dict(dict) = &value else {
        let kind = value.type_name();
        return Err(Failure::python("AttributeError", format!("'{kind}' object has no attribute 'items'")));
    };
    let at = match bound.text_or(1, "key")? {
        "key" => 0,
        "value" => 1,
        _ => {
            let message = "You can only sort by either \"key\" or \"value\"";
            return Err(Failure::runtime(message));
        }
    };
    let sensitive = bound.truth(0, false)?;
    let mut keyed = Vec::new();
    for pair in pairs(&dict.0.borrow()) {
        let Val::Tuple(parts) = &pair else { continue };
        let key = parts.0.get(at).cloned().unwrap_or(Val::None);
        keyed.push((if sensitive { key } else { folded(key) }, pair.clone()));
    }
    by_keys(&mut keyed, bound.truth(2, false)?)?;
    Ok(Val::list(keyed.into_iter().map(|(_, pair)| pair).collect()))
}

fn extreme(interp: &mut Interp, value: Val, bound: Bound, wanted: Ordering) -> Res<Val> {
    let sensitive = bound.truth(0, false)?;
    let mut best: Option<(Val, Val)> = None;
    for item in value.items(interp)? {
        let key = match bound.given(1).filter(|path| !path.is_none()) {
            Some(path) => attribute(interp, &item, path, None)?,
            None => item.clone(),
        };
        let key = if sensitive { key } else { folded(key) };
        let sign = if wanted == Ordering::Less { "<" } else { ">" };
        let better = match &best {
            Some((held, _)) => key.order(held, sign)? == Some(wanted),
            None => true,
        };
        if better {
            best = Some((key, item));
        }
    }
    Ok(match best {
        Some((_, item)) => item,
        None => interp.undefined("No aggregated item, sequence was empty.".to_owned()),
    })
}
