//! Execution modules: the functions that `salt TARGET mod.fun` calls.
//!
//! A module is one file (or a folder for a large one) and one line in [`MODULES`]. A function is a record of its
//! arguments and a `run`:
//!
//! ```
//! use halite::exec::modules::{Function, Module, Run, function};
//! use halite::exec::{Ctx, Reply};
//!
//! halite::record! {
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

mod test;

use super::{Ctx, Fault, Reply};
use crate::wire::record::{ArgumentError, Arguments, Info, Record};

/// Every module, sorted by name.
pub const MODULES: &[&Module] = &[&test::MODULE];

/// The functions under one name.
#[derive(Debug)]
pub struct Module {
    pub name: &'static str,
    pub doc: &'static str,
    pub functions: &'static [Function],
}

/// One function as the tables know it.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub name: &'static str,
    pub info: &'static Info,
    pub place: Place,
    run: fn(Arguments, &Ctx) -> Result<Reply, ArgumentError>,
}

/// Where a daemon may run a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On a thread of the daemon: short, pure, touches no host state and cannot block.
    Inline,
    /// In a process of its own, which can be killed and gives its memory back.
    Worker,
}

/// What a record of arguments does when it is called.
pub trait Run: Record {
    fn run(self, ctx: &Ctx) -> Reply;
}

/// The table's entry for a record of arguments.
pub const fn function<R: Run>(name: &'static str) -> Function {
    Function {
        name,
        info: R::INFO,
        place: Place::Worker,
        run: |arguments, ctx| R::bind(arguments).map(|record| record.run(ctx)),
    }
}

impl Function {
    /// For functions that may run on a thread of the daemon; see [`Place::Inline`].
    pub const fn inline(self) -> Function {
        Function { place: Place::Inline, ..self }
    }
}

/// The function called `mod.fun`.
pub fn find(fun: &str) -> Option<&'static Function> {
    let (module, name) = fun.split_once('.')?;
    let module = MODULES.iter().find(|candidate| candidate.name == module)?;
    module.functions.iter().find(|candidate| candidate.name == name)
}

/// Calls `mod.fun`.
pub fn call(ctx: &Ctx, fun: &str, arguments: Arguments) -> Reply {
    let Some(function) = find(fun) else {
        return Err(unknown(fun));
    };
    match (function.run)(arguments, ctx) {
        Ok(reply) => reply,
        Err(error) => Err(Fault::Arguments { fun: fun.to_owned(), error }),
    }
}

fn unknown(fun: &str) -> Fault {
    Fault::Unknown { fun: fun.to_owned(), reason: format!("'{fun}' is not available."), nearest: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_and_functions_are_sorted_unique_and_documented() {
        assert!(MODULES.is_sorted_by(|a, b| a.name < b.name));
        for module in MODULES {
            assert!(!module.doc.is_empty(), "{} has no doc", module.name);
            assert!(module.functions.is_sorted_by(|a, b| a.name < b.name), "{} is not sorted", module.name);
            for function in module.functions {
                assert!(!function.info.doc.is_empty(), "{}.{} has no doc", module.name, function.name);
            }
        }
    }
}
