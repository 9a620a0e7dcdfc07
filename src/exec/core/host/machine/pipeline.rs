//! The programs of a command: mostly one, else several in a line, of which each reads what the one before it writes. The
//! kernel carries that from one to the next, as in a shell's pipe.

use super::process::{invalid, prepare, wait};
use crate::host::{Choice, Command};
use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ExitStatus};
use std::time::Instant;

/// Programs that run, and our ends of their pipes.
pub(super) struct Running {
    pub programs: Programs,
    /// What the first reads, where it is given something.
    pub input: Option<ChildStdin>,
    /// What the last writes.
    pub stdout: PipeReader,
    /// What all complain of, unless that goes into `stdout`.
    pub stderr: Option<PipeReader>,
}

/// In the order of the pipe; never none. All are in the process group of the first.
pub(super) struct Programs(Vec<Child>);

/// The command that a line of them begins with.
pub(super) fn first(command: &Command) -> &Command {
    command.fed_by.as_deref().map_or(command, first)
}

impl Running {
    pub(super) fn start(command: &Command) -> io::Result<Running> {
        let (stdout, out_writer) = io::pipe()?;
        let (stderr, err_writer) = match command.merge_stderr {
            Choice::Yes => (None, out_writer.try_clone()?),
            Choice::No => io::pipe().map(|(reader, writer)| (Some(reader), writer))?,
        };
        let mut programs = Programs(Vec::new());
        if let Err(error) = programs.start(command, out_writer, &err_writer) {
            // Those that run already have nobody any more.
            if !programs.0.is_empty() {
                let _ = programs.kill();
            }
            return Err(error);
        }
        let input = programs.0.first_mut().and_then(|first| first.stdin.take());
        Ok(Running { programs, input, stdout, stderr })
    }
}

impl Programs {
    /// Starts a command behind those that feed it. Our ends for writing are closed with this: while they are open, no
    /// reader sees the end.
    fn start(&mut self, command: &Command, stdout: PipeWriter, stderr: &PipeWriter) -> io::Result<()> {
        let mut process = prepare(command)?;
        if let Some(feeding) = &command.fed_by {
            if command.stdin.is_some() {
                return Err(invalid("a command reads either bytes or what another one writes"));
            }
            let (reader, writer) = io::pipe()?;
            self.start(feeding, writer, stderr)?;
            process.stdin(reader);
            if let Some(leader) = self.0.first() {
                process.process_group(rustix::process::Pid::from_child(leader).as_raw_pid());
            }
        }
        process.stdout(stdout).stderr(stderr.try_clone()?);
        self.0.push(process.spawn()?);
        Ok(())
    }

    /// The last's.
    pub(super) fn pid(&self) -> u32 {
        self.0.last().map_or(0, Child::id)
    }

    /// Waits for the end of programs that have closed their output: how the last ended. Nothing when the deadline
    /// passed.
    pub(super) fn wait(&mut self, deadline: Option<Instant>) -> io::Result<Option<ExitStatus>> {
        let mut last = None;
        // The first comes last, so that the number of their group is its own until then.
        for child in self.0.iter_mut().rev() {
            match wait(child, deadline)? {
                Some(status) => last = last.or(Some(status)),
                None => return Ok(None),
            }
        }
        Ok(last)
    }

    /// Kills all of them, and what they have started: how the last ended.
    pub(super) fn kill(&mut self) -> io::Result<ExitStatus> {
        if let Some(leader) = self.0.first() {
            let group = rustix::process::Pid::from_child(leader);
            match rustix::process::kill_process_group(group, rustix::process::Signal::KILL) {
                // It has ended already, and whoever was in its group.
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.wait(None)?.ok_or_else(|| invalid("no command was given"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::process::run;
    use super::*;
    use std::time::Duration;

    fn sh(script: &str) -> Command {
        Command { argv: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(), ..Command::default() }
    }

    fn piped(first: Command, then: Command) -> Command {
        Command { fed_by: Some(Box::new(first)), ..then }
    }

    #[test]
    fn what_one_program_gave_another_was_cut_at_what_is_kept_of_an_output() {
        let more = (64 << 20) + 5;
        let packed = piped(sh(&format!("head -c {more} /dev/zero")), sh("cat"));
        let finished = run(&piped(packed, sh("wc -c"))).unwrap();
        assert_eq!(String::from_utf8_lossy(&finished.stdout).trim(), more.to_string());
    }

    #[test]
    fn the_first_is_given_the_input_and_the_last_says_how_it_ended() {
        let first = Command { stdin: Some(b"b\na\n".to_vec()), ..sh("cat; echo one >&2; exit 3") };
        let finished = run(&piped(first, sh("sort; echo two >&2; exit 4"))).unwrap();
        assert_eq!((finished.stdout.as_slice(), finished.code), (&b"a\nb\n"[..], 4));
        let told = String::from_utf8(finished.stderr).unwrap();
        assert!(told.contains("one") && told.contains("two"), "{told}");
        let both = Command { stdin: Some(Vec::new()), ..sh("cat") };
        assert!(run(&piped(sh("echo"), both)).is_err());
    }

    #[test]
    fn a_line_of_programs_ends_with_the_one_that_reads_no_more_and_at_its_time() {
        assert_eq!(run(&piped(sh("exec yes"), sh("head -n 1"))).unwrap().stdout, b"y\n");
        let slow = Command { timeout: Some(Duration::from_millis(200)), ..sh("echo done") };
        let finished = run(&piped(sh("exec 2>&-; exec sleep 1000"), slow)).unwrap();
        assert_eq!((finished.timed_out, finished.stdout.as_slice()), (Choice::Yes, &b"done\n"[..]));
        let missing = Command { argv: vec!["/no/such/program".to_owned()], ..Command::default() };
        assert_eq!(run(&piped(sh("sleep 1000"), missing)).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
