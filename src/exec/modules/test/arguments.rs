//! Functions that show the arguments they were called with.

use halite_core::module::Run;
use halite_core::{Ctx, Reply};
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};

record! {
    /// Shows positional and keyword arguments, with what was published beside them (`__pub_*`).
    ///
    ///   salt '*' test.arg 1 two txt=hello
    pub struct Arg {
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for Arg {
    fn run(self, _: &Ctx) -> Reply {
        Ok(shown(Value::List(self.args.0), self.kwargs.0.into()).into())
    }
}

record! {
    /// Shows the arguments without what was published beside them.
    ///
    ///   salt '*' test.arg_clean 1 two txt=hello
    pub struct ArgClean {
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for ArgClean {
    fn run(mut self, _: &Ctx) -> Reply {
        self.kwargs.0.retain(|name, _| !name.as_str().is_some_and(|name| name.starts_with("__")));
        Ok(shown(Value::List(self.args.0), self.kwargs.0.into()).into())
    }
}

record! {
    /// Shows the arguments as Python would print them.
    ///
    ///   salt '*' test.arg_repr 1 two txt=hello
    pub struct ArgRepr {
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for ArgRepr {
    fn run(self, _: &Ctx) -> Reply {
        // Positional arguments are a tuple, which prints a comma behind its only item.
        let items: Vec<String> = self.args.0.iter().map(Value::repr).collect();
        let comma = if items.len() == 1 { "," } else { "" };
        let args = format!("({}{comma})", items.join(", "));
        Ok(shown(args.into(), Value::from(self.kwargs.0).repr().into()).into())
    }
}

record! {
    /// Shows the types of the arguments.
    ///
    ///   salt '*' test.arg_type 1 two 1.5
    pub struct ArgType {
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for ArgType {
    fn run(self, _: &Ctx) -> Reply {
        let name = |value: &Value| format!("<class '{}'>", value.type_name());
        let args = Value::list(self.args.0.iter().map(name));
        let kwargs: Map = self.kwargs.0.iter().map(|(key, value)| (key.clone(), name(value))).collect();
        Ok(shown(args, kwargs.into()).into())
    }
}

record! {
    /// Shows the keyword arguments, with what was published beside them (`__pub_*`).
    ///
    ///   salt '*' test.kwarg num=1 txt=two env='{a: 1}'
    pub struct Kwarg {
        kwargs: Keywords,
    }
}

impl Run for Kwarg {
    fn run(self, _: &Ctx) -> Reply {
        Ok(self.kwargs.0.into())
    }
}

fn shown(args: Value, kwargs: Value) -> Map {
    Map::from_iter([("args", args), ("kwargs", kwargs)])
}
