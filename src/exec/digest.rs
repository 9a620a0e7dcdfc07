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
        match self {
            Hasher::Md5(state) => hex(&state.finalize()),
            Hasher::Sha1(state) => hex(&state.finalize()),
            Hasher::Sha224(state) => hex(&state.finalize()),
            Hasher::Sha256(state) => hex(&state.finalize()),
            Hasher::Sha384(state) => hex(&state.finalize()),
            Hasher::Sha512(state) => hex(&state.finalize()),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
