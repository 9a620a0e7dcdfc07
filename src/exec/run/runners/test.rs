//! `test.*`: runners to try things with.

use super::{Ctx, Module, Run, function};
use halite_core::{Fault, Reply};
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};
use std::time::Duration;

pub const MODULE: Module = Module {
    name: "test",
    doc: "Runners to try things with.",
    functions: &[
        function::<Arg>("arg"),
        function::<GetOpts>("get_opts"),
        function::<Metasyntactic>("metasyntactic"),
        function::<RawArg>("raw_arg"),
        function::<Sleep>("sleep"),
        function::<StdoutPrint>("stdout_print"),
        function::<Stream>("stream"),
    ],
};

record! {
    /// Shows the arguments; keywords that begin with two underscores are left out.
    ///
    ///   salt-run test.arg foo bar=baz
    pub struct Arg {
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for Arg {
    fn run(mut self, _: &Ctx) -> Reply {
        self.kwargs.0.retain(|name, _| !name.as_str().is_some_and(|name| name.starts_with("__")));
        Ok(shown(self.args, self.kwargs).into())
    }
}

record! {
    /// Shows all arguments.
    ///
    ///   salt-run test.raw_arg foo __bar=baz
    pub struct RawArg {
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for RawArg {
    fn run(self, _: &Ctx) -> Reply {
        Ok(shown(self.args, self.kwargs).into())
    }
}

fn shown(args: Rest, kwargs: Keywords) -> Map {
    Map::from_iter([("args", Value::List(args.0)), ("kwargs", kwargs.0.into())])
}

record! {
    /// Shows the names that programmers use for anything.
    ///
    ///   salt-run test.metasyntactic locality=uk
    pub struct Metasyntactic {
        /// Where: us or uk.
        locality: String = "us",
    }
}

impl Run for Metasyntactic {
    fn run(self, _: &Ctx) -> Reply {
        let names = match self.locality.as_str() {
            "us" => "foo bar baz qux quux quuz corge grault garply waldo fred plugh xyzzy thud",
            "uk" => "wibble wobble wubble flob",
            _ => return Ok(().into()),
        };
        Ok(Value::list(names.split(' ')).into())
    }
}

record! {
    /// Shows the master's configuration.
    ///
    ///   salt-run test.get_opts
    pub struct GetOpts {}
}

impl Run for GetOpts {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(ctx.opts.clone().into())
    }
}

record! {
    /// Prints foo and answers bar: what a runner prints comes before its answer.
    ///
    ///   salt-run test.stdout_print
    pub struct StdoutPrint {}
}

impl Run for StdoutPrint {
    fn run(self, ctx: &Ctx) -> Reply {
        (ctx.say)("foo\n")?;
        Ok("bar".into())
    }
}

record! {
    /// Prints a time, waits for so long and answers True.
    ///
    ///   salt-run test.sleep s_time=5
    pub struct Sleep {
        /// Seconds.
        s_time: f64 = 10,
    }
}

impl Run for Sleep {
    fn run(self, ctx: &Ctx) -> Reply {
        let time = Duration::try_from_secs_f64(self.s_time)
            .map_err(|error| Fault::invocation(format!("s_time={}: {error}", self.s_time)))?;
        (ctx.say)(&format!("{}\n", self.s_time))?;
        ctx.host.sleep(time);
        Ok(true.into())
    }
}

record! {
    /// Fires 99 events that tell how far it is, ten a second, and answers True.
    ///
    ///   salt-run test.stream
    pub struct Stream {}
}

impl Run for Stream {
    fn run(self, ctx: &Ctx) -> Reply {
        for percent in 1..100 {
            ctx.progress(&format!("Runner is {percent}% done"));
            ctx.host.sleep(Duration::from_millis(100));
        }
        Ok(true.into())
    }
}
