//! Numbers in the shapes that both ways of formatting know: `d`, `x`, `f`, `e`, `g`, ...

use super::super::error::{Failure, Res};
use super::super::value::Val;
use halite_value::float_repr;
use num_bigint::BigInt;

/// No float has more decimals: behind them are zeros.
const MOST_DECIMALS: usize = 1100;

/// What a number is written with.
#[derive(Clone, Copy, Default)]
pub struct Shape {
    /// `+` or a space, in front of what is not negative.
    pub sign: Option<char>,
    /// `0x` and its like; for floats, a point always.
    pub alternate: bool,
    pub precision: Option<usize>,
    /// `,` or `_` between groups of digits.
    pub grouping: Option<char>,
}

pub fn integer(number: &BigInt, kind: char, shape: Shape) -> String {
    let negative = number < &BigInt::default();
    let magnitude = number.magnitude();
    let (digits, prefix, size) = match kind {
        'x' => (magnitude.to_str_radix(16), "0x", 4),
        'X' => (magnitude.to_str_radix(16).to_uppercase(), "0X", 4),
        'o' => (magnitude.to_str_radix(8), "0o", 4),
        'b' => (magnitude.to_str_radix(2), "0b", 4),
        _ => (magnitude.to_string(), "", 3),
    };
    let digits = match shape.precision {
        Some(least) if digits.len() < least => format!("{}{digits}", "0".repeat(least - digits.len())),
        _ => digits,
    };
    let digits = grouped(&digits, shape.grouping, size);
    let prefix = if shape.alternate { prefix } else { "" };
    format!("{}{prefix}{digits}", sign(negative, shape))
}

pub fn float(number: f64, kind: char, shape: Shape) -> Res<String> {
    let precision = shape.precision.unwrap_or(6).min(super::WIDTH_LIMIT);
    let magnitude = number.abs();
    let text = if !number.is_finite() {
        let word = if number.is_nan() { "nan" } else { "inf" };
        if kind.is_uppercase() { word.to_uppercase() } else { word.to_owned() }
    } else {
        match kind {
            'f' | 'F' => fixed(magnitude, precision),
            'e' => exponent(&scientific(magnitude, precision)),
            'E' => exponent(&scientific(magnitude, precision)).to_uppercase(),
            'g' => general(magnitude, precision, shape.alternate),
            'G' => general(magnitude, precision, shape.alternate).to_uppercase(),
            '%' => fixed(magnitude * 100.0, precision) + "%",
            'n' => general(magnitude, precision, false),
            _ => {
                let message = format!("Unknown format code '{kind}' for object of type 'float'");
                return Err(Failure::value_error(message));
            }
        }
    };
    let text = match text.split_once('.') {
        Some((whole, rest)) => format!("{}.{rest}", grouped(whole, shape.grouping, 3)),
        None if shape.grouping.is_some() && number.is_finite() => grouped(&text, shape.grouping, 3),
        None => text,
    };
    let negative = number.is_sign_negative() && !number.is_nan();
    Ok(format!("{}{text}", sign(negative, shape)))
}

/// A float without a kind: as Python prints it, or with so many digits.
pub fn plain_float(number: f64, shape: Shape) -> String {
    let text = match shape.precision {
        None => float_repr(number.abs()),
        Some(precision) => {
            let text = general(number.abs(), precision.min(super::WIDTH_LIMIT), false);
            if text.contains(['.', 'e', 'n', 'i']) { text } else { text + ".0" }
        }
    };
    let text = match text.split_once('.') {
        Some((whole, rest)) => format!("{}.{rest}", grouped(whole, shape.grouping, 3)),
        None => text,
    };
    format!("{}{text}", sign(number.is_sign_negative() && !number.is_nan(), shape))
}

fn sign(negative: bool, shape: Shape) -> String {
    match (negative, shape.sign) {
        (true, _) => "-".to_owned(),
        (false, Some(sign)) => sign.to_string(),
        (false, None) => String::new(),
    }
}

fn grouped(digits: &str, separator: Option<char>, size: usize) -> String {
    let Some(separator) = separator else { return digits.to_owned() };
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(size) {
            out.push(separator);
        }
        out.push(digit);
    }
    out
}

/// `1e5` as Python writes it: `1e+05`.
fn exponent(text: &str) -> String {
    let Some((digits, exponent)) = text.split_once('e') else { return text.to_owned() };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// So many decimals. Rust's own formatting panics at 65,536.
fn fixed(number: f64, decimals: usize) -> String {
    let exact = decimals.min(MOST_DECIMALS);
    format!("{number:.exact$}{}", "0".repeat(decimals - exact))
}

/// One digit, so many decimals, and the power of ten.
fn scientific(number: f64, decimals: usize) -> String {
    let exact = decimals.min(MOST_DECIMALS);
    let text = format!("{number:.exact$e}");
    match text.split_once('e') {
        Some((digits, power)) => format!("{digits}{}e{power}", "0".repeat(decimals - exact)),
        None => text,
    }
}

fn general(number: f64, precision: usize, keep: bool) -> String {
    let precision = precision.max(1);
    if number == 0.0 {
        return if keep { fixed(0.0, precision - 1) } else { "0".to_owned() };
    }
    let shown = scientific(number, precision - 1);
    let power: i32 = shown.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    let trimmed = |text: &str| -> String {
        match text.contains('.') && !keep {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text.to_owned(),
        }
    };
    if power < -4 || power >= i32::try_from(precision).unwrap_or(i32::MAX) {
        let (digits, power) = shown.split_once('e').unwrap_or((&shown, "0"));
        return exponent(&format!("{}e{power}", trimmed(digits)));
    }
    let decimals = usize::try_from(i32::try_from(precision).unwrap_or(0) - 1 - power).unwrap_or(0);
    trimmed(&fixed(number, decimals))
}

/// A whole number, for kinds that take no other.
pub fn whole(value: &Val) -> Option<BigInt> {
    match value {
        Val::Float(number) => super::super::value::whole_of(number.trunc()),
        other => other.as_big(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_decimals_end_in_zeros_and_not_in_a_panic() {
        let shape = Shape { precision: Some(70_000), ..Shape::default() };
        for (kind, start, end) in [('f', "0.1000000000000000055511", "0"), ('e', "1.000000000000000055511", "0e-01")] {
            let text = float(0.1, kind, shape).ok().unwrap();
            assert!(text.len() > 70_000 && text.starts_with(start) && text.ends_with(end), "{kind}");
        }
        assert_eq!(float(0.5, 'g', shape).ok().unwrap(), "0.5");
        assert_eq!(plain_float(0.5, shape), "0.5");
        assert_eq!(fixed(5e-324, 1074).len(), 1076);
    }
}
