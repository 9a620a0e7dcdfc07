//! `extend`: what one SLS adds to the states of another. The same code brings `require_in` and its like where they belong.

use super::find::{By, Finder};
use super::sheet::{self, append, first_key};
use halite_core::requisite::is_keyword;
use halite_value::{Map, Value};

/// Puts each entry of `__extend__` to the ID that it names, by ID or by name.
pub fn reconcile(mut high: Map, by: By) -> (Map, Vec<String>) {
    let mut errors = Vec::new();
    let Some(Value::List(chunks)) = high.remove("__extend__") else {
        return (high, errors);
    };
    let excluded = excluded(&high);
    let mut finder = Finder::default();
    for chunk in chunks {
        let Value::Map(chunk) = chunk else { continue };
        for (id, body) in chunk {
            let id = id.to_text();
            let Value::Map(body) = body else { continue };
            let Some(module) = sheet::states(&body).next().map(|(module, _)| module.to_owned()) else { continue };
            let target = match high.at(&id).is_some_and(|there| there.at(&module).is_some()) {
                true => id,
                false => match finder.find(&id, &module, &high, by).as_slice() {
                    [(target, _)] => target.clone(),
                    _ => {
                        errors.push(unknown(&id, &body));
                        continue;
                    }
                },
            };
            if body.str_at("__sls__").is_some_and(|sls| excluded.iter().any(|excluded| excluded == sls)) {
                continue;
            }
            if let Some(Value::Map(there)) = high.at_mut(&target) {
                extend(there, body, |module, argument| finder.note(&target, module, argument));
            }
        }
    }
    (high, errors)
}

fn unknown(id: &str, body: &Map) -> String {
    let mark = |name| body.str_at(name).unwrap_or("base");
    let (saltenv, sls) = (mark("__env__"), mark("__sls__"));
    format!(
        "Cannot extend ID '{id}' in '{saltenv}:{sls}'. It is not part of the high state.\nThis is likely due to a missing \
         include statement or an incorrectly typed ID.\nEnsure that a state with an ID of '{id}' is available\nin \
         environment '{saltenv}' and to SLS '{sls}'"
    )
}

/// The SLS that are left out: what they extend stays as it is.
fn excluded(high: &Map) -> Vec<String> {
    let items = high.at("__exclude__").and_then(Value::as_list).unwrap_or_default();
    let sls = |item: &Value| match item {
        Value::Str(sls) => Some(sls.to_string()),
        item => item.at("sls").filter(|sls| sls.truthy()).map(Value::to_text),
    };
    items.iter().filter_map(sls).collect()
}

fn extend(there: &mut Map, body: Map, mut note: impl FnMut(&str, &Value)) {
    for (module, run) in body {
        let Some(module) = module.as_str().filter(|module| !module.starts_with("__")).map(str::to_owned) else {
            continue;
        };
        let Value::List(run) = run else { continue };
        let Some(Value::List(own)) = there.at_mut(&module) else {
            run.iter().for_each(|argument| note(&module, argument));
            there.insert(module, Value::List(run));
            continue;
        };
        for argument in run {
            note(&module, &argument);
            put(own, argument);
        }
    }
}

/// A function takes the place of the function, an option that of its like, a requisite comes to the requisites.
fn put(own: &mut Vec<Value>, argument: Value) {
    let mut is_new = true;
    for there in own.iter_mut() {
        match (&argument, &mut *there) {
            (Value::Str(_), Value::Str(_)) => {
                *there = argument.clone();
                is_new = false;
            }
            (Value::Map(_), Value::Map(_)) => {
                let (key, own_key) = (first_key(&argument), first_key(there).map(str::to_owned));
                let Some(key) = key else { continue };
                if own_key.as_deref() == Some(key) {
                    match (is_keyword(key), argument.at(key), &mut *there) {
                        (true, Some(Value::List(more)), Value::Map(there)) => {
                            append(there.entry_or(key, Value::default), more.iter().cloned());
                        }
                        _ => *there = argument.clone(),
                    }
                    is_new = false;
                }
                if key == "name" && first_key(there) == Some("names") {
                    *there = argument.clone();
                }
            }
            _ => {}
        }
    }
    if is_new {
        own.push(argument);
    }
}
