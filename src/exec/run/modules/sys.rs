//! `sys.*`: what functions there are, and how they are called.

mod renderer;
mod returner;
mod runner;
mod schema;
mod state;

use super::{find, names};
use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Reply};
use halite_lang::target::fnmatch::Pattern;
use halite_value::record;
use halite_value::record::{Field, Keywords, Kind, Rest};
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "sys",
    doc: "Shows the functions of this minion, their documentation and arguments.",
    functions: &[
        function::<Argspec>("argspec").inline(),
        function::<Doc>("doc").inline(),
        function::<ListFunctions>("list_functions").inline(),
        function::<ListModules>("list_modules").inline(),
        function::<renderer::ListRenderers>("list_renderers").inline(),
        function::<returner::ListReturnerFunctions>("list_returner_functions").inline(),
        function::<returner::ListReturners>("list_returners").inline(),
        function::<runner::ListRunnerFunctions>("list_runner_functions").inline(),
        function::<runner::ListRunners>("list_runners").inline(),
        function::<state::ListStateFunctions>("list_state_functions").inline(),
        function::<state::ListStateModules>("list_state_modules").inline(),
        function::<ReloadModules>("reload_modules"),
        function::<renderer::RendererDoc>("renderer_doc").inline(),
        function::<returner::ReturnerArgspec>("returner_argspec").inline(),
        function::<returner::ReturnerDoc>("returner_doc").inline(),
        function::<runner::RunnerArgspec>("runner_argspec").inline(),
        function::<runner::RunnerDoc>("runner_doc").inline(),
        function::<state::StateArgspec>("state_argspec").inline(),
        function::<state::StateDoc>("state_doc").inline(),
        function::<schema::StateSchema>("state_schema").inline(),
    ],
};

record! {
    /// Shows the documentation of functions.
    ///
    ///   salt '*' sys.doc test.ping
    ///   salt '*' sys.doc test 'cmd.run*'
    pub struct Doc {
        /// Modules, functions or patterns; without any: all.
        args: Rest,
    }
}

impl Run for Doc {
    fn run(self, _: &Ctx) -> Reply {
        let docs = chosen(&self.args).filter_map(|name| find(&name).map(|function| (name, function.doc())));
        Ok(docs.collect::<Map>().into())
    }
}

record! {
    /// Shows the arguments of functions: their names, the defaults of the last of them, and whether any others are taken.
    ///
    ///   salt '*' sys.argspec test.fib
    pub struct Argspec {
        /// A module, a function or a pattern.
        module: String = "",
    }
}

impl Run for Argspec {
    fn run(self, _: &Ctx) -> Reply {
        let wanted = Rest(vec![self.module.into()]);
        let specs = chosen(&wanted).filter_map(|name| find(&name).map(|function| (name, spec(function.info.fields))));
        Ok(specs.collect::<Map>().into())
    }
}

record! {
    /// Lists functions.
    ///
    ///   salt '*' sys.list_functions
    ///   salt '*' sys.list_functions test 'cmd.run*'
    pub struct ListFunctions {
        /// Modules, functions or patterns; without any: all.
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for ListFunctions {
    fn run(self, _: &Ctx) -> Reply {
        Ok(Value::list(chosen(&self.args)).into())
    }
}

record! {
    /// Lists modules.
    ///
    ///   salt '*' sys.list_modules 's*'
    pub struct ListModules {
        /// Names or patterns; without any: all.
        args: Rest,
    }
}

impl Run for ListModules {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(wanted_modules(&ctx.functions.modules(), &self.args).into())
    }
}

record! {
    /// Has the minion load its modules anew.
    ///
    ///   salt '*' sys.reload_modules
    pub struct ReloadModules {
        /// Taken, not used.
        initial_load: bool = false,
        /// Taken, not used.
        context: Value = (),
    }
}

impl Run for ReloadModules {
    fn run(self, ctx: &Ctx) -> Reply {
        // There is nothing to be said for it: as Salt has it, nothing comes back either way.
        if let Err(fault) = ctx.master.tell_minion("module_refresh", Map::new()) {
            log::debug!("module_refresh: {fault}");
        }
        Ok(().into())
    }
}

/// The functions that were asked for: `sys` is a module (and not `sysctl`), `sys.doc` a function, `s*` a pattern.
fn chosen(wanted: &Rest) -> impl Iterator<Item = String> {
    let is_wanted = wanted_names(wanted);
    names().filter(move |name| is_wanted(name))
}

/// Whether a function was asked for, by its name.
fn wanted_names(wanted: &Rest) -> impl Fn(&str) -> bool + use<> {
    let patterns: Vec<Pattern> = wanted
        .0
        .iter()
        .map(Value::to_text)
        .filter(|name| !name.is_empty())
        .map(|name| match name.contains(['*', '.']) && !name.ends_with('.') {
            true => Pattern::new(&name),
            false => Pattern::new(&format!("{}.*", name.trim_end_matches('.'))),
        })
        .collect();
    move |name| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name))
}

/// The names of modules that were asked for.
fn wanted_modules(modules: &[&'static str], wanted: &Rest) -> Value {
    let patterns: Vec<Pattern> = wanted.0.iter().map(|pattern| Pattern::new(&pattern.to_text())).collect();
    let is_wanted = |name: &str| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name));
    Value::list(modules.iter().copied().filter(|name| is_wanted(name)))
}

fn spec(fields: &[Field]) -> Map {
    let named: Vec<&Field> = fields.iter().filter(|field| !matches!(field.kind, Kind::Rest | Kind::Keywords)).collect();
    let defaults: Vec<Value> = named.iter().filter_map(|field| field.default.map(|default| default())).collect();
    let has = |kind: Kind| if fields.iter().any(|field| field.kind == kind) { Value::Bool(true) } else { Value::Null };
    let or_none = |items: Vec<Value>| if items.is_empty() { Value::Null } else { Value::List(items) };
    let mut spec = Map::new();
    spec.insert("args", or_none(named.iter().map(|field| field.name().into()).collect()));
    spec.insert("defaults", or_none(defaults));
    spec.insert("varargs", has(Kind::Rest));
    spec.insert("kwargs", has(Kind::Keywords));
    spec
}

#[cfg(test)]
pub(super) mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::module::call;
    use halite_value::record::Arguments;
    use halite_value::{Value, parse_json};

    pub fn value(fun: &str, arguments: Arguments) -> Value {
        call(&World::new().ctx(&NoMaster), fun, arguments).unwrap().value
    }

    #[test]
    fn functions_are_found_by_module_name_and_pattern() {
        assert_eq!(value("sys.list_functions", Arguments::positional(["sys.doc"])), Value::list(["sys.doc"]));
        let of_module = value("sys.list_functions", Arguments::positional(["sys"]));
        assert_eq!(of_module.as_list().unwrap().len(), 20);
        assert_eq!(value("sys.list_functions", Arguments::positional(["sys."])), of_module);
        assert_eq!(value("sys.list_functions", Arguments::positional(["nothing"])), Value::List(Vec::new()));
        assert_eq!(value("sys.list_modules", Arguments::positional(["cm*"])), Value::list(["cmd"]));
    }

    #[test]
    fn a_function_tells_how_it_is_called() {
        let expected = r#"{"test.fib": {"args": ["num"], "defaults": null, "varargs": null, "kwargs": null}}"#;
        assert_eq!(value("sys.argspec", Arguments::positional(["test.fib"])), parse_json(expected).unwrap());
        let expected = r#"{"test.arg": {"args": null, "defaults": null, "varargs": true, "kwargs": true}}"#;
        assert_eq!(value("sys.argspec", Arguments::positional(["test.arg"])), parse_json(expected).unwrap());
        let doc = value("sys.doc", Arguments::positional(["test.sleep"]));
        assert!(doc.at("test.sleep").unwrap().to_text().contains("\nlength\n    Seconds.\n"));
    }
}
