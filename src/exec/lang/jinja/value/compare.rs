//! Python's equality, hashes and order: `1 == True == 1.0`, a tuple is no list, text and numbers have no order.

use super::super::error::{Failure, Res};
use super::effort::{self, WALK_LIMIT};
use super::{Dict, Val, View};
use indexmap::Equivalent;
use num_bigint::BigInt;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Collections nested deeper than this are never equal, nor are those with more elements than one walk may meet.
const DEPTH_LIMIT: usize = 200;

/// How much of a tuple inside of a tuple a hash is made of: its first elements, and theirs.
const HASHED: (usize, usize) = (4, 4);

impl PartialEq for Val {
    fn eq(&self, other: &Val) -> bool {
        let mut comparison = Comparison { steps: 0, depth: 0 };
        let equal = comparison.equal(self, other);
        effort::add(comparison.steps);
        equal
    }
}

impl Eq for Val {}

struct Comparison {
    steps: usize,
    depth: usize,
}

impl Comparison {
    fn equal(&mut self, a: &Val, b: &Val) -> bool {
        self.steps += 1;
        if self.steps > WALK_LIMIT {
            return false;
        }
        match (a, b) {
            (Val::Str(a) | Val::Markup(a), Val::Str(b) | Val::Markup(b)) => a == b,
            (Val::None, Val::None) => true,
            (Val::Bytes(a), Val::Bytes(b)) => a == b,
            (Val::List(a), Val::List(b)) => Rc::ptr_eq(a, b) || self.all_equal(&a.0.borrow(), &b.0.borrow()),
            (Val::Tuple(a), Val::Tuple(b)) => Rc::ptr_eq(a, b) || self.all_equal(&a.0, &b.0),
            (Val::Dict(a), Val::Dict(b)) => Rc::ptr_eq(a, b) || self.dicts_equal(&a.0.borrow(), &b.0.borrow()),
            (Val::Set(a) | Val::View(View::Keys, a), Val::Set(b) | Val::View(View::Keys, b)) => {
                let (a, b) = (a.0.borrow(), b.0.borrow());
                a.len() == b.len() && a.keys().all(|key| b.contains_key(key))
            }
            (Val::Range(a), Val::Range(b)) => {
                a.length == b.length && (a.length == 0 || a.start == b.start && (a.length == 1 || a.step == b.step))
            }
            (Val::Iter(a), Val::Iter(b)) => Rc::ptr_eq(a, b),
            (Val::Object(a), Val::Object(b)) => Rc::ptr_eq(a, b),
            (Val::Undefined(a), Val::Undefined(b)) => a.message == b.message,
            _ => numeric_order(a, b) == Some(Ordering::Equal),
        }
    }

    fn all_equal(&mut self, a: &[Val], b: &[Val]) -> bool {
        a.len() == b.len() && self.within(|inner| a.iter().zip(b).all(|(a, b)| inner.equal(a, b)))
    }

    fn dicts_equal(&mut self, a: &Dict, b: &Dict) -> bool {
        let same =
            |inner: &mut Self| a.iter().all(|(key, value)| b.get(key).is_some_and(|other| inner.equal(value, other)));
        a.len() == b.len() && self.within(same)
    }

    fn within(&mut self, compare: impl FnOnce(&mut Self) -> bool) -> bool {
        self.depth += 1;
        let equal = self.depth <= DEPTH_LIMIT && compare(self);
        self.depth -= 1;
        equal
    }
}

/// The order of two numbers; nothing where one is none, or not a number.
pub fn numeric_order(a: &Val, b: &Val) -> Option<Ordering> {
    match (a, b) {
        (Val::Float(a), Val::Float(b)) => a.partial_cmp(b),
        (Val::Float(a), b) => float_order(*a, b),
        (a, Val::Float(b)) => float_order(*b, a).map(Ordering::reverse),
        (a, b) => match (a.as_index(), b.as_index()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => Some(a.as_big()?.cmp(&b.as_big()?)),
        },
    }
}

fn float_order(float: f64, whole: &Val) -> Option<Ordering> {
    if float.is_nan() {
        whole.as_big()?;
        return None;
    }
    let whole = whole.as_big()?;
    if float.is_infinite() {
        return Some(if float > 0.0 { Ordering::Greater } else { Ordering::Less });
    }
    let floor = big_from_float(float.floor())?;
    Some(match floor.cmp(&whole) {
        Ordering::Equal if float.fract() != 0.0 => Ordering::Greater,
        order => order,
    })
}

/// A float without fraction as a whole number.
pub fn big_from_float(float: f64) -> Option<BigInt> {
    if float.abs() < 9e18 {
        return Some(BigInt::from(float as i64));
    }
    if !float.is_finite() {
        return None;
    }
    let bits = float.to_bits();
    let exponent = i32::try_from((bits >> 52) & 0x7ff).ok()? - 1075;
    let mantissa = BigInt::from((bits & ((1 << 52) - 1)) | (1 << 52));
    let magnitude = mantissa << usize::try_from(exponent).ok()?;
    Some(if float < 0.0 { -magnitude } else { magnitude })
}

impl Hash for Val {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Val::Str(text) | Val::Markup(text) => (**text).hash(state),
            Val::Bool(truth) => state.write_i64(i64::from(*truth)),
            Val::Int(number) => state.write_i64(*number),
            Val::Big(number) => number.hash(state),
            Val::Float(number) => match big_from_float(*number).filter(|_| number.fract() == 0.0) {
                Some(whole) => match i64::try_from(&whole) {
                    Ok(small) => state.write_i64(small),
                    Err(_) => whole.hash(state),
                },
                None => state.write_u64(number.to_bits()),
            },
            Val::Bytes(bytes) => bytes.hash(state),
            Val::Tuple(items) => {
                state.write_usize(items.0.len());
                for item in &items.0 {
                    match item {
                        Val::Tuple(inner) => hash_inner(inner, HASHED.1, state),
                        item => item.hash(state),
                    }
                }
            }
            _ => state.write_u8(0),
        }
    }
}

/// Only a few elements and a few levels, so that tuples of tuples of tuples cost little.
fn hash_inner<H: Hasher>(tuple: &super::TupleCell, levels: usize, state: &mut H) {
    state.write_usize(tuple.0.len());
    for item in tuple.0.iter().take(HASHED.0) {
        match item {
            Val::Tuple(_) if levels == 0 => {}
            Val::Tuple(inner) => hash_inner(inner, levels - 1, state),
            item => item.hash(state),
        }
    }
}

impl Equivalent<Val> for str {
    fn equivalent(&self, key: &Val) -> bool {
        key.as_str() == Some(self)
    }
}

impl Val {
    /// An error for what cannot be a key.
    pub fn hashable(&self) -> Res<()> {
        self.defined()?;
        match self {
            Val::List(_) | Val::Dict(_) | Val::Set(_) => {
                Err(Failure::type_error(format!("unhashable type: '{}'", self.type_name())))
            }
            Val::Tuple(items) => {
                items.0.iter().filter(|item| !matches!(item, Val::Tuple(_))).try_for_each(Val::hashable)
            }
            _ => Ok(()),
        }
    }

    /// Python's `<` and its like. `sign` is the operator that an error names.
    pub fn order(&self, other: &Val, sign: &str) -> Res<Option<Ordering>> {
        order(self, other, sign, 0)
    }
}

fn order(a: &Val, b: &Val, sign: &str, depth: usize) -> Res<Option<Ordering>> {
    effort::add(1);
    a.defined()?;
    b.defined()?;
    if depth > DEPTH_LIMIT {
        return Err(Failure::python("RecursionError", "maximum recursion depth exceeded in comparison"));
    }
    match (a, b) {
        (Val::Str(a) | Val::Markup(a), Val::Str(b) | Val::Markup(b)) => return Ok(Some(a.cmp(b))),
        (Val::Bytes(a), Val::Bytes(b)) => return Ok(Some(a.cmp(b))),
        (Val::List(a), Val::List(b)) => return sequence_order(&a.0.borrow(), &b.0.borrow(), sign, depth),
        (Val::Tuple(a), Val::Tuple(b)) => return sequence_order(&a.0, &b.0, sign, depth),
        (Val::Set(a), Val::Set(b)) => return Ok(set_order(&a.0.borrow(), &b.0.borrow())),
        _ => {}
    }
    let number = |value: &Val| matches!(value, Val::Float(_)) || value.as_big().is_some();
    if number(a) && number(b) {
        return Ok(numeric_order(a, b));
    }
    let (a, b) = (a.type_name(), b.type_name());
    Err(Failure::type_error(format!("'{sign}' not supported between instances of '{a}' and '{b}'")))
}

fn sequence_order(a: &[Val], b: &[Val], sign: &str, depth: usize) -> Res<Option<Ordering>> {
    for (a, b) in a.iter().zip(b) {
        if a != b {
            return order(a, b, sign, depth + 1);
        }
    }
    Ok(Some(a.len().cmp(&b.len())))
}

/// Subsets are less.
fn set_order(a: &Dict, b: &Dict) -> Option<Ordering> {
    let within = |a: &Dict, b: &Dict| a.keys().all(|key| b.contains_key(key));
    match (within(a, b), within(b, a)) {
        (true, true) => Some(Ordering::Equal),
        (true, false) => Some(Ordering::Less),
        (false, true) => Some(Ordering::Greater),
        (false, false) => None,
    }
}
