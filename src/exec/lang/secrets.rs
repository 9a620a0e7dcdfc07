//! Errors of templates are shown, logged and sent back: what they say must not hold what the pillar keeps.

use halite_value::{Map, Value, str_repr};

/// Shorter values are not looked for: they stand in any sentence.
const SHORTEST: usize = 4;

/// Of a value with several lines, those with as many characters are looked for on their own.
const SHORTEST_LINE: usize = 8;

const MASK: &str = "***";

/// A message in which each value of the pillar is masked, unless the author of the text wrote it there as well: then it is
/// no secret, and the message needs it.
pub fn masked(message: String, pillar: &Map, sources: &[&str]) -> String {
    let mut found = Vec::new();
    for value in pillar.values() {
        collect(value, &message, sources, &mut found);
    }
    // The longest first: one may be a part of another.
    found.sort_by_key(|value: &String| std::cmp::Reverse(value.len()));
    found.iter().fold(message, |message, value| message.replace(value.as_str(), MASK))
}

fn collect(value: &Value, message: &str, sources: &[&str], found: &mut Vec<String>) {
    match value {
        Value::Map(map) => map.values().for_each(|value| collect(value, message, sources, found)),
        Value::List(items) => items.iter().for_each(|item| collect(item, message, sources, found)),
        Value::Null | Value::Bool(_) => {}
        value => {
            let text = value.to_text();
            let repr = str_repr(&text);
            let lines = text.lines().filter(|line| line.trim().len() >= SHORTEST_LINE);
            for part in [text.trim(), &repr[1..repr.len() - 1]].into_iter().chain(lines.map(str::trim)) {
                let known = || sources.iter().any(|source| source.contains(part));
                if part.len() >= SHORTEST && message.contains(part) && !known() {
                    found.push(part.to_owned());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_author_did_not_write_is_masked() {
        let pillar = Map::from_iter([
            ("password", Value::from("hunter2")),
            ("longer", Value::from("hunter2-and-more")),
            ("key", Value::from("-----BEGIN\nabcdefghij\n")),
            ("pin", Value::from(48_151)),
            ("user", Value::from("admin")),
            ("short", Value::from("a")),
        ]);
        let shown = |message: &str| masked(message.to_owned(), &pillar, &["admin: {{ pillar.user }}"]);
        assert_eq!(shown("no hunter2 in 'hunter2-and-more'"), "no *** in '***'");
        assert_eq!(shown("bad line abcdefghij, '-----BEGIN\\nabcdefghij\\n'"), "bad line ***, '***'");
        assert_eq!(shown("48151 is a number, admin a name"), "*** is a number, admin a name");
    }
}
