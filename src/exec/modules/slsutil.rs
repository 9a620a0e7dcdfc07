//! `slsutil.*`: data for SLS files, merged and written.

use super::{Module, Run, function};
use crate::exec::merge::{Lists, Strategy};
use crate::exec::renderers::yaml;
use crate::exec::{Ctx, Fault, Reply};
use crate::record;
use crate::wire::record::Keywords;
use crate::wire::value::{JsonStyle, Map, Value};

pub const MODULE: Module = Module {
    name: "slsutil",
    doc: "Merge and write data, for SLS files.",
    functions: &[function::<Merge>("merge"), function::<MergeAll>("merge_all"), function::<Serialize>("serialize")],
};

record! {
    /// Merges a map into another.
    ///
    ///   salt '*' slsutil.merge '{foo: Foo}' '{bar: Bar}'
    pub struct Merge {
        /// The map below.
        obj_a: Map,
        /// The map on top.
        obj_b: Map,
        /// How: smart, recurse, list, aggregate, overwrite.
        strategy: String = "smart",
        /// The renderer that the data comes from.
        renderer: String = "yaml",
        /// Join lists instead of replacing them.
        merge_lists: bool = false,
    }
}

impl Run for Merge {
    fn run(self, _: &Ctx) -> Reply {
        let strategy = Strategy::named(&self.strategy, &self.renderer);
        Ok(strategy.merge(self.obj_a, self.obj_b, Lists::joined(self.merge_lists)).into())
    }
}

record! {
    /// Merges maps, the later ones on top.
    ///
    ///   salt '*' slsutil.merge_all '[{foo: Foo}, {foo: Bar}]'
    pub struct MergeAll {
        /// The maps.
        lst: Vec<Map>,
        /// How: smart, recurse, list, aggregate, overwrite.
        strategy: String = "smart",
        /// The renderer that the data comes from.
        renderer: String = "yaml",
        /// Join lists instead of replacing them.
        merge_lists: bool = false,
    }
}

impl Run for MergeAll {
    fn run(self, _: &Ctx) -> Reply {
        let strategy = Strategy::named(&self.strategy, &self.renderer);
        let lists = Lists::joined(self.merge_lists);
        let merged = self.lst.into_iter().fold(Map::new(), |all, map| strategy.merge(all, map, lists));
        Ok(merged.into())
    }
}

record! {
    /// Writes data as text.
    ///
    ///   salt '*' slsutil.serialize 'json' '{foo: Foo!}'
    pub struct Serialize {
        /// How: json, yaml.
        serializer: String,
        /// The data.
        obj: Value,
        kwargs: Keywords,
    }
}

impl Run for Serialize {
    fn run(self, _: &Ctx) -> Reply {
        match self.serializer.as_str() {
            "yaml" => Ok(yaml::dump(&self.obj).into()),
            "json" => {
                let indent = self.kwargs.0.at("indent").and_then(Value::as_int).and_then(|n| usize::try_from(n).ok());
                let sort_keys = self.kwargs.0.at("sort_keys").is_some_and(Value::truthy);
                Ok(self.obj.to_json_with(JsonStyle { indent, sort_keys, ..JsonStyle::default() }).into())
            }
            other => Err(Fault::execution(format!("there is no serializer '{other}', only json and yaml"))),
        }
    }
}
