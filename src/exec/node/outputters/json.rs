//! `json`: one document for each answer.

use super::{Style, Unfit};
use halite_value::{JsonStyle, Value};

pub fn show(value: &Value, style: &Style) -> Result<String, Unfit> {
    let pretty = style.text_opt("output_indent") == Some("pretty");
    let indent = match style.indent {
        _ if pretty => Some(4),
        None => Some(4),
        Some(indent) => usize::try_from(indent).ok(),
    };
    Ok(value.to_json_with(JsonStyle { indent, sort_keys: pretty, ..JsonStyle::default() }))
}
