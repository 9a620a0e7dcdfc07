//! Attributes, items and slices, looked up as jinja2's sandbox does.

use super::super::ast::{Expr, Name};
use super::super::error::{Failure, Kind, Res};
use super::super::methods;
use super::super::objects::Method;
use super::super::value::{Range, Val, char_val};
use super::Interp;
use halite_value::str_repr;

impl Interp<'_> {
    /// `owner.name`: a method or attribute, else an item.
    pub fn attribute(&mut self, owner: &Val, name: &Name) -> Res<Val> {
        owner.defined()?;
        if let Val::Dict(dict) = owner
            && !methods::has(owner, name)
            && let Some(value) = dict.0.borrow().get(&**name)
        {
            return Ok(value.clone());
        }
        if let Some(value) = self.own_attribute(owner, name)? {
            return Ok(value);
        }
        if let Some(value) = self.own_item(owner, &Val::Str(name.clone()))? {
            return Ok(value);
        }
        Ok(self.no_attribute(owner, name))
    }

    /// `owner[key]`: an item, else (for text) an attribute.
    pub fn item(&mut self, owner: &Val, key: &Val) -> Res<Val> {
        owner.defined()?;
        if let Some(value) = self.own_item(owner, key)? {
            return Ok(value);
        }
        if let Some(name) = key.as_str() {
            if let Some(value) = self.own_attribute(owner, &name.into())? {
                return Ok(value);
            }
            return Ok(self.no_attribute(owner, name));
        }
        key.defined()?;
        let message = format!("{} has no element {}", owner.object_name(), key.repr());
        Ok(self.undefined(message))
    }

    fn no_attribute(&self, owner: &Val, name: &str) -> Val {
        if let Val::Undefined(undefined) = owner {
            return Val::Undefined(undefined.clone());
        }
        self.undefined(format!("{} has no attribute {}", str_repr(&owner.object_name()), str_repr(name)))
    }

    fn own_attribute(&mut self, owner: &Val, name: &Name) -> Res<Option<Val>> {
        if methods::has(owner, name) {
            return Ok(Some(Val::object(Method { owner: owner.clone(), name: name.clone() })));
        }
        if let Some(value) = methods::plain_attribute(owner, name) {
            return Ok(Some(value));
        }
        if let Val::Object(object) = owner {
            let object = object.clone();
            if let Some(value) = object.attribute(self, name)? {
                return Ok(Some(value));
            }
        }
        if name.starts_with("__") && name.ends_with("__") {
            return Err(Failure::new(
                Kind::Security,
                format!("access to attribute {} of {} object is unsafe.", str_repr(name), str_repr(owner.type_name())),
            ));
        }
        Ok(None)
    }

    fn own_item(&mut self, owner: &Val, key: &Val) -> Res<Option<Val>> {
        Ok(match owner {
            Val::Dict(dict) => {
                if key.hashable().is_err() {
                    key.defined()?;
                    return Ok(None);
                }
                dict.0.borrow().get(key).cloned()
            }
            Val::List(items) => {
                let items = items.0.borrow();
                at(key, items.len()).and_then(|index| items.get(index).cloned())
            }
            Val::Tuple(items) => at(key, items.0.len()).and_then(|index| items.0.get(index).cloned()),
            Val::Str(text) | Val::Markup(text) if key.as_index().is_some() => {
                at(key, text.chars().count()).and_then(|index| text.chars().nth(index)).map(char_val)
            }
            Val::Bytes(bytes) => {
                at(key, bytes.len()).and_then(|index| bytes.get(index)).map(|&byte| Val::Int(byte.into()))
            }
            Val::Range(range) => at(key, range.length).map(|index| range.at(index)),
            Val::Object(object) => {
                let object = object.clone();
                object.item(self, key)?
            }
            _ => None,
        })
    }

    pub fn slice(&mut self, owner: &Val, parts: &[Option<Expr>; 3]) -> Res<Val> {
        owner.defined()?;
        let mut bounds = [None; 3];
        for (bound, part) in bounds.iter_mut().zip(parts) {
            let Some(part) = part else { continue };
            let value = self.eval(part)?;
            value.defined()?;
            if value.is_none() {
                continue;
            }
            *bound = Some(value.as_index().ok_or_else(|| {
                Failure::type_error("slice indices must be integers or None or have an __index__ method")
            })?);
        }
        self.sliced(owner, bounds)
    }

    pub fn sliced(&mut self, owner: &Val, bounds: [Option<i64>; 3]) -> Res<Val> {
        if bounds[2] == Some(0) {
            return Err(Failure::value_error("slice step cannot be zero"));
        }
        let value = match owner {
            Val::Str(text) | Val::Markup(text) => {
                let chars: Vec<char> = text.chars().collect();
                let sliced: String = indices(bounds, chars.len()).filter_map(|index| chars.get(index)).collect();
                Val::from(sliced)
            }
            Val::List(items) => Val::list(picked(&items.0.borrow(), bounds)),
            Val::Tuple(items) => Val::tuple(picked(&items.0, bounds)),
            Val::Bytes(bytes) => {
                let sliced: Vec<u8> =
                    indices(bounds, bytes.len()).filter_map(|index| bytes.get(index).copied()).collect();
                Val::Bytes(sliced.into())
            }
            Val::Range(range) => {
                let values: Vec<Val> = range.values().collect();
                Val::list(picked(&values, bounds))
            }
            Val::None => return Ok(self.undefined("'None' has no element slice".to_owned())),
            other => {
                let part = |bound: Option<i64>| bound.map_or("None".to_owned(), |bound| bound.to_string());
                let [start, stop, step] = bounds.map(part);
                let name = other.object_name();
                return Ok(self.undefined(format!("{name} has no element slice({start}, {stop}, {step})")));
            }
        };
        self.spend(value.length().unwrap_or(0))?;
        Ok(value)
    }
}

fn at(key: &Val, length: usize) -> Option<usize> {
    let index = key.as_index()?;
    match index {
        0.. => usize::try_from(index).ok(),
        _ => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}

fn picked(items: &[Val], bounds: [Option<i64>; 3]) -> Vec<Val> {
    indices(bounds, items.len()).filter_map(|index| items.get(index).cloned()).collect()
}

/// The indices that a slice picks, as Python counts them.
fn indices([start, stop, step]: [Option<i64>; 3], length: usize) -> impl Iterator<Item = usize> {
    let step = step.unwrap_or(1);
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let place = |bound: i64| if bound < 0 { bound.saturating_add(length).max(low) } else { bound.min(high) };
    let (from, to) = if step > 0 { (0, length) } else { (length - 1, -1) };
    let range = Range::new(start.map_or(from, place), stop.map_or(to, place), step);
    (0..range.length).filter_map(move |index| usize::try_from(range.start + range.step * index as i64).ok())
}
