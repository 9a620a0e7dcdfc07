//! The command lines of `salt-master` and `salt-minion`, which are the same.

use super::options::{Common, Daemon, Logging};
use super::{Group, Line, Program, Stop, group};

const GROUPS: &[Group] = &[group::<Daemon>(), group::<Logging>(), group::<Common>()];

pub const MASTER: Program = Program {
    name: "salt-master",
    about: "The master: accepts minions, sends them jobs and keeps what they answer.",
    usage: "[options]",
    examples: &[
        ("salt-master -d", "Starts it in the background; the exit code tells whether it serves."),
        ("salt-master -l debug", "Runs it in the foreground, and tells more."),
    ],
    groups: GROUPS,
};

pub const MINION: Program = Program {
    name: "salt-minion",
    about: "The minion: connects to its master and runs the jobs that come from it.",
    usage: "[options]",
    examples: &[
        ("salt-minion -d", "Starts it in the background; the exit code tells whether it serves."),
        ("salt-minion -c /srv/minion", "Runs it in the foreground with another configuration."),
    ],
    groups: GROUPS,
};

/// The command line, read.
#[derive(Clone, Debug, Default)]
pub struct DaemonLine {
    pub daemon: Daemon,
    pub logging: Logging,
    pub common: Common,
}

impl DaemonLine {
    pub fn read(program: &Program, args: &[String]) -> Result<DaemonLine, Stop> {
        let mut line = Line::sort(program, args, std::io::empty())?;
        if let Some(word) = line.words.first() {
            return Err(Stop::Usage(format!("takes options only, not '{word}'")));
        }
        Ok(DaemonLine { daemon: line.take()?, logging: line.take()?, common: line.take()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_takes_no_words() {
        let args = |list: &[&str]| list.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
        let line = DaemonLine::read(&MASTER, &args(&["-dldebug", "-c", "/x"])).unwrap();
        assert!(line.daemon.daemon);
        assert_eq!(line.common.config_dir, Some("/x".into()));
        assert!(matches!(DaemonLine::read(&MINION, &args(&["start"])), Err(Stop::Usage(_))));
    }
}
