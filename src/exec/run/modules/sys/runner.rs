//! `sys.runner_doc` and its like: what runners there are, and how they are called.

use super::{spec, wanted_modules, wanted_names};
use crate::runners;
use halite_core::module::Run;
use halite_core::{Ctx, Reply};
use halite_value::record;
use halite_value::record::Rest;
use halite_value::{Map, Value};

record! {
    /// Lists runners.
    ///
    ///   salt '*' sys.list_runner_functions
    ///   salt '*' sys.list_runner_functions jobs 'manage.*'
    pub struct ListRunnerFunctions {
        /// Modules, runners or patterns; without any: all.
        args: Rest,
    }
}

impl Run for ListRunnerFunctions {
    fn run(self, _: &Ctx) -> Reply {
        let is_wanted = wanted_names(&self.args);
        Ok(Value::list(runners::names().filter(|name| is_wanted(name))).into())
    }
}

record! {
    /// Lists the modules of runners.
    ///
    ///   salt '*' sys.list_runners
    pub struct ListRunners {
        /// Names or patterns; without any: all.
        args: Rest,
    }
}

impl Run for ListRunners {
    fn run(self, _: &Ctx) -> Reply {
        Ok(wanted_modules(&runners::modules(), &self.args).into())
    }
}

record! {
    /// Shows the documentation of runners.
    ///
    ///   salt '*' sys.runner_doc jobs.list_jobs
    pub struct RunnerDoc {
        /// Modules, runners or patterns; without any: all.
        args: Rest,
    }
}

impl Run for RunnerDoc {
    fn run(self, _: &Ctx) -> Reply {
        let is_wanted = wanted_names(&self.args);
        let docs = runners::names().filter(|name| is_wanted(name));
        Ok(docs.filter_map(|name| runners::find(&name).map(|runner| (name, runner.doc()))).collect::<Map>().into())
    }
}

record! {
    /// Shows the arguments of runners.
    ///
    ///   salt '*' sys.runner_argspec jobs.list_jobs
    pub struct RunnerArgspec {
        /// A module, a runner or a pattern.
        module: String = "",
    }
}

impl Run for RunnerArgspec {
    fn run(self, _: &Ctx) -> Reply {
        let is_wanted = wanted_names(&Rest(vec![self.module.into()]));
        let specs = runners::names().filter(|name| is_wanted(name));
        let spec = |name: String| runners::find(&name).map(|runner| (name, spec(runner.info.fields)));
        Ok(specs.filter_map(spec).collect::<Map>().into())
    }
}
