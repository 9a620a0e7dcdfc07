//! `onlyif`, `unless`, `creates` and `check_cmd`: commands and files that decide about a state.

use super::caller::Caller;
use halite_core::Ctx;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::path::Path;

/// What conditions say of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// It is not run, and that is fine.
    pub is_done: bool,
    pub comments: Vec<String>,
    /// It does not react to others either.
    pub skip_watch: bool,
}

/// Arguments of a state that hold for its conditions too.
const SHARED: [&str; 8] = ["cwd", "root", "runas", "env", "prepend_path", "umask", "timeout", "success_retcodes"];

/// The exit code that stands for a command that could not be run.
const CANNOT_RUN: i64 = 100;

impl Caller<'_> {
    /// What the conditions of a chunk say; nothing where it has none.
    pub(super) fn conditions(&self, low: &Map) -> Option<Verdict> {
        let (onlyif, unless, creates) = (low.at("onlyif"), low.at("unless"), low.at("creates"));
        if onlyif.is_none() && unless.is_none() && creates.is_none() {
            return None;
        }
        let options = self.command_options(low);
        let mut all = Verdict::default();
        let parts = [
            onlyif.map(|wanted| onlyif_says(&self.ctx, wanted, &options)),
            unless.map(|wanted| unless_says(&self.ctx, wanted, &options)),
            creates.map(|wanted| self.creates_says(wanted)),
        ];
        for part in parts.into_iter().flatten() {
            all.is_done |= part.is_done;
            all.skip_watch |= part.skip_watch;
            all.comments.extend(part.comments);
        }
        Some(all)
    }

    fn command_options(&self, low: &Map) -> Map {
        let excluded = match low.at("cmd_opts_exclude") {
            Some(Value::List(names)) => names.clone(),
            Some(name) => vec![name.clone()],
            None => Vec::new(),
        };
        let mut options = Map::new();
        for name in SHARED.into_iter().chain(["shell"]).filter(|name| !excluded.contains(&Value::from(*name))) {
            if let Some(value) = low.at(name).filter(|value| !value.is_null()) {
                options.insert(name, value.clone());
            }
        }
        if let Some(shell) = self.ctx.grains.at("shell") {
            options.entry_or("shell", || shell.clone());
        }
        options
    }

    fn creates_says(&self, wanted: &Value) -> Verdict {
        let is_there = |path: &Value| exists(&self.ctx, &path.to_text());
        let done = |comment: String| Verdict { is_done: true, comments: vec![comment], skip_watch: true };
        match wanted {
            Value::Str(path) if is_there(wanted) => done(format!("{path} exists")),
            Value::List(paths) if paths.iter().all(is_there) => done("All files in creates exist".to_owned()),
            _ => Verdict { comments: vec!["Creates files not found".to_owned()], ..Verdict::default() },
        }
    }

    /// Whether the option `global_state_conditions` lets a state run: one of the targets of those that name it must be
    /// this minion.
    pub(super) fn is_allowed(&self, module: &str, full: &str) -> bool {
        let all = self.ctx.opt("global_state_conditions").and_then(Value::as_map);
        let named = all
            .into_iter()
            .flatten()
            .filter(|(name, _)| name.as_str().is_some_and(|name| ["*", module, full].contains(&name)));
        let targets = named.flat_map(|(_, targets)| match targets {
            Value::List(targets) => targets.as_slice(),
            Value::Str(_) => std::slice::from_ref(targets),
            _ => &[],
        });
        let mut targets = targets.peekable();
        let is_me = |target: &Value| match self.ctx.run("match.compound", Arguments::positional([target.clone()])) {
            Ok(answer) => answer.truthy(),
            Err(fault) => {
                log::error!("global_state_conditions: {}: {fault}", target.to_text());
                false
            }
        };
        targets.peek().is_none() || targets.any(is_me)
    }

    /// What `check_cmd` says of a state that has run: whether it has succeeded, and why.
    pub(super) fn check_cmd(&self, wanted: &Value) -> (bool, &'static str) {
        let single = [wanted.clone()];
        let commands = wanted.as_list().unwrap_or(&single);
        let mut options = Map::new();
        if let Some(shell) = self.ctx.grains.at("shell") {
            options.insert("shell", shell.clone());
        }
        match commands.iter().all(|command| retcode(&self.ctx, command, &options) == Some(0)) {
            true => (true, "check_cmd determined the state succeeded"),
            false => (false, "check_cmd determined the state failed"),
        }
    }
}

/// Follows links, as `os.path.exists` does.
fn exists(ctx: &Ctx, path: &str) -> bool {
    let mut path = Path::new(path).to_path_buf();
    for _ in 0..40 {
        match ctx.host.stat(&path).map(|stat| stat.target) {
            Ok(Some(target)) => path = path.parent().map(|directory| directory.join(&target)).unwrap_or(target),
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
    false
}

fn items(wanted: &Value) -> Vec<Value> {
    wanted.as_list().map_or_else(|| vec![wanted.clone()], <[Value]>::to_vec)
}

/// The state runs when each command succeeds.
fn onlyif_says(ctx: &Ctx, wanted: &Value, options: &Map) -> Verdict {
    let no = Verdict { is_done: true, comments: vec!["onlyif condition is false".to_owned()], skip_watch: true };
    let mut yes = Verdict::default();
    for item in items(wanted) {
        let holds = match &item {
            Value::Str(_) => retcode(ctx, &item, options).unwrap_or(CANNOT_RUN) == 0,
            Value::Map(map) => match function(ctx, map, "onlyif") {
                Ok(holds) => holds,
                Err(comment) => return Verdict { comments: vec![comment], ..Verdict::default() },
            },
            _ => {
                let comments = vec!["onlyif execution failed, bad type passed".to_owned()];
                return Verdict { comments, ..Verdict::default() };
            }
        };
        if !holds {
            return no;
        }
        yes.comments = vec!["onlyif condition is true".to_owned()];
    }
    yes
}

/// The state runs when a command fails. One that cannot be run keeps the state from running; not so in test mode, where
/// what it misses, such as its account, may be made by a state before.
fn unless_says(ctx: &Ctx, wanted: &Value, options: &Map) -> Verdict {
    let in_test = ctx.opts.at("test").is_some_and(Value::truthy);
    let cannot_run = if in_test { CANNOT_RUN } else { 0 };
    let mut verdict = Verdict::default();
    for item in items(wanted) {
        let holds = match &item {
            Value::Str(_) => retcode(ctx, &item, options).unwrap_or(cannot_run) == 0,
            Value::Map(map) => match function(ctx, map, "unless") {
                Ok(holds) => holds,
                Err(comment) => return Verdict { comments: vec![comment], ..Verdict::default() },
            },
            _ => {
                verdict.is_done = false;
                verdict.comments = vec!["unless condition is false, bad type passed".to_owned()];
                continue;
            }
        };
        if !holds {
            return Verdict { comments: vec!["unless condition is false".to_owned()], ..Verdict::default() };
        }
        verdict = Verdict { is_done: true, comments: vec!["unless condition is true".to_owned()], skip_watch: true };
    }
    verdict
}

/// The exit code of a command; nothing where it could not be run.
fn retcode(ctx: &Ctx, command: &Value, options: &Map) -> Option<i64> {
    let arguments = Arguments { positional: vec![command.clone()], keywords: options.clone() };
    let arguments = arguments.with("ignore_retcode", true).with("python_shell", true);
    match ctx.run("cmd.retcode", arguments) {
        Ok(code) => code.as_int(),
        Err(fault) => {
            log::debug!("a condition could not be run: {fault}");
            None
        }
    }
}

/// What a function says that is named as a condition (`fun: mod.fun`).
fn function(ctx: &Ctx, condition: &Map, kind: &str) -> Result<bool, String> {
    let mut keywords = condition.clone();
    let Some(fun) = keywords.remove("fun").map(|fun| fun.to_text()) else {
        return Err(format!("no `fun` argument in {kind}: {}", Value::Map(condition.clone()).repr()));
    };
    let positional = keywords.remove("args").and_then(|args| args.as_list().map(<[Value]>::to_vec)).unwrap_or_default();
    let path = keywords.remove("get_return").map(|path| path.to_text());
    let returned = halite_core::module::call(ctx, &fun, Arguments { positional, keywords });
    let returned = returned.map_err(|fault| format!("{kind}: {fun}: {fault}"))?;
    let value = match &path {
        Some(path) => returned.value.traverse(path, ":").cloned().unwrap_or_default(),
        None => returned.value.clone(),
    };
    Ok(returned.retcode == 0 && value.truthy())
}
