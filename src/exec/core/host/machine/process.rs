//! Running a process: its own process group, its output read as it comes, killed whole at its timeout.

use super::pipeline::{self, Running};
use crate::host::child::{Identity, become_user};
use crate::host::{Choice, Command, Finished, environment};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What is kept of each stream. A return is bounded far below this; whoever prints more wants a file.
const KEPT: usize = 64 * 1024 * 1024;

pub(super) fn run(command: &Command) -> io::Result<Finished> {
    if command.background == Choice::Yes {
        return leave_running(prepare(command)?);
    }
    let started = Instant::now();
    let Running { mut programs, input, stdout, stderr } = Running::start(command)?;
    let mut flow = Flow {
        input,
        bytes: pipeline::first(command).stdin.as_deref().unwrap_or_default(),
        stdout: Stream::new(Some(stdout)),
        stderr: Stream::new(stderr),
        deadline: command.timeout.map(|timeout| started + timeout),
    };
    let ended = flow.carry().and_then(|in_time| match in_time {
        true => programs.wait(flow.deadline),
        false => Ok(None),
    });
    let (status, timed_out) = match ended {
        Ok(Some(status)) => (status, Choice::No),
        Ok(None) => (programs.kill()?, Choice::Yes),
        Err(error) => {
            // Nobody would ever read its output or wait for it.
            let _ = programs.kill();
            return Err(error);
        }
    };
    Ok(Finished {
        pid: programs.pid(),
        code: code(status),
        stdout: flow.stdout.kept,
        stderr: flow.stderr.kept,
        stdout_cut: flow.stdout.dropped,
        stderr_cut: flow.stderr.dropped,
        timed_out,
    })
}

/// A program as it is started, but for its output.
pub(super) fn prepare(command: &Command) -> io::Result<std::process::Command> {
    let (program, arguments) = command.argv.split_first().ok_or_else(|| invalid("no command was given"))?;
    let mut process = std::process::Command::new(program);
    process.args(arguments).process_group(0);
    if command.clean_env == Choice::Yes {
        process.env_clear();
    } else {
        for (name, value) in environment::changes() {
            match value {
                Some(value) => process.env(name, value),
                None => process.env_remove(name),
            };
        }
    }
    for (name, value) in &command.env {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(invalid("a variable's name is empty or holds '='"));
        }
        match value {
            Some(value) => process.env(name, value),
            None => process.env_remove(name),
        };
    }
    if let Some(cwd) = &command.cwd {
        process.current_dir(cwd);
    }
    process.stdin(if command.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    become_user(&mut process, identity(command));
    Ok(process)
}

pub(super) fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

fn identity(command: &Command) -> Identity {
    let me = rustix::process::geteuid();
    // A minion that is not root may still be asked to run as its own user: there is nothing to change then.
    let user = command.runas.as_ref().filter(|user| me.is_root() || user.uid != me.as_raw());
    let groups = match command.group {
        Some(group) => Some(vec![group]),
        None => user.map(|user| user.groups.clone()),
    };
    Identity {
        uid: user.map(|user| user.uid),
        gid: command.group.or(user.map(|user| user.gid)),
        groups,
        umask: command.umask,
    }
}

/// Starts it and forgets it; a thread waits for its end, so that no zombie stays.
fn leave_running(mut process: std::process::Command) -> io::Result<Finished> {
    process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = process.spawn()?;
    let finished = Finished { pid: child.id(), ..Finished::default() };
    std::thread::Builder::new().name("reaper".to_owned()).stack_size(64 * 1024).spawn(move || child.wait())?;
    Ok(finished)
}

/// What goes to and comes from a running process.
struct Flow<'a> {
    input: Option<ChildStdin>,
    bytes: &'a [u8],
    stdout: Stream,
    stderr: Stream,
    deadline: Option<Instant>,
}

impl Flow<'_> {
    /// Moves data until both streams have ended; false when the deadline came first. Never waits on one handle while
    /// another is ready, so that a process which reads and writes cannot block against us.
    fn carry(&mut self) -> io::Result<bool> {
        if let Some(input) = &self.input {
            rustix::io::ioctl_fionbio(input, true)?;
        }
        if self.bytes.is_empty() {
            self.input = None;
        }
        let mut buffer = vec![0; 64 * 1024];
        while self.stdout.is_open() || self.stderr.is_open() {
            let Some(ready) = self.ready()? else {
                return Ok(false);
            };
            if ready.input {
                self.feed()?;
            }
            if ready.stdout {
                self.stdout.take(&mut buffer)?;
            }
            if ready.stderr {
                self.stderr.take(&mut buffer)?;
            }
        }
        self.input = None;
        Ok(true)
    }

    /// Waits for a handle; nothing when the deadline passed.
    fn ready(&self) -> io::Result<Option<Ready>> {
        let mut handles = Vec::with_capacity(3);
        let input = push(&mut handles, self.input.as_ref().map(|input| PollFd::new(input, PollFlags::OUT)));
        let stdout = push(&mut handles, self.stdout.poll());
        let stderr = push(&mut handles, self.stderr.poll());
        loop {
            let left = match self.deadline {
                Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                    Some(left) if !left.is_zero() => Some(timespec(left)),
                    _ => return Ok(None),
                },
                None => None,
            };
            match poll(&mut handles, left.as_ref()) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let is_ready = |at: Option<usize>| at.is_some_and(|at| !handles[at].revents().is_empty());
        Ok(Some(Ready { input: is_ready(input), stdout: is_ready(stdout), stderr: is_ready(stderr) }))
    }

    fn feed(&mut self) -> io::Result<()> {
        let Some(input) = &mut self.input else {
            return Ok(());
        };
        match input.write(self.bytes) {
            Ok(count) => self.bytes = &self.bytes[count..],
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            // It does not read on: no fault of the command, as in a shell's pipe.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.bytes = &[],
            Err(error) => return Err(error),
        }
        if self.bytes.is_empty() {
            self.input = None;
        }
        Ok(())
    }
}

struct Ready {
    input: bool,
    stdout: bool,
    stderr: bool,
}

fn push<'fd>(handles: &mut Vec<PollFd<'fd>>, handle: Option<PollFd<'fd>>) -> Option<usize> {
    handles.push(handle?);
    Some(handles.len() - 1)
}

/// One output of the process, and what was read of it.
struct Stream {
    reader: Option<PipeReader>,
    kept: Vec<u8>,
    /// How much more there was.
    dropped: u64,
}

impl Stream {
    fn new(reader: Option<PipeReader>) -> Stream {
        Stream { reader, kept: Vec::new(), dropped: 0 }
    }

    fn is_open(&self) -> bool {
        self.reader.is_some()
    }

    fn poll(&self) -> Option<PollFd<'_>> {
        self.reader.as_ref().map(|reader| PollFd::new(reader, PollFlags::IN))
    }

    fn take(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let Some(reader) = &mut self.reader else {
            return Ok(());
        };
        match reader.read(buffer) {
            Ok(0) => self.reader = None,
            Ok(count) => {
                let room = count.min(KEPT - self.kept.len());
                self.kept.extend_from_slice(&buffer[..room]);
                self.dropped += (count - room) as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Waits for the end of a process that has closed its output; nothing when the deadline passed.
pub(super) fn wait(child: &mut Child, deadline: Option<Instant>) -> io::Result<Option<ExitStatus>> {
    let Some(deadline) = deadline else {
        return child.wait().map(Some);
    };
    if let Some(status) = child.try_wait()? {
        return Ok(Some(status));
    }
    match handle_of(child) {
        Some(handle) => loop {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                return Ok(None);
            };
            match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&timespec(left))) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => return child.wait().map(Some),
                Err(error) => return Err(error.into()),
            }
        },
        None => loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(10));
        },
    }
}

/// A handle that becomes readable when the process ends; kernels before 5.3 have none.
fn handle_of(child: &Child) -> Option<OwnedFd> {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| -status.signal().unwrap_or(1))
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX), tv_nsec: time.subsec_nanos().into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::User;
    use crate::testing::{Need, host_has};

    fn sh(script: &str) -> Command {
        Command { argv: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(), ..Command::default() }
    }

    fn out(command: &Command) -> String {
        String::from_utf8(run(command).unwrap().stdout).unwrap()
    }

    #[test]
    fn output_and_code_are_what_the_process_gave() {
        let finished = run(&sh("echo out; echo err >&2; exit 3")).unwrap();
        assert_eq!((finished.stdout.as_slice(), finished.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
        assert_eq!((finished.code, finished.timed_out), (3, Choice::No));
        assert_eq!(run(&sh("kill -9 $$")).unwrap().code, -9);
        let missing = Command { argv: vec!["/no/such/program".to_owned()], ..Command::default() };
        assert_eq!(run(&missing).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(run(&Command::default()).is_err());
    }

    #[test]
    fn merged_errors_stand_in_order() {
        let command = Command { merge_stderr: Choice::Yes, ..sh("echo 1; echo 2 >&2; echo 3; echo 4 >&2") };
        assert_eq!(out(&command), "1\n2\n3\n4\n");
    }

    #[test]
    fn more_than_a_pipe_holds_goes_both_ways() {
        let input = vec![b'x'; 1 << 20];
        let command = Command { stdin: Some(input.clone()), ..sh("tee /dev/stderr") };
        let finished = run(&command).unwrap();
        assert!(finished.stdout == input && finished.stderr == input);
        let unread = Command { stdin: Some(input), ..sh("echo done") };
        assert_eq!(out(&unread), "done\n");
    }

    #[test]
    fn output_beyond_what_is_kept_was_followed_by_a_text_that_nobody_wrote() {
        let more = KEPT + 7;
        let finished = run(&sh(&format!("head -c {more} /dev/zero; head -c {more} /dev/zero >&2"))).unwrap();
        assert_eq!((finished.stdout.len(), finished.stderr.len()), (KEPT, KEPT));
        assert_eq!((finished.stdout_cut, finished.stderr_cut), (7, 7));
        assert!(finished.stdout.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_timeout_kills_the_whole_group() {
        let command = Command { timeout: Some(Duration::from_millis(300)), ..sh("sleep 1000 & echo $!; wait") };
        let finished = run(&command).unwrap();
        assert_eq!((finished.timed_out, finished.code), (Choice::Yes, -9));
        let inner = String::from_utf8(finished.stdout).unwrap().trim().to_owned();
        let gone = || match std::fs::read_to_string(format!("/proc/{inner}/stat")) {
            Ok(stat) => stat.contains(") Z "),
            Err(_) => true,
        };
        let deadline = Instant::now() + Duration::from_secs(5);
        while !gone() {
            assert!(Instant::now() < deadline, "the inner process lives on");
            std::thread::yield_now();
        }
        let silent = Command { timeout: Some(Duration::from_millis(200)), ..sh("exec >&- 2>&-; sleep 1000") };
        assert_eq!(run(&silent).unwrap().timed_out, Choice::Yes);
    }

    #[test]
    fn environment_directory_and_mask_are_those_asked_for() {
        let mut command = Command {
            clean_env: Choice::Yes,
            cwd: Some("/usr".into()),
            umask: Some(0o027),
            ..sh("echo $A,$HOME,$PWD,$(umask)")
        };
        command.env.insert("A".to_owned(), Some("b".to_owned()));
        assert_eq!(out(&command), "b,,/usr,0027\n");
        command.env.insert("A=B".to_owned(), None);
        assert!(run(&command).is_err());
    }

    #[test]
    fn a_process_can_run_as_somebody_else() {
        if !host_has(&[Need::Root]) {
            return;
        }
        let user = User { uid: 65534, gid: 65533, groups: vec![65533, 12345], ..User::default() };
        let command = Command { runas: Some(user), ..sh("id -u; id -g; id -G") };
        assert_eq!(out(&command), "65534\n65533\n65533 12345\n");
        let grouped = Command { group: Some(7), ..command };
        assert_eq!(out(&grouped), "65534\n7\n7\n");
    }

    #[test]
    fn what_is_left_running_is_not_waited_for() {
        let command = Command { background: Choice::Yes, ..sh("sleep 1000") };
        let started = Instant::now();
        let finished = run(&command).unwrap();
        assert!(started.elapsed() < Duration::from_secs(30));
        let pid = rustix::process::Pid::from_raw(finished.pid as i32).unwrap();
        rustix::process::kill_process_group(pid, rustix::process::Signal::KILL).unwrap();
    }
}
