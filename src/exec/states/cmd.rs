//! `cmd.*`: commands as states. They run each time, unless something else keeps them from it.

mod stateful;

use super::wait::Wait;
use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, change, failed, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{ArgumentError, Arguments, Bound, Info, Keywords, Record};
use halite_value::{Map, Value};
use stateful::Stateful;

pub const MODULE: Module = Module {
    name: "cmd",
    doc: "Run commands and scripts: each time, or when something else has changed.",
    functions: FUNCTIONS,
};

const FUNCTIONS: &[Function] = &[
    state::<Call>("call"),
    state::<ModWatch>("mod_watch"),
    state::<Run>("run"),
    state::<Script>("script"),
    state::<Wait>("wait"),
    state::<Call>("wait_call"),
    state::<Wait>("wait_script"),
    state::<Wait>("watch"),
];

record! {
    /// Runs a command. All options of the function `cmd.run_all` can be given.
    ///
    ///   date > /tmp/salt-run:
    ///     cmd.run:
    ///       - creates: /tmp/salt-run
    pub struct Run {
        /// The command, a line for the shell.
        name: String,
        /// The directory to run in.
        cwd: Option<String> = (),
        /// The directory that is the root of all for the command.
        root: Option<String> = (),
        /// The user to run as.
        runas: Option<String> = (),
        /// The file mode creation mask, octal.
        umask: Option<String> = (),
        /// The shell.
        shell: Option<String> = (),
        /// Variables to set: a map, or a list of maps.
        env: Value = (),
        /// The command says itself whether it has changed something: in the last line of its output, or as JSON. A list with
        /// `test_name: COMMAND`: that one says in test mode what would be changed.
        stateful: Value = false,
        /// Seconds after which it is killed.
        timeout: Value = (),
        /// A command that was killed after its time is no failure.
        ignore_timeout: bool = false,
        /// Taken, not used: for Windows.
        password: Value = (),
        /// Hide what the command prints from logs and from what is shown of it.
        hide_output: bool = false,
        /// The level at which output is logged.
        output_loglevel: Value = "debug",
        /// Taken, not used: there is no terminal.
        use_vt: bool = false,
        /// A directory in front of those where programs are looked for.
        prepend_path: Value = (),
        /// Exit codes besides 0 that are a success.
        success_retcodes: Value = (),
        /// Texts on standard output that make it a success.
        success_stdout: Value = (),
        /// Texts on standard error that make it a success.
        success_stderr: Value = (),
        kwargs: Keywords,
    }
}

impl State for Run {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        if !matches!(self.env, Value::Null | Value::List(_) | Value::Map(_)) {
            return Ok(failed("Invalidly-formatted 'env' parameter. See documentation."));
        }
        let stateful = Stateful::of(&self.stateful);
        let shell = shell(context, &self.shell);
        if let (Some(ctx), Some(name)) = (context.rehearsal, Stateful::rehearsal(&self.stateful)) {
            let outcome = Run { name, ..self }.execute(ctx, shell, stateful)?;
            return Ok(Plan::Stands(stateful::rehearsed(outcome)));
        }
        let comment = format!("Command \"{}\" would have been executed", self.name);
        let would = Map::from_iter([("cmd", self.name.as_str())]);
        let would = match stateful {
            Stateful::No => Outcome::new(None, comment).with_changes(would),
            Stateful::Yes => Outcome::default(),
        };
        Ok(Plan::Changes { would, apply: Box::new(move |ctx| self.execute(ctx, shell, stateful)) })
    }
}

/// The shell that the SLS names, else the one of the grains.
fn shell(context: &PlanContext, given: &Option<String>) -> Value {
    given.clone().map(Value::from).or_else(|| context.ctx.grains.at("shell").cloned()).unwrap_or_default()
}

impl Run {
    fn execute(self, ctx: &Ctx, shell: Value, stateful: Stateful) -> Result<Outcome, Fault> {
        if let Some(outcome) = missing_directory(ctx, self.cwd.as_deref()) {
            return Ok(outcome);
        }
        let mut keywords = self.kwargs.0;
        let fun = if self.root.is_some() { "cmd.run_chroot" } else { "cmd.run_all" };
        for (name, value) in [
            ("cwd", Value::from(self.cwd)),
            ("root", self.root.into()),
            ("runas", self.runas.into()),
            ("umask", self.umask.into()),
            ("shell", shell),
            ("env", self.env),
            ("timeout", self.timeout),
            ("password", self.password),
            ("hide_output", self.hide_output.into()),
            ("output_loglevel", self.output_loglevel),
            ("use_vt", self.use_vt.into()),
            ("prepend_path", self.prepend_path),
            ("success_retcodes", self.success_retcodes),
            ("success_stdout", self.success_stdout),
            ("success_stderr", self.success_stderr),
        ] {
            if !value.is_null() {
                keywords.insert(name, value);
            }
        }
        keywords.insert("cmd", self.name.as_str());
        keywords.insert("python_shell", true);
        let answer = match ctx.run(fun, Arguments::keywords(keywords)) {
            Ok(answer) => answer,
            Err(fault) => return Ok(Outcome::new(Some(false), fault.to_string())),
        };
        let mut changes = answer.as_map().cloned().unwrap_or_default();
        let mut succeeded = changes.at("retcode").is_none_or(|code| !code.truthy());
        let timed_out = changes.str_at("stdout").is_some_and(|text| text.contains("Timed out after"));
        if self.ignore_timeout && timed_out && changes.at("retcode") == Some(&Value::Int(1)) {
            changes.insert("retcode", 0);
            succeeded = true;
        }
        let outcome = Outcome::new(Some(succeeded), format!("Command \"{}\" run", self.name)).with_changes(changes);
        Ok(stateful.read(outcome))
    }
}

fn missing_directory(ctx: &Ctx, cwd: Option<&str>) -> Option<Outcome> {
    let cwd = cwd.filter(|cwd| !cwd.is_empty())?;
    match ctx.host.list(std::path::Path::new(cwd)) {
        Ok(_) => None,
        Err(_) => Some(Outcome::new(Some(false), format!("Desired working directory \"{cwd}\" is not available"))),
    }
}

record! {
    /// Runs a script of the file server, or from elsewhere. All options of the function `cmd.script` can be given.
    ///
    ///   salt://scripts/foo.sh:
    ///     cmd.script:
    ///       - args: one two
    pub struct Script {
        /// The script's address, perhaps with arguments behind it.
        name: String,
        /// The script's address, where the name is another one.
        source: Option<String> = (),
        /// A template engine for the script.
        template: Option<String> = (),
        /// The directory to run in.
        cwd: Option<String> = (),
        /// The user to run as.
        runas: Option<String> = (),
        /// The shell.
        shell: Option<String> = (),
        /// Variables to set: a map, or a list of maps.
        env: Value = (),
        /// The script says itself whether it has changed something. A list with `test_name: SCRIPT`: that one says in test
        /// mode what would be changed.
        stateful: Value = false,
        /// Seconds after which it is killed.
        timeout: Value = (),
        /// Variables of the template.
        context: Value = (),
        /// Variables of the template that are not in `context`.
        defaults: Value = (),
        /// Taken, not used: for Windows.
        password: Value = (),
        /// Hide what the command prints from logs and from what is shown of it.
        hide_output: bool = false,
        /// The level at which output is logged.
        output_loglevel: Value = "debug",
        /// Taken, not used: there is no terminal.
        use_vt: bool = false,
        /// Exit codes besides 0 that are a success.
        success_retcodes: Value = (),
        /// Texts on standard output that make it a success.
        success_stdout: Value = (),
        /// Texts on standard error that make it a success.
        success_stderr: Value = (),
        kwargs: Keywords,
    }
}

impl State for Script {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        if !matches!(self.env, Value::Null | Value::List(_) | Value::Map(_)) {
            return Ok(failed("Invalidly-formatted 'env' parameter. See documentation."));
        }
        for (name, value) in [("context", &self.context), ("defaults", &self.defaults)] {
            if value.truthy() && !matches!(value, Value::Map(_) | Value::List(_)) {
                return Ok(failed(format!("Invalidly-formatted '{name}' parameter. Must be formed as a dict.")));
            }
        }
        let stateful = Stateful::of(&self.stateful);
        let (shell, saltenv) = (shell(context, &self.shell), context.saltenv.to_owned());
        if let (Some(ctx), Some(name)) = (context.rehearsal, Stateful::rehearsal(&self.stateful)) {
            let outcome = Script { name, ..self }.execute(ctx, shell, saltenv, stateful)?;
            return Ok(Plan::Stands(stateful::rehearsed(outcome)));
        }
        let comment = match stateful {
            Stateful::No => format!("Command '{}' would have been executed", self.name),
            Stateful::Yes => String::new(),
        };
        Ok(change(Map::new(), comment, move |ctx| self.execute(ctx, shell, saltenv, stateful)))
    }
}

impl Script {
    fn execute(self, ctx: &Ctx, shell: Value, saltenv: String, stateful: Stateful) -> Result<Outcome, Fault> {
        if let Some(outcome) = missing_directory(ctx, self.cwd.as_deref()) {
            return Ok(outcome);
        }
        let mut context = self.defaults.as_map().cloned().unwrap_or_default();
        context.extend(self.context.as_map().cloned().unwrap_or_default());
        let mut keywords = self.kwargs.0;
        if !keywords.at("args").is_some_and(Value::truthy)
            && let Some((_, arguments)) = self.name.split_once(' ')
        {
            keywords.insert("args", arguments);
        }
        for (name, value) in [
            ("template", Value::from(self.template)),
            ("cwd", self.cwd.into()),
            ("runas", self.runas.into()),
            ("shell", shell),
            ("env", self.env),
            ("timeout", self.timeout),
            ("context", if context.is_empty() { Value::Null } else { context.into() }),
            ("saltenv", saltenv.as_str().into()),
            ("password", self.password),
            ("hide_output", self.hide_output.into()),
            ("output_loglevel", self.output_loglevel),
            ("use_vt", self.use_vt.into()),
            ("success_retcodes", self.success_retcodes),
            ("success_stdout", self.success_stdout),
            ("success_stderr", self.success_stderr),
        ] {
            if !value.is_null() {
                keywords.insert(name, value);
            }
        }
        let source = self.source.as_deref().unwrap_or(&self.name);
        let arguments = Arguments { positional: vec![source.into()], keywords };
        let answer = match ctx.run("cmd.script", arguments) {
            Ok(answer) => answer,
            Err(fault) => return Ok(Outcome::new(Some(false), fault.to_string())),
        };
        let changes = answer.as_map().cloned().unwrap_or_default();
        let succeeded = changes.at("retcode").is_none_or(|code| !code.truthy());
        let comment = match changes.at("cache_error").is_some_and(Value::truthy) {
            true => format!("Unable to cache script {source} from saltenv '{saltenv}'"),
            false => format!("Command '{}' run", self.name),
        };
        Ok(stateful.read(Outcome::new(Some(succeeded), comment).with_changes(changes)))
    }
}

record! {
    /// For SLS written in Python, which give a function to call: in other SLS there is none, and this fails.
    ///
    ///   a function of Python:
    ///     cmd.call: []
    pub struct Call {
        /// Any text.
        name: String,
        kwargs: Keywords,
    }
}

impl State for Call {
    fn plan(self, _: &PlanContext) -> Result<Plan, Fault> {
        Ok(failed("cmd.call and cmd.wait_call take a Python function, which an SLS file cannot name: use cmd.run"))
    }
}

/// What runs when something that is watched has changed.
pub struct ModWatch {
    name: String,
    sfun: String,
    keywords: Map,
}

record! {
    /// Runs the command of a state when what it watches has changed.
    ///
    ///   newaliases:
    ///     cmd.run:
    ///       - watch:
    ///         - file: /etc/aliases
    pub struct Watched {
        /// The command or script.
        name: String,
        /// The function of the state.
        sfun: String = "",
        kwargs: Keywords,
    }
}

impl Record for ModWatch {
    const INFO: &'static Info = Watched::INFO;

    fn take(from: &mut Bound) -> Result<Self, ArgumentError> {
        let Watched { name, sfun, kwargs } = Watched::take(from)?;
        Ok(ModWatch { name, sfun, keywords: kwargs.0 })
    }
}

impl State for ModWatch {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ModWatch { name, sfun, keywords } = self;
        let arguments = Arguments::keywords(keywords).with("name", name);
        let fun = format!("cmd.{sfun}");
        match sfun.as_str() {
            "wait" | "run" | "watch" => {
                Run::bind(arguments).map_err(|error| Fault::arguments::<Run>(fun, error))?.planned(context)
            }
            "wait_script" | "script" => {
                Script::bind(arguments).map_err(|error| Fault::arguments::<Script>(fun, error))?.planned(context)
            }
            other => Ok(failed(format!(
                "cmd.{other} does not work with the watch requisite, please use cmd.wait or cmd.wait_script"
            ))),
        }
    }
}
