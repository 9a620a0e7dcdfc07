//! `doc.*`: the documentation of functions.

use super::fleet::Order;
use super::{Ctx, Module, Run, docs, function};
use halite_core::Reply;
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "doc",
    doc: "Shows the documentation of functions.",
    functions: &[function::<Execution>("execution"), function::<Runner>("runner")],
};

record! {
    /// Shows the documentation of all execution functions that some minion has.
    ///
    ///   salt-run doc.execution
    pub struct Execution {}
}

impl Run for Execution {
    fn run(self, ctx: &Ctx) -> Reply {
        let gathered = ctx.fleet.publish(Order::for_all("sys.doc"))?;
        let mut all = Map::new();
        for answer in gathered.answers {
            if let Value::Map(docs) = answer.value {
                all.extend(docs);
            }
        }
        all.sort_keys();
        Ok(all.into())
    }
}

record! {
    /// Shows the documentation of all runners.
    ///
    ///   salt-run doc.runner
    pub struct Runner {}
}

impl Run for Runner {
    fn run(self, _: &Ctx) -> Reply {
        Ok(docs(None).into())
    }
}
