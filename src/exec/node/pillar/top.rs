//! The top file of the pillar: which minions are given which SLS.

use crate::sls::Tree;
use halite_core::Ctx;
use halite_core::pillar_request::Asked;
use halite_lang::target::{Minion, Target};
use halite_value::{Map, Value};
use indexmap::IndexMap;

/// The top files of all environments, merged.
#[derive(Debug, Default)]
pub struct Top {
    /// By environment, the targets with what stands below them.
    environments: IndexMap<String, IndexMap<String, Entry>>,
    /// SLS by environment that may be missing (`ignore_missing`).
    pub ignored: IndexMap<String, Vec<String>>,
}

#[derive(Debug, Default)]
struct Entry {
    /// The kind of target, such as `grain`.
    kind: Option<String>,
    order: i64,
    sls: Vec<String>,
}

/// Reads the top files and those that they include.
pub fn read(ctx: &Ctx, tree: &Tree, environments: &[String], asked: &Asked, errors: &mut Vec<String>) -> Top {
    let single = ctx.opts.str_at("pillar_source_merging_strategy") == Some("none");
    let wanted: Vec<&String> = match &asked.pillarenv {
        Some(pillarenv) => environments.iter().filter(|name| *name == pillarenv).collect(),
        None if single => {
            let only = asked.saltenv.as_deref().unwrap_or("base");
            environments.iter().filter(|name| *name == only).collect()
        }
        None => environments.iter().collect(),
    };
    let name = ctx.opts.str_at("state_top").unwrap_or("top.sls");
    let name = name.strip_prefix("salt://").unwrap_or(name).trim_start_matches('/');
    let mut top = Top::default();
    for saltenv in wanted {
        let rendered = tree.file(name, saltenv).map_err(|fault| fault.to_string()).and_then(|path| match path {
            Some(path) => tree.render(ctx, &path, "", saltenv, Map::new()).map(Some),
            None => Ok(None),
        });
        match rendered {
            Ok(Some(Value::Map(map))) => top.add_with_included(ctx, tree, saltenv, map, errors),
            Ok(Some(_)) => errors.push(MALFORMED.to_owned()),
            Ok(None) => {}
            Err(error) => {
                errors.push(format!("Rendering Primary Top file failed, render error:\n{error}"));
            }
        }
    }
    for targets in top.environments.values_mut() {
        targets.sort_by(|_, a, _, b| a.order.cmp(&b.order));
    }
    top
}

const MALFORMED: &str = "Error encountered while rendering pillar top file.";

impl Top {
    fn add_with_included(&mut self, ctx: &Ctx, tree: &Tree, saltenv: &str, mut map: Map, errors: &mut Vec<String>) {
        let included = map.remove("include");
        self.add(map, errors);
        for sls in included.as_ref().and_then(Value::as_list).unwrap_or_default() {
            let sls = sls.to_text();
            let rendered = tree.find(&sls, saltenv).map_err(|fault| fault.to_string()).and_then(|found| match found {
                Some(found) => tree.render(ctx, &found.path, "", saltenv, Map::new()),
                None => Err(format!("there is no SLS '{sls}' in environment '{saltenv}'")),
            });
            match rendered {
                Ok(Value::Map(map)) => self.add(map, errors),
                Ok(_) => errors.push(MALFORMED.to_owned()),
                Err(error) => errors.push(format!("Rendering Top file {sls} failed, render error:\n{error}")),
            }
        }
    }

    fn add(&mut self, map: Map, errors: &mut Vec<String>) {
        for (saltenv, targets) in &map {
            if saltenv.as_str() == Some("include") {
                continue;
            }
            let Value::Map(targets) = targets else {
                errors.push(MALFORMED.to_owned());
                continue;
            };
            for (target, items) in targets {
                let saltenv = saltenv.to_text();
                let (entry, may_miss) = Entry::of(items);
                if may_miss {
                    self.ignored.entry(saltenv.clone()).or_default().extend(entry.sls.iter().cloned());
                }
                self.environments.entry(saltenv).or_default().insert(target.to_text(), entry);
            }
        }
    }

    /// By environment, the targets with what is given to them.
    pub fn shown(&self) -> Map {
        let target = |(target, entry): (&String, &Entry)| {
            let kind = entry.kind.iter().map(|kind| Map::from_iter([("match", kind.as_str())]).into());
            let items: Vec<Value> = kind.chain(entry.sls.iter().map(Value::from)).collect();
            (target.clone(), Value::List(items))
        };
        let environment = |(saltenv, targets): (&String, &IndexMap<String, Entry>)| {
            (saltenv.clone(), targets.iter().map(target).collect::<Map>())
        };
        self.environments.iter().map(environment).collect()
    }

    /// The SLS that the minion is given, by environment.
    pub fn matches(&self, ctx: &Ctx, asked: &Asked) -> IndexMap<String, Vec<String>> {
        let minion = Minion { id: ctx.opts.str_at("id").unwrap_or_default(), grains: ctx.grains, pillar: ctx.pillar };
        let nodegroups = ctx.opts.at("nodegroups").and_then(Value::as_map);
        let mut matches: IndexMap<String, Vec<String>> = IndexMap::new();
        for (saltenv, targets) in &self.environments {
            if asked.pillarenv.as_ref().is_some_and(|pillarenv| pillarenv != saltenv) {
                continue;
            }
            for (target, entry) in targets {
                if !confirmed(target, entry.kind.as_deref(), &minion, nodegroups) {
                    continue;
                }
                let all = matches.entry(saltenv.clone()).or_default();
                for sls in &entry.sls {
                    if !all.contains(sls) {
                        all.push(sls.clone());
                    }
                }
            }
        }
        matches
    }
}

impl Entry {
    fn of(items: &Value) -> (Entry, bool) {
        let mut entry = Entry::default();
        let mut may_miss = false;
        for item in items.as_list().unwrap_or_default() {
            match item {
                Value::Str(sls) if !entry.sls.iter().any(|own| own == sls) => entry.sls.push(sls.to_string()),
                Value::Map(map) => {
                    if let Some(kind) = map.at("match") {
                        entry.kind = Some(kind.to_text());
                    }
                    if let Some(order) = map.at("order") {
                        entry.order = order.as_int().or_else(|| order.to_text().parse().ok()).unwrap_or(0);
                    }
                    may_miss |= map.at("ignore_missing").is_some_and(Value::truthy);
                }
                _ => {}
            }
        }
        (entry, may_miss)
    }
}

/// Whether a target of a top file means the minion; without a `match` it is a compound one.
pub fn confirmed(target: &str, kind: Option<&str>, minion: &Minion, nodegroups: Option<&Map>) -> bool {
    match Target::parse(kind.unwrap_or("compound"), &target.into(), nodegroups) {
        Ok(target) => target.matches(minion),
        Err(error) => {
            log::error!("top file: {error}");
            false
        }
    }
}
