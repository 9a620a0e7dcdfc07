//! `yaml`: one document for each answer, keys sorted.

use super::{Style, Unfit};
use halite_lang::yaml::{DumpStyle, Flow, dump_with};
use halite_value::Value;

pub fn show(value: &Value, style: &Style) -> Result<String, Unfit> {
    let form = match style.indent.map(usize::try_from) {
        None => DumpStyle::default(),
        Some(Ok(indent)) => DumpStyle { indent, ..DumpStyle::default() },
        Some(Err(_)) => DumpStyle { flow: Flow::Flow, ..DumpStyle::default() },
    };
    Ok(dump_with(value, form))
}
