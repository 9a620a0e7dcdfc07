//! What has become of the files of packages since they were installed.

use super::rpm;
use halite_core::program::Program;
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

/// What the letters of `rpm --verify` stand for, in the words of `pkg.verify` and of `pkg.modified`.
const CHECKS: [(char, &str, &str); 9] = [
    ('S', "size", "size"),
    ('M', "mode", "mode"),
    ('5', "md5sum", "checksum"),
    ('D', "device major/minor number", "device"),
    ('L', "readlink path", "symlink"),
    ('U', "user", "owner"),
    ('G', "group", "group"),
    ('T', "mtime", "time"),
    ('P', "capabilities", "capabilities"),
];

const KINDS: [(&str, &str); 5] = [("c", "config"), ("d", "doc"), ("g", "ghost"), ("l", "license"), ("r", "readme")];

/// A line of `rpm --verify`: `S.5....T.  c /etc/x.conf`, or `missing    /etc/x.conf (Permission denied)`.
struct Line<'t> {
    marks: &'t str,
    kind: Option<&'static str>,
    path: &'t str,
}

fn line(text: &str) -> Option<Line<'_>> {
    let at = text.find('/')?;
    let mut words = text[..at].split_whitespace();
    let marks = words.next()?;
    let letter = words.next().unwrap_or_default();
    let kind = KINDS.iter().find(|(known, _)| *known == letter).map(|(_, kind)| *kind);
    Some(Line { marks, kind, path: &text[at..] })
}

fn names<'n>(program: Program, names: &'n [String]) -> Program {
    program.args(names.iter().map(|name: &'n String| name.as_str()))
}

/// What is not as it was in packages, or in all, by file.
pub fn verify(
    ctx: &Ctx,
    packages: &[String],
    ignored_types: &[String],
    options: &[String],
    root: Option<&str>,
) -> Result<Map, Fault> {
    let program = rpm(root).args(options.iter().map(|option| format!("--{option}")));
    let program = program.arg(if packages.is_empty() { "-Va" } else { "-V" });
    let told = names(program, packages).query(ctx)?;
    if told.stdout.trim().is_empty() && !told.is_success() {
        let why = if told.stderr.is_empty() { String::new() } else { format!(": {}", told.stderr) };
        return Err(Fault::execution(format!("Failed to verify package(s){why}")));
    }
    if let Some(missing) = told.stdout.lines().find(|line| line.ends_with("is not installed")) {
        return Err(Fault::execution(format!("Failed to verify package(s): {missing}")));
    }
    let mut shown = Map::new();
    for line in told.stdout.lines() {
        let Some(Line { marks, kind, path }) = self::line(line) else {
            // A package without what it requires: no file to name.
            log::warn!("rpm --verify: {line}");
            continue;
        };
        if kind.is_some_and(|kind| ignored_types.iter().any(|ignored| ignored == kind)) {
            continue;
        }
        let mut entry = match marks {
            "missing" => Map::from_iter([("missing", true)]),
            marks => {
                let differs = CHECKS.iter().filter(|(mark, ..)| marks.contains(*mark)).map(|(_, word, _)| *word);
                Map::from_iter([("mismatch", Value::list(differs))])
            }
        };
        if let Some(kind) = kind {
            entry.insert("type", kind);
        }
        shown.insert(path, entry);
    }
    Ok(shown)
}

/// Which of the flags of files have changed, by file: those files whose flags are as `wanted` says.
pub fn modified(ctx: &Ctx, packages: &[String], wanted: &Map, root: Option<&str>) -> Result<Map, Fault> {
    let told = names(rpm(root).arg("-Va"), packages).query(ctx)?;
    if told.retcode > 1 {
        let mut shown = told.shown();
        shown.remove("stdout");
        return Ok(shown);
    }
    let mut shown = Map::new();
    for Line { marks, kind, path } in told.stdout.lines().filter_map(line) {
        let mut flags: Vec<&str> = match marks {
            // Salt takes each letter of the word for a mark that is set.
            "missing" => CHECKS.iter().take(marks.len()).map(|(.., word)| *word).collect(),
            marks => CHECKS.iter().filter(|(mark, ..)| marks.contains(*mark)).map(|(.., word)| *word).collect(),
        };
        flags.extend(kind.map(|_| "config"));
        let fits = wanted.iter().filter(|(key, _)| !key.to_text().starts_with('_')).all(|(key, value)| {
            let is_set = flags.iter().any(|flag| Some(*flag) == key.as_str());
            is_set == value.truthy()
        });
        if fits {
            shown.insert(path, Value::list(flags));
        }
    }
    Ok(shown)
}

/// How a file differs from the one in a package that is a file; empty: not at all.
pub fn difference(ctx: &Ctx, package: &str, path: &str) -> Result<String, Fault> {
    for tool in ["rpm2cpio", "cpio", "diff"] {
        if ctx.host.which(tool).is_none() {
            return Err(Fault::execution(format!(
                "pkg.diff: the program {tool} was not found. Is its package installed?"
            )));
        }
    }
    let member = format!(".{path}");
    let labels = [format!("A {path}"), format!("B {path}")];
    let words = ["diff", "-u", "--label", &labels[0], "--from-file=-", "--label", &labels[1], path];
    let archive = Program::new(["rpm2cpio", package]);
    let content = Program::new(["cpio", "-i", "--quiet", "--to-stdout", &member]).fed_by(archive);
    let told = Program::new(words).fed_by(content).query(ctx)?;
    match told.retcode {
        0 | 1 if told.stdout.starts_with("Binary file") => {
            Ok(format!("File '{path}' is binary and its content has been modified."))
        }
        0 | 1 => Ok(told.stdout),
        _ => Err(Fault::execution(format!("{path} cannot be compared with {package}: {}", told.complaint()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::NoMaster;
    use halite_core::host::fake::Fake;

    #[test]
    fn a_package_was_held_whole_on_its_way_from_program_to_program() {
        let cpio = ["cpio", "-i", "--quiet", "--to-stdout", "./etc/x"];
        let diff = ["diff", "-u", "--label", "A /etc/x", "--from-file=-", "--label", "B /etc/x", "/etc/x"];
        let programs = ["rpm2cpio", "cpio", "diff"];
        let host = programs.iter().fold(Fake::new(), |host, name| host.program(&format!("/usr/bin/{name}")));
        let host = host.answers(["rpm2cpio", "/p.rpm"], "archive").answers(cpio, "old").answers(diff, "+new");
        let world = World::on(host);
        assert_eq!(difference(&world.ctx(&NoMaster), "/p.rpm", "/etc/x").unwrap(), "+new");
        let ran = world.host.ran();
        let last = ran.last().unwrap();
        let feeding = last.fed_by.as_ref().unwrap();
        assert_eq!((last.argv[0].as_str(), feeding.argv[0].as_str()), ("diff", "cpio"));
        assert_eq!(feeding.fed_by.as_ref().unwrap().argv, ["rpm2cpio", "/p.rpm"]);
        assert!(ran.iter().all(|command| command.stdin.is_none()));
    }
}
