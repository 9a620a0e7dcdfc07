//! An ordered map whose keys are values, as a YAML mapping is.

use super::Value;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::LazyLock;

/// Keeps the order of insertion; a key that is set again keeps its place.
///
/// Most maps are small: an argument of a state, a low chunk, a result. Those are searched from one end to the other, which
/// costs less than a table and its memory. From [`SMALL`] entries on there is a table.
#[derive(Clone, Debug, Default)]
pub struct Map {
    entries: Vec<(Value, Value)>,
    /// Where each key stands; nothing in a small map.
    index: Option<Box<HashTable<Slot>>>,
}

/// How many entries a map has at most that is searched without a table.
const SMALL: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u64,
    /// The entry's place.
    at: usize,
}

impl Map {
    pub const fn new() -> Map {
        Map { entries: Vec::new(), index: None }
    }

    pub fn with_capacity(entries: usize) -> Map {
        Map { entries: Vec::with_capacity(entries), index: None }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn at(&self, key: &str) -> Option<&Value> {
        self.place_of(key).map(|at| &self.entries[at].1)
    }

    pub fn at_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.place_of(key).map(|at| &mut self.entries[at].1)
    }

    pub fn at_value(&self, key: &Value) -> Option<&Value> {
        self.place_of_value(key).map(|at| &self.entries[at].1)
    }

    pub fn at_value_mut(&mut self, key: &Value) -> Option<&mut Value> {
        self.place_of_value(key).map(|at| &mut self.entries[at].1)
    }

    /// The text under a key, where there is text.
    pub fn str_at(&self, key: &str) -> Option<&str> {
        self.at(key)?.as_str()
    }

    pub fn contains(&self, key: &str) -> bool {
        self.place_of(key).is_some()
    }

    pub fn contains_value(&self, key: &Value) -> bool {
        self.place_of_value(key).is_some()
    }

    /// Sets a key that is not there; one that is stays, and comes back.
    pub fn add(&mut self, key: Value, value: Value) -> Result<(), Value> {
        match self.place_of_value(&key) {
            Some(at) => Err(self.entries[at].0.clone()),
            None => {
                self.push(key, value);
                Ok(())
            }
        }
    }

    /// Sets a key and says what stood there before.
    pub fn insert(&mut self, key: impl Into<Value>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        match self.place_of_value(&key) {
            Some(at) => Some(std::mem::replace(&mut self.entries[at].1, value)),
            None => {
                self.push(key, value);
                None
            }
        }
    }

    /// The value under a key, made with `make` where there is none.
    pub fn entry_or(&mut self, key: impl Into<Value>, make: impl FnOnce() -> Value) -> &mut Value {
        let key = key.into();
        let at = self.place_of_value(&key).unwrap_or_else(|| {
            self.push(key, make());
            self.entries.len() - 1
        });
        &mut self.entries[at].1
    }

    /// Takes a key out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.place_of(key).map(|at| self.take_out(at))
    }

    pub fn remove_value(&mut self, key: &Value) -> Option<Value> {
        self.place_of_value(key).map(|at| self.take_out(at))
    }

    pub fn iter(&self) -> Iter<'_> {
        Iter(self.entries.iter())
    }

    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&Value, &mut Value)> {
        self.entries.iter_mut().map(|(key, value)| (&*key, value))
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.entries.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.entries.iter().map(|(_, value)| value)
    }

    pub fn first(&self) -> Option<(&Value, &Value)> {
        self.entries.first().map(|(key, value)| (key, value))
    }

    pub fn extend(&mut self, other: Map) {
        for (key, value) in other {
            self.insert(key, value);
        }
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&Value, &mut Value) -> bool) {
        self.entries.retain_mut(|(key, value)| keep(key, value));
        self.index_anew();
    }

    /// Sorts by key as Python sorts text; keys of other kinds go by their text.
    pub fn sort_keys(&mut self) {
        self.entries.sort_by(|(a, _), (b, _)| match (a, b) {
            (Value::Str(a), Value::Str(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (a, b) => a.to_text().cmp(&b.to_text()),
        });
        self.index_anew();
    }

    fn place_of(&self, key: &str) -> Option<usize> {
        // The length first: this is the hottest comparison of all, and most names differ in it.
        let is_key = |own: &Value| match own {
            Value::Str(text) => text.len() == key.len() && text.as_bytes() == key.as_bytes(),
            _ => false,
        };
        match &self.index {
            None => self.entries.iter().position(|(own, _)| is_key(own)),
            Some(index) => index.find(hash(key), |slot| is_key(&self.entries[slot.at].0)).map(|slot| slot.at),
        }
    }

    fn place_of_value(&self, key: &Value) -> Option<usize> {
        match (key, &self.index) {
            (Value::Str(key), _) => self.place_of(key),
            (_, None) => self.entries.iter().position(|(own, _)| own == key),
            (_, Some(index)) => index.find(hash(key), |slot| self.entries[slot.at].0 == *key).map(|slot| slot.at),
        }
    }

    /// Adds an entry whose key is not there.
    fn push(&mut self, key: Value, value: Value) {
        let at = self.entries.len();
        if at == self.entries.capacity() && at < 4 {
            // One entry is what most of the smallest have, and they stay so.
            self.entries.reserve_exact(if at == 0 { 1 } else { 4 - at });
        }
        if let Some(index) = &mut self.index {
            let hash = hash(&key);
            index.insert_unique(hash, Slot { hash, at }, |slot| slot.hash);
        }
        self.entries.push((key, value));
        if self.index.is_none() && at >= SMALL {
            self.index = Some(Box::new(HashTable::with_capacity(self.entries.capacity())));
            self.index_anew();
        }
    }

    fn take_out(&mut self, at: usize) -> Value {
        if let Some(index) = &mut self.index {
            if let Ok(slot) = index.find_entry(hash(&self.entries[at].0), |slot| slot.at == at) {
                slot.remove();
            }
            index.iter_mut().filter(|slot| slot.at > at).for_each(|slot| slot.at -= 1);
        }
        self.entries.remove(at).1
    }

    /// Makes the table of a map that has one again.
    fn index_anew(&mut self) {
        if let Some(index) = &mut self.index {
            index.clear();
            for (at, (key, _)) in self.entries.iter().enumerate() {
                let hash = hash(key);
                index.insert_unique(hash, Slot { hash, at }, |slot| slot.hash);
            }
        }
    }
}

/// Keys come from the network: so nobody outside may know where one falls, and the hash is the keyed one of the standard
/// library, with one key for the process.
fn hash(key: &(impl Hash + ?Sized)) -> u64 {
    static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    KEY.hash_one(key)
}

/// Two maps are equal whatever their order, as in Python.
impl PartialEq for Map {
    fn eq(&self, other: &Map) -> bool {
        let same = |(at, (key, value)): (usize, &(Value, Value))| match other.entries.get(at) {
            Some((its, own)) if its == key => own == value,
            _ => other.at_value(key) == Some(value),
        };
        self.len() == other.len() && self.entries.iter().enumerate().all(same)
    }
}

impl Eq for Map {}

impl<K: Into<Value>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Map {
        let entries = entries.into_iter();
        let mut map = Map::with_capacity(entries.size_hint().0);
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl IntoIterator for Map {
    type Item = (Value, Value);
    type IntoIter = std::vec::IntoIter<(Value, Value)>;
    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = (&'a Value, &'a Value);
    type IntoIter = Iter<'a>;
    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Goes through the entries of a map in their order.
#[derive(Clone, Debug)]
pub struct Iter<'a>(std::slice::Iter<'a, (Value, Value)>);

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a Value, &'a Value);
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key, value))
    }
}

impl ExactSizeIterator for Iter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers from 0 on as text, each with its number.
    fn numbers(count: i64) -> Map {
        (0..count).map(|number| (number.to_string(), number)).collect()
    }

    #[test]
    fn what_is_done_to_a_map_is_the_same_with_a_table_and_without() {
        for count in [1, 2, 5, SMALL as i64, SMALL as i64 + 1, 100] {
            let mut map = numbers(count);
            let last = count - 1;
            assert_eq!(map.index.is_some(), count > SMALL as i64);
            assert_eq!(map.insert(last.to_string(), "x"), Some(last.into()), "in its place");
            assert_eq!((map.len() as i64, map.at("no"), map.at_value(&last.into())), (count, None, None));
            assert_eq!(map.add("0".into(), ().into()), Err("0".into()));
            assert_eq!(map.remove("0"), Some(if count == 1 { "x".into() } else { Value::from(0) }));
            assert_eq!(map.remove("0"), None);
            assert!((1..last).all(|number| map.at(&number.to_string()) == Some(&number.into())));
            *map.entry_or(true, || Value::Null) = 1.into();
            assert_eq!(map.iter().next_back(), Some((&true.into(), &1.into())));
            map.retain(|key, _| key.as_str() != Some("1"));
            assert!((2..last).all(|number| map.at(&number.to_string()) == Some(&number.into())) && !map.contains("1"));
            map.sort_keys();
            let sorted: Vec<String> = map.keys().map(Value::to_text).collect();
            assert!(sorted.is_sorted() && sorted.iter().all(|key| key == "True" || map.contains(key)), "{sorted:?}");
            assert_eq!(map.at_value(&true.into()), Some(&1.into()));
        }
    }

    #[test]
    fn maps_are_equal_whatever_their_order() {
        for count in [3, 100] {
            let map = numbers(count);
            let mut turned: Map = numbers(count).into_iter().rev().collect();
            assert_eq!(map, turned);
            turned.insert("0", "other");
            assert_ne!(map, turned);
            assert_ne!(map, numbers(count - 1));
        }
    }
}
