//! An ordered map whose keys are values, as a YAML mapping is.

use super::Value;
use indexmap::map::Entry;
use indexmap::{Equivalent, IndexMap};

/// Keeps the order of insertion; a key that is set again keeps its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map(IndexMap<Value, Value>);

impl Map {
    pub fn new() -> Map {
        Map::default()
    }

    pub fn with_capacity(entries: usize) -> Map {
        Map(IndexMap::with_capacity(entries))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn at(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    pub fn at_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.0.get_mut(key)
    }

    pub fn at_value(&self, key: &Value) -> Option<&Value> {
        self.0.get(key)
    }

    pub fn at_value_mut(&mut self, key: &Value) -> Option<&mut Value> {
        self.0.get_mut(key)
    }

    /// The text under a key, where there is text.
    pub fn str_at(&self, key: &str) -> Option<&str> {
        self.at(key)?.as_str()
    }

    pub fn contains(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub fn contains_value(&self, key: &Value) -> bool {
        self.0.contains_key(key)
    }

    /// Sets a key that is not there; one that is stays, and comes back.
    pub fn add(&mut self, key: Value, value: Value) -> Result<(), Value> {
        match self.0.entry(key) {
            Entry::Occupied(there) => Err(there.key().clone()),
            Entry::Vacant(free) => {
                free.insert(value);
                Ok(())
            }
        }
    }

    /// Sets a key and says what stood there before.
    pub fn insert(&mut self, key: impl Into<Value>, value: impl Into<Value>) -> Option<Value> {
        self.0.insert(key.into(), value.into())
    }

    /// The value under a key, made with `make` where there is none.
    pub fn entry_or(&mut self, key: impl Into<Value>, make: impl FnOnce() -> Value) -> &mut Value {
        self.0.entry(key.into()).or_insert_with(make)
    }

    /// Takes a key out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.0.shift_remove(key)
    }

    pub fn remove_value(&mut self, key: &Value) -> Option<Value> {
        self.0.shift_remove(key)
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Value, &Value)> + ExactSizeIterator {
        self.0.iter()
    }

    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&Value, &mut Value)> {
        self.0.iter_mut()
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.0.keys()
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.0.values()
    }

    pub fn first(&self) -> Option<(&Value, &Value)> {
        self.0.first()
    }

    pub fn extend(&mut self, other: Map) {
        self.0.extend(other.0);
    }

    pub fn retain(&mut self, keep: impl FnMut(&Value, &mut Value) -> bool) {
        self.0.retain(keep);
    }

    /// Sorts by key as Python sorts text; keys of other kinds go by their text.
    pub fn sort_keys(&mut self) {
        self.0.sort_by(|a, _, b, _| match (a, b) {
            (Value::Str(a), Value::Str(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (a, b) => a.to_text().cmp(&b.to_text()),
        });
    }
}

impl<K: Into<Value>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Map {
        Map(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl IntoIterator for Map {
    type Item = (Value, Value);
    type IntoIter = indexmap::map::IntoIter<Value, Value>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = (&'a Value, &'a Value);
    type IntoIter = indexmap::map::Iter<'a, Value, Value>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl Equivalent<Value> for str {
    fn equivalent(&self, key: &Value) -> bool {
        matches!(key, Value::Str(text) if text == self)
    }
}
