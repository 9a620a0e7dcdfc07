//! `highstate`: the states of a run, each as a block or a line (`state_output`), and a summary for each minion.

mod compress;
mod state;
mod summary;

use super::color::Color;
use super::{Style, Unfit, harmless, lines, pprint};
use halite_value::{Map, Value};
use state::State;
use summary::Summary;

pub fn show(value: &Value, style: &Style) -> Result<String, Unfit> {
    run(value, style, 1)
}

/// A run, perhaps one inside another (an orchestration), which stands further in.
fn run(value: &Value, style: &Style, depth: usize) -> Result<String, Unfit> {
    let value = value.at("return").unwrap_or(value);
    let value = value.at("data").unwrap_or(value);
    match value {
        Value::Str(text) => return Ok(text.to_string()),
        Value::Null => return Ok("None".to_owned()),
        _ => {}
    }
    let hosts = unwrapped(value).as_map().ok_or_else(|| Unfit("states come by minion".to_owned()))?;
    if !hosts.is_empty() && hosts.values().all(|answer| answer.as_map().is_some_and(has_no_states)) {
        return Err(Unfit("there are no states in it".to_owned()));
    }
    let masters = hosts.keys().filter(|key| key.as_str().is_some_and(|key| key.ends_with("_master"))).count();
    let orchestration = masters == 1 && hosts.contains("retcode");
    let shown: Vec<String> = hosts
        .iter()
        .filter(|(host, _)| !(orchestration && host.as_str() == Some("retcode")))
        .map(|(host, states)| minion(&host.to_text(), states, style, depth).text)
        .collect();
    Ok(shown.join("\n"))
}

/// A job's record holds the run in its return.
fn unwrapped(value: &Value) -> &Value {
    let only = value.as_map().filter(|map| map.len() == 1).and_then(Map::first);
    match only {
        Some((_, record)) if record.at("jid").is_some() && record.at("fun").is_some() => {
            record.at("return").and_then(|returned| returned.at("data")).unwrap_or(value)
        }
        _ => value,
    }
}

/// What one minion answered.
struct Minion {
    text: String,
    changed: bool,
}

fn minion(host: &str, answer: &Value, style: &Style, depth: usize) -> Minion {
    let colors = style.colors;
    let mut out = Vec::new();
    let mut color = Color::Green;
    let mut changed = false;
    match answer {
        Value::Map(states) => {
            let mut summary = Summary::default();
            out.extend(strangers(states));
            let compressed = style.truth_opt("state_compress_ids", false).then(|| compress::compress(states));
            let states = compressed.as_ref().unwrap_or(states);
            let mut states: Vec<State> = states.iter().filter_map(|(tag, state)| State::of(tag, state)).collect();
            states.sort_by_key(State::number);
            for state in &states {
                let changes = state.changes(style, depth);
                summary.count(state, changes.is_some());
                if let Some(text) = state.show(changes.as_deref(), style) {
                    out.push(text.text);
                    summary.warned += usize::from(text.warned);
                    color = text.host.unwrap_or(color);
                }
            }
            changed = summary.changed > 0;
            out.push(summary.show(host, style));
        }
        Value::List(errors) => {
            color = Color::LightRed;
            out.push(format!("    {}", colors.paint(color, "Data failed to compile:")));
            for error in errors {
                out.push(colors.paint(color, &format!("----------\n    {}", harmless(&error.to_text()))));
            }
        }
        Value::Int(_) | Value::Bool(_) | Value::Str(_) => {
            for line in lines(&answer.to_text()) {
                out.push(colors.paint(color, &format!("    {}", harmless(line))));
            }
            color = Color::Cyan;
            changed = true;
        }
        _ => {}
    }
    out.insert(0, colors.paint(color, &format!("{}:", harmless(host))));
    Minion { text: out.join("\n"), changed }
}

/// True for an answer that is data of another kind; a run of no states at all is a run.
fn has_no_states(answer: &Map) -> bool {
    !answer.is_empty() && answer.iter().all(|(tag, state)| State::of(tag, state).is_none())
}

/// What stands among the states and is none.
fn strangers(states: &Map) -> Vec<String> {
    let mut out = Vec::new();
    for (tag, state) in states {
        let Value::Map(state) = state else { continue };
        if tag.as_str() != Some("changes") && !state.is_empty() && !state.contains("__run_num__") {
            let reason = "The answer does not say in which order the states ran. What it says of a state is:";
            out.extend([reason.to_owned(), pprint::text(&Value::Map(state.clone()), 1)]);
        }
    }
    out
}
