//! `sys.state_doc` and its like: what states there are, and how they are declared.

use super::{spec, wanted_modules, wanted_names};
use crate::states;
use halite_core::module::Run;
use halite_core::{Ctx, Reply};
use halite_value::record;
use halite_value::record::Rest;
use halite_value::{Map, Value};

record! {
    /// Lists states.
    ///
    ///   salt '*' sys.list_state_functions
    ///   salt '*' sys.list_state_functions file 'cmd.*'
    pub struct ListStateFunctions {
        /// Modules, states or patterns; without any: all.
        args: Rest,
    }
}

impl Run for ListStateFunctions {
    fn run(self, _: &Ctx) -> Reply {
        let is_wanted = wanted_names(&self.args);
        Ok(Value::list(states::names().filter(|name| is_wanted(name))).into())
    }
}

record! {
    /// Lists the modules of states.
    ///
    ///   salt '*' sys.list_state_modules
    pub struct ListStateModules {
        /// Names or patterns; without any: all.
        args: Rest,
    }
}

impl Run for ListStateModules {
    fn run(self, _: &Ctx) -> Reply {
        Ok(wanted_modules(&states::modules(), &self.args).into())
    }
}

record! {
    /// Shows the documentation of states.
    ///
    ///   salt '*' sys.state_doc file.managed
    pub struct StateDoc {
        /// Modules, states or patterns; without any: all.
        args: Rest,
    }
}

impl Run for StateDoc {
    fn run(self, _: &Ctx) -> Reply {
        let is_wanted = wanted_names(&self.args);
        let docs = states::names().filter(|name| is_wanted(name));
        Ok(docs.filter_map(|name| states::find(&name).map(|state| (name, state.doc()))).collect::<Map>().into())
    }
}

record! {
    /// Shows the arguments of states.
    ///
    ///   salt '*' sys.state_argspec file.managed
    pub struct StateArgspec {
        /// A module, a state or a pattern.
        module: String = "",
    }
}

impl Run for StateArgspec {
    fn run(self, _: &Ctx) -> Reply {
        let is_wanted = wanted_names(&Rest(vec![self.module.into()]));
        let specs = states::names().filter(|name| is_wanted(name));
        let spec = |name: String| states::find(&name).map(|state| (name, spec(state.info.fields)));
        Ok(specs.filter_map(spec).collect::<Map>().into())
    }
}
