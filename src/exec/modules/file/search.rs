//! Whether something is in a file.

use super::replace::{compiled, flags};
use super::text_of;
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::regex::Regex;
use halite_lang::target::fnmatch::fnmatch;
use halite_lang::words;
use halite_value::Value;
use halite_value::record;
use halite_value::record::Rest;
use std::path::Path;

/// A file's text for a search: what cannot be read has nothing in it.
fn text(ctx: &Ctx, path: &str) -> String {
    let path = paths::expand_user(ctx.host, path);
    ctx.host.read(Path::new(&path)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

record! {
    /// Shows whether a text stands in a file.
    ///
    ///   salt '*' file.contains /etc/crontab 'mymaintenance.sh'
    pub struct Contains {
        /// The path.
        path: String,
        /// The text; blanks around it do not count.
        text: Value,
    }
}

impl Run for Contains {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let wanted = self.text.to_text();
        let there = ctx.host.read(Path::new(&path)).is_ok_and(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            !text.is_empty() && text.contains(wanted.trim())
        });
        Ok(there.into())
    }
}

record! {
    /// Shows whether a pattern is found in a line of a file.
    ///
    ///   salt '*' file.contains_regex /etc/crontab '^[0-9]'
    pub struct ContainsRegex {
        /// The path.
        path: String,
        /// The pattern.
        regex: String,
        /// Characters that are taken away from the beginning of each line first.
        lchar: String = "",
    }
}

impl Run for ContainsRegex {
    fn run(self, ctx: &Ctx) -> Reply {
        let regex = Regex::new(&self.regex).map_err(|error| Fault::invocation(error.to_string()))?;
        for line in text(ctx, &self.path).split_inclusive('\n') {
            let line = line.trim_start_matches(|c| self.lchar.contains(c));
            if regex.search(line).map_err(|error| Fault::invocation(error.to_string()))?.is_some() {
                return Ok(true.into());
            }
        }
        Ok(false.into())
    }
}

record! {
    /// Shows whether a shell pattern matches the whole of a file.
    ///
    ///   salt '*' file.contains_glob /etc/foobar '*cheese*'
    pub struct ContainsGlob {
        /// The path.
        path: String,
        /// The pattern.
        glob_expr: String,
    }
}

impl Run for ContainsGlob {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = text(ctx, &self.path);
        Ok((!text.is_empty() && fnmatch(&text, &self.glob_expr)).into())
    }
}

record! {
    /// Shows whether a pattern is found in a file.
    ///
    ///   salt '*' file.search /etc/crontab 'mymaintenance.sh'
    pub struct Search {
        /// The path.
        path: String,
        /// The pattern.
        pattern: String,
        /// Flags of Python's `re`: their number, a name, or a list of names.
        flags: Value = 8,
        /// Taken, not used: the file is read whole.
        bufsize: Value = 1,
        /// Answer False where there is no file.
        ignore_if_missing: bool = false,
        /// Let `^` and `$` be at each line.
        multiline: bool = false,
    }
}

impl Run for Search {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut flags = flags(&self.flags)?;
        flags.multi_line |= self.multiline;
        let path = paths::real(ctx.host, &paths::expand_user(ctx.host, &self.path));
        if !paths::exists(ctx.host, &path) {
            return match self.ignore_if_missing {
                true => Ok(false.into()),
                false => Err(Fault::invocation(format!("File not found: {path}"))),
            };
        }
        let text = text_of(ctx.host, &path)?;
        let found = compiled(&self.pattern, flags)?.search(&text);
        Ok(found.map_err(|error| Fault::invocation(error.to_string()))?.is_some().into())
    }
}

record! {
    /// Runs grep(1) on a file, or on those that a path with a pattern means. Returns what `cmd.run_all` does.
    ///
    ///   salt '*' file.grep /etc/passwd nobody
    ///   salt '*' file.grep /etc/sysconfig/network-scripts/ifcfg-eth0 ipaddr -- -i
    pub struct Grep {
        /// The path; a pattern such as `/etc/*.conf` may mean several.
        path: String,
        /// The pattern.
        pattern: String,
        /// Options of grep, each a word of its own.
        opts: Rest,
    }
}

impl Run for Grep {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        let found = paths::glob(ctx.host, &path);
        let mut argv = vec!["grep".to_owned()];
        for option in self.opts.0.iter().map(Value::to_text) {
            let split = words::split(&option).map_err(Fault::invocation)?;
            if split.len() > 1 {
                return Err(Fault::invocation(format!(
                    "Passing multiple command line arguments in a single string is not supported, please pass the \
                     following arguments separately: {option}"
                )));
            }
            argv.extend(split);
        }
        argv.push(self.pattern);
        argv.extend(if found.is_empty() { vec![path] } else { found });
        Ok(Program::new(argv).query(ctx)?.shown().into())
    }
}
