//! Filters: what stands behind a bar. One file a family; each has a table of its own, listed here.

mod choice;
mod convert;
mod data;
mod digest;
mod hosts;
mod markup;
mod number;
mod pattern;
mod query;
mod sequence;
mod sets;
pub mod sorting;
mod text;
mod time;

use super::error::{Failure, Res};
use super::eval::{Bound, Interp, Rest, Signature};
use super::objects::Machine;
use super::options::Dialect;
use super::value::Val;

pub struct Filter {
    pub name: &'static str,
    /// Its parameters behind the operand.
    pub signature: Signature,
    pub run: fn(&mut Interp, Val, Bound) -> Res<Val>,
}

type Run = fn(&mut Interp, Val, Bound) -> Res<Val>;

const fn filter(name: &'static str, params: &'static [&'static str], required: usize, run: Run) -> Filter {
    Filter { name, signature: Signature::new(name, params, required), run }
}

/// One that takes more than its parameters.
const fn open(name: &'static str, params: &'static [&'static str], required: usize, rest: Rest, run: Run) -> Filter {
    Filter { name, signature: Signature::with(name, params, required, rest), run }
}

const PLAIN: [&[Filter]; 7] = [
    text::FILTERS,
    markup::FILTERS,
    sequence::FILTERS,
    choice::FILTERS,
    sorting::FILTERS,
    number::FILTERS,
    convert::FILTERS,
];

/// Where a name is jinja2's too, Salt's comes first.
const SALT: [&[Filter]; 9] = [
    convert::SALT,
    sets::SALT,
    pattern::SALT,
    data::SALT,
    query::SALT,
    digest::SALT,
    hosts::SALT,
    time::SALT,
    text::SALT,
];

/// The machine that a filter looks at; an error where the rendering has none.
fn machine<'e>(interp: &Interp<'e>) -> Res<&'e dyn Machine> {
    let none = || Failure::runtime("this filter looks at the machine, which cannot be done here");
    interp.env.functions.machine().ok_or_else(none)
}

pub fn find(name: &str, dialect: Dialect) -> Option<&'static Filter> {
    let salt = || SALT.into_iter().flatten().find(|filter| filter.name == name);
    let plain = || PLAIN.into_iter().flatten().find(|filter| filter.name == name);
    match dialect {
        Dialect::Salt => salt().or_else(plain),
        Dialect::Plain => plain(),
    }
}
