//! `grains.*`: see and set what the minion knows of its machine.

mod change;

use super::config;
use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply};
use halite_lang::target::DELIMITER;
use halite_lang::target::fnmatch::fnmatch;
use halite_node::grains;
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "grains",
    doc: "See and set grains: what the minion knows of its machine.",
    functions: &[
        function::<change::Append>("append"),
        function::<change::Delkey>("delkey"),
        function::<change::Delval>("delval"),
        function::<Equals>("equals").inline(),
        function::<Get>("fetch").inline(),
        function::<FilterBy>("filter_by").inline(),
        function::<Get>("get").inline(),
        function::<HasValue>("has_value").inline(),
        function::<Item>("item").inline(),
        function::<Items>("items").inline(),
        function::<Ls>("ls").inline(),
        function::<change::Remove>("remove"),
        function::<change::Set>("set"),
        function::<change::Setval>("setval"),
        function::<change::Setvals>("setvals"),
    ],
};

/// The value at a path, with what this job has written since the grains were collected.
fn traverse(ctx: &Ctx, key: &str, delimiter: &str) -> Result<Option<Value>, Fault> {
    if delimiter.is_empty() {
        return Err(Fault::invocation("the delimiter is empty"));
    }
    let (first, rest) = key.split_once(delimiter).unwrap_or((key, ""));
    let scratch = ctx.scratch.borrow();
    let written = scratch.at(grains::WRITTEN).and_then(|written| written.at(first));
    match written.and_then(Value::as_list) {
        Some(values) => Ok(values.first().and_then(|value| value.traverse(rest, delimiter)).cloned()),
        None => Ok(ctx.grains.at(first).and_then(|value| value.traverse(rest, delimiter)).cloned()),
    }
}

record! {
    /// Looks up a grain, also inside others.
    ///
    ///   salt '*' grains.get pkg:apache default=none
    ///   salt '*' grains.fetch os
    pub struct Get {
        /// The path of the grain.
        key: String,
        /// What to answer when there is none.
        default: Value = "",
        /// What stands between the steps of the path.
        delimiter: String = DELIMITER,
        /// Taken, not used: grains always keep their order.
        ordered: bool = true,
    }
}

impl Run for Get {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(traverse(ctx, &self.key, &self.delimiter)?.unwrap_or(self.default).into())
    }
}

record! {
    /// Shows whether there is such a grain.
    ///
    ///   salt '*' grains.has_value pkg:apache
    pub struct HasValue {
        /// The path of the grain.
        key: String,
    }
}

impl Run for HasValue {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(traverse(ctx, &self.key, DELIMITER)?.is_some().into())
    }
}

record! {
    /// Shows whether a grain, as text, is this value.
    ///
    ///   salt '*' grains.equals fqdn host.example.org
    pub struct Equals {
        /// The path of the grain.
        key: String,
        /// The value.
        value: Value,
    }
}

impl Run for Equals {
    fn run(self, ctx: &Ctx) -> Reply {
        let found = traverse(ctx, &self.key, DELIMITER)?.as_ref().map(Value::to_text).unwrap_or_default();
        Ok((found == self.value.to_text()).into())
    }
}

record! {
    /// Shows some grains.
    ///
    ///   salt '*' grains.item os osrelease
    pub struct Item {
        /// Their paths.
        args: Rest,
        /// `default`, `delimiter` and `sanitize`, as in grains.get and grains.items.
        kwargs: Keywords,
    }
}

impl Run for Item {
    fn run(self, ctx: &Ctx) -> Reply {
        let option = |name: &str| self.kwargs.0.at(name);
        let default = option("default").cloned().unwrap_or("".into());
        let delimiter = option("delimiter").map_or_else(|| DELIMITER.to_owned(), Value::to_text);
        let mut found = Map::new();
        for path in &self.args.0 {
            let value = traverse(ctx, &path.to_text(), &delimiter)?;
            found.insert(path.clone(), value.unwrap_or_else(|| default.clone()));
        }
        if option("sanitize").is_some_and(Value::truthy) {
            sanitize(&mut found);
        }
        Ok(found.into())
    }
}

record! {
    /// Shows all grains.
    ///
    ///   salt '*' grains.items
    pub struct Items {
        /// Put words in the place of what tells which machine this is.
        sanitize: bool = false,
    }
}

impl Run for Items {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut grains = ctx.grains.clone();
        if self.sanitize {
            sanitize(&mut grains);
        }
        Ok(grains.into())
    }
}

fn sanitize(grains: &mut Map) {
    for (grain, word) in [
        ("serialnumber", "XXXXXXXXXXX"),
        ("domain", "DOMAINNAME"),
        ("fqdn", "MINION.DOMAINNAME"),
        ("id", "MINION.DOMAINNAME"),
        ("host", "MINION"),
        ("localhost", "MINION"),
        ("nodename", "MINION"),
    ] {
        if let Some(value) = grains.at_mut(grain) {
            *value = word.into();
        }
    }
}

record! {
    /// Lists the names of the grains.
    ///
    ///   salt '*' grains.ls
    pub struct Ls {}
}

impl Run for Ls {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut names: Vec<String> = ctx.grains.keys().map(Value::to_text).collect();
        names.sort();
        Ok(names.into())
    }
}

record! {
    /// Picks from a map what a grain's value says: the first key that, as a pattern, fits it.
    ///
    ///   salt '*' grains.filter_by '{Debian: {pkg: apache2}, RedHat: {pkg: httpd}}'
    pub struct FilterBy {
        /// The map.
        lookup_dict: Map,
        /// The path of the grain; a list is tried item by item.
        grain: String = "os_family",
        /// A map to put over what was picked.
        merge: Value = (),
        /// The key to take when none fits.
        default: Value = "default",
        /// The key of a map to put below what was picked.
        base: Value = (),
    }
}

impl Run for FilterBy {
    fn run(self, ctx: &Ctx) -> Reply {
        let values = match traverse(ctx, &self.grain, DELIMITER)? {
            Some(Value::List(items)) => items.clone(),
            Some(value) => vec![value.clone()],
            None => Vec::new(),
        };
        let fitting = |value: &Value| {
            let found = self.lookup_dict.iter().find(|(key, _)| fnmatch(&value.to_text(), &key.to_text()));
            found.map(|(_, picked)| picked).filter(|picked| !picked.is_null())
        };
        let picked = values.iter().find_map(fitting).or_else(|| self.lookup_dict.at_value(&self.default));
        let mut picked = picked.cloned().unwrap_or_default();
        if let Some(base) = self.lookup_dict.at_value(&self.base).filter(|_| self.base.truthy()) {
            picked = over(base.clone(), picked)?;
        }
        // What is empty merges nothing, whatever it is: `merge=salt['pillar.get'](...)` may be a text then.
        if self.merge.truthy() {
            picked = over(picked, self.merge)?;
        }
        Ok(picked.into())
    }
}

fn over(below: Value, above: Value) -> Result<Value, Fault> {
    match (below, above) {
        (below, Value::Null) => Ok(below),
        (Value::Null, above) => Ok(above),
        (Value::Map(mut below), Value::Map(above)) => {
            config::merge_into(&mut below, &above);
            Ok(below.into())
        }
        _ => Err(Fault::invocation("grains.filter_by can merge maps alone")),
    }
}

#[cfg(test)]
mod tests;
