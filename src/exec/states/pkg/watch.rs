//! What packages do when something that they watch has changed: the same again.

use super::installed::Installed;
use super::latest::Latest;
use super::removed::{Purged, Removed};
use halite_core::Fault;
use halite_core::state::{Plan, PlanContext, State, failed};
use halite_value::Map;
use halite_value::record;
use halite_value::record::{Arguments, Keywords, Record};

record! {
    /// Does again what the state does, when something that it watches has changed.
    ///
    ///   httpd:
    ///     pkg.latest:
    ///       - watch:
    ///         - pkgrepo: base
    pub struct Watched {
        /// The package.
        name: String,
        /// The function of the state.
        sfun: Option<String> = (),
        kwargs: Keywords,
    }
}

impl State for Watched {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let sfun = self.sfun.unwrap_or_else(|| "None".to_owned());
        let mut arguments = self.kwargs.0;
        arguments.insert("name", self.name);
        match sfun.as_str() {
            "installed" => again::<Installed>(context, &sfun, arguments),
            "latest" => again::<Latest>(context, &sfun, arguments),
            "removed" => again::<Removed>(context, &sfun, arguments),
            "purged" => again::<Purged>(context, &sfun, arguments),
            other => Ok(failed(format!("pkg.{other} does not work with the watch requisite"))),
        }
    }
}

fn again<S: State + Record>(context: &PlanContext, sfun: &str, arguments: Map) -> Result<Plan, Fault> {
    let wrong = |error| Fault::arguments::<S>(format!("pkg.{sfun}"), error);
    S::bind(Arguments::keywords(arguments)).map_err(wrong)?.planned(context)
}
