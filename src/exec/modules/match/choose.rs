//! What a minion gets out of a table of targets.

use super::super::config;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::record::{Arguments, Rest};
use halite_value::{Map, Value};

/// Whether a target means this minion. `kind` is the name of a function of this module.
fn means(ctx: &Ctx, kind: &str, target: &Value, id: &Value) -> Result<bool, Fault> {
    let fun = format!("match.{kind}");
    let Some(function) = ctx.functions.find(&fun).filter(|_| !matches!(kind, "filter_by" | "search_by" | "ifelse"))
    else {
        return Err(Fault::invocation(format!("'{kind}' is not a kind of target")));
    };
    let takes_id = function.info.fields.iter().any(|field| field.name() == "minion_id");
    let mut arguments = Arguments::positional([target.clone()]);
    if takes_id && id.truthy() {
        arguments = arguments.with("minion_id", id.clone());
    }
    Ok(ctx.run(&fun, arguments)?.truthy())
}

/// How a map is put over the one that was chosen.
struct Merge<'a> {
    over: &'a Value,
    lists: bool,
}

impl Merge<'_> {
    fn onto(&self, chosen: &Value) -> Result<Value, Fault> {
        if !self.over.truthy() {
            return Ok(chosen.clone());
        }
        let Value::Map(over) = self.over else {
            return Err(Fault::invocation("filter_by merge argument must be a dictionary."));
        };
        match chosen {
            Value::Null => Ok(self.over.clone()),
            Value::Map(chosen) => {
                let mut merged = chosen.clone();
                if self.lists {
                    with_lists(&mut merged, over);
                } else {
                    config::merge_into(&mut merged, over);
                }
                Ok(merged.into())
            }
            other => Err(Fault::invocation(format!("filter_by can merge into a map alone, not into {}", other.repr()))),
        }
    }
}

/// As [`config::merge_into`], but lists get the items that they do not have yet.
fn with_lists(all: &mut Map, over: &Map) {
    for (key, value) in over.iter() {
        match (all.at_value_mut(key), value) {
            (Some(Value::Map(inner)), Value::Map(over)) => with_lists(inner, over),
            (Some(Value::List(items)), Value::List(more)) => {
                let new: Vec<Value> = more.iter().filter(|item| !items.contains(item)).cloned().collect();
                items.extend(new);
            }
            _ => {
                all.insert(key.clone(), value.clone());
            }
        }
    }
}

record! {
    /// Returns the value under the first target in a map that means this minion.
    ///
    ///   salt '*' match.filter_by '{foo*: Foo!, bar*: Bar!}' minion_id=bar03
    pub struct FilterBy {
        /// The targets and their values.
        lookup: Map,
        /// The kind of the targets: the name of another function of this module.
        tgt_type: String = "compound",
        /// Another id than the minion's.
        minion_id: Value = (),
        /// A map to put over the value, which has to be a map too.
        merge: Value = (),
        /// Add to lists when merging, instead of replacing them.
        merge_lists: bool = false,
        /// The key to take when no target means this minion.
        default: Value = "default",
    }
}

impl Run for FilterBy {
    fn run(self, ctx: &Ctx) -> Reply {
        let merge = Merge { over: &self.merge, lists: self.merge_lists };
        for (target, value) in self.lookup.iter() {
            if means(ctx, &self.tgt_type, target, &self.minion_id)? {
                return Ok(merge.onto(value)?.into());
            }
        }
        Ok(self.lookup.at_value(&self.default).cloned().unwrap_or_default().into())
    }
}

record! {
    /// Returns the keys of those lists of targets that mean this minion; None when there is none.
    ///
    ///   salt '*' match.search_by '{web: [node1, node2], db: [node2, node]}'
    pub struct SearchBy {
        /// Keys, and lists of targets.
        lookup: Map,
        /// The kind of the targets: the name of another function of this module.
        tgt_type: String = "compound",
        /// Another id than the minion's.
        minion_id: Value = (),
    }
}

impl Run for SearchBy {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut found = Vec::new();
        for (key, targets) in self.lookup.iter() {
            let Value::List(targets) = targets else {
                return Err(Fault::invocation(format!("under '{}' there is no list of targets", key.to_text())));
            };
            for target in targets {
                if means(ctx, &self.tgt_type, target, &self.minion_id)? {
                    found.push(key.clone());
                }
            }
        }
        Ok(if found.is_empty() { Value::Null } else { Value::List(found) }.into())
    }
}

record! {
    /// Returns the value behind the first target that means this minion, else the last argument.
    ///
    ///   salt '*' match.ifelse 'foo*' 'Foo!' 'bar*' 'Bar!' 'Neither' minion_id=bar03
    pub struct Ifelse {
        /// Targets, each with its value behind it, and the value for all others. True stands for every minion, False for
        /// none.
        args: Rest,
        /// The kind of the targets: the name of another function of this module.
        tgt_type: String = "compound",
        /// Another id than the minion's.
        minion_id: Value = (),
        /// A map to put over the value, which has to be a map too.
        merge: Value = (),
        /// Add to lists when merging, instead of replacing them.
        merge_lists: bool = false,
    }
}

impl Run for Ifelse {
    fn run(self, ctx: &Ctx) -> Reply {
        let (pairs, [last]) = self.args.0.as_chunks::<2>() else {
            return Err(Fault::invocation("The ifelse function must have an odd number of arguments!"));
        };
        let merge = Merge { over: &self.merge, lists: self.merge_lists };
        for [target, value] in pairs {
            let is_meant = match target {
                Value::Bool(always) => *always,
                target => means(ctx, &self.tgt_type, target, &self.minion_id)?,
            };
            if is_meant {
                return Ok(merge.onto(value)?.into());
            }
        }
        Ok(last.clone().into())
    }
}
