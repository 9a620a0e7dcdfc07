//! How documentation of functions is shown: each function once, whoever of the minions has it.

use crate::cli::options::Output;
use crate::cli::{Display, Trouble};
use halite_value::{Map, Value};

/// `answers` are what `sys.doc` gave, by minion. How many functions were shown.
pub fn show(answers: &Map, output: &Output, display: &mut Display) -> Result<usize, Trouble> {
    let mut docs = Map::new();
    for (id, answer) in answers {
        match answer {
            Value::Map(own) => docs.extend(own.clone()),
            // What is no documentation is an error of that minion.
            other => display.show(&Map::from_iter([(id.clone(), other.clone())]).into(), None, 1)?,
        }
    }
    docs.sort_keys();
    if output.out.is_some() {
        let count = docs.len();
        display.show(&docs.into(), None, 0)?;
        return Ok(count);
    }
    for (name, text) in &docs {
        display.say(&format!("{}:\n\n{}\n", name.to_text(), text.to_text()));
    }
    Ok(docs.len())
}
