//! `error.*`: a runner that fails, to see what that looks like.

use super::{Ctx, Module, Run, function};
use halite_core::{Fault, Reply};
use halite_value::record;

pub const MODULE: Module =
    Module { name: "error", doc: "Fails, to see what that looks like.", functions: &[function::<Error>("error")] };

record! {
    /// Fails with an error of a name; without a name it does nothing.
    ///
    ///   salt-run error.error
    ///   salt-run error.error name=Exception message='This is an error.'
    pub struct Error {
        /// The kind of error, as Python would name it.
        name: Option<String> = (),
        /// What it says.
        message: String = "",
    }
}

impl Run for Error {
    fn run(self, _: &Ctx) -> Reply {
        match self.name {
            None => Ok(().into()),
            Some(kind) => Err(Fault::Raised { kind, message: self.message }),
        }
    }
}
