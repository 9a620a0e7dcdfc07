//! Tests: what stands behind `is`.

use super::ast::Comparison;
use super::error::{Failure, Res};
use super::eval::{Bound, Interp, Signature, compare, contains};
use super::options::Dialect;
use super::value::Val;
use super::{filters, objects};
use crate::regex::{Flags, Regex};

pub struct Test {
    pub name: &'static str,
    pub signature: Signature,
    pub run: fn(&mut Interp, &Val, &Bound) -> Res<bool>,
}

type Run = fn(&mut Interp, &Val, &Bound) -> Res<bool>;

const fn test(name: &'static str, params: &'static [&'static str], run: Run) -> Test {
    Test { name, signature: Signature::new(name, params, params.len()), run }
}

const PLAIN: &[Test] = &[
    test("defined", &[], |_, value, _| Ok(!value.is_undefined())),
    test("undefined", &[], |_, value, _| Ok(value.is_undefined())),
    test("none", &[], |_, value, _| Ok(value.is_none())),
    test("boolean", &[], |_, value, _| Ok(matches!(value, Val::Bool(_)))),
    test("true", &[], |_, value, _| Ok(matches!(value, Val::Bool(true)))),
    test("false", &[], |_, value, _| Ok(matches!(value, Val::Bool(false)))),
    test("integer", &[], |_, value, _| Ok(matches!(value, Val::Int(_) | Val::Big(_)))),
    test("float", &[], |_, value, _| Ok(matches!(value, Val::Float(_)))),
    test("number", &[], |_, value, _| Ok(matches!(value, Val::Int(_) | Val::Big(_) | Val::Float(_) | Val::Bool(_)))),
    test("string", &[], |_, value, _| Ok(value.as_str().is_some())),
    test("mapping", &[], |_, value, _| Ok(matches!(value, Val::Dict(_)))),
    test("sequence", &[], sequence),
    test("iterable", &[], iterable),
    test("callable", &[], |_, value, _| {
        Ok(matches!(value, Val::Object(object) if object.callable()) || value.is_undefined())
    }),
    test("sameas", &["other"], |_, value, bound| Ok(same(value, &bound.val(0)))),
    test("escaped", &[], |_, value, _| Ok(matches!(value, Val::Markup(_)))),
    test("lower", &[], |_, value, _| letters(value, char::is_lowercase, char::is_uppercase)),
    test("upper", &[], |_, value, _| letters(value, char::is_uppercase, char::is_lowercase)),
    test("odd", &[], |interp, value, _| Ok(remainder(interp, value, &Val::Int(2))? == Val::Int(1))),
    test("even", &[], |interp, value, _| Ok(remainder(interp, value, &Val::Int(2))? == Val::Int(0))),
    test("divisibleby", &["num"], |interp, value, bound| Ok(remainder(interp, value, &bound.val(0))? == Val::Int(0))),
    test("in", &["seq"], |interp, value, bound| contains(interp, &bound.val(0), value)),
    test("filter", &[], |interp, value, _| Ok(filters::find(&value.text(), interp.env.options.dialect).is_some())),
    test("test", &[], |interp, value, _| Ok(find(&value.text(), interp.env.options.dialect).is_some())),
    test("eq", &["other"], |_, value, bound| compare(Comparison::Eq, value, &bound.val(0))),
    test("==", &["other"], |_, value, bound| compare(Comparison::Eq, value, &bound.val(0))),
    test("equalto", &["other"], |_, value, bound| compare(Comparison::Eq, value, &bound.val(0))),
    test("ne", &["other"], |_, value, bound| compare(Comparison::Ne, value, &bound.val(0))),
    test("!=", &["other"], |_, value, bound| compare(Comparison::Ne, value, &bound.val(0))),
    test("lt", &["other"], |_, value, bound| compare(Comparison::Lt, value, &bound.val(0))),
    test("<", &["other"], |_, value, bound| compare(Comparison::Lt, value, &bound.val(0))),
    test("lessthan", &["other"], |_, value, bound| compare(Comparison::Lt, value, &bound.val(0))),
    test("le", &["other"], |_, value, bound| compare(Comparison::Le, value, &bound.val(0))),
    test("<=", &["other"], |_, value, bound| compare(Comparison::Le, value, &bound.val(0))),
    test("gt", &["other"], |_, value, bound| compare(Comparison::Gt, value, &bound.val(0))),
    test(">", &["other"], |_, value, bound| compare(Comparison::Gt, value, &bound.val(0))),
    test("greaterthan", &["other"], |_, value, bound| compare(Comparison::Gt, value, &bound.val(0))),
    test("ge", &["other"], |_, value, bound| compare(Comparison::Ge, value, &bound.val(0))),
    test(">=", &["other"], |_, value, bound| compare(Comparison::Ge, value, &bound.val(0))),
];

const SALT: &[Test] = &[
    test("list", &[], |_, value, _| Ok(matches!(value, Val::List(_)))),
    Test {
        name: "match",
        signature: Signature::new("test_match", &["rgx", "ignorecase", "multiline"], 1),
        run: matches_pattern,
    },
];

pub fn find(name: &str, dialect: Dialect) -> Option<&'static Test> {
    let salt = || SALT.iter().find(|test| test.name == name && dialect == Dialect::Salt);
    PLAIN.iter().find(|test| test.name == name).or_else(salt)
}

fn sequence(_: &mut Interp, value: &Val, _: &Bound) -> Res<bool> {
    value.defined()?;
    Ok(match value {
        Val::Str(_) | Val::Markup(_) | Val::Bytes(_) | Val::List(_) | Val::Tuple(_) | Val::Dict(_) | Val::Range(_) => {
            true
        }
        Val::Object(object) => object.length().is_some() && value.downcast::<objects::LoopObject>().is_none(),
        _ => false,
    })
}

fn iterable(interp: &mut Interp, value: &Val, _: &Bound) -> Res<bool> {
    value.defined()?;
    Ok(match value {
        Val::Object(object) => {
            let object = object.clone();
            object.iterate(interp).is_some()
        }
        other => other.is_iterable(),
    })
}

/// Python's `is`: the same object, or a value of which there is only one.
fn same(a: &Val, b: &Val) -> bool {
    match (a, b) {
        (Val::List(a), Val::List(b)) => std::rc::Rc::ptr_eq(a, b),
        (Val::Dict(a), Val::Dict(b)) => std::rc::Rc::ptr_eq(a, b),
        (Val::Tuple(a), Val::Tuple(b)) => std::rc::Rc::ptr_eq(a, b) || a.0.is_empty() && b.0.is_empty(),
        (a, b) => a.type_name() == b.type_name() && a == b,
    }
}

fn letters(value: &Val, wanted: fn(char) -> bool, unwanted: fn(char) -> bool) -> Res<bool> {
    value.defined()?;
    let text = value.text();
    Ok(text.chars().any(wanted) && !text.chars().any(unwanted))
}

fn remainder(interp: &mut Interp, value: &Val, divisor: &Val) -> Res<Val> {
    super::eval::arithmetic(interp, super::ast::Operator::Mod, value, divisor)
}

fn matches_pattern(_: &mut Interp, value: &Val, bound: &Bound) -> Res<bool> {
    value.defined()?;
    let flags = Flags { ignore_case: bound.truth(1, false)?, multi_line: bound.truth(2, false)?, ..Flags::default() };
    let Some(text) = value.as_str() else {
        return Err(Failure::type_error(format!("expected string or bytes-like object, got '{}'", value.type_name())));
    };
    let pattern = bound.val(0).text();
    let regex = Regex::with_flags(&pattern, flags).map_err(|error| Failure::python("error", error.to_string()))?;
    let found = regex.match_start(text).map_err(|error| Failure::limit(error.to_string()))?;
    Ok(found.is_some())
}
