//! `config.*`: the master's configuration.

use super::{Ctx, Module, Run, function};
use halite_core::{Fault, Reply};
use halite_value::Value;
use halite_value::record;

pub const MODULE: Module = Module {
    name: "config",
    doc: "Look options up in the master's configuration.",
    functions: &[function::<Get>("get")],
};

record! {
    /// Shows an option of the master.
    ///
    ///   salt-run config.get file_roots:base
    ///   salt-run config.get file_roots,base delimiter=','
    pub struct Get {
        /// The path of the option: keys, and indices of lists, with the delimiter between them.
        key: String,
        /// What to answer where there is no such option.
        default: Value = "",
        /// What stands between the steps of the path.
        delimiter: String = ":",
    }
}

impl Run for Get {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.delimiter.is_empty() {
            return Err(Fault::invocation("the delimiter is empty"));
        }
        let opts = Value::Map(ctx.opts.clone());
        Ok(opts.traverse(&self.key, &self.delimiter).cloned().unwrap_or(self.default).into())
    }
}
