//! Salt's filters that take lists as sets, and those that combine lists.

use super::super::ast::Operator;
use super::super::error::{Failure, Res};
use super::super::eval::{Bound, Interp, Rest, arithmetic};
use super::super::value::Val;
use super::{Filter, filter, open};
use std::cmp::Ordering;

pub const SALT: &[Filter] = &[
    filter("unique", &[], 0, |interp, value, _| distinct(interp, &value)),
    filter("union", &["lst2"], 1, |interp, value, bound| {
        let mut items = value.items(interp)?;
        items.extend(bound.val(0).items(interp)?);
        of_kind(interp, &value, &bound, items)
    }),
    filter("intersect", &["lst2"], 1, |interp, value, bound| {
        let other = bound.val(0).items(interp)?;
        let items = value.items(interp)?.into_iter().filter(|item| other.contains(item)).collect();
        of_kind(interp, &value, &bound, items)
    }),
    filter("difference", &["lst2"], 1, |interp, value, bound| {
        let other = bound.val(0).items(interp)?;
        let items = value.items(interp)?.into_iter().filter(|item| !other.contains(item)).collect();
        of_kind(interp, &value, &bound, items)
    }),
    filter("symmetric_difference", &["lst2"], 1, |interp, value, bound| {
        let (left, right) = (value.items(interp)?, bound.val(0).items(interp)?);
        let mut items: Vec<Val> = left.iter().filter(|item| !right.contains(item)).cloned().collect();
        items.extend(right.iter().filter(|item| !left.contains(item)).cloned());
        of_kind(interp, &value, &bound, items)
    }),
    filter("min", &[], 0, |interp, value, _| extreme(interp, &value, Ordering::Less)),
    filter("max", &[], 0, |interp, value, _| extreme(interp, &value, Ordering::Greater)),
    filter("avg", &[], 0, average),
    filter("flatten", &["levels", "preserve_nulls"], 0, flatten),
    filter("combinations", &["r"], 1, |interp, value, bound| choose(interp, &value, &bound, Choice::Combinations)),
    filter("combinations_with_replacement", &["r"], 1, |interp, value, bound| {
        choose(interp, &value, &bound, Choice::WithReplacement)
    }),
    filter("permutations", &["r"], 0, |interp, value, bound| choose(interp, &value, &bound, Choice::Permutations)),
    filter("compress", &["selectors"], 1, |interp, value, bound| {
        let selectors = bound.val(0).items(interp)?;
        let mut kept = Vec::new();
        for (item, selector) in value.items(interp)?.into_iter().zip(selectors) {
            if selector.truth()? {
                kept.push(item);
            }
        }
        Ok(Val::iter("compress", kept))
    }),
    open("product", &[], 0, Rest::Both, product),
    open("zip", &[], 0, Rest::Positional, |interp, value, bound| zipped(interp, value, bound, None)),
    open("zip_longest", &[], 0, Rest::Both, |interp, value, bound| {
        let fill = bound.named.iter().find(|(name, _)| &**name == "fillvalue").map(|(_, fill)| fill.clone());
        zipped(interp, value, bound, Some(fill.unwrap_or(Val::None)))
    }),
];

/// The items without those that were there before; a value that can be a key becomes a set.
fn distinct(interp: &mut Interp, value: &Val) -> Res<Val> {
    let items = value.items(interp)?;
    if value.hashable().is_ok() {
        items.iter().try_for_each(Val::hashable)?;
        return Ok(Val::set(items));
    }
    without_repeats(interp, items)
}

fn without_repeats(interp: &mut Interp, items: Vec<Val>) -> Res<Val> {
    let mut seen = super::super::value::Dict::new();
    let mut kept: Vec<Val> = Vec::new();
    for item in items {
        let new = match item.hashable() {
            Ok(()) => seen.insert(item.clone(), Val::None).is_none(),
            Err(_) => {
                interp.spend(kept.len())?;
                !kept.contains(&item)
            }
        };
        if new {
            kept.push(item);
        }
    }
    Ok(Val::list(kept))
}

fn of_kind(interp: &mut Interp, value: &Val, bound: &Bound, items: Vec<Val>) -> Res<Val> {
    match value.hashable().is_ok() && bound.val(0).hashable().is_ok() {
        true => Ok(Val::set(items)),
        false => without_repeats(interp, items),
    }
}

fn extreme(interp: &mut Interp, value: &Val, wanted: Ordering) -> Res<Val> {
    let name = if wanted == Ordering::Less { "min" } else { "max" };
    let sign = if wanted == Ordering::Less { "<" } else { ">" };
    let mut items = value.items(interp)?.into_iter();
    let Some(mut best) = items.next() else {
        return Err(Failure::value_error(format!("{name}() arg is an empty sequence")));
    };
    for item in items {
        if item.order(&best, sign)? == Some(wanted) {
            best = item;
        }
    }
    Ok(best)
}

fn average(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    if value.hashable().is_ok() {
        return value.as_float().map(Val::Float).ok_or_else(|| {
            Failure::type_error(format!(
                "float() argument must be a string or a real number, not '{}'",
                value.type_name()
            ))
        });
    }
    let items = value.items(interp)?;
    let mut total = Val::Int(0);
    for item in &items {
        total = arithmetic(interp, Operator::Add, &total, item)?;
    }
    arithmetic(interp, Operator::Div, &total, &Val::from(items.len()))
}

fn flatten(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let mut out = Vec::new();
    flat(interp, &value, bound.int(0)?, bound.truth(1, false)?, 0, &mut out)?;
    Ok(Val::list(out))
}

fn flat(
    interp: &mut Interp,
    value: &Val,
    levels: Option<i64>,
    nulls: bool,
    depth: usize,
    out: &mut Vec<Val>,
) -> Res<()> {
    if depth > 200 {
        return Err(Failure::python("RecursionError", "Reference cycle detected. Check input list."));
    }
    for item in value.items(interp)? {
        let null = item.is_none() || matches!(item.as_str(), Some("None" | "null"));
        if null && !nulls {
            continue;
        }
        let nested = item.as_str().is_none() && item.is_iterable() && levels.is_none_or(|levels| levels >= 1);
        match nested {
            true => flat(interp, &item, levels.map(|levels| levels - 1), nulls, depth + 1, out)?,
            false => out.push(item),
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Combinations,
    WithReplacement,
    Permutations,
}

/// All choices of so many items, in the order of itertools.
fn choose(interp: &mut Interp, value: &Val, bound: &Bound, choice: Choice) -> Res<Val> {
    let items = value.items(interp)?;
    let size = match bound.int(0)? {
        Some(size) => usize::try_from(size).map_err(|_| Failure::value_error("r must be non-negative"))?,
        None => items.len(),
    };
    let name = match choice {
        Choice::Combinations => "combinations",
        Choice::WithReplacement => "combinations_with_replacement",
        Choice::Permutations => "permutations",
    };
    let mut out = Vec::new();
    if size <= items.len() || choice == Choice::WithReplacement && !items.is_empty() {
        let mut picked = Vec::with_capacity(size.min(items.len()));
        pick(interp, &items, size, choice, 0, &mut picked, &mut out)?;
    }
    Ok(Val::iter(name, out))
}

fn pick(
    interp: &mut Interp,
    items: &[Val],
    size: usize,
    choice: Choice,
    from: usize,
    picked: &mut Vec<usize>,
    out: &mut Vec<Val>,
) -> Res<()> {
    interp.spend(1)?;
    if picked.len() == size {
        out.push(Val::tuple(picked.iter().filter_map(|&at| items.get(at).cloned()).collect()));
        return interp.spend(size);
    }
    if picked.len() > 500 {
        return Err(Failure::limit("a choice has more than 500 items"));
    }
    let start = if choice == Choice::Permutations { 0 } else { from };
    for at in start..items.len() {
        if choice == Choice::Permutations && picked.contains(&at) {
            continue;
        }
        picked.push(at);
        let next = if choice == Choice::WithReplacement { at } else { at + 1 };
        pick(interp, items, size, choice, next, picked, out)?;
        picked.pop();
    }
    Ok(())
}

fn product(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let repeat = bound.named.iter().find(|(name, _)| &**name == "repeat").and_then(|(_, times)| times.as_index());
    let mut pools = vec![value.items(interp)?];
    for other in &bound.extra {
        pools.push(other.items(interp)?);
    }
    let repeat = usize::try_from(repeat.unwrap_or(1)).unwrap_or(0);
    interp.spend(repeat.saturating_mul(pools.len()))?;
    let pools: Vec<&Vec<Val>> = std::iter::repeat_n(&pools, repeat).flatten().collect();
    let mut rows: Vec<Vec<Val>> = vec![Vec::new()];
    for pool in pools {
        interp.spend(rows.len().saturating_mul(pool.len()).saturating_mul(rows.first().map_or(1, Vec::len) + 1))?;
        rows = rows
            .iter()
            .flat_map(|row| pool.iter().map(move |item| [&row[..], std::slice::from_ref(item)].concat()))
            .collect();
    }
    Ok(Val::iter("product", rows.into_iter().map(Val::tuple).collect()))
}

fn zipped(interp: &mut Interp, value: Val, bound: Bound, fill: Option<Val>) -> Res<Val> {
    let mut columns = vec![value.items(interp)?];
    for other in &bound.extra {
        columns.push(other.items(interp)?);
    }
    let lengths = columns.iter().map(Vec::len);
    let rows = if fill.is_some() { lengths.max() } else { lengths.min() }.unwrap_or(0);
    let fill = fill.unwrap_or(Val::None);
    let row = |at: usize| columns.iter().map(|column| column.get(at).unwrap_or(&fill).clone()).collect();
    Ok(Val::iter("zip", (0..rows).map(|at| Val::tuple(row(at))).collect()))
}
