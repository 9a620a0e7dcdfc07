//! Execution modules: the functions that `salt TARGET mod.fun` calls. What one is made of is in [`module`](super::module).

mod aliases;
mod alternatives;
mod archive;
pub mod cmd;
mod config;
mod cp;
mod cron;
mod debconf;
mod defaults;
mod disk;
mod dnsutil;
pub(in crate::exec) mod environ;
mod event;
pub mod file;
mod firewalld;
mod git;
mod grains;
mod group;
mod hashutil;
mod hosts;
mod http;
mod ini;
pub mod ip;
mod iptables;
mod key;
mod kmod;
mod locale;
mod log;
mod lvm;
mod r#match;
mod minion;
mod mount;
mod network;
mod pillar;
mod pip;
pub mod pkg;
mod ps;
mod publish;
mod random;
#[cfg(test)]
mod recorded;
mod saltutil;
mod selinux;
mod service;
mod shadow;
mod slsutil;
mod ssh;
mod state;
mod status;
mod sys;
mod sysctl;
mod system;
mod temp;
mod test;
mod timezone;
mod user;
mod virtualenv;

use super::function::Table;
pub use super::module::*;

/// Every module, sorted by name.
pub const MODULES: &[&Module] = &[
    &aliases::MODULE,
    &alternatives::MODULE,
    &archive::MODULE,
    &cmd::MODULE,
    &config::MODULE,
    &cp::MODULE,
    &cron::MODULE,
    &debconf::MODULE,
    &defaults::MODULE,
    &disk::MODULE,
    &dnsutil::MODULE,
    &environ::MODULE,
    &event::MODULE,
    &file::MODULE,
    &firewalld::MODULE,
    &git::MODULE,
    &grains::MODULE,
    &group::MODULE,
    &hashutil::MODULE,
    &hosts::MODULE,
    &http::MODULE,
    &ini::MODULE,
    &ip::MODULE,
    &iptables::MODULE,
    &key::MODULE,
    &kmod::MODULE,
    &locale::MODULE,
    &log::MODULE,
    &lvm::MODULE,
    &r#match::MODULE,
    &minion::MODULE,
    &mount::MODULE,
    &network::MODULE,
    &pillar::MODULE,
    &pip::MODULE,
    &pkg::MODULE,
    &ps::MODULE,
    &publish::MODULE,
    &random::MODULE,
    &saltutil::MODULE,
    &selinux::MODULE,
    &service::MODULE,
    &shadow::MODULE,
    &slsutil::MODULE,
    &ssh::MODULE,
    &state::MODULE,
    &status::MODULE,
    &sys::MODULE,
    &sysctl::MODULE,
    &system::MODULE,
    &temp::MODULE,
    &test::MODULE,
    &timezone::MODULE,
    &user::MODULE,
    &virtualenv::MODULE,
];

/// The execution functions of Halite.
pub static FUNCTIONS: Table<RunFn> = Table(&[MODULES]);

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
    use crate::exec::Returned;
    use crate::wire::record::Arguments;
    use crate::wire::value::Map;
    use crate::wire::value::Value;

    pub use crate::exec::testing::World;

    #[test]
    fn modules_and_functions_are_sorted_unique_and_documented() {
        crate::exec::function::tests::assert_sorted_and_documented(MODULES);
    }

    #[test]
    fn each_function_has_an_example_that_binds() {
        let mut wrong = Vec::new();
        for name in names() {
            let function = find(&name).unwrap();
            let start = format!("salt '*' {name}");
            let examples: Vec<&str> =
                function.info.doc.iter().filter_map(|line| line.trim().strip_prefix(&start)).collect();
            let examples: Vec<&str> =
                examples.into_iter().filter(|rest| rest.is_empty() || rest.starts_with(' ')).collect();
            if examples.is_empty() {
                wrong.push(format!("{name} has no line that begins with: {start}"));
            }
            for example in examples {
                let words = crate::exec::modules::cmd::words::split(example).unwrap();
                if let Some(error) = function.check(arguments(words)).err() {
                    wrong.push(format!("{name}: {example}: {error:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
        match crate::exec::renderers::yaml::load(text) {
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
            call_published(&world.ctx(&crate::exec::NoMaster), Arguments::default()).is_ok()
        };
        assert!(called(&[], "test.ping"));
        assert!(!called(&[("disable_modules", "test")], "test.ping"));
        assert!(called(&[("disable_modules", "cmd"), ("whitelist_modules", "test")], "test.ping"));
        assert!(!called(&[("whitelist_modules", "cmd")], "test.ping"));
    }
}
