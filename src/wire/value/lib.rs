//! The dynamic value that SLS, arguments, grains, pillar and returns are made of.
//!
//! It is Python's plain data: what YAML, JSON and the wire can carry. Maps keep their order and any value may be a
//! key, as in YAML. Equality is strict (`1`, `1.0` and `true` differ), so that nothing is lost by a comparison; the
//! template engine, which needs Python's equality, brings its own.

pub mod fault;
mod json;
mod map;
mod python;
pub mod record;
mod serde;

use num_bigint::BigInt;
use std::hash::{Hash, Hasher};

/// The text of a value. Most texts are a word (a key, a name, a mode): those lie in the value itself and cost no memory of
/// their own.
pub use compact_str::CompactString as Text;
pub use json::{JsonStyle, parse_json};
pub use map::Map;
pub use python::{float_repr, str_repr};

/// One value. The variants are those of Python's plain data.
#[derive(Clone, Debug, Default)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    /// An integer that does not fit 64 bits; never one that does (see [`Value::from_big`]).
    Big(Box<BigInt>),
    Float(f64),
    Str(Text),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    Map(Map),
}

impl Value {
    /// The smallest variant that holds the integer.
    pub fn from_big(big: BigInt) -> Value {
        match i64::try_from(&big) {
            Ok(small) => Value::Int(small),
            Err(_) => Value::Big(Box::new(big)),
        }
    }

    pub fn list<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Value {
        Value::List(items.into_iter().map(Into::into).collect())
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// A number as a float, whatever its kind.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Python's truth: empty, zero and None are false.
    pub fn truthy(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(truth) => *truth,
            Value::Int(number) => *number != 0,
            Value::Big(_) => true,
            Value::Float(number) => *number != 0.0,
            Value::Str(text) => !text.is_empty(),
            Value::Bytes(bytes) => !bytes.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Map(map) => !map.is_empty(),
        }
    }

    /// The value under a key, for maps; nothing for everything else.
    pub fn at(&self, key: &str) -> Option<&Value> {
        self.as_map()?.at(key)
    }

    /// Follows a path such as `a:b:c`, as `pillar.get` and `config.get` do: through maps by key; through lists by index
    /// (below zero from the end), or by key through the first map in them that has it.
    pub fn traverse(&self, path: &str, delimiter: &str) -> Option<&Value> {
        if path.is_empty() {
            return Some(self);
        }
        path.split(delimiter).try_fold(self, |here, step| match here {
            Value::Map(map) => map.at(step).or_else(|| map.at_value(&Value::Int(step.parse().ok()?))),
            Value::List(items) => {
                let index: Option<i64> = step.parse().ok();
                let key = index.map_or_else(|| Value::from(step), Value::Int);
                let inside = items.iter().filter_map(Value::as_map).find_map(|map| map.at_value(&key));
                inside.or_else(|| match index? {
                    index @ 0.. => items.get(usize::try_from(index).ok()?),
                    index => items.iter().nth_back(usize::try_from(-(index + 1)).ok()?),
                })
            }
            _ => None,
        })
    }

    /// What Python calls the type: used in messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) | Value::Big(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "str",
            Value::Bytes(_) => "bytes",
            Value::List(_) => "list",
            Value::Map(_) => "dict",
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Big(a), Value::Big(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::List(a), Value::List(b)) => a == b,
            (Value::Map(a), Value::Map(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

/// A string hashes as `str` does, so that maps are searched by `&str` without making a `Value`.
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Value::Null => state.write_u8(0),
            Value::Bool(truth) => state.write_u8(1 + *truth as u8),
            Value::Int(number) => number.hash(state),
            Value::Big(number) => number.hash(state),
            Value::Float(number) => number.to_bits().hash(state),
            Value::Str(text) => text.as_str().hash(state),
            Value::Bytes(bytes) => bytes.hash(state),
            Value::List(items) => items.hash(state),
            Value::Map(map) => map.len().hash(state),
        }
    }
}

/// Python's None.
impl From<()> for Value {
    fn from((): ()) -> Value {
        Value::Null
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Value {
        Value::Int(number.into())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Value {
        Value::Int(number.into())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::from_big(number.into())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Value {
        Value::from_big(number.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Float(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Str(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Str(text.into())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Value {
        Value::Str(text.into())
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Value {
        Value::Str(text)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Value {
        Value::Map(map)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Value {
        Value::list(items)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_through_maps_and_lists() {
        let inner = Map::from_iter([("list", Value::list(["x", "y"]))]);
        let value = Value::from(Map::from_iter([("a", Value::from(inner))]));
        assert_eq!(value.traverse("a:list:1", ":"), Some(&Value::from("y")));
        assert_eq!(value.traverse("a:list:-2", ":"), Some(&Value::from("x")));
        assert_eq!(value.traverse("a:list:2", ":"), None);
        let listed = Value::list([Value::from(1), Value::from(Map::from_iter([("k", "v")]))]);
        assert_eq!(listed.traverse("k", ":"), Some(&Value::from("v")));
        assert_eq!(value.traverse("a:none", ":"), None);
        assert_eq!(value.traverse("", ":"), Some(&value));
    }

    #[test]
    fn one_true_and_the_string_one_are_three_keys() {
        let mut map = Map::new();
        map.insert(1, "int");
        map.insert(true, "bool");
        map.insert("1", "str");
        map.insert(1.0, "float");
        assert_eq!(map.len(), 4);
    }
}
