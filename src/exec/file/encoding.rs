//! Texts in other encodings than UTF-8.

use halite_core::Fault;

/// A text in an encoding, by its Python name.
pub fn encoded(text: &str, encoding: &str, errors: &str) -> Result<Vec<u8>, Fault> {
    let most = match encoding.to_lowercase().replace('_', "-").as_str() {
        "utf-8" | "utf8" => return Ok(text.as_bytes().to_vec()),
        "utf-16" => {
            let marked = [0xff, 0xfe].into_iter();
            return Ok(marked.chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect());
        }
        "utf-16-le" => return Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        "utf-16-be" => return Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
        "ascii" | "us-ascii" => 0x7f,
        "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" => 0xff,
        _ => return Err(Fault::invocation(format!("unknown encoding: {encoding}"))),
    };
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match (u8::try_from(u32::from(letter)).ok().filter(|byte| *byte <= most), errors) {
            (Some(byte), _) => bytes.push(byte),
            (None, "ignore") => {}
            (None, "replace") => bytes.push(b'?'),
            (None, _) => {
                return Err(Fault::invocation(format!(
                    "'{encoding}' codec can't encode character {}",
                    letter.escape_unicode()
                )));
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_encoded_as_python_does_it() {
        assert_eq!(encoded("aä", "latin-1", "strict").unwrap(), b"a\xe4");
        assert_eq!(encoded("aä", "ascii", "replace").unwrap(), b"a?");
        assert_eq!(encoded("aä", "ascii", "ignore").unwrap(), b"a");
        assert_eq!(encoded("a", "UTF_16", "strict").unwrap(), b"\xff\xfea\0");
        assert_eq!(encoded("ä€", "utf-16-be", "strict").unwrap(), b"\0\xe4\x20\xac");
        assert!(encoded("ä", "ascii", "strict").unwrap_err().to_string().contains("codec can't encode"));
        assert!(encoded("ä", "klingon", "strict").unwrap_err().to_string().contains("unknown encoding"));
    }
}
