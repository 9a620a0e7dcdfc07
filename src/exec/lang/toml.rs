//! The renderer `toml`, and TOML for functions that read or write it.

mod dump;

use super::pipe::{RenderError, Rendered, Renderer, Rendering};
use halite_value::{Map, Value};

pub use dump::dump;

pub const RENDERER: Renderer = Renderer { name: "toml", doc: "TOML as data.", render };

fn render(input: Rendered, _: &Rendering) -> Result<Rendered, RenderError> {
    let text = input.text(RENDERER.name)?;
    load(&text).map(Rendered::Data).map_err(|problem| RenderError::Refused(RENDERER.name, problem))
}

/// Reads a document. Dates and times stay text, as YAML's do. The error says line and column.
pub fn load(text: &str) -> Result<Value, String> {
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}; line {line}, column {column}", error.message().replace('\n', ", "))
    })?;
    Ok(Value::Map(plain_map(table)))
}

fn plain_map(table: toml::Table) -> Map {
    let mut map = Map::with_capacity(table.len());
    for (key, value) in table {
        map.insert(key, plain(value));
    }
    map
}

fn plain(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::from(text),
        toml::Value::Integer(number) => Value::Int(number),
        toml::Value::Float(number) => Value::Float(number),
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Datetime(moment) => Value::from(moment.to_string()),
        toml::Value::Array(items) => Value::List(items.into_iter().map(plain).collect()),
        toml::Value::Table(table) => Value::Map(plain_map(table)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    #[test]
    fn tables_become_maps() {
        let text = "title = 'x'\nat = 1979-05-27\n[a.b]\nn = 1\nf = 2.5\n[[l]]\nt = true\n[[l]]\nt = false\n";
        let wanted = "{title: x, at: '1979-05-27', a: {b: {n: 1, f: 2.5}}, l: [{t: true}, {t: false}]}";
        assert_eq!(load(text), Ok(yaml::load(wanted).unwrap()));
    }

    #[test]
    fn an_error_says_where_it_is_and_shows_no_text() {
        let error = load("a = 1\nb = hunter2\n").unwrap_err();
        assert!(error.ends_with("; line 2, column 5"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
        assert!(load(&"[".repeat(100_000)).is_err());
    }
}
