//! The table of execution functions, and the modules that speak of the tables or of runs of states.

#[cfg(test)]
mod faults;
pub mod state;
mod sys;

use halite_core::function::Table;
pub use halite_core::module::*;

/// The modules of this crate, sorted by name.
const FRONT: &[&Module] = &[&state::MODULE, &sys::MODULE];

/// The execution functions of Halite.
pub static FUNCTIONS: Table<RunFn> = Table(&[halite_modules::MODULES, FRONT]);

/// The function called `mod.fun`.
pub fn find(fun: &str) -> Option<&'static Function> {
    FUNCTIONS.find(fun)
}

/// The names of all functions, `mod.fun`, sorted.
pub fn names() -> impl Iterator<Item = String> {
    FUNCTIONS.names()
}

/// The functions that somebody may have meant by a name that there is not.
pub fn nearest(fun: &str) -> Vec<String> {
    FUNCTIONS.nearest(fun)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use halite_core::Returned;
    use halite_core::function::Place;
    use halite_value::Map;
    use halite_value::Value;
    use halite_value::record::Arguments;

    pub use crate::testing::World;

    #[test]
    fn modules_and_functions_are_sorted_unique_and_documented() {
        halite_core::testing::assert_sorted_and_documented(&FUNCTIONS.modules());
    }

    /// The arguments of each example in the documentation of a function, with their text.
    fn examples(name: &str, function: &Function) -> Vec<(&'static str, Arguments)> {
        let start = format!("salt '*' {name}");
        let rests = function.info.doc.iter().filter_map(|line| line.trim().strip_prefix(&start));
        let examples = rests.filter(|rest| rest.is_empty() || rest.starts_with(' '));
        examples.map(|rest| (rest, arguments(halite_lang::words::split(rest).unwrap()))).collect()
    }

    #[test]
    fn each_function_has_an_example_that_binds() {
        let mut wrong = Vec::new();
        for name in names() {
            let function = find(&name).unwrap();
            let examples = examples(&name, function);
            if examples.is_empty() {
                wrong.push(format!("{name} has no line that begins with: salt '*' {name}"));
            }
            for (text, arguments) in examples {
                if let Some(error) = function.check(arguments).err() {
                    wrong.push(format!("{name}:{text}: {error:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Functions that fault with the arguments of their example, and why.
    const FAULTING: [(&str, &str); 2] =
        [("test.exception", "it raises what it is told to"), ("test.raise_exception", "it raises what it is told to")];

    /// Those that touch nothing but their arguments and what is known of the node run on any host.
    #[test]
    fn each_example_of_an_inline_function_runs() {
        let mut world = World::new();
        world.grains.insert("os", "Debian");
        let ctx = world.ctx(&halite_core::NoMaster);
        let (mut wrong, mut ran) = (Vec::new(), 0);
        for name in names() {
            let function = find(&name).unwrap();
            if function.place != Place::Inline {
                continue;
            }
            let is_to_fault = FAULTING.iter().any(|(other, _)| *other == name);
            for (text, arguments) in examples(&name, function) {
                ran += 1;
                match call(&ctx, &name, arguments) {
                    Ok(_) if is_to_fault => wrong.push(format!("{name}:{text}: it is on the list and does not fault")),
                    Err(fault) if !is_to_fault => wrong.push(format!("{name}:{text}: {fault}")),
                    _ => {}
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        // That each has one is seen to above.
        assert!(ran > 90, "only {ran} were run");
    }

    /// `Zg==` is none: base64 ends so.
    fn is_keyword(name: &str, value: &str) -> bool {
        let is_start = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        is_start && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c)) && !value.starts_with('=')
    }

    /// As the command line reads arguments, near enough: `name=value` is a keyword.
    fn arguments(words: Vec<String>) -> Arguments {
        words.into_iter().fold(Arguments::default(), |mut arguments, word| {
            match word.split_once('=') {
                Some((name, value)) if is_keyword(name, value) => {
                    arguments.keywords.insert(name, plain(value));
                }
                _ => arguments.positional.push(plain(&word)),
            }
            arguments
        })
    }

    fn plain(text: &str) -> Value {
        match halite_lang::yaml::load(text) {
            // What YAML takes for a comment, or for a map without braces, is a word to Salt.
            Ok(Value::Null) if text.contains('#') => text.into(),
            Ok(Value::Map(_)) if !text.starts_with('{') => text.into(),
            Ok(Value::Str(_)) => text.into(),
            loaded => loaded.unwrap_or_else(|_| text.into()),
        }
    }

    #[test]
    fn a_map_that_says_it_failed_is_a_failure() {
        let returned = |map: Map| exit_code(&Returned::from(map));
        assert_eq!(returned(Map::from_iter([("result", false)])), 1);
        assert_eq!(returned(Map::from_iter([("success", false)])), 1);
        assert_eq!(returned(Map::from_iter([("result", true)])), 0);
        assert_eq!(exit_code(&Returned::from("result")), 0);
    }

    #[test]
    fn modules_that_the_configuration_takes_away_are_not_there() {
        let called = |lines: &[(&str, &str)], fun: &str| {
            let mut world = World::new();
            world.call.fun = fun.to_owned();
            for (option, module) in lines {
                world.opts.insert(*option, Value::list([*module]));
            }
            call_published(&world.ctx(&halite_core::NoMaster), Arguments::default()).is_ok()
        };
        assert!(called(&[], "test.ping"));
        assert!(!called(&[("disable_modules", "test")], "test.ping"));
        assert!(called(&[("disable_modules", "cmd"), ("whitelist_modules", "test")], "test.ping"));
        assert!(!called(&[("whitelist_modules", "cmd")], "test.ping"));
    }
}
