//! CBOR, the form of everything inside a seal.
//!
//! Only what a peer has sealed is ever decoded: CBOR is too generous for bytes of unauthenticated connections. What is decoded must be
//! one item and nothing after it.

use serde::{Serialize, de::DeserializeOwned};

/// How deep values may nest; beyond it a message is refused.
const DEPTH: usize = 128;

/// Bytes that are not the CBOR of what was expected: the peer's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "malformed message: {}", self.0)
    }
}

impl std::error::Error for Malformed {}

/// An item that cannot be written as CBOR. No type of ours is one; if one becomes it, nothing of it may be sent, least of
/// all its first half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit;

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the message holds something that CBOR cannot carry")
    }
}

impl std::error::Error for Unfit {}

pub fn encode<T: Serialize>(item: &T) -> Result<Vec<u8>, Unfit> {
    let mut out = Vec::with_capacity(256);
    encode_into(item, &mut out)?;
    Ok(out)
}

/// Appends the CBOR of an item, all of it or nothing.
pub fn encode_into<T: Serialize>(item: &T, out: &mut Vec<u8>) -> Result<(), Unfit> {
    let before = out.len();
    ciborium::into_writer(item, &mut *out).map_err(|_| {
        out.truncate(before);
        Unfit
    })
}

/// How long the CBOR of an item is. What cannot be written is longer than any limit.
pub fn size<T: Serialize>(item: &T) -> usize {
    let mut counted = Counted(0);
    match ciborium::into_writer(item, &mut counted) {
        Ok(()) => counted.0,
        Err(_) => usize::MAX,
    }
}

/// Counts what is written to it.
struct Counted(usize);

impl std::io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Malformed> {
    let (item, rest) = decode_prefix(bytes)?;
    if !rest.is_empty() {
        return Err(Malformed(format!("{} bytes after the end", rest.len())));
    }
    Ok(item)
}

/// Decodes one item and says what follows it, for forms that are padded.
pub fn decode_prefix<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), Malformed> {
    let mut rest = bytes;
    let item =
        ciborium::de::from_reader_with_recursion_limit(&mut rest, DEPTH).map_err(|error| Malformed(short(error)))?;
    Ok((item, rest))
}

/// The library quotes what it found; a secret could be in it, so only the kind of error is kept.
fn short<E>(error: ciborium::de::Error<E>) -> String {
    match error {
        ciborium::de::Error::Io(_) => "cut short".to_owned(),
        ciborium::de::Error::Syntax(at) => format!("not CBOR at byte {at}"),
        ciborium::de::Error::Semantic(at, _) => format!("unexpected content at byte {}", at.unwrap_or(0)),
        ciborium::de::Error::RecursionLimitExceeded => format!("nested deeper than {DEPTH}"),
    }
}

/// Bytes of a fixed number, as one byte string (serde would write an array number by number).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bytes<const N: usize>(pub [u8; N]);

impl<const N: usize> Serialize for Bytes<N> {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_bytes(&self.0)
    }
}

impl<'de, const N: usize> serde::Deserialize<'de> for Bytes<N> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Bytes<N>, D::Error> {
        struct Visitor<const N: usize>;
        impl<const N: usize> serde::de::Visitor<'_> for Visitor<N> {
            type Value = Bytes<N>;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                write!(f, "{N} bytes")
            }
            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Bytes<N>, E> {
                bytes.try_into().map(Bytes).map_err(|_| E::invalid_length(bytes.len(), &self))
            }
        }
        from.deserialize_bytes(Visitor)
    }
}

/// Bytes of any number, as one byte string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteString(pub Vec<u8>);

impl Serialize for ByteString {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_bytes(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for ByteString {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<ByteString, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = ByteString;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<ByteString, E> {
                Ok(ByteString(bytes.to_vec()))
            }
            fn visit_byte_buf<E: serde::de::Error>(self, bytes: Vec<u8>) -> Result<ByteString, E> {
                Ok(ByteString(bytes))
            }
        }
        from.deserialize_byte_buf(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_value::{Map, Value, parse_json};

    #[test]
    fn a_value_comes_back_as_it_was() {
        let mut map = Map::from_iter([("text", Value::from("é"))]);
        map.insert(1, Value::Bytes(vec![0, 255]));
        map.insert(
            Value::Null,
            Value::list([Value::Float(1.5), Value::Bool(false), Value::Int(-7), Value::Int(i64::MIN)]),
        );
        map.insert("big", parse_json("123456789012345678901234567890").unwrap());
        let value = Value::from(map);
        assert_eq!(decode::<Value>(&encode(&value).unwrap()).unwrap(), value);
        assert_eq!(size(&value), encode(&value).unwrap().len());
    }

    /// Refuses to be written after its first half.
    struct Half;

    impl Serialize for Half {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no"))
        }
    }

    #[test]
    fn a_message_that_cannot_be_written_was_sent_as_far_as_it_had_come() {
        let message = ("the first half", Half);
        assert_eq!(encode(&message), Err(Unfit));
        let mut out = b"before".to_vec();
        assert_eq!(encode_into(&message, &mut out), Err(Unfit));
        assert_eq!(out, b"before");
        assert_eq!(size(&message), usize::MAX);
    }

    #[test]
    fn what_follows_or_is_missing_is_refused() {
        let bytes = encode(&Value::from("hello")).unwrap();
        assert!(decode::<Value>(&[&bytes[..], &[0]].concat()).is_err());
        for cut in 0..bytes.len() {
            assert!(decode::<Value>(&bytes[..cut]).is_err());
        }
        assert!(decode::<Value>(&[0x81u8; 4096]).is_err());
    }
}
