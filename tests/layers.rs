//! Who may import whom, where cargo cannot hold it. That no crate names one above it is held by the crates themselves;
//! here is which they are, and what a file may not name although its crate can. Each ban has its reason; a new import that
//! breaks one is a change of the design, to be argued here first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates, from the ground up: where each lies, and which of the others it builds on. An arrow that is not here is
/// refused, so that the map in ARCHITECTURE.md stays true.
const CRATES: &[(&str, &str, &[&str])] = &[
    ("value", "src/wire/value", &[]),
    ("keys", "src/keys", &[]),
    ("wire", "src/wire", &["keys", "value"]),
    ("lang", "src/exec/lang", &["value"]),
    ("core", "src/exec/core", &["lang", "value"]),
    ("node", "src/exec/node", &["core", "lang", "value"]),
    ("file", "src/exec/file", &["core", "lang", "node", "value"]),
    ("modules", "src/exec/modules", &["core", "file", "lang", "node", "value"]),
    ("states", "src/exec/states", &["core", "file", "lang", "node", "value"]),
    ("run", "src/exec/run", &["core", "file", "lang", "modules", "node", "states", "value"]),
    ("roles", "src/roles", &["core", "keys", "lang", "node", "run", "value", "wire"]),
];

/// A part, what its files must not name, and why.
const BANS: &[(&str, &[&str], &str)] = &[
    (
        "src/exec",
        &["smol", "async_io"],
        "what a node can do is synchronous: a daemon calls it on a thread or in a process",
    ),
    ("src/exec", &["sodiumoxide"], "cryptography is in src/wire/seal.rs and src/keys alone, so that it can be changed"),
    (
        "src/roles",
        &["sodiumoxide"],
        "cryptography is in src/wire/seal.rs and src/keys alone, so that it can be changed",
    ),
    ("src/roles", &["nng::Socket", "nng::Aio", "nng_sys"], "only src/wire/nng knows NNG"),
    ("src", &["tokio"], "one runtime: smol"),
    (
        "src/exec/modules",
        &["crate::MODULES", "super::MODULES"],
        "a module knows the contracts, not the list that it is in",
    ),
    (
        "src/exec/states",
        &["crate::MODULES", "super::MODULES"],
        "a state knows the contracts, not the list that it is in",
    ),
];

/// What reaches the machine, which all of `src/exec` outside of this directory leaves to it.
const HOST: &str = "src/exec/core/host";
const MACHINE: &[&str] = &[
    "std::fs",
    "fs::",
    "File::open",
    "File::create",
    "OpenOptions",
    "DirBuilder",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "UnixStream",
    "geteuid",
    "getegid",
    "getuid",
    "getgid",
    "process::id",
    "uname",
    "env::current_dir",
    "env::current_exe",
    "env::temp_dir",
    "env::var",
    "ureq",
];
/// Tests that have a file of their own: they make the files that they are about.
const TESTS: [&str; 4] = ["cases.rs", "recorded.rs", "testing.rs", "tests.rs"];

#[test]
fn each_crate_builds_on_those_below_it_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = BTreeSet::new();
    for (name, directory, below) in CRATES {
        let manifest = fs::read_to_string(root.join(directory).join("Cargo.toml")).unwrap();
        let builds_on = dependencies(&manifest);
        assert_eq!(builds_on, below.iter().map(|name| (*name).to_owned()).collect(), "{directory}/Cargo.toml");
        assert!(below.iter().all(|name| seen.contains(name)), "{name} builds on a crate that is not below it");
        seen.insert(*name);
    }
    let workspace = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let members = workspace.lines().find(|line| line.starts_with("members")).unwrap();
    let named: BTreeSet<&str> = members.split('"').skip(1).step_by(2).collect();
    assert_eq!(named, CRATES.iter().map(|(_, directory, _)| *directory).collect(), "members of the workspace");
}

#[test]
fn no_file_names_what_it_must_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut broken = Vec::new();
    for (part, banned, why) in BANS {
        for file in rust_files(&root.join(part)) {
            for (number, line) in code(&fs::read_to_string(&file).unwrap()) {
                for name in banned.iter().filter(|name| names(&line, name)) {
                    let shown = file.strip_prefix(root).unwrap().display();
                    broken.push(format!("{shown}:{number}: {name}: {why}"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn no_function_reaches_past_its_host() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_test = |file: &Path| {
        TESTS.iter().any(|name| file.ends_with(name)) || file.starts_with(root.join("src/exec/core/testing"))
    };
    let (of_host, others): (Vec<_>, Vec<_>) =
        rust_files(&root.join("src/exec")).into_iter().partition(|file| file.starts_with(root.join(HOST)));
    let reaches = |file: &PathBuf| {
        let lines = code(&fs::read_to_string(file).unwrap());
        let found = lines.into_iter().filter(|(_, line)| MACHINE.iter().any(|name| names(line, name)));
        found.map(|(number, line)| format!("{}:{number}: {}", file.display(), line.trim())).collect::<Vec<_>>()
    };
    assert!(of_host.iter().any(|file| !reaches(file).is_empty()), "{HOST} is elsewhere");
    let broken: Vec<String> = others.iter().filter(|file| !is_test(file)).flat_map(reaches).collect();
    assert!(
        broken.is_empty(),
        "what a function touches is in its Ctx, and the node's own files are reached by host::own:\n{}",
        broken.join("\n")
    );
}

#[test]
fn only_one_place_names_nng() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut places = BTreeMap::new();
    for file in rust_files(&root.join("src")) {
        let text = fs::read_to_string(&file).unwrap();
        let uses = text.lines().any(|line| line.starts_with("use nng") || line.contains("nng_sys::"));
        if uses {
            places.insert(file.strip_prefix(root.join("src")).unwrap().to_owned(), ());
        }
    }
    assert!(!places.is_empty());
    for place in places.keys() {
        assert!(place == Path::new("wire/nng.rs") || place.starts_with("wire/nng"), "{} names NNG", place.display());
    }
}

/// The crates of this workspace that a manifest names as dependencies, those of tests apart.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let from = manifest.lines().skip_while(|line| line.trim() != "[dependencies]").skip(1);
    from.take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.strip_prefix("halite-"))
        .map(|line| line.split(['.', ' ']).next().unwrap().to_owned())
        .collect()
}

/// The lines of a file that are code and not its tests, with their numbers.
fn code(text: &str) -> Vec<(usize, String)> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(number, line)| (number + 1, line.to_owned()))
        .collect()
}

/// True when the line names it as a whole word.
fn names(line: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        !before.is_some_and(word) && (name.ends_with(':') || !after.is_some_and(word))
    })
}

/// All Rust files of a part.
fn rust_files(part: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![part.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                files.push(path);
            }
        }
    }
    files
}
