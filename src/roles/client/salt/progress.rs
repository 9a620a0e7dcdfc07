//! The progress bar of `--progress`, below the answers on a terminal.

use halite_node::outputters::progress::bar;
use std::io::{IsTerminal, Write, stderr};
use std::time::Instant;

const COLUMNS: usize = 80;

/// A bar on standard error.
pub struct Progress {
    expected: usize,
    since: Instant,
    columns: usize,
}

impl Progress {
    /// Nothing where standard error is no terminal: a bar in a file is of no use.
    pub fn begin(expected: usize) -> Option<Progress> {
        if !stderr().is_terminal() {
            return None;
        }
        let columns = rustix::termios::tcgetwinsize(stderr()).map_or(COLUMNS, |size| usize::from(size.ws_col));
        let progress =
            Progress { expected, since: Instant::now(), columns: if columns == 0 { COLUMNS } else { columns } };
        progress.show(0);
        Some(progress)
    }

    /// Draws the bar over itself. That it cannot be drawn is nobody's loss.
    pub fn show(&self, done: usize) {
        let _ =
            write!(stderr(), "\r{}", bar(done, self.expected, self.since.elapsed(), self.columns.saturating_sub(1)));
    }

    /// Makes room for an answer.
    pub fn clear(&self) {
        let _ = write!(stderr(), "\r\u{1b}[K");
    }
}
