//! `no_return`: minions that did not answer, and what is said of them.

use super::color::Color;
use super::{Style, Unfit, harmless, sorted};
use halite_value::Value;

pub fn show(value: &Value, style: &Style) -> Result<String, Unfit> {
    let mut out = String::new();
    add(value, style, 0, &mut out);
    Ok(out)
}

fn add(value: &Value, style: &Style, indent: usize, out: &mut String) {
    let painted = |color, text: &str| style.colors.paint(color, &format!("{:indent$}{}", "", harmless(text)));
    match value {
        Value::Str(text) => {
            for line in text.split('\n') {
                out.push_str(&painted(Color::Red, line));
                out.push('\n');
            }
        }
        Value::Map(map) => {
            for (key, value) in sorted(map) {
                out.push_str(&painted(Color::Cyan, &key.to_text()));
                out.push_str(":\n");
                add(value, style, indent + 4, out);
            }
        }
        _ => {}
    }
}
