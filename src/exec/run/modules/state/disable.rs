//! `state.disable` and its like: SLS and states that are not to run on this minion, kept in the grain
//! `state_runs_disabled`.

use super::Run;
use super::settings::split;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::target::fnmatch::fnmatch;
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

const GRAIN: &str = "state_runs_disabled";

record! {
    /// Keeps SLS (`core`, `core.*`), states (`pkg.*`) or the whole highstate (`highstate`) from running.
    ///
    ///   salt '*' state.disable highstate
    ///   salt '*' state.disable highstate,test.succeed_without_changes
    pub struct Disable {
        /// Names or patterns, with commas between them.
        states: Value,
    }
}

impl Run for Disable {
    fn run(self, ctx: &Ctx) -> Reply {
        change(ctx, &self.states, |disabled, name| match disabled.contains(&name.into()) {
            true => format!("Info: {name} state already disabled."),
            false => {
                disabled.push(name.into());
                format!("Info: {name} state disabled.")
            }
        })
    }
}

record! {
    /// Lets run again what was disabled.
    ///
    ///   salt '*' state.enable highstate
    pub struct Enable {
        /// Names or patterns, with commas between them.
        states: Value,
    }
}

impl Run for Enable {
    fn run(self, ctx: &Ctx) -> Reply {
        change(ctx, &self.states, |disabled, name| match disabled.contains(&name.into()) {
            true => {
                disabled.retain(|other| other.as_str() != Some(name));
                format!("Info: {name} state enabled.")
            }
            false => format!("Info: {name} state already enabled."),
        })
    }
}

record! {
    /// Returns what is disabled; an empty text where nothing ever was.
    ///
    ///   salt '*' state.list_disabled
    pub struct ListDisabled {}
}

impl Run for ListDisabled {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(ctx.grains.at(GRAIN).cloned().unwrap_or_else(|| "".into()).into())
    }
}

fn change(ctx: &Ctx, states: &Value, mut change: impl FnMut(&mut Vec<Value>, &str) -> String) -> Reply {
    let before = patterns(ctx);
    let mut disabled = before.to_vec();
    let told: Vec<String> = split(states).iter().map(|name| change(&mut disabled, name)).collect();
    if disabled != before {
        set(ctx, disabled)?;
    }
    Ok(Map::from_iter([("res", Value::from(true)), ("msg", told.join("\n").into())]).into())
}

fn set(ctx: &Ctx, disabled: Vec<Value>) -> Result<Value, Fault> {
    ctx.run("grains.setval", Arguments::positional([Value::from(GRAIN), Value::List(disabled)]))
}

fn patterns<'c>(ctx: &'c Ctx) -> &'c [Value] {
    ctx.grains.at(GRAIN).and_then(Value::as_list).unwrap_or_default()
}

/// What is told of SLS that are kept from running.
pub fn disabled(ctx: &Ctx, names: &[String]) -> Vec<String> {
    let mut told = Vec::new();
    for name in names {
        for pattern in patterns(ctx).iter().filter_map(Value::as_str) {
            match pattern.contains(".*") {
                true if fnmatch(name, pattern) => told.push(format!(
                    "The state file \"{name}\" is currently disabled by \"{pattern}\", to re-enable, run state.enable \
                     {pattern}."
                )),
                false if name == pattern => told.push(format!(
                    "The state file \"{name}\" is currently disabled, to re-enable, run state.enable {name}."
                )),
                _ => {}
            }
        }
    }
    told
}
