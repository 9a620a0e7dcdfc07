//! `environ.*`: the environment of the process that runs the job.

use halite_core::context::NO_DAEMON_ENVIRONMENT;
use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "environ",
    doc: "See and set environment variables of the process that runs the job, and of the commands that it starts.",
    functions: &[
        function::<Get>("get"),
        function::<HasValue>("has_value"),
        function::<Item>("item"),
        function::<Items>("items"),
        function::<Setenv>("setenv"),
        function::<Setval>("setval"),
    ],
};

record! {
    /// Shows a variable.
    ///
    ///   salt '*' environ.get HOME
    ///   salt '*' environ.get NO_SUCH default=False
    pub struct Get {
        /// The variable's name.
        key: Value,
        /// What to answer when there is none.
        default: Value = "",
    }
}

impl Run for Get {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(key) = self.key.as_str() else { return Ok(false.into()) };
        Ok(ctx.host.env(key).map_or(self.default, Value::from).into())
    }
}

record! {
    /// Shows whether there is a variable, and whether it has this value.
    ///
    ///   salt '*' environ.has_value HOME
    ///   salt '*' environ.has_value HOME /root
    pub struct HasValue {
        /// The variable's name.
        key: Value,
        /// The value. Without it: any.
        value: Value = (),
    }
}

impl Run for HasValue {
    fn run(self, ctx: &Ctx) -> Reply {
        let found = self.key.as_str().and_then(|key| ctx.host.env(key));
        let has = found.is_some_and(|found| self.value.is_null() || self.value.as_str() == Some(&found));
        Ok(has.into())
    }
}

record! {
    /// Shows some variables.
    ///
    ///   salt '*' environ.item HOME
    ///   salt '*' environ.item '[HOME, NO_SUCH]' default=None
    pub struct Item {
        /// A name, or a list of names.
        keys: Value,
        /// What to answer for those that are not there.
        default: Value = "",
    }
}

impl Run for Item {
    fn run(self, ctx: &Ctx) -> Reply {
        let keys = match self.keys {
            Value::Str(key) => vec![Value::Str(key)],
            Value::List(keys) => keys,
            _ => Vec::new(),
        };
        let shown = keys.into_iter().map(|key| {
            let found = key.as_str().and_then(|key| ctx.host.env(key));
            (key, found.map_or_else(|| self.default.clone(), Value::from))
        });
        Ok(shown.collect::<Map>().into())
    }
}

record! {
    /// Shows all variables.
    ///
    ///   salt '*' environ.items
    pub struct Items {}
}

impl Run for Items {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(ctx.host.environment().into_iter().collect::<Map>().into())
    }
}

record! {
    /// Sets a variable, for the rest of the job. Returns its value, None when it was removed, False when it cannot be set.
    ///
    ///   salt '*' environ.setval foo bar
    ///   salt '*' environ.setval baz val=False false_unsets=True
    pub struct Setval {
        /// The variable's name.
        key: Value,
        /// Its value: text, or False for an empty one.
        val: Value,
        /// With the value False, remove the variable.
        false_unsets: bool = false,
        /// Taken, not used: for Windows.
        permanent: Value = false,
    }
}

impl Run for Setval {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(set(ctx, &self.key, &self.val, self.false_unsets).into())
    }
}

record! {
    /// Sets variables, for the rest of the job. Returns what environ.setval returns for each; False when one of the values
    /// is neither text nor False.
    ///
    ///   salt '*' environ.setenv '{"foo": "bar", "baz": "quux"}'
    ///   salt '*' environ.setenv '{"a": "b", "c": False}' false_unsets=True
    pub struct Setenv {
        /// The variables and their values.
        environ: Value,
        /// Remove those that have the value False.
        false_unsets: bool = false,
        /// Also set, or with `false_unsets` remove, all others, as if they had the value False.
        clear_all: bool = false,
        /// Set them in the minion's daemon too: refused, this version cannot.
        update_minion: bool = false,
        /// Taken, not used: for Windows.
        permanent: Value = false,
    }
}

impl Run for Setenv {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.update_minion {
            return Err(Fault::execution(NO_DAEMON_ENVIRONMENT));
        }
        let Value::Map(environ) = self.environ else { return Ok(false.into()) };
        let mut done = Map::new();
        if self.clear_all {
            let others = ctx.host.environment().into_keys().filter(|name| !environ.contains(name));
            for name in others {
                let value = set(ctx, &name.as_str().into(), &false.into(), self.false_unsets);
                done.insert(name, value);
            }
        }
        for (key, value) in environ.iter() {
            if value.as_str().is_none() && *value != Value::Bool(false) {
                return Ok(false.into());
            }
            done.insert(key.clone(), set(ctx, key, value, self.false_unsets));
        }
        Ok(done.into())
    }
}

/// What became of it: the value, None when it was removed, False when it could not be.
fn set(ctx: &Ctx, key: &Value, value: &Value, false_unsets: bool) -> Value {
    let removes = *value == Value::Bool(false) && false_unsets;
    let text = match value {
        Value::Bool(false) => "",
        Value::Str(text) => text,
        _ => return false.into(),
    };
    match key.as_str() {
        // What can never be there is not there afterwards either.
        Some(key) if removes => ctx.host.set_env(key, None).map_or(Value::Null, Value::from),
        Some(key) if ctx.host.set_env(key, Some(text)).is_ok() => text.into(),
        _ => false.into(),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;
    use halite_core::host::{Processes, ReadOnly};
    use halite_core::module::call;
    use halite_value::record::Arguments;
    use halite_value::{Map, Value};

    #[test]
    fn variables_are_set_and_removed() {
        let world = World::on(Fake::new().env("OLD", "1").env("KEPT", "2"));
        let run = |fun: &str, arguments| call(&world.ctx(&NoMaster), fun, arguments).unwrap().value;
        assert_eq!(run("environ.setval", Arguments::positional(["NEW", "x"])), "x".into());
        assert_eq!(run("environ.get", Arguments::positional(["NEW"])), "x".into());
        let environ = Map::from_iter([("KEPT", Value::from("3")), ("NEW", false.into())]);
        let all = Arguments::positional([environ]).with("clear_all", true).with("false_unsets", true);
        assert_eq!(run("environ.setenv", all).to_json(), r#"{"OLD": null, "KEPT": "3", "NEW": null}"#);
        assert_eq!(run("environ.items", Arguments::default()).to_json(), r#"{"KEPT": "3"}"#);
    }

    #[test]
    fn what_cannot_be_set_is_not() {
        let world = World::new();
        let update = Arguments::positional([Map::from_iter([("A", "b")])]).with("update_minion", true);
        assert!(call(&world.ctx(&NoMaster), "environ.setenv", update).is_err());
        let view = ReadOnly(&world.host);
        let set = call(&world.ctx_on(&view, &NoMaster), "environ.setval", Arguments::positional(["A", "b"]));
        assert_eq!((set.unwrap().value, view.env("A")), (false.into(), None));
    }
}
