//! What a minion asks for when it asks for its pillar.

use halite_lang::merge;
use halite_lang::merge::Lists;
use halite_value::{Map, Value};

/// What bears on a pillar besides the minion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// The environment of the states that it is for.
    pub saltenv: Option<String>,
    /// Only this environment of the pillar.
    pub pillarenv: Option<String>,
    /// Data from the command line (`pillar=`), on top of all.
    pub over: Map,
    /// One more external pillar for this once (`pillar.ext`), as `ext_pillar` has it.
    pub ext: Map,
    /// What the minion's configuration tells external pillars (`pass_to_ext_pillars`).
    pub told: Map,
}

impl Asked {
    /// What the configuration asks for.
    pub fn of(opts: &Map) -> Asked {
        let text = |name: &str| opts.str_at(name).filter(|text| !text.is_empty()).map(str::to_owned);
        let saltenv = text("saltenv");
        let from_saltenv = opts.at("pillarenv_from_saltenv").is_some_and(Value::truthy);
        let pillarenv = text("pillarenv").or_else(|| saltenv.clone().filter(|_| from_saltenv));
        Asked { saltenv, pillarenv, told: told(opts), ..Asked::default() }
    }
}

/// The options that `pass_to_ext_pillars` names, by their paths, in the form that the configuration has.
fn told(opts: &Map) -> Map {
    let mut told = Map::new();
    for path in opts.at("pass_to_ext_pillars").and_then(Value::as_list).unwrap_or_default() {
        if let Some(part) = branch(opts, &path.to_text()) {
            merge::update(&mut told, part, Lists::Join);
        }
    }
    told
}

/// The part of a tree that a path (`a:b:c`) leads to, with all that is above it and nothing beside it.
pub fn branch(tree: &Map, path: &str) -> Option<Map> {
    let part = match path.split_once(':') {
        None => tree.at(path)?.clone(),
        Some((step, rest)) => branch(tree.at(step)?.as_map()?, rest)?.into(),
    };
    let step = path.split(':').next().unwrap_or_default();
    Some(Map::from_iter([(step, part)]))
}
