//! The command line of `salt-cp`.

use super::options::{Common, JobTarget, Logging, Output, Seconds, Target};
use super::{Line, Program, Stop, group};
use argh::{ArgsInfo, FromArgs};
use halite_value::Value;
use std::io::Read;

pub const PROGRAM: Program = Program {
    name: "salt-cp",
    about: "Copies files of this host to minions and shows what became of each.",
    usage: "[options] TARGET SOURCE ... DEST",
    examples: &[
        ("salt-cp '*' motd /etc/motd", "Copies a short file to every minion."),
        ("salt-cp --chunked -L web1,web2 site /srv/site", "Copies a directory to two minions, whatever its size."),
    ],
    groups: &[group::<SaltCp>(), group::<Target>(), group::<Output>(), group::<Logging>(), group::<Common>()],
};

/// How files are sent
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct SaltCp {
    /// how long to wait for a minion that is connected but silent
    #[argh(option, short = 't')]
    pub timeout: Option<Seconds>,
    /// send files in parts, and directories with all below them; without it, short files of text
    #[argh(switch, short = 'C')]
    pub chunked: bool,
    /// do not compress the parts
    #[argh(switch, short = 'n')]
    pub no_compression: bool,
}

/// The command line, read.
#[derive(Clone, Debug, Default)]
pub struct SaltCpLine {
    pub cp: SaltCp,
    pub target: Target,
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
        let kind = self.target.kind(&JobTarget::default())?;
        let [target, sources @ .., dest] = &self.words[..] else {
            return Err(Stop::Usage("there is no target; salt-cp --help says how to call it".to_owned()));
        };
        if sources.is_empty() {
            return Err(Stop::Usage(format!("there is nothing to copy to '{dest}': name files before it")));
        }
        let target = if self.target.list { super::salt::listed(target) } else { Value::from(target) };
        Ok(Copy { target, kind, sources: sources.to_vec(), dest: dest.clone() })
    }
}
