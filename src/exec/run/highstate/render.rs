//! SLS files to high data: rendering, includes, and the marks that say where each state is from.

use super::sheet::append;
use super::{Compiler, Matches};
use halite_core::paths;
use halite_node::sls::Found;
use halite_value::{Map, Text, Value};
use std::collections::HashSet;

/// Where an SLS is, as includes are resolved from it.
#[derive(Clone, Copy)]
struct Here<'h> {
    sls: &'h str,
    saltenv: &'h str,
    is_init: bool,
}

/// What is known while the SLS of a run are rendered.
pub struct Progress<'p> {
    /// `saltenv:sls` of all that were rendered.
    seen: HashSet<String>,
    /// The environments and SLS that the run is of.
    matches: &'p Matches,
    pub errors: Vec<String>,
}

impl<'p> Progress<'p> {
    pub fn new(matches: &'p Matches) -> Progress<'p> {
        Progress { seen: HashSet::new(), matches, errors: Vec::new() }
    }
}

impl Compiler<'_> {
    /// The high data of all SLS that match, and what is wrong with them.
    pub fn render(&self, matches: &Matches) -> (Map, Vec<String>) {
        let mut high = Map::new();
        let mut progress = Progress::new(matches);
        for (saltenv, patterns) in matches {
            if !self.has_environment(saltenv) && !self.has_environment("__env__") {
                let message = format!("No matching salt environment for environment '{saltenv}' found");
                progress.errors.push(message);
            }
            for pattern in patterns {
                for sls in self.tree.meant(pattern, saltenv) {
                    if progress.seen.contains(&format!("{saltenv}:{sls}")) {
                        continue;
                    }
                    let before = progress.errors.len();
                    let state = self.render_sls(&sls, saltenv, &mut progress);
                    merge_included(&mut high, state, &mut progress.errors);
                    // What was asked for itself and is not there has words of its own.
                    let this = format!("SLS {pattern} in saltenv");
                    for error in &mut progress.errors[before..] {
                        if error.contains("is not available") && error.contains(&this) {
                            *error = format!("No matching sls found for '{pattern}' in env '{saltenv}'");
                        }
                    }
                }
            }
        }
        without_doubles(&mut high);
        (high, progress.errors)
    }

    /// The high data of one SLS and those that it includes.
    pub fn render_sls(&self, sls: &str, saltenv: &str, progress: &mut Progress) -> Map {
        match self.tree.find(sls, saltenv) {
            Ok(Some(found)) => self.render_found(&found, sls, saltenv, progress),
            Ok(None) => {
                progress.errors.push(format!(
                    "Specified SLS {sls} in saltenv {saltenv} is not available on the salt master or through a configured \
                     fileserver"
                ));
                Map::new()
            }
            Err(fault) => {
                progress.errors.push(fault.to_string());
                Map::new()
            }
        }
    }

    /// The high data of a file that stands in no tree.
    pub fn render_file(&self, path: &str) -> Result<Map, Vec<String>> {
        if !paths::is_file(self.ctx.host, path) {
            return Err(vec![format!("Specified SLS {path} on local filesystem cannot be found.")]);
        }
        let matches = Matches::new();
        let mut progress = Progress::new(&matches);
        let found = Found { path: path.to_owned(), is_init: false };
        let high = self.render_found(&found, path, self.saltenv().unwrap_or("base"), &mut progress);
        if progress.errors.is_empty() { Ok(high) } else { Err(progress.errors) }
    }

    /// The high data of a text, or of what a text has become, which includes nothing.
    pub fn render_single(&self, name: &str, template: Value) -> Result<Map, Vec<String>> {
        let saltenv = self.saltenv().unwrap_or("base");
        let rendered = match template {
            Value::Str(text) => self.tree.render_text(self.ctx, name, &text, saltenv),
            data => Ok(data),
        };
        let mut high = match rendered {
            Ok(Value::Map(high)) => high,
            Ok(_) => return Err(vec![format!("Template {name} does not render to a dictionary")]),
            Err(error) => return Err(vec![format!("Rendering {name} failed: {error}")]),
        };
        let own = |key: &&str| high.contains(key);
        if let Some(key) = ["include", "exclude", "extends"].iter().find(|key| own(key)) {
            return Err(vec![format!(
                "The '{key}' declaration found on '{name}' is invalid when rendering single templates"
            )]);
        }
        let mut errors = Vec::new();
        declare(&mut high, Here { sls: name, saltenv, is_init: false }, &mut errors);
        self.number(&mut high);
        if errors.is_empty() { Ok(high) } else { Err(errors) }
    }

    /// The same for a file that was found, which need not be in the tree.
    pub fn render_found(&self, found: &Found, sls: &str, saltenv: &str, progress: &mut Progress) -> Map {
        let rendered = self.tree.render(self.ctx, &found.path, sls, saltenv, Map::new());
        progress.seen.insert(format!("{saltenv}:{sls}"));
        let mut state = match rendered {
            Ok(Value::Map(state)) => state,
            Ok(_) => {
                progress.errors.push(format!("SLS {sls} does not render to a dictionary"));
                return Map::new();
            }
            Err(error) => {
                let message = format!("Rendering SLS '{saltenv}:{sls}' failed: {error}");
                log::error!("{message}");
                progress.errors.push(message);
                return Map::new();
            }
        };
        let here = Here { sls, saltenv, is_init: found.is_init };
        let include = match state.at("include") {
            Some(Value::List(_)) => state.remove("include"),
            Some(_) => {
                progress.errors.push(format!("Include Declaration in SLS {sls} is not formed as a list"));
                None
            }
            None => None,
        };
        take_extend(&mut state, here, &mut progress.errors);
        take_exclude(&mut state, here, &mut progress.errors);
        declare(&mut state, here, &mut progress.errors);
        for item in include.as_ref().and_then(Value::as_list).unwrap_or_default() {
            self.include(&mut state, item, here, progress);
        }
        self.number(&mut state);
        state
    }

    /// Resolves an include and renders what it means into the state.
    fn include(&self, state: &mut Map, item: &Value, here: Here, progress: &mut Progress) {
        let (saltenv, wanted) = match item {
            Value::Map(map) => match map.iter().next_back() {
                Some((saltenv, wanted)) => (saltenv.to_text(), wanted.to_text()),
                None => return,
            },
            wanted => (here.saltenv.to_owned(), wanted.to_text()),
        };
        let Here { sls, .. } = here;
        if !self.has_environment(&saltenv) && !self.has_environment("__env__") {
            progress.errors.push(format!(
                "Nonexistent saltenv '{saltenv}' found in include of '{wanted}' within SLS '{}:{sls}'",
                here.saltenv
            ));
            return;
        }
        let Some(wanted) = here.resolved(&wanted) else {
            progress.errors.push(format!(
                "Attempted relative include of '{wanted}' within SLS '{}:{sls}' goes beyond top level package ",
                here.saltenv
            ));
            return;
        };
        let has = |saltenv: &str| self.tree.names(saltenv).is_ok_and(|names| !names.matching(&wanted).is_empty());
        let resolved: Vec<String> = match saltenv == ANY {
            true => progress.matches.keys().filter(|saltenv| has(saltenv)).cloned().collect(),
            false if progress.matches.contains_key(&saltenv) || has(&saltenv) => vec![saltenv.clone()],
            false => Vec::new(),
        };
        let own = resolved.iter().any(|name| name == here.saltenv);
        let from = match resolved.as_slice() {
            [one] => one.as_str(),
            _ if own => here.saltenv,
            [] => {
                let all: Vec<&str> = progress.matches.keys().map(String::as_str).collect();
                let searched = if saltenv == ANY { all.join(", ") } else { saltenv.clone() };
                progress.errors.push(format!(
                    "Unknown include: Specified SLS {saltenv}: {wanted} is not available on the salt master in \
                     saltenv(s): {searched} "
                ));
                return;
            }
            several => {
                progress.errors.push(format!(
                    "Ambiguous include: Specified SLS {saltenv}: {wanted} is available on the salt master in multiple \
                     available saltenvs: {}",
                    several.join(", ")
                ));
                return;
            }
        };
        for name in self.tree.meant(&wanted, here.saltenv) {
            if progress.seen.contains(&format!("{from}:{name}")) {
                continue;
            }
            let mut nested = self.render_sls(&name, from, progress);
            for (id, body) in nested.iter_mut() {
                if let (Value::Map(body), false) = (body, super::sheet::is_hidden(id)) {
                    append(body.entry_or("__sls_included_from__", || Value::List(Vec::new())), [sls.into()]);
                }
            }
            merge_included(state, nested, &mut progress.errors);
        }
    }

    /// Gives each state that has no `order` the next one.
    fn number(&self, state: &mut Map) {
        if self.ctx.opts.at("state_auto_order").is_some_and(|auto| !auto.truthy()) {
            return;
        }
        for (_, body) in state.iter_mut() {
            let Value::Map(body) = body else { continue };
            for (key, run) in body.iter_mut() {
                let (Value::Str(key), Value::List(arguments)) = (key, run) else { continue };
                let has_order = arguments.iter().any(|argument| super::sheet::first_key(argument) == Some("order"));
                if key.starts_with('_') || has_order {
                    continue;
                }
                arguments.push(Map::from_iter([("order", self.order.get())]).into());
                self.order.set(self.order.get() + 1);
            }
        }
    }
}

/// The environment of an include that is looked for in all that match.
const ANY: &str = "_xenv";

impl Here<'_> {
    /// The full name of an include; nothing for one that leads out of the tree.
    fn resolved(&self, wanted: &str) -> Option<String> {
        let rest = wanted.trim_start_matches('.');
        let levels = wanted.len() - rest.len();
        if levels == 0 {
            return Some(wanted.to_owned());
        }
        let mut steps: Vec<&str> = self.sls.split('.').collect();
        if self.is_init {
            steps.push("init");
        }
        steps.truncate(steps.len().checked_sub(levels)?);
        steps.push(rest);
        Some(steps.join("."))
    }
}

/// Puts `file.managed: [..]` in its long form, and notes where each ID is from.
fn declare(state: &mut Map, here: Here, errors: &mut Vec<String>) {
    let Here { sls, saltenv, .. } = here;
    for (id, body) in state.iter_mut() {
        if matches!(id.as_str(), Some("__extend__" | "__exclude__")) && !matches!(body, Value::Map(_)) {
            continue;
        }
        match body {
            Value::Map(body) => {
                lengthen(body, |_| {
                    errors.push(format!(
                        "ID '{}' in SLS '{sls}' contains multiple state declarations of the same type",
                        id.to_text()
                    ));
                });
                body.entry_or("__sls__", || sls.into());
                body.entry_or("__env__", || saltenv.into());
            }
            Value::Str(short) if short.contains('.') => {
                let mut parts = short.split('.');
                let (module, function) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                let mut long = Map::from_iter([("__sls__", sls), ("__env__", saltenv)]);
                long.insert(module, Value::list([function]));
                *body = long.into();
            }
            _ => errors.push(format!("ID {} in SLS {sls} is not a dictionary", id.to_text())),
        }
    }
}

/// `file.managed: [..]` becomes `file: [.., managed]`, behind the other keys; `twice` is told of a module that was
/// declared before.
pub fn lengthen(body: &mut Map, mut twice: impl FnMut(&str)) {
    let is_dotted = |(key, run): (&Value, &Value)| {
        let dotted = key.as_str().is_some_and(|key| key.contains('.') && !key.starts_with('_'));
        dotted && matches!(run, Value::List(_))
    };
    if !body.iter().any(is_dotted) {
        return;
    }
    let mut kept = Map::with_capacity(body.len() + 2);
    // Most IDs have one state, and nothing else.
    let mut long: Vec<(Text, Value)> = Vec::with_capacity(1);
    for (key, mut run) in std::mem::take(body) {
        match key {
            Value::Str(key) if key.contains('.') && !key.starts_with('_') && matches!(run, Value::List(_)) => {
                let mut parts = key.split('.');
                let (module, function) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                let declared = |there: &Value| matches!(there, Value::List(_));
                if long.iter().any(|(name, _)| name == module) || kept.at(module).is_some_and(declared) {
                    twice(module);
                    kept.insert(key, run);
                    continue;
                }
                append(&mut run, [function.into()]);
                long.push((module.into(), run));
            }
            key => drop(kept.insert(key, run)),
        }
    }
    for (module, run) in long {
        kept.insert(module, run);
    }
    *body = kept;
}

/// Takes `extend` out of an SLS: it is applied to the data of all.
fn take_extend(state: &mut Map, here: Here, errors: &mut Vec<String>) {
    let Some(extend) = state.remove("extend") else {
        return;
    };
    let Value::Map(mut extend) = extend else {
        errors.push(format!("Extension value in SLS '{}' is not a dictionary", here.sls));
        return;
    };
    for (id, body) in extend.iter_mut() {
        let Value::Map(body) = body else {
            let id = id.to_text();
            errors.push(format!("Extension name '{id}' in SLS '{}' is not a dictionary", here.sls));
            continue;
        };
        body.entry_or("__sls__", || here.sls.into());
        body.entry_or("__env__", || here.saltenv.into());
        lengthen(body, |_| {});
    }
    append(state.entry_or("__extend__", || Value::List(Vec::new())), [extend.into()]);
}

/// Takes `exclude` out of an SLS.
fn take_exclude(state: &mut Map, here: Here, errors: &mut Vec<String>) {
    let Some(exclude) = state.remove("exclude") else {
        return;
    };
    let Value::List(exclude) = exclude else {
        errors.push(format!("Exclude Declaration in SLS {} is not formed as a list", here.sls));
        return;
    };
    append(state.entry_or("__exclude__", || Value::List(Vec::new())), exclude);
}

/// Puts the states of an SLS to those of another; an ID that both have is an error.
fn merge_included(high: &mut Map, mut state: Map, errors: &mut Vec<String>) {
    for key in ["__extend__", "__exclude__"] {
        if let Some(Value::List(items)) = state.remove(key) {
            append(high.entry_or(key, || Value::List(Vec::new())), items);
        }
    }
    if high.is_empty() {
        *high = state;
        return;
    }
    for (id, body) in state {
        if let Some(there) = high.at_value(&id).filter(|there| **there != body) {
            let mark = |body: &Value| {
                let mark = |name| super::sheet::mark(body, name, "").to_owned();
                format!("'{}:{}'", mark("__env__"), mark("__sls__"))
            };
            errors.push(format!(
                "Detected conflicting IDs, SLS IDs need to be globally unique.\n    The conflicting ID is '{}' and is \
                 found in SLS {} and SLS {}",
                id.to_text(),
                mark(there),
                mark(&body)
            ));
        }
        high.insert(id, body);
    }
}

/// Each extension once, one ID each.
fn without_doubles(high: &mut Map) {
    let Some(extend) = high.at_mut("__extend__") else {
        return;
    };
    let Value::List(chunks) = std::mem::take(extend) else {
        return;
    };
    let mut all: Vec<Value> = Vec::new();
    for chunk in chunks {
        let Value::Map(chunk) = chunk else { continue };
        for (id, body) in chunk {
            let one = Value::Map(Map::from_iter([(id, body)]));
            if !all.contains(&one) {
                all.push(one);
            }
        }
    }
    *extend = Value::List(all);
}
