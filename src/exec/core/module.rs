//! What an execution module is, and how its functions are called.
//!
//! A module is one file (or a directory for a large one) and one line in the list of modules. A function is a record of its
//! arguments and a `run`:
//!
//! ```
//! use halite_core::module::{Function, Module, Run, function};
//! use halite_core::{Ctx, Reply};
//!
//! halite_value::record! {
//!     /// Answers True: the minion is there.
//!     pub struct Ping {}
//! }
//! impl Run for Ping {
//!     fn run(self, _: &Ctx) -> Reply {
//!         Ok(true.into())
//!     }
//! }
//! pub const MODULE: Module = Module { name: "test", doc: "Simple checks.", functions: &[function::<Ping>("ping").inline()] };
//! ```

pub use super::function::Place;
use super::function::{self, Table};
use super::{Ctx, Fault, Reply, Returned};
use halite_value::Value;
use halite_value::record::{ArgumentError, Arguments, Record};

/// The functions under one name.
pub type Module = function::Module<RunFn>;
/// One function as the table knows it.
pub type Function = function::Function<RunFn>;
pub type RunFn = fn(Arguments, &Ctx) -> Result<Reply, ArgumentError>;

/// What a record of arguments does when it is called.
pub trait Run: Record {
    fn run(self, ctx: &Ctx) -> Reply;
}

/// The table's entry for a record of arguments.
pub const fn function<R: Run>(name: &'static str) -> Function {
    Function::of::<R>(name, |arguments, ctx| R::bind(arguments).map(|record| record.run(ctx)))
}

/// The execution functions of a node: what it finds by name.
pub trait Functions: Sync {
    /// The function called `mod.fun`.
    fn find(&self, fun: &str) -> Option<&'static Function>;
    /// The names of all, `mod.fun`, sorted.
    fn names(&self) -> Vec<String>;
    /// The names of their modules, sorted.
    fn modules(&self) -> Vec<&'static str>;
    /// The fault of a name that is not there, with the names that are near.
    fn unknown(&self, fun: &str) -> Fault;
}

impl Functions for Table<RunFn> {
    fn find(&self, fun: &str) -> Option<&'static Function> {
        Table::find(self, fun)
    }

    fn names(&self) -> Vec<String> {
        Table::names(self).collect()
    }

    fn modules(&self) -> Vec<&'static str> {
        Table::modules(self).into_iter().map(|module| module.name).collect()
    }

    fn unknown(&self, fun: &str) -> Fault {
        Table::unknown(self, fun)
    }
}

/// Calls `mod.fun`.
pub fn call(ctx: &Ctx, fun: &str, arguments: Arguments) -> Reply {
    let Some(function) = ctx.functions.find(fun).filter(|_| !is_named(ctx, "disable_modules", fun)) else {
        return Err(ctx.functions.unknown(fun));
    };
    match (function.run)(arguments, ctx) {
        Ok(reply) => reply.or_else(Fault::answered),
        Err(error) => Err(Fault::Arguments { fun: fun.to_owned(), error, info: function.info }),
    }
}

/// Calls the function of the job that `ctx` belongs to. Unlike one that is called by another function it gets `__pub_*`
/// keywords, which say what was published.
pub fn call_published(ctx: &Ctx, arguments: Arguments) -> Reply {
    let has_list = ctx.opt("whitelist_modules").is_some_and(Value::truthy);
    if has_list && !is_named(ctx, "whitelist_modules", &ctx.call.fun) {
        return Err(function::unknown(&ctx.call.fun, Vec::new()));
    }
    let arguments = ctx.call.published(arguments);
    call(ctx, &ctx.call.fun, arguments)
}

/// Whether the module of a function stands in a list of the configuration.
fn is_named(ctx: &Ctx, option: &str, fun: &str) -> bool {
    let module = fun.split('.').next();
    let names = ctx.opt(option).and_then(Value::as_list).unwrap_or_default();
    names.iter().any(|name| name.as_str() == module)
}

/// The exit code of a job that gave this: its own, else 1 for a map that says that it failed.
pub fn exit_code(returned: &Returned) -> i32 {
    let says_no = |key: &str| returned.value.at(key).is_some_and(|value| !value.truthy());
    if returned.retcode == 0 && (says_no("result") || says_no("success")) { 1 } else { returned.retcode }
}
