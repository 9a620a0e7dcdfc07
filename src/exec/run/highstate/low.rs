//! High data to low chunks: one map for each state function and name, in the order in which they run.

use super::graph::{Graph, Step};
use super::sheet;
use crate::states;
use halite_lang::target::fnmatch::fnmatch;
use halite_value::{Map, Value};

/// The low chunks of a run.
#[derive(Debug, Default)]
pub struct Low {
    pub chunks: Vec<Map>,
    pub graph: Graph,
    /// The order in which to go through the chunks.
    pub steps: Vec<Step>,
    /// Chunks that `state.disable` keeps from running, each with the reason.
    pub disabled: Vec<(Map, String)>,
}

impl Low {
    /// The chunks in their order, as `state.show_lowstate` shows them.
    pub fn ordered(mut self) -> Vec<Value> {
        let mut times = vec![0_u32; self.chunks.len()];
        for step in &self.steps {
            times[step.chunk] += 1;
        }
        let shown = |step: &Step| {
            times[step.chunk] -= 1;
            // What is checked before others run stands there twice.
            let chunk = &mut self.chunks[step.chunk];
            if times[step.chunk] == 0 { std::mem::take(chunk).into() } else { chunk.clone().into() }
        };
        self.steps.iter().map(shown).collect()
    }
}

/// Cuts high data into chunks and puts them in order.
pub fn compile(high: Map, opts: &Map, grains: &Map) -> Result<Low, Vec<String>> {
    order(cut_all(high, grains), opts)
}

/// Cuts high data into chunks.
pub fn cut_all(high: Map, grains: &Map) -> Low {
    let mut low = Low::default();
    for (id, body) in high {
        let (Value::Str(id), Value::Map(body)) = (id, body) else { continue };
        if !id.starts_with("__") {
            cut(&id, body, grains, &mut low);
        }
    }
    low
}

/// Puts chunks that somebody else made in order (`state.low` and packages of states).
pub fn order(mut low: Low, opts: &Map) -> Result<Low, Vec<String>> {
    low.graph = Graph::with_capacity(low.chunks.len());
    for at in 0..low.chunks.len() {
        reconcile_watch(&mut low.chunks[at]);
        low.graph.add(at, &low.chunks[at]);
    }
    let mut errors = low.graph.connect(&mut low.chunks, opts);
    let mut cap = 1;
    for order in low.chunks.iter().filter_map(|chunk| chunk.at("order")?.as_int()) {
        if order > cap - 1 && order > 0 {
            cap = order.saturating_add(100);
        }
    }
    match low.graph.sorted(&mut low.chunks, cap) {
        Ok(steps) => low.steps = steps,
        Err(error) => errors.push(error),
    }
    if errors.is_empty() { Ok(low) } else { Err(errors) }
}

/// The chunks of one ID.
fn cut(id: &str, body: Map, grains: &Map, low: &mut Low) {
    const MARKS: [&str; 3] = ["__sls__", "__env__", "__sls_included_from__"];
    let marks = MARKS.map(|mark| (mark, body.at(mark).cloned()));
    for (module, run) in body {
        let (Value::Str(module), Value::List(run)) = (module, run) else { continue };
        if module.starts_with("__") {
            continue;
        }
        let mut chunk = Map::with_capacity(run.len() + marks.len() + 4);
        chunk.insert("state", module);
        chunk.insert("name", id);
        for (mark, value) in &marks {
            if let Some(value) = value {
                chunk.insert(*mark, value.clone());
            }
        }
        chunk.insert("__id__", id);
        let (mut function, mut names) = (None, Vec::new());
        for argument in run {
            match argument {
                Value::Str(name) => function = Some(name),
                Value::Map(map) => add(map, id, &mut chunk, &mut names),
                _ => {}
            }
        }
        let Some(function) = function else { continue };
        let mut take = |mut live: Map| {
            live.insert("fun", function.as_str());
            match disabled(&live, grains) {
                Some(reason) => low.disabled.push((live, reason)),
                None => low.chunks.push(live),
            }
        };
        match names.is_empty() {
            true => take(chunk),
            false => named(&chunk, names).for_each(take),
        }
    }
}

/// Adds an argument to a chunk.
fn add(argument: Map, id: &str, chunk: &mut Map, names: &mut Vec<Value>) {
    for (key, value) in argument {
        match (key.as_str(), value) {
            (Some("names"), Value::List(all)) => {
                for name in all {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
            (Some("state" | "names"), _) => {}
            // Not a name: the ID is.
            (Some("name"), value) if value.as_str().is_none() => drop(chunk.insert("name", id)),
            (_, value) => drop(chunk.insert(key, value)),
        }
    }
}

/// A chunk for each name, which may have arguments of its own.
fn named(chunk: &Map, names: Vec<Value>) -> impl Iterator<Item = Map> {
    names.into_iter().enumerate().map(|(at, entry)| {
        let mut live = chunk.clone();
        match sheet::first(&entry) {
            Some((name, arguments)) => {
                live.insert("name", name.clone());
                for argument in sheet::arguments(arguments).iter().filter_map(Value::as_map) {
                    live.extend(argument.clone());
                }
            }
            None => drop(live.insert("name", entry)),
        }
        live.insert("name_order", at + 1);
        live
    })
}

/// Why `state.disable` keeps a chunk from running.
fn disabled(chunk: &Map, grains: &Map) -> Option<String> {
    let patterns = grains.at("state_runs_disabled")?.as_list()?;
    let function = format!("{}.{}", chunk.str_at("state").unwrap_or_default(), chunk.str_at("fun").unwrap_or_default());
    let pattern = patterns.iter().filter_map(Value::as_str).find(|pattern| fnmatch(&function, pattern))?;
    Some(format!(
        "The state function \"{function}\" is currently disabled by \"{pattern}\", to re-enable, run state.enable \
         {pattern}."
    ))
}

/// A state that cannot react to changes of others can still wait for them.
fn reconcile_watch(chunk: &mut Map) {
    if chunk.str_at("state").is_some_and(states::watches) {
        return;
    }
    for (watch, require) in [("watch", "require"), ("watch_any", "require_any")] {
        if let Some(Value::List(items)) = chunk.remove(watch) {
            sheet::append(chunk.entry_or(require, || Value::List(Vec::new())), items);
        }
    }
}
