//! The top file: which SLS of which environment a minion has.

use super::sheet::insert;
use super::{Compiler, Matches};
use halite_lang::target::Minion;
use halite_node::pillar::confirmed;
use halite_value::{Map, Value};
use indexmap::IndexMap;

/// The top files of each environment, those that they include behind them.
type Tops = IndexMap<String, Vec<Map>>;

impl Compiler<'_> {
    /// The top files, merged. One that cannot be rendered is told in the log, and there is none then, as in Salt.
    pub fn top(&self) -> Map {
        let merged = self.top_files().and_then(|tops| self.merged(tops));
        merged.unwrap_or_else(|error| {
            log::error!("Unable to render top file: {error}");
            Map::new()
        })
    }

    fn text(&self, option: &str) -> Option<&str> {
        self.ctx.opts.str_at(option).filter(|text| !text.is_empty())
    }

    fn strategy(&self) -> &str {
        self.text("top_file_merging_strategy").unwrap_or("merge")
    }

    fn top_files(&self) -> Result<Tops, String> {
        if self.strategy() == "same" && self.saltenv().is_none() && self.text("default_top").is_none() {
            let message = "top_file_merging_strategy set to 'same', but no default_top configuration option was set";
            return Err(message.to_owned());
        }
        let wanted: Vec<String> =
            match (self.saltenv(), self.ctx.opts.at("state_top_saltenv").filter(|top| top.truthy())) {
                (Some(saltenv), _) => vec![saltenv.to_owned()],
                (None, Some(saltenv)) => vec![saltenv.to_text()],
                (None, None) => self.environments.clone(),
            };
        let name = self.text("state_top").unwrap_or("top.sls");
        let name = name.strip_prefix("salt://").unwrap_or(name).trim_start_matches('/');
        let mut tops = Tops::new();
        let mut found = 0;
        for saltenv in wanted {
            let top = match self.tree.file(name, &saltenv).map_err(|fault| fault.to_string())? {
                Some(path) => {
                    found += 1;
                    self.top_file(&path, &saltenv)?
                }
                None => Map::new(),
            };
            tops.insert(saltenv, vec![top]);
        }
        if found > 1 && self.strategy() == "merge" && self.ctx.opts.at("env_order").is_none_or(|order| !order.truthy())
        {
            log::warn!(
                "several environments have a top file: set top_file_merging_strategy to 'same', or env_order, to say how \
                 they go together"
            );
        }
        for (saltenv, tops) in &mut tops {
            let Some(include) = tops.first_mut().and_then(|top| top.remove("include")) else {
                continue;
            };
            let names = self.tree.names(saltenv).map_err(|fault| fault.to_string())?;
            let mut done: Vec<String> = Vec::new();
            for pattern in include.as_list().unwrap_or_default() {
                for sls in names.matching(&pattern.to_text()) {
                    if done.contains(&sls) {
                        continue;
                    }
                    if let Some(found) = self.tree.find(&sls, saltenv).map_err(|fault| fault.to_string())? {
                        tops.push(self.top_file(&found.path, saltenv)?);
                    }
                    done.push(sls);
                }
            }
        }
        Ok(tops)
    }

    fn top_file(&self, path: &str, saltenv: &str) -> Result<Map, String> {
        match self.tree.render(self.ctx, path, "", saltenv, Map::new())? {
            Value::Map(map) => Ok(map),
            other => Err(format!("{path} is no map of environments but a {}", other.type_name())),
        }
    }

    fn merged(&self, tops: Tops) -> Result<Map, String> {
        let mut merge = Merge { top: Map::new() };
        match self.strategy() {
            "same" => {
                for (saltenv, own) in &tops {
                    let fallback = tops.get(self.text("default_top").unwrap_or_default());
                    let source = if own.iter().all(Map::is_empty) { fallback } else { Some(own) };
                    for top in source.into_iter().flatten() {
                        merge.section(top, saltenv)?;
                    }
                }
            }
            "merge_all" => {
                for top in tops.values().flatten() {
                    merge.all(top)?;
                }
            }
            other => {
                if other != "merge" {
                    log::warn!("Invalid top_file_merging_strategy '{other}', falling back to 'merge'");
                }
                for top in tops.get("base").into_iter().flatten() {
                    for saltenv in top.keys().filter_map(Value::as_str).filter(|saltenv| *saltenv != "include") {
                        merge.section(top, saltenv)?;
                    }
                }
                for (saltenv, own) in tops.iter().filter(|(saltenv, _)| *saltenv != "base") {
                    // What the top file of `base` says of an environment stands.
                    for top in own.iter() {
                        if !merge.top.contains(saltenv) {
                            merge.section(top, saltenv)?;
                        }
                    }
                }
            }
        }
        Ok(merge.top)
    }

    /// The SLS that the minion has.
    pub fn matches(&self, top: &Map) -> Matches {
        let mut matches = Matches::new();
        for (saltenv, targets) in top {
            let (Some(saltenv), Value::Map(targets)) = (saltenv.as_str(), targets) else { continue };
            if self.saltenv().is_some_and(|wanted| wanted != saltenv) {
                continue;
            }
            for (target, items) in targets {
                self.add_matches(saltenv, &target.to_text(), items, &mut matches);
            }
        }
        matches
    }

    fn add_matches(&self, saltenv: &str, target: &str, items: &Value, matches: &mut Matches) {
        let opts = self.ctx.opts;
        let minion =
            Minion { id: opts.str_at("id").unwrap_or_default(), grains: self.ctx.grains, pillar: self.ctx.pillar };
        let nodegroups = opts.at("nodegroups").and_then(Value::as_map);
        let single = [items.clone()];
        let items = items.as_list().unwrap_or(&single);
        let kind = items.iter().filter_map(|item| item.at("match")).next_back().map(Value::to_text);
        if !confirmed(target, kind.as_deref(), &minion, nodegroups) {
            return;
        }
        matches.entry(saltenv.to_owned()).or_default();
        for item in items {
            match item {
                Value::Str(sls) => matches.entry(saltenv.to_owned()).or_default().push(sls.to_string()),
                Value::Map(map) => {
                    if let Some(Value::Map(inner)) = map.at("subfilter") {
                        for (target, items) in inner {
                            self.add_matches(saltenv, &target.to_text(), items, matches);
                        }
                        continue;
                    }
                    // `- dev: sls` takes an SLS of another environment.
                    if let Some((Value::Str(other), sls)) = map.iter().next_back()
                        && self.has_environment(other)
                    {
                        matches.entry(other.to_string()).or_default().push(sls.to_text());
                    }
                }
                _ => {}
            }
        }
    }
}

struct Merge {
    top: Map,
}

impl Merge {
    /// Takes what a top file says of one environment.
    fn section(&mut self, top: &Map, saltenv: &str) -> Result<(), String> {
        let Some(targets) = top.at(saltenv) else {
            return Ok(());
        };
        let targets = targets.as_map().ok_or(NO_TARGETS)?;
        let all = self.top.entry_or(saltenv, || Map::new().into());
        for (target, items) in targets {
            insert(all, target.clone(), items.clone());
        }
        Ok(())
    }

    /// Takes everything, and joins what different files say of the same target.
    fn all(&mut self, top: &Map) -> Result<(), String> {
        for (saltenv, targets) in top.iter().filter(|(saltenv, _)| saltenv.as_str() != Some("include")) {
            let targets = targets.as_map().ok_or(NO_TARGETS)?;
            let all = self.top.entry_or(saltenv.clone(), || Map::new().into());
            for (target, items) in targets {
                let old = all.as_map().and_then(|all| all.at_value(target));
                let items = old.map_or_else(|| items.clone(), |old| joined(old, items));
                insert(all, target.clone(), items);
            }
        }
        Ok(())
    }
}

const NO_TARGETS: &str = "Unable to render top file. No targets found.";

fn joined(old: &Value, new: &Value) -> Value {
    let items = |value: &Value| value.as_list().unwrap_or_default().to_vec();
    let (old, new) = (items(old), items(new));
    let kind = |items: &[Value]| items.iter().rfind(|item| matches!(item, Value::Map(_))).cloned();
    let mut all: Vec<Value> = kind(&new).or_else(|| kind(&old)).into_iter().collect();
    all.extend(old.into_iter().filter(|item| matches!(item, Value::Str(_))));
    for item in new.into_iter().filter(|item| matches!(item, Value::Str(_))) {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    Value::List(all)
}

/// What is wrong with a top file's form.
pub fn verify(top: &Map) -> Vec<String> {
    let mut errors = Vec::new();
    for (saltenv, targets) in top.iter().filter(|(saltenv, _)| saltenv.as_str() != Some("include")) {
        match saltenv.as_str() {
            None => errors.push(format!("Environment {} in top file is not formed as a string", saltenv.to_text())),
            Some("") => errors.push("Empty saltenv statement in top file".to_owned()),
            Some(_) => {}
        }
        let Value::Map(targets) = targets else {
            errors.push(format!("The top file matches for saltenv {} are not formatted as a dict", saltenv.to_text()));
            continue;
        };
        for (target, items) in targets {
            let Value::List(items) = items else {
                let (target, saltenv, kind) = (target.repr(), saltenv.repr(), items.type_name());
                errors.push(format!(
                    "Malformed topfile: state declarations for matcher {target} in saltenv {saltenv} are not formed as a \
                     list (got {kind})"
                ));
                continue;
            };
            for item in items {
                match item {
                    Value::Map(map) => {
                        for value in map.values().filter(|value| !value.truthy()) {
                            let (item, value) = (item.to_text(), value.to_text());
                            errors
                                .push(format!("Improperly formatted top file matcher in saltenv {item}: {value} file"));
                        }
                    }
                    Value::Str(sls) if sls.is_empty() => {
                        errors.push(format!("Environment {} contains an empty sls index", saltenv.to_text()));
                    }
                    _ => {}
                }
            }
        }
    }
    errors
}
