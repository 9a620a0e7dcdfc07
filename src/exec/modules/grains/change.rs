//! Setting grains: they go to the file `grains` in the configuration's directory, and the minion is told.

use super::traverse;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::target::DELIMITER;
use halite_lang::yaml;
use halite_node::grains;
use halite_value::record;
use halite_value::{Map, Value};
use std::io;

record! {
    /// Sets a grain.
    ///
    ///   salt '*' grains.setval key '{sub: [1, 2]}'
    pub struct Setval {
        /// The grain's name.
        key: String,
        /// Its value.
        val: Value,
        /// With None as the value: take the grain away.
        destructive: bool = false,
        /// Whether the pillar is read again too.
        refresh_pillar: bool = true,
    }
}

impl Run for Setval {
    fn run(self, ctx: &Ctx) -> Reply {
        let changes = Map::from_iter([(self.key, self.val)]);
        Ok(write(ctx, changes, Empty::of(self.destructive), self.refresh_pillar)?.into())
    }
}

record! {
    /// Sets some grains.
    ///
    ///   salt '*' grains.setvals '{key1: val1, key2: val2}'
    pub struct Setvals {
        /// Names and values.
        grains: Map,
        /// Take those away whose value is None.
        destructive: bool = false,
        /// Whether the pillar is read again too.
        refresh_pillar: bool = true,
    }
}

impl Run for Setvals {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(write(ctx, self.grains, Empty::of(self.destructive), self.refresh_pillar)?.into())
    }
}

record! {
    /// Adds a value to a grain that is a list.
    ///
    ///   salt '*' grains.append roles web
    pub struct Append {
        /// The path of the grain.
        key: String,
        /// The value; a list adds its items.
        val: Value,
        /// Make a list of a grain that is none.
        convert: bool = false,
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
    }
}

impl Run for Append {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut items = match traverse(ctx, &self.key, &self.delimiter)? {
            None => Vec::new(),
            Some(Value::List(items)) => items,
            Some(Value::Null) if self.convert => Vec::new(),
            Some(value) if self.convert => vec![value],
            Some(_) => return Ok(format!("The key {} is not a valid list", self.key).into()),
        };
        if items.contains(&self.val) {
            return Ok(format!("The val {} was already in the list {}", self.val, self.key).into());
        }
        match self.val {
            Value::List(more) => items.extend(more),
            value => items.push(value),
        }
        put_list(ctx, &self.key, &self.delimiter, items)
    }
}

record! {
    /// Takes a value out of a grain that is a list.
    ///
    ///   salt '*' grains.remove roles web
    pub struct Remove {
        /// The path of the grain.
        key: String,
        /// The value.
        val: Value,
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
    }
}

impl Run for Remove {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut items = match traverse(ctx, &self.key, &self.delimiter)? {
            None => Vec::new(),
            Some(Value::List(items)) => items,
            Some(_) => return Ok(format!("The key {} is not a valid list", self.key).into()),
        };
        let Some(at) = items.iter().position(|item| *item == self.val) else {
            return Ok(format!("The val {} was not in the list {}", self.val, self.key).into());
        };
        items.remove(at);
        put_list(ctx, &self.key, &self.delimiter, items)
    }
}

record! {
    /// Takes a grain away.
    ///
    ///   salt '*' grains.delkey key
    pub struct Delkey {
        /// The path of the grain.
        key: String,
        /// Also when it is a list or a map.
        force: bool = false,
    }
}

impl Run for Delkey {
    fn run(self, ctx: &Ctx) -> Reply {
        set(ctx, &self.key, Value::Null, Force::of(self.force), Empty::Removes, DELIMITER)
    }
}

record! {
    /// Empties a grain: its value becomes None.
    ///
    ///   salt '*' grains.delval key
    pub struct Delval {
        /// The path of the grain.
        key: String,
        /// Take the grain away instead.
        destructive: bool = false,
        /// Also when it is a list or a map.
        force: bool = false,
    }
}

impl Run for Delval {
    fn run(self, ctx: &Ctx) -> Reply {
        set(ctx, &self.key, Value::Null, Force::of(self.force), Empty::of(self.destructive), DELIMITER)
    }
}

record! {
    /// Sets a grain, also inside others, and shows what has changed. Lists and maps are not overwritten unasked.
    ///
    ///   salt '*' grains.set apps:web:port 8080
    pub struct Set {
        /// The path of the grain.
        key: String,
        /// Its value.
        val: Value = "",
        /// Also when it, or the value, is a list or a map.
        force: bool = false,
        /// With None as the value: take the grain away.
        destructive: bool = false,
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
    }
}

impl Run for Set {
    fn run(self, ctx: &Ctx) -> Reply {
        set(ctx, &self.key, self.val, Force::of(self.force), Empty::of(self.destructive), &self.delimiter)
    }
}

/// Whether a list or a map may be overwritten.
#[derive(Clone, Copy, PartialEq)]
enum Force {
    Yes,
    No,
}

impl Force {
    fn of(force: bool) -> Force {
        if force { Force::Yes } else { Force::No }
    }
}

/// What None as a value does.
#[derive(Clone, Copy, PartialEq)]
enum Empty {
    Removes,
    Stays,
}

impl Empty {
    fn of(destructive: bool) -> Empty {
        if destructive { Empty::Removes } else { Empty::Stays }
    }
}

fn set(ctx: &Ctx, key: &str, value: Value, force: Force, empty: Empty, delimiter: &str) -> Reply {
    let is_complex = |value: &Value| matches!(value, Value::List(_) | Value::Map(_));
    let existing = traverse(ctx, key, delimiter)?;
    if existing.as_ref() == Some(&value) && !(value.is_null() && empty == Empty::Removes) {
        return Ok(report(true, "Grain is already set".to_owned(), Map::new()).into());
    }
    if let Some(existing) = existing.filter(|existing| !existing.is_null() && force == Force::No) {
        let refused = |reason: &str| {
            let comment = format!("The key '{key}' {reason} Use 'force=True' to overwrite.");
            Ok(report(false, comment, Map::new()).into())
        };
        if is_complex(&existing) {
            return refused("exists but is a dict or a list.");
        }
        if is_complex(&value) {
            return refused("exists and the given value is a dict or a list.");
        }
    }
    let (mut top, mut value) = (key, value);
    while let Some((above, step)) = top.rsplit_once(delimiter) {
        let outer = traverse(ctx, above, delimiter)?.unwrap_or_else(|| Map::new().into());
        value = match put_in(outer, step, value, force, empty) {
            Ok(outer) => outer,
            Err(outer) => {
                let comment = format!(
                    "The key '{above}' value is '{outer}', which is different from the provided key '{step}'. \
                     Use 'force=True' to overwrite."
                );
                return Ok(report(false, comment, Map::new()).into());
            }
        };
        top = above;
    }
    let changes = write(ctx, Map::from_iter([(top, value)]), empty, true)?;
    Ok(report(true, String::new(), changes).into())
}

/// Puts a value under a step of what is above it; gives back what is above where it has no place for it.
fn put_in(outer: Value, step: &str, value: Value, force: Force, empty: Empty) -> Result<Value, Value> {
    match outer {
        Value::Map(mut map) => {
            if value.is_null() && empty == Empty::Removes {
                map.remove(step);
            } else {
                map.insert(step, value);
            }
            Ok(map.into())
        }
        Value::List(mut items) => {
            let mut is_put = false;
            for item in &mut items {
                let holds = item.as_str() == Some(step) || item.at(step).is_some();
                if !holds {
                    continue;
                }
                is_put = true;
                match item {
                    Value::Map(map) => {
                        map.insert(step, value.clone());
                    }
                    other => *other = Map::from_iter([(step, value.clone())]).into(),
                }
            }
            if !is_put {
                items.push(Map::from_iter([(step, value)]).into());
            }
            Ok(items.into())
        }
        other if force == Force::Yes || other.as_str() == Some(step) => Ok(Map::from_iter([(step, value)]).into()),
        other => Err(other),
    }
}

fn report(result: bool, comment: String, changes: Map) -> Map {
    let mut report = Map::new();
    report.insert("comment", comment);
    report.insert("changes", changes);
    report.insert("result", result);
    report
}

/// A changed list goes back under its path, in the topmost grain.
fn put_list(ctx: &Ctx, key: &str, delimiter: &str, items: Vec<Value>) -> Reply {
    let (mut top, mut value) = (key, Value::List(items));
    while let Some((above, step)) = top.rsplit_once(delimiter) {
        let mut outer = match traverse(ctx, above, delimiter)? {
            Some(Value::Map(map)) => map,
            Some(other) => return Ok(format!("The key {above} is a {}, not a map", other.type_name()).into()),
            None => Map::new(),
        };
        outer.insert(step, value);
        (top, value) = (above, outer.into());
    }
    Ok(write(ctx, Map::from_iter([(top, value)]), Empty::Stays, true)?.into())
}

/// Writes the changes to the file and has the minion read it.
fn write(ctx: &Ctx, changes: Map, empty: Empty, refresh_pillar: bool) -> Result<Map, Fault> {
    let path = grains::file(ctx.opts);
    let mut all = match ctx.host.read(&path) {
        Ok(bytes) => match yaml::load(&String::from_utf8_lossy(&bytes)) {
            Ok(Value::Map(map)) => map,
            Ok(Value::Null) => Map::new(),
            Ok(other) => {
                let kind = other.type_name();
                return Err(Fault::execution(format!(
                    "{} holds a {kind}, not a map: it is left as it is",
                    path.display()
                )));
            }
            Err(error) => return Err(Fault::execution(format!("Unable to read existing grains file: {error}"))),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Map::new(),
        Err(error) => return Err(Fault::execution(format!("Unable to read existing grains file: {error}"))),
    };
    for (key, value) in changes.iter() {
        if value.is_null() && empty == Empty::Removes {
            all.remove_value(key);
        } else {
            all.insert(key.clone(), value.clone());
        }
    }
    let text = yaml::dump(&all.into());
    ctx.host
        .write(&path, text.as_bytes(), Default::default())
        .map_err(|error| Fault::execution(format!("Unable to write to grains file at {}: {error}", path.display())))?;
    note(ctx, &changes, empty);
    grains::forget(ctx.host, ctx.opts);
    let told = ctx.master.tell_minion("grains_refresh", Map::from_iter([("refresh_pillar", refresh_pillar)]));
    if let Err(fault) = told {
        // Without a daemon there is nobody to tell: the next one reads the file.
        log::debug!("the grains are read at the next start: {fault}");
    }
    Ok(changes)
}

/// Notes what was written for what comes later in the same job: in a list, which is empty for a grain that is gone.
fn note(ctx: &Ctx, changes: &Map, empty: Empty) {
    let mut scratch = ctx.scratch.borrow_mut();
    let mut written = scratch.at(grains::WRITTEN).and_then(Value::as_map).cloned().unwrap_or_default();
    for (key, value) in changes.iter() {
        let gone = value.is_null() && empty == Empty::Removes;
        written.insert(key.clone(), Value::List(if gone { Vec::new() } else { vec![value.clone()] }));
    }
    scratch.insert(grains::WRITTEN, written);
}
