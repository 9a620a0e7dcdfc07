//! `raw`: Python's `str()` of the answer.

use super::{Style, Unfit};
use crate::wire::value::Value;

pub fn show(value: &Value, _: &Style) -> Result<String, Unfit> {
    Ok(value.to_text())
}
