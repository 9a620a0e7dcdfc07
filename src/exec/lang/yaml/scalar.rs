//! Scalars as values: integers, floats, truth and base64 as Salt's loader reads them.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use halite_value::{Value, str_repr};
use num_bigint::BigInt;

/// Python refuses to read more digits than this, since it takes quadratic time.
const DIGIT_LIMIT: usize = 4300;

/// An integer. Leading zeros are dropped, so that a file mode `0644` is 644 and not 420; after a sign they still mean
/// octal. Both are what Salt does.
pub fn int(text: &str) -> Result<Value, String> {
    let text = match text.strip_prefix('0') {
        Some(_) if !text.starts_with("0b") && !text.starts_with("0x") => match text.trim_start_matches('0') {
            "" => "0",
            rest => rest,
        },
        _ => text,
    };
    let digits = text.replace('_', "");
    let (negative, digits) = split_sign(&digits);
    let (radix, digits) = match digits {
        "0" => return Ok(Value::Int(0)),
        _ if digits.starts_with("0b") => (2, &digits[2..]),
        _ if digits.starts_with("0x") => (16, &digits[2..]),
        _ if digits.starts_with('0') => (8, digits),
        _ if digits.contains(':') => return sexagesimal(digits).map(|number| signed(number, negative)),
        _ => (10, digits),
    };
    big(digits, radix).map(|number| signed(number, negative))
}

/// A float, also in base sixty (`1:30.5`).
pub fn float(text: &str) -> Result<f64, String> {
    let digits = text.replace('_', "").to_lowercase();
    let (negative, digits) = split_sign(&digits);
    let number = match digits {
        ".inf" => f64::INFINITY,
        ".nan" => return Ok(f64::NAN),
        _ if digits.contains(':') => {
            digits.split(':').try_fold(0.0, |sum, part| decimal(part).map(|part| sum * 60.0 + part))?
        }
        _ => decimal(digits)?,
    };
    Ok(if negative { -number } else { number })
}

/// True or false by any of YAML 1.1's words.
pub fn truth(text: &str) -> Result<bool, String> {
    let is_one_of = |words: [&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match text {
        _ if is_one_of(["yes", "true", "on"]) => Ok(true),
        _ if is_one_of(["no", "false", "off"]) => Ok(false),
        _ => Err(format!("{} is neither true nor false", str_repr(text))),
    }
}

/// Base64, as forgiving as Python: what is not in the alphabet is skipped, missing padding is added.
pub fn binary(text: &str) -> Result<Vec<u8>, String> {
    const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    if let Some((position, c)) = text.chars().enumerate().find(|(_, c)| !c.is_ascii()) {
        let shown = str_repr(&c.to_string());
        return Err(format!("failed to convert base64 data into ascii: character {shown} at position {position}"));
    }
    let digits: String = text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/')).collect();
    GeneralPurpose::new(&STANDARD, CONFIG)
        .decode(digits)
        .map_err(|error| format!("failed to decode base64 data: {error}"))
}

/// Base64 in lines of 76 characters, each ended.
pub fn binary_text(bytes: &[u8]) -> String {
    let encoder = &base64::engine::general_purpose::STANDARD;
    bytes.chunks(57).map(|line| encoder.encode(line) + "\n").collect()
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn signed(number: BigInt, negative: bool) -> Value {
    Value::from_big(if negative { -number } else { number })
}

fn sexagesimal(digits: &str) -> Result<BigInt, String> {
    if digits.len() > DIGIT_LIMIT {
        return Err(too_long());
    }
    digits.split(':').try_fold(BigInt::ZERO, |sum, part| big(part, 10).map(|part| sum * 60 + part))
}

fn big(digits: &str, radix: u32) -> Result<BigInt, String> {
    if radix == 10 && digits.len() > DIGIT_LIMIT {
        return Err(too_long());
    }
    if let Ok(small) = i64::from_str_radix(digits, radix) {
        return Ok(small.into());
    }
    BigInt::parse_bytes(digits.as_bytes(), radix)
        .ok_or_else(|| format!("invalid literal for int() with base {radix}: {}", str_repr(digits)))
}

fn decimal(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("could not convert string to float: {}", str_repr(text)))
}

fn too_long() -> String {
    format!("an integer has more than {DIGIT_LIMIT} digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_salt_reads_them() {
        for (text, number) in [
            ("0", 0),
            ("00", 0),
            ("0644", 644),
            ("-012", -10),
            ("+0644", 420),
            ("0x1f", 31),
            ("-0b11", -3),
            ("1__0", 10),
            ("1:30", 90),
            ("-1:30", -90),
            ("190:20:30", 685230),
        ] {
            assert_eq!(int(text), Ok(Value::Int(number)), "{text}");
        }
        assert_eq!(int("-9223372036854775809").unwrap().to_text(), "-9223372036854775809");
        assert_eq!(int("0x_").unwrap_err(), "invalid literal for int() with base 16: ''");
        assert_eq!(int("abc").unwrap_err(), "invalid literal for int() with base 10: 'abc'");
        assert!(int(&"9".repeat(5000)).is_err());
        assert!(int(&"9:".repeat(5000)).is_err());
    }

    #[test]
    fn floats_are_read_as_salt_reads_them() {
        for (text, number) in
            [("1_000.5", 1000.5), (".5", 0.5), ("1.", 1.0), ("-.INF", f64::NEG_INFINITY), ("12:30:45.6", 45045.6)]
        {
            assert_eq!(float(text), Ok(number), "{text}");
        }
        assert_eq!(float("x").unwrap_err(), "could not convert string to float: 'x'");
    }

    #[test]
    fn base64_goes_there_and_back() {
        let bytes: Vec<u8> = (0..200).collect();
        assert_eq!(binary(&binary_text(&bytes)), Ok(bytes));
        assert_eq!(binary("aG k\n"), Ok(b"hi".to_vec()));
        assert!(binary("é").unwrap_err().contains("position 0"));
        assert!(binary("a").is_err());
    }
}
