//! `slsutil.serialize`, `slsutil.deserialize`: data as text, and back.

use super::{Run, configparser};
use crate::exec::renderers::{toml, yaml, yamlex};
use crate::exec::{Ctx, Fault, Reply};
use crate::record;
use crate::wire::record::Keywords;
use crate::wire::value::{JsonStyle, Map, Value, parse_json};

/// A form that data is written in.
struct Format {
    name: &'static str,
    write: fn(&Value, &Map) -> Result<String, String>,
    read: fn(&str) -> Result<Value, String>,
}

const FORMATS: &[Format] = &[
    Format { name: "configparser", write: |value, _| configparser::dump(value), read: configparser::load },
    Format {
        name: "json",
        write: |value, options| {
            let indent = options.at("indent").and_then(Value::as_int).and_then(|indent| usize::try_from(indent).ok());
            let sort_keys = options.at("sort_keys").is_some_and(Value::truthy);
            let tight = options
                .at("separators")
                .and_then(Value::as_list)
                .is_some_and(|signs| signs.iter().all(|sign| sign.as_str().is_some_and(|sign| !sign.ends_with(' '))));
            let ascii = options.at("ensure_ascii").is_some_and(Value::truthy);
            Ok(value.to_json_with(JsonStyle { indent, sort_keys, ascii, tight }))
        },
        read: parse_json,
    },
    Format { name: "toml", write: |value, _| toml::dump(value), read: toml::load },
    Format { name: "yaml", write: write_yaml, read: |text| yaml::load(text).map_err(|error| error.to_string()) },
    Format { name: "yamlex", write: write_yaml, read: |text| yamlex::load(text).map_err(|error| error.to_string()) },
];

fn write_yaml(value: &Value, options: &Map) -> Result<String, String> {
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
    let text = yaml::dump_with(
        value,
        yaml::DumpStyle { flow, keys, indent: indent.unwrap_or(2), ..yaml::DumpStyle::default() },
    );
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix("\n...").unwrap_or(text).to_owned())
}

fn format(name: &str) -> Result<&'static Format, Fault> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        log::debug!("There are serializers for {}", known.join(", "));
        Fault::execution(format!("Serializer '{name}' not found."))
    })
}

record! {
    /// Writes data as text.
    ///
    ///   salt '*' slsutil.serialize 'json' '{foo: Foo!}'
    pub struct Serialize {
        /// How: configparser, json, toml, yaml, yamlex.
        serializer: String,
        /// The data.
        obj: Value,
        /// `indent` and `sort_keys`; for YAML `default_flow_style` too.
        kwargs: Keywords,
    }
}

impl Run for Serialize {
    fn run(self, _: &Ctx) -> Reply {
        let text = (format(&self.serializer)?.write)(&self.obj, &self.kwargs.0);
        Ok(text.map_err(Fault::execution)?.into())
    }
}

record! {
    /// Reads data from text.
    ///
    ///   salt '*' slsutil.deserialize 'yaml' 'foo: Foo!'
    pub struct Deserialize {
        /// How: configparser, json, toml, yaml, yamlex.
        serializer: String,
        /// The text.
        stream_or_string: Value,
        /// Taken, not used.
        kwargs: Keywords,
    }
}

impl Run for Deserialize {
    fn run(self, _: &Ctx) -> Reply {
        let format = format(&self.serializer)?;
        let Some(text) = self.stream_or_string.as_str() else {
            let kind = self.stream_or_string.type_name();
            return Err(Fault::execution(format!(
                "stream_or_string must be text, not {kind}: on a command line, \
                                                 --no-parse=stream_or_string keeps it as it is"
            )));
        };
        Ok((format.read)(text).map_err(Fault::execution)?.into())
    }
}
