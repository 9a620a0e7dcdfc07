//! `slsutil.file_exists` and its like: what there is in the tree of states.

use super::Run;
use halite_core::files::Listing;
use halite_core::{Ctx, Fault, Reply};
use halite_value::Value;
use halite_value::record;
use std::collections::HashSet;

record! {
    /// Whether a path is a file of the tree of states.
    ///
    ///   salt '*' slsutil.file_exists nginx/defaults.yaml
    pub struct FileExists {
        /// The path, from the top of the tree.
        path: String,
        /// The environment.
        saltenv: String = "base",
    }
}

impl Run for FileExists {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(paths(ctx, &[Listing::Files], &self.saltenv)?.contains(&self.path).into())
    }
}

record! {
    /// Whether a path is a directory of the tree of states.
    ///
    ///   salt '*' slsutil.dir_exists nginx/files
    pub struct DirExists {
        /// The path, from the top of the tree.
        path: String,
        /// The environment.
        saltenv: String = "base",
    }
}

impl Run for DirExists {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(paths(ctx, &[Listing::Directories], &self.saltenv)?.contains(&self.path).into())
    }
}

record! {
    /// Whether a path is a file or a directory of the tree of states.
    ///
    ///   salt '*' slsutil.path_exists nginx/defaults.yaml
    pub struct PathExists {
        /// The path, from the top of the tree.
        path: String,
        /// The environment.
        saltenv: String = "base",
    }
}

impl Run for PathExists {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(paths(ctx, BOTH, &self.saltenv)?.contains(&self.path).into())
    }
}

record! {
    /// The path of the first of some names that there is in a directory of the tree of states, else in the directory above it, and
    /// so on up to the top.
    ///
    ///   salt '*' slsutil.findup formulas/shared/nginx map.jinja
    pub struct Findup {
        /// Where the search begins; empty: at the top.
        startpath: Option<String>,
        /// A name, or several.
        filenames: Value,
        /// The environment.
        saltenv: String = "base",
    }
}

impl Run for Findup {
    fn run(self, ctx: &Ctx) -> Reply {
        let names = match &self.filenames {
            Value::Str(name) => vec![name.as_str()],
            Value::List(items) if items.iter().all(|item| item.as_str().is_some()) => {
                items.iter().filter_map(Value::as_str).collect()
            }
            _ => return Err(Fault::invocation("Filenames argument must be a string or list of strings")),
        };
        let there = paths(ctx, BOTH, &self.saltenv)?;
        let mut directory = normal(self.startpath.as_deref().unwrap_or_default());
        if !directory.is_empty() && !there.contains(&directory) {
            return Err(Fault::invocation(format!("Starting path not found in the state tree: {directory}")));
        }
        loop {
            let full =
                |name: &&str| if directory.is_empty() { (*name).to_owned() } else { format!("{directory}/{name}") };
            if let Some(path) = names.iter().map(full).find(|path| there.contains(path)) {
                return Ok(path.into());
            }
            if directory.is_empty() {
                return Err(Fault::execution("File pattern(s) not found in path ancestry"));
            }
            directory.truncate(directory.rfind('/').unwrap_or(0));
        }
    }
}

const BOTH: &[Listing] = &[Listing::Files, Listing::Directories];

fn paths(ctx: &Ctx, listings: &[Listing], saltenv: &str) -> Result<HashSet<String>, Fault> {
    let files = halite_node::fileserver::files(ctx)?;
    let mut all = HashSet::new();
    for listing in listings {
        all.extend(files.list(*listing, saltenv, "")?.into_iter().map(|(path, _)| path));
    }
    Ok(all)
}

/// A path without empty steps and dots.
fn normal(path: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|step| *step != "..") => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    steps.join("/")
}
