//! `test.*`: simple checks that a minion is there and that data arrives as it was sent.

mod arguments;
mod loader;
mod numbers;
mod outcomes;
mod versions;

use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Reply};
use halite_value::Value;
use halite_value::record;

pub const MODULE: Module = Module {
    name: "test",
    doc: "Checks that a minion is there and that data arrives as it was sent.",
    functions: &[
        function::<arguments::Arg>("arg").inline(),
        function::<arguments::ArgClean>("arg_clean").inline(),
        function::<arguments::ArgRepr>("arg_repr").inline(),
        function::<arguments::ArgType>("arg_type").inline(),
        function::<outcomes::Assertion>("assertion").inline(),
        function::<loader::AttrCall>("attr_call").inline(),
        function::<numbers::Collatz>("collatz"),
        function::<loader::ConfTest>("conf_test").inline(),
        function::<loader::CrossTest>("cross_test"),
        function::<outcomes::DeprecationWarning>("deprecation_warning").inline(),
        function::<Echo>("echo").inline(),
        function::<outcomes::Exception>("exception").inline(),
        function::<outcomes::False>("false").inline(),
        function::<numbers::Fib>("fib"),
        function::<loader::Opts>("get_opts").inline(),
        function::<arguments::Kwarg>("kwarg").inline(),
        function::<loader::ModuleReport>("module_report").inline(),
        function::<loader::NotLoaded>("not_loaded").inline(),
        function::<loader::OptsPkg>("opts_pkg").inline(),
        function::<Outputter>("outputter").inline(),
        function::<Ping>("ping").inline(),
        function::<loader::Provider>("provider").inline(),
        function::<loader::Providers>("providers").inline(),
        function::<outcomes::RaiseException>("raise_exception").inline(),
        function::<numbers::RandSleep>("rand_sleep"),
        function::<numbers::RandomHash>("rand_str").inline(),
        function::<numbers::RandomHash>("random_hash").inline(),
        function::<outcomes::Retcode>("retcode").inline(),
        function::<numbers::Sleep>("sleep"),
        function::<loader::Stack>("stack").inline(),
        function::<outcomes::True>("true").inline(),
        function::<outcomes::Try>("try"),
        function::<outcomes::Tty>("tty").inline(),
        function::<versions::Version>("version").inline(),
        function::<versions::VersionsReport>("versions").inline(),
        function::<versions::VersionsInformation>("versions_information").inline(),
        function::<versions::VersionsReport>("versions_report").inline(),
    ],
};

record! {
    /// Answers True: the minion is there and runs jobs.
    ///
    ///   salt '*' test.ping
    pub struct Ping {}
}

impl Run for Ping {
    fn run(self, _: &Ctx) -> Reply {
        Ok(true.into())
    }
}

record! {
    /// Gives back what it was given.
    ///
    ///   salt '*' test.echo 'foo bar'
    pub struct Echo {
        /// What to give back.
        text: Value,
    }
}

impl Run for Echo {
    fn run(self, _: &Ctx) -> Reply {
        Ok(self.text.into())
    }
}

record! {
    /// Gives back data, to see how an outputter shows it.
    ///
    ///   salt '*' test.outputter '{a: [1, 2]}'
    pub struct Outputter {
        /// The data.
        data: Value,
    }
}

impl Run for Outputter {
    fn run(self, _: &Ctx) -> Reply {
        Ok(self.data.into())
    }
}

#[cfg(test)]
mod tests;
