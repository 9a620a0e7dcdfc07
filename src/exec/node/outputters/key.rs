//! `key`: keys by their standing, as `salt-key` shows them.

use super::color::Color;
use super::{Style, Unfit, harmless, sorted};
use halite_value::Value;

pub fn show(value: &Value, style: &Style) -> Result<String, Unfit> {
    let groups = value.as_map().ok_or_else(|| Unfit("keys come by their standing".to_owned()))?;
    let colors = style.colors;
    let mut out = Vec::new();
    for (standing, keys) in sorted(groups) {
        let (title, bright, color) = look(standing.as_str().unwrap_or_default())
            .ok_or_else(|| Unfit(format!("'{standing}' is no standing of a key")))?;
        out.push(colors.paint(bright, title));
        match keys {
            Value::List(ids) => {
                let mut ids: Vec<String> = ids.iter().map(Value::to_text).collect();
                ids.sort();
                out.extend(ids.iter().map(|id| colors.paint(color, &harmless(id))));
            }
            Value::Map(map) => {
                for (id, what) in sorted(map) {
                    let line = format!("{}:  {}", harmless(&id.to_text()), harmless(&what.to_text()));
                    out.push(colors.paint(color, &line));
                }
            }
            other => return Err(Unfit(format!("keys come as a list or a map, not as {}", other.type_name()))),
        }
    }
    Ok(out.join("\n"))
}

/// Title, its colour, and the colour of the keys.
fn look(standing: &str) -> Option<(&'static str, Color, Color)> {
    Some(match standing {
        "minions" => ("Accepted Keys:", Color::LightGreen, Color::Green),
        "minions_pre" => ("Unaccepted Keys:", Color::LightRed, Color::Red),
        "minions_rejected" => ("Rejected Keys:", Color::LightBlue, Color::Blue),
        "minions_denied" => ("Denied Keys:", Color::LightMagenta, Color::Magenta),
        "local" => ("Local Keys:", Color::LightMagenta, Color::Magenta),
        _ => return None,
    })
}
