//! The methods of Python's values.

mod dict;
mod list;
mod number;
mod text;

use super::error::{Failure, Res};
use super::eval::{Args, Interp};
use super::value::{Val, View};

/// Whether a value has such a method.
pub fn has(owner: &Val, name: &str) -> bool {
    let names: &[&str] = match owner {
        Val::Str(_) | Val::Markup(_) => text::NAMES,
        Val::Bytes(_) => &["decode", "hex", "startswith", "endswith"],
        Val::List(_) => list::NAMES,
        Val::Tuple(_) | Val::Range(_) => &["count", "index"],
        Val::Dict(_) => dict::NAMES,
        Val::Set(_) => dict::SET_NAMES,
        Val::View(View::Keys | View::Items, _) => &["isdisjoint"],
        Val::Int(_) | Val::Big(_) | Val::Bool(_) => number::INT_NAMES,
        Val::Float(_) => number::FLOAT_NAMES,
        _ => return false,
    };
    names.contains(&name)
}

/// An attribute that is no method: a number's parts.
pub fn plain_attribute(owner: &Val, name: &str) -> Option<Val> {
    match (owner, name) {
        (Val::Int(_) | Val::Big(_), "real" | "numerator") | (Val::Float(_), "real") => Some(owner.clone()),
        (Val::Bool(truth), "real" | "numerator") => Some(Val::Int(i64::from(*truth))),
        (Val::Int(_) | Val::Big(_) | Val::Bool(_), "imag") => Some(Val::Int(0)),
        (Val::Float(_), "imag") => Some(Val::Float(0.0)),
        (Val::Int(_) | Val::Big(_) | Val::Bool(_), "denominator") => Some(Val::Int(1)),
        (Val::Range(range), "start") => Some(Val::Int(range.start)),
        (Val::Range(range), "stop") => Some(Val::Int(range.stop)),
        (Val::Range(range), "step") => Some(Val::Int(range.step)),
        _ => None,
    }
}

pub fn call(interp: &mut Interp, owner: &Val, name: &str, args: Args) -> Res<Val> {
    match owner {
        Val::Str(text) => self::text::call(interp, text, name, args, self::text::Kind::Plain),
        Val::Markup(text) => self::text::call(interp, text, name, args, self::text::Kind::Markup),
        Val::Bytes(bytes) => self::text::bytes(bytes, name, args),
        Val::List(cell) => list::call(interp, cell, name, args),
        Val::Tuple(cell) => list::search(interp, &cell.0, "tuple", name, args),
        Val::Range(range) => {
            let items: Vec<Val> = range.values().collect();
            list::search(interp, &items, "range", name, args)
        }
        Val::Dict(cell) => dict::call(interp, cell, name, args),
        Val::Set(cell) | Val::View(_, cell) => dict::set_call(interp, cell, name, args),
        Val::Int(_) | Val::Big(_) | Val::Bool(_) => number::int(owner, name, args),
        Val::Float(number) => number::float(*number, name, args),
        other => Err(Failure::type_error(format!("'{}' object is not callable", other.type_name()))),
    }
}
