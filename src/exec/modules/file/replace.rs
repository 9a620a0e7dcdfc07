//! `file.replace`: patterns in a file, and what takes their place.

use super::{back_up, rewrite, text_of};
use halite_core::host::Host;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::diff::unified;
use halite_lang::regex::{Flags, Regex, Template, escaped};
use halite_value::Value;
use halite_value::record;
use std::path::Path;

record! {
    /// Replaces what a pattern finds in a file. Returns the difference.
    ///
    ///   salt '*' file.replace /etc/httpd/httpd.conf pattern='LogLevel warn' repl='LogLevel info'
    ///   salt '*' file.replace /some/file pattern='before' repl='after' flags='[MULTILINE, IGNORECASE]'
    pub struct Replace {
        /// The path. A link's target is changed.
        path: String,
        /// The pattern.
        pattern: String,
        /// What takes its place; `\1` and `\g<name>` are groups of the pattern.
        repl: Value,
        /// How often at most; 0: everywhere.
        count: i64 = 0,
        /// Flags of Python's `re`: their number, a name, or a list of names.
        flags: Value = 8,
        /// Taken, not used: the file is read whole.
        bufsize: Value = 1,
        /// Put the replacement at the end where the pattern is not found.
        append_if_not_found: bool = false,
        /// Put it at the beginning.
        prepend_if_not_found: bool = false,
        /// What is put there in place of the replacement.
        not_found_content: Value = (),
        /// What the name of a copy of the old file ends with; False: none.
        backup: Value = ".bak",
        /// Change nothing.
        dry_run: bool = false,
        /// Say whether the pattern is found, and change nothing.
        search_only: bool = false,
        /// Whether the difference is returned, else whether there is one.
        show_changes: bool = true,
        /// Answer False where there is no file.
        ignore_if_missing: bool = false,
        /// Taken, not used: the file is replaced in one step, with owner and mode.
        preserve_inode: bool = true,
        /// A backslash in the replacement means itself.
        backslash_literal: bool = false,
        /// How the file is encoded: utf-8 alone in this version.
        encoding: Option<String> = (),
    }
}

impl Run for Replace {
    fn run(self, ctx: &Ctx) -> Reply {
        let host = ctx.host;
        let given = paths::expand_user(host, &self.path);
        let path = paths::real(host, &given);
        if !paths::exists(host, &path) {
            return match self.ignore_if_missing {
                true => Ok(false.into()),
                false => Err(Fault::invocation(format!("File not found: {path}"))),
            };
        }
        check_encoding(self.encoding.as_deref())?;
        if self.search_only && (self.append_if_not_found || self.prepend_if_not_found) {
            return Err(Fault::invocation("search_only cannot be used with append/prepend_if_not_found"));
        }
        if self.append_if_not_found && self.prepend_if_not_found {
            return Err(Fault::invocation("Only one of append and prepend_if_not_found is permitted"));
        }
        let old = text_of(host, &path)?;
        let flags = flags(&self.flags)?;
        let regex = compiled(&self.pattern, flags)?;
        let wrong = |error: halite_lang::regex::RegexError| Fault::invocation(error.to_string());
        if self.search_only {
            return Ok(regex.search(&old).map_err(wrong)?.is_some().into());
        }
        let repl = self.repl.to_text();
        let template = match self.backslash_literal {
            true => Template::literal(&repl, &regex),
            false => Template::parse(&repl, &regex).map_err(|error| Fault::invocation(error.to_string()))?,
        };
        let most = usize::try_from(self.count).ok().filter(|count| *count > 0).unwrap_or(usize::MAX);
        let replaced = template.replace(&old, most).map_err(wrong)?;
        let mut new = replaced.text;
        if replaced.count == 0 && (self.append_if_not_found || self.prepend_if_not_found) {
            let content = match &self.not_found_content {
                content if content.truthy() => content.to_text(),
                _ => repl.clone(),
            };
            let there = compiled(&format!("^{}($|(?=\r\n))", escaped(&content)), flags)?;
            if there.search(&old).map_err(wrong)?.is_none() {
                new = match self.prepend_if_not_found {
                    true => format!("{content}\n{new}"),
                    false if new.is_empty() || new.ends_with('\n') => format!("{new}{content}\n"),
                    false => format!("{new}\n{content}\n"),
                };
            }
        }
        let has_changes = old != new;
        if has_changes && !self.dry_run {
            if let Some(suffix) = suffix(&self.backup) {
                back_up(host, &path, &format!("{path}{suffix}"))?;
                link_backup(host, &given, &suffix)?;
            }
            rewrite(host, &path, &new)?;
        }
        match self.show_changes {
            true => Ok(unified(&old, &new).into()),
            false => Ok(has_changes.into()),
        }
    }
}

/// What the name of a backup ends with; nothing: none is wanted.
pub(super) fn suffix(backup: &Value) -> Option<String> {
    backup.truthy().then(|| backup.to_text())
}

/// Beside a link stands a link to the backup of its target.
fn link_backup(host: &dyn Host, given: &str, suffix: &str) -> Result<(), Fault> {
    let Some(target) = host.stat(Path::new(given)).ok().and_then(|stat| stat.target) else { return Ok(()) };
    let (target, link) = (format!("{}{suffix}", target.display()), format!("{given}{suffix}"));
    host.link(Path::new(&target), Path::new(&link)).map_err(|error| {
        Fault::execution(format!(
            "Unable create backup symlink '{link}'. Target was '{target}'. Exception: {}",
            halite_file::reason(&error)
        ))
    })
}

pub(super) fn check_encoding(encoding: Option<&str>) -> Result<(), Fault> {
    match encoding.map(|encoding| encoding.to_lowercase().replace('_', "-")).as_deref() {
        None | Some("" | "utf-8" | "utf8" | "ascii" | "us-ascii") => Ok(()),
        Some(other) => Err(Fault::invocation(format!("this version edits files in utf-8 alone, not in {other}"))),
    }
}

pub(super) fn compiled(pattern: &str, flags: Flags) -> Result<Regex, Fault> {
    Regex::with_flags(pattern, flags).map_err(|error| Fault::invocation(error.to_string()))
}

/// The flags of Python's `re` that a caller names: by number, by name, or as a list of names.
pub(super) fn flags(given: &Value) -> Result<Flags, Fault> {
    let names = match given {
        Value::Int(number) => return Ok(Flags::of_number(*number)),
        Value::Str(name) => vec![Value::from(name.as_str())],
        Value::List(names) => names.clone(),
        other => {
            return Err(Fault::execution(format!(
                "Invalid re flags: \"{}\", must be given either as a single flag string, a list of strings, as an integer, \
                 or as an re flag",
                other.to_text()
            )));
        }
    };
    names.iter().try_fold(Flags::default(), |flags, name| {
        flags
            .with(&name.to_text().to_uppercase())
            .ok_or_else(|| Fault::execution(format!("Invalid re flag given: {}", name.to_text())))
    })
}
