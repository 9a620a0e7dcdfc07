//! What is in a file, wherever it is: read, compared and copied in pieces.

use super::sum::Sum;
use halite_core::host::{Attributes, FileKind, Host};
use halite_core::paths;
use halite_lang::digest::Hasher;
use std::io::{self, Read};
use std::path::Path;

/// So much is compared at a time.
const PIECE: usize = 128 * 1024;

/// A content, as a request finds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    pub body: Body,
    /// Its digest, as far as it is known.
    pub sum: Option<Sum>,
}

/// Where a content is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Body {
    /// Where it comes from, if it comes from anywhere: it is fetched when it is needed.
    #[default]
    Away,
    /// In a file of this host.
    At(String),
    /// Here: a template made it, or it was given.
    Bytes(Vec<u8>),
}

impl Body {
    /// What can be read of it; nothing while it is away.
    pub fn part(&self) -> Option<Part<'_>> {
        match self {
            Body::Away => None,
            Body::At(path) => Some(Part::At(path)),
            Body::Bytes(bytes) => Some(Part::Bytes(bytes)),
        }
    }
}

/// A content that can be read.
#[derive(Clone, Copy, Debug)]
pub enum Part<'c> {
    At(&'c str),
    Bytes(&'c [u8]),
}

impl<'c> Part<'c> {
    pub const EMPTY: Part<'static> = Part::Bytes(b"");

    /// Opens it, to be read from its beginning.
    pub fn open(self, host: &dyn Host) -> io::Result<Box<dyn Read + 'c>> {
        match self {
            Part::At(path) => Ok(Box::new(host.open(Path::new(path))?)),
            Part::Bytes(bytes) => Ok(Box::new(bytes)),
        }
    }

    /// Its first bytes: so many, or all.
    pub fn start(self, host: &dyn Host, most: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; most];
        let length = fill(&mut self.open(host)?, &mut bytes)?;
        bytes.truncate(length);
        Ok(bytes)
    }

    /// All of it; nothing where that is more than so many bytes.
    pub fn whole(self, host: &dyn Host, most: u64) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        self.open(host)?.take(most + 1).read_to_end(&mut bytes)?;
        Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= most))
    }

    /// Its length, where that is known without reading it: what the kernel makes up has none.
    fn length(self, host: &dyn Host) -> Option<u64> {
        match self {
            Part::Bytes(bytes) => Some(bytes.len() as u64),
            Part::At(path) => {
                let stat = paths::followed(host, Path::new(path)).ok()?;
                (stat.kind == FileKind::File && stat.size > 0).then_some(stat.size)
            }
        }
    }

    /// Whether two contents are the same.
    pub fn is_same(self, other: Part, host: &dyn Host) -> io::Result<bool> {
        if let (Part::Bytes(one), Part::Bytes(other)) = (self, other) {
            return Ok(one == other);
        }
        let (mut first, mut second) = (self.open(host)?, other.open(host)?);
        if let (Some(one), Some(other)) = (self.length(host), other.length(host))
            && one != other
        {
            return Ok(false);
        }
        let (mut one, mut other) = (vec![0; PIECE], vec![0; PIECE]);
        loop {
            let (length, others) = (fill(&mut first, &mut one)?, fill(&mut second, &mut other)?);
            if one[..length] != other[..others] || length == 0 {
                return Ok(length == others && length == 0);
            }
        }
    }
}

/// Reads until a piece is full, or to the end; how much there is.
fn fill(from: &mut dyn Read, piece: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < piece.len() {
        match from.read(&mut piece[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Copies a content to a path in one step. A digest is compared on the way: what has another is not put there.
pub fn put(host: &dyn Host, part: Part, verified: Option<&Sum>, path: &Path, attributes: Attributes) -> io::Result<()> {
    let mut from = part.open(host)?;
    match verified {
        Some(sum) => {
            let hasher = Some(sum.kind.hasher());
            host.write_from(path, &mut Verified { from: &mut from, hasher, wanted: &sum.digest }, attributes)
        }
        None => host.write_from(path, &mut from, attributes),
    }
}

/// A reader that fails at its end where what was read has not the digest that it should have.
struct Verified<'v> {
    from: &'v mut dyn Read,
    hasher: Option<Hasher>,
    wanted: &'v str,
}

impl Read for Verified<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(bytes)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&bytes[..count]);
        }
        let is_end = count == 0 && !bytes.is_empty();
        if is_end && self.hasher.take().is_some_and(|hasher| hasher.finish() != self.wanted) {
            return Err(io::Error::other("the content has changed while it was looked at"));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Fake;
    use halite_lang::digest::HashType;

    #[test]
    fn contents_are_the_same_or_not_wherever_they_are() {
        let long = "x".repeat(PIECE + 3);
        let host = Fake::new().file("/a", &long).file("/b", &long).file("/c", &long[1..]).file("/empty", "");
        let same = |one: Part, other: Part| one.is_same(other, &host).unwrap();
        assert!(same(Part::At("/a"), Part::At("/b")) && same(Part::At("/a"), Part::Bytes(long.as_bytes())));
        assert!(!same(Part::At("/a"), Part::At("/c")) && !same(Part::At("/empty"), Part::At("/a")));
        let other = format!("{}y", &long[1..]);
        assert!(!same(Part::At("/a"), Part::Bytes(other.as_bytes())), "the last letter is another");
        assert!(same(Part::At("/empty"), Part::EMPTY) && !same(Part::EMPTY, Part::At("/c")));
        assert!(Part::At("/none").is_same(Part::EMPTY, &host).is_err());
    }

    #[test]
    fn what_is_longer_than_it_may_be_is_not_read_whole() {
        let host = Fake::new().file("/a", "abc");
        assert_eq!(Part::At("/a").whole(&host, 3).unwrap().as_deref(), Some(&b"abc"[..]));
        assert_eq!(Part::At("/a").whole(&host, 2).unwrap(), None);
        assert_eq!(Part::At("/a").start(&host, 2).unwrap(), b"ab");
    }

    #[test]
    fn what_changes_after_it_was_verified_is_not_put_in_place() {
        let host = Fake::new().file("/new", "new").file("/f", "old");
        let sum = |text: &str| Sum { kind: HashType::Md5, digest: HashType::Md5.of_bytes(text.as_bytes()) };
        let put = |sum: &Sum| put(&host, Part::At("/new"), Some(sum), Path::new("/f"), Attributes::default());
        assert!(put(&sum("what it was")).unwrap_err().to_string().contains("has changed"));
        assert_eq!(host.text("/f").unwrap(), "old");
        put(&sum("new")).unwrap();
        assert_eq!(host.text("/f").unwrap(), "new");
    }
}
