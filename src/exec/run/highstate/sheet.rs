//! How high data is read: small looks at maps and lists whose form users choose.

use halite_value::{Map, Value};

/// The first entry of an argument such as `{name: x}`.
pub fn first(argument: &Value) -> Option<(&Value, &Value)> {
    argument.as_map()?.first()
}

/// The first key of an argument, where it is text.
pub fn first_key(argument: &Value) -> Option<&str> {
    first(argument)?.0.as_str()
}

/// Keys with two underscores are about the data and no states.
pub fn is_hidden(key: &Value) -> bool {
    key.as_str().is_some_and(|key| key.starts_with("__"))
}

/// The states of an ID's body: their names and arguments.
pub fn states(body: &Map) -> impl Iterator<Item = (&str, &Value)> {
    body.iter().filter(|(key, _)| !is_hidden(key)).filter_map(|(key, run)| Some((key.as_str()?, run)))
}

/// The arguments of a state; none where it is no list.
pub fn arguments(run: &Value) -> &[Value] {
    run.as_list().unwrap_or_default()
}

/// A text of a body's `__sls__` or `__env__`, as messages name it.
pub fn mark<'b>(body: &'b Value, name: &str, default: &'b str) -> &'b str {
    body.as_map().and_then(|body| body.str_at(name)).unwrap_or(default)
}

/// Puts items to the list in a place, which is made one if it is none.
pub fn append(place: &mut Value, more: impl IntoIterator<Item = Value>) {
    match place {
        Value::List(items) => items.extend(more),
        other => *other = Value::List(more.into_iter().collect()),
    }
}

/// Puts an entry to the map in a place, which is made one if it is none.
pub fn insert(place: &mut Value, key: Value, value: Value) {
    match place {
        Value::Map(map) => drop(map.insert(key, value)),
        other => *other = Map::from_iter([(key, value)]).into(),
    }
}
