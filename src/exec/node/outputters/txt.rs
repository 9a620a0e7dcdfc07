//! `txt`: `NAME: LINE` for each line of an answer.

use super::{Style, Unfit, lines, pprint};
use halite_value::Value;

pub fn show(value: &Value, style: &Style) -> Result<String, Unfit> {
    let Value::Map(map) = value else {
        return match value {
            Value::Str(text) => Ok(text.to_string()),
            other => pprint::show(other, style),
        };
    };
    let mut out = String::new();
    for (key, value) in map {
        match value {
            Value::Str(text) => lines(text).for_each(|line| out.push_str(&format!("{key}: {line}\n"))),
            other => out.push_str(&format!("{key}: {other}\n")),
        }
    }
    Ok(out)
}
