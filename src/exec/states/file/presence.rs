//! `file.exists` and `file.missing`: whether something is there, and nothing is done about it.

use super::followed;
use halite_core::Fault;
use halite_core::state::{Plan, PlanContext, State, already, failed};
use halite_value::record;
use halite_value::record::Keywords;
use std::path::Path;

record! {
    /// Fails where there is nothing of a name.
    ///
    ///   /etc/passwd:
    ///     file.exists: []
    pub struct Exists {
        /// The path.
        name: String,
        kwargs: Keywords,
    }
}

impl State for Exists {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        Ok(match followed(context.ctx, Path::new(&name)) {
            _ if name.is_empty() => failed("Must provide name to file.exists"),
            Some(_) => already(format!("Path {name} exists")),
            None => failed(format!("Specified path {name} does not exist")),
        })
    }
}

record! {
    /// Fails where there is something of a name.
    ///
    ///   /etc/nologin:
    ///     file.missing: []
    pub struct Missing {
        /// The path.
        name: String,
        kwargs: Keywords,
    }
}

impl State for Missing {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        Ok(match followed(context.ctx, Path::new(&name)) {
            _ if name.is_empty() => failed("Must provide name to file.missing"),
            Some(_) => failed(format!("Specified path {name} exists")),
            None => already(format!("Path {name} is missing")),
        })
    }
}
