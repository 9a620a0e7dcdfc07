//! The table of states.

use halite_core::Fault;
use halite_core::function::Table;
pub use halite_core::state::*;
use halite_value::Map;
use halite_value::Value;

/// Modules of Salt whose states react to changes of others and which are not in this version yet: an SLS is compiled as
/// with them.
const WATCHING: [&str; 1] = ["event"];

/// The states of Halite.
pub static STATES: Table<PlanFn> = Table(&[halite_states::MODULES]);

/// The state called `mod.fun`.
pub fn find(fun: &str) -> Option<&'static Function> {
    STATES.find(fun)
}

/// The same, where the configuration lets its module in (`whitelist_state_modules`).
pub fn available(opts: &Map, fun: &str) -> Option<&'static Function> {
    let wanted = opts.at("whitelist_state_modules").and_then(Value::as_list).unwrap_or_default();
    let module = fun.split('.').next();
    let is_in = wanted.is_empty() || wanted.iter().any(|name| name.as_str() == module);
    find(fun).filter(|_| is_in)
}

/// The fault of a name that no state has.
pub fn unknown(fun: &str) -> Fault {
    STATES.unknown(fun)
}

/// The names of all modules of states, sorted.
pub fn modules() -> Vec<&'static str> {
    STATES.modules().into_iter().map(|module| module.name).collect()
}

/// The names of all states, `mod.fun`, sorted.
pub fn names() -> impl Iterator<Item = String> {
    STATES.names()
}

/// Whether the states of a module react to changes of what they watch.
pub fn watches(module: &str) -> bool {
    WATCHING.contains(&module) || find(&format!("{module}.{REACTION}")).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_modules_that_are_not_on_the_list_are_not_there() {
        let opts = |modules: &[&str]| Map::from_iter([("whitelist_state_modules", Value::list(modules.to_vec()))]);
        assert!(available(&Map::new(), "test.nop").is_some() && available(&opts(&[]), "test.nop").is_some());
        assert!(available(&opts(&["cmd", "test"]), "test.nop").is_some());
        assert!(available(&opts(&["cmd"]), "test.nop").is_none());
    }

    #[test]
    fn the_table_is_sorted_and_documented() {
        halite_core::testing::assert_sorted_and_documented(&STATES.modules());
        assert!(watches("cmd") && watches("service") && !watches("file"));
    }
}
