//! The options that all `cmd` functions share, and the command that they make.

use super::login;
use halite_core::host::{Choice, Command, Finished, User, words_of_cut};
use halite_core::{Ctx, Fault};
use halite_lang::target::fnmatch::fnmatch;
use halite_lang::words;
use halite_node::fileserver::client::saltenv;
use halite_node::templates;
use halite_value::record;
use halite_value::record::{Info, Keywords};
use halite_value::{Map, Value};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

record! {
    /// How a command is run.
    pub struct Options {
        /// The command: a line for the shell, or a list of the program and its arguments.
        cmd: Value,
        /// The directory to run in, absolute. Without it the home of the user, else `/`.
        cwd: Option<String> = (),
        /// Text for its standard input; `\n` in it is a line end.
        stdin: Option<String> = (),
        /// The user to run as, with its login environment and all its groups.
        runas: Option<String> = (),
        /// The group to run as.
        group: Option<String> = (),
        /// The shell that reads the line. Without it that of the minion's environment, else `/bin/sh`.
        shell: Option<String> = (),
        /// Whether a shell reads the line, so that pipes and variables work. Without it: yes for what the master or
        /// the command line asks for, no for calls by templates and other functions, unless `cmd_safe` is False.
        python_shell: Option<bool> = (),
        /// Variables to set.
        env: Option<Map> = (),
        /// Begin with an empty environment.
        clean_env: bool = false,
        /// An engine that resolves markup in the line and the directory: jinja.
        template: Option<String> = (),
        /// Cut blanks from the end of the output.
        rstrip: bool = true,
        /// The file mode creation mask, octal.
        umask: Option<String> = (),
        /// How the output is encoded: utf-8 or latin-1.
        output_encoding: Option<String> = (),
        /// The level at which the output is logged; `quiet`: neither command nor output is.
        output_loglevel: String = "debug",
        /// Taken, not used: Python alone can give one.
        log_callback: Value = (),
        /// Leave the output out of the return.
        hide_output: bool = false,
        /// Seconds after which it is killed with all that it has started.
        timeout: Option<f64> = (),
        /// Run with the locale C, so that programs speak English.
        reset_system_locale: bool = true,
        /// Do not count an exit code as a failure.
        ignore_retcode: bool = false,
        /// The environment of files, for the template and for scripts.
        saltenv: Option<String> = (),
        /// Taken, not used: there is no pseudo terminal.
        use_vt: bool = false,
        /// Leave it running and do not wait.
        bg: bool = false,
        /// Taken, not used: for Windows.
        password: Value = (),
        /// Taken, not used: for PowerShell.
        encoded_cmd: bool = false,
        /// Fail, with the output as the text, when the command fails.
        raise_err: bool = false,
        /// Directories to put before the PATH.
        prepend_path: Option<String> = (),
        /// Exit codes that count as success.
        success_retcodes: Vec<i64> = Value::List(Vec::new()),
        /// Texts that mean success when they stand in the standard output.
        success_stdout: Vec<String> = Value::List(Vec::new()),
        /// Texts that mean success when they stand in the standard error.
        success_stderr: Vec<String> = Value::List(Vec::new()),
        /// Whether standard error goes where standard output goes.
        redirect_stderr: Option<bool> = (),
        kwargs: Keywords,
    }
}

/// The arguments of every function that takes these options.
pub const FIELDS: &Info = <Options as halite_value::record::Record>::INFO;

/// Where the standard error of a command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// Between the standard output, as it comes.
    Mixed,
    Apart,
}

/// What a command gave, as text.
#[derive(Clone, Debug, Default)]
pub struct Output {
    pub pid: u32,
    /// 0 for what the options call a success.
    pub retcode: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// What `cmd.run_all` returns.
    pub fn shown(self) -> Map {
        let mut map = Map::new();
        map.insert("pid", self.pid);
        map.insert("retcode", self.retcode);
        map.insert("stdout", self.stdout);
        map.insert("stderr", self.stderr);
        map
    }
}

impl Options {
    /// Runs the command.
    pub fn execute(&self, ctx: &Ctx, errors: Errors) -> Result<Output, Fault> {
        if self.template.as_deref().is_some_and(|engine| !engine.is_empty()) {
            return self.rendered(ctx)?.execute(ctx, errors);
        }
        if self.is_published() {
            self.check_permitted(ctx)?;
        }
        let command = self.command(ctx, errors)?;
        let program = self.program();
        if !self.is_quiet() {
            log::info!(
                "Executing command '{program}' in directory '{}'",
                command.cwd.as_deref().unwrap_or("/".as_ref()).display()
            );
        }
        let finished = ctx.host.run(&command).map_err(|error| cannot_run(&command, &error))?;
        let output = self.output(finished)?;
        self.log(&program, &output);
        Ok(output)
    }

    /// The exit code of the job: the command's, unless it does not matter.
    pub fn retcode(&self, output: &Output) -> i32 {
        if self.ignore_retcode || self.bg { 0 } else { output.retcode }
    }

    /// Where errors go when the function leaves it to the caller.
    pub fn errors_or(&self, default: Errors) -> Errors {
        match self.redirect_stderr {
            Some(true) => Errors::Mixed,
            Some(false) => Errors::Apart,
            None => default,
        }
    }

    /// Whether the master or the command line asked for this, and no other function.
    fn is_published(&self) -> bool {
        self.kwargs.0.at("__pub_jid").is_some_and(Value::truthy)
    }

    fn is_quiet(&self) -> bool {
        self.output_loglevel == "quiet"
    }

    /// What may be shown of the line: its first word.
    fn program(&self) -> String {
        let first = match &self.cmd {
            Value::List(words) => words.first().map(Value::to_text).unwrap_or_default(),
            other => other.to_text(),
        };
        first.split_whitespace().next().unwrap_or_default().to_owned()
    }

    /// The lists `cmd_blacklist_glob` and `cmd_whitelist_glob` of the configuration.
    fn check_permitted(&self, ctx: &Ctx) -> Result<(), Fault> {
        let line = match &self.cmd {
            Value::List(words) => words.iter().map(Value::to_text).collect::<Vec<String>>().join(" "),
            other => other.to_text(),
        };
        let listed = |option: &str| {
            let patterns = ctx.opt(option).and_then(Value::as_list).unwrap_or_default();
            let matches = patterns.iter().filter_map(Value::as_str).any(|pattern| fnmatch(&line, pattern));
            (!patterns.is_empty()).then_some(matches)
        };
        let permitted = listed("cmd_blacklist_glob") != Some(true) && listed("cmd_whitelist_glob") != Some(false);
        match permitted {
            true => Ok(()),
            false => Err(Fault::execution(format!("The shell command \"{line}\" is not permitted"))),
        }
    }

    /// With the markup in its line and directory resolved.
    fn rendered(&self, ctx: &Ctx) -> Result<Options, Fault> {
        let engine = self.template.as_deref().unwrap_or_default();
        if !templates::ENGINES.contains(&engine) {
            let message = format!("Attempted to render file paths with unavailable engine {engine}");
            return Err(Fault::execution(message));
        }
        let saltenv = saltenv(ctx, self.saltenv.as_deref());
        let render = |text: &str| {
            templates::render(ctx, "the command line", text, &saltenv, Map::new())
                .map_err(|fault| Fault::execution(format!("Failed to execute cmd with error: {fault}")))
        };
        let cmd = match &self.cmd {
            Value::List(words) => Value::List(
                words.iter().map(|word| render(&word.to_text()).map(Value::from)).collect::<Result<_, _>>()?,
            ),
            line => render(&line.to_text())?.into(),
        };
        let cwd = self.cwd.as_deref().map(render).transpose()?;
        Ok(Options { cmd, cwd, template: None, ..self.clone() })
    }

    fn command(&self, ctx: &Ctx, errors: Errors) -> Result<Command, Fault> {
        let user = self.user(ctx)?;
        let group = self.group_number(ctx)?;
        Ok(Command {
            argv: self.argv(ctx)?,
            cwd: Some(self.directory(ctx, user.as_ref())?),
            env: self.environment(ctx, user.as_ref()),
            clean_env: choice(self.clean_env),
            stdin: self.stdin.as_ref().map(|text| self.input(text)),
            fed_by: None,
            runas: user,
            group,
            umask: self.mask()?,
            timeout: self.limit()?,
            merge_stderr: choice(errors == Errors::Mixed),
            background: choice(self.bg),
        })
    }

    fn argv(&self, ctx: &Ctx) -> Result<Vec<String>, Fault> {
        let shell = self.shell(ctx)?;
        let has_shell = match self.python_shell {
            Some(has_shell) => has_shell,
            None => self.is_published() || ctx.opt("cmd_safe") == Some(&Value::Bool(false)),
        };
        let argv = match &self.cmd {
            Value::List(words) => words.iter().map(Value::to_text).collect(),
            line if has_shell => return Ok(vec![shell, "-c".to_owned(), line.to_text()]),
            line => words::split(&line.to_text())
                .map_err(|reason| Fault::invocation(format!("the command cannot be split into words: {reason}")))?,
        };
        match argv.is_empty() {
            true => Err(Fault::invocation("the command is empty")),
            false => Ok(argv),
        }
    }

    fn shell(&self, ctx: &Ctx) -> Result<String, Fault> {
        let inherited = || ctx.host.env("SHELL").filter(|shell| ctx.host.which(shell).is_some());
        let shell = self.shell.clone().or_else(inherited).unwrap_or_else(|| "/bin/sh".to_owned());
        match shell.contains('/') && ctx.host.which(&shell).is_some() {
            true => Ok(shell),
            false => Err(Fault::execution(format!("The shell {shell} is not available"))),
        }
    }

    fn user(&self, ctx: &Ctx) -> Result<Option<User>, Fault> {
        let Some(name) = &self.runas else {
            return Ok(None);
        };
        match ctx.host.user(name) {
            Ok(Some(user)) => Ok(Some(user)),
            Ok(None) => Err(Fault::execution(format!("User '{name}' is not available"))),
            Err(error) => Err(Fault::execution(format!("the accounts of this host cannot be read: {error}"))),
        }
    }

    fn group_number(&self, ctx: &Ctx) -> Result<Option<u32>, Fault> {
        let Some(name) = &self.group else {
            return Ok(None);
        };
        match ctx.host.group(name) {
            Ok(Some(gid)) => Ok(Some(gid)),
            Ok(None) => Err(Fault::execution(format!("Group '{name}' is not available"))),
            Err(error) => Err(Fault::execution(format!("the groups of this host cannot be read: {error}"))),
        }
    }

    fn directory(&self, ctx: &Ctx, user: Option<&User>) -> Result<PathBuf, Fault> {
        let is_directory = |path: &PathBuf| ctx.host.list(path).is_ok();
        let home = match user {
            Some(user) => Some(user.home.clone()),
            None => ctx.host.env("HOME").map(PathBuf::from),
        };
        let Some(cwd) = self.cwd.as_deref().filter(|cwd| !cwd.is_empty()) else {
            return Ok(home.filter(|home| home.is_absolute() && is_directory(home)).unwrap_or_else(|| "/".into()));
        };
        let cwd = PathBuf::from(cwd);
        match cwd.is_absolute() && is_directory(&cwd) {
            true => Ok(cwd),
            false => Err(Fault::execution(format!(
                "Specified cwd '{}' either not absolute or does not exist",
                cwd.display()
            ))),
        }
    }

    fn environment(&self, ctx: &Ctx, user: Option<&User>) -> BTreeMap<String, Option<String>> {
        let mut env: BTreeMap<String, Option<String>> = BTreeMap::new();
        if let Some(user) = user {
            env.extend(login::environment(ctx.host, user).into_iter().map(|(name, value)| (name, Some(value))));
        }
        if self.reset_system_locale {
            for name in LOCALE {
                env.insert(name.to_owned(), Some("C".to_owned()));
            }
        }
        // A command must not speak to systemd in the minion's name.
        env.insert("NOTIFY_SOCKET".to_owned(), None);
        let asked = self.env.iter().flat_map(Map::iter);
        env.extend(asked.map(|(name, value)| {
            let value = if value.is_null() { String::new() } else { value.to_text() };
            (name.to_text(), Some(value))
        }));
        if let Some(first) = &self.prepend_path {
            let rest = env.get("PATH").cloned().flatten().or_else(|| ctx.host.env("PATH")).unwrap_or_default();
            env.insert("PATH".to_owned(), Some(format!("{first}:{rest}")));
        }
        env
    }

    fn input(&self, text: &str) -> Vec<u8> {
        let is_raw = self.kwargs.0.at("stdin_raw_newlines").is_some_and(Value::truthy);
        if is_raw { text.as_bytes().to_vec() } else { text.replace("\\n", "\n").into_bytes() }
    }

    fn mask(&self) -> Result<Option<u32>, Fault> {
        let Some(text) = &self.umask else {
            return Ok(None);
        };
        match u32::from_str_radix(text, 8) {
            Ok(0) => Err(Fault::execution("Zero umask is not allowed.")),
            Ok(mask) if mask <= 0o777 => Ok(Some(mask)),
            _ => Err(Fault::execution(format!("Invalid umask: '{text}'"))),
        }
    }

    fn limit(&self) -> Result<Option<Duration>, Fault> {
        let Some(seconds) = self.timeout.filter(|seconds| *seconds != 0.0) else {
            return Ok(None);
        };
        Duration::try_from_secs_f64(seconds)
            .map(Some)
            .map_err(|_| Fault::invocation(format!("a timeout of {seconds} seconds makes no sense")))
    }

    fn output(&self, finished: Finished) -> Result<Output, Fault> {
        if finished.timed_out == Choice::Yes {
            let line = self.cmd.to_text();
            let seconds = self.timeout.unwrap_or_default();
            let seconds = if seconds.fract() == 0.0 { format!("{seconds:.0}") } else { seconds.to_string() };
            let stdout = format!("{line} : Timed out after {seconds} seconds");
            return Ok(Output { pid: finished.pid, retcode: 1, stdout, stderr: String::new() });
        }
        let mut stdout = self.decode(&finished.stdout)?;
        let mut stderr = self.decode(&finished.stderr)?;
        let code = i64::from(finished.code);
        let is_success = self.success_retcodes.contains(&code)
            || self.success_stdout.iter().any(|text| stdout.contains(text.as_str()))
            || self.success_stderr.iter().any(|text| stderr.contains(text.as_str()));
        stdout.extend(words_of_cut(finished.stdout_cut));
        stderr.extend(words_of_cut(finished.stderr_cut));
        Ok(Output { pid: finished.pid, retcode: if is_success { 0 } else { finished.code }, stdout, stderr })
    }

    fn decode(&self, bytes: &[u8]) -> Result<String, Fault> {
        let encoding = self.output_encoding.as_deref().unwrap_or("utf-8").to_lowercase().replace('_', "-");
        let text = match encoding.as_str() {
            "utf-8" | "utf8" | "ascii" | "us-ascii" => String::from_utf8_lossy(bytes).into_owned(),
            "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" => bytes.iter().map(|byte| char::from(*byte)).collect(),
            other => {
                return Err(Fault::invocation(format!("the output_encoding '{other}' is not one of utf-8, latin-1")));
            }
        };
        Ok(if self.rstrip { text.trim_end().to_owned() } else { text })
    }

    fn log(&self, program: &str, output: &Output) {
        if self.is_quiet() {
            return;
        }
        let failed = self.retcode(output) != 0;
        let asked = self.output_loglevel.parse().unwrap_or(log::Level::Info);
        let level = if failed { log::Level::Error } else { asked };
        if failed {
            log::error!("Command '{program}' failed with return code: {}", output.retcode);
        }
        for (name, text) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            if !text.is_empty() && !self.hide_output {
                log::log!(level, "{name}: {text}");
            }
        }
        if output.retcode != 0 {
            log::log!(level, "retcode: {}", output.retcode);
        }
    }
}

const LOCALE: [&str; 13] = [
    "LANGUAGE",
    "LC_ADDRESS",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
];

fn choice(truth: bool) -> Choice {
    if truth { Choice::Yes } else { Choice::No }
}

/// Names the program alone: arguments and environment may hold secrets.
fn cannot_run(command: &Command, error: &io::Error) -> Fault {
    let program = command.argv.first().map_or("", String::as_str);
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "there is no such program".to_owned(),
        io::ErrorKind::PermissionDenied if command.runas.is_some() => {
            "the minion may not become this user, or it may not execute the program".to_owned()
        }
        _ => error.to_string(),
    };
    Fault::execution(format!("Unable to run command '{program}': {reason}"))
}
