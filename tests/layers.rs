//! Who may import whom. Each ban has its reason; a new import that breaks one is a change of the design, to be argued
//! here first.

use std::fs;
use std::path::{Path, PathBuf};

/// A part, what it must not name, and why.
const BANS: &[(&str, &[&str], &str)] = &[
    (
        "src/keys",
        &["crate::wire", "crate::exec", "crate::roles"],
        "keys are the ground floor: they import nothing of ours",
    ),
    (
        "src/wire",
        &["crate::exec", "crate::roles"],
        "the wire carries what the floors above make; it does not know them",
    ),
    ("src/wire/value", &["crate::"], "the value is plain data, for every floor"),
    (
        "src/exec",
        &[
            "crate::roles",
            "crate::keys",
            "crate::wire::message",
            "crate::wire::session",
            "crate::wire::nng",
            "crate::wire::link",
            "crate::wire::handshake",
            "crate::wire::seal",
            "crate::wire::cbor",
            "crate::wire::publication",
        ],
        "what a node can do is synchronous and has no socket: whatever it may touch arrives in its context",
    ),
    ("src/exec", &["smol", "async_io"], "what a node can do is synchronous"),
    ("src/roles", &["nng::Socket", "nng::Aio", "nng_sys"], "only src/wire/nng knows NNG"),
    ("src", &["tokio"], "one runtime: smol"),
    ("src/exec", &["sodiumoxide"], "cryptography is in src/wire/seal.rs and src/keys alone"),
    ("src/roles", &["sodiumoxide"], "cryptography is in src/wire/seal.rs and src/keys alone"),
];

#[test]
fn no_layer_imports_what_it_must_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut broken = Vec::new();
    for (part, banned, why) in BANS {
        for file in rust_files(&root.join(part)) {
            let text = fs::read_to_string(&file).unwrap();
            for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
                for name in banned.iter().filter(|name| names(line, name)) {
                    broken.push(format!(
                        "{}:{}: {name}: {why}",
                        file.strip_prefix(root).unwrap().display(),
                        number + 1
                    ));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn only_one_file_names_nng() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in rust_files(&root.join("src")) {
        let uses = fs::read_to_string(&file)
            .unwrap()
            .lines()
            .any(|line| line.starts_with("use nng") || line.contains("nng_sys::"));
        let is_its_place =
            file.ends_with("wire/nng.rs") || file.parent().is_some_and(|folder| folder.ends_with("wire/nng"));
        assert!(!uses || is_its_place, "{} names NNG", file.display());
    }
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

/// All Rust files of a part: its folder, and the file of the same name beside it.
fn rust_files(part: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Some(part.with_extension("rs")).filter(|file| file.exists()).into_iter().collect();
    let mut folders = vec![part.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|end| end == "rs") => files.push(path),
                false => {}
            }
        }
    }
    files
}
