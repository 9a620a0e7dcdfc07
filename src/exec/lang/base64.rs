//! Base64 as Python reads it: what is no digit of it is passed over, and padding ends it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// In lines of 76 digits, each with its end, as mail has them.
pub fn encode_lines(bytes: &[u8]) -> String {
    const BYTES_OF_A_LINE: usize = 57;
    bytes.chunks(BYTES_OF_A_LINE).map(|line| encode(line) + "\n").collect()
}

/// The error is Python's sentence of it.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut digits, mut pads, mut bits) = (0_usize, 0, 0_u32);
    for byte in text {
        if *byte == b'=' {
            pads += 1;
            if digits % 4 >= 2 && digits % 4 + pads >= 4 {
                return Ok(bytes);
            }
            continue;
        }
        let Some(digit) = digit(*byte) else { continue };
        pads = 0;
        bits = bits << 6 | digit;
        digits += 1;
        // Each digit but the first of four completes a byte.
        match digits % 4 {
            2 => bytes.push((bits >> 4) as u8),
            3 => bytes.push((bits >> 2) as u8),
            0 => bytes.push(bits as u8),
            _ => {}
        }
    }
    match digits % 4 {
        0 => Ok(bytes),
        1 => Err(format!(
            "Invalid base64-encoded string: number of data characters ({digits}) cannot be 1 more than a multiple of 4"
        )),
        _ => Err("Incorrect padding".to_owned()),
    }
}

fn digit(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_encoded_is_decoded() {
        for length in 0..200_u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
            assert_eq!(decode(encode(&bytes).as_bytes()).as_ref(), Ok(&bytes));
            let lines = encode_lines(&bytes);
            assert!(lines.lines().all(|line| line.len() <= 76) && (lines.is_empty() || lines.ends_with('\n')));
            assert_eq!(decode(lines.as_bytes()), Ok(bytes));
        }
    }

    /// What `binascii.a2b_base64` of Python 3.11 gives.
    #[test]
    fn rubbish_is_passed_over_and_what_is_cut_off_refused() {
        for (text, expected) in [
            ("Z!2 V0\n", Ok("get")),
            ("Zg==Zg==", Ok("f")),
            ("Z=g==", Ok("f")),
            ("====", Ok("")),
            ("Z2V0=IHNhbHRlZA==", Ok("get salted")),
            ("Zg=", Err("Incorrect padding")),
            ("Zg", Err("Incorrect padding")),
        ] {
            let expected = expected.map(|text: &str| text.as_bytes().to_vec()).map_err(str::to_owned);
            assert_eq!(decode(text.as_bytes()), expected, "{text}");
        }
        assert!(decode(b"Z2V0Z").is_err_and(|error| error.contains("characters (5)")));
    }
}
