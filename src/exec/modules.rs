//! Execution modules: the functions that `salt TARGET mod.fun` calls.
//!
//! A module is one file (or a folder for a large one) and one line in [`MODULES`]. A function is a record of its
//! arguments and a `run`:
//!
//! ```
//! use halite::exec::modules::{Function, Module, Run, function};
//! use halite::exec::{Ctx, Reply};
//!
//! halite::record! {
//!     /// Answers True: the minion is there.
//!     pub struct Ping {}
//! }
//! impl Run for Ping {
//!     fn run(self, _: &Ctx) -> Reply {
//!         Ok(true.into())
//!     }
//! }
//! pub const MODULE: Module = Module { name: "test", doc: "Simple checks.", functions: &[function::<Ping>("ping").inline()] };
//! ```

pub mod cmd;
mod config;
mod event;
mod grains;
mod saltutil;
mod sys;
mod test;

use super::{Ctx, Fault, Reply, Returned};
use crate::wire::record::{ArgumentError, Arguments, Info, Record};

/// Every module, sorted by name.
pub const MODULES: &[&Module] =
    &[&cmd::MODULE, &config::MODULE, &event::MODULE, &grains::MODULE, &saltutil::MODULE, &sys::MODULE, &test::MODULE];

/// The functions under one name.
#[derive(Debug)]
pub struct Module {
    pub name: &'static str,
    pub doc: &'static str,
    pub functions: &'static [Function],
}

/// One function as the tables know it.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub name: &'static str,
    pub info: &'static Info,
    pub place: Place,
    run: fn(Arguments, &Ctx) -> Result<Reply, ArgumentError>,
    bind: fn(Arguments) -> Result<(), ArgumentError>,
}

/// Where a daemon may run a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the daemon itself: bounded in time, pure, touches no host state and cannot block.
    Inline,
    /// In a process of its own, which can be killed and gives its memory back.
    Worker,
}

/// What a record of arguments does when it is called.
pub trait Run: Record {
    fn run(self, ctx: &Ctx) -> Reply;
}

/// The table's entry for a record of arguments.
pub const fn function<R: Run>(name: &'static str) -> Function {
    Function {
        name,
        info: R::INFO,
        place: Place::Worker,
        run: |arguments, ctx| R::bind(arguments).map(|record| record.run(ctx)),
        bind: |arguments| R::bind(arguments).map(drop),
    }
}

impl Function {
    /// For functions that may run on a thread of the daemon; see [`Place::Inline`].
    pub const fn inline(self) -> Function {
        Function { place: Place::Inline, ..self }
    }

    /// Whether arguments fit, without a call.
    pub fn check(&self, arguments: Arguments) -> Result<(), ArgumentError> {
        (self.bind)(arguments)
    }
}

impl Function {
    /// The documentation, as `sys.doc` shows it: the text, the arguments.
    pub fn doc(&self) -> String {
        self.info.text()
    }
}

/// The function called `mod.fun`.
pub fn find(fun: &str) -> Option<&'static Function> {
    let (module, name) = fun.split_once('.')?;
    let module = MODULES.iter().find(|candidate| candidate.name == module)?;
    module.functions.iter().find(|candidate| candidate.name == name)
}

/// The names of all functions, `mod.fun`, sorted.
pub fn names() -> impl Iterator<Item = String> {
    MODULES
        .iter()
        .flat_map(|module| module.functions.iter().map(move |function| format!("{}.{}", module.name, function.name)))
}

/// Calls `mod.fun`.
pub fn call(ctx: &Ctx, fun: &str, arguments: Arguments) -> Reply {
    let Some(function) = find(fun) else {
        return Err(unknown(fun));
    };
    match (function.run)(arguments, ctx) {
        Ok(reply) => reply,
        Err(error) => Err(Fault::Arguments { fun: fun.to_owned(), error }),
    }
}

/// Calls the function of the job that `ctx` belongs to. Unlike one that is called by another function it gets `__pub_*`
/// keywords, which say what was published.
pub fn call_published(ctx: &Ctx, arguments: Arguments) -> Reply {
    let arguments = ctx.call.published(arguments);
    call(ctx, &ctx.call.fun, arguments)
}

/// The exit code of a job that gave this: its own, else 1 for a map that says that it failed.
pub fn exit_code(returned: &Returned) -> i32 {
    let says_no = |key: &str| returned.value.at(key).is_some_and(|value| !value.truthy());
    if returned.retcode == 0 && (says_no("result") || says_no("success")) { 1 } else { returned.retcode }
}

fn unknown(fun: &str) -> Fault {
    Fault::Unknown { fun: fun.to_owned(), reason: format!("'{fun}' is not available."), nearest: nearest(fun) }
}

/// What the user may have meant: at most three names that are a slip of the finger away.
fn nearest(fun: &str) -> Vec<String> {
    if fun.len() > 64 {
        return Vec::new();
    }
    let mut close: Vec<(usize, String)> =
        names().map(|name| (distance(fun, &name), name)).filter(|(distance, _)| *distance <= 2).collect();
    close.sort();
    let best = close.first().map_or(0, |(distance, _)| *distance);
    close.into_iter().filter(|(distance, _)| *distance == best).take(3).map(|(_, name)| name).collect()
}

/// How many letters must be put in, left out, replaced, or exchanged with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (at, row) in rows.iter_mut().enumerate() {
        row[0] = at;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            best = best.min(rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::exec::context::{Call, Master};
    use crate::exec::host::Host;
    use crate::exec::host::fake::Fake;
    use crate::wire::value::{Map, Value};
    use std::sync::atomic::AtomicBool;

    /// All that a call in a test lives in: a fake host and nothing else, to be filled in.
    #[derive(Default)]
    pub struct World {
        pub host: Fake,
        pub grains: Map,
        pub pillar: Map,
        pub opts: Map,
        pub call: Call,
        pub cancelled: AtomicBool,
    }

    impl World {
        pub fn new() -> World {
            World::default()
        }

        pub fn on(host: Fake) -> World {
            World { host, ..World::default() }
        }

        pub fn ctx<'a>(&'a self, master: &'a dyn Master) -> Ctx<'a> {
            self.ctx_on(&self.host, master)
        }

        pub fn ctx_on<'a>(&'a self, host: &'a dyn Host, master: &'a dyn Master) -> Ctx<'a> {
            Ctx {
                host,
                master,
                grains: &self.grains,
                pillar: &self.pillar,
                opts: &self.opts,
                call: &self.call,
                cancelled: &self.cancelled,
                scratch: Default::default(),
            }
        }
    }

    #[test]
    fn modules_and_functions_are_sorted_unique_and_documented() {
        assert!(MODULES.is_sorted_by(|a, b| a.name < b.name));
        for module in MODULES {
            assert!(!module.doc.is_empty(), "{} has no doc", module.name);
            assert!(module.functions.is_sorted_by(|a, b| a.name < b.name), "{} is not sorted", module.name);
            for function in module.functions {
                assert!(!function.info.doc.is_empty(), "{}.{} has no doc", module.name, function.name);
            }
        }
    }

    #[test]
    fn each_function_has_an_example_that_binds() {
        for name in names() {
            let function = find(&name).unwrap();
            let start = format!("salt '*' {name}");
            let examples: Vec<&str> =
                function.info.doc.iter().filter_map(|line| line.trim().strip_prefix(&start)).collect();
            let examples: Vec<&str> =
                examples.into_iter().filter(|rest| rest.is_empty() || rest.starts_with(' ')).collect();
            assert!(!examples.is_empty(), "{name} has no line that begins with: {start}");
            for example in examples {
                let words = crate::exec::modules::cmd::words::split(example).unwrap();
                let error = function.check(arguments(words)).err();
                assert_eq!(error, None, "{name}: {example}");
            }
        }
    }

    /// As the command line reads arguments, near enough: `name=value` is a keyword.
    fn arguments(words: Vec<String>) -> Arguments {
        words.into_iter().fold(Arguments::default(), |mut arguments, word| {
            match word.split_once('=') {
                Some((name, value)) if name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty() => {
                    arguments.keywords.insert(name, plain(value));
                }
                _ => arguments.positional.push(plain(&word)),
            }
            arguments
        })
    }

    fn plain(text: &str) -> Value {
        crate::exec::renderers::yaml::load(text).unwrap_or_else(|_| text.into())
    }

    #[test]
    fn a_slip_of_the_finger_is_one_step() {
        assert_eq!(distance("test.ping", "test.pnig"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn a_map_that_says_it_failed_is_a_failure() {
        let returned = |map: Map| exit_code(&Returned::from(map));
        assert_eq!(returned(Map::from_iter([("result", false)])), 1);
        assert_eq!(returned(Map::from_iter([("success", false)])), 1);
        assert_eq!(returned(Map::from_iter([("result", true)])), 0);
        assert_eq!(exit_code(&Returned::from("result")), 0);
    }
}
