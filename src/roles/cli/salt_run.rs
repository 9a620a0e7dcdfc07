//! The command line of `salt-run`.

use super::arguments::{Called, arguments};
use super::options::{Auth, Common, Logging, Output, Profiling, Seconds, Words};
use super::{Line, Program, Stop, group};
use argh::{ArgsInfo, FromArgs};
use std::io::Read;

pub const PROGRAM: Program = Program {
    name: "salt-run",
    about: "Runs a runner, a function of the master itself, and shows what it answers.",
    usage: "[options] FUNCTION [ARGUMENT ...]",
    examples: &[
        ("salt-run manage.status", "Shows which minions are up, and which are down."),
        ("salt-run jobs.list_jobs search_function='test.*'", "Finds jobs."),
        ("salt-run jobs.lookup_jid 20260101120000000000", "Shows what came back of a job."),
        ("salt-run state.event 'salt/job/*' pretty=True", "Shows events as they happen."),
    ],
    groups: &[
        group::<SaltRun>(),
        group::<Words>(),
        group::<Output>(),
        group::<Logging>(),
        group::<Auth>(),
        group::<Profiling>(),
        group::<Common>(),
    ],
};

/// What is done
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct SaltRun {
    /// how long to wait for minions
    #[argh(option, short = 't', arg_name = "seconds")]
    pub timeout: Option<Seconds>,
    /// the id that the job gets
    #[argh(option, arg_name = "jid")]
    pub jid: Option<String>,
    /// show the documentation of runners
    #[argh(switch, short = 'd')]
    pub doc: bool,
    /// start the runner and do not wait for it
    #[argh(switch, long = "async")]
    pub r#async: bool,
    /// do not look for grains
    #[argh(switch)]
    pub skip_grains: bool,
    /// do not show the answer
    #[argh(switch)]
    pub quiet: bool,
}

/// The command line, read.
#[derive(Clone, Debug, Default)]
pub struct SaltRunLine {
    pub run: SaltRun,
    pub reading: Words,
    pub output: Output,
    pub logging: Logging,
    pub common: Common,
    /// Function and arguments, as far as they were given.
    pub words: Vec<String>,
}

impl SaltRunLine {
    pub fn read(args: &[String], input: impl Read) -> Result<SaltRunLine, Stop> {
        let mut line = Line::sort(&PROGRAM, args, input)?;
        Ok(SaltRunLine {
            run: line.take()?,
            reading: line.take()?,
            output: line.take()?,
            logging: line.take()?,
            common: line.take()?,
            words: line.words,
        })
    }
}

impl SaltRunLine {
    /// The function and its arguments; nothing, where `--doc` asks about all.
    pub fn call(&self) -> Result<Option<Called>, Stop> {
        match &self.words[..] {
            [_, _, ..] if self.run.doc => {
                Err(Stop::Usage("--doc shows the documentation of one function or module at a time".to_owned()))
            }
            [fun, words @ ..] => {
                Ok(Some(Called { fun: fun.clone(), arguments: arguments(words, &self.reading.unparsed()) }))
            }
            [] if self.run.doc => Ok(None),
            [] => Err(Stop::Usage("there is no function; salt-run --doc names all".to_owned())),
        }
    }
}
