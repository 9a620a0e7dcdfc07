//! Words of a command line as the arguments of a function, by Salt's rules.
//!
//! A word is read as YAML, so that `5` is a number and `[a, b]` a list, unless that would lose something; `name=value` is
//! a keyword; functions with commas between them are called together, their arguments apart by a separator.

use super::Stop;
use halite_lang::yaml;
use halite_value::Value;
use halite_value::record::Arguments;

/// One function and its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    pub fun: String,
    pub arguments: Arguments,
}

/// The functions that one word names (`test.ping,test.echo`) and the words after it. `unparsed` are the names of
/// keywords whose values stay text (`--no-parse`).
pub fn calls(functions: &str, words: &[String], separator: &str, unparsed: &[&str]) -> Result<Vec<Called>, Stop> {
    if !functions.contains(',') {
        return Ok(vec![Called { fun: functions.to_owned(), arguments: arguments(words, unparsed) }]);
    }
    let functions: Vec<&str> = functions.split(',').collect();
    let groups = split(words, separator, functions.len())?;
    let each = functions.into_iter().zip(groups);
    Ok(each.map(|(fun, words)| Called { fun: fun.to_owned(), arguments: arguments(&words, unparsed) }).collect())
}

/// Words as arguments. A keyword given twice has its last value.
pub fn arguments(words: &[String], unparsed: &[&str]) -> Arguments {
    let mut arguments = Arguments::default();
    for text in words {
        match keyword(text) {
            Some((name, text)) if unparsed.contains(&name) => {
                arguments.keywords.insert(name, text);
            }
            Some((name, text)) => {
                arguments.keywords.insert(name, value(text));
            }
            None => arguments.positional.push(jid_as_text(value(text))),
        }
    }
    arguments
}

/// A word as the value that it means.
pub fn value(word: &str) -> Value {
    let text = || Value::from(word);
    if matches!(word.trim(), "" | "---" | "...") || word.contains(['\t', '\r', '\n']) {
        return text();
    }
    // YAML takes 1_000 for a number.
    if word.contains('_') && word.trim().chars().all(|c| c.is_ascii_digit() || c == '_') {
        return text();
    }
    if word == "None" {
        return Value::Null;
    }
    let Ok(value) = yaml::load(word) else { return text() };
    match &value {
        // What follows a # would be lost as a comment.
        Value::Str(_) | Value::Null if word.contains('#') => text(),
        _ if word.contains('#') => value,
        Value::Map(_) if !word.starts_with('{') => text(),
        Value::List(_) if !word.starts_with('[') => text(),
        Value::Str(read) if read.is_empty() && matches!(word, "|" | "!") => text(),
        Value::Null if word == "!" => text(),
        Value::Bytes(_) => text(),
        _ => value,
    }
}

/// `name=value`, where the name could be one of Python's (with dots and dashes), and no comparison is meant.
fn keyword(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let mut letters = name.chars();
    let first = letters.next()?;
    let fits = (first == '_' || first.is_alphabetic())
        && letters.all(|c| c == '_' || c == '.' || c == '-' || c.is_alphanumeric())
        && !value.starts_with('=');
    // Text of several lines is no keyword: it may be a script.
    let value = value.strip_suffix('\n').unwrap_or(value);
    (fits && !value.contains('\n')).then_some((name, value))
}

/// A job id is digits and still no number.
fn jid_as_text(value: Value) -> Value {
    match &value {
        Value::Big(number) if number.to_string().len() == 20 => Value::from(number.to_string()),
        _ => value,
    }
}

/// Words in as many groups as there are functions. The separator is a word of its own; else it may be inside words.
fn split(words: &[String], separator: &str, functions: usize) -> Result<Vec<Vec<String>>, Stop> {
    let alone = words.iter().filter(|word| *word == separator).count();
    let groups: Vec<Vec<String>> = if alone + 1 == functions {
        words.split(|word| word == separator).map(<[String]>::to_vec).collect()
    } else {
        let mut groups = vec![Vec::new()];
        for word in words {
            for (at, part) in word.split(separator).enumerate() {
                if at > 0 {
                    groups.push(Vec::new());
                }
                if let Some(group) = groups.last_mut().filter(|_| !part.is_empty() || !word.contains(separator)) {
                    group.push(part.to_owned());
                }
            }
        }
        groups
    };
    match groups.len() {
        found if found == functions => Ok(groups),
        found => Err(Stop::Incomplete(format!(
            "{functions} functions need arguments in {functions} groups with '{separator}' between them, not {found}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_value::{Map, parse_json};

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// The list that Salt sends: keywords last, as a map that says it is one.
    fn conditioned(arguments: Arguments) -> Value {
        let mut all = arguments.positional;
        if !arguments.keywords.is_empty() {
            let mut map = Map::from_iter([("__kwarg__", true)]);
            map.extend(arguments.keywords);
            all.push(map.into());
        }
        Value::List(all)
    }

    #[test]
    fn words_mean_what_they_mean_to_salt() {
        let cases = parse_json(include_str!("../../../tests/data/arguments.json")).unwrap();
        for case in cases.at("words").and_then(Value::as_list).unwrap() {
            let [word, repr] = case.as_list().unwrap() else { panic!("{case}") };
            assert_eq!(value(word.as_str().unwrap()).repr(), repr.to_text(), "{word:?}");
        }
        for case in cases.at("lines").and_then(Value::as_list).unwrap() {
            let [words, parsed, kept] = case.as_list().unwrap() else { panic!("{case}") };
            let words: Vec<String> = words.as_list().unwrap().iter().map(Value::to_text).collect();
            assert_eq!(conditioned(arguments(&words, &[])).repr(), parsed.to_text(), "{words:?}");
            assert_eq!(conditioned(arguments(&words, &["a", "y"])).repr(), kept.to_text(), "{words:?}");
        }
    }

    #[test]
    fn functions_with_commas_share_the_words() {
        let both = |words: &[&str], separator| calls("test.ping,test.echo", &strings(words), separator, &[]);
        let echo = |text: &str| Arguments::positional([text]);
        for words in [&[",", "hello"][..], &[",hello"]] {
            let called = both(words, ",").unwrap();
            assert_eq!((called[0].fun.as_str(), &called[0].arguments), ("test.ping", &Arguments::default()));
            assert_eq!((called[1].fun.as_str(), &called[1].arguments), ("test.echo", &echo("hello")));
        }
        assert_eq!(both(&["++", "a,b"], "++").unwrap()[1].arguments, echo("a,b"));
        assert!(matches!(both(&["hello"], ","), Err(Stop::Incomplete(_))));
        assert!(matches!(both(&["a,b,c"], ","), Err(Stop::Incomplete(_))));
        let one = calls("test.echo", &strings(&["a,b"]), ",", &[]).unwrap();
        assert_eq!(one, [Called { fun: "test.echo".to_owned(), arguments: echo("a,b") }]);
    }
}
