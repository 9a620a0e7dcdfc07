//! `listen`: states that react to changes of others when all have run.

use super::super::graph::tag;
use super::Runner;
use halite_core::requisite::KEYWORDS;
use halite_value::{Map, Value};
use std::collections::HashMap;

/// Who listens to whom.
struct Listener {
    /// The module and the ID or name of the state that reacts.
    module: String,
    called: String,
    to: Vec<(String, String)>,
}

impl Runner<'_, '_> {
    pub(super) fn listen(&mut self) {
        let mut errors = Vec::new();
        let mut reacting: Vec<usize> = Vec::new();
        let index = self.index();
        for listener in self.listeners(&index) {
            for (module, called) in &listener.to {
                let Some(watched) = index.get(&(module.clone(), called.clone())) else {
                    errors.push((module.clone(), called.clone()));
                    continue;
                };
                for chunk in watched {
                    let result = self.results[*chunk].as_ref();
                    if !result.is_some_and(|result| result.at("changes").is_some_and(Value::truthy)) {
                        continue;
                    }
                    match index.get(&(listener.module.clone(), listener.called.clone())) {
                        Some(chunks) => reacting.extend(chunks),
                        None => errors.push((listener.module.clone(), listener.called.clone())),
                    }
                }
            }
        }
        let mut done: Vec<usize> = Vec::new();
        for chunk in reacting {
            if done.contains(&chunk) {
                continue;
            }
            done.push(chunk);
            let added = self.add_listener(chunk);
            let result = self.call(added, &[]);
            self.end(added, result);
            if self.fails_hard(added) {
                return;
            }
        }
        for (module, called) in errors {
            self.add_missing(&module, &called);
        }
    }

    /// The chunks by module and by ID and name.
    fn index(&self) -> HashMap<(String, String), Vec<usize>> {
        let mut index: HashMap<(String, String), Vec<usize>> = HashMap::new();
        for (at, chunk) in self.chunks.iter().enumerate() {
            let text = |name: &str| chunk.at(name).map(Value::to_text).unwrap_or_default();
            let (id, name) = (text("__id__"), text("name"));
            if id != name {
                index.entry((text("state"), name)).or_default().push(at);
            }
            index.entry((text("state"), id)).or_default().push(at);
        }
        index
    }

    fn listeners(&self, index: &HashMap<(String, String), Vec<usize>>) -> Vec<Listener> {
        let mut all = Vec::new();
        for chunk in &self.chunks {
            let text = |name: &str| chunk.at(name).map(Value::to_text).unwrap_or_default();
            if let Some(Value::List(items)) = chunk.at("listen") {
                let to = items.iter().flat_map(|item| self.named(item, index)).collect();
                all.push(Listener { module: text("state"), called: text("__id__"), to });
            }
            for item in chunk.at("listen_in").and_then(Value::as_list).unwrap_or_default() {
                for (module, called) in self.named(item, index) {
                    all.push(Listener { module, called, to: vec![(text("state"), text("__id__"))] });
                }
            }
        }
        all
    }

    /// What an item of `listen` means; a text is an ID or a name, and what nothing is called is left out.
    fn named(&self, item: &Value, index: &HashMap<(String, String), Vec<usize>>) -> Vec<(String, String)> {
        if let Value::Map(map) = item {
            return map.iter().map(|(module, called)| (module.to_text(), called.to_text())).collect();
        }
        let called = item.to_text();
        let chunk =
            index.iter().filter(|((_, other), _)| *other == called).filter_map(|(_, chunks)| chunks.last()).max();
        let chunk = chunk.and_then(|chunk| self.chunks.get(*chunk));
        let text = |chunk: &Map, name: &str| chunk.at(name).map(Value::to_text).unwrap_or_default();
        chunk.map(|chunk| (text(chunk, "state"), text(chunk, "__id__"))).into_iter().collect()
    }

    /// Adds a chunk that is a state's reaction, with an ID of its own.
    fn add_listener(&mut self, chunk: usize) -> usize {
        let mut low = super::reaction_of(&self.chunks[chunk]);
        let id = low.at("__id__").map(Value::to_text).unwrap_or_default();
        low.insert("__id__", format!("listener_{id}"));
        for keyword in KEYWORDS {
            low.remove(keyword);
        }
        self.add(low)
    }

    fn add(&mut self, low: Map) -> usize {
        let added = self.chunks.len();
        self.graph.add(added, &low);
        self.chunks.push(low);
        self.results.push(None);
        self.checked.push(None);
        added
    }

    /// Tells of a state that somebody listens to and that there is not.
    fn add_missing(&mut self, module: &str, called: &str) {
        let low = Map::from_iter([
            ("name", format!("listen_{module}")),
            ("__id__", format!("listen_{called}")),
            ("state", "Listen_Error".to_owned()),
            ("fun", "Listen_Error".to_owned()),
        ]);
        if self.graph.state_of(&tag(&low)).is_some() {
            return;
        }
        let mut result = Map::from_iter([
            ("comment", format!("Referenced state {module}: {called} does not exist")),
            ("name", format!("listen_{module}:{called}")),
        ]);
        result.insert("result", false);
        result.insert("changes", Map::new());
        result.insert("__run_num__", self.next_number());
        let added = self.add(low);
        self.end(added, result);
    }
}
