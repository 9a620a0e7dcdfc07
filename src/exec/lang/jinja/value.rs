//! The values of a running template: Python's, with lists and dicts shared by reference.

mod compare;
mod convert;
mod dismantle;
pub mod effort;
mod repr;

use super::error::{Failure, Res};
use super::eval::{Args, ELEMENT, Interp};
use indexmap::IndexMap;
use num_bigint::BigInt;
use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

pub use compare::big_from_float as whole_of;
pub use dismantle::{DictCell, ListCell, TupleCell};
pub use repr::yaml_quoted;

pub type Dict = IndexMap<Val, Val>;

#[derive(Clone)]
pub enum Val {
    Undefined(Rc<Undefined>),
    None,
    Bool(bool),
    Int(i64),
    /// Never one that fits 64 bits (see [`Val::big`]).
    Big(Rc<BigInt>),
    Float(f64),
    Str(Rc<str>),
    /// Text that is not escaped again.
    Markup(Rc<str>),
    Bytes(Rc<[u8]>),
    List(Rc<ListCell>),
    Tuple(Rc<TupleCell>),
    Dict(Rc<DictCell>),
    /// The keys of a dict whose values do not count.
    Set(Rc<DictCell>),
    View(View, Rc<DictCell>),
    Range(Rc<Range>),
    Iter(Rc<Iter>),
    Object(Rc<dyn Object>),
}

/// A name or attribute that is not there.
pub struct Undefined {
    /// What an error says about it.
    pub message: String,
    /// Prints as nothing and is false, instead of being an error.
    pub lenient: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum View {
    Keys,
    Values,
    Items,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Range {
    pub start: i64,
    pub step: i64,
    pub length: usize,
    pub stop: i64,
}

/// What a filter such as `map` gives: it can be gone through once.
pub struct Iter {
    pub name: &'static str,
    pub items: RefCell<VecDeque<Val>>,
}

/// A value with behaviour of its own: functions, macros, namespaces, `loop`, imported templates.
pub trait Object: Any {
    /// What Python calls the type.
    fn kind(&self) -> &str;

    fn repr(&self) -> String {
        format!("<{} object>", self.kind())
    }

    fn attribute(&self, _interp: &mut Interp, _name: &str) -> Res<Option<Val>> {
        Ok(None)
    }

    fn item(&self, _interp: &mut Interp, _key: &Val) -> Res<Option<Val>> {
        Ok(None)
    }

    fn callable(&self) -> bool {
        false
    }

    fn call(&self, _interp: &mut Interp, _args: Args) -> Res<Val> {
        Err(Failure::type_error(format!("'{}' object is not callable", self.kind())))
    }

    fn iterate(&self, _interp: &mut Interp) -> Option<Vec<Val>> {
        None
    }

    fn length(&self) -> Option<usize> {
        None
    }

    fn contains(&self, _interp: &mut Interp, _item: &Val) -> Option<bool> {
        None
    }

    /// How it prints, where that differs from its repr.
    fn text(&self) -> String {
        self.repr()
    }
}

impl Val {
    pub fn big(big: BigInt) -> Val {
        match i64::try_from(&big) {
            Ok(small) => Val::Int(small),
            Err(_) => Val::Big(Rc::new(big)),
        }
    }

    pub fn str(text: impl Into<Rc<str>>) -> Val {
        Val::Str(text.into())
    }

    pub fn list(items: Vec<Val>) -> Val {
        Val::List(Rc::new(ListCell(RefCell::new(items))))
    }

    pub fn tuple(items: Vec<Val>) -> Val {
        Val::Tuple(Rc::new(TupleCell(items)))
    }

    pub fn dict(dict: Dict) -> Val {
        Val::Dict(Rc::new(DictCell(RefCell::new(dict))))
    }

    pub fn set(items: impl IntoIterator<Item = Val>) -> Val {
        let dict: Dict = items.into_iter().map(|item| (item, Val::None)).collect();
        Val::Set(Rc::new(DictCell(RefCell::new(dict))))
    }

    pub fn iter(name: &'static str, items: Vec<Val>) -> Val {
        Val::Iter(Rc::new(Iter { name, items: RefCell::new(items.into()) }))
    }

    pub fn object(object: impl Object) -> Val {
        Val::Object(Rc::new(object))
    }

    pub fn undefined(message: impl Into<String>) -> Val {
        Val::Undefined(Rc::new(Undefined { message: message.into(), lenient: false }))
    }

    pub fn is_undefined(&self) -> bool {
        matches!(self, Val::Undefined(_))
    }

    pub fn is_none(&self) -> bool {
        matches!(self, Val::None)
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Val::Str(text) | Val::Markup(text) => Some(text),
            _ => None,
        }
    }

    /// The index that a value is: a whole number or a truth.
    pub fn as_index(&self) -> Option<i64> {
        match self {
            Val::Int(number) => Some(*number),
            Val::Bool(truth) => Some(i64::from(*truth)),
            _ => None,
        }
    }

    pub fn as_big(&self) -> Option<BigInt> {
        match self {
            Val::Big(number) => Some((**number).clone()),
            other => other.as_index().map(BigInt::from),
        }
    }

    pub fn as_float(&self) -> Option<f64> {
        match self {
            Val::Float(number) => Some(*number),
            Val::Big(number) => number.to_string().parse().ok(),
            other => other.as_index().map(|number| number as f64),
        }
    }

    pub fn downcast<T: Object>(&self) -> Option<&T> {
        match self {
            Val::Object(object) => (&**object as &dyn Any).downcast_ref(),
            _ => None,
        }
    }

    /// What Python calls the type.
    pub fn type_name(&self) -> &str {
        match self {
            Val::Undefined(_) => "StrictUndefined",
            Val::None => "NoneType",
            Val::Bool(_) => "bool",
            Val::Int(_) | Val::Big(_) => "int",
            Val::Float(_) => "float",
            Val::Str(_) => "str",
            Val::Markup(_) => "Markup",
            Val::Bytes(_) => "bytes",
            Val::List(_) => "list",
            Val::Tuple(_) => "tuple",
            Val::Dict(_) => "dict",
            Val::Set(_) => "set",
            Val::View(View::Keys, _) => "dict_keys",
            Val::View(View::Values, _) => "dict_values",
            Val::View(View::Items, _) => "dict_items",
            Val::Range(_) => "range",
            Val::Iter(_) => "generator",
            Val::Object(object) => object.kind(),
        }
    }

    /// How jinja2 names the object in the message of an attribute that is not there.
    pub fn object_name(&self) -> String {
        match self {
            Val::None => "None".to_owned(),
            Val::Markup(_) => "markupsafe.Markup object".to_owned(),
            other => format!("{} object", other.type_name()),
        }
    }

    /// An error for one that is undefined.
    pub fn defined(&self) -> Res<()> {
        match self {
            Val::Undefined(undefined) if !undefined.lenient => Err(undefined.failure()),
            _ => Ok(()),
        }
    }

    pub fn truth(&self) -> Res<bool> {
        Ok(match self {
            Val::Undefined(_) => {
                self.defined()?;
                false
            }
            Val::None => false,
            Val::Bool(truth) => *truth,
            Val::Int(number) => *number != 0,
            Val::Big(_) => true,
            Val::Float(number) => *number != 0.0,
            Val::Str(text) | Val::Markup(text) => !text.is_empty(),
            Val::Bytes(bytes) => !bytes.is_empty(),
            Val::List(items) => !items.0.borrow().is_empty(),
            Val::Tuple(items) => !items.0.is_empty(),
            Val::Dict(dict) | Val::Set(dict) | Val::View(_, dict) => !dict.0.borrow().is_empty(),
            Val::Range(range) => range.length > 0,
            Val::Iter(_) => true,
            Val::Object(object) => object.length() != Some(0),
        })
    }

    /// Python's `len()`.
    pub fn length(&self) -> Res<usize> {
        self.defined()?;
        Ok(match self {
            Val::Undefined(_) => 0,
            Val::Str(text) | Val::Markup(text) => text.chars().count(),
            Val::Bytes(bytes) => bytes.len(),
            Val::List(items) => items.0.borrow().len(),
            Val::Tuple(items) => items.0.len(),
            Val::Dict(dict) | Val::Set(dict) | Val::View(_, dict) => dict.0.borrow().len(),
            Val::Range(range) => range.length,
            Val::Object(object) if object.length().is_some() => object.length().unwrap_or(0),
            _ => return Err(Failure::type_error(format!("object of type '{}' has no len()", self.type_name()))),
        })
    }

    /// All that a loop over the value goes through.
    pub fn items(&self, interp: &mut Interp) -> Res<Vec<Val>> {
        self.defined()?;
        let items = match self {
            Val::Undefined(_) => Vec::new(),
            Val::Str(text) | Val::Markup(text) => text.chars().map(char_val).collect(),
            Val::Bytes(bytes) => bytes.iter().map(|&byte| Val::Int(byte.into())).collect(),
            Val::List(items) => items.0.borrow().clone(),
            Val::Tuple(items) => items.0.clone(),
            Val::Dict(dict) | Val::Set(dict) | Val::View(View::Keys, dict) => dict.0.borrow().keys().cloned().collect(),
            Val::View(View::Values, dict) => dict.0.borrow().values().cloned().collect(),
            Val::View(View::Items, dict) => pairs(&dict.0.borrow()),
            Val::Range(range) => range.values().collect(),
            Val::Iter(iter) => iter.items.borrow_mut().drain(..).collect(),
            Val::Object(object) => object.iterate(interp).ok_or_else(|| self.not_iterable())?,
            _ => return Err(self.not_iterable()),
        };
        interp.spend(items.len().saturating_mul(ELEMENT))?;
        Ok(items)
    }

    pub fn is_iterable(&self) -> bool {
        !matches!(self, Val::Undefined(_) | Val::None | Val::Bool(_) | Val::Int(_) | Val::Big(_) | Val::Float(_))
    }

    fn not_iterable(&self) -> Box<Failure> {
        Failure::type_error(format!("'{}' object is not iterable", self.type_name()))
    }
}

impl Undefined {
    pub fn failure(&self) -> Box<Failure> {
        Failure::new(super::error::Kind::Undefined, self.message.clone())
    }
}

impl Range {
    pub fn new(start: i64, stop: i64, step: i64) -> Range {
        let length = match step > 0 {
            true => (i128::from(stop) - i128::from(start) + i128::from(step) - 1) / i128::from(step.max(1)),
            false => (i128::from(start) - i128::from(stop) - i128::from(step) - 1) / -i128::from(step.min(-1)),
        };
        Range { start, step, length: usize::try_from(length.max(0)).unwrap_or(usize::MAX), stop }
    }

    pub fn at(&self, index: usize) -> Val {
        Val::Int(self.start.wrapping_add(self.step.wrapping_mul(index as i64)))
    }

    pub fn has(&self, number: i64) -> bool {
        let distance = i128::from(number) - i128::from(self.start);
        let step = i128::from(self.step);
        step != 0 && distance % step == 0 && (0..self.length as i128).contains(&(distance / step))
    }

    pub fn values(&self) -> impl Iterator<Item = Val> {
        (0..self.length).map(|index| self.at(index))
    }
}

pub fn pairs(dict: &Dict) -> Vec<Val> {
    dict.iter().map(|(key, value)| Val::tuple(vec![key.clone(), value.clone()])).collect()
}

pub fn char_val(c: char) -> Val {
    let mut buffer = [0; 4];
    Val::Str((&*c.encode_utf8(&mut buffer)).into())
}

impl std::fmt::Debug for Val {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.repr())
    }
}

impl From<bool> for Val {
    fn from(truth: bool) -> Val {
        Val::Bool(truth)
    }
}

impl From<usize> for Val {
    fn from(number: usize) -> Val {
        Val::big(number.into())
    }
}

impl From<i64> for Val {
    fn from(number: i64) -> Val {
        Val::Int(number)
    }
}

impl From<&str> for Val {
    fn from(text: &str) -> Val {
        Val::Str(text.into())
    }
}

impl From<String> for Val {
    fn from(text: String) -> Val {
        Val::Str(text.into())
    }
}
