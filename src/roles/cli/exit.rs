//! The exit codes of all programs, in one table: `docs/exit-codes.md` says the same, and a test compares them.
//!
//! Numbers are Salt's where Salt has one, else those of BSD's sysexits.h, which Salt uses too.

use std::io::{self, Write};

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Ok,
    Failed,
    NoReturn,
    Incomplete,
    Usage,
    NoUser,
    Unavailable,
    Internal,
    CannotCreate,
    TryAgain,
    NotAllowed,
    Configuration,
    UnknownFunction,
    /// The exit code of the function itself (`--retcode-passthrough`, `--batch`); 256 and more, and less than 0, become 1.
    Passed(i32),
}

impl Exit {
    /// All with a fixed number, in its order.
    pub const ALL: [Exit; 13] = [
        Exit::Ok,
        Exit::Failed,
        Exit::NoReturn,
        Exit::Incomplete,
        Exit::Usage,
        Exit::NoUser,
        Exit::Unavailable,
        Exit::Internal,
        Exit::CannotCreate,
        Exit::TryAgain,
        Exit::NotAllowed,
        Exit::Configuration,
        Exit::UnknownFunction,
    ];

    /// The exit that another process of ours has ended with.
    pub fn of_code(code: u8) -> Exit {
        Exit::ALL.into_iter().find(|exit| exit.code() == code).unwrap_or(Exit::Passed(code.into()))
    }

    pub fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Failed => 1,
            Exit::NoReturn => 2,
            Exit::Incomplete => 42,
            Exit::Usage => 64,
            Exit::NoUser => 67,
            Exit::Unavailable => 69,
            Exit::Internal => 70,
            Exit::CannotCreate => 73,
            Exit::TryAgain => 75,
            Exit::NotAllowed => 77,
            Exit::Configuration => 78,
            Exit::UnknownFunction => 255,
            Exit::Passed(code) => u8::try_from(code).unwrap_or(1),
        }
    }

    /// What the code says, for the document.
    pub fn meaning(self) -> &'static str {
        match self {
            Exit::Ok => "done; every minion that was asked has answered and none has failed",
            Exit::Failed => "a minion failed, did not answer or could not be reached; the function or runner failed",
            Exit::NoReturn => "no minion matched the target, or no key the pattern: nothing was done",
            Exit::Incomplete => "the words of a compound command do not fit its functions",
            Exit::Usage => "the command line is wrong; one line on standard error says what",
            Exit::NoUser => "the user to run as does not exist",
            Exit::Unavailable => "this version does not have what was asked for, or a service is not there",
            Exit::Internal => "a fault in Halite itself",
            Exit::CannotCreate => "an output file cannot be written",
            Exit::TryAgain => "the master is too busy; the same command may work later",
            Exit::NotAllowed => "the user may not do this",
            Exit::Configuration => "a configuration file cannot be used; file and line are named",
            Exit::UnknownFunction => "salt-call: there is no such function",
            Exit::Passed(_) => "salt-call --retcode-passthrough, salt --batch: the function's own exit code",
        }
    }
}

/// Prints to standard output. Whoever reads may have gone (`salt ... | head`): that is no failure of ours.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Prints a sentence to standard error. That it cannot be written has nowhere to be said.
pub fn complain(sentence: &str) {
    let _ = writeln!(io::stderr().lock(), "{sentence}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_says_what_the_table_says() {
        let document = include_str!("../../../docs/exit-codes.md");
        for exit in Exit::ALL {
            let row = format!("| {} | {} |", exit.code(), exit.meaning());
            assert!(document.contains(&row), "docs/exit-codes.md lacks: {row}");
        }
        let rows =
            document.lines().filter(|line| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit()).count();
        assert_eq!(rows, Exit::ALL.len(), "docs/exit-codes.md has rows that no program uses");
        assert!(Exit::ALL.is_sorted_by_key(|exit| exit.code()));
    }

    #[test]
    fn a_passed_code_stays_a_failure() {
        for (code, exit) in [(0, 0), (3, 3), (255, 255), (256, 1), (-9, 1)] {
            assert_eq!(Exit::Passed(code).code(), exit);
        }
    }
}
