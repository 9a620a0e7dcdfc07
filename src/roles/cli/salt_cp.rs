//! The command line of `salt-cp`.

use super::options::{Common, Logging, Output, Seconds, Target};
use super::{Line, Program, Stop, group};
use crate::wire::value::Value;
use argh::{ArgsInfo, FromArgs};
use std::io::Read;

pub const PROGRAM: Program = Program {
    name: "salt-cp",
    about: "Copies files of this host to minions and shows what became of each.",
    usage: "[options] TARGET SOURCE ... DEST",
    examples: &[
        ("salt-cp '*' motd /etc/motd", "Copies a short file to every minion."),
        ("salt-cp --chunked -L web1,web2 site /srv/site", "Copies a folder to two minions, whatever its size."),
    ],
    groups: &[group::<SaltCp>(), group::<CpTarget>(), group::<Output>(), group::<Logging>(), group::<Common>()],
};

/// How files are sent
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct SaltCp {
    /// how long to wait for a minion that is connected but silent
    #[argh(option, short = 't')]
    pub timeout: Option<Seconds>,
    /// send files in parts, and folders with all below them; without it, short files of text
    #[argh(switch, short = 'C')]
    pub chunked: bool,
    /// do not compress the parts
    #[argh(switch, short = 'n')]
    pub no_compression: bool,
}

/// Which minions
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct CpTarget {
    /// the hosts of a roster
    #[argh(switch, short = 'H')]
    pub hosts: bool,
    /// the target is a regular expression on ids
    #[argh(switch, short = 'E')]
    pub pcre: bool,
    /// the target is a list of ids, with commas or spaces
    #[argh(switch, short = 'L')]
    pub list: bool,
    /// the target is GRAIN:GLOB
    #[argh(switch, short = 'G')]
    pub grain: bool,
    /// the target is GRAIN:REGULAR EXPRESSION
    #[argh(switch, short = 'P')]
    pub grain_pcre: bool,
    /// the target is a node group of the master's configuration
    #[argh(switch, short = 'N')]
    pub nodegroup: bool,
    /// the target is a range expression
    #[argh(switch, short = 'R')]
    pub range: bool,
    /// what separates levels in grain targets; a colon
    #[argh(option)]
    pub delimiter: Option<String>,
}

/// The command line, read.
#[derive(Clone, Debug, Default)]
pub struct SaltCpLine {
    pub cp: SaltCp,
    pub target: CpTarget,
    pub output: Output,
    pub logging: Logging,
    pub common: Common,
    pub words: Vec<String>,
}

/// What is sent where.
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// Text, or a list of ids for `-L`.
    pub target: Value,
    /// Salt's name of the kind of target.
    pub kind: &'static str,
    pub sources: Vec<String>,
    pub dest: String,
}

impl SaltCpLine {
    pub fn read(args: &[String], input: impl Read) -> Result<SaltCpLine, Stop> {
        let mut line = Line::sort(&PROGRAM, args, input)?;
        Ok(SaltCpLine {
            cp: line.take()?,
            target: line.take()?,
            output: line.take()?,
            logging: line.take()?,
            common: line.take()?,
            words: line.words,
        })
    }

    /// What the words ask for.
    pub fn copy(&self) -> Result<Copy, Stop> {
        let CpTarget { pcre, list, grain, grain_pcre, nodegroup, .. } = self.target;
        let kind = Target { pcre, list, grain, grain_pcre, nodegroup, ..Target::default() }.kind()?;
        let [target, sources @ .., dest] = &self.words[..] else {
            return Err(Stop::Usage("there is no target; salt-cp --help says how to call it".to_owned()));
        };
        if sources.is_empty() {
            return Err(Stop::Usage(format!("there is nothing to copy to '{dest}': name files before it")));
        }
        let target = if list { super::salt::listed(target) } else { Value::from(target) };
        Ok(Copy { target, kind, sources: sources.to_vec(), dest: dest.clone() })
    }
}
