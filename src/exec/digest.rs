//! Digests by the names that Salt's options and arguments use (`hash_type`).

use sha2::Digest;

/// The digest of some bytes as hex digits; nothing where the kind is none of md5, sha1, sha224, sha256, sha384, sha512.
pub fn hex(kind: &str, bytes: &[u8]) -> Option<String> {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Some(match kind {
        "md5" => hex(&md5::Md5::digest(bytes)),
        "sha1" => hex(&sha1::Sha1::digest(bytes)),
        "sha224" => hex(&sha2::Sha224::digest(bytes)),
        "sha256" => hex(&sha2::Sha256::digest(bytes)),
        "sha384" => hex(&sha2::Sha384::digest(bytes)),
        "sha512" => hex(&sha2::Sha512::digest(bytes)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_the_known_ones() {
        assert_eq!(hex("md5", b"1").unwrap(), "c4ca4238a0b923820dcc509a6f75849b");
        assert_eq!(hex("sha1", b"1").unwrap(), "356a192b7913b04c54574d18c28d46e6395428ab");
        assert_eq!(hex("sha256", b"").unwrap(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(hex("sha999", b""), None);
    }
}
