//! `file.pruned`.

use super::{own_name, single};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, change};
use halite_core::{Fault, paths};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

record! {
    /// Makes sure that there is no empty directory of a name.
    ///
    ///   /tmp/empty:
    ///     file.pruned:
    ///       - recurse: True
    pub struct Pruned {
        /// The path.
        name: String,
        /// Remove the empty directories below it first.
        recurse: bool = false,
        /// Directories that are not empty are no failure.
        ignore_errors: bool = false,
        /// Leave those alone that were changed in so many days.
        older_than: Option<i64> = (),
    }
}

impl State for Pruned {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = own_name(context.ctx, &self.name);
        let recurse = self.recurse || self.ignore_errors;
        if !paths::is_directory(context.ctx.host, &name) {
            return Ok(already(format!("Directory {name} is not present")));
        }
        let would = format!("Directory {name} is set for removal");
        Ok(change(single("deleted", name.as_str()), would, move |ctx| {
            let arguments = Arguments::positional([name.as_str()]).with("recurse", recurse).with("verbose", true);
            let mut answer = match ctx.run("file.rmdir", arguments.with("older_than", self.older_than))? {
                Value::Map(answer) => answer,
                other => Map::from_iter([("result", other)]),
            };
            let succeeded = answer.remove("result").is_some_and(|result| result.truthy());
            let mut deleted: Vec<String> =
                answer.at("deleted").and_then(Value::as_list).unwrap_or_default().iter().map(Value::to_text).collect();
            deleted.sort();
            if !succeeded && (!self.ignore_errors || deleted.is_empty()) {
                return Ok(Outcome::failed(format!("Failed to remove directory {name}")).with_changes(answer));
            }
            Ok(match (recurse, deleted.is_empty()) {
                (true, false) => Outcome::done(format!("Recursively removed empty directories under {name}"))
                    .with_changes(single("deleted", Value::list(deleted))),
                (true, true) => Outcome::done(""),
                (false, _) => {
                    Outcome::done(format!("Removed directory {name}")).with_changes(single("deleted", name.as_str()))
                }
            })
        }))
    }
}
