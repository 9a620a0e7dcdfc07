//! MessagePack, by the crate `rmpv`.

use halite_value::{Map, Value};
use rmpv::Value as Packed;

/// Lists and maps deeper than this are refused.
const DEPTH: usize = 256;

pub fn write(value: &Value) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &packed(value)?).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// The one value that the bytes hold.
pub fn read(mut bytes: &[u8]) -> Result<Value, String> {
    let value = rmpv::decode::read_value_with_max_depth(&mut bytes, DEPTH).map_err(|error| error.to_string())?;
    if !bytes.is_empty() {
        return Err(format!("unpack(b) received extra data: {} bytes", bytes.len()));
    }
    plain(value)
}

fn packed(value: &Value) -> Result<Packed, String> {
    Ok(match value {
        Value::Null => Packed::Nil,
        Value::Bool(truth) => (*truth).into(),
        Value::Int(number) => (*number).into(),
        Value::Big(number) => {
            u64::try_from(number.as_ref()).map_err(|_| format!("{number} has more than 64 bits"))?.into()
        }
        Value::Float(number) => (*number).into(),
        Value::Str(text) => text.as_str().into(),
        Value::Bytes(bytes) => bytes.as_slice().into(),
        Value::List(items) => Packed::Array(items.iter().map(packed).collect::<Result<_, _>>()?),
        Value::Map(map) => {
            let entry = |(key, value)| Ok::<_, String>((packed(key)?, packed(value)?));
            Packed::Map(map.iter().map(entry).collect::<Result<_, _>>()?)
        }
    })
}

fn plain(packed: Packed) -> Result<Value, String> {
    Ok(match packed {
        Packed::Nil => Value::Null,
        Packed::Boolean(truth) => truth.into(),
        Packed::Integer(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into(),
            (None, number) => number.unwrap_or_default().into(),
        },
        Packed::F32(number) => f64::from(number).into(),
        Packed::F64(number) => number.into(),
        Packed::String(text) => text.into_str().ok_or("a text is not UTF-8")?.into(),
        Packed::Binary(bytes) => Value::Bytes(bytes),
        Packed::Array(items) => Value::List(items.into_iter().map(plain).collect::<Result<_, _>>()?),
        Packed::Map(entries) => {
            let mut map = Map::with_capacity(entries.len());
            for (key, value) in entries {
                map.insert(plain(key)?, plain(value)?);
            }
            map.into()
        }
        Packed::Ext(kind, _) => return Err(format!("an extension of the type {kind} stands for nothing here")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_there_and_back() {
        let map = Map::from_iter([(Value::from("a"), Value::list([1, -1, 70_000])), (1.into(), 1.5.into())]);
        for value in
            [Value::Null, true.into(), u64::MAX.into(), i64::MIN.into(), Value::Bytes(vec![0, 255]), map.into()]
        {
            assert_eq!(read(&write(&value).unwrap()), Ok(value));
        }
        // As Python's msgpack packs it.
        assert_eq!(write(&Map::from_iter([("a", 1)]).into()).unwrap(), b"\x81\xa1a\x01");
    }

    #[test]
    fn bad_bytes_are_told() {
        assert!(read(b"\x81").is_err());
        assert!(read(b"\x01\x01").unwrap_err().contains("extra data"));
        assert!(read(b"\xd4\x01\x00").unwrap_err().contains("extension"));
        assert!(read(&[0x91; 1000]).is_err());
        // A length that nothing follows takes no memory.
        assert!(read(b"\xdd\xff\xff\xff\xff").is_err());
    }
}
