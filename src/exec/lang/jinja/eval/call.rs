//! Arguments: how they are given and how a function takes them.

use super::super::ast::Name;
use super::super::error::{Failure, Res};
use super::super::value::Val;
use halite_value::str_repr;

/// What a call gives.
#[derive(Clone, Default)]
pub struct Args {
    pub positional: Vec<Val>,
    pub named: Vec<(Name, Val)>,
}

impl Args {
    pub fn of(positional: Vec<Val>) -> Args {
        Args { positional, named: Vec::new() }
    }
}

/// What a filter, test, method or function of ours takes.
pub struct Signature {
    /// Python's name of the function, for messages.
    pub name: &'static str,
    pub params: &'static [&'static str],
    /// How many of them must be given.
    pub required: usize,
    pub rest: Rest,
}

/// Whether a function takes more than its parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    No,
    Positional,
    Named,
    Both,
}

impl Signature {
    pub const fn new(name: &'static str, params: &'static [&'static str], required: usize) -> Signature {
        Signature { name, params, required, rest: Rest::No }
    }

    pub const fn with(name: &'static str, params: &'static [&'static str], required: usize, rest: Rest) -> Signature {
        Signature { name, params, required, rest }
    }

    pub fn bind(&self, args: Args) -> Res<Bound> {
        let name = self.name;
        let Args { mut positional, named } = args;
        let extra = match positional.len() > self.params.len() {
            true => positional.split_off(self.params.len()),
            false => Vec::new(),
        };
        if !extra.is_empty() && !matches!(self.rest, Rest::Positional | Rest::Both) {
            let takes = self.params.len();
            let given = takes + extra.len();
            let plural = if takes == 1 { "" } else { "s" };
            return Err(Failure::type_error(format!(
                "{name}() takes {takes} positional argument{plural} but {given} were given"
            )));
        }
        let mut values: Vec<Option<Val>> = positional.into_iter().map(Some).collect();
        values.resize(self.params.len(), None);
        let mut rest = Vec::new();
        for (key, value) in named {
            match self.params.iter().position(|param| **param == *key) {
                Some(at) if values[at].is_some() => {
                    let key = str_repr(&key);
                    return Err(Failure::type_error(format!("{name}() got multiple values for argument {key}")));
                }
                Some(at) => values[at] = Some(value),
                None if matches!(self.rest, Rest::Named | Rest::Both) => rest.push((key, value)),
                None => {
                    let key = str_repr(&key);
                    return Err(Failure::type_error(format!("{name}() got an unexpected keyword argument {key}")));
                }
            }
        }
        let missing: Vec<String> =
            (0..self.required).filter(|&at| values[at].is_none()).map(|at| str_repr(self.params[at])).collect();
        if !missing.is_empty() {
            let plural = if missing.len() == 1 { "" } else { "s" };
            let count = missing.len();
            let missing = missing.join(" and ");
            return Err(Failure::type_error(format!(
                "{name}() missing {count} required positional argument{plural}: {missing}"
            )));
        }
        Ok(Bound { values, extra, named: rest })
    }
}

/// What a function took: a place for each parameter, and the rest.
#[derive(Clone, Default)]
pub struct Bound {
    values: Vec<Option<Val>>,
    pub extra: Vec<Val>,
    pub named: Vec<(Name, Val)>,
}

impl Bound {
    pub fn given(&self, at: usize) -> Option<&Val> {
        self.values.get(at)?.as_ref()
    }

    /// The argument, else None.
    pub fn val(&self, at: usize) -> Val {
        self.given(at).cloned().unwrap_or(Val::None)
    }

    pub fn truth(&self, at: usize, default: bool) -> Res<bool> {
        self.given(at).map_or(Ok(default), Val::truth)
    }

    /// Text, or nothing where nothing or None is given.
    pub fn text(&self, at: usize) -> Res<Option<&str>> {
        match self.given(at) {
            None | Some(Val::None) => Ok(None),
            Some(value) => {
                value.defined()?;
                value
                    .as_str()
                    .map(Some)
                    .ok_or_else(|| Failure::type_error(format!("argument must be str, not {}", value.type_name())))
            }
        }
    }

    pub fn text_or<'b>(&'b self, at: usize, default: &'b str) -> Res<&'b str> {
        Ok(self.text(at)?.unwrap_or(default))
    }

    /// A whole number, or nothing where nothing or None is given.
    pub fn int(&self, at: usize) -> Res<Option<i64>> {
        match self.given(at) {
            None | Some(Val::None) => Ok(None),
            Some(value) => {
                value.defined()?;
                value.as_index().map(Some).ok_or_else(|| {
                    let kind = value.type_name();
                    Failure::type_error(format!("'{kind}' object cannot be interpreted as an integer"))
                })
            }
        }
    }
}
