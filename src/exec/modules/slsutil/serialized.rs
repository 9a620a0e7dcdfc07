//! `slsutil.serialize`, `slsutil.deserialize`: data as text, and back.

use super::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::serializers;
use halite_lang::serializers::{SERIALIZERS, Serializer};
use halite_value::Value;
use halite_value::record;
use halite_value::record::Keywords;

fn serializer(name: &str) -> Result<&'static Serializer, Fault> {
    serializers::find(name).ok_or_else(|| {
        let known: Vec<&str> = SERIALIZERS.iter().map(|serializer| serializer.name).collect();
        log::debug!("There are serializers for {}", known.join(", "));
        Fault::execution(format!("Serializer '{name}' not found."))
    })
}

record! {
    /// Writes data as text.
    ///
    ///   salt '*' slsutil.serialize 'json' '{foo: Foo!}'
    pub struct Serialize {
        /// How: configparser, json, msgpack, toml, yaml, yamlex.
        serializer: String,
        /// The data.
        obj: Value,
        /// `indent` and `sort_keys`; for YAML `default_flow_style` too, for configparser `allow_no_value`.
        kwargs: Keywords,
    }
}

impl Run for Serialize {
    fn run(self, _: &Ctx) -> Reply {
        let written = (serializer(&self.serializer)?.write)(&self.obj, &self.kwargs.0);
        Ok(written.map_err(Fault::execution)?.into())
    }
}

record! {
    /// Reads data from text.
    ///
    ///   salt '*' slsutil.deserialize 'yaml' 'foo: Foo!'
    pub struct Deserialize {
        /// How: configparser, json, msgpack, toml, yaml, yamlex.
        serializer: String,
        /// The text.
        stream_or_string: Value,
        /// For configparser `allow_no_value`.
        kwargs: Keywords,
    }
}

impl Run for Deserialize {
    fn run(self, _: &Ctx) -> Reply {
        let read = (serializer(&self.serializer)?.read)(&self.stream_or_string, &self.kwargs.0);
        Ok(read.map_err(Fault::execution)?.into())
    }
}
