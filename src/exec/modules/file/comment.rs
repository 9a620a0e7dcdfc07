//! `file.comment`, `file.uncomment`: a sign before the lines that a pattern finds.

use super::replace::suffix;
use super::{back_up, rewrite, text_of};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::diff::unified;
use halite_lang::regex::Regex;
use halite_value::Value;
use halite_value::record;

record! {
    /// Puts a sign before the lines of a file that begin with a pattern. Returns the difference, False where there are
    /// none.
    ///
    ///   salt '*' file.comment /etc/modules pcspkr
    pub struct Comment {
        /// The path. A link's target is changed.
        path: String,
        /// The pattern; `^` and `$` around it are not needed.
        regex: String,
        /// The sign.
        char: String = "#",
        /// What the name of a copy of the old file ends with; False: none.
        backup: Value = ".bak",
    }
}

impl Run for Comment {
    fn run(self, ctx: &Ctx) -> Reply {
        CommentLine { path: self.path, regex: self.regex, char: self.char, cmnt: true, backup: self.backup }.run(ctx)
    }
}

record! {
    /// Takes the sign away from the lines of a file that begin with it and a pattern. Returns the difference, False where
    /// there are none.
    ///
    ///   salt '*' file.uncomment /etc/modules '^nfs$'
    pub struct Uncomment {
        /// The path. A link's target is changed.
        path: String,
        /// The pattern, without the sign.
        regex: String,
        /// The sign.
        char: String = "#",
        /// What the name of a copy of the old file ends with; False: none.
        backup: Value = ".bak",
    }
}

impl Run for Uncomment {
    fn run(self, ctx: &Ctx) -> Reply {
        CommentLine { path: self.path, regex: self.regex, char: self.char, cmnt: false, backup: self.backup }.run(ctx)
    }
}

record! {
    /// Puts a sign before lines of a file, or takes it away: `file.comment` and `file.uncomment` in one.
    ///
    ///   salt '*' file.comment_line /etc/modules pcspkr cmnt=False
    pub struct CommentLine {
        /// The path. A link's target is changed.
        path: String,
        /// The pattern, without the sign.
        regex: String,
        /// The sign.
        char: String = "#",
        /// Whether the sign is put there, else it is taken away.
        cmnt: bool = true,
        /// What the name of a copy of the old file ends with; False: none.
        backup: Value = ".bak",
    }
}

impl Run for CommentLine {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::real(ctx.host, &paths::expand_user(ctx.host, &self.path));
        if !paths::is_file(ctx.host, &path) {
            return Err(Fault::invocation(format!("File not found: {path}")));
        }
        let old = text_of(ctx.host, &path)?;
        let regex = self.pattern()?;
        // Salt shows the lines that are changed, and those alone.
        let (mut whole, mut before, mut after) = (String::new(), String::new(), String::new());
        for line in old.split_inclusive('\n') {
            if !regex.is_match(line).map_err(|error| Fault::invocation(error.to_string()))? {
                whole.push_str(line);
                continue;
            }
            let changed = match self.cmnt {
                true => format!("{}{line}", self.char),
                false => line.trim_start_matches(|c| self.char.contains(c)).to_owned(),
            };
            before.push_str(line);
            after.push_str(&changed);
            whole.push_str(&changed);
        }
        if before.is_empty() {
            return Ok(false.into());
        }
        if let Some(suffix) = suffix(&self.backup) {
            back_up(ctx.host, &path, &format!("{path}{suffix}"))?;
        }
        rewrite(ctx.host, &path, &whole)?;
        Ok(unified(&before, &after).into())
    }
}

impl CommentLine {
    fn pattern(&self) -> Result<Regex, Fault> {
        let core = self.regex.trim_start_matches('^').trim_end_matches('$');
        let end = if self.regex.ends_with('$') { "$" } else { "" };
        let pattern = match self.cmnt {
            true => format!("{}({core}){end}", if self.regex.starts_with('^') { "^" } else { "" }),
            false => format!(r"^{}\s*({core}){end}", self.char),
        };
        Regex::new(&pattern).map_err(|error| Fault::invocation(error.to_string()))
    }
}
