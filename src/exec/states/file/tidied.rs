//! `file.tidied`.

use super::{absolute, is_directory, own_name, single};
use halite_core::host::{FileKind, Stat};
use halite_core::paths::remove_all;
use halite_core::state::{Outcome, Plan, PlanContext, State, already, change, failed};
use halite_core::{Ctx, Fault, paths};
use halite_lang::regex::Regex;
use halite_value::Value;
use halite_value::record;
use halite_value::record::Keywords;
use std::path::Path;
use std::time::SystemTime;

record! {
    /// Removes what is old or large from a directory and those below it.
    ///
    ///   cleanup:
    ///     file.tidied:
    ///       - name: /tmp/salt_test
    ///       - rmdirs: True
    ///       - matches:
    ///         - foo
    ///         - b.*r
    pub struct Tidied {
        /// The directory.
        name: String,
        /// The age in days from which a file goes.
        age: i64 = 0,
        /// Patterns for the names; all, if not given.
        matches: Option<Vec<String>> = (),
        /// Whether directories go too.
        rmdirs: bool = false,
        /// The size from which a file goes: bytes, or a number with a unit such as 10m.
        size: Value = 0,
        /// Patterns for names that stay.
        exclude: Option<Vec<String>> = (),
        /// Patterns are compared with the whole path.
        full_path_match: bool = false,
        /// Whether directories that links point to are looked at.
        followlinks: bool = false,
        /// Which time counts: atime, mtime, ctime.
        time_comparison: String = "atime",
        /// Whether age and size both count: AND, or one of them: OR.
        age_size_logical_operator: String = "OR",
        /// Only this counts: age or size.
        age_size_only: Option<String> = (),
        /// Whether links go too.
        rmlinks: bool = true,
        kwargs: Keywords,
    }
}

impl State for Tidied {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = own_name(ctx, &self.name);
        let path = match absolute(&name, "tidied") {
            Ok(path) => path,
            Err(_) => return Ok(failed(format!("Specified file {name} is not an absolute path"))),
        };
        if !is_directory(ctx, &path) {
            return Ok(failed(format!("{name} does not exist or is not a directory.")));
        }
        let rules = Rules::of(&self)?;
        let mut found = Vec::new();
        rules.collect(ctx, &name, 0, &mut found)?;
        if found.is_empty() {
            return Ok(already(format!("Nothing to remove from directory {name}")));
        }
        let changes = single("removed", Value::list(found.iter().map(String::as_str)));
        Ok(change(changes.clone(), format!("{name} is set for tidy"), move |ctx| {
            for path in found.iter().filter(|path| ctx.host.stat(Path::new(path)).is_ok()) {
                if let Err(error) = remove_all(ctx.host, Path::new(path)) {
                    return Ok(Outcome::failed(super::fault(path, &error).to_string()));
                }
            }
            let comment = format!("Removed {} files or directories from directory {name}", found.len());
            Ok(Outcome::done(comment).with_changes(changes))
        }))
    }
}

struct Rules<'a> {
    state: &'a Tidied,
    matches: Vec<Regex>,
    exclude: Vec<Regex>,
    size: u64,
}

impl Rules<'_> {
    fn of(state: &Tidied) -> Result<Rules<'_>, Fault> {
        let compiled = |patterns: &[String]| -> Result<Vec<Regex>, Fault> {
            let wrong = |error| Fault::invocation(format!("file.tidied: {error}"));
            patterns.iter().map(|pattern| Regex::new(pattern).map_err(wrong)).collect()
        };
        let all = [".*".to_owned()];
        Ok(Rules {
            state,
            matches: compiled(state.matches.as_deref().unwrap_or(&all))?,
            exclude: compiled(state.exclude.as_deref().unwrap_or(&[]))?,
            size: bytes(&state.size)?,
        })
    }

    /// What is to go, what is deepest first.
    fn collect(&self, ctx: &Ctx, directory: &str, level: u32, found: &mut Vec<String>) -> Result<(), Fault> {
        // Links to directories above could be followed for ever.
        if level > 40 {
            return Ok(());
        }
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        for name in ctx.host.list(Path::new(directory)).unwrap_or_default() {
            let path = paths::join(&[directory.to_owned(), name.clone()]);
            match paths::is_directory(ctx.host, &path) {
                true => directories.push((name, path)),
                false => files.push((name, path)),
            }
        }
        for (_, path) in &directories {
            if self.state.followlinks || !paths::is_link(ctx.host, path) {
                self.collect(ctx, path, level + 1, found)?;
            }
        }
        for (name, path) in files.into_iter().chain(directories) {
            let Ok(stat) = ctx.host.stat(Path::new(&path)) else { continue };
            if self.goes(ctx, &name, &path, &stat)? {
                found.push(path);
            }
        }
        Ok(())
    }

    fn goes(&self, ctx: &Ctx, name: &str, path: &str, stat: &Stat) -> Result<bool, Fault> {
        let state = self.state;
        let (allowed, size) = match stat.kind {
            FileKind::Link => (state.rmlinks, 0),
            FileKind::Directory => (state.rmdirs, 0),
            _ => (true, stat.size),
        };
        let time = match state.time_comparison.to_lowercase().as_str() {
            "ctime" => stat.changed,
            "mtime" => stat.modified,
            _ => stat.accessed,
        };
        let is_old = days(ctx.host.now()).abs_diff(days(time)) as i64 >= state.age;
        let is_large = size >= self.size;
        let fits = match state.age_size_only.as_deref().map(str::to_lowercase).as_deref() {
            Some("age") => is_old,
            Some("size") => is_large,
            _ if state.age_size_logical_operator.eq_ignore_ascii_case("and") => is_old && is_large,
            _ => is_old || is_large,
        };
        let compared = if state.full_path_match { path } else { name };
        Ok(allowed && fits && any(&self.matches, compared)? && !any(&self.exclude, compared)?)
    }
}

fn any(patterns: &[Regex], name: &str) -> Result<bool, Fault> {
    for pattern in patterns {
        if pattern.match_start(name).map_err(|error| Fault::invocation(error.to_string()))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The day of a moment here, as a number.
fn days(time: SystemTime) -> i64 {
    let stamp = jiff::Timestamp::try_from(time).unwrap_or_default();
    let date = jiff::tz::TimeZone::system().to_datetime(stamp).date();
    let since = date.since(jiff::civil::date(1970, 1, 1)).unwrap_or_default();
    i64::from(since.get_days())
}

/// A size in bytes, as people write it.
fn bytes(given: &Value) -> Result<u64, Fault> {
    let wrong = || Fault::invocation(format!("file.tidied: the size '{}' is no number of bytes", given.to_text()));
    let Value::Str(text) = given else {
        return given.as_float().map(|size| size.max(0.0) as u64).ok_or_else(wrong);
    };
    let text = text.trim();
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..at].parse().map_err(|_| wrong())?;
    let unit = text[at..].trim().to_lowercase();
    // With a B alone, as in MB, units are thousands; in MiB, or M alone, they are not.
    let base: f64 = if unit.len() == 2 && unit.ends_with('b') { 1000.0 } else { 1024.0 };
    let power = match unit.chars().next() {
        None | Some('b') => 0,
        Some(letter) => "kmgtpezy".find(letter).ok_or_else(wrong)? + 1,
    };
    Ok((number * base.powi(power as i32)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let size = |text: &str| bytes(&text.into()).unwrap();
        assert_eq!(
            (size("10"), size("2k"), size("1.5M"), size("1MB"), size("1MiB")),
            (10, 2048, 1572864, 1000000, 1048576)
        );
        assert!(bytes(&"ten".into()).is_err() && bytes(&"1q".into()).is_err());
    }
}
