//! Filters that run another filter or a test on each item: `map`, `select`, `groupby` and their like.

use super::super::error::{Failure, Kind, Res};
use super::super::eval::{Args, Bound, Interp, Rest};
use super::super::value::Val;
use super::sorting::{attribute, compare_keys, folded};
use super::{Filter, filter, open};
use halite_value::str_repr;

pub const FILTERS: &[Filter] = &[
    open("map", &[], 0, Rest::Both, map),
    open("select", &[], 0, Rest::Both, |interp, value, bound| {
        chosen(interp, value, bound, Wanted::Passing, Subject::Item)
    }),
    open("reject", &[], 0, Rest::Both, |interp, value, bound| {
        chosen(interp, value, bound, Wanted::Failing, Subject::Item)
    }),
    open("selectattr", &[], 0, Rest::Both, |interp, value, bound| {
        chosen(interp, value, bound, Wanted::Passing, Subject::Attribute)
    }),
    open("rejectattr", &[], 0, Rest::Both, |interp, value, bound| {
        chosen(interp, value, bound, Wanted::Failing, Subject::Attribute)
    }),
    filter("groupby", &["attribute", "default", "case_sensitive"], 1, group_by),
    filter("attr", &["name"], 1, attr),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Passing,
    Failing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Item,
    Attribute,
}

fn argument_error(message: impl Into<String>) -> Box<Failure> {
    Failure::new(Kind::Runtime, message)
}

fn map(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let items = value.items(interp)?;
    let mut out = Vec::with_capacity(items.len());
    let path = bound.named.iter().find(|(name, _)| &**name == "attribute").map(|(_, path)| path.clone());
    if let Some(path) = path.filter(|_| bound.extra.is_empty()) {
        if let Some((name, _)) = bound.named.iter().find(|(name, _)| !matches!(&**name, "attribute" | "default")) {
            return Err(argument_error(format!("Unexpected keyword argument {}", str_repr(name))));
        }
        let default = bound.named.iter().find(|(name, _)| &**name == "default").map(|(_, value)| value.clone());
        for item in &items {
            out.push(attribute(interp, item, &path, default.as_ref())?);
        }
        return Ok(Val::iter("sync_do_map", out));
    }
    let mut args = bound.extra.into_iter();
    let Some(name) = args.next() else { return Err(argument_error("map requires a filter argument")) };
    let args = Args { positional: args.collect(), named: bound.named };
    for item in items {
        out.push(interp.apply_named(&name.text(), item, args.clone())?);
    }
    Ok(Val::iter("sync_do_map", out))
}

fn chosen(interp: &mut Interp, value: Val, bound: Bound, wanted: Wanted, subject: Subject) -> Res<Val> {
    let items = value.items(interp)?;
    let mut args = bound.extra.into_iter();
    let path = match subject {
        Subject::Item => None,
        Subject::Attribute => Some(args.next().ok_or_else(|| argument_error("Missing parameter for attribute name"))?),
    };
    let test = args.next();
    let args = Args { positional: args.collect(), named: bound.named };
    let mut kept = Vec::new();
    for item in items {
        let judged = match &path {
            Some(path) => attribute(interp, &item, path, None)?,
            None => item.clone(),
        };
        let holds = match &test {
            Some(test) => interp.holds_named(&test.text(), &judged, args.clone())?,
            None => judged.truth()?,
        };
        if holds == (wanted == Wanted::Passing) {
            kept.push(item);
        }
    }
    Ok(Val::iter("select_or_reject", kept))
}

fn group_by(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let (path, default) = (bound.val(0), bound.given(1).filter(|default| !default.is_none()));
    let sensitive = bound.truth(2, false)?;
    let mut keyed = Vec::new();
    for item in value.items(interp)? {
        let key = attribute(interp, &item, &path, default)?;
        key.defined()?;
        let folded = if sensitive { key.clone() } else { folded(key.clone()) };
        keyed.push((folded, key, item));
    }
    let mut failed = None;
    keyed.sort_by(|a, b| compare_keys(&a.0, &b.0, &mut failed));
    if let Some(failure) = failed {
        return Err(failure);
    }
    let mut groups: Vec<(Val, Val, Vec<Val>)> = Vec::new();
    for (folded, key, item) in keyed {
        match groups.last_mut() {
            Some((last, _, items)) if *last == folded => items.push(item),
            _ => groups.push((folded, key, vec![item])),
        }
    }
    let groups = groups.into_iter().map(|(_, key, items)| Val::object(Group::new(key, items)));
    Ok(Val::list(groups.collect()))
}

/// A pair that has names: `grouper` and `list`.
struct Group {
    key: Val,
    items: Val,
}

impl Group {
    fn new(key: Val, items: Vec<Val>) -> Group {
        Group { key, items: Val::list(items) }
    }
}

impl super::super::value::Object for Group {
    fn kind(&self) -> &str {
        "_GroupTuple"
    }

    fn repr(&self) -> String {
        Val::tuple(vec![self.key.clone(), self.items.clone()]).repr()
    }

    fn attribute(&self, _: &mut Interp, name: &str) -> Res<Option<Val>> {
        Ok(match name {
            "grouper" => Some(self.key.clone()),
            "list" => Some(self.items.clone()),
            _ => None,
        })
    }

    fn item(&self, _: &mut Interp, key: &Val) -> Res<Option<Val>> {
        Ok(match key.as_index() {
            Some(0 | -2) => Some(self.key.clone()),
            Some(1 | -1) => Some(self.items.clone()),
            _ => None,
        })
    }

    fn iterate(&self, _: &mut Interp) -> Option<Vec<Val>> {
        Some(vec![self.key.clone(), self.items.clone()])
    }

    fn length(&self) -> Option<usize> {
        Some(2)
    }
}

/// An attribute alone, never an item.
fn attr(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let name = bound.val(0).text();
    value.defined()?;
    if let Val::Dict(_) = value
        && !super::super::methods::has(&value, &name)
    {
        let message = format!("{} has no attribute {}", str_repr(&value.object_name()), str_repr(&name));
        return Ok(interp.undefined(message));
    }
    interp.attribute(&value, &name.into())
}
