//! `cmd.*`: commands, with everything that decides how they run.

mod chroot;
mod login;
mod options;
mod script;
mod shell_info;

use halite_core::module::{Function, Module, Run, function};
use halite_core::{Ctx, Fault, Reply, Returned};
use halite_value::record;
use halite_value::record::{ArgumentError, Bound, Info, Record};
use halite_value::{Map, Value};
use options::{Errors, FIELDS, Options};
use std::path::Path;

pub const MODULE: Module = Module { name: "cmd", doc: "Run commands, scripts and code.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    function::<script::ExecCode>("exec_code"),
    function::<script::ExecCodeAll>("exec_code_all"),
    function::<HasExec>("has_exec"),
    function::<Retcode>("retcode"),
    function::<RunStdoutMixed>("run"),
    function::<RunAll>("run_all"),
    function::<RunBg>("run_bg"),
    function::<chroot::RunChroot>("run_chroot"),
    function::<RunStderr>("run_stderr"),
    function::<RunStdout>("run_stdout"),
    function::<script::Script>("script"),
    function::<script::ScriptRetcode>("script_retcode"),
    function::<Shell>("shell"),
    function::<shell_info::ShellInfo>("shell_info"),
    function::<Shells>("shells"),
    function::<Tty>("tty"),
    function::<Which>("which"),
    function::<WhichBin>("which_bin"),
];

/// `cmd.run`.
pub struct RunStdoutMixed(Options);

impl Record for RunStdoutMixed {
    const INFO: &'static Info = &Info {
        doc: &[
            " Run a command and return what it printed, errors too.",
            "",
            "   salt '*' cmd.run 'ls -l | head -n 3' cwd=/etc",
        ],
        fields: FIELDS.fields,
    };

    fn take(from: &mut Bound) -> Result<Self, ArgumentError> {
        Options::take(from).map(RunStdoutMixed)
    }
}

impl Run for RunStdoutMixed {
    fn run(self, ctx: &Ctx) -> Reply {
        stdout(&self.0, ctx, self.0.errors_or(Errors::Mixed))
    }
}

/// `cmd.run_stdout`.
pub struct RunStdout(Options);

impl Record for RunStdout {
    const INFO: &'static Info = &Info {
        doc: &[" Run a command and return its standard output.", "", "   salt '*' cmd.run_stdout 'ls -l | head -n 3'"],
        fields: FIELDS.fields,
    };

    fn take(from: &mut Bound) -> Result<Self, ArgumentError> {
        Options::take(from).map(RunStdout)
    }
}

impl Run for RunStdout {
    fn run(self, ctx: &Ctx) -> Reply {
        stdout(&self.0, ctx, Errors::Apart)
    }
}

/// `cmd.shell`.
pub struct Shell(Options);

impl Record for Shell {
    const INFO: &'static Info = &Info {
        doc: &[
            " Have a shell run a command, whoever calls, and return what it printed.",
            "",
            "   salt '*' cmd.shell 'echo $((1 + 2)) | cat'",
        ],
        fields: FIELDS.fields,
    };

    fn take(from: &mut Bound) -> Result<Self, ArgumentError> {
        Options::take(from).map(|options| Shell(Options { python_shell: Some(true), ..options }))
    }
}

impl Run for Shell {
    fn run(self, ctx: &Ctx) -> Reply {
        stdout(&self.0, ctx, self.0.errors_or(Errors::Mixed))
    }
}

/// `cmd.run_stderr`.
pub struct RunStderr(Options);

impl Record for RunStderr {
    const INFO: &'static Info = &Info {
        doc: &[" Run a command and return its standard error.", "", "   salt '*' cmd.run_stderr 'ls /nowhere'"],
        fields: FIELDS.fields,
    };

    fn take(from: &mut Bound) -> Result<Self, ArgumentError> {
        Options::take(from).map(RunStderr)
    }
}

impl Run for RunStderr {
    fn run(self, ctx: &Ctx) -> Reply {
        let output = self.0.execute(ctx, Errors::Apart)?;
        let retcode = self.0.retcode(&output);
        let text = if self.0.hide_output { String::new() } else { output.stderr };
        Ok(Returned::from(text).with_retcode(retcode))
    }
}

/// `cmd.run_all`.
pub struct RunAll(Options);

impl Record for RunAll {
    const INFO: &'static Info = &Info {
        doc: &[
            " Run a command and return its pid, exit code, standard output and standard error.",
            "",
            "   salt '*' cmd.run_all 'ls -l /etc'",
        ],
        fields: FIELDS.fields,
    };

    fn take(from: &mut Bound) -> Result<Self, ArgumentError> {
        Options::take(from).map(RunAll)
    }
}

impl Run for RunAll {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut output = self.0.execute(ctx, self.0.errors_or(Errors::Apart))?;
        let retcode = self.0.retcode(&output);
        if self.0.hide_output {
            (output.stdout, output.stderr) = (String::new(), String::new());
        }
        let mut shown = output.shown();
        if self.0.bg {
            // Nobody waits for its exit code.
            shown.insert("retcode", Value::Null);
        }
        Ok(Returned::from(shown).with_retcode(retcode))
    }
}

/// `cmd.run_bg`.
pub struct RunBg(Options);

impl Record for RunBg {
    const INFO: &'static Info = &Info {
        doc: &[
            " Start a command and return its pid without waiting for it. Its output goes nowhere.",
            "",
            "   salt '*' cmd.run_bg 'sleep 300' cwd=/tmp",
        ],
        fields: FIELDS.fields,
    };

    fn take(from: &mut Bound) -> Result<Self, ArgumentError> {
        Options::take(from).map(|options| RunBg(Options { bg: true, ..options }))
    }
}

impl Run for RunBg {
    fn run(self, ctx: &Ctx) -> Reply {
        let output = self.0.execute(ctx, Errors::Mixed)?;
        Ok(Map::from_iter([("pid", output.pid)]).into())
    }
}

/// `cmd.retcode`.
pub struct Retcode(Options);

impl Record for Retcode {
    const INFO: &'static Info = &Info {
        doc: &[" Run a command and return its exit code.", "", "   salt '*' cmd.retcode 'test -e /etc/passwd'"],
        fields: FIELDS.fields,
    };

    fn take(from: &mut Bound) -> Result<Self, ArgumentError> {
        Options::take(from).map(Retcode)
    }
}

impl Run for Retcode {
    fn run(self, ctx: &Ctx) -> Reply {
        let output = self.0.execute(ctx, Errors::Mixed)?;
        let retcode = self.0.retcode(&output);
        Ok(Returned::from(output.retcode).with_retcode(retcode))
    }
}

fn stdout(options: &Options, ctx: &Ctx, errors: Errors) -> Reply {
    let output = options.execute(ctx, errors)?;
    let retcode = options.retcode(&output);
    let text = if options.hide_output { String::new() } else { output.stdout };
    if options.raise_err && retcode != 0 {
        return Err(Fault::Execution(text));
    }
    Ok(Returned::from(text).with_retcode(retcode))
}

record! {
    /// Return the path of a program, None where there is none.
    ///
    ///   salt '*' cmd.which cat
    pub struct Which {
        /// The program's name.
        cmd: String,
    }
}

impl Run for Which {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(path_of(ctx, &self.cmd).into())
    }
}

record! {
    /// Return the path of the first of some programs that is there.
    ///
    ///   salt '*' cmd.which_bin '[pip3, pip]'
    pub struct WhichBin {
        /// The programs' names.
        cmds: Vec<String>,
    }
}

impl Run for WhichBin {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(self.cmds.iter().find_map(|program| path_of(ctx, program)).into())
    }
}

record! {
    /// Return whether a program is there.
    ///
    ///   salt '*' cmd.has_exec cat
    pub struct HasExec {
        /// The program's name.
        cmd: String,
    }
}

impl Run for HasExec {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(path_of(ctx, &self.cmd).is_some().into())
    }
}

fn path_of(ctx: &Ctx, program: &str) -> Option<String> {
    ctx.host.which(program).map(|path| path.to_string_lossy().into_owned())
}

record! {
    /// Write a text to a terminal.
    ///
    ///   salt '*' cmd.tty pts3 'The host goes down at noon'
    pub struct Tty {
        /// The terminal: tty0, pts3.
        device: String,
        /// The text.
        echo: String = "",
    }
}

impl Run for Tty {
    fn run(self, ctx: &Ctx) -> Reply {
        let number = self.device.strip_prefix("tty").or_else(|| self.device.strip_prefix("pts"));
        let is_name = number.is_some_and(|number| number.trim_start_matches('/').chars().all(char::is_alphanumeric));
        if !is_name {
            return Ok(Map::from_iter([("Error", "The specified device is not a valid TTY")]).into());
        }
        let path = match self.device.strip_prefix("pts") {
            Some(number) => format!("/dev/pts/{}", number.trim_start_matches('/')),
            None => format!("/dev/{}", self.device),
        };
        let argv = ["/bin/sh", "-c", "cat > \"$0\"", &path].map(str::to_owned).to_vec();
        let command = halite_core::host::Command { argv, stdin: Some(self.echo.into_bytes()), ..Default::default() };
        let written = ctx.host.run(&command).is_ok_and(|finished| finished.code == 0);
        Ok(match written {
            true => Map::from_iter([("Success", format!("Message was successfully echoed to {path}"))]).into(),
            false => Map::from_iter([("Error", format!("Echoing to {path} returned error"))]).into(),
        })
    }
}

record! {
    /// List the shells of the host, from /etc/shells.
    ///
    ///   salt '*' cmd.shells
    pub struct Shells {}
}

impl Run for Shells {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = match ctx.host.read(Path::new("/etc/shells")) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => return Err(Fault::execution(format!("cannot read /etc/shells: {error}"))),
        };
        let shells = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Ok(Value::list(shells).into())
    }
}

#[cfg(test)]
mod tests;
