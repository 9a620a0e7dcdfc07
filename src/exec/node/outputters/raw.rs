//! `raw`: Python's `str()` of the answer.

use super::{Style, Unfit};
use halite_value::Value;

pub fn show(value: &Value, _: &Style) -> Result<String, Unfit> {
    Ok(value.to_text())
}
