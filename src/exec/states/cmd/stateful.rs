//! `stateful`: a command that says itself whether it has changed something.

use halite_core::state::Outcome;
use halite_lang::words;
use halite_value::{Map, Value, parse_json};

/// Whether a command's output says what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stateful {
    No,
    Yes,
}

impl Stateful {
    /// True, or a list with settings.
    pub fn of(value: &Value) -> Stateful {
        match value {
            Value::Bool(true) => Stateful::Yes,
            Value::List(items) if !items.is_empty() => Stateful::Yes,
            _ => Stateful::No,
        }
    }

    /// The command that says in test mode what would be changed, and changes nothing: `stateful: [{test_name: ...}]`.
    pub fn rehearsal(value: &Value) -> Option<String> {
        let first = value.as_list()?.first()?;
        first.at("test_name").filter(|command| command.truthy()).map(Value::to_text)
    }

    /// What a command has done, by what it says: JSON, or a last line such as `changed=yes comment='done'`.
    pub fn read(self, mut outcome: Outcome) -> Outcome {
        if self == Stateful::No {
            return outcome;
        }
        let given = std::mem::take(&mut outcome.changes);
        outcome.comment = String::new();
        let text = given.str_at("stdout").unwrap_or_default().to_owned();
        if text.is_empty() {
            outcome.comment = given.str_at("stderr").unwrap_or_default().to_owned();
            return outcome;
        }
        match parse_json(&text) {
            Ok(Value::Map(said)) => finish(outcome, said, given, ""),
            Ok(Value::Str(_) | Value::List(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Null) => {
                failed(outcome, "script JSON output must be a JSON object (e.g., {})!")
            }
            _ => {
                let text = text.trim_end();
                let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
                match pairs(last) {
                    Some(said) => finish(outcome, said, given, before),
                    None => {
                        let message =
                            "Failed parsing script output! Stdout must be JSON or a line of name=value pairs.";
                        failed(outcome, message).with_changes(given)
                    }
                }
            }
        }
    }
}

/// What a command has said in test mode: what it has told has not happened.
pub fn rehearsed(mut outcome: Outcome) -> Outcome {
    if outcome.result == Some(true) && !outcome.changes.is_empty() {
        outcome.result = None;
    }
    outcome
}

fn failed(mut outcome: Outcome, message: &str) -> Outcome {
    outcome.result = Some(false);
    outcome.comment = message.to_owned();
    outcome
}

fn pairs(line: &str) -> Option<Map> {
    let words = words::split(line).ok()?;
    words
        .iter()
        .map(|word| {
            let (key, value) = word.split_once('=')?;
            (!value.contains('=')).then(|| (Value::from(key), Value::from(value)))
        })
        .collect()
}

/// `before` is what stands above the line that says what was done.
fn finish(mut outcome: Outcome, mut said: Map, given: Map, before: &str) -> Outcome {
    let changed = said.at("changed").map_or("no".to_owned(), Value::to_text).to_lowercase();
    if let Some(comment) = said.remove("comment") {
        outcome.comment = comment.to_text();
    }
    match changed.as_str() {
        "true" | "yes" | "1" => {
            for (key, value) in given {
                said.entry_or(key, || value);
            }
            said.insert("stdout", before);
            outcome.changes = said;
            outcome
        }
        "false" | "no" | "0" => outcome,
        other => failed(outcome, &format!("Failed parsing boolean value: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stdout: &str) -> (Option<bool>, String, Vec<String>) {
        let changes = Map::from_iter([("retcode", Value::from(0)), ("stdout", stdout.into()), ("stderr", "".into())]);
        let outcome = Stateful::Yes.read(Outcome::new(Some(true), "ran").with_changes(changes));
        (outcome.result, outcome.comment, outcome.changes.keys().map(Value::to_text).collect())
    }

    #[test]
    fn the_last_line_or_json_says_what_was_done() {
        let all = ["changed", "retcode", "stdout", "stderr"].map(str::to_owned).to_vec();
        assert_eq!(read("noise\nchanged=yes comment='it is done'"), (Some(true), "it is done".to_owned(), all.clone()));
        assert_eq!(read("{\"changed\": true, \"comment\": \"json\"}"), (Some(true), "json".to_owned(), all));
        assert_eq!(read("changed=no comment=same"), (Some(true), "same".to_owned(), Vec::new()));
        assert_eq!(read("words that say nothing").0, Some(false));
        assert_eq!(read("[1]").1, "script JSON output must be a JSON object (e.g., {})!");
        assert_eq!(read(""), (Some(true), String::new(), Vec::new()));
    }
}
