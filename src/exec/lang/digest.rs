//! Digests by the names that Salt gives them, of whole files and in constant memory.
//!
//! They compare files; nothing is protected by them.

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};
use std::io::{self, Read};

/// A kind of digest, as `hash_type` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashType {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

impl HashType {
    pub const ALL: [HashType; 6] =
        [HashType::Md5, HashType::Sha1, HashType::Sha224, HashType::Sha256, HashType::Sha384, HashType::Sha512];

    pub fn name(self) -> &'static str {
        match self {
            HashType::Md5 => "md5",
            HashType::Sha1 => "sha1",
            HashType::Sha224 => "sha224",
            HashType::Sha256 => "sha256",
            HashType::Sha384 => "sha384",
            HashType::Sha512 => "sha512",
        }
    }

    pub fn named(name: &str) -> Option<HashType> {
        HashType::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// The kind whose digests have so many hexadecimal digits.
    pub fn of_length(digits: usize) -> Option<HashType> {
        HashType::ALL.into_iter().find(|kind| kind.hasher().finish().len() == digits)
    }

    pub fn hasher(self) -> Hasher {
        match self {
            HashType::Md5 => Hasher::Md5(Md5::new()),
            HashType::Sha1 => Hasher::Sha1(Sha1::new()),
            HashType::Sha224 => Hasher::Sha224(Sha224::new()),
            HashType::Sha256 => Hasher::Sha256(Sha256::new()),
            HashType::Sha384 => Hasher::Sha384(Sha384::new()),
            HashType::Sha512 => Hasher::Sha512(Sha512::new()),
        }
    }

    /// The digest of some bytes.
    pub fn of_bytes(self, bytes: &[u8]) -> String {
        let mut hasher = self.hasher();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The bytes that it works on at a time, which a key of an HMAC is made as long as.
    fn block(self) -> usize {
        match self {
            HashType::Sha384 | HashType::Sha512 => 128,
            _ => 64,
        }
    }

    /// A message's HMAC (RFC 2104): who does not know the key cannot make it.
    pub fn hmac(self, key: &[u8], message: &[u8]) -> Vec<u8> {
        let digest = |parts: [&[u8]; 2]| {
            let mut hasher = self.hasher();
            parts.into_iter().for_each(|part| hasher.update(part));
            hasher.finish_bytes()
        };
        let mut padded = if key.len() > self.block() { digest([key, b""]) } else { key.to_vec() };
        padded.resize(self.block(), 0);
        let with = |mask: u8| padded.iter().map(|byte| byte ^ mask).collect::<Vec<u8>>();
        digest([&with(0x5c), &digest([&with(0x36), message])])
    }

    /// The digest of all that can be read.
    pub fn of(self, mut from: impl Read) -> io::Result<String> {
        let mut hasher = self.hasher();
        let mut buffer = vec![0; 256 * 1024];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return Ok(hasher.finish()),
                Ok(count) => hasher.update(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A UUID that is made of a name (RFC 9562, version 5): the same one each time.
pub fn uuid(namespace: [u8; 16], name: &str) -> String {
    let mut hasher = HashType::Sha1.hasher();
    hasher.update(&namespace);
    hasher.update(name.as_bytes());
    let mut id = hasher.finish_bytes();
    id[6] = (id[6] & 0x0f) | 0x50;
    id[8] = (id[8] & 0x3f) | 0x80;
    let text = hex(&id[..16]);
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

/// A digest that is being made.
#[derive(Clone)]
pub enum Hasher {
    Md5(Md5),
    Sha1(Sha1),
    Sha224(Sha224),
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl Hasher {
    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Hasher::Md5(state) => state.update(bytes),
            Hasher::Sha1(state) => state.update(bytes),
            Hasher::Sha224(state) => state.update(bytes),
            Hasher::Sha256(state) => state.update(bytes),
            Hasher::Sha384(state) => state.update(bytes),
            Hasher::Sha512(state) => state.update(bytes),
        }
    }

    /// Hexadecimal, in small letters.
    pub fn finish(self) -> String {
        hex(&self.finish_bytes())
    }

    pub fn finish_bytes(self) -> Vec<u8> {
        match self {
            Hasher::Md5(state) => state.finalize().to_vec(),
            Hasher::Sha1(state) => state.finalize().to_vec(),
            Hasher::Sha224(state) => state.finalize().to_vec(),
            Hasher::Sha256(state) => state.finalize().to_vec(),
            Hasher::Sha384(state) => state.finalize().to_vec(),
            Hasher::Sha512(state) => state.finalize().to_vec(),
        }
    }
}

/// Hexadecimal, in small letters.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and the sixth case of RFC 2202 and RFC 4231.
    #[test]
    fn an_hmac_is_that_of_the_standards() {
        let of = |kind: HashType, length| {
            hex(&kind.hmac(&vec![0xaa; length], b"Test Using Larger Than Block-Size Key - Hash Key First"))
        };
        assert_eq!(of(HashType::Md5, 80), "6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd");
        assert_eq!(of(HashType::Sha256, 131), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
        assert_eq!(hex(&HashType::Sha1.hmac(&[0x0b; 20], b"Hi There")), "b617318655057264e28bc0b6fb378c8ef146be00");
    }

    #[test]
    fn digests_are_those_of_the_standards() {
        for (name, digest) in [
            ("md5", "900150983cd24fb0d6963f7d28e17f72"),
            ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("SHA256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ] {
            assert_eq!(HashType::named(name).unwrap().of(&b"abc"[..]).unwrap(), digest, "{name}");
        }
        assert_eq!(HashType::named("crc32"), None);
        for kind in HashType::ALL {
            assert_eq!(HashType::of_length(kind.of(&b""[..]).unwrap().len()), Some(kind));
        }
    }
}
