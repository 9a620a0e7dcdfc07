//! `halite generate KIND DIRECTORY`: what packages ship beside the file, made from the declarations of options, functions
//! and configuration.
//!
//! The repository keeps what is made here; a test says when one of those files is stale. A new kind is one file and one
//! line in [`KINDS`].

mod completions;
mod config;
mod man;
mod reference;
mod services;

use super::cli::{Exit, exit};
use std::path::Path;

/// What can be made.
pub struct Kind {
    pub name: &'static str,
    pub about: &'static str,
    /// The directory of the repository that holds it.
    pub kept_in: &'static str,
    make: fn() -> Vec<Made>,
}

/// A file that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Below the directory that was asked for.
    path: String,
    text: String,
}

/// Every kind, sorted by name.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "completions",
        about: "completions for bash, zsh and fish",
        kept_in: "packaging/completions",
        make: completions::all,
    },
    Kind {
        name: "config",
        about: "sample files of master and minion, with every option that acts",
        kept_in: "packaging/etc",
        make: config::samples,
    },
    Kind { name: "man", about: "manual pages", kept_in: "packaging/man", make: man::pages },
    Kind {
        name: "reference",
        about: "tables of all options, functions and runners, in Markdown",
        kept_in: "docs/reference",
        make: reference::documents,
    },
    Kind {
        name: "services",
        about: "what starts the daemons: init.d, OpenRC and systemd",
        kept_in: "packaging/services",
        make: services::all,
    },
];

/// Makes the files of a kind below a directory; what is there under their names is replaced.
pub fn run(args: &[String]) -> u8 {
    let [name, directory] = args else {
        return fail(Exit::Usage, &format!("generate takes two words, KIND DIRECTORY; a kind is one of {}", names()));
    };
    let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
        return fail(Exit::Usage, &format!("generate: there is no kind '{name}'; it is one of {}", names()));
    };
    match write_all(&(kind.make)(), Path::new(directory)) {
        Ok(()) => Exit::Ok.code(),
        Err((path, error)) => fail(Exit::CannotCreate, &format!("generate: {path}: {error}")),
    }
}

/// The sample file of a daemon, `master` or `minion`.
pub fn sample(role: &str) -> String {
    config::samples().into_iter().find(|made| made.path == role).map(|made| made.text).unwrap_or_default()
}

/// What starts a daemon, by its path below `packaging/services`.
pub fn service(path: &str) -> &'static str {
    services::text(path)
}

fn write_all(all: &[Made], directory: &Path) -> Result<(), (String, std::io::Error)> {
    for made in all {
        let path = directory.join(&made.path);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = written.and_then(|()| std::fs::write(&path, &made.text));
        written.map_err(|error| (path.display().to_string(), error))?;
    }
    Ok(())
}

fn names() -> String {
    KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ")
}

fn fail(exit: Exit, sentence: &str) -> u8 {
    exit::complain(&format!("halite: error: {sentence}"));
    exit.code()
}

/// Words on lines of at most so many characters, each with this before it.
fn wrapped(text: &str, before: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{before}{word}")),
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    #[test]
    fn what_the_repository_keeps_is_fresh() {
        for kind in KINDS {
            let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(kind.kept_in);
            let renew = format!("make generate, or: halite generate {} {}", kind.name, kind.kept_in);
            let made: BTreeSet<String> = (kind.make)()
                .into_iter()
                .map(|made| {
                    let kept = std::fs::read_to_string(directory.join(&made.path)).unwrap_or_default();
                    assert!(kept == made.text, "{}/{} is stale. Renew it: {renew}", kind.kept_in, made.path);
                    made.path
                })
                .collect();
            let left: Vec<String> = below(&directory, "").into_iter().filter(|path| !made.contains(path)).collect();
            assert!(left.is_empty(), "{}: nothing makes {left:?}: remove it", kind.kept_in);
        }
    }

    fn below(directory: &Path, inner: &str) -> Vec<String> {
        let entries = std::fs::read_dir(directory.join(inner)).unwrap();
        let mut all = Vec::new();
        for entry in entries {
            let entry = entry.unwrap();
            let path = PathBuf::from(inner).join(entry.file_name()).to_string_lossy().into_owned();
            match entry.file_type().unwrap().is_dir() {
                true => all.extend(below(directory, &path)),
                false => all.push(path),
            }
        }
        all
    }

    #[test]
    fn kinds_are_sorted_and_what_is_wrong_is_said() {
        assert!(KINDS.is_sorted_by_key(|kind| kind.name));
        let run = |args: &[&str]| run(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
        assert_eq!((run(&[]), run(&["man"]), run(&["nosuch", "/tmp"])), (64, 64, 64));
        assert_eq!(run(&["man", "/dev/null/x"]), 73);
    }

    #[test]
    fn lines_are_filled_and_not_beyond() {
        assert_eq!(wrapped("one two three", "# ", 9), "# one two\n# three\n");
        assert_eq!(wrapped("incomprehensible", "# ", 9), "# incomprehensible\n");
    }
}
