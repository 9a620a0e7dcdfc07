//! `sys.state_schema`: the arguments of states as a JSON schema.

use super::wanted_names;
use crate::states;
use halite_core::module::Run;
use halite_core::{Ctx, Reply};
use halite_value::record;
use halite_value::record::{Field, Kind, Rest};
use halite_value::{Map, Value};

record! {
    /// Shows the arguments of states as JSON schemas.
    ///
    ///   salt '*' sys.state_schema
    ///   salt '*' sys.state_schema file.managed
    pub struct StateSchema {
        /// A module, a state or a pattern.
        module: String = "",
    }
}

impl Run for StateSchema {
    fn run(self, _: &Ctx) -> Reply {
        let is_wanted = wanted_names(&Rest(vec![self.module.into()]));
        let chosen = states::names().filter(|name| is_wanted(name));
        let schemas = chosen.filter_map(|name| states::find(&name).map(|state| schema(&name, state.info.fields)));
        Ok(Value::list(schemas).into())
    }
}

fn schema(name: &str, fields: &[Field]) -> Map {
    let named: Vec<&Field> = fields.iter().filter(|field| !matches!(field.kind, Kind::Rest | Kind::Keywords)).collect();
    let mut schema = Map::from_iter([
        ("$schema", Value::from("http://json-schema.org/draft-04/schema#")),
        ("title", name.into()),
        ("description", name.into()),
        ("type", "object".into()),
    ]);
    if !named.is_empty() {
        schema.insert("properties", named.iter().map(|field| (field.name(), property(field))).collect::<Map>());
        schema.insert("x-ordering", Value::list(named.iter().map(|field| field.name())));
    }
    let required: Vec<Value> =
        named.iter().filter(|field| field.is_required()).map(|field| field.name().into()).collect();
    if !required.is_empty() {
        schema.insert("required", required);
    }
    schema.insert("additionalProperties", fields.iter().any(|field| field.kind == Kind::Keywords));
    schema
}

fn property(field: &Field) -> Map {
    let mut property = Map::new();
    let default = field.default.map(|default| default());
    let null = default.as_ref().filter(|default| default.is_null()).map(|_| "null");
    let kinds = kinds(field.kind);
    if !kinds.is_empty() {
        property.insert("type", Value::list(kinds.iter().copied().chain(null)));
    }
    property.insert("title", field.name());
    property.insert("description", described(field));
    if let Some(default) = default.filter(|default| !default.is_null()) {
        property.insert("default", default);
    }
    property
}

/// The types of JSON that an argument takes: numbers where text is wanted, since nobody quotes
/// them, and texts that hold a number. Any, if there are none.
fn kinds(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Text | Kind::Integer | Kind::Number => &["string", "number", "boolean"],
        Kind::Truth => &["boolean", "string", "number"],
        Kind::List => &["array", "string", "number", "boolean"],
        Kind::Map => &["object", "array"],
        Kind::Any | Kind::Rest | Kind::Keywords => &[],
    }
}

fn described(field: &Field) -> String {
    let text: Vec<&str> = field.doc.iter().map(|line| line.trim()).collect();
    if text.is_empty() { field.name().to_owned() } else { text.join(" ").trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::value;
    use halite_value::Value;
    use halite_value::record::Arguments;

    #[test]
    fn a_schema_takes_what_the_state_takes() {
        let told = value("sys.state_schema", Arguments::positional(["pkg.installed"]));
        let [schema] = told.as_list().unwrap() else { panic!("{told:?}") };
        assert_eq!(schema.at("title"), Some(&"pkg.installed".into()));
        assert_eq!(schema.at("required"), Some(&Value::list(["name"])));
        assert_eq!(schema.at("additionalProperties"), Some(&true.into()));
        let property = |name: &str| schema.at("properties").and_then(|all| all.at(name)).unwrap();
        assert_eq!(property("pkgs").at("type"), None);
        assert_eq!(property("reinstall").at("default"), Some(&false.into()));
        assert_eq!(value("sys.state_schema", Arguments::positional(["nosuch"])), Value::List(Vec::new()));
    }
}
