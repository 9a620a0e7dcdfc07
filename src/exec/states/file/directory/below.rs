//! `recurse`: owner and mode of what is in a directory.

use halite_core::host::FileKind;
use halite_core::{Ctx, paths};
use halite_file::owner::Owner;
use halite_value::{Map, Value};
use std::path::Path;

/// What the list of `recurse` may have in it.
const WORDS: [&str; 6] = ["user", "group", "mode", "ignore_files", "ignore_dirs", "silent"];

/// What of owner and mode is set below a directory, and of what.
#[derive(Clone, Debug, Default)]
pub struct Recursion {
    words: Vec<String>,
}

impl Recursion {
    /// Nothing where none is given; the error is for whoever wrote the SLS.
    pub fn of(value: &Value) -> Result<Option<Recursion>, String> {
        if !value.truthy() {
            return Ok(None);
        }
        let Some(items) = value.as_list() else {
            return Err("\"recurse\" must be formed as a list of strings".to_owned());
        };
        let words: Vec<String> = items.iter().map(Value::to_text).collect();
        if words.iter().any(|word| !WORDS.contains(&word.as_str())) {
            let known: Vec<String> = WORDS.iter().map(|word| format!("\"{word}\"")).collect();
            return Err(format!("Types for \"recurse\" limited to {}.", known.join(", ")));
        }
        let recursion = Recursion { words };
        if recursion.has("ignore_files") && recursion.has("ignore_dirs") {
            return Err("Must not specify \"recurse\" options \"ignore_files\" and \"ignore_dirs\" at the same time."
                .to_owned());
        }
        Ok(Some(recursion))
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|own| own == word)
    }
}

/// What files and directories below a directory should be.
#[derive(Clone, Debug, Default)]
pub struct Below {
    recursion: Option<Recursion>,
    of_directories: Owner,
    of_files: Owner,
    /// How many levels.
    depth: Option<i64>,
    follow: bool,
}

impl Below {
    pub fn new(recursion: Recursion, owner: &Owner, file_mode: Option<u32>, depth: Option<i64>, follow: bool) -> Below {
        let of_directories = owner.only(recursion.has("user"), recursion.has("group"), recursion.has("mode"));
        let of_files = of_directories.with_mode(file_mode.filter(|_| recursion.has("mode")));
        Below { recursion: Some(recursion), of_directories, of_files, depth, follow }
    }

    /// What the directory itself should be, as Salt looks at it: what is not set below it is not looked at either.
    pub fn own(&self, owner: &Owner) -> Owner {
        if self.recursion.is_some() { self.of_directories.clone() } else { owner.clone() }
    }

    pub fn owner(&self, is_directory: bool) -> Owner {
        if is_directory { self.of_directories.clone() } else { self.of_files.clone() }
    }

    pub fn is_silent(&self) -> bool {
        self.recursion.as_ref().is_some_and(|recursion| recursion.has("silent"))
    }

    /// By path, what is not as it should be.
    pub fn differences(&self, ctx: &Ctx, directory: &str) -> Map {
        let mut changes = Map::new();
        if let Some(recursion) = &self.recursion {
            self.walk(ctx, recursion, directory, 0, &mut changes);
        }
        changes
    }

    fn walk(&self, ctx: &Ctx, recursion: &Recursion, directory: &str, level: i64, changes: &mut Map) {
        if self.depth.is_some_and(|depth| level >= depth) {
            return;
        }
        let mut directories = Vec::new();
        for name in ctx.host.list(Path::new(directory)).unwrap_or_default() {
            let path = paths::join(&[directory.to_owned(), name]);
            let own = ctx.host.stat(Path::new(&path));
            let is_link = own.as_ref().is_ok_and(|stat| stat.kind == FileKind::Link);
            let looked = if self.follow { paths::followed(ctx.host, Path::new(&path)) } else { own };
            let Ok(stat) = looked else { continue };
            let is_directory = stat.kind == FileKind::Directory || is_link && paths::is_directory(ctx.host, &path);
            let ignored = if is_directory { "ignore_dirs" } else { "ignore_files" };
            if !recursion.has(ignored) {
                let found = self.owner(is_directory && !is_link).differences(&stat);
                if !found.is_empty() {
                    changes.insert(path.as_str(), found);
                }
            }
            if is_directory && !is_link {
                directories.push(path);
            }
        }
        for path in directories {
            self.walk(ctx, recursion, &path, level + 1, changes);
        }
    }
}
