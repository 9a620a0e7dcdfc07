//! The form of Python's `configparser`: sections with keys.

use crate::wire::value::{Map, Value};

/// The section whose keys count in all others.
const DEFAULT: &str = "DEFAULT";

/// Writes sections as `[name]`, each followed by its keys and a blank line.
pub fn dump(value: &Value) -> Result<String, String> {
    let Value::Map(sections) = value else {
        return Err(format!("configparser can only serialize dictionaries, not {}", value.type_name()));
    };
    let mut text = String::new();
    let (first, others): (Vec<_>, Vec<_>) = sections.iter().partition(|(name, _)| name.as_str() == Some(DEFAULT));
    for (name, keys) in first.into_iter().chain(others) {
        let name = name.to_text();
        let Value::Map(keys) = keys else {
            return Err(format!("the section '{name}' has no keys: it is '{}'", keys.to_text()));
        };
        text.push_str(&format!("[{name}]\n"));
        for (key, value) in keys.iter() {
            let key = key.to_text().to_lowercase();
            match value {
                Value::Null => text.push_str(&format!("{key}\n")),
                value => text.push_str(&format!("{key} = {}\n", checked(&value.to_text())?.replace('\n', "\n\t"))),
            }
        }
        text.push('\n');
    }
    Ok(text)
}

/// A percent sign begins a reference to another key: one that does not is refused, as Python does it.
fn checked(value: &str) -> Result<&str, String> {
    let bare = value.replace("%%", "");
    let mut rest = bare.as_str();
    while let Some(at) = rest.find('%') {
        rest = &rest[at + 1..];
        let is_reference = rest.strip_prefix('(').and_then(|rest| rest.split_once(")s"));
        match is_reference {
            Some((_, tail)) => rest = tail,
            None => {
                return Err(format!(
                    "invalid interpolation syntax in '{value}' at position {}",
                    value.find('%').unwrap_or(0)
                ));
            }
        }
    }
    Ok(value)
}

/// Reads sections; the keys of `DEFAULT` are in all of them.
pub fn load(text: &str) -> Result<Value, String> {
    let (mut sections, mut defaults) = (Map::new(), Map::new());
    let mut section: Option<String> = None;
    let mut key: Option<String> = None;
    for (number, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line)) {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = bare.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(name, _)| name) {
            if name != DEFAULT {
                sections.entry_or(name, || Map::new().into());
            }
            (section, key) = (Some(name.to_owned()), None);
            continue;
        }
        let Some(name) = &section else {
            return Err(format!("line {number}: '{bare}' stands before the first section"));
        };
        let place = match name.as_str() {
            DEFAULT => Some(&mut defaults),
            name => match sections.at_mut(name) {
                Some(Value::Map(keys)) => Some(keys),
                _ => None,
            },
        };
        let Some(place) = place else { continue };
        if let (true, Some(key)) = (line.starts_with([' ', '\t']), &key) {
            let had = place.at(key).map(Value::to_text).unwrap_or_default();
            place.insert(key.as_str(), format!("{had}\n{bare}"));
            continue;
        }
        let Some(at) = bare.find(['=', ':']) else {
            return Err(format!("line {number}: '{bare}' has neither = nor :"));
        };
        let name = bare[..at].trim().to_lowercase();
        place.insert(name.as_str(), bare[at + 1..].trim());
        key = Some(name);
    }
    for (_, keys) in sections.iter_mut() {
        let mut all = defaults.clone();
        if let Value::Map(own) = keys {
            all.extend(std::mem::take(own));
        }
        *keys = all.into();
    }
    Ok(sections.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again() {
        let keys = Map::from_iter([("A", Value::from(1)), ("b", "two\nlines".into())]);
        let text = dump(&Map::from_iter([("one", keys)]).into()).unwrap();
        assert_eq!(text, "[one]\na = 1\nb = two\n\tlines\n\n");
        let read = load(&format!("[DEFAULT]\nz=9\n{text}")).unwrap();
        assert_eq!(read.repr(), "{'one': {'z': '9', 'a': '1', 'b': 'two\\nlines'}}");
        assert!(load("a=1").unwrap_err().starts_with("line 1:"));
        assert!(dump(&Map::from_iter([("s", Map::from_iter([("k", "50%")]))]).into()).is_err());
    }
}
