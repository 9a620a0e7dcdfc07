//! `file.find`: what find(1) does, with tests and actions as keyword arguments.

use super::facts::seconds;
use halite_core::host::{FileKind, Stat};
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_file::access::{group_name, user_name};
use halite_lang::digest::HashType;
use halite_lang::regex::{Flags, Regex};
use halite_lang::words;
use halite_value::Value;
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use std::path::Path;

record! {
    /// Lists what is below a path and fits all tests, or does something with it.
    ///
    /// Tests: `name`, `iname` (shell patterns), `regex`, `iregex` (patterns) of the name; `type` (letters of `bcdflps`);
    /// `owner`, `group` (names or numbers); `size` (`[+-]number[bkmgt]`); `mtime` (`[+-]`, then `3w 2d 5h 7m 1s`: older,
    /// with `-` younger); `grep` (a pattern in its text); `mindepth`, `maxdepth`. Actions: `print` (of `group`, `md5`,
    /// `mode`, `mtime`, `name`, `path`, `size`, `type`, `user`), `delete` (of these types), `exec` (a command, with `{}`
    /// for the path). With `test=True` nothing is deleted.
    ///
    ///   salt '*' file.find /var/log type=f name='*.gz' size=+10m
    ///   salt '*' file.find /var mtime=+30d size=+10m print=path,size,mtime
    ///   salt '*' file.find /var/log name='*.[0-9]' mtime=+30d size=+10m delete
    pub struct Find {
        /// The path, or a pattern that means several.
        path: String,
        /// `delete` (files) or `print`.
        args: Rest,
        /// Tests and actions.
        kwargs: Keywords,
    }
}

impl Run for Find {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut keywords = self.kwargs.0;
        keywords.retain(|name, _| !name.as_str().is_some_and(|name| name.starts_with("__pub_")));
        if self.args.0.iter().any(|word| word.as_str() == Some("delete")) {
            keywords.insert("delete", "f");
        } else if self.args.0.iter().any(|word| word.as_str() == Some("print")) {
            keywords.insert("print", "path");
        }
        let finder = match Finder::new(ctx, keywords.iter().map(|(name, value)| (name.to_text(), value))) {
            Ok(finder) => finder,
            Err(wrong) => return Ok(format!("error: {wrong}").into()),
        };
        let mut found = Vec::new();
        for path in paths::glob(ctx.host, &paths::expand_user(ctx.host, &self.path)) {
            finder.find(&path, &mut found)?;
        }
        found.sort_by(order);
        Ok(found.into())
    }
}

/// As Python sorts what is printed: texts, numbers, or lists of those.
fn order(a: &Value, b: &Value) -> std::cmp::Ordering {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::List(a), Value::List(b)) => {
            let first = a.iter().zip(b).map(|(a, b)| order(a, b)).find(|order| order.is_ne());
            first.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (a, b) => a.to_text().cmp(&b.to_text()),
    }
}

struct Finder<'c> {
    ctx: &'c Ctx<'c>,
    tests: Vec<Test>,
    actions: Vec<Action>,
    mindepth: i64,
    maxdepth: Option<i64>,
    /// Whether what would be deleted is only named.
    dry: bool,
}

enum Test {
    Name(Regex),
    Kind(Vec<FileKind>),
    Owner(Vec<u32>),
    Group(Vec<u32>),
    Size(u64, u64),
    /// Seconds since 1970; whether what is younger fits.
    Modified(f64, bool),
    Grep(Regex),
}

enum Action {
    Print(Vec<String>),
    Delete(Vec<FileKind>),
    Exec(String),
}

impl<'c> Finder<'c> {
    fn new<'v>(ctx: &'c Ctx<'c>, options: impl Iterator<Item = (String, &'v Value)>) -> Result<Finder<'c>, String> {
        let mut finder =
            Finder { ctx, tests: Vec::new(), actions: Vec::new(), mindepth: 0, maxdepth: None, dry: false };
        for (name, value) in options {
            let number = || value.to_text().parse::<i64>().map_err(|_| format!("{name} is not a number"));
            match name.as_str() {
                "mindepth" => finder.mindepth = number()?,
                "maxdepth" if value.is_null() => {}
                "maxdepth" => finder.maxdepth = Some(number()?),
                "test" => finder.dry = value.truthy(),
                _ if name.starts_with('_') => {}
                _ if !value.truthy() => return Err(format!("missing value for \"{name}\" option")),
                _ => finder.add(&name, &value.to_text())?,
            }
        }
        if finder.actions.is_empty() {
            finder.actions.push(Action::Print(vec!["path".to_owned()]));
        }
        // Cheap tests first: what a name rules out is not looked at.
        finder.tests.sort_by_key(|test| match test {
            Test::Name(_) => 0,
            Test::Grep(_) => 2,
            _ => 1,
        });
        Ok(finder)
    }

    fn add(&mut self, name: &str, value: &str) -> Result<(), String> {
        let case = |ignored: bool| Flags { ignore_case: ignored, ..Flags::default() };
        let regex = |pattern: &str, flags| {
            Regex::with_flags(pattern, flags).map_err(|_| format!("invalid regular expression: \"{value}\""))
        };
        let glob = || format!("{}$", value.replace('.', r"\.").replace('?', ".?").replace('*', ".*"));
        match name {
            "name" => self.tests.push(Test::Name(regex(&glob(), case(false))?)),
            "iname" => self.tests.push(Test::Name(regex(&glob(), case(true))?)),
            "regex" => self.tests.push(Test::Name(regex(value, case(false))?)),
            "iregex" => self.tests.push(Test::Name(regex(value, case(true))?)),
            "grep" => self.tests.push(Test::Grep(regex(value, case(false))?)),
            "type" => self.tests.push(Test::Kind(kinds(value)?)),
            "owner" => {
                let known = |name: &str| self.ctx.host.user(name).ok().flatten().map(|user| user.uid);
                self.tests.push(Test::Owner(numbers(value, "user", known)?));
            }
            "group" => {
                let known = |name: &str| self.ctx.host.group(name).ok().flatten();
                self.tests.push(Test::Group(numbers(value, "group", known)?));
            }
            "size" => {
                let (least, most) = size(value)?;
                self.tests.push(Test::Size(least, most));
            }
            "mtime" => {
                let (span, unit, sign) = interval(value)?;
                let limit = seconds(self.ctx.host.now()) - (span / unit).trunc() * unit;
                self.tests.push(Test::Modified(limit, sign == Some('-')));
            }
            "print" => {
                let parts = value.replace(',', " ").split_whitespace().map(str::to_owned).collect();
                self.actions.push(Action::Print(parts));
            }
            "delete" => {
                self.actions.push(Action::Delete(kinds(if value.contains('a') { "bcdpfls" } else { value })?));
            }
            "exec" => self.actions.push(Action::Exec(value.to_owned())),
            _ => return Err(format!("invalid option \"{name}\"")),
        }
        Ok(())
    }

    fn find(&self, path: &str, found: &mut Vec<Value>) -> Result<(), Fault> {
        if self.mindepth < 1 {
            self.look(path, found)?;
        }
        self.below(path, 1, found)
    }

    fn below(&self, directory: &str, depth: i64, found: &mut Vec<Value>) -> Result<(), Fault> {
        if self.ctx.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        let is_deep = self.maxdepth.is_some_and(|most| depth > most);
        if is_deep {
            return Ok(());
        }
        // What a walk finds before it deletes: names are read first.
        for name in self.ctx.host.list(Path::new(directory)).unwrap_or_default() {
            let path = paths::join(&[directory.to_owned(), name]);
            let is_directory = self.ctx.host.stat(Path::new(&path)).is_ok_and(|stat| stat.kind == FileKind::Directory);
            if depth >= self.mindepth {
                self.look(&path, found)?;
            }
            if is_directory {
                self.below(&path, depth + 1, found)?;
            }
        }
        Ok(())
    }

    fn look(&self, path: &str, found: &mut Vec<Value>) -> Result<(), Fault> {
        let own = || self.ctx.host.stat(Path::new(path));
        let Ok(stat) = paths::followed(self.ctx.host, Path::new(path)).or_else(|_| own()) else { return Ok(()) };
        for test in &self.tests {
            if !self.fits(test, path, &stat)? {
                return Ok(());
            }
        }
        for action in &self.actions {
            found.extend(self.act(action, path, &stat)?);
        }
        Ok(())
    }

    fn fits(&self, test: &Test, path: &str, stat: &Stat) -> Result<bool, Fault> {
        let wrong = |error: halite_lang::regex::RegexError| Fault::invocation(error.to_string());
        Ok(match test {
            Test::Name(regex) => regex.is_match(paths::name_of(path)).map_err(wrong)?,
            Test::Kind(kinds) => kinds.contains(&stat.kind),
            Test::Owner(uids) => uids.contains(&stat.uid),
            Test::Group(gids) => gids.contains(&stat.gid),
            Test::Size(least, most) => (*least..=*most).contains(&stat.size),
            Test::Modified(limit, younger) => {
                let modified = seconds(stat.modified).trunc();
                if *younger { modified >= *limit } else { modified <= *limit }
            }
            Test::Grep(regex) if stat.kind == FileKind::File => {
                let Ok(bytes) = self.ctx.host.read(Path::new(path)) else { return Ok(false) };
                regex.search(&String::from_utf8_lossy(&bytes)).map_err(wrong)?.is_some()
            }
            Test::Grep(_) => false,
        })
    }

    fn act(&self, action: &Action, path: &str, stat: &Stat) -> Result<Option<Value>, Fault> {
        match action {
            Action::Print(parts) => {
                let mut shown: Vec<Value> = parts.iter().filter_map(|part| self.part(part, path, stat)).collect();
                Ok(Some(if shown.len() == 1 { shown.remove(0) } else { shown.into() }))
            }
            Action::Delete(kinds) if !kinds.contains(&stat.kind) => Ok(None),
            Action::Delete(_) if self.dry => Ok(Some(path.into())),
            Action::Delete(_) => {
                let removed = halite_core::paths::remove_all(self.ctx.host, Path::new(path));
                Ok(removed.is_ok().then(|| path.into()))
            }
            Action::Exec(command) => {
                let command = command.replace("{}", path);
                let argv = words::split(&command).map_err(Fault::invocation)?;
                Ok(Some(match Program::new(argv).run(self.ctx) {
                    Ok(answer) => format!("{command}:\n{}\n\n", answer.stdout).into(),
                    Err(_) => format!("{path}: Failed").into(),
                }))
            }
        }
    }

    fn part(&self, part: &str, path: &str, stat: &Stat) -> Option<Value> {
        let host = self.ctx.host;
        Some(match part {
            "path" => path.into(),
            "name" => paths::name_of(path).into(),
            "size" => stat.size.into(),
            "type" => {
                LETTERS.iter().find(|(_, kind)| *kind == stat.kind).map_or("?".into(), |(c, _)| c.to_string().into())
            }
            "mode" => (stat.mode & 0o777).into(),
            "mtime" => (seconds(stat.modified).trunc() as i64).into(),
            "user" => user_name(host, stat.uid),
            "group" => group_name(host, stat.gid),
            "md5" if stat.kind == FileKind::File => {
                host.open(Path::new(path)).and_then(|file| HashType::Md5.of(file)).unwrap_or_default().into()
            }
            "md5" => "".into(),
            _ => return None,
        })
    }
}

const LETTERS: [(char, FileKind); 7] = [
    ('b', FileKind::BlockDevice),
    ('c', FileKind::CharDevice),
    ('d', FileKind::Directory),
    ('f', FileKind::File),
    ('l', FileKind::Link),
    ('p', FileKind::Fifo),
    ('s', FileKind::Socket),
];

fn kinds(letters: &str) -> Result<Vec<FileKind>, String> {
    let letters = letters.chars().filter(|c| *c != ',' && !c.is_whitespace());
    let kind = |letter: char| LETTERS.iter().find(|(known, _)| *known == letter).map(|(_, kind)| *kind);
    letters.map(|letter| kind(letter).ok_or_else(|| format!("invalid file type \"{letter}\""))).collect()
}

fn numbers(names: &str, what: &str, known: impl Fn(&str) -> Option<u32>) -> Result<Vec<u32>, String> {
    let names = names.replace(',', " ");
    let number = |name: &str| name.parse().ok().or_else(|| known(name));
    names.split_whitespace().map(|name| number(name).ok_or_else(|| format!("no such {what} \"{name}\""))).collect()
}

/// The least and the greatest size that fit.
fn size(text: &str) -> Result<(u64, u64), String> {
    let text = text.trim();
    let sign = text.chars().next().filter(|c| matches!(c, '+' | '-'));
    let number = if sign.is_some() { &text[1..] } else { text };
    let unit = number.chars().last().and_then(|last| "bkmgt".find(last.to_ascii_lowercase()));
    let (number, unit) = match unit {
        Some(power) => (&number[..number.len() - 1], 1_u64 << (10 * power)),
        None => (number, 1),
    };
    let wrong = || format!("invalid size: \"{text}\"");
    let value: f64 = number.trim().parse().map_err(|_| wrong())?;
    if !(0.0..1e18).contains(&value) {
        return Err(wrong());
    }
    let value = (value * unit as f64) as u64;
    Ok(match sign {
        Some('-') => (0, value),
        Some(_) => (value, u64::MAX),
        None => (value, value + unit - 1),
    })
}

/// A span of time in seconds, its smallest unit, and its sign.
fn interval(text: &str) -> Result<(f64, f64, Option<char>), String> {
    let wrong = || format!("invalid time interval: '{text}'");
    let sign = text.trim().chars().next().filter(|c| matches!(c, '+' | '-'));
    let mut rest = text.trim().trim_start_matches(['+', '-']).trim_start();
    let (mut span, mut smallest) = (0.0, None);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let value: f64 = rest[..end].parse().map_err(|_| wrong())?;
        rest = rest[end..].trim_start();
        let unit = match rest.chars().next().map(|c| c.to_ascii_lowercase()) {
            Some('w') => 604_800.0,
            Some('d') => 86_400.0,
            Some('h') => 3600.0,
            Some('m') => 60.0,
            Some('s') => 1.0,
            _ => return Err(wrong()),
        };
        // Units come from the greatest to the smallest.
        if smallest.is_some_and(|smallest| unit >= smallest) {
            return Err(wrong());
        }
        span += value * unit;
        smallest = Some(unit);
        rest = rest[1..].trim_start();
    }
    Ok((span, smallest.ok_or_else(wrong)?, sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_intervals_are_read() {
        assert_eq!(size("10k"), Ok((10240, 11263)));
        assert_eq!(size("+1.5m"), Ok((1_572_864, u64::MAX)));
        assert_eq!(size("-5"), Ok((0, 5)));
        assert!(size("x").is_err() && size("").is_err());
        assert_eq!(interval("+1w 2d"), Ok((777_600.0, 86_400.0, Some('+'))));
        assert_eq!(interval("-30S"), Ok((30.0, 1.0, Some('-'))));
        assert!(interval("2d 1w").is_err() && interval("5").is_err() && interval("").is_err());
    }
}
