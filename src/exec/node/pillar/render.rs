//! The SLS files of a pillar: rendered, with what they include, and merged.

use super::Merge;
use super::top::Top;
use crate::sls::{Found, Tree};
use halite_core::Ctx;
use halite_value::{Map, Value};
use indexmap::IndexMap;
use std::collections::HashMap;

/// Renders the files of one pillar.
pub struct Renderer<'a, 't> {
    ctx: &'a Ctx<'a>,
    tree: &'a Tree<'t>,
    roots: &'a Map,
    environments: &'a [String],
    merge: Merge,
    top: &'a Top,
}

/// What was rendered of an environment already, by SLS.
type Rendered = HashMap<String, Option<Map>>;

impl<'a, 't> Renderer<'a, 't> {
    pub fn new(
        ctx: &'a Ctx<'a>,
        tree: &'a Tree<'t>,
        roots: &'a Map,
        environments: &'a [String],
        merge: Merge,
        top: &'a Top,
    ) -> Renderer<'a, 't> {
        Renderer { ctx, tree, roots, environments, merge, top }
    }

    /// Everything that matches, on top of `pillar`.
    pub fn render(&self, matches: &IndexMap<String, Vec<String>>, mut pillar: Map, errors: &mut Vec<String>) -> Map {
        for saltenv in self.ordered(matches) {
            let mut rendered = Rendered::new();
            for wanted in matches.get(saltenv).into_iter().flatten() {
                for sls in self.named(wanted, saltenv, errors) {
                    if let Some(data) = self.sls(&sls, saltenv, &mut rendered, &Map::new(), errors) {
                        pillar = self.merge.merge(pillar, data);
                    }
                }
            }
        }
        pillar
    }

    /// The environments that match, those of `env_order` first and in that order.
    fn ordered<'m>(&self, matches: &'m IndexMap<String, Vec<String>>) -> Vec<&'m String> {
        let order = self.ctx.opts.at("env_order").and_then(Value::as_list).unwrap_or_default();
        let place = |name: &String| order.iter().position(|item| item.as_str() == Some(name)).unwrap_or(usize::MAX);
        let mut names: Vec<&String> = matches.keys().collect();
        names.sort_by_key(|name| place(name));
        names
    }

    /// The SLS that a name in the top file means.
    fn named(&self, wanted: &str, saltenv: &str, errors: &mut Vec<String>) -> Vec<String> {
        if !self.environments.iter().any(|name| name == saltenv) {
            errors.push(format!("No matching pillar environment for environment '{saltenv}' found"));
            return vec![wanted.to_owned()];
        }
        self.tree.meant(wanted, saltenv)
    }

    fn sls(
        &self,
        sls: &str,
        saltenv: &str,
        rendered: &mut Rendered,
        defaults: &Map,
        errors: &mut Vec<String>,
    ) -> Option<Map> {
        let found = match self.tree.find(sls, saltenv) {
            Ok(Some(found)) => found,
            Ok(None) => {
                self.missing(sls, saltenv, rendered, errors);
                return None;
            }
            Err(fault) => {
                errors.push(fault.to_string());
                return None;
            }
        };
        let data = match self.tree.render(self.ctx, &found.path, sls, saltenv, defaults.clone()) {
            Ok(data) => data,
            Err(error) => {
                let message = format!("Rendering SLS '{sls}' failed, render error:\n{error}");
                log::error!("{message}");
                // Error messages may hold values of the pillar.
                errors.push(match self.ctx.opts.at("pillar_safe_render_error").is_none_or(Value::truthy) {
                    true => format!("Rendering SLS '{sls}' failed. Please see master log for details."),
                    false => message,
                });
                rendered.insert(sls.to_owned(), None);
                return None;
            }
        };
        let Value::Map(data) = data else {
            errors.push(format!("SLS '{sls}' does not render to a dictionary"));
            rendered.insert(sls.to_owned(), None);
            return None;
        };
        // Noted before what it includes is rendered: a circle of includes ends here.
        let mut bare = data.clone();
        bare.remove("include");
        rendered.insert(sls.to_owned(), Some(bare));
        Some(self.with_included(sls, &found, data, saltenv, rendered, defaults, errors))
    }

    fn missing(&self, sls: &str, saltenv: &str, rendered: &mut Rendered, errors: &mut Vec<String>) {
        if self.top.ignored.get(saltenv).is_some_and(|names| names.iter().any(|name| name == sls)) {
            log::debug!("Skipping ignored and missing SLS '{sls}' in environment '{saltenv}'");
        } else if self.roots.at(saltenv).is_some_and(Value::truthy) {
            errors
                .push(format!("Specified SLS '{sls}' in environment '{saltenv}' is not available on the salt master"));
            rendered.insert(sls.to_owned(), None);
        } else {
            log::debug!(
                "Specified SLS '{sls}' in environment '{saltenv}' was not found: there are no pillar_roots for it"
            );
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn with_included(
        &self,
        sls: &str,
        found: &Found,
        mut data: Map,
        saltenv: &str,
        rendered: &mut Rendered,
        defaults: &Map,
        errors: &mut Vec<String>,
    ) -> Map {
        let Some(include) = data.at("include") else {
            return data;
        };
        if !matches!(include, Value::List(_)) {
            errors.push(format!("Include Declaration in SLS '{sls}' is not formed as a list"));
            return data;
        }
        let Some(Value::List(include)) = data.remove("include") else {
            return data;
        };
        let mut defaults = defaults.clone();
        let own_wins = !self.ctx.opts.at("pillar_includes_override_sls").is_some_and(Value::truthy);
        let mut below = Map::new();
        for item in &include {
            let (name, key) = match item {
                Value::Map(map) => {
                    let Some((name, settings)) = map.first() else { continue };
                    defaults = settings.at("defaults").and_then(Value::as_map).cloned().unwrap_or_default();
                    (name.to_text(), settings.at("key").map(Value::to_text))
                }
                name => (name.to_text(), None),
            };
            for name in self.included(&name, sls, found, saltenv, errors) {
                let nested = match rendered.get(&name) {
                    Some(known) => known.clone(),
                    None => self.sls(&name, saltenv, rendered, &defaults, errors),
                };
                let Some(nested) = nested.filter(|nested| !nested.is_empty()) else { continue };
                let nested = match &key {
                    Some(key) => below_key(key, nested),
                    None => nested,
                };
                match own_wins {
                    true => below = self.merge.merge(below, nested),
                    false => data = self.merge.merge(data, nested),
                }
            }
        }
        if own_wins { self.merge.merge(below, data) } else { data }
    }

    /// The SLS that an include means: a name, a pattern, or a name from here (`.name`).
    fn included(&self, name: &str, sls: &str, found: &Found, saltenv: &str, errors: &mut Vec<String>) -> Vec<String> {
        let full = match name.strip_prefix('.') {
            Some(rest) => {
                let directory =
                    if found.is_init { sls } else { sls.rsplit_once('.').map_or("", |(directory, _)| directory) };
                if directory.is_empty() { rest.to_owned() } else { format!("{directory}.{rest}") }
            }
            None => name.to_owned(),
        };
        if !self.environments.iter().any(|environment| environment == saltenv) {
            errors.push(format!("No matching pillar environment for environment '{saltenv}' found"));
            return vec![full];
        }
        let Ok(names) = self.tree.names(saltenv) else {
            return vec![full];
        };
        let mut all = names.matching(&name.trim_start_matches('.').replace('/', "."));
        for name in names.matching(&full) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        if all.is_empty() { vec![full] } else { all }
    }
}

/// Data put below a path such as `a:b`.
fn below_key(key: &str, data: Map) -> Map {
    key.split(':').rev().fold(data, |data, step| Map::from_iter([(step, data)]))
}
