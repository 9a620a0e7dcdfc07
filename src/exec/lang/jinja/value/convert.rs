//! Between a template's values and plain data.

use super::super::error::{Failure, Res};
use super::effort::{self, WALK_LIMIT};
use super::{Dict, Val};
use halite_value::{Map, Value};
use std::rc::Rc;

/// Collections nested deeper than this, or inside themselves, are refused.
const DEPTH_LIMIT: usize = 250;

impl From<&Value> for Val {
    fn from(value: &Value) -> Val {
        match value {
            Value::Null => Val::None,
            Value::Bool(truth) => Val::Bool(*truth),
            Value::Int(number) => Val::Int(*number),
            Value::Big(number) => Val::Big(Rc::new((**number).clone())),
            Value::Float(number) => Val::Float(*number),
            Value::Str(text) => Val::Str(text.as_str().into()),
            Value::Bytes(bytes) => Val::Bytes(bytes.as_slice().into()),
            Value::List(items) => Val::list(items.iter().map(Val::from).collect()),
            Value::Map(map) => Val::from(map),
        }
    }
}

impl From<&Map> for Val {
    fn from(map: &Map) -> Val {
        let mut dict = Dict::with_capacity(map.len());
        dict.extend(map.iter().map(|(key, value)| (key_val(key), Val::from(value))));
        Val::dict(dict)
    }
}

/// A key: where YAML has a list, Python's loader makes a tuple.
fn key_val(key: &Value) -> Val {
    match key {
        Value::List(items) => Val::tuple(items.iter().map(key_val).collect()),
        other => Val::from(other),
    }
}

impl Val {
    /// As plain data: tuples and sets become lists, what has no counterpart its text.
    pub fn to_value(&self) -> Res<Value> {
        let mut conversion = Conversion { depth: 0, size: 0 };
        let value = conversion.plain(self);
        effort::add(conversion.size);
        value
    }
}

struct Conversion {
    depth: usize,
    /// Elements and bytes so far.
    size: usize,
}

impl Conversion {
    fn plain(&mut self, value: &Val) -> Res<Value> {
        value.defined()?;
        self.size += 8 + value.as_str().map_or(0, str::len);
        if self.size > WALK_LIMIT {
            return Err(Failure::limit("the data is too large: it holds the same lists or maps again and again"));
        }
        Ok(match value {
            Val::Undefined(_) => Value::from(""),
            Val::None => Value::Null,
            Val::Bool(truth) => Value::Bool(*truth),
            Val::Int(number) => Value::Int(*number),
            Val::Big(number) => Value::from_big((**number).clone()),
            Val::Float(number) => Value::Float(*number),
            Val::Str(text) | Val::Markup(text) => Value::from(&**text),
            Val::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            Val::List(cell) => self.list(&mut cell.0.borrow().iter())?,
            Val::Tuple(cell) => self.list(&mut cell.0.iter())?,
            Val::Set(cell) => self.list(&mut cell.0.borrow().keys())?,
            Val::Dict(cell) => self.within(|inner| {
                let dict = cell.0.borrow();
                let mut map = Map::with_capacity(dict.len());
                for (key, item) in dict.iter() {
                    map.insert(inner.plain(key)?, inner.plain(item)?);
                }
                Ok(Value::Map(map))
            })?,
            Val::View(view, cell) => {
                let dict = cell.0.borrow();
                match view {
                    super::View::Keys => self.list(&mut dict.keys())?,
                    super::View::Values => self.list(&mut dict.values())?,
                    super::View::Items => self.list(&mut super::pairs(&dict).iter())?,
                }
            }
            Val::Range(range) => Value::List(range.values().map(|item| self.plain(&item)).collect::<Res<_>>()?),
            Val::Iter(iter) => self.list(&mut iter.items.borrow().iter())?,
            Val::Object(object) => Value::from(object.text()),
        })
    }

    fn list(&mut self, items: &mut dyn Iterator<Item = &Val>) -> Res<Value> {
        self.within(|inner| Ok(Value::List(items.map(|item| inner.plain(item)).collect::<Res<_>>()?)))
    }

    fn within(&mut self, convert: impl FnOnce(&mut Self) -> Res<Value>) -> Res<Value> {
        if self.depth >= DEPTH_LIMIT {
            return Err(Failure::value_error("Circular reference detected"));
        }
        self.depth += 1;
        let value = convert(self);
        self.depth -= 1;
        value
    }
}
