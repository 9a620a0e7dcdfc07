//! Salt's filters on data: looking into it, changing it, comparing it, and plain questions about a value.

use super::super::ast::Name;
use super::super::error::{Failure, Kind, Res};
use super::super::eval::{Args, Bound, Interp, Rest};
use super::super::objects::Machine;
use super::super::value::{Dict, DictCell, Val};
use super::number::{parse_float, parse_int};
use super::text::text;
use super::{Filter, filter, machine, open};
use std::path::Path;
use std::rc::Rc;

pub const SALT: &[Filter] = &[
    filter("to_bool", &[], 0, to_bool),
    filter("is_list", &[], 0, |_, value, _| Ok(Val::Bool(matches!(value, Val::List(_))))),
    filter("is_iter", &["ignore"], 0, |_, value, _| {
        value.defined()?;
        Ok(Val::Bool(value.as_str().is_none() && value.is_iterable()))
    }),
    filter("sequence", &[], 0, |_, value, _| {
        Ok(match value {
            Val::List(_) | Val::Tuple(_) | Val::Set(_) | Val::Dict(_) => value,
            other => Val::list(vec![other]),
        })
    }),
    filter("skip", &[], 0, |_, _, _| Ok(Val::from(""))),
    filter("to_num", &[], 0, to_num),
    filter("str_to_num", &[], 0, to_num),
    filter("is_hex", &[], 0, |_, value, _| {
        Ok(Val::Bool(value.as_str().is_some_and(|text| parse_int(text, 16).is_some())))
    }),
    filter("to_bytes", &["encoding", "errors"], 0, |_, value, _| Ok(Val::Bytes(super::digest::bytes(&value)?.into()))),
    filter("human_to_bytes", &["default_unit", "handle_metric"], 0, human_to_bytes),
    filter("exactly_n_true", &["amount"], 0, |interp, value, bound| {
        exactly(interp, &value, bound.int(0)?.unwrap_or(1))
    }),
    filter("exactly_one_true", &[], 0, |interp, value, _| exactly(interp, &value, 1)),
    filter("traverse", &["key", "default", "delimiter"], 1, traverse),
    filter("set_dict_key_value", &["keys", "value", "delimiter", "ordered_dict"], 2, |_, value, bound| {
        change(value, &bound, |dict, key, new| {
            dict.0.borrow_mut().insert(key, new);
            Ok(())
        })
    }),
    filter("update_dict_key_value", &["keys", "value", "delimiter", "ordered_dict"], 2, |interp, value, bound| {
        change_with(interp, value, &bound, "update", |_| Val::dict(Dict::new()))
    }),
    filter("append_dict_key_value", &["keys", "value", "delimiter", "ordered_dict"], 2, |interp, value, bound| {
        change_with(interp, value, &bound, "append", |_| Val::list(Vec::new()))
    }),
    filter("extend_dict_key_value", &["keys", "value", "delimiter", "ordered_dict"], 2, |interp, value, bound| {
        change_with(interp, value, &bound, "extend", |_| Val::list(Vec::new()))
    }),
    filter("compare_dicts", &["new"], 0, compare_dicts),
    filter("compare_lists", &["new"], 0, compare_lists),
    filter("substring_in_list", &["list_to_search"], 1, substring_in_list),
    filter("sorted_ignorecase", &[], 0, sorted_ignoring_case),
    filter("to_entries", &[], 0, to_entries),
    filter("from_entries", &[], 0, from_entries),
    filter("mysql_to_dict", &["key"], 1, mysql_to_dict),
    open("method_call", &["f_name"], 1, Rest::Both, method_call),
    filter("json_decode_list", &[], 0, encoded),
    filter("json_encode_list", &[], 0, encoded),
    filter("json_decode_dict", &[], 0, encoded),
    filter("json_encode_dict", &[], 0, encoded),
    open("path_join", &[], 0, Rest::Both, path_join),
    filter("get_uid", &[], 0, uid),
    filter("which", &[], 0, which),
    filter("is_empty", &[], 0, |interp, value, _| {
        let path = text(&value)?;
        Ok(Val::Bool(machine(interp)?.size(&path).is_ok_and(|size| size == 0)))
    }),
    filter("is_text_file", &["blocksize"], 0, |interp, value, _| {
        Ok(Val::Bool(is_text_file(machine(interp)?, &text(&value)?)?))
    }),
    filter("is_bin_file", &[], 0, |interp, value, _| Ok(Val::Bool(!is_text_file(machine(interp)?, &text(&value)?)?))),
    filter("list_files", &[], 0, list_files),
];

/// The number of an account; of nobody's name that of this process.
fn uid(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    value.defined()?;
    let account = if value.is_none() { None } else { Some(text(&value)?) };
    let uid = interp.env.functions.machine().and_then(|machine| machine.uid(account.as_deref()));
    Ok(uid.map_or(Val::None, |uid| Val::Int(uid.into())))
}

fn to_bool(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    value.defined()?;
    Ok(Val::Bool(match &value {
        Val::Bool(truth) => *truth,
        Val::Str(text) | Val::Markup(text) => matches!(text.to_lowercase().as_str(), "yes" | "1" | "true"),
        Val::Int(number) => *number > 0,
        Val::Big(number) => number.sign() == num_bigint::Sign::Plus,
        Val::List(_) | Val::Dict(_) | Val::Set(_) => value.truth()?,
        _ => false,
    }))
}

fn to_num(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    value.defined()?;
    Ok(match &value {
        Val::Str(text) | Val::Markup(text) => {
            parse_int(text, 10).or_else(|| parse_float(text).map(Val::Float)).unwrap_or(value)
        }
        Val::Float(number) => super::super::value::whole_of(number.trunc()).map_or(value, Val::big),
        other => match other.as_big() {
            Some(number) => Val::big(number),
            None => {
                let kind = other.type_name();
                return Err(Failure::type_error(format!(
                    "int() argument must be a string, a bytes-like object or a real number, not '{kind}'"
                )));
            }
        },
    })
}

fn human_to_bytes(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let source = text(&value)?;
    let source = source.trim();
    let digits = source.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(source.len());
    let (amount, unit) = (&source[..digits], source[digits..].trim().to_lowercase());
    let unit = if unit.is_empty() { bound.text_or(0, "B")?.to_lowercase() } else { unit };
    let metric = bound.truth(1, false)?;
    let letter = unit.chars().next().unwrap_or('b');
    let power = "bkmgtpezy".find(letter);
    let tail = unit.get(letter.len_utf8()..).unwrap_or("");
    let (Some(power), Ok(amount)) = (power, amount.parse::<f64>()) else { return Ok(Val::Int(0)) };
    let base: f64 = match (power, tail) {
        (0, "") | (1.., "" | "ib") => 1024.0,
        (1.., "b") => {
            if metric {
                1000.0
            } else {
                1024.0
            }
        }
        _ => return Ok(Val::Int(0)),
    };
    let bytes = amount * base.powi(i32::try_from(power).unwrap_or(0));
    Ok(super::super::value::whole_of(bytes.trunc()).map_or(Val::Int(0), Val::big))
}

fn exactly(interp: &mut Interp, value: &Val, amount: i64) -> Res<Val> {
    let mut holding = 0;
    for item in value.items(interp)? {
        holding += i64::from(item.truth()?);
    }
    Ok(Val::Bool(holding == amount))
}

/// Follows a path with delimiters; where it leads nowhere, the default.
fn traverse(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    value.defined()?;
    let delimiter = bound.text_or(2, ":")?;
    let steps: Vec<Val> = match bound.val(0) {
        Val::Str(path) | Val::Markup(path) => path.split(delimiter).map(Val::from).collect(),
        Val::Int(index) => vec![Val::Int(index)],
        other => other.items(interp)?,
    };
    let mut here = value;
    for step in steps {
        let index = match &step {
            Val::Str(text) | Val::Markup(text) => parse_int(text, 10),
            other => other.as_index().map(Val::Int),
        };
        let next = match &here {
            Val::List(items) => {
                let items = items.0.borrow();
                let key = index.clone().unwrap_or_else(|| step.clone());
                let inside = items.iter().find_map(|item| match item {
                    Val::Dict(dict) => dict.0.borrow().get(&key).cloned(),
                    _ => None,
                });
                let at = |index: i64| {
                    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
                    let index = if index < 0 { index.saturating_add(length) } else { index };
                    items.get(usize::try_from(index).ok()?).cloned()
                };
                inside.or_else(|| at(index?.as_index()?))
            }
            Val::Dict(dict) => {
                let dict = dict.0.borrow();
                dict.get(&step).cloned().or_else(|| dict.get(&index?).cloned())
            }
            _ => None,
        };
        match next {
            Some(next) => here = next,
            None => return Ok(bound.val(1)),
        }
    }
    Ok(here)
}

fn change(value: Val, bound: &Bound, change: impl FnOnce(&Rc<DictCell>, Val, Val) -> Res<()>) -> Res<Val> {
    let (dict, key) = way_to(&value, bound)?;
    change(&dict, key, bound.val(1))?;
    Ok(value)
}

/// The dict that holds the last key of a path; those on the way are made.
fn way_to(value: &Val, bound: &Bound) -> Res<(Rc<DictCell>, Val)> {
    value.defined()?;
    let Val::Dict(dict) = value else {
        return Err(Failure::type_error(format!("'{}' object is no dict", value.type_name())));
    };
    let path = bound.val(0).text();
    let mut steps: Vec<&str> = path.split(bound.text_or(2, ":")?).collect();
    let last = steps.pop().unwrap_or("");
    let mut here = dict.clone();
    for step in steps {
        let next = match here.0.borrow().get(step) {
            Some(Val::Dict(next)) => Some(next.clone()),
            _ => None,
        };
        here = match next {
            Some(next) => next,
            None => {
                let made: Rc<DictCell> = Rc::new(DictCell(std::cell::RefCell::default()));
                here.0.borrow_mut().insert(Val::from(step), Val::Dict(made.clone()));
                made
            }
        };
    }
    Ok((here, Val::from(last)))
}

/// Changes what stands at the end of a path with one of its methods; where there is nothing, it is made first.
fn change_with(interp: &mut Interp, value: Val, bound: &Bound, method: &str, make: fn(()) -> Val) -> Res<Val> {
    let (dict, key) = way_to(&value, bound)?;
    let held = dict.0.borrow().get(&key).filter(|held| !held.is_none()).cloned();
    let held = match held {
        Some(held) => held,
        None => {
            let made = make(());
            dict.0.borrow_mut().insert(key, made.clone());
            made
        }
    };
    let kind = held.type_name().to_owned();
    if !super::super::methods::has(&held, method) {
        let message = format!("The last key contains a <class '{kind}'>, which cannot {method}.");
        return Err(Failure::new(Kind::Function, message));
    }
    let args = Args::of(vec![bound.val(1)]);
    super::super::methods::call(interp, &held, method, args).map_err(|_| {
        let other = bound.val(1).type_name().to_owned();
        let verb = if method == "update" { "update" } else { "extend" };
        Failure::new(Kind::Function, format!("Cannot {verb} <class '{kind}'> with a <class '{other}'>."))
    })?;
    Ok(value)
}

fn compare_dicts(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let new = bound.val(0);
    let (Val::Dict(old), Val::Dict(new)) = (&value, &new) else {
        return Err(Failure::type_error("compare_dicts() compares two dicts"));
    };
    let (old, new) = (old.0.borrow(), new.0.borrow());
    let mut changes = Dict::new();
    let change = |old: Val, new: Val| Val::dict(Dict::from_iter([(Val::from("old"), old), (Val::from("new"), new)]));
    for (key, before) in old.iter() {
        match new.get(key) {
            None => drop(changes.insert(key.clone(), change(before.clone(), Val::from("")))),
            Some(after) if after != before => {
                changes.insert(key.clone(), change(before.clone(), after.clone()));
            }
            Some(_) => {}
        }
    }
    for (key, after) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        changes.insert(key.clone(), change(Val::from(""), after.clone()));
    }
    Ok(Val::dict(changes))
}

fn compare_lists(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let (old, new) = (value.items(interp)?, bound.val(0).items(interp)?);
    let mut changes = Dict::new();
    let added: Vec<Val> = new.iter().filter(|item| !old.contains(item)).cloned().collect();
    let gone: Vec<Val> = old.iter().filter(|item| !new.contains(item)).cloned().collect();
    for (name, items) in [("new", added), ("old", gone)] {
        if !items.is_empty() {
            changes.insert(Val::from(name), Val::list(items));
        }
    }
    Ok(Val::dict(changes))
}

fn substring_in_list(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    for item in bound.val(0).items(interp)? {
        if super::super::eval::contains(interp, &item, &value)? {
            return Ok(Val::Bool(true));
        }
    }
    Ok(Val::Bool(false))
}

fn sorted_ignoring_case(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let mut items = value.items(interp)?;
    items.sort_by_key(|item| item.text().to_lowercase());
    Ok(Val::list(items))
}

fn to_entries(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let entry =
        |key: Val, value: Val| Val::dict(Dict::from_iter([(Val::from("key"), key), (Val::from("value"), value)]));
    value.defined()?;
    Ok(Val::list(match &value {
        Val::Dict(dict) => dict.0.borrow().iter().map(|(key, value)| entry(key.clone(), value.clone())).collect(),
        Val::List(_) => {
            let items = value.items(interp)?;
            items.into_iter().enumerate().map(|(at, item)| entry(Val::from(at), item)).collect()
        }
        _ => return Err(Failure::python("SaltException", "Input data must be a dict or list")),
    }))
}

/// Keys and values may have other names, as in jq: `name`, `Key`, `Value`, ...
fn from_entries(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let mut dict = Dict::new();
    for item in value.items(interp)? {
        let Val::Dict(entry) = &item else {
            return Err(Failure::type_error("entries are dicts with a key and a value"));
        };
        let entry = entry.0.borrow();
        let one = |names: &[&str]| names.iter().find_map(|name| entry.get(*name).cloned());
        if let Some(key) = one(&["key", "name", "Name", "Key"]) {
            key.hashable()?;
            dict.insert(key, one(&["value", "Value"]).unwrap_or(Val::None));
        }
    }
    Ok(Val::dict(dict))
}

/// The table that `mysql` prints, by the values of one column.
fn mysql_to_dict(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let key = bound.val(0).text();
    let mut headers: Vec<String> = Vec::new();
    let mut rows = Dict::new();
    for line in value.items(interp)? {
        let line = line.text();
        if line.is_empty() || line.starts_with('+') {
            continue;
        }
        let cells: Vec<String> =
            line.split('|').map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect();
        if headers.is_empty() {
            headers = cells;
            continue;
        }
        let row: Dict =
            headers.iter().zip(cells).map(|(name, cell)| (Val::from(name.as_str()), Val::from(cell))).collect();
        if let Some(name) = row.get(key.as_str()).cloned() {
            rows.insert(name, Val::dict(row));
        }
    }
    Ok(Val::dict(rows))
}

fn method_call(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let name: Name = bound.val(0).text().into();
    value.defined()?;
    let args = Args { positional: bound.extra, named: bound.named };
    if super::super::methods::has(&value, &name) {
        return super::super::methods::call(interp, &value, &name, args);
    }
    let Val::Object(object) = &value else { return Ok(Val::None) };
    let object = object.clone();
    match object.attribute(interp, &name)? {
        Some(method) => interp.call(&method, args),
        None => Ok(Val::None),
    }
}

/// All text in it as bytes.
fn encoded(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    fn bytes(value: &Val, depth: usize) -> Res<Val> {
        if depth > 200 {
            return Err(Failure::python("RecursionError", "maximum recursion depth exceeded"));
        }
        Ok(match value {
            Val::Str(text) | Val::Markup(text) => Val::Bytes(text.as_bytes().into()),
            Val::List(items) => {
                Val::list(items.0.borrow().iter().map(|item| bytes(item, depth + 1)).collect::<Res<_>>()?)
            }
            Val::Tuple(items) => Val::list(items.0.iter().map(|item| bytes(item, depth + 1)).collect::<Res<_>>()?),
            Val::Dict(dict) => {
                let mut out = Dict::new();
                for (key, value) in dict.0.borrow().iter() {
                    let key = if key.as_str().is_some() { bytes(key, depth + 1)? } else { key.clone() };
                    out.insert(key, bytes(value, depth + 1)?);
                }
                Val::dict(out)
            }
            other => other.clone(),
        })
    }
    value.defined()?;
    // Nothing that is too large as plain data is copied.
    drop(value.to_value()?);
    interp.spend(value.length().unwrap_or(1))?;
    bytes(&value, 0)
}

/// Joins the parts of a path; a later absolute part stands below the earlier ones, not in their place.
fn path_join(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let mut path = text(&value)?;
    for part in &bound.extra {
        let part = text(part)?;
        let part = part.trim_start_matches('/');
        if !path.is_empty() && !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(part);
    }
    interp.spend(path.len())?;
    let absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => drop(kept.pop()),
            ".." if absolute => {}
            part => kept.push(part),
        }
    }
    let joined = kept.join("/");
    Ok(Val::from(match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }))
}

/// Where a program is, by `PATH`.
fn which(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let name = text(&value)?;
    let found = machine(interp)?.which(&name);
    Ok(found.map_or(Val::None, |path| Val::from(path.to_string_lossy().into_owned())))
}

fn is_text_file(machine: &dyn Machine, path: &str) -> Res<bool> {
    use std::io::Read as _;
    let mut block = Vec::new();
    let read = machine.open(path).and_then(|file| file.take(512).read_to_end(&mut block));
    read.map_err(|error| Failure::python("OSError", format!("{error}: '{path}'")))?;
    if block.contains(&0) {
        return Ok(false);
    }
    let valid = match std::str::from_utf8(&block) {
        Ok(_) => true,
        // A character that the block's end cuts.
        Err(error) => error.error_len().is_none(),
    };
    let plain = |byte: &&u8| matches!(byte, b'\n' | b'\r' | b'\t' | 0x0c | 0x08 | 0x20..=0x7e);
    let odd = block.len() - block.iter().filter(plain).count();
    Ok(valid || odd * 10 <= block.len() * 3)
}

/// All paths below a directory, itself first.
fn list_files(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let mut found = vec![text(&value)?];
    let machine = machine(interp)?;
    let mut at = 0;
    while let Some(directory) = found.get(at).cloned() {
        at += 1;
        interp.spend(directory.len())?;
        if machine.is_link(&directory) && at > 1 {
            continue;
        }
        let Ok(names) = machine.list(&directory) else { continue };
        found.extend(names.iter().map(|name| Path::new(&directory).join(name).to_string_lossy().into_owned()));
    }
    Ok(Val::list(found.into_iter().map(Val::from).collect()))
}
