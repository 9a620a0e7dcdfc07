//! Methods of `int` and `float`.

use super::super::error::{Failure, Res};
use super::super::eval::{Args, Signature};
use super::super::value::{Val, whole_of};
use num_bigint::BigInt;

pub const INT_NAMES: &[&str] = &["as_integer_ratio", "bit_count", "bit_length", "conjugate", "is_integer"];

pub const FLOAT_NAMES: &[&str] = &["as_integer_ratio", "conjugate", "hex", "is_integer"];

pub fn int(owner: &Val, name: &str, args: Args) -> Res<Val> {
    Signature::new("int", &[], 0).bind(args)?;
    let number = owner.as_big().unwrap_or_default();
    Ok(match name {
        "bit_length" => Val::big(number.bits().into()),
        "bit_count" => {
            let ones = number.magnitude().iter_u64_digits().map(u64::count_ones).map(u64::from).sum::<u64>();
            Val::big(ones.into())
        }
        "as_integer_ratio" => Val::tuple(vec![Val::big(number), Val::Int(1)]),
        "is_integer" => Val::Bool(true),
        _ => Val::big(number),
    })
}

pub fn float(number: f64, name: &str, args: Args) -> Res<Val> {
    Signature::new("float", &[], 0).bind(args)?;
    Ok(match name {
        "is_integer" => Val::Bool(number.is_finite() && number.fract() == 0.0),
        "as_integer_ratio" => ratio(number)?,
        "hex" => Val::from(hex(number)),
        _ => Val::Float(number),
    })
}

fn ratio(number: f64) -> Res<Val> {
    if !number.is_finite() {
        let (class, what) = if number.is_nan() { ("ValueError", "NaN") } else { ("OverflowError", "infinity") };
        return Err(Failure::python(class, format!("cannot convert {what} to integer ratio")));
    }
    let (mut top, mut power) = (number, 0_usize);
    while top.fract() != 0.0 {
        top *= 2.0;
        power += 1;
    }
    let top = whole_of(top).unwrap_or_default();
    Ok(Val::tuple(vec![Val::big(top), Val::big(BigInt::from(1) << power)]))
}

fn hex(number: f64) -> String {
    if !number.is_finite() {
        return halite_value::float_repr(number);
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let bits = number.to_bits();
    let (exponent, mantissa) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    match (exponent, mantissa) {
        (0, 0) => format!("{sign}0x0.0p+0"),
        (0, _) => format!("{sign}0x0.{mantissa:013x}p-1022"),
        _ => format!("{sign}0x1.{mantissa:013x}p{:+}", exponent as i64 - 1023),
    }
}
