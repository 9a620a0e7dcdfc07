//! `require_in`, `watch_in`, ... and `use`, `use_in`: what a state says of others, brought to these others.

use super::extend;
use super::find::{By, Finder, argument_names};
use super::sheet::{self, append, arguments, first, first_key};
use halite_value::{Map, Value};
use indexmap::IndexMap;

const KINDS: [&str; 7] = ["require_in", "watch_in", "onfail_in", "onchanges_in", "use", "use_in", "prereq_in"];

/// Arguments that `use` and `use_in` leave where they are.
const NOT_USED: [&str; 15] = [
    "require_in",
    "watch_in",
    "onfail_in",
    "onchanges_in",
    "use",
    "use_in",
    "prereq_in",
    "require",
    "watch",
    "prereq",
    "onfail",
    "onfail_stop",
    "onchanges",
    "name",
    "names",
];

/// Applies all of them.
pub fn apply(mut high: Map, opts: &Map) -> (Map, Vec<String>) {
    let mut turned = Turned { high: &high, finder: Finder::default(), extend: IndexMap::new(), errors: Vec::new() };
    let disabled = disabled(opts);
    for (id, body) in high.iter().filter_map(|(id, body)| Some((id.as_str()?, body.as_map()?))) {
        for (module, run) in sheet::states(body) {
            for argument in arguments(run) {
                let Some((key, items)) = first(argument) else { continue };
                let Some(kind) = KINDS.iter().find(|kind| key.as_str() == Some(kind)) else { continue };
                if disabled.iter().any(|disabled| disabled == kind) {
                    log::warn!("The {kind} requisite has been disabled, Ignoring.");
                    continue;
                }
                turned.take(Said { kind, id, module, body }, items);
            }
        }
    }
    let Turned { extend, mut errors, .. } = turned;
    if extend.is_empty() {
        return (high, errors);
    }
    let extend = extend.into_iter().map(|(id, about)| Value::Map(Map::from_iter([(id, about.body())])));
    let extend: Vec<Value> = extend.collect();
    high.insert("__extend__", extend);
    let (high, more) = extend::reconcile(high, By::State);
    errors.extend(more);
    (high, errors)
}

/// The option `disabled_requisites`.
pub fn disabled(opts: &Map) -> Vec<String> {
    match opts.at("disabled_requisites") {
        Some(Value::List(names)) => names.iter().map(Value::to_text).collect(),
        Some(Value::Str(name)) => vec![name.to_string()],
        _ => Vec::new(),
    }
}

/// Where something is said of other states.
#[derive(Clone, Copy)]
struct Said<'h> {
    kind: &'h str,
    id: &'h str,
    module: &'h str,
    body: &'h Map,
}

impl<'h> Said<'h> {
    /// `require` for `require_in`.
    fn requisite(&self) -> &'h str {
        self.kind.split('_').next().unwrap_or(self.kind)
    }

    fn sls(&self) -> &str {
        self.body.str_at("__sls__").unwrap_or_default()
    }
}

/// What was said of an ID.
#[derive(Default)]
struct About {
    modules: IndexMap<String, Vec<Value>>,
    /// `__env__` and `__sls__` of who said it.
    marks: Map,
}

impl About {
    fn body(self) -> Map {
        let mut body: Map = self.modules.into_iter().collect();
        body.extend(self.marks);
        body
    }
}

/// What was said, turned around: by the ID that it is about.
struct Turned<'h> {
    high: &'h Map,
    finder: Finder,
    extend: IndexMap<String, About>,
    errors: Vec<String>,
}

impl<'h> Turned<'h> {
    fn take(&mut self, said: Said<'h>, items: &Value) {
        match items {
            Value::Map(items) => {
                for (module, name) in items {
                    let (module, name) = (module.to_text(), name.to_text());
                    if let Some((bare, _)) = module.split_once('.') {
                        self.errors.push(format!(
                            "Invalid requisite in {}: {module} for {name} in SLS '{}'. Requisites must not contain dots, \
                             did you mean '{bare}'?",
                            said.requisite(),
                            said.sls()
                        ));
                    }
                    self.require(said, &name, module.split('.').next().unwrap_or_default());
                }
            }
            Value::List(items) => {
                // What came before in the list is gone through again, as in Salt: requisites stand there several times.
                let mut about: Vec<(String, String)> = Vec::new();
                for item in items {
                    let Some((module, name)) = self.named(item) else { continue };
                    match module.as_str() {
                        "sls" => about = self.all_of_sls(&name),
                        _ => about.push((name.clone(), module.clone())),
                    }
                    if let Some((bare, _)) = module.split_once('.') {
                        self.errors.push(format!(
                            "Invalid requisite in {}: {module} for {name}, in SLS '{}'. Requisites must not contain dots, \
                             did you mean '{bare}'?",
                            said.requisite(),
                            said.sls()
                        ));
                    }
                    for (name, module) in &about {
                        match said.kind {
                            "use" => self.take_over(said, name, module),
                            "use_in" => self.hand_over(said, name, module),
                            _ => self.require(said, name, module),
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// The module and name that an item means; a text is an ID, else the name of a state.
    fn named(&mut self, item: &Value) -> Option<(String, String)> {
        if let Value::Map(map) = item {
            let (module, name) = map.first()?;
            return Some((module.to_text(), name.to_text()));
        }
        let name = item.to_text();
        match self.high.at(&name).and_then(Value::as_map) {
            Some(body) => sheet::states(body).next().map(|(module, _)| (module.to_owned(), name)),
            None => self.finder.named(&name, self.high),
        }
    }

    fn all_of_sls(&mut self, sls: &str) -> Vec<(String, String)> {
        let high = self.high;
        let ids = self.finder.ids_of_sls(sls, high).iter();
        let modules = |id: &String| {
            let body = high.at(id).and_then(Value::as_map);
            let modules = body.into_iter().flat_map(sheet::states).map(|(module, _)| module.to_owned());
            modules.map(|module| (id.clone(), module)).collect::<Vec<_>>()
        };
        ids.flat_map(modules).collect()
    }

    fn place(&mut self, id: &str, module: &str) -> &mut Vec<Value> {
        self.extend.entry(id.to_owned()).or_default().modules.entry(module.to_owned()).or_default()
    }

    /// Makes the state that says it a requisite of another.
    fn require(&mut self, said: Said<'h>, name: &str, module: &str) {
        let requisite = said.requisite();
        let own = Value::Map(Map::from_iter([(said.module, said.id)]));
        let place = self.place(name, module);
        let mut found = false;
        for argument in place.iter_mut().filter(|argument| first_key(argument) == Some(requisite)) {
            if let Value::Map(argument) = argument {
                append(argument.entry_or(requisite, Value::default), [own.clone()]);
                found = true;
            }
        }
        if !found {
            place.push(Map::from_iter([(requisite, Value::List(vec![own]))]).into());
        }
        if let Some(about) = self.extend.get_mut(name) {
            for mark in ["__env__", "__sls__"] {
                about.marks.insert(mark, said.body.at(mark).cloned());
            }
        }
    }

    /// `use`: the arguments of another state, where this one has none.
    fn take_over(&mut self, said: Said<'h>, name: &str, module: &str) {
        for (id, module) in self.finder.find(name, module, self.high, By::State) {
            let own = argument_names(self.high.at(said.id), said.module);
            let lent = lent(self.high.at(&id), &module, &own);
            self.place(said.id, said.module).extend(lent);
        }
    }

    /// `use_in`: this state's arguments, where another has none.
    fn hand_over(&mut self, said: Said<'h>, name: &str, module: &str) {
        for (id, module) in self.finder.find(name, module, self.high, By::State) {
            let own = argument_names(self.high.at(&id), &module);
            let lent = lent(self.high.at(said.id), said.module, &own);
            self.place(&id, &module).extend(lent);
        }
    }
}

/// The arguments of a state that another may use, which has `own`.
fn lent(body: Option<&Value>, module: &str, own: &[String]) -> Vec<Value> {
    let run = body.and_then(|body| body.at(module)).map(arguments).unwrap_or_default();
    let is_lent = |argument: &&Value| {
        let single = argument.as_map().is_some_and(|map| map.len() == 1);
        let key = first_key(argument).unwrap_or_default();
        single && !NOT_USED.contains(&key) && !own.iter().any(|own| own == key)
    };
    run.iter().filter(is_lent).cloned().collect()
}
