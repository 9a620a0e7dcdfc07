//! The command line of `salt`.

use super::arguments::{Called, calls};
use super::options::{Auth, Common, Executors, JobTarget, Logging, Output, Seconds, Target, Words, batch_size, whole};
use super::{Line, Program, Stop, group};
use argh::{ArgsInfo, FromArgs};
use halite_value::Value;
use halite_wire::message::BatchSize;
use std::io::Read;

pub const PROGRAM: Program = Program {
    name: "salt",
    about: "Runs a function on minions and shows what they answer, as it comes.",
    usage: "[options] TARGET FUNCTION [ARGUMENT ...]",
    examples: &[
        ("salt '*' test.ping", "Asks every minion whether it is there."),
        (
            "salt -C 'G@os:Debian and not db*' cmd.run 'uptime -p'",
            "Runs a command on those that a compound target means.",
        ),
        ("salt -L web1,web2 grains.item os osrelease --out=json", "Shows two grains of two minions, for a program."),
        ("salt web1 cmd.run -- ls -l", "Gives the function a word that begins with a dash."),
        ("salt --async '*' test.sleep 60", "Starts a job and prints its id; salt-run jobs.lookup_jid shows it later."),
    ],
    groups: &[
        group::<Salt>(),
        group::<Target>(),
        group::<JobTarget>(),
        group::<Words>(),
        group::<Output>(),
        group::<Logging>(),
        group::<Auth>(),
        group::<Executors>(),
        group::<Common>(),
    ],
};

/// What is done, and when it is over
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct Salt {
    /// how long to wait for a minion that is connected but silent, before the master asks for the job
    #[argh(option, short = 't', arg_name = "seconds")]
    pub timeout: Option<Seconds>,
    /// show the answers together, when all have come
    #[argh(switch, short = 's', long = "static")]
    pub r#static: bool,
    /// show a progress bar, on a terminal
    #[argh(switch, short = 'p')]
    pub progress: bool,
    /// end a batch at the first failure
    #[argh(switch)]
    pub failhard: bool,
    /// start the job and do not wait for it
    #[argh(switch, long = "async")]
    pub r#async: bool,
    /// ask so many of the minions, chosen at random
    #[argh(option, from_str_fn(whole), arg_name = "count")]
    pub subset: Option<u64>,
    /// show the job id, and minions that did not answer
    #[argh(switch, short = 'v')]
    pub verbose: bool,
    /// do not name minions that did not answer
    #[argh(switch)]
    pub hide_timeout: bool,
    /// show the job id
    #[argh(switch)]
    pub show_jid: bool,
    /// ask so many at a time, as a number or a percentage
    #[argh(option, short = 'b', from_str_fn(batch_size), arg_name = "size")]
    pub batch: Option<BatchSize>,
    /// seconds between the end of one and the start of the next of a batch
    #[argh(option, arg_name = "seconds")]
    pub batch_wait: Option<Seconds>,
    /// run as a batch where so many minions or more are meant
    #[argh(option, from_str_fn(whole), arg_name = "count")]
    pub batch_safe_limit: Option<u64>,
    /// how many at a time in a batch that --batch-safe-limit made; 8
    #[argh(option, from_str_fn(batch_size), arg_name = "size")]
    pub batch_safe_size: Option<BatchSize>,
    /// returners, with commas, to which the minions send their answers too
    #[argh(option, long = "return", arg_name = "returner")]
    pub returner: Option<String>,
    /// which of several configurations of the returner
    #[argh(option, arg_name = "name")]
    pub return_config: Option<String>,
    /// options for the returner, as a map
    #[argh(option, arg_name = "map")]
    pub return_kwargs: Option<String>,
    /// show the documentation of functions
    #[argh(switch, short = 'd')]
    pub doc: bool,
    /// what stands between the arguments of functions that are called together; a comma
    #[argh(option, arg_name = "text")]
    pub args_separator: Option<String>,
    /// end with a summary
    #[argh(switch)]
    pub summary: bool,
    /// data that is kept with the job, to find it again
    #[argh(option, arg_name = "map")]
    pub metadata: Option<String>,
    /// let each minion fire an event when it starts the job
    #[argh(switch)]
    pub start_event: bool,
    /// show only states that changed something
    #[argh(switch)]
    pub output_diff: bool,
    /// print the master's configuration and exit
    #[argh(switch)]
    pub config_dump: bool,
    /// print the minions that the target means, and ask none
    #[argh(switch)]
    pub preview_target: bool,
}

/// The command line, read.
#[derive(Clone, Debug, Default)]
pub struct SaltLine {
    pub salt: Salt,
    pub target: Target,
    pub job_target: JobTarget,
    pub reading: Words,
    pub output: Output,
    pub logging: Logging,
    pub common: Common,
    /// Target, function and arguments, as far as they were given.
    pub words: Vec<String>,
}

impl SaltLine {
    pub fn read(args: &[String], input: impl Read) -> Result<SaltLine, Stop> {
        let mut line = Line::sort(&PROGRAM, args, input)?;
        Ok(SaltLine {
            salt: line.take()?,
            target: line.take()?,
            job_target: line.take()?,
            reading: line.take()?,
            output: line.take()?,
            logging: line.take()?,
            common: line.take()?,
            words: line.words,
        })
    }
}

/// What minions are asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Text, or a list of ids for `-L`.
    pub target: Value,
    /// Salt's name of the kind of target.
    pub kind: &'static str,
    pub delimiter: String,
    /// One function, or several that are called together; none for `--preview-target`.
    pub calls: Vec<Called>,
}

impl SaltLine {
    /// What the words ask for.
    pub fn request(&self) -> Result<Request, Stop> {
        let kind = self.target.kind(&self.job_target)?;
        let words = self.words_with_doc()?;
        let Some((target, call)) = words.split_first() else {
            return Err(Stop::Incomplete("there is no target; salt --help says how to call it".to_owned()));
        };
        let calls = match call {
            _ if self.salt.preview_target => Vec::new(),
            [] => return Err(Stop::Incomplete(format!("there is no function for the target '{target}'"))),
            [functions, arguments @ ..] => {
                let separator = self.salt.args_separator.as_deref().unwrap_or(",");
                calls(functions, arguments, separator, &self.reading.unparsed())?
            }
        };
        if target.trim_matches([' ', ',']).is_empty() {
            return Err(Stop::Usage("the target is empty; '*' means every minion".to_owned()));
        }
        let target = if kind == "list" { listed(target) } else { Value::from(target) };
        let delimiter = self.target.delimiter.clone().unwrap_or_else(|| ":".to_owned());
        Ok(Request { target, kind, delimiter, calls })
    }

    /// `--doc` stands for `sys.doc`, and asks all minions where no target is named.
    fn words_with_doc(&self) -> Result<Vec<String>, Stop> {
        let mut words = self.words.clone();
        if !self.salt.doc {
            return Ok(words);
        }
        if words.is_empty() {
            words.push("*".to_owned());
        }
        if words.get(1).is_none_or(|function| function != "sys.doc") {
            words.insert(1, "sys.doc".to_owned());
        }
        if words.len() > 3 {
            return Err(Stop::Usage("--doc shows the documentation of one function or module at a time".to_owned()));
        }
        Ok(words)
    }
}

/// Ids with commas between them, else with spaces.
pub(super) fn listed(target: &str) -> Value {
    if target.contains(',') {
        let compact = target.replace(' ', "");
        return Value::list(compact.split(','));
    }
    Value::list(target.split_whitespace())
}
