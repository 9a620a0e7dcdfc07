//! What is below a directory of the file server, and where it goes.

use halite_core::state::PlanContext;
use halite_core::{Fault, paths};
use halite_lang::patterns::passes;
use halite_node::fileserver::address::parse;
use halite_node::fileserver::client::address_of;
use halite_value::Value;
use halite_value::record::Arguments;
use std::collections::{BTreeMap, BTreeSet};

/// What is wanted of it.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub include: Value,
    pub exclude: Value,
    /// How many levels of directories; nothing: all.
    pub depth: Option<i64>,
    /// Empty directories too.
    pub empty: bool,
    /// Links as links.
    pub links: bool,
    /// All of the sources, not the first alone.
    pub merge: bool,
}

impl Wanted {
    fn takes(&self, below: &str) -> Result<bool, Fault> {
        let is_inside = !below.is_empty() && !format!("/{below}/").contains("/../");
        let is_deep = self.depth.is_some_and(|depth| below.matches('/').count() as i64 > depth);
        Ok(is_inside && !is_deep && passes(below, &self.include, &self.exclude)?)
    }
}

/// Paths on this host, sorted.
#[derive(Debug, Default)]
pub struct Tree {
    pub directories: BTreeSet<String>,
    /// Each with its address.
    pub files: BTreeMap<String, String>,
    /// Each with its target.
    pub links: BTreeMap<String, String>,
}

impl Tree {
    /// Reads the list of the file server. Without any of the sources it is an execution fault, which the state tells.
    pub fn read(context: &PlanContext, name: &str, sources: &Value, wanted: &Wanted) -> Result<Tree, Fault> {
        let given: Vec<String> = match sources {
            Value::List(items) => items.iter().map(Value::to_text).collect(),
            one => vec![one.to_text()],
        };
        let mut found = Vec::new();
        for source in given.iter().map(|source| source.trim_end_matches('/')) {
            if !source.starts_with("salt://") {
                return Err(Fault::execution(format!("Invalid source '{source}' (must be a salt:// URI)")));
            }
            let (path, own) = parse(source);
            let saltenv = own.unwrap_or_else(|| context.saltenv.to_owned());
            if names(context, "cp.list_master_dirs", &saltenv, "")?.contains(&path) {
                found.push((path, saltenv));
            }
        }
        if found.is_empty() {
            return Err(Fault::execution("none of the specified sources were found"));
        }
        if !wanted.merge {
            found.truncate(1);
        }
        let mut tree = Tree::default();
        for (path, saltenv) in found {
            tree.add(context, name, &path, &saltenv, wanted)?;
        }
        Ok(tree)
    }

    /// All of its paths.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.directories.iter().chain(self.files.keys()).chain(self.links.keys()).map(String::as_str)
    }

    fn add(
        &mut self,
        context: &PlanContext,
        name: &str,
        root: &str,
        saltenv: &str,
        wanted: &Wanted,
    ) -> Result<(), Fault> {
        let root = format!("{}/", root.trim_end_matches('/'));
        let below = |path: &str| path.strip_prefix(&root).map(str::to_owned);
        let mut files = names(context, "cp.list_master", saltenv, &root)?;
        if wanted.links {
            for (link, target) in links(context, saltenv, &root)? {
                files.retain(|file| *file != link && !file.starts_with(&format!("{link}/")));
                let Some(own) = below(&link) else { continue };
                let dest = paths::join(&[name.to_owned(), own.clone()]);
                if wanted.takes(&own)? && !self.is_occupied(&dest) {
                    self.links.insert(dest, target);
                }
            }
        }
        for file in files {
            let Some(own) = below(&file) else { continue };
            let dest = paths::join(&[name.to_owned(), own.clone()]);
            if !wanted.takes(&own)? || self.is_occupied(&dest) {
                continue;
            }
            self.directories.insert(paths::directory_of(&dest));
            let address = match saltenv == context.saltenv {
                true => address_of(&file),
                false => format!("{}?saltenv={saltenv}", address_of(&file)),
            };
            self.files.insert(dest, address);
        }
        if wanted.empty {
            for directory in names(context, "cp.list_master_dirs", saltenv, &root)? {
                let Some(own) = below(&directory) else { continue };
                let dest = paths::join(&[name.to_owned(), own.clone()]);
                if wanted.takes(&own)? && !self.is_occupied(&dest) {
                    self.directories.insert(dest);
                }
            }
        }
        Ok(())
    }

    /// Whether a source before this one, or a link, has something there.
    fn is_occupied(&self, dest: &str) -> bool {
        let mut path = dest.to_owned();
        while path.len() > 1 {
            if self.files.contains_key(&path) || self.links.contains_key(&path) {
                return true;
            }
            path = paths::directory_of(&path);
        }
        false
    }
}

fn names(context: &PlanContext, function: &str, saltenv: &str, prefix: &str) -> Result<Vec<String>, Fault> {
    let answer = context.ctx.run(function, Arguments::positional([saltenv, prefix]))?;
    Ok(answer.as_list().unwrap_or_default().iter().map(Value::to_text).collect())
}

fn links(context: &PlanContext, saltenv: &str, prefix: &str) -> Result<Vec<(String, String)>, Fault> {
    let answer = context.ctx.run("cp.list_master_symlinks", Arguments::positional([saltenv, prefix]))?;
    let map = answer.as_map().cloned().unwrap_or_default();
    Ok(map.iter().map(|(link, target)| (link.to_text(), target.to_text())).collect())
}
