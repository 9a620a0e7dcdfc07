//! The form of high data: what must be a list, a text, a single function.

use super::sheet::{self, first};
use halite_core::requisite::is_keyword;
use halite_value::{Map, Value};

/// What is wrong with it; nothing where it can be compiled.
pub fn high(high: &Map) -> Vec<String> {
    let mut errors = Vec::new();
    for (id, body) in high {
        if sheet::is_hidden(id) {
            continue;
        }
        let sls = sheet::mark(body, "__sls__", "");
        if id.as_str().is_none() {
            let (id, kind) = (id.to_text(), id.type_name());
            errors.push(format!(
                "ID '{id}' in SLS '{sls}' is not formed as a string, but is type {kind}. It may need to be quoted."
            ));
        }
        let id = id.as_text();
        let Value::Map(body) = body else {
            errors.push(format!("The type {id} in {} is not formatted as a dictionary", body.to_text()));
            continue;
        };
        for (state, run) in body.iter().filter(|(key, _)| !sheet::is_hidden(key)) {
            State { id: &id, sls, name: &state.as_text() }.check(run, &mut errors);
        }
    }
    errors
}

/// A state of an ID, as messages name it.
struct State<'s> {
    id: &'s str,
    sls: &'s str,
    name: &'s str,
}

impl State<'_> {
    fn check(&self, run: &Value, errors: &mut Vec<String>) {
        let State { id, sls, name } = self;
        let arguments = match run {
            Value::List(arguments) => arguments,
            Value::Null => {
                errors.push(format!(
                    "ID '{id}' in SLS '{sls}' contains a short declaration ({name}) with a trailing colon. When not \
                     passing any arguments to a state, the colon must be omitted."
                ));
                return;
            }
            _ => {
                errors.push(format!("State '{id}' in SLS '{sls}' is not formed as a list"));
                return;
            }
        };
        let mut functions: Vec<&str> = name.split_once('.').map(|(_, function)| function).into_iter().collect();
        for argument in arguments {
            match argument {
                Value::Str(function) => {
                    functions.push(function);
                    if function.trim().contains(' ') {
                        errors.push(format!(
                            "The function \"{function}\" in state \"{id}\" in SLS \"{sls}\" has whitespace, a function \
                             with whitespace is not supported, perhaps this is an argument that is missing a \":\""
                        ));
                    }
                }
                Value::Map(_) => self.check_argument(argument, errors),
                _ => {}
            }
        }
        match functions.len() {
            0 => errors.push(format!("No function declared in state '{id}' in SLS '{sls}'")),
            1 => {}
            _ => errors.push(format!(
                "Too many functions declared in state '{id}' in SLS '{sls}'. Please choose one of the following: {}",
                functions.join(", ")
            )),
        }
    }

    fn check_argument(&self, argument: &Value, errors: &mut Vec<String>) {
        let State { id, sls, .. } = self;
        let Some((key, value)) = first(argument) else {
            return;
        };
        let key = key.as_text();
        if key == "names" && !matches!(value, Value::List(_)) {
            errors.push(format!("The 'names' argument in state '{id}' in SLS '{sls}' needs to be formed as a list"));
        }
        if !is_keyword(&key) {
            return;
        }
        match value {
            Value::List(requisites) => requisites.iter().for_each(|requisite| self.check_requisite(requisite, errors)),
            _ => {
                errors.push(format!("The {key} statement in state '{id}' in SLS '{sls}' needs to be formed as a list"))
            }
        }
        if argument.as_map().is_some_and(|map| map.len() != 1) {
            errors.push(format!("Multiple dictionaries defined in argument of state '{id}' in SLS '{sls}'"));
        }
    }

    fn check_requisite(&self, requisite: &Value, errors: &mut Vec<String>) {
        let State { id, sls, .. } = self;
        let (kind, name) = match requisite {
            Value::Str(_) => return,
            Value::Map(map) if map.len() == 1 => match map.first() {
                Some(entry) => entry,
                None => return,
            },
            other => {
                let other = other.to_text();
                errors.push(format!(
                    "Requisite declaration {other} in state {id} in SLS {sls} is not formed as a single key dictionary"
                ));
                return;
            }
        };
        let kind = kind.as_text();
        if let Some((module, _)) = kind.split_once('.') {
            errors.push(format!(
                "Invalid requisite type '{kind}' in state '{id}', in SLS '{sls}'. Requisite types must not contain dots, \
                 did you mean '{module}'?"
            ));
        }
        if matches!(name, Value::List(_) | Value::Map(_)) {
            let name = name.to_text();
            errors.push(format!("Illegal requisite \"{name}\" in SLS \"{sls}\", please check your syntax.\n"));
        }
    }
}
