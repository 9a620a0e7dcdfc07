//! What runs on a machine: commands, signals, and what each process has about it, which is its environment and the
//! clock.

use super::User;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The processes of a machine, this one among them.
pub trait Processes {
    /// Runs a command that may change the machine, to its end or to its timeout.
    fn run(&self, command: &Command) -> io::Result<Finished>;
    /// Runs a command that only asks; a read-only host allows it.
    fn query(&self, command: &Command) -> io::Result<Finished>;
    /// The first executable with this name in PATH.
    fn which(&self, program: &str) -> Option<PathBuf>;
    /// The number of this process.
    fn pid(&self) -> u32;
    /// The directory that it is in.
    fn directory(&self) -> io::Result<PathBuf>;
    fn kill(&self, pid: i32, signal: i32) -> io::Result<()>;
    fn env(&self, name: &str) -> Option<String>;
    /// All variables of the environment.
    fn environment(&self) -> BTreeMap<String, String>;
    /// Sets a variable for this process and the commands that it runs from now on; `None` removes it. Names that no
    /// process can have are refused.
    fn set_env(&self, name: &str, value: Option<&str>) -> io::Result<()>;
    /// Shows a text to whoever runs this program, before it has come to its end; a daemon has nobody to show it to.
    fn say(&self, _text: &str) -> io::Result<()> {
        Ok(())
    }
    /// The release of the kernel that all of them run on.
    fn kernel_release(&self) -> String;
    /// Bytes of a page of memory, in which the kernel counts some of it.
    fn page_size(&self) -> u64;
    fn now(&self) -> SystemTime;
    fn sleep(&self, time: Duration);
}

/// A process to run: an argument list, never a line for a shell (who wants a shell names it).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    pub argv: Vec<String>,
    pub cwd: Option<PathBuf>,
    /// Set on top of the inherited environment; `None` removes.
    pub env: BTreeMap<String, Option<String>>,
    /// Start from an empty environment.
    pub clean_env: Choice,
    pub stdin: Option<Vec<u8>>,
    /// The command whose output this one reads in place of `stdin`, through a pipe: however much it is, nobody holds it.
    /// Only the first in such a line may have a `stdin`. Its errors go where those of this one go; its exit code does
    /// not matter, as in a shell. Time, background and the mixing of errors are those of the last.
    pub fed_by: Option<Box<Command>>,
    /// Run as this user: uid, gid, its supplementary groups.
    pub runas: Option<User>,
    /// Overrides the gid and groups of `runas`.
    pub group: Option<u32>,
    pub umask: Option<u32>,
    /// Past it the whole process group is killed and `Finished::timed_out` says so.
    pub timeout: Option<Duration>,
    /// Standard error goes where standard output goes, in order.
    pub merge_stderr: Choice,
    /// Left to itself: not waited for, its output dropped.
    pub background: Choice,
}

/// A yes or no that says which at the place where it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    #[default]
    No,
    Yes,
}

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finished {
    pub pid: u32,
    /// The exit code, or minus the signal that ended it.
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// How many bytes behind the end of `stdout` and of `stderr` were too many to keep.
    pub stdout_cut: u64,
    pub stderr_cut: u64,
    pub timed_out: Choice,
}

/// What people are told of bytes that were too many to keep; nothing if there were none.
pub fn words_of_cut(bytes: u64) -> Option<String> {
    (bytes > 0).then(|| format!("\n[{bytes} more bytes were not kept]"))
}
