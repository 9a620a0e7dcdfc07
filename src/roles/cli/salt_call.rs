//! The command line of `salt-call`.

use super::arguments::{Called, arguments};
use super::options::{Common, Executors, Logging, Output, Profiling, Seconds, Words};
use super::{Line, Program, Stop, group};
use argh::{ArgsInfo, FromArgs};
use std::io::Read;
use std::path::PathBuf;

pub const PROGRAM: Program = Program {
    name: "salt-call",
    about: "Runs a function on this minion and shows what it answers.",
    usage: "[options] FUNCTION [ARGUMENT ...]",
    examples: &[
        ("salt-call test.ping", "Runs a function here; the master keeps the answer, where the minion's daemon runs."),
        ("salt-call --local grains.items", "Shows the grains of this host, without a master."),
        ("salt-call --local --retcode-passthrough cmd.run 'exit 3'", "Exits as the command does."),
        ("salt-call --local sys.doc cmd.run", "Shows what a function does."),
    ],
    groups: &[
        group::<SaltCall>(),
        group::<Words>(),
        group::<Output>(),
        group::<Logging>(),
        group::<Executors>(),
        group::<Profiling>(),
        group::<Common>(),
    ],
};

/// What is done
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct SaltCall {
    /// the id of a proxy minion
    #[argh(option, arg_name = "id")]
    pub proxyid: Option<String>,
    /// the directory for the cache
    #[argh(option, arg_name = "directory")]
    pub cachedir: Option<PathBuf>,
    /// show the grains of this minion
    #[argh(switch, short = 'g')]
    pub grains: bool,
    /// a further directory with modules; may be given several times
    #[argh(option, short = 'm', arg_name = "directory")]
    pub module_dirs: Vec<PathBuf>,
    /// show the documentation of functions
    #[argh(switch, short = 'd')]
    pub doc: bool,
    /// the master to ask
    #[argh(option, arg_name = "host")]
    pub master: Option<String>,
    /// returners, with commas, to which the answer goes too
    #[argh(option, long = "return", arg_name = "returner")]
    pub returner: Option<String>,
    /// run without a master
    #[argh(switch)]
    pub local: bool,
    /// a directory with states, for --local; may be given several times
    #[argh(option, arg_name = "directory")]
    pub file_root: Vec<PathBuf>,
    /// a directory with pillar, for --local; may be given several times
    #[argh(option, arg_name = "directory")]
    pub pillar_root: Vec<PathBuf>,
    /// a further directory with state modules; may be given several times
    #[argh(option, arg_name = "directory")]
    pub states_dir: Vec<PathBuf>,
    /// exit with the exit code of the function
    #[argh(switch)]
    pub retcode_passthrough: bool,
    /// show what is known of the job too
    #[argh(switch)]
    pub metadata: bool,
    /// data that is kept with the job, to find it again
    #[argh(option, arg_name = "map")]
    pub set_metadata: Option<String>,
    /// the id to run as
    #[argh(option, arg_name = "id")]
    pub id: Option<String>,
    /// do not look for grains
    #[argh(switch)]
    pub skip_grains: bool,
    /// accepted for scripts; each call looks for grains again
    #[argh(switch)]
    pub refresh_grains_cache: bool,
    /// do not send the answer to the master
    #[argh(switch)]
    pub no_return_event: bool,
    /// how long to wait for the master; 10 seconds
    #[argh(option, short = 't', arg_name = "seconds")]
    pub timeout: Option<Seconds>,
    /// show only states that changed something
    #[argh(switch)]
    pub output_diff: bool,
    /// the user to run as
    #[argh(option, long = "priv", arg_name = "user")]
    pub run_as: Option<String>,
    /// ask the resources of this minion
    #[argh(switch, short = 'r')]
    pub resources: bool,
    /// which resources
    #[argh(option, arg_name = "target")]
    pub tgt: Option<String>,
    /// the kind of --tgt
    #[argh(option, arg_name = "kind")]
    pub tgt_type: Option<String>,
}

/// The command line, read.
#[derive(Clone, Debug, Default)]
pub struct SaltCallLine {
    pub call: SaltCall,
    pub reading: Words,
    pub output: Output,
    pub logging: Logging,
    pub common: Common,
    /// Function and arguments, as far as they were given.
    pub words: Vec<String>,
}

impl SaltCallLine {
    pub fn read(args: &[String], input: impl Read) -> Result<SaltCallLine, Stop> {
        let mut line = Line::sort(&PROGRAM, args, input)?;
        Ok(SaltCallLine {
            call: line.take()?,
            reading: line.take()?,
            output: line.take()?,
            logging: line.take()?,
            common: line.take()?,
            words: line.words,
        })
    }
}

impl SaltCallLine {
    /// The function and its arguments; nothing, where `--doc` asks about all. `--grains` stands for `grains.items`.
    pub fn call(&self) -> Result<Option<Called>, Stop> {
        let called = |fun: &str, words: &[String]| {
            Some(Called { fun: fun.to_owned(), arguments: arguments(words, &self.reading.unparsed()) })
        };
        match &self.words[..] {
            [_, ..] if self.call.grains => Err(Stop::Usage("--grains takes no words".to_owned())),
            [_, _, ..] if self.call.doc => {
                Err(Stop::Usage("--doc shows the documentation of one function or module at a time".to_owned()))
            }
            [fun, words @ ..] => Ok(called(fun, words)),
            [] if self.call.grains => Ok(called("grains.items", &[])),
            [] if self.call.doc => Ok(None),
            [] => Err(Stop::Usage("there is no function; salt-call --doc names all".to_owned())),
        }
    }
}
