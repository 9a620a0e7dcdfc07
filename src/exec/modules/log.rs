//! `log.*`: lines in the minion's log, for templates.

use halite_core::module::{Function, Module, Run, function};
use halite_core::{Ctx, Reply};
use halite_value::record;
use halite_value::record::{ArgumentError, Bound, Info, Record};

pub const MODULE: Module = Module { name: "log", doc: "Write to the log.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    function::<At<ERROR>>("critical"),
    function::<At<DEBUG>>("debug"),
    function::<At<ERROR>>("error"),
    function::<At<ERROR>>("exception"),
    function::<At<INFO>>("info"),
    function::<At<WARNING>>("warning"),
];

const ERROR: usize = log::Level::Error as usize;
const WARNING: usize = log::Level::Warn as usize;
const INFO: usize = log::Level::Info as usize;
const DEBUG: usize = log::Level::Debug as usize;

record! {
    /// Write a line to the log, at the level that the function is named after.
    ///
    ///   salt '*' log.critical 'it is over'
    ///   salt '*' log.error 'it failed'
    ///   salt '*' log.exception 'it failed'
    ///   salt '*' log.warning 'it is late'
    ///   salt '*' log.info 'it is done'
    ///   salt '*' log.debug 'so far, so good'
    pub struct Line {
        /// The line.
        message: String,
    }
}

/// A line for one level, by its number.
pub struct At<const LEVEL: usize>(Line);

impl<const LEVEL: usize> Record for At<LEVEL> {
    const INFO: &'static Info = Line::INFO;

    fn take(from: &mut Bound) -> Result<Self, ArgumentError> {
        Line::take(from).map(At)
    }
}

impl<const LEVEL: usize> Run for At<LEVEL> {
    fn run(self, _: &Ctx) -> Reply {
        let level = log::Level::iter().find(|level| *level as usize == LEVEL).unwrap_or(log::Level::Info);
        log::log!(level, "{}", self.0.message);
        Ok(true.into())
    }
}
