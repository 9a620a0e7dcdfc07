//! States by what others call them: by ID, by name, by the SLS that they are in.

use super::sheet::{self, arguments, first, is_hidden, states};
use halite_value::{Map, Value};
use std::collections::HashMap;

/// How exactly an ID must be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// An ID is one, whatever is declared below it.
    Name,
    /// An ID must have a state of the module.
    State,
}

/// Finds states in high data that grows. What takes a look at all of it is noted at the first look.
#[derive(Default)]
pub struct Finder {
    /// IDs by module and by the value of an argument, which is what a name is looked for in.
    by_value: Option<HashMap<(String, String), Vec<String>>>,
    by_sls: Option<HashMap<String, Vec<String>>>,
    by_name: Option<HashMap<String, (String, String)>>,
}

impl Finder {
    /// The IDs, each with its module, that `name` means for a module; an SLS has all its IDs.
    pub fn find(&mut self, name: &str, module: &str, high: &Map, by: By) -> Vec<(String, String)> {
        let body = high.at(name).and_then(Value::as_map);
        if body.is_some_and(|body| by == By::Name || body.contains(module)) {
            return vec![(name.to_owned(), module.to_owned())];
        }
        if module == "sls" {
            let ids = self.ids_of_sls(name, high).to_vec();
            let first = |id: &String| Some(high.at(id)?.as_map()?.first()?.0.to_text());
            return ids.into_iter().filter_map(|id| first(&id).map(|module| (id, module))).collect();
        }
        let by_value = self.by_value.get_or_insert_with(|| values(high));
        let key = (module.to_owned(), name.to_owned());
        let Some(ids) = by_value.get(&key) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for id in ids {
            // Arguments may have been replaced since; each that is still there counts, as in Salt.
            let run = high.at(id).and_then(|body| body.at(module));
            let run = run.map(arguments).unwrap_or_default();
            let times = run.iter().filter(|argument| is_value(argument, name)).count();
            found.extend((0..times).map(|_| (id.clone(), module.to_owned())));
        }
        found
    }

    /// Notes that an ID has got an argument.
    pub fn note(&mut self, id: &str, module: &str, argument: &Value) {
        if let (Some(by_value), Some(value)) = (&mut self.by_value, value(argument)) {
            let ids = by_value.entry((module.to_owned(), value.to_owned())).or_default();
            if !ids.iter().any(|other| other == id) {
                ids.push(id.to_owned());
            }
        }
    }

    /// The IDs of an SLS.
    pub fn ids_of_sls(&mut self, sls: &str, high: &Map) -> &[String] {
        let by_sls = self.by_sls.get_or_insert_with(|| {
            let mut all: HashMap<String, Vec<String>> = HashMap::new();
            for (id, body) in high {
                if let (Some(id), Value::Map(body)) = (id.as_str(), body) {
                    all.entry(body.str_at("__sls__").unwrap_or_default().to_owned()).or_default().push(id.to_owned());
                }
            }
            all
        });
        by_sls.get(sls).map(Vec::as_slice).unwrap_or_default()
    }

    /// The first state that has this `name`: its module and ID.
    pub fn named(&mut self, name: &str, high: &Map) -> Option<(String, String)> {
        let by_name = self.by_name.get_or_insert_with(|| {
            let mut all = HashMap::new();
            for (id, body) in high.iter().filter_map(|(id, body)| Some((id.as_str()?, body.as_map()?))) {
                for (module, run) in states(body) {
                    for name in arguments(run).iter().filter_map(|argument| argument.at("name")?.as_str()) {
                        all.entry(name.to_owned()).or_insert_with(|| (module.to_owned(), id.to_owned()));
                    }
                }
            }
            all
        });
        by_name.get(name).cloned()
    }
}

fn values(high: &Map) -> HashMap<(String, String), Vec<String>> {
    let mut all: HashMap<(String, String), Vec<String>> = HashMap::new();
    for (id, body) in high.iter().filter(|(id, _)| !is_hidden(id)) {
        let (Some(id), Value::Map(body)) = (id.as_str(), body) else { continue };
        for (module, run) in states(body) {
            for value in arguments(run).iter().filter_map(value) {
                let ids = all.entry((module.to_owned(), value.to_owned())).or_default();
                if ids.last().is_none_or(|last| last != id) {
                    ids.push(id.to_owned());
                }
            }
        }
    }
    all
}

/// The text of an argument with one key.
fn value(argument: &Value) -> Option<&str> {
    argument.as_map().filter(|map| map.len() == 1)?;
    first(argument)?.1.as_str()
}

fn is_value(argument: &Value, wanted: &str) -> bool {
    value(argument) == Some(wanted)
}

/// The names of the arguments that a state has.
pub fn argument_names(body: Option<&Value>, module: &str) -> Vec<String> {
    let run = body.and_then(|body| body.at(module)).map(arguments).unwrap_or_default();
    let single = run.iter().filter(|argument| argument.as_map().is_some_and(|map| map.len() == 1));
    single.filter_map(sheet::first_key).map(str::to_owned).collect()
}
