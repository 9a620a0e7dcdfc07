//! Python's operators.

use super::super::ast::{Comparison, Operator};
use super::super::error::{Failure, Res};
use super::super::format;
use super::super::value::{Val, View};
use super::{ELEMENT, Interp};
use num_bigint::BigInt;
use std::cmp::Ordering;

/// Bits that a whole number may have.
const BITS_LIMIT: u64 = 1 << 20;

pub fn arithmetic(interp: &mut Interp, operator: Operator, left: &Val, right: &Val) -> Res<Val> {
    left.defined()?;
    right.defined()?;
    let value = match operator {
        Operator::Add => add(left, right),
        Operator::Sub => subtract(left, right),
        Operator::Mul => multiply(interp, left, right)?,
        Operator::Div => divide(left, right)?,
        Operator::FloorDiv => floor_divide(left, right)?,
        Operator::Mod => match left {
            Val::Str(template) | Val::Markup(template) => {
                let safe = matches!(left, Val::Markup(_));
                Some(format::percent(interp, template, right, safe)?)
            }
            _ => modulo(left, right)?,
        },
        Operator::Pow => power(left, right)?,
    };
    let value = value.ok_or_else(|| unsupported(sign(operator), left, right))?;
    match &value {
        Val::Str(text) => interp.spend(text.len())?,
        Val::List(_) | Val::Tuple(_) => interp.spend(value.length()?.saturating_mul(ELEMENT))?,
        Val::Big(number) => interp.spend(usize::try_from(number.bits() / 8).unwrap_or(usize::MAX))?,
        _ => {}
    }
    Ok(value)
}

fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "+",
        Operator::Sub => "-",
        Operator::Mul => "*",
        Operator::Div => "/",
        Operator::FloorDiv => "//",
        Operator::Mod => "%",
        Operator::Pow => "** or pow()",
    }
}

fn unsupported(sign: &str, left: &Val, right: &Val) -> Box<Failure> {
    let (a, b) = (left.type_name(), right.type_name());
    if sign == "+" {
        match left {
            Val::Str(_) => {
                return Failure::type_error(format!("can only concatenate str (not \"{b}\") to str"));
            }
            Val::List(_) => {
                return Failure::type_error(format!("can only concatenate list (not \"{b}\") to list"));
            }
            Val::Tuple(_) => {
                return Failure::type_error(format!("can only concatenate tuple (not \"{b}\") to tuple"));
            }
            _ => {}
        }
    }
    let sequence = |value: &Val| matches!(value, Val::Str(_) | Val::List(_) | Val::Tuple(_));
    if sign == "*" && (sequence(left) || sequence(right)) {
        let other = if sequence(left) { b } else { a };
        return Failure::type_error(format!("can't multiply sequence by non-int of type '{other}'"));
    }
    Failure::type_error(format!("unsupported operand type(s) for {sign}: '{a}' and '{b}'"))
}

/// Both as floats, where one of them is one.
fn floats(left: &Val, right: &Val) -> Option<(f64, f64)> {
    match (left, right) {
        (Val::Float(_), _) | (_, Val::Float(_)) => Some((left.as_float()?, right.as_float()?)),
        _ => None,
    }
}

fn whole(
    left: &Val,
    right: &Val,
    small: impl Fn(i64, i64) -> Option<i64>,
    big: impl Fn(BigInt, BigInt) -> BigInt,
) -> Option<Val> {
    if let (Some(a), Some(b)) = (left.as_index(), right.as_index())
        && let Some(result) = small(a, b)
    {
        return Some(Val::Int(result));
    }
    Some(Val::big(big(left.as_big()?, right.as_big()?)))
}

fn add(left: &Val, right: &Val) -> Option<Val> {
    match (left, right) {
        (Val::Str(a), Val::Str(b)) => Some(Val::from(format!("{a}{b}"))),
        (Val::Markup(a), Val::Markup(b)) => Some(Val::Markup(format!("{a}{b}").into())),
        (Val::Markup(a), Val::Str(b)) => Some(Val::Markup(format!("{a}{}", escape(b)).into())),
        (Val::Str(a), Val::Markup(b)) => Some(Val::Markup(format!("{}{b}", escape(a)).into())),
        (Val::Bytes(a), Val::Bytes(b)) => Some(Val::Bytes([&**a, &**b].concat().into())),
        (Val::List(a), Val::List(b)) => Some(Val::list([&a.0.borrow()[..], &b.0.borrow()[..]].concat())),
        (Val::Tuple(a), Val::Tuple(b)) => Some(Val::tuple([&a.0[..], &b.0[..]].concat())),
        _ => match floats(left, right) {
            Some((a, b)) => Some(Val::Float(a + b)),
            None => whole(left, right, i64::checked_add, |a, b| a + b),
        },
    }
}

fn subtract(left: &Val, right: &Val) -> Option<Val> {
    if let (Some(a), Some(b)) = (keys(left), keys(right)) {
        let other = b.0.borrow();
        let left: Vec<Val> = a.0.borrow().keys().filter(|key| !other.contains_key(*key)).cloned().collect();
        return Some(Val::set(left));
    }
    match floats(left, right) {
        Some((a, b)) => Some(Val::Float(a - b)),
        None => whole(left, right, i64::checked_sub, |a, b| a - b),
    }
}

fn keys(value: &Val) -> Option<&std::rc::Rc<super::super::value::DictCell>> {
    match value {
        Val::Set(dict) | Val::View(View::Keys, dict) => Some(dict),
        _ => None,
    }
}

fn multiply(interp: &mut Interp, left: &Val, right: &Val) -> Res<Option<Val>> {
    for (sequence, times) in [(left, right), (right, left)] {
        let Some(times) = times.as_index() else { continue };
        if matches!(sequence, Val::Str(_) | Val::Markup(_) | Val::Bytes(_) | Val::List(_) | Val::Tuple(_)) {
            return repeat(interp, sequence, times).map(Some);
        }
    }
    if let Some((a, b)) = floats(left, right) {
        return Ok(Some(Val::Float(a * b)));
    }
    let bits = |value: &Val| value.as_big().map_or(0, |big| big.bits());
    if matches!((left, right), (Val::Big(_), _) | (_, Val::Big(_))) && bits(left) + bits(right) > BITS_LIMIT {
        return Err(too_large());
    }
    Ok(whole(left, right, i64::checked_mul, |a, b| a * b))
}

fn repeat(interp: &mut Interp, sequence: &Val, times: i64) -> Res<Val> {
    let times = usize::try_from(times).unwrap_or(0);
    let size = match sequence {
        Val::Str(text) | Val::Markup(text) => text.len(),
        other => other.length()?.saturating_mul(ELEMENT),
    };
    interp.spend(size.saturating_mul(times))?;
    Ok(match sequence {
        Val::Str(text) => Val::from(text.repeat(times)),
        Val::Markup(text) => Val::Markup(text.repeat(times).into()),
        Val::Bytes(bytes) => Val::Bytes(bytes.repeat(times).into()),
        Val::Tuple(items) => Val::tuple(std::iter::repeat_n(&items.0, times).flatten().cloned().collect()),
        Val::List(items) => {
            let items = items.0.borrow();
            Val::list(std::iter::repeat_n(&*items, times).flatten().cloned().collect())
        }
        other => other.clone(),
    })
}

fn numbers(left: &Val, right: &Val) -> Option<(f64, f64)> {
    Some((left.as_float()?, right.as_float()?))
}

fn zero_division(message: &str) -> Box<Failure> {
    Failure::python("ZeroDivisionError", message)
}

fn divide(left: &Val, right: &Val) -> Res<Option<Val>> {
    let Some((a, b)) = numbers(left, right) else { return Ok(None) };
    if b == 0.0 {
        let float = matches!(left, Val::Float(_)) || matches!(right, Val::Float(_));
        return Err(zero_division(if float { "float division by zero" } else { "division by zero" }));
    }
    Ok(Some(Val::Float(a / b)))
}

fn floor_divide(left: &Val, right: &Val) -> Res<Option<Val>> {
    if let Some((a, b)) = floats(left, right) {
        if b == 0.0 {
            return Err(zero_division("float floor division by zero"));
        }
        return Ok(Some(Val::Float((a / b).floor())));
    }
    let Some((quotient, _)) = floored(left, right, "integer division or modulo by zero")? else { return Ok(None) };
    Ok(Some(quotient))
}

fn modulo(left: &Val, right: &Val) -> Res<Option<Val>> {
    if let Some((a, b)) = floats(left, right) {
        if b == 0.0 {
            return Err(zero_division("float modulo"));
        }
        let rest = a % b;
        return Ok(Some(Val::Float(if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest })));
    }
    let Some((_, rest)) = floored(left, right, "integer modulo by zero")? else { return Ok(None) };
    Ok(Some(rest))
}

/// Quotient and rest, rounded down.
fn floored(left: &Val, right: &Val, zero: &str) -> Res<Option<(Val, Val)>> {
    if let (Some(a), Some(b)) = (left.as_index(), right.as_index()) {
        if b == 0 {
            return Err(zero_division(zero));
        }
        if let (Some(quotient), Some(rest)) = (a.checked_div(b), a.checked_rem(b)) {
            let down = rest != 0 && (rest < 0) != (b < 0);
            return Ok(Some((Val::Int(quotient - i64::from(down)), Val::Int(if down { rest + b } else { rest }))));
        }
    }
    let (Some(a), Some(b)) = (left.as_big(), right.as_big()) else { return Ok(None) };
    let none = BigInt::default();
    if b == none {
        return Err(zero_division(zero));
    }
    let (quotient, rest) = (&a / &b, &a % &b);
    let down = rest != none && (rest < none) != (b < none);
    Ok(Some(match down {
        true => (Val::big(quotient - 1), Val::big(rest + b)),
        false => (Val::big(quotient), Val::big(rest)),
    }))
}

fn power(left: &Val, right: &Val) -> Res<Option<Val>> {
    if let (Some(base), Some(exponent)) = (left.as_big(), right.as_index())
        && exponent >= 0
    {
        let exponent = u32::try_from(exponent).map_err(|_| too_large())?;
        if base.bits().saturating_mul(exponent.into()) > BITS_LIMIT && base.bits() > 1 {
            return Err(too_large());
        }
        return Ok(Some(Val::big(base.pow(exponent))));
    }
    let Some((a, b)) = numbers(left, right) else { return Ok(None) };
    if a == 0.0 && b < 0.0 {
        return Err(zero_division("0.0 cannot be raised to a negative power"));
    }
    let result = a.powf(b);
    if result.is_infinite() && a.is_finite() && b.is_finite() {
        return Err(Failure::python("OverflowError", "(34, 'Numerical result out of range')"));
    }
    Ok(Some(Val::Float(result)))
}

fn too_large() -> Box<Failure> {
    Failure::limit(format!("the number has more than {BITS_LIMIT} bits"))
}

pub fn negate(value: &Val) -> Res<Val> {
    value.defined()?;
    match value {
        Val::Float(number) => Ok(Val::Float(-number)),
        other => match other.as_big() {
            Some(number) => Ok(Val::big(-number)),
            None => Err(Failure::type_error(format!("bad operand type for unary -: '{}'", other.type_name()))),
        },
    }
}

pub fn compare(comparison: Comparison, left: &Val, right: &Val) -> Res<bool> {
    left.defined()?;
    right.defined()?;
    let order = |sign| left.order(right, sign);
    Ok(match comparison {
        Comparison::Eq => left == right,
        Comparison::Ne => left != right,
        Comparison::Lt => order("<")? == Some(Ordering::Less),
        Comparison::Le => matches!(order("<=")?, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Gt => order(">")? == Some(Ordering::Greater),
        Comparison::Ge => matches!(order(">=")?, Some(Ordering::Greater | Ordering::Equal)),
        Comparison::In | Comparison::NotIn => false,
    })
}

/// Python's `item in container`.
pub fn contains(interp: &mut Interp, container: &Val, item: &Val) -> Res<bool> {
    container.defined()?;
    item.defined()?;
    Ok(match container {
        Val::Str(text) | Val::Markup(text) => {
            let part = item.as_str().ok_or_else(|| {
                let kind = item.type_name();
                Failure::type_error(format!("'in <string>' requires string as left operand, not {kind}"))
            })?;
            text.contains(part)
        }
        Val::Dict(dict) | Val::Set(dict) | Val::View(View::Keys, dict) => {
            item.hashable()?;
            dict.0.borrow().contains_key(item)
        }
        Val::List(items) => items.0.borrow().contains(item),
        Val::Tuple(items) => items.0.contains(item),
        Val::Range(range) => item.as_index().is_some_and(|number| range.has(number)),
        Val::Bytes(bytes) => match item {
            Val::Bytes(part) => part.is_empty() || bytes.windows(part.len()).any(|window| window == &**part),
            other => other.as_index().is_some_and(|byte| bytes.iter().any(|&own| i64::from(own) == byte)),
        },
        Val::Object(object) => {
            let object = object.clone();
            match object.contains(interp, item) {
                Some(there) => there,
                None => container.items(interp)?.contains(item),
            }
        }
        other if other.is_iterable() => other.items(interp)?.contains(item),
        other => {
            return Err(Failure::type_error(format!("argument of type '{}' is not iterable", other.type_name())));
        }
    })
}

/// The operator `~`.
pub fn concat(interp: &mut Interp, items: &[Val]) -> Res<Val> {
    let mut out = String::new();
    let safe = interp.frame.autoescape && items.iter().any(|item| matches!(item, Val::Markup(_)));
    for item in items {
        item.defined()?;
        match item {
            Val::Markup(text) => out.push_str(text),
            Val::Str(text) if !safe => out.push_str(text),
            other if safe => out.push_str(&escape(&other.text())),
            other => out.push_str(&other.text()),
        }
    }
    interp.spend(out.len())?;
    Ok(if safe { Val::Markup(out.into()) } else { Val::from(out) })
}

/// Text as HTML shows it.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
