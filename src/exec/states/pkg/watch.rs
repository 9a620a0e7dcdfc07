//! What packages do when something that they watch has changed: the same again.

use super::installed::Installed;
use super::latest::Latest;
use super::removed::{Purged, Removed};
use halite_core::Fault;
use halite_core::state::{Look, Plan, State, failed};
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
    fn plan(self, look: &Look) -> Result<Plan, Fault> {
        let sfun = self.sfun.unwrap_or_else(|| "None".to_owned());
        let mut arguments = self.kwargs.0;
        arguments.insert("name", self.name);
        match sfun.as_str() {
            "installed" => again::<Installed>(look, &sfun, arguments),
            "latest" => again::<Latest>(look, &sfun, arguments),
            "removed" => again::<Removed>(look, &sfun, arguments),
            "purged" => again::<Purged>(look, &sfun, arguments),
            other => Ok(failed(format!("pkg.{other} does not work with the watch requisite"))),
        }
    }
}

fn again<S: State + Record>(look: &Look, sfun: &str, arguments: Map) -> Result<Plan, Fault> {
    let wrong = |error| Fault::arguments::<S>(format!("pkg.{sfun}"), error);
    S::bind(Arguments::keywords(arguments)).map_err(wrong)?.plan(look)
}
