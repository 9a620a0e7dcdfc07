//! Splitting a command line into words as a POSIX shell (and Python's `shlex.split`) does.

use halite_value::Value;

/// The words of a line: blanks separate, quotes hold together, a backslash takes the next character as it is. Comments
/// and variables mean nothing. The error says which quote is never closed.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\r' | '\n' => words.extend(word.take()),
            '\\' => {
                let next = chars.next().ok_or("nothing follows the backslash at its end")?;
                word.get_or_insert_default().push(next);
            }
            '\'' | '"' => quoted(c, &mut chars, word.get_or_insert_default())?,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Takes what stands up to the closing quote. In double quotes a backslash escapes a quote and itself alone.
fn quoted(quote: char, chars: &mut std::str::Chars, word: &mut String) -> Result<(), String> {
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return Ok(()),
            '\\' if quote == '"' => match chars.next() {
                Some(next @ ('"' | '\\')) => word.push(next),
                Some(next) => word.extend(['\\', next]),
                None => break,
            },
            c => word.push(c),
        }
    }
    Err(format!("the quote {quote} is never closed"))
}

/// The names in a value: a list, or a text with blanks, commas or semicolons between them.
pub fn named(value: &Value) -> Vec<String> {
    match value {
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        text => {
            let text = text.to_text();
            let words = text.split(|sign: char| sign.is_whitespace() || matches!(sign, ',' | ';'));
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        for (line, words) in [
            ("a b  c", &["a", "b", "c"][..]),
            ("'a b' \"c d\"", &["a b", "c d"]),
            ("a'b'\"c\"d", &["abcd"]),
            (r#"a\ b "x\"y\\z\n" 'x\y'"#, &["a b", "x\"y\\z\\n", "x\\y"]),
            ("'' x", &["", "x"]),
            ("a #b", &["a", "#b"]),
            ("", &[]),
        ] {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
        assert!(split("'a").unwrap_err().contains('\''));
        assert!(split("\"a\\").is_err());
        assert!(split("a\\").is_err());
    }
}
