//! Forms that data is written in, by the names that Salt has for them: `slsutil.serialize` and states that write data
//! into files.
//!
//! A form is one line in [`SERIALIZERS`]; one of a format that nothing else needs has a file here.

mod configparser;
pub mod msgpack;

use crate::{toml, yaml, yamlex};
use halite_value::{JsonStyle, Map, Value, parse_json};

pub struct Serializer {
    pub name: &'static str,
    /// Text or bytes of a value; the second argument holds options.
    pub write: fn(&Value, &Map) -> Result<Value, String>,
    /// The value of text or bytes.
    pub read: fn(&Value, &Map) -> Result<Value, String>,
}

/// Sorted by name.
pub const SERIALIZERS: &[Serializer] = &[
    Serializer {
        name: "configparser",
        write: |value, options| configparser::write(value, options).map(Value::from),
        read: |from, options| configparser::read(text(from)?, options),
    },
    Serializer {
        name: "json",
        write: |value, options| {
            let indent = options.at("indent").and_then(Value::as_int).and_then(|indent| usize::try_from(indent).ok());
            let sort_keys = options.at("sort_keys").is_some_and(Value::truthy);
            let ascii = options.at("ensure_ascii").is_some_and(Value::truthy);
            let tight = options
                .at("separators")
                .and_then(Value::as_list)
                .is_some_and(|signs| signs.iter().all(|sign| sign.as_str().is_some_and(|sign| !sign.ends_with(' '))));
            Ok(value.to_json_with(JsonStyle { indent, sort_keys, ascii, tight }).into())
        },
        read: |from, _| parse_json(text(from)?),
    },
    Serializer {
        name: "msgpack",
        write: |value, _| msgpack::write(value).map(Value::Bytes),
        read: |from, _| msgpack::read(bytes(from)?),
    },
    Serializer {
        name: "toml",
        write: |value, _| toml::dump(value).map(Value::from),
        read: |from, _| toml::load(text(from)?),
    },
    Serializer {
        name: "yaml",
        write: |value, options| Ok(yaml_text(value, options).into()),
        read: |from, _| yaml::load(text(from)?).map_err(|error| error.to_string()),
    },
    Serializer {
        name: "yamlex",
        write: |value, options| Ok(yaml_text(value, options).into()),
        read: |from, _| yamlex::load(text(from)?).map_err(|error| error.to_string()),
    },
];

/// The form with this name.
pub fn find(name: &str) -> Option<&'static Serializer> {
    SERIALIZERS.iter().find(|serializer| serializer.name == name)
}

fn yaml_text(value: &Value, options: &Map) -> String {
    let flow = match options.at("default_flow_style") {
        None | Some(Value::Null) => yaml::Flow::Leaves,
        Some(flow) if flow.truthy() => yaml::Flow::Flow,
        Some(_) => yaml::Flow::Block,
    };
    let keys = match options.at("sort_keys").is_none_or(Value::truthy) {
        true => yaml::Keys::Sorted,
        false => yaml::Keys::AsTheyAre,
    };
    let indent = options.at("indent").and_then(Value::as_int).and_then(|indent| usize::try_from(indent).ok());
    let style = yaml::DumpStyle { flow, keys, indent: indent.unwrap_or(2), ..yaml::DumpStyle::default() };
    let text = yaml::dump_with(value, style);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    text.strip_suffix("\n...").unwrap_or(text).to_owned()
}

fn text(from: &Value) -> Result<&str, String> {
    match from {
        Value::Str(text) => Ok(text),
        Value::Bytes(bytes) => std::str::from_utf8(bytes).map_err(|_| "this is not text in UTF-8".to_owned()),
        other => Err(not_text(other)),
    }
}

fn bytes(from: &Value) -> Result<&[u8], String> {
    match from {
        Value::Str(text) => Ok(text.as_bytes()),
        Value::Bytes(bytes) => Ok(bytes),
        other => Err(not_text(other)),
    }
}

fn not_text(value: &Value) -> String {
    let kind = value.type_name();
    format!(
        "stream_or_string must be text, not {kind}: on a command line, --no-parse=stream_or_string keeps it as it is"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_reads_what_it_writes() {
        assert!(SERIALIZERS.is_sorted_by(|a, b| a.name < b.name));
        let data = yaml::load("main: {name: web, port: '80'}\n").unwrap();
        for serializer in SERIALIZERS {
            let written = (serializer.write)(&data, &Map::new()).unwrap();
            assert_eq!((serializer.read)(&written, &Map::new()).as_ref(), Ok(&data), "{}", serializer.name);
            assert!((serializer.read)(&1.into(), &Map::new()).is_err(), "{}", serializer.name);
        }
    }
}
