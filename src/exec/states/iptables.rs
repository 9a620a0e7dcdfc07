//! `iptables.*`: rules of the packet filter.

mod aggregate;
mod chain;
mod rule;

use halite_core::state::{Function, Hooks, Module, Outcome, ask, given, state};
use halite_core::{Ctx, Fault};
use halite_value::Value;
use halite_value::record::Arguments;

pub const MODULE: Module = Module { name: "iptables", doc: "Rules of the packet filter.", functions: FUNCTIONS };

pub const HOOKS: Hooks = Hooks { module: "iptables", aggregate: Some(aggregate::aggregate), init: None };

const FUNCTIONS: &[Function] = &[
    state::<rule::Append>("append"),
    state::<chain::ChainAbsent>("chain_absent"),
    state::<chain::ChainPresent>("chain_present"),
    state::<rule::Delete>("delete"),
    state::<chain::Flush>("flush"),
    state::<rule::Insert>("insert"),
    state::<chain::SetPolicy>("set_policy"),
];

/// Where a rule or a chain is.
#[derive(Clone)]
struct Place {
    table: String,
    chain: String,
    family: String,
}

impl Place {
    /// What a function answers of this place.
    fn ask<const N: usize>(&self, ctx: &Ctx, fun: &str, more: [(&str, Value); N]) -> Result<Value, Fault> {
        let mut words = given(more);
        words.insert("table", self.table.as_str());
        words.insert("chain", self.chain.as_str());
        words.insert("family", self.family.as_str());
        ctx.run(fun, Arguments::keywords(words))
    }
}

/// Writes the rules that are loaded into the file that is read at boot, or into another one.
fn save(ctx: &Ctx, file: &Value, family: &str) -> Result<String, Fault> {
    let words = [("filename", file.as_str().into()), ("family", family.into())];
    Ok(ask(ctx, "iptables.save", words)?.to_text())
}

/// A function that answers nothing when all went well, and else what went wrong.
fn failure(answer: &Value) -> Option<String> {
    (answer.truthy() && *answer != Value::Bool(true)).then(|| answer.to_text().trim().to_owned())
}

/// What changed is shown under this name, as in Salt.
fn done(name: &str, comment: String) -> Outcome {
    Outcome::done(comment).with_changes(halite_core::state::single("locale", name))
}
