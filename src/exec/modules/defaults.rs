//! `defaults.*`: the defaults of a formula, and maps on top of maps.

use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply};
use halite_lang::merge;
use halite_lang::merge::Lists;
use halite_lang::yaml;
use halite_node::fileserver::client::{FileClient, Wanted, address_of, saltenv};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value, parse_json};

pub const MODULE: Module = Module {
    name: "defaults",
    doc: "Read the defaults of a formula, and merge what is set over them.",
    functions: &[
        function::<Deepcopy>("deepcopy"),
        function::<Get>("get"),
        function::<Merge>("merge").changing_first(is_in_place),
        function::<Update>("update").changing_first(is_in_place),
    ],
};

/// Both functions take `in_place` as their fourth argument.
fn is_in_place(arguments: &Arguments) -> bool {
    arguments.keywords.at("in_place").or(arguments.positional.get(3)).is_none_or(Value::truthy)
}

record! {
    /// A value of a formula's `defaults.yaml` or `defaults.json`; all of them where only the formula is named.
    ///
    ///   salt '*' defaults.get core:users:root
    pub struct Get {
        /// The formula, then the path of the value, with colons between.
        key: String,
        /// The answer where there is no such value.
        default: Value = "",
    }
}

impl Run for Get {
    fn run(self, ctx: &Ctx) -> Reply {
        let (formula, path) = match self.key.split_once(':') {
            Some((formula, path)) => (formula, Some(path).filter(|path| !path.is_empty())),
            None => (self.key.as_str(), None),
        };
        let defaults = load(ctx, formula)?;
        match path {
            None => Ok(defaults.unwrap_or_default().into()),
            Some(path) => {
                let found = defaults.as_ref().and_then(|defaults| defaults.traverse(path, ":"));
                Ok(found.cloned().unwrap_or(self.default).into())
            }
        }
    }
}

/// The defaults of a formula: an empty map where its file says nothing, nothing where it has none.
fn load(ctx: &Ctx, formula: &str) -> Result<Option<Value>, Fault> {
    let client = FileClient::new(ctx);
    let saltenv = saltenv(ctx, None);
    for ending in ["yaml", "json"] {
        let address = address_of(&format!("{formula}/defaults.{ending}"));
        let Some(path) = client.cache_file(&address, &saltenv, &Wanted::default())? else { continue };
        let text = client.read_text(&path).map_err(|error| Fault::execution(format!("{path}: {error}")))?;
        let loaded = match ending {
            "yaml" => yaml::load(&text).map_err(|error| error.named(&address).to_string()),
            _ => parse_json(&text).map_err(|problem| format!("{address}: {problem}")),
        };
        let value = loaded.map_err(Fault::execution)?;
        return Ok(Some(if value.truthy() { value } else { Map::new().into() }));
    }
    Ok(None)
}

record! {
    /// Merges a map into another, on every level. In a template the first map itself is changed, unless `in_place` is false.
    ///
    ///   salt '*' defaults.merge '{a: b}' '{d: e}'
    pub struct Merge {
        /// The map below.
        dest: Value,
        /// The map on top.
        src: Value,
        /// Join lists instead of replacing them.
        merge_lists: bool = false,
        /// Change the first map, in a template.
        in_place: bool = true,
        /// Take None for an empty map.
        convert_none: bool = true,
    }
}

impl Run for Merge {
    fn run(self, _: &Ctx) -> Reply {
        if self.dest.is_null() && self.convert_none && self.in_place {
            return Err(type_error("Can't perform in-place merge into NoneType"));
        }
        let mut dest = map(self.dest, self.convert_none)?;
        merge::update(&mut dest, map(self.src, self.convert_none)?, Lists::joined(self.merge_lists));
        Ok(dest.into())
    }
}

record! {
    /// The same data again. In a template it is a copy that changes apart from the first.
    ///
    ///   salt '*' defaults.deepcopy '{a: b}'
    pub struct Deepcopy {
        /// The data.
        source: Value,
    }
}

impl Run for Deepcopy {
    fn run(self, _: &Ctx) -> Reply {
        Ok(self.source.into())
    }
}

record! {
    /// Puts defaults below each entry of a map. In a template the first map itself is changed, unless `in_place` is false.
    ///
    ///   salt '*' defaults.update '{host01: {index: foo}}' '{enabled: True}'
    pub struct Update {
        /// The map whose entries get the defaults.
        dest: Value,
        /// The defaults.
        defaults: Value,
        /// Join lists instead of replacing them.
        merge_lists: bool = true,
        /// Change the first map, in a template.
        in_place: bool = true,
        /// Take None for an empty map.
        convert_none: bool = true,
    }
}

impl Run for Update {
    fn run(self, _: &Ctx) -> Reply {
        if self.dest.is_null() && self.in_place {
            return Err(type_error("Can't perform in-place update into NoneType"));
        }
        let mut nodes = map(self.dest, self.convert_none)?;
        let defaults = map(self.defaults, self.convert_none)?;
        for (_, node) in nodes.iter_mut() {
            let mut merged = defaults.clone();
            let own = map(std::mem::take(node), self.convert_none)?;
            merge::update(&mut merged, own, Lists::joined(self.merge_lists));
            *node = merged.into();
        }
        Ok(nodes.into())
    }
}

fn map(value: Value, convert_none: bool) -> Result<Map, Fault> {
    match value {
        Value::Map(map) => Ok(map),
        Value::Null if convert_none => Ok(Map::new()),
        _ => Err(type_error("Cannot update using non-dict types in dictupdate.update()")),
    }
}

fn type_error(message: &str) -> Fault {
    Fault::Raised { kind: "TypeError".to_owned(), message: message.to_owned() }
}
