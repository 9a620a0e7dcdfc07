//! What a minion that stands beside a master has the master's programs do: `saltutil.cmd`, `cmd_iter`, `runner`.

use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::record::{Arguments, Keywords, Rest};
use halite_value::{Map, Value, parse_json};
use std::path::Path;

record! {
    /// Runs a function on minions of the master that this minion stands beside: what `salt` would show, under `ret`.
    /// `cmd_iter` does the same.
    ///
    ///   salt '*' saltutil.cmd '*' test.ping
    ///   salt '*' saltutil.cmd_iter '*' test.ping
    ///   salt '*' saltutil.cmd 'os:Debian' cmd.run '["uptime"]' tgt_type=grain
    pub struct Cmd {
        /// Which minions.
        tgt: Value,
        /// The function.
        fun: String,
        /// Its arguments.
        arg: Value = Value::List(Vec::new()),
        /// How long they are waited for, in seconds.
        timeout: Option<i64> = (),
        /// How the target is read.
        tgt_type: String = "glob",
        /// Where else the minions send their answers.
        ret: String = "",
        /// Its keyword arguments.
        kwarg: Option<Map> = (),
        /// Refused: this version has no salt-ssh.
        ssh: bool = false,
        /// `batch`, `subset`.
        kwargs: Keywords,
    }
}

/// The option of salt(1) for a kind of target; nothing: a glob.
fn option(tgt_type: &str) -> Result<Option<&'static str>, Fault> {
    Ok(Some(match tgt_type {
        "glob" => return Ok(None),
        "pcre" => "-E",
        "list" => "-L",
        "grain" => "-G",
        "grain_pcre" => "-P",
        "nodegroup" => "-N",
        "compound" => "-C",
        "pillar" => "-I",
        "pillar_pcre" => "-J",
        "ipcidr" => "-S",
        other => return Err(Fault::invocation(format!("there is no kind of target '{other}'"))),
    }))
}

impl Run for Cmd {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.ssh {
            return Err(Fault::invocation("saltutil.cmd: this version has no salt-ssh"));
        }
        let mut program = program(ctx, "salt").arg("--static");
        if let Some(seconds) = self.timeout {
            program = program.args(["-t".to_owned(), seconds.to_string()]);
        }
        for (name, option) in [("batch", "-b"), ("subset", "--subset")] {
            if let Some(value) = self.kwargs.0.at(name).filter(|value| value.truthy()) {
                program = program.args([option.to_owned(), value.to_text()]);
            }
        }
        if !self.ret.is_empty() {
            program = program.args(["--return", &self.ret]);
        }
        if let Some(option) = option(&self.tgt_type)? {
            program = program.arg(option);
        }
        let tgt = match &self.tgt {
            Value::List(ids) => ids.iter().map(Value::to_text).collect::<Vec<_>>().join(","),
            one => one.to_text(),
        };
        let program = program.args(["--", &tgt, &self.fun]).args(words(&self.arg, self.kwarg.as_ref()));
        let Value::Map(answers) = answered(ctx, &program)? else { return Ok(Map::new().into()) };
        let shown = answers.into_iter().map(|(id, value)| (id, Value::from(Map::from_iter([("ret", value)]))));
        Ok(shown.collect::<Map>().into())
    }
}

record! {
    /// Calls a runner of the master that this minion stands beside.
    ///
    ///   salt '*' saltutil.runner manage.up
    ///   salt '*' saltutil.runner jobs.list_jobs kwarg='{search_function: test.ping}'
    pub struct Runner {
        /// The runner.
        name: String,
        /// Its arguments.
        arg: Value = (),
        /// Its keyword arguments.
        kwarg: Option<Map> = (),
        /// Also return the name and whether it succeeded.
        full_return: bool = false,
        /// Taken, not used: a runner has its own.
        saltenv: String = "base",
        /// Taken, not used: a run has a jid of its own.
        jid: Value = (),
        /// More keyword arguments.
        kwargs: Keywords,
    }
}

impl Run for Runner {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut keywords = self.kwarg.unwrap_or_default();
        let own = self.kwargs.0.into_iter().filter(|(name, _)| !name.to_text().starts_with("__"));
        keywords.extend(own.collect::<Map>());
        let program = program(ctx, "salt-run").args(["--", &self.name]).args(words(&self.arg, Some(&keywords)));
        let value = answered(ctx, &program)?;
        match self.full_return {
            false => Ok(value.into()),
            true => {
                let fun = format!("runner.{}", self.name);
                Ok(Map::from_iter([("fun", Value::from(fun)), ("return", value), ("success", true.into())]).into())
            }
        }
    }
}

record! {
    /// Runs a function of this minion with files of an environment.
    ///
    ///   salt '*' saltutil.mmodule base test.ping
    pub struct Mmodule {
        /// The environment.
        saltenv: String,
        /// The function.
        fun: String,
        /// Its arguments.
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for Mmodule {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut opts = ctx.opts.clone();
        opts.insert("saltenv", self.saltenv);
        let keywords = self.kwargs.0.into_iter().filter(|(name, _)| !name.to_text().starts_with("__")).collect();
        let arguments = Arguments { positional: self.args.0, keywords };
        ctx.with(ctx.pillar, &opts).run(&self.fun, arguments).map(Into::into)
    }
}

/// This binary under another of its names, with the configuration that stands beside the minion's.
fn program(ctx: &Ctx, name: &str) -> Program {
    let program = Program::new(["/proc/self/exe", name, "--out", "json", "--log-level", "quiet"]);
    match ctx.opts.str_at("conf_file").and_then(|file| Path::new(file).parent()) {
        Some(directory) => program.args(["-c".to_owned(), directory.to_string_lossy().into_owned()]),
        None => program,
    }
}

fn words(arg: &Value, keywords: Option<&Map>) -> Vec<String> {
    let word = |value: &Value| match value {
        Value::Str(text) => text.to_string(),
        Value::Null => "None".to_owned(),
        other => other.to_json(),
    };
    let positional = match arg {
        Value::Null => Vec::new(),
        Value::List(items) => items.iter().map(word).collect(),
        one => vec![word(one)],
    };
    let named =
        keywords.into_iter().flat_map(Map::iter).map(|(name, value)| format!("{}={}", name.to_text(), word(value)));
    positional.into_iter().chain(named).collect()
}

fn answered(ctx: &Ctx, program: &Program) -> Result<Value, Fault> {
    let answer = program.run(ctx)?;
    match parse_json(&answer.stdout) {
        Ok(value) => Ok(value),
        Err(_) if answer.stdout.is_empty() && answer.is_success() => Ok(Map::new().into()),
        Err(_) => Err(Fault::execution(format!("no answer from the master of this host: {}", answer.complaint()))),
    }
}
