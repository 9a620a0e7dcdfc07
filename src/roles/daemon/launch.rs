//! Starting a daemon by executing the program again: in the background, and under a supervisor.
//!
//! A fork would copy locks that other threads hold, and NNG ends a process that forks after it has started. A new
//! process of the same file begins clean. Its standard input is one end of a socket: over it the child says once how
//! its start went, and as long as it is open the child knows that its parent lives.

use super::Failure;
use crate::cli::{Exit, exit};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Which process of a daemon this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The one that the user has started.
    First,
    /// The one that `-d` has put into the background.
    Background,
    /// The child of a supervisor.
    Supervised,
    /// A process that has executed another version of the program in its place.
    Replaced,
}

/// Where a process comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub stage: Stage,
    /// The directory that the user's relative paths mean.
    directory: PathBuf,
}

const MARK: &str = "--halite-stage=";

impl Origin {
    /// Takes our own word from the front of a command line, where an earlier stage has put it.
    pub fn read(args: &[String]) -> (Origin, &[String]) {
        let marked = args.first().and_then(|arg| arg.strip_prefix(MARK)).and_then(|mark| mark.split_once(':'));
        let stage = match marked {
            Some(("background", directory)) => Some((Stage::Background, directory)),
            Some(("supervised", directory)) => Some((Stage::Supervised, directory)),
            Some(("replaced", directory)) => Some((Stage::Replaced, directory)),
            _ => None,
        };
        match stage {
            Some((stage, directory)) => (Origin { stage, directory: PathBuf::from(directory) }, &args[1..]),
            None => {
                let directory = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
                (Origin { stage: Stage::First, directory }, args)
            }
        }
    }

    /// A path as the user meant it.
    pub fn path(&self, path: &Path) -> PathBuf {
        self.directory.join(path)
    }

    /// Executes this program again as a later stage; the other end of its socket is what it tells over.
    pub fn spawn(&self, stage: Stage, program: &str, args: &[String]) -> io::Result<(Child, UnixStream)> {
        // The running file, even when another version has taken its place on disk.
        self.spawn_file(Path::new("/proc/self/exe"), stage, program, args)
    }

    /// The same, of another version of this program.
    pub fn spawn_file(
        &self,
        file: &Path,
        stage: Stage,
        program: &str,
        args: &[String],
    ) -> io::Result<(Child, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        let name = if stage == Stage::Background { "background" } else { "supervised" };
        let mut command = Command::new(file);
        command.arg0(program).arg(self.mark(name)).args(args);
        command.stdin(OwnedFd::from(theirs));
        if stage == Stage::Background {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        } else {
            command.env_remove(super::notify::VARIABLE);
        }
        // Our copy of the child's end goes with `command`: from then on its end is heard.
        Ok((command.spawn()?, ours))
    }

    /// Executes a file in the place of this process, which keeps its number. Returns only if that fails.
    pub fn replace(&self, file: &Path, program: &str, args: &[String]) -> io::Error {
        Command::new(file).arg0(program).arg(self.mark("replaced")).args(args).exec()
    }

    fn mark(&self, stage: &str) -> String {
        format!("{MARK}{stage}:{}", self.directory.display())
    }

    /// How this process tells of its start, and the socket by which it hears of its parent's end.
    pub fn report(&self, program: &'static str) -> io::Result<(Report, Option<UnixStream>)> {
        match self.stage {
            Stage::First => Ok((Report::Console(program), None)),
            Stage::Replaced => Ok((Report::Told, None)),
            Stage::Background => Ok((Report::Parent(from_stdin()?), None)),
            Stage::Supervised => {
                let socket = from_stdin()?;
                let heard = socket.try_clone()?;
                Ok((Report::Parent(socket), Some(heard)))
            }
        }
    }
}

/// The command `-d`: a process in the background, and back when it serves. The exit code.
pub fn into_background(origin: &Origin, program: &'static str, args: &[String]) -> u8 {
    let spawned = origin.spawn(Stage::Background, program, args);
    let (mut child, mut socket) = match spawned {
        Ok(spawned) => spawned,
        Err(error) => {
            exit::complain(&format!("{program}: error: it cannot be started in the background: {error}"));
            return Exit::Failed.code();
        }
    };
    match Heard::read(&mut socket) {
        Heard::Started => Exit::Ok.code(),
        Heard::Failed { code, message } => {
            exit::complain(&format!("{program}: error: {message}"));
            code
        }
        Heard::Nothing => {
            let how = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
            exit::complain(&format!("{program}: error: the process in the background ended before it served ({how})"));
            Exit::Internal.code()
        }
    }
}

/// Becomes a process that no terminal and no session of a user can end.
pub fn leave_session() {
    // Fails where it is the leader of a session already, which is what is wanted.
    let _ = rustix::process::setsid();
}

/// As `ps` and `pgrep` show it: a program that is executed by way of /proc would be called `exe`.
pub fn name_process(program: &str) {
    if let Ok(name) = std::ffi::CString::new(program) {
        let _ = rustix::thread::set_name(&name);
    }
}

/// Where a process tells, once, how its start went.
#[derive(Debug)]
pub enum Report {
    Console(&'static str),
    Parent(UnixStream),
    /// It was told.
    Told,
}

impl Report {
    pub fn started(&mut self) {
        if let Report::Parent(socket) = self {
            // A parent that has gone does not care.
            let _ = socket.write_all(&[0]);
        }
        *self = Report::Told;
    }

    pub fn failed(&mut self, failure: &Failure) {
        match self {
            Report::Console(program) => exit::complain(&format!("{program}: error: {}", failure.message)),
            Report::Parent(socket) => {
                let mut bytes = vec![failure.exit.code().max(1)];
                bytes.extend_from_slice(failure.message.as_bytes());
                let _ = socket.write_all(&bytes);
            }
            Report::Told => {}
        }
        *self = Report::Told;
    }
}

/// How a child says later that all is well with it.
pub struct ToParent(UnixStream);

impl ToParent {
    pub fn new(socket: UnixStream) -> ToParent {
        ToParent(socket)
    }

    /// There is a session with a master.
    pub fn connected(&mut self) {
        // A parent that has gone does not care.
        let _ = self.0.write_all(&[CONNECTED]);
    }
}

const CONNECTED: u8 = 1;

/// What a parent hears of its child's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    Started,
    Failed {
        code: u8,
        message: String,
    },
    /// It ended without a word.
    Nothing,
}

/// The longest message of a failure that is read.
const MESSAGE_LIMIT: u64 = 64 * 1024;

impl Heard {
    /// Waits for it.
    pub fn read(socket: &mut UnixStream) -> Heard {
        let mut code = [0];
        match socket.read(&mut code) {
            Ok(1) if code == [0] => Heard::Started,
            Ok(1) => {
                let mut message = Vec::new();
                let _ = socket.take(MESSAGE_LIMIT).read_to_end(&mut message);
                Heard::Failed { code: code[0], message: String::from_utf8_lossy(&message).into_owned() }
            }
            _ => Heard::Nothing,
        }
    }
}

/// Waits for the word of a child that was started; false if it ends without it.
pub fn hears_connected(socket: &mut UnixStream) -> bool {
    let mut word = [0];
    matches!(socket.read(&mut word), Ok(1)) && word == [CONNECTED]
}

/// Takes the socket that is our standard input, and leaves nothing in its place.
fn from_stdin() -> io::Result<UnixStream> {
    let handle = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    let socket = UnixStream::from(handle);
    // Whatever else standard input may be, by hand, is an error here and not later.
    socket.peer_addr()?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(args: &[&str]) -> Vec<String> {
        args.iter().map(|arg| (*arg).to_owned()).collect()
    }

    #[test]
    fn the_mark_is_taken_from_the_front_only() {
        let args = strings(&["--halite-stage=supervised:/home/me", "-c", "conf"]);
        let (origin, rest) = Origin::read(&args);
        assert_eq!((origin.stage, rest), (Stage::Supervised, &args[1..]));
        assert_eq!(origin.path(Path::new("conf")), Path::new("/home/me/conf"));
        assert_eq!(origin.path(Path::new("/etc/salt")), Path::new("/etc/salt"));
        let replaced = strings(&["--halite-stage=replaced:/", "-d"]);
        assert_eq!(Origin::read(&replaced).0.stage, Stage::Replaced);
        for args in [strings(&["-d", "--halite-stage=background:/"]), strings(&["--halite-stage=other:/"]), vec![]] {
            let (origin, rest) = Origin::read(&args);
            assert_eq!((origin.stage, rest), (Stage::First, args.as_slice()));
        }
    }

    #[test]
    fn what_a_child_reports_is_heard() {
        let failure = Failure::new(Exit::Configuration, "no such thing");
        let heard = |tell: fn(&mut Report, &Failure)| {
            let (mut ours, theirs) = UnixStream::pair().unwrap();
            tell(&mut Report::Parent(theirs), &failure);
            Heard::read(&mut ours)
        };
        assert_eq!(heard(|report, _| report.started()), Heard::Started);
        let failed = Heard::Failed { code: 78, message: "no such thing".to_owned() };
        assert_eq!(heard(|report, failure| report.failed(failure)), failed);
        assert_eq!(heard(|_, _| {}), Heard::Nothing);
    }

    #[test]
    fn a_child_says_when_it_has_a_session() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        Report::Parent(theirs.try_clone().unwrap()).started();
        ToParent::new(theirs).connected();
        assert_eq!(Heard::read(&mut ours), Heard::Started);
        assert!(hears_connected(&mut ours));
        assert!(!hears_connected(&mut ours), "it is gone");
    }
}
