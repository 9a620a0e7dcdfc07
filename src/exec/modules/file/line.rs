//! `file.line`: one line of a file.

use super::{back_up, refused, rewrite};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_file::is_test;
use halite_lang::diff::unified;
use halite_lang::regex::{Flags, Regex};
use halite_value::Value;
use halite_value::record;
use std::path::Path;

record! {
    /// Puts a line into a file, replaces one or removes one. Returns the difference.
    ///
    ///   salt '*' file.line /etc/nsswitch.conf 'networks files' after='hosts:.*?' mode=ensure
    ///   salt '*' file.line /etc/fstab match=/dev/sdz mode=delete
    pub struct Line {
        /// The path. A link's target is changed.
        path: String,
        /// The line.
        content: Option<String> = (),
        /// A pattern for the line that is replaced or removed. Without it and without `before` and `after`: the line itself.
        r#match: Option<String> = (),
        /// `ensure`: it stands before or after another; `insert`, `replace`, `delete`.
        mode: Option<String> = (),
        /// Where `insert` puts it: `start` or `end`.
        location: Option<String> = (),
        /// A pattern for the line that it stands before.
        before: Option<String> = (),
        /// A pattern for the line that it stands after.
        after: Option<String> = (),
        /// Whether the difference is returned, else whether there is one.
        show_changes: bool = true,
        /// Keep a copy of the old file, with the time in its name.
        backup: bool = false,
        /// Answer False where there is no file.
        quiet: bool = false,
        /// Give the line the indentation of its neighbour.
        indent: bool = true,
    }
}

impl Run for Line {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::real(ctx.host, &paths::expand_user(ctx.host, &self.path));
        if !paths::is_file(ctx.host, &path) {
            return match self.quiet {
                true => Ok(false.into()),
                false => Err(Fault::execution(format!("File \"{path}\" does not exists or is not a file."))),
            };
        }
        let mode = self.mode.as_deref().map(str::to_lowercase);
        let mode = match mode.as_deref() {
            None => return Err(Fault::execution("Mode was not defined. How to process the file?")),
            Some("insert") => Mode::Insert,
            Some("ensure") => Mode::Ensure,
            Some("delete") => Mode::Delete,
            Some("replace") => Mode::Replace,
            Some(other) => return Err(Fault::execution(format!("Unknown mode: \"{other}\""))),
        };
        if mode != Mode::Delete && self.content.is_none() {
            return Err(Fault::execution("Content can only be empty if mode is \"delete\""));
        }
        let bytes = ctx.host.read(Path::new(&path)).map_err(|error| refused(&path, &error))?;
        let old = String::from_utf8(bytes).map_err(|_| Fault::execution(format!("{path} is not text in UTF-8")))?;
        let mut lines: Vec<String> = old.split_inclusive('\n').map(str::to_owned).collect();
        if lines.last().is_some_and(|line| !end_of(line).is_empty()) {
            lines.push(String::new());
        }
        let lines = joined(self.edit(lines, mode)?);
        let new = lines.concat();
        let has_changes = old != new;
        if has_changes && !is_test(ctx) {
            if self.backup {
                let now =
                    jiff::Timestamp::try_from(ctx.host.now()).map(|now| jiff::tz::TimeZone::system().to_datetime(now));
                let stamp = now.map(|now| now.strftime("%Y-%m-%d-%H-%M-%S").to_string());
                let stamp = stamp.map_err(|error| Fault::execution(format!("the time of the backup: {error}")))?;
                back_up(ctx.host, &path, &format!("{path}.{stamp}"))?;
            }
            rewrite(ctx.host, &path, &new)?;
        }
        match self.show_changes && has_changes {
            true => Ok(unified(&old, &new).into()),
            false => Ok(Value::from(has_changes).into()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Insert,
    Ensure,
    Delete,
    Replace,
}

impl Line {
    fn edit(&self, mut lines: Vec<String>, mode: Mode) -> Result<Vec<String>, Fault> {
        let content = self.content.clone().unwrap_or_default();
        let given = |pattern: &Option<String>| pattern.clone().filter(|pattern| !pattern.is_empty());
        let matched = given(&self.r#match)
            .or_else(|| (self.before.is_none() && self.after.is_none()).then(|| self.content.clone()).flatten());
        let found = |pattern: Option<String>| pattern.map(|pattern| fitting(&lines, &pattern)).transpose();
        let has_lines = !lines.iter().all(String::is_empty);
        let (after, before) = match has_lines {
            true => (found(given(&self.after))?, found(given(&self.before))?),
            false => (None, None),
        };
        let matched = if has_lines { found(matched)? } else { None };
        match mode {
            Mode::Delete | Mode::Replace if !has_lines => return Ok(Vec::new()),
            Mode::Delete => {
                let gone = matched.and_then(|found| found.first().map(|at| lines[*at].clone()));
                if let Some(gone) = gone {
                    lines.retain(|line| *line != gone);
                }
            }
            Mode::Replace => {
                if let Some(at) = matched.and_then(|found| found.first().copied()) {
                    lines[at] = self.indented(&lines[at], &content);
                }
            }
            Mode::Insert => self.insert(&mut lines, &content, before, after)?,
            Mode::Ensure => self.ensure(&mut lines, &content, before, after)?,
        }
        Ok(lines)
    }

    fn insert(
        &self,
        lines: &mut Vec<String>,
        content: &str,
        before: Option<Vec<usize>>,
        after: Option<Vec<usize>>,
    ) -> Result<(), Fault> {
        if self.before.is_none() && self.after.is_none() && self.location.is_none() {
            return Err(Fault::execution("On insert either \"location\" or \"before/after\" conditions are required."));
        }
        let same = |line: &str| without_end(line) == without_end(content);
        match self.location.as_deref().filter(|location| !location.is_empty()) {
            Some("end") => match lines.last() {
                Some(last) => lines.push(self.indented(last, content)),
                None => lines.push(content.to_owned()),
            },
            Some("start") => match lines.first() {
                Some(first) => lines.insert(0, with_end_of(first, content)),
                None => lines.push(format!("{content}\n")),
            },
            Some(_) => {}
            None => match (before, after) {
                (Some(before), Some(after)) if !before.is_empty() && !after.is_empty() => {
                    let at = only(&before, "before")?;
                    only(&after, "after")?;
                    lines.insert(at, self.indented(&lines[at], content));
                }
                (_, Some(after)) if !after.is_empty() => {
                    let at = only(&after, "after")?;
                    if !lines.get(at + 1).is_some_and(|next| same(next)) {
                        lines.insert(at + 1, self.indented(&lines[at], content));
                    }
                }
                (Some(before), _) if !before.is_empty() => {
                    let at = only(&before, "before")?;
                    let previous = if at == 0 { lines.last() } else { lines.get(at - 1) };
                    if !previous.is_some_and(|line| same(line)) {
                        lines.insert(at, self.indented(&lines[at], content));
                    }
                }
                _ => return Err(Fault::execution("Neither before or after was found in file")),
            },
        }
        Ok(())
    }

    fn ensure(
        &self,
        lines: &mut Vec<String>,
        content: &str,
        before: Option<Vec<usize>>,
        after: Option<Vec<usize>>,
    ) -> Result<(), Fault> {
        let same = |line: &str| without_end(line) == without_end(content);
        match (before.filter(|found| !found.is_empty()), after.filter(|found| !found.is_empty())) {
            (Some(before), Some(after)) => {
                let (after, before) = (only(&after, "after")?, only(&before, "before")?);
                if lines.iter().any(|line| line.trim_start() == content) {
                    return Ok(());
                }
                if after + 1 == before {
                    lines.insert(before, self.indented(&lines[after], content));
                } else if after + 2 == before {
                    lines[after + 1] = self.indented(&lines[after], content);
                } else {
                    return Err(Fault::execution(
                        "Found more than one line between boundaries \"before\" and \"after\".",
                    ));
                }
            }
            (Some(before), None) => {
                let at = only(&before, "before")?;
                if at == 0 || !same(&lines[at - 1]) {
                    let neighbour = if at == 0 { lines.last() } else { lines.get(at - 1) };
                    let line = self.indented(neighbour.map_or("", String::as_str), content);
                    lines.insert(at, line);
                }
            }
            (None, Some(after)) => {
                let at = only(&after, "after")?;
                if !lines.get(at + 1).is_some_and(|next| same(next)) {
                    lines.insert(at + 1, self.indented(&lines[at], content));
                }
            }
            (None, None) => {
                return Err(Fault::execution(
                    "Wrong conditions? Unable to ensure line without knowing where to put it before and/or after.",
                ));
            }
        }
        Ok(())
    }

    /// The line with the blanks that another begins with.
    fn indented(&self, neighbour: &str, line: &str) -> String {
        if !self.indent {
            return line.to_owned();
        }
        let blanks: String = neighbour.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        format!("{blanks}{}", line.trim_start())
    }
}

fn without_end(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}

/// The lines that a pattern finds, or that it stands in as it is.
fn fitting(lines: &[String], pattern: &str) -> Result<Vec<usize>, Fault> {
    let wrong = |error: halite_lang::regex::RegexError| Fault::execution(format!("{error}: '{pattern}'"));
    let regex = Regex::with_flags(pattern, Flags { dot_all: true, ..Flags::default() }).map_err(wrong)?;
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if regex.search(line).map_err(wrong)?.is_some() || line.contains(pattern) {
            // A line that stands twice is found where it stands first.
            found.push(lines.iter().position(|other| other == line).unwrap_or(at));
        }
    }
    Ok(found)
}

fn only(found: &[usize], what: &str) -> Result<usize, Fault> {
    match found {
        [at] => Ok(*at),
        _ => Err(Fault::execution(format!("Found more than expected occurrences in \"{what}\" expression"))),
    }
}

/// The line end that a line has.
fn end_of(line: &str) -> &'static str {
    match line {
        line if line.ends_with("\r\n") => "\r\n",
        line if line.ends_with('\n') => "\n",
        line if line.ends_with('\r') => "\r",
        _ => "",
    }
}

fn with_end_of(neighbour: &str, line: &str) -> String {
    let end = match end_of(neighbour) {
        "" => "\n",
        end => end,
    };
    format!("{}{end}", line.trim_end())
}

/// Gives each line but the last one an end, and takes the empty last one away.
fn joined(mut lines: Vec<String>) -> Vec<String> {
    for at in 0..lines.len().saturating_sub(1) {
        if end_of(&lines[at]).is_empty() {
            let neighbour = if at > 1 { at - 1 } else { 1 };
            lines[at] = with_end_of(&lines[neighbour.min(lines.len() - 1)], &lines[at]);
        }
    }
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}
