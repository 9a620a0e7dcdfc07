//! `cmd.script`, `cmd.exec_code` and their kin: a program that first has to become a file.

use super::options::{Errors, Options, Output};
use halite_core::host::Attributes;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, Returned};
use halite_lang::random;
use halite_node::fileserver::client::{FileClient, Wanted, saltenv};
use halite_node::templates;
use halite_value::record;
use halite_value::record::{Arguments, Keywords, Record};
use halite_value::{Map, Value};
use std::io;
use std::path::{Path, PathBuf};

record! {
    /// Run a script and return its exit code and output.
    ///
    /// The script is copied beside where it runs, readable by its user alone, and removed afterwards.
    ///
    ///   salt '*' cmd.script salt://scripts/setup.sh 'one "two three"'
    ///   salt '*' cmd.script /root/setup.sh template=jinja
    pub struct Script {
        /// Where the script is: salt://, http://, https:// or a path on the minion.
        source: String,
        /// Its arguments: a line that is split into words, or a list.
        args: Value = (),
        /// Options of cmd.run_all. With `template` the script is rendered first, and sees these too.
        kwargs: Keywords,
    }
}

record! {
    /// Run a script and return its exit code.
    ///
    ///   salt '*' cmd.script_retcode /root/check.sh
    pub struct ScriptRetcode {
        /// Where the script is: salt://, http://, https:// or a path on the minion.
        source: String,
        /// Its arguments: a line that is split into words, or a list.
        args: Value = (),
        /// Options of cmd.run_all.
        kwargs: Keywords,
    }
}

record! {
    /// Run code of some language and return what it printed.
    ///
    ///   salt '*' cmd.exec_code perl 'print "cheese"'
    pub struct ExecCode {
        /// The interpreter: python3, perl, ruby, ...
        lang: String,
        /// The program text.
        code: String,
        /// The directory to run in.
        cwd: Option<String> = (),
        /// One argument, or a list of them.
        args: Value = (),
        /// Options of cmd.run_all.
        kwargs: Keywords,
    }
}

record! {
    /// Run code of some language and return its exit code and output.
    ///
    ///   salt '*' cmd.exec_code_all perl 'print "cheese"' args='[a, b]'
    pub struct ExecCodeAll {
        /// The interpreter: python3, perl, ruby, ...
        lang: String,
        /// The program text.
        code: String,
        /// The directory to run in.
        cwd: Option<String> = (),
        /// One argument, or a list of them.
        args: Value = (),
        /// Options of cmd.run_all.
        kwargs: Keywords,
    }
}

impl Run for Script {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(match script(ctx, &self.source, &self.args, self.kwargs.0)? {
            Some((output, retcode)) => Returned::from(output.shown()).with_retcode(retcode),
            None => missing(),
        })
    }
}

impl Run for ScriptRetcode {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(match script(ctx, &self.source, &self.args, self.kwargs.0)? {
            Some((output, retcode)) => Returned::from(output.retcode).with_retcode(retcode),
            None => Returned::from(1).with_retcode(1),
        })
    }
}

impl Run for ExecCode {
    fn run(self, ctx: &Ctx) -> Reply {
        let (output, retcode) = code(ctx, &self.lang, &self.code, self.cwd, &self.args, self.kwargs.0)?;
        Ok(Returned::from(output.stdout).with_retcode(retcode))
    }
}

impl Run for ExecCodeAll {
    fn run(self, ctx: &Ctx) -> Reply {
        let (output, retcode) = code(ctx, &self.lang, &self.code, self.cwd, &self.args, self.kwargs.0)?;
        Ok(Returned::from(output.shown()).with_retcode(retcode))
    }
}

/// Nothing where there is no such script.
fn script(ctx: &Ctx, source: &str, args: &Value, mut keywords: Map) -> Result<Option<(Output, i32)>, Fault> {
    let saltenv = saltenv(ctx, keywords.str_at("saltenv"));
    let Some(path) = FileClient::new(ctx).cache_file(source, &saltenv, &Wanted::default())? else {
        return Ok(None);
    };
    let text = match ctx.host.read(Path::new(&path)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Fault::execution(format!("cannot read {path}: {error}"))),
    };
    let text = match keywords.remove("template").filter(Value::truthy) {
        Some(engine) => rendered(ctx, source, text, &engine.to_text(), &saltenv, &keywords)?.into_bytes(),
        None => text,
    };
    let args = match args {
        Value::Str(line) => halite_lang::words::split(line)
            .map_err(|reason| Fault::invocation(format!("the arguments cannot be split into words: {reason}")))?,
        other => words_of(other),
    };
    // What a template may want to see is no option of a command.
    keywords.retain(|name, _| !matches!(name.as_str(), Some("pillar" | "pillarenv" | "context" | "defaults")));
    run_file(ctx, None, &text, args, keywords).map(Some)
}

fn rendered(
    ctx: &Ctx,
    source: &str,
    text: Vec<u8>,
    engine: &str,
    saltenv: &str,
    keywords: &Map,
) -> Result<String, Fault> {
    if !templates::ENGINES.contains(&engine) {
        return Err(Fault::execution(format!("Attempted to render template with unavailable engine {engine}")));
    }
    let text = String::from_utf8(text).map_err(|_| Fault::execution(format!("{source} is not text in UTF-8")))?;
    let mut more = keywords.clone();
    more.retain(|name, _| name.as_str().is_none_or(|name| !name.starts_with("__pub_")));
    for name in ["defaults", "context"] {
        if let Some(Value::Map(values)) = keywords.at(name) {
            more.extend(values.clone());
        }
    }
    templates::render(ctx, source, &text, saltenv, more)
}

/// What Salt answers where a script cannot be had.
fn missing() -> Returned {
    let answer = Map::from_iter([
        ("pid", Value::from(0)),
        ("retcode", 1.into()),
        ("stdout", "".into()),
        ("stderr", "".into()),
        ("cache_error", true.into()),
    ]);
    Returned::from(answer).with_retcode(1)
}

fn code(
    ctx: &Ctx,
    lang: &str,
    code: &str,
    cwd: Option<String>,
    args: &Value,
    mut keywords: Map,
) -> Result<(Output, i32), Fault> {
    if let Some(cwd) = cwd {
        keywords.insert("cwd", cwd);
    }
    run_file(ctx, Some(lang), code.as_bytes(), words_of(args), keywords)
}

fn words_of(args: &Value) -> Vec<String> {
    match args {
        Value::Null => Vec::new(),
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        other => vec![other.to_text()],
    }
}

/// Writes the text to a file that only its user can read, runs it and removes it, whatever came of it.
fn run_file(
    ctx: &Ctx,
    interpreter: Option<&str>,
    text: &[u8],
    args: Vec<String>,
    mut keywords: Map,
) -> Result<(Output, i32), Fault> {
    let path = free_name(ctx);
    let command = interpreter.map(str::to_owned).into_iter().chain([path.to_string_lossy().into_owned()]).chain(args);
    keywords.insert("cmd", Value::list(command));
    keywords.insert("python_shell", false);
    let options = Options::bind(Arguments::keywords(keywords))
        .map_err(|error| Fault::arguments::<Options>(&ctx.call.fun, error))?;
    let uid = match &options.runas {
        Some(name) => match ctx.host.user(name) {
            Ok(Some(user)) => Some(user.uid),
            _ => return Err(Fault::execution(format!("User '{name}' is not available"))),
        },
        None => None,
    };
    let cannot = |error: std::io::Error| Fault::execution(format!("cannot write {}: {error}", path.display()));
    ctx.host.write(&path, text, Attributes { mode: Some(0o500), uid, gid: None }).map_err(cannot)?;
    let output = options.execute(ctx, Errors::Apart);
    if let Err(error) = ctx.host.remove(&path) {
        log::error!("the script {} stays behind: {error}", path.display());
    }
    let mut output = output?;
    let retcode = options.retcode(&output);
    if options.hide_output {
        (output.stdout, output.stderr) = (String::new(), String::new());
    }
    Ok((output, retcode))
}

/// A name that nobody can guess, in the directory for temporary files.
fn free_name(ctx: &Ctx) -> PathBuf {
    let directory =
        ctx.host.env("TMPDIR").filter(|directory| directory.starts_with('/')).unwrap_or_else(|| "/tmp".to_owned());
    Path::new(&directory).join(format!("halite-{:016x}{:016x}", random::bits(), random::bits()))
}
