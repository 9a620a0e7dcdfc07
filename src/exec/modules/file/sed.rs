//! `file.sed` and its kin, which Salt keeps for old callers.

use super::{back_up, rewrite, text_of};
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::regex::{Flags, Regex, Template};
use halite_lang::words;
use halite_value::Value;
use halite_value::record;

record! {
    /// Edits a file with sed(1). Returns what `cmd.run_all` does. `file.replace` is better.
    ///
    ///   salt '*' file.sed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'
    pub struct Sed {
        /// The path.
        path: String,
        /// The pattern.
        before: Value,
        /// What takes its place.
        after: Value,
        /// A pattern for the lines that are looked at.
        limit: String = "",
        /// What the name of a copy of the old file ends with; empty: none.
        backup: Value = ".bak",
        /// Options for sed.
        options: String = "-r -e",
        /// Flags behind the expression, such as `g` and `i`.
        flags: String = "g",
        /// Let signs that have a meaning in patterns stand for themselves.
        escape_all: bool = false,
        /// Look at the other lines.
        negate_match: bool = false,
    }
}

impl Run for Sed {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        if !paths::exists(ctx.host, &path) {
            return Ok(false.into());
        }
        let escape = |text: &str| escaped(text, self.escape_all);
        let limit = if self.limit.is_empty() { String::new() } else { format!("/{}/ ", escape(&self.limit)) };
        let negated = if self.negate_match { "!" } else { "" };
        let (before, after) = (escape(&self.before.to_text()), escape(&self.after.to_text()));
        let in_place = if self.backup.truthy() { format!("-i{}", self.backup.to_text()) } else { "-i".to_owned() };
        let options = words::split(&self.options).map_err(Fault::invocation)?;
        let expression = format!("{limit}{negated}s/{before}/{after}/{}", self.flags);
        let program = Program::new(["sed".to_owned(), in_place]).args(options).arg(expression).arg(path);
        Ok(program.run(ctx)?.shown().into())
    }
}

/// A text between the slashes of an expression.
fn escaped(text: &str, all: bool) -> String {
    let text = text.replace('\'', "'\"'\"'").replace('/', "\\/");
    match all {
        true => text.chars().flat_map(|c| "^.[$()|*+?{".contains(c).then_some('\\').into_iter().chain([c])).collect(),
        false => text,
    }
}

record! {
    /// Shows whether sed(1) finds a pattern in a file. `file.search` is better.
    ///
    ///   salt '*' file.sed_contains /etc/crontab 'mymaintenance.sh'
    pub struct SedContains {
        /// The path.
        path: String,
        /// The pattern.
        text: Value,
        /// A pattern for the lines that are looked at.
        limit: Value = "",
        /// Flags behind the expression.
        flags: String = "g",
    }
}

impl Run for SedContains {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        if !paths::exists(ctx.host, &path) {
            return Ok(false.into());
        }
        let limit = match self.limit.to_text() {
            limit if limit.is_empty() => limit,
            limit => format!("/{}/ ", escaped(&limit, false)),
        };
        let expression = format!("{limit}s/{}/$/p{}", escaped(&self.text.to_text(), false), self.flags);
        let answer = Program::new(["sed", "-n", "-r", "-e"]).arg(expression).arg(path).mixed().query(ctx)?;
        Ok((!answer.stdout.is_empty()).into())
    }
}

record! {
    /// Edits a file with a pattern of Python's. `file.replace` is better.
    ///
    ///   salt '*' file.psed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'
    pub struct Psed {
        /// The path.
        path: String,
        /// The pattern.
        before: Value,
        /// What takes its place.
        after: Value,
        /// A pattern: what stands before its first place is lost.
        limit: String = "",
        /// What the name of a copy of the old file ends with.
        backup: String = ".bak",
        /// `g`: everywhere, not only at the first place; `I`, `L`, `M`, `S`, `U`, `X` as in Python.
        flags: String = "gMS",
        /// Let signs that have a meaning in patterns stand for themselves.
        escape_all: bool = false,
        /// Taken, not used: the file is edited as a whole.
        multi: bool = false,
    }
}

impl Run for Psed {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::real(ctx.host, &paths::expand_user(ctx.host, &self.path));
        let old = text_of(ctx.host, &path)?;
        let wrong = |error: halite_lang::regex::RegexError| Fault::invocation(error.to_string());
        let mut flags = Flags::default();
        for flag in self.flags.chars().filter(|flag| *flag != 'g') {
            flags = flags
                .with(&flag.to_string())
                .ok_or_else(|| Fault::invocation(format!("Invalid re flag given: {flag}")))?;
        }
        let text = match self.limit.is_empty() {
            true => old.clone(),
            false => {
                let limit = Regex::new(&escaped(&self.limit, self.escape_all)).map_err(wrong)?;
                let behind = match limit.search(&old).map_err(wrong)? {
                    Some(found) => old[found.range().end..].to_owned(),
                    None => String::new(),
                };
                Template::literal("", &limit).replace(&behind, usize::MAX).map_err(wrong)?.text
            }
        };
        let regex = Regex::with_flags(&escaped(&self.before.to_text(), self.escape_all), flags).map_err(wrong)?;
        let template = Template::parse(&self.after.to_text(), &regex);
        let template = template.map_err(|error| Fault::invocation(error.to_string()))?;
        let most = if self.flags.contains('g') { usize::MAX } else { 1 };
        let new = template.replace(&text, most).map_err(wrong)?.text;
        back_up(ctx.host, &path, &format!("{path}{}", self.backup))?;
        rewrite(ctx.host, &path, &new)?;
        Ok(Value::Null.into())
    }
}
