//! Functions that show what this minion has: modules, options, grains.

use halite_core::module::Run;
use halite_core::{Ctx, Reply};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

record! {
    /// Shows the grains, by a call from one function to another.
    ///
    ///   salt '*' test.attr_call
    pub struct AttrCall {}
}

impl Run for AttrCall {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(ctx.run("grains.items", Arguments::default())?.into())
    }
}

record! {
    /// Shows the option `test.foo`.
    ///
    ///   salt '*' test.conf_test
    pub struct ConfTest {}
}

impl Run for ConfTest {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(ctx.run("config.option", Arguments::positional(["test.foo"]))?.into())
    }
}

record! {
    /// Calls a function from within another.
    ///
    ///   salt '*' test.cross_test test.echo '[hello]'
    pub struct CrossTest {
        /// The function.
        func: String,
        /// Its positional arguments.
        args: Vec<Value> = Value::List(Vec::new()),
    }
}

impl Run for CrossTest {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(ctx.run(&self.func, Arguments::positional(self.args))?.into())
    }
}

record! {
    /// Shows the options of this minion.
    ///
    ///   salt '*' test.get_opts
    pub struct Opts {}
}

impl Run for Opts {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(ctx.opts.clone().into())
    }
}

record! {
    /// Shows the options of this minion with its grains among them.
    ///
    ///   salt '*' test.opts_pkg
    pub struct OptsPkg {}
}

impl Run for OptsPkg {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut opts = ctx.opts.clone();
        opts.insert("grains", ctx.grains.clone());
        Ok(opts.into())
    }
}

record! {
    /// Shows all modules and functions, and what cannot be reached. Everything can: the last two lists are empty.
    ///
    ///   salt '*' test.module_report
    pub struct ModuleReport {}
}

impl Run for ModuleReport {
    fn run(self, ctx: &Ctx) -> Reply {
        let names = ctx.functions.names();
        let missing: Vec<String> = names.iter().filter(|name| ctx.functions.find(name).is_none()).cloned().collect();
        let functions = Value::list(names);
        let modules = Value::list(ctx.functions.modules());
        Ok(Map::from_iter([
            ("functions", functions.clone()),
            ("function_attrs", functions.clone()),
            ("function_subs", functions),
            ("modules", modules.clone()),
            ("module_attrs", modules),
            ("missing_attrs", missing.clone().into()),
            ("missing_subs", missing.into()),
        ])
        .into())
    }
}

record! {
    /// Lists the modules that did not load. All are built in: there is none.
    ///
    ///   salt '*' test.not_loaded
    pub struct NotLoaded {}
}

impl Run for NotLoaded {
    fn run(self, ctx: &Ctx) -> Reply {
        let names = ctx.functions.names();
        let is_empty = |module: &&str| !names.iter().any(|name| name.split('.').next() == Some(module));
        Ok(Value::list(ctx.functions.modules().into_iter().filter(is_empty)).into())
    }
}

record! {
    /// Shows what provides a module on this host; empty where nothing does.
    ///
    ///   salt '*' test.provider cmd
    pub struct Provider {
        /// The module.
        module: String,
    }
}

impl Run for Provider {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(ctx.functions.modules().into_iter().find(|module| *module == self.module).unwrap_or_default().into())
    }
}

record! {
    /// Shows what provides each module on this host.
    ///
    ///   salt '*' test.providers
    pub struct Providers {}
}

impl Run for Providers {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(ctx.functions.modules().into_iter().map(|module| (module, module)).collect::<Map>().into())
    }
}

record! {
    /// Shows where the program is: its functions and lines, when it was built with them.
    ///
    ///   salt '*' test.stack
    pub struct Stack {}
}

impl Run for Stack {
    fn run(self, _: &Ctx) -> Reply {
        Ok(std::backtrace::Backtrace::force_capture().to_string().into())
    }
}
