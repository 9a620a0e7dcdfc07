//! `test.*`: simple checks that a minion is there and that data arrives as it was sent.

use super::{Module, Run, function};
use crate::exec::{Ctx, Reply};
use crate::record;

pub const MODULE: Module = Module {
    name: "test",
    doc: "Checks that a minion is there and that data arrives as it was sent.",
    functions: &[function::<Ping>("ping").inline()],
};

record! {
    /// Answers True: the minion is there and runs jobs.
    pub struct Ping {}
}

impl Run for Ping {
    fn run(self, _: &Ctx) -> Reply {
        Ok(true.into())
    }
}
