//! Values through serde: how they enter CBOR and how JSON becomes a value.

use super::{Map, Value};
use num_bigint::BigInt;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use std::fmt;

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => out.serialize_unit(),
            Value::Bool(truth) => out.serialize_bool(*truth),
            Value::Int(number) => out.serialize_i64(*number),
            // Wider than 128 bits goes as its digits, as Salt sends what is wider than 64.
            Value::Big(number) => match i128::try_from(number.as_ref()) {
                Ok(number) => out.serialize_i128(number),
                Err(_) => out.serialize_str(&number.to_string()),
            },
            Value::Float(number) => out.serialize_f64(*number),
            Value::Str(text) => out.serialize_str(text),
            Value::Bytes(bytes) => out.serialize_bytes(bytes),
            Value::List(items) => {
                let mut list = out.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Value::Map(map) => map.serialize(out),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(Some(self.len()))?;
        for (key, value) in self {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
        from.deserialize_any(ValueVisitor)
    }
}

impl<'de> Deserialize<'de> for Map {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Map, D::Error> {
        match Value::deserialize(from)? {
            Value::Map(map) => Ok(map),
            other => Err(D::Error::custom(format!("a map was expected, found {}", other.type_name()))),
        }
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        Value::deserialize(from)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Int(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<Value, E> {
        Ok(Value::from_big(number.into()))
    }

    fn visit_u128<E: Error>(self, number: u128) -> Result<Value, E> {
        Ok(Value::from_big(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Value, E> {
        Ok(Value::Bytes(bytes.to_vec()))
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Value, E> {
        Ok(Value::Bytes(bytes))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::with_capacity(from.size_hint().unwrap_or(0).min(1024));
        while let Some(item) = from.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut map = Map::with_capacity(from.size_hint().unwrap_or(0).min(1024));
        while let Some((key, value)) = from.next_entry::<Value, Value>()? {
            // serde_json hands a number over as a map of one secret key, so that none of its digits is lost.
            if map.is_empty() && key.as_str() == Some("$serde_json::private::Number") {
                return number(value.as_str().unwrap_or_default()).map_err(A::Error::custom);
            }
            map.insert(key, value);
        }
        Ok(Value::Map(map))
    }
}

fn number(digits: &str) -> Result<Value, String> {
    if let Ok(number) = digits.parse::<i64>() {
        return Ok(Value::Int(number));
    }
    if let Ok(number) = digits.parse::<BigInt>() {
        return Ok(Value::from_big(number));
    }
    digits.parse::<f64>().map(Value::Float).map_err(|_| format!("{digits} is not a number"))
}
