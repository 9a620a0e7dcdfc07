//! Filters on numbers.

use super::super::error::{Failure, Res};
use super::super::eval::{Bound, Interp};
use super::super::value::{Val, whole_of};
use super::{Filter, filter};
use num_bigint::BigInt;

pub const FILTERS: &[Filter] = &[
    filter("abs", &[], 0, absolute),
    filter("int", &["default", "base"], 0, int),
    filter("float", &["default"], 0, float),
    filter("round", &["precision", "method"], 0, round),
    filter("filesizeformat", &["binary"], 0, file_size),
];

fn absolute(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    value.defined()?;
    match &value {
        Val::Float(number) => Ok(Val::Float(number.abs())),
        other => match other.as_big() {
            Some(number) => Ok(Val::big(BigInt::from(number.magnitude().clone()))),
            None => Err(Failure::type_error(format!("bad operand type for abs(): '{}'", value.type_name()))),
        },
    }
}

/// A whole number as Python's `int()` reads it.
pub fn parse_int(text: &str, base: u32) -> Option<Val> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let head = digits.get(..2).unwrap_or("").to_ascii_lowercase();
    let prefixed = [("0x", 16), ("0o", 8), ("0b", 2)].into_iter().find(|(prefix, _)| *prefix == head);
    let (base, digits) = match prefixed {
        Some((_, own)) if base == 0 || base == own => (own, digits[2..].strip_prefix('_').unwrap_or(&digits[2..])),
        _ if base == 0 => {
            let zeros = digits.starts_with('0') && digits.bytes().any(|byte| !matches!(byte, b'0' | b'_'));
            if zeros {
                return None;
            }
            (10, digits)
        }
        _ => (base, digits),
    };
    if digits.is_empty() || digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return None;
    }
    let digits = digits.replace('_', "");
    if !digits.chars().all(|digit| digit.is_digit(base)) || digits.len() > 4300 {
        return None;
    }
    let number = BigInt::parse_bytes(digits.as_bytes(), base)?;
    Some(Val::big(if text.starts_with('-') { -number } else { number }))
}

/// A number as Python's `float()` reads it.
pub fn parse_float(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    if matches!(plain.as_str(), "inf" | "infinity" | "nan") {
        return text.parse().ok();
    }
    let numeric = plain.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !numeric || plain.starts_with('_') || plain.ends_with('_') || plain.contains("__") {
        return None;
    }
    text.replace('_', "").parse().ok()
}

fn int(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    value.defined()?;
    let default = bound.given(0).cloned().unwrap_or(Val::Int(0));
    let base = u32::try_from(bound.int(1)?.unwrap_or(10)).ok().filter(|base| *base == 0 || (2..=36).contains(base));
    let Some(base) = base else { return Ok(default) };
    let whole = match &value {
        Val::Str(text) | Val::Markup(text) => {
            parse_int(text, base).or_else(|| whole_of(parse_float(text)?.trunc()).map(Val::big))
        }
        Val::Float(number) => whole_of(number.trunc()).map(Val::big),
        other => other.as_big().map(Val::big),
    };
    Ok(whole.unwrap_or(default))
}

fn float(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    value.defined()?;
    let number = match value.as_str() {
        Some(text) => parse_float(text),
        None => value.as_float(),
    };
    Ok(number.map(Val::Float).unwrap_or_else(|| bound.given(0).cloned().unwrap_or(Val::Float(0.0))))
}

fn round(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    value.defined()?;
    let precision = bound.int(0)?.unwrap_or(0).clamp(-400, 400) as i32;
    let method = bound.text_or(1, "common")?;
    if !matches!(method, "common" | "ceil" | "floor") {
        return Err(Failure::runtime("method must be common, ceil or floor"));
    }
    let number = value
        .as_float()
        .ok_or_else(|| Failure::type_error(format!("type {} doesn't define __round__ method", value.type_name())))?;
    if method == "common" {
        if let Some(whole) = value.as_big() {
            return Ok(Val::big(round_whole(&whole, precision)));
        }
        return Ok(Val::Float(round_float(number, precision)));
    }
    let scale = 10_f64.powi(precision);
    let scaled = number * scale;
    Ok(Val::Float(if method == "ceil" { scaled.ceil() } else { scaled.floor() } / scale))
}

/// Half goes to the even neighbour.
fn round_float(number: f64, precision: i32) -> f64 {
    if !number.is_finite() {
        return number;
    }
    match usize::try_from(precision) {
        // The digits that Rust prints are rounded from the exact value, as Python's are.
        Ok(decimals) => format!("{number:.decimals$}").parse().unwrap_or(number),
        Err(_) => {
            let scale = 10_f64.powi(-precision);
            (number / scale).round_ties_even() * scale
        }
    }
}

fn round_whole(number: &BigInt, precision: i32) -> BigInt {
    let Ok(digits) = u32::try_from(-precision) else { return number.clone() };
    let scale = BigInt::from(10).pow(digits);
    let twice: BigInt = number * 2;
    let quotient: BigInt = number / &scale;
    let rest: BigInt = &twice - &quotient * 2 * &scale;
    let up = rest.magnitude() > scale.magnitude() || rest.magnitude() == scale.magnitude() && quotient.bit(0);
    let step = if number < &BigInt::default() { -1 } else { 1 };
    (quotient + if up { step } else { 0 }) * scale
}

fn file_size(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    value.defined()?;
    let binary = bound.truth(0, false)?;
    let bytes = match value.as_str() {
        Some(text) => parse_float(text)
            .ok_or_else(|| Failure::value_error(format!("could not convert string to float: {}", value.repr())))?,
        None => value.as_float().unwrap_or(0.0),
    };
    let base: f64 = if binary { 1024.0 } else { 1000.0 };
    if bytes == 1.0 {
        return Ok(Val::from("1 Byte"));
    }
    if bytes < base {
        return Ok(Val::from(format!("{bytes:.0} Bytes")));
    }
    let units = ["k", "M", "G", "T", "P", "E", "Z", "Y"];
    let mut amount = bytes / base;
    let mut at = 0;
    while amount >= base && at + 1 < units.len() {
        amount /= base;
        at += 1;
    }
    let unit = if binary { format!("{}iB", units[at].to_uppercase()) } else { format!("{}B", units[at]) };
    Ok(Val::from(format!("{amount:.1} {unit}")))
}
