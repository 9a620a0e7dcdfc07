//! `file.accumulated`: lines that several states contribute to one file.

use halite_core::state::{Plan, PlanContext, State, already, failed};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

record! {
    /// Gathers text for a file that another state writes: `file.managed` sees it in its template as `accumulator`,
    /// `file.blockreplace` puts it into its block.
    ///
    ///   vhosts:
    ///     file.accumulated:
    ///       - filename: /etc/vhosts
    ///       - text: one.example.com
    ///       - require_in:
    ///         - file: /etc/vhosts
    pub struct Accumulated {
        /// The name of what is gathered.
        name: String,
        /// The path of the file.
        filename: String,
        /// A text, or a list of texts.
        text: Value,
        kwargs: Keywords,
    }
}

/// Where it is kept for the other states of the run: by file, then by name, each with `texts` and `for`.
const KEPT: &str = "accumulators";

impl State for Accumulated {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        if self.name.is_empty() {
            return Ok(failed("Must provide name to file.accumulated"));
        }
        let wanted_by: Vec<Value> = ["require_in", "watch_in"]
            .iter()
            .filter_map(|kind| context.low.at(kind).and_then(Value::as_list))
            .flatten()
            .filter_map(|requisite| requisite.at("file").cloned())
            .collect();
        let texts = match self.text {
            Value::Null => return Ok(failed("No text supplied for accumulator")),
            Value::List(items) => items,
            text => vec![text],
        };
        if wanted_by.is_empty() {
            let text = |key: &str| context.low.at(key).map(Value::to_text).unwrap_or_default();
            let comment = format!("Orphaned accumulator {} in {}:{}", self.name, text("__sls__"), text("__id__"));
            return Ok(failed(comment));
        }
        let mut scratch = context.ctx.scratch.borrow_mut();
        let kept = inner(&mut scratch, KEPT).and_then(|kept| inner(kept, &self.filename));
        let Some(own) = kept.and_then(|of_file| inner(of_file, &self.name)) else {
            return Err(Fault::Internal("what is accumulated is no map".to_owned()));
        };
        join(own, "for", wanted_by);
        let charged = join(own, "texts", texts);
        Ok(already(match charged {
            true => format!("Accumulator {} for file {} was charged by text", self.name, self.filename),
            false => String::new(),
        }))
    }
}

fn inner<'m>(map: &'m mut Map, key: &str) -> Option<&'m mut Map> {
    match map.entry_or(key, || Map::new().into()) {
        Value::Map(inner) => Some(inner),
        _ => None,
    }
}

/// Adds what is not in a list yet; whether there was any.
fn join(map: &mut Map, key: &str, more: Vec<Value>) -> bool {
    let Value::List(items) = map.entry_or(key, || Value::List(Vec::new())) else { return false };
    let before = items.len();
    for item in more {
        if !items.contains(&item) {
            items.push(item);
        }
    }
    items.len() > before
}

/// What was gathered for a file, by name; nothing where nobody gave any.
pub fn of_file(ctx: &Ctx, path: &str) -> Option<Map> {
    let scratch = ctx.scratch.borrow();
    let all = scratch.at(KEPT)?.at(path)?.as_map()?;
    Some(Map::from_iter(all.iter().map(|(name, own)| (name.clone(), own.at("texts").cloned().unwrap_or_default()))))
}

/// The lines for a block: what was gathered for the state with this ID, else all that was for the file.
pub fn of_block(ctx: &Ctx, path: &str, id: &str) -> Vec<String> {
    let scratch = ctx.scratch.borrow();
    let Some(all) = scratch.at(KEPT).and_then(|kept| kept.at(path)).and_then(Value::as_map) else { return Vec::new() };
    let is_for = |own: &&Value| {
        own.at("for").and_then(Value::as_list).is_some_and(|ids| ids.iter().any(|other| other.as_str() == Some(id)))
    };
    let own: Vec<&Value> = all.values().filter(is_for).collect();
    let own = if own.is_empty() { all.values().collect() } else { own };
    own.iter().filter_map(|own| own.at("texts").and_then(Value::as_list)).flatten().map(Value::to_text).collect()
}
