//! The options that several programs share, each declared once.

use super::Stop;
use argh::{ArgsInfo, FromArgValue, FromArgs};
use halite_wire::message::BatchSize;
use std::path::PathBuf;

/// Options of every program
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct Common {
    /// print the version and exit
    #[argh(switch)]
    pub version: bool,
    /// print the versions of the program and of the system below it, and exit
    #[argh(switch, short = 'V')]
    pub versions_report: bool,
    /// the directory with the configuration; SALT_CONFIG_DIR, else /etc/salt
    #[argh(option, short = 'c', arg_name = "directory")]
    pub config_dir: Option<PathBuf>,
    /// a file with options for this program; SALT_SALTFILE, else Saltfile where the command runs
    #[argh(option, arg_name = "file")]
    pub saltfile: Option<PathBuf>,
    /// end with the original error; accepted, errors are always whole here
    #[argh(switch)]
    pub hard_crash: bool,
}

/// What goes to the logs
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct Logging {
    /// what goes to the console: all, garbage, trace, debug, profile, info, warning, error, critical or quiet
    #[argh(option, short = 'l', arg_name = "level")]
    pub log_level: Option<LogLevel>,
    /// the log file, or file://, udp:// or tcp:// of a syslog
    #[argh(option, arg_name = "file")]
    pub log_file: Option<String>,
    /// what goes to the log file, as for --log-level
    #[argh(option, arg_name = "level")]
    pub log_file_level: Option<LogLevel>,
}

/// How answers are shown
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct Output {
    /// the outputter: nested, json, yaml, txt, raw, pprint, table, highstate, key or another one
    #[argh(option, arg_name = "outputter")]
    pub out: Option<String>,
    /// spaces a level, for outputters that indent; negative: everything on one line
    #[argh(option, from_str_fn(whole), arg_name = "spaces")]
    pub out_indent: Option<i64>,
    /// write to this file instead of standard output
    #[argh(option, arg_name = "file")]
    pub out_file: Option<PathBuf>,
    /// with --out-file: add to the file instead of emptying it first
    #[argh(switch)]
    pub out_file_append: bool,
    /// no colours, even on a terminal
    #[argh(switch)]
    pub no_color: bool,
    /// colours, even where there is no terminal
    #[argh(switch)]
    pub force_color: bool,
    /// how much of a state is shown: full, terse, mixed, changes or filter, each also with _id
    #[argh(option, arg_name = "form")]
    pub state_output: Option<String>,
    /// show states that succeeded without a change: True or False
    #[argh(option, arg_name = "choice")]
    pub state_verbose: Option<Choice>,
}

/// Who asks
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct Auth {
    /// the way of external authentication
    #[argh(option, short = 'a', arg_name = "way")]
    pub auth: Option<String>,
    /// make a token that later calls can use
    #[argh(switch, short = 'T')]
    pub make_token: bool,
    /// the user name for external authentication
    #[argh(option, arg_name = "user")]
    pub username: Option<String>,
    /// the password for external authentication
    #[argh(option)]
    pub password: Option<String>,
}

/// Which minions
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct Target {
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
    /// what separates levels in grain and pillar targets; a colon
    #[argh(option, arg_name = "text")]
    pub delimiter: Option<String>,
}

/// Which minions, by what only jobs are targeted by
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct JobTarget {
    /// the target combines others with and, or, not and parentheses
    #[argh(switch, short = 'C')]
    pub compound: bool,
    /// the target is PILLAR:GLOB
    #[argh(switch, short = 'I')]
    pub pillar: bool,
    /// the target is PILLAR:REGULAR EXPRESSION
    #[argh(switch, short = 'J')]
    pub pillar_pcre: bool,
    /// the target is an address or a network
    #[argh(switch, short = 'S')]
    pub ipcidr: bool,
}

/// How the words are read
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct Words {
    /// read further arguments from standard input, one a line
    #[argh(switch)]
    pub args_stdin: bool,
    /// names of arguments, with commas, whose values are taken as text
    #[argh(option, arg_name = "names")]
    pub no_parse: Option<String>,
}

impl Words {
    /// The names in --no-parse.
    pub fn unparsed(&self) -> Vec<&str> {
        self.no_parse.iter().flat_map(|names| names.split(',')).map(str::trim).collect()
    }
}

/// How minions run functions
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct Executors {
    /// other executors than those of the configuration
    #[argh(option, arg_name = "names")]
    pub module_executors: Option<String>,
    /// options for the executors
    #[argh(option, arg_name = "map")]
    pub executor_opts: Option<String>,
}

/// Where time goes
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct Profiling {
    /// write a profile
    #[argh(switch)]
    pub enable_profiling: bool,
    /// the directory for the profile
    #[argh(option, arg_name = "directory")]
    pub profiling_path: Option<PathBuf>,
}

/// How a daemon runs
#[derive(FromArgs, ArgsInfo, Clone, Debug, Default)]
pub struct Daemon {
    /// run in the background
    #[argh(switch, short = 'd')]
    pub daemon: bool,
    /// the file for the process id
    #[argh(option, arg_name = "file")]
    pub pid_file: Option<PathBuf>,
    /// run without the supervisor that starts the daemon again
    #[argh(switch)]
    pub disable_keepalive: bool,
    /// the user to run as
    #[argh(option, short = 'u', arg_name = "user")]
    pub user: Option<String>,
}

impl Target {
    /// Salt's name of the kind of target; two kinds at once make no sense.
    pub fn kind(&self, more: &JobTarget) -> Result<&'static str, Stop> {
        let kinds: Vec<(&str, &str)> = [
            (self.pcre, "pcre", "--pcre"),
            (self.list, "list", "--list"),
            (self.grain, "grain", "--grain"),
            (self.grain_pcre, "grain_pcre", "--grain-pcre"),
            (self.nodegroup, "nodegroup", "--nodegroup"),
            (more.compound, "compound", "--compound"),
            (more.pillar, "pillar", "--pillar"),
            (more.pillar_pcre, "pillar_pcre", "--pillar-pcre"),
            (more.ipcidr, "ipcidr", "--ipcidr"),
        ]
        .into_iter()
        .filter_map(|(given, kind, option)| given.then_some((kind, option)))
        .collect();
        match kinds[..] {
            [] => Ok("glob"),
            [(kind, _)] => Ok(kind),
            _ => {
                let options: Vec<&str> = kinds.iter().map(|(_, option)| *option).collect();
                Err(Stop::Usage(format!("the options {} exclude each other", options.join(", "))))
            }
        }
    }
}

/// A level of Salt's logs, from everything to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    All,
    Garbage,
    Trace,
    Debug,
    Profile,
    Info,
    Warning,
    Error,
    Critical,
    Quiet,
}

impl LogLevel {
    pub const ALL: [LogLevel; 10] = [
        LogLevel::All,
        LogLevel::Garbage,
        LogLevel::Trace,
        LogLevel::Debug,
        LogLevel::Profile,
        LogLevel::Info,
        LogLevel::Warning,
        LogLevel::Error,
        LogLevel::Critical,
        LogLevel::Quiet,
    ];

    /// As users and configuration files write it.
    pub fn name(self) -> &'static str {
        match self {
            LogLevel::All => "all",
            LogLevel::Garbage => "garbage",
            LogLevel::Trace => "trace",
            LogLevel::Debug => "debug",
            LogLevel::Profile => "profile",
            LogLevel::Info => "info",
            LogLevel::Warning => "warning",
            LogLevel::Error => "error",
            LogLevel::Critical => "critical",
            LogLevel::Quiet => "quiet",
        }
    }

    pub fn named(name: &str) -> Option<LogLevel> {
        LogLevel::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(name))
    }

    /// What of the `log` crate's levels it lets through.
    pub fn filter(self) -> log::LevelFilter {
        match self {
            LogLevel::All | LogLevel::Garbage | LogLevel::Trace => log::LevelFilter::Trace,
            LogLevel::Debug | LogLevel::Profile => log::LevelFilter::Debug,
            LogLevel::Info => log::LevelFilter::Info,
            LogLevel::Warning => log::LevelFilter::Warn,
            LogLevel::Error | LogLevel::Critical => log::LevelFilter::Error,
            LogLevel::Quiet => log::LevelFilter::Off,
        }
    }
}

impl FromArgValue for LogLevel {
    fn from_arg_value(value: &str) -> Result<LogLevel, String> {
        LogLevel::named(value).ok_or_else(|| {
            let names: Vec<&str> = LogLevel::ALL.iter().map(|level| level.name()).collect();
            format!("not one of {}", names.join(", "))
        })
    }
}

/// How many minions at a time: a number or a share. Salt takes the sign at either end.
pub fn batch_size(value: &str) -> Result<BatchSize, String> {
    let size = match value.strip_suffix('%').or(value.strip_prefix('%')) {
        Some(percent) => {
            percent.parse().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0).map(BatchSize::Percent)
        }
        None => value.parse().ok().filter(|count| *count > 0).map(BatchSize::Count),
    };
    size.ok_or_else(|| "neither a number of minions such as 10 nor a share such as 25%".to_owned())
}

/// A whole number, for options whose values are plain numbers.
pub(super) fn whole<N: std::str::FromStr>(value: &str) -> Result<N, String> {
    value.parse().map_err(|_| "not a whole number that makes sense here".to_owned())
}

/// A time in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seconds(pub u64);

impl FromArgValue for Seconds {
    fn from_arg_value(value: &str) -> Result<Seconds, String> {
        value.parse().map(Seconds).map_err(|_| "not a whole number of seconds".to_owned())
    }
}

/// `True` or `False`, as Salt writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice(pub bool);

impl FromArgValue for Choice {
    fn from_arg_value(value: &str) -> Result<Choice, String> {
        match value.to_ascii_lowercase().as_str() {
            "true" => Ok(Choice(true)),
            "false" => Ok(Choice(false)),
            _ => Err("neither True nor False".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_kind_of_target_at_a_time() {
        assert_eq!(Target::default().kind(&JobTarget::default()), Ok("glob"));
        assert_eq!(Target { grain_pcre: true, ..Target::default() }.kind(&JobTarget::default()), Ok("grain_pcre"));
        let (list, compound) =
            (Target { list: true, ..Target::default() }, JobTarget { compound: true, ..JobTarget::default() });
        assert_eq!(
            list.kind(&compound),
            Err(Stop::Usage("the options --list, --compound exclude each other".to_owned()))
        );
    }

    #[test]
    fn a_batch_is_a_number_or_a_share() {
        for (text, of_ten) in [("3", 3), ("25%", 2), ("1%", 1), ("100%", 10), ("33.4%", 3), ("%50", 5)] {
            assert_eq!(batch_size(text).map(|size| size.of(10)), Ok(of_ten), "{text}");
        }
        for text in ["", "x", "0", "-1", "0%", "101%", "%", "%5%", "nan%", "1.5"] {
            assert!(batch_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn levels_are_read_as_they_are_written() {
        for level in LogLevel::ALL {
            assert_eq!(LogLevel::from_arg_value(level.name()), Ok(level));
        }
        assert!(LogLevel::from_arg_value("loud").unwrap_err().starts_with("not one of all, "));
    }
}
