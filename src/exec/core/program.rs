//! The host's own programs, run by functions: an argument list, in English, and what came of it as text.

use super::host::{Choice, Command, Finished, User, words_of_cut};
use super::{Ctx, Fault};
use halite_value::{Map, Value};
use std::path::PathBuf;
use std::time::Duration;

/// A program with its arguments, to be run.
#[derive(Clone, Debug, Default)]
pub struct Program {
    command: Command,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub pid: u32,
    pub retcode: i32,
    /// Without blanks at its end, as `cmd.run` has it.
    pub stdout: String,
    pub stderr: String,
    /// How many bytes of each were too many to keep.
    pub stdout_cut: u64,
    pub stderr_cut: u64,
}

impl Program {
    pub fn new<T: Into<String>>(argv: impl IntoIterator<Item = T>) -> Program {
        let mut command = Command { argv: argv.into_iter().map(Into::into).collect(), ..Command::default() };
        for name in ["LC_ALL", "LANG", "LANGUAGE"] {
            command.env.insert(name.to_owned(), Some("C".to_owned()));
        }
        // A program must not speak to systemd in the minion's name.
        command.env.insert("NOTIFY_SOCKET".to_owned(), None);
        Program { command }
    }

    pub fn arg(mut self, word: impl Into<String>) -> Program {
        self.command.argv.push(word.into());
        self
    }

    pub fn args<T: Into<String>>(mut self, words: impl IntoIterator<Item = T>) -> Program {
        self.command.argv.extend(words.into_iter().map(Into::into));
        self
    }

    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Program {
        self.command.stdin = Some(text.into());
        self
    }

    /// Reads what another program writes, however much that is.
    pub fn fed_by(mut self, other: Program) -> Program {
        self.command.fed_by = Some(Box::new(other.command));
        self
    }

    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Program {
        self.command.cwd = Some(directory.into());
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Program {
        self.command.env.insert(name.to_owned(), Some(value.to_owned()));
        self
    }

    pub fn timeout(mut self, time: Duration) -> Program {
        self.command.timeout = Some(time);
        self
    }

    /// Errors go where the output goes.
    pub fn mixed(mut self) -> Program {
        self.command.merge_stderr = Choice::Yes;
        self
    }

    /// Not waited for.
    pub fn in_background(mut self) -> Program {
        self.command.background = Choice::Yes;
        self
    }

    /// As another account, in its home.
    pub fn runas(mut self, user: User) -> Program {
        for (name, value) in [
            ("HOME", user.home.to_string_lossy()),
            ("USER", user.name.as_str().into()),
            ("LOGNAME", user.name.as_str().into()),
        ] {
            self.command.env.insert(name.to_owned(), Some(value.into_owned()));
        }
        self.command.cwd.get_or_insert_with(|| user.home.clone());
        self.command.runas = Some(user);
        self
    }

    /// As the account with this name; nothing: as we are.
    pub fn runas_name(self, ctx: &Ctx, name: Option<&str>) -> Result<Program, Fault> {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(self) };
        match ctx.host.user(name) {
            Ok(Some(user)) => Ok(self.runas(user)),
            Ok(None) => Err(Fault::execution(format!("User '{name}' is not available"))),
            Err(error) => Err(Fault::execution(format!("the accounts of this host cannot be read: {error}"))),
        }
    }

    /// Runs a program that changes the host.
    pub fn run(&self, ctx: &Ctx) -> Result<Answer, Fault> {
        self.answer(ctx.host.run(&self.command).map_err(|error| self.cannot_run(&error))?)
    }

    /// Runs a program that only looks; in test mode too. What is too long to be kept is an error: half of an answer is a
    /// wrong one.
    pub fn query(&self, ctx: &Ctx) -> Result<Answer, Fault> {
        self.answer(self.asked(ctx)?)
    }

    /// The output of a program that only looks, to its last line end.
    pub fn query_raw(&self, ctx: &Ctx) -> Result<String, Fault> {
        Ok(String::from_utf8_lossy(&self.query_bytes(ctx)?).into_owned())
    }

    /// The output of a program that only looks, as it is.
    pub fn query_bytes(&self, ctx: &Ctx) -> Result<Vec<u8>, Fault> {
        Ok(self.asked(ctx)?.stdout)
    }

    /// The command as one line, for messages.
    pub fn line(&self) -> String {
        self.command.argv.join(" ")
    }

    fn answer(&self, finished: Finished) -> Result<Answer, Fault> {
        if finished.timed_out == Choice::Yes {
            return Err(Fault::execution(format!("{}: timed out", self.name())));
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        Ok(Answer {
            pid: finished.pid,
            retcode: finished.code,
            stdout: text(&finished.stdout),
            stderr: text(&finished.stderr),
            stdout_cut: finished.stdout_cut,
            stderr_cut: finished.stderr_cut,
        })
    }

    fn asked(&self, ctx: &Ctx) -> Result<Finished, Fault> {
        let finished = ctx.host.query(&self.command).map_err(|error| self.cannot_run(&error))?;
        match finished.stdout_cut {
            0 => Ok(finished),
            cut => Err(Fault::execution(format!(
                "{}: its output is too long to be read: {cut} bytes behind the first {} were not kept",
                self.name(),
                finished.stdout.len()
            ))),
        }
    }
}

impl Program {
    fn name(&self) -> &str {
        self.command.argv.first().map_or("", String::as_str)
    }

    /// Names the program alone: arguments and environment may hold secrets.
    fn cannot_run(&self, error: &std::io::Error) -> Fault {
        let name = self.name();
        match error.kind() {
            std::io::ErrorKind::NotFound => Fault::execution(format!(
                "Unable to run command '{name}': the program was not found. Is its package installed?"
            )),
            _ => Fault::execution(format!("Unable to run command '{name}': {error}")),
        }
    }
}

impl Answer {
    pub fn is_success(&self) -> bool {
        self.retcode == 0
    }

    /// The standard output for people, who are told of what was not kept.
    pub fn stdout_shown(&self) -> String {
        self.stdout.clone() + &words_of_cut(self.stdout_cut).unwrap_or_default()
    }

    /// What `cmd.run_all` returns.
    pub fn shown(mut self) -> Map {
        self.stdout.extend(words_of_cut(self.stdout_cut));
        self.stderr.extend(words_of_cut(self.stderr_cut));
        Map::from_iter([
            ("pid", Value::from(self.pid)),
            ("retcode", self.retcode.into()),
            ("stdout", self.stdout.into()),
            ("stderr", self.stderr.into()),
        ])
    }

    /// What it complained about: standard error, else standard output.
    pub fn complaint(&self) -> &str {
        if self.stderr.is_empty() { &self.stdout } else { &self.stderr }
    }

    /// A fault of the host for a program that failed, else the answer.
    pub fn expect_success(self, what: &str) -> Result<Answer, Fault> {
        match self.is_success() {
            true => Ok(self),
            false => Err(Fault::execution(format!("{what}: {}", self.complaint()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoMaster;
    use crate::host::fake::Fake;
    use crate::testing::World;

    fn world() -> World {
        let cut = Finished { stdout: b"half".to_vec(), stdout_cut: 9, ..Finished::default() };
        World::on(Fake::new().command(["list"], cut))
    }

    #[test]
    fn half_of_a_long_answer_was_read_as_the_whole() {
        let world = world();
        let ctx = world.ctx(&NoMaster);
        let list = Program::new(["list"]);
        for said in [list.query(&ctx).unwrap_err(), list.query_raw(&ctx).unwrap_err()] {
            let said = said.to_string();
            assert!(said.contains("list: its output is too long to be read: 9 bytes"), "{said}");
        }
    }

    #[test]
    fn people_are_told_of_what_was_not_kept() {
        let world = world();
        let answer = Program::new(["list"]).run(&world.ctx(&NoMaster)).unwrap();
        assert_eq!(answer.stdout, "half");
        assert_eq!(answer.stdout_shown(), "half\n[9 more bytes were not kept]");
        assert_eq!(answer.shown().str_at("stdout"), Some("half\n[9 more bytes were not kept]"));
    }
}
