//! What is typed: the command lines of all programs, and what they answer with.
//!
//! A program declares its options as argh structs, the shared ones once for all (see [`options`]). argh knows neither
//! `--out=json` nor `-Ay` nor abbreviations, so [`line`] reads the GNU forms, by what the structs declare, and hands each
//! struct its own options in the one form that argh takes.

pub mod account;
pub mod arguments;
pub mod display;
pub mod exit;
pub mod help;
pub mod lacking;
pub mod line;
pub mod options;
pub mod salt;
pub mod salt_call;
pub mod salt_cp;
pub mod salt_daemon;
pub mod salt_key;
pub mod salt_run;
mod saltfile;
mod trouble;
pub mod versions;

pub use display::Display;
pub use exit::Exit;
pub use line::{Group, Line, Program, group};
pub use trouble::Trouble;

/// Every program whose command line is declared here, sorted by name.
pub const PROGRAMS: [&Program; 7] = [
    &salt::PROGRAM,
    &salt_call::PROGRAM,
    &salt_cp::PROGRAM,
    &salt_key::PROGRAM,
    &salt_daemon::MASTER,
    &salt_daemon::MINION,
    &salt_run::PROGRAM,
];

/// The version as `--version` says it, without the program's name.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "-halite");

/// Why a command line leads to no work.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// Help or a version was asked for: the text for standard output.
    Shown(String),
    /// The command line is wrong: one sentence that says what.
    Usage(String),
    /// The words of a compound command do not fit its functions.
    Incomplete(String),
    /// It asks for something that this version does not have: one sentence.
    Lacking(String),
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::Shown(text) | Stop::Usage(text) | Stop::Incomplete(text) | Stop::Lacking(text) => f.write_str(text),
        }
    }
}

impl Stop {
    /// The exit code of a program that stops for this reason.
    pub fn exit(&self) -> Exit {
        match self {
            Stop::Shown(_) => Exit::Ok,
            Stop::Usage(_) => Exit::Usage,
            Stop::Incomplete(_) => Exit::Incomplete,
            Stop::Lacking(_) => Exit::Unavailable,
        }
    }

    /// Says why, where it belongs, and gives the exit code.
    pub fn report(&self, program: &str) -> Exit {
        match self {
            Stop::Shown(text) => match exit::print(text) {
                Ok(()) => Exit::Ok,
                Err(error) => {
                    exit::complain(&format!("{program}: error: standard output: {error}"));
                    Exit::CannotCreate
                }
            },
            Stop::Usage(sentence) | Stop::Incomplete(sentence) => {
                exit::complain(&format!("{program}: error: {sentence}"));
                self.exit()
            }
            Stop::Lacking(sentence) => {
                exit::complain(&format!("{program}: {sentence}"));
                self.exit()
            }
        }
    }
}

#[cfg(test)]
mod tests;
