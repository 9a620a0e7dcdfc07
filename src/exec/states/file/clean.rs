//! `clean`: what stands in a directory and is nobody's.

use super::own_name;
use halite_core::host::FileKind;
use halite_core::paths::remove_all;
use halite_core::state::{PlanContext, REQUIRED};
use halite_core::{Ctx, Fault, paths};
use halite_lang::patterns::passes;
use halite_value::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// What is kept in a directory that is cleaned: paths, and the directories above them.
#[derive(Default)]
pub struct Kept {
    paths: BTreeSet<String>,
}

impl Kept {
    /// What the states put there that this one requires.
    pub fn required(context: &PlanContext, directory: &str) -> Result<Kept, Fault> {
        let mut kept = Kept::default();
        let required = context.low.at(REQUIRED).and_then(Value::as_list).unwrap_or_default();
        for low in required.iter().filter_map(Value::as_map) {
            let name = own_name(context.ctx, low.str_at("name").unwrap_or_default());
            if !paths::is_directory(context.ctx.host, &name) {
                kept.add(&name);
            } else if !paths::normal(&name).starts_with(&format!("{}/", paths::normal(directory)))
                && paths::normal(&name) != paths::normal(directory)
            {
                continue;
            } else if low.str_at("fun") == Some("recurse") {
                for path in super::recurse::paths_of(context, &name, low)? {
                    kept.add(&path);
                }
            } else {
                kept.add(&name);
                kept.below(context.ctx, &name);
            }
        }
        Ok(kept)
    }

    /// Keeps a path and the directories above it.
    pub fn add(&mut self, path: &str) {
        let mut path = paths::normal(path);
        while path.len() > 1 && self.paths.insert(path.clone()) {
            path = paths::directory_of(&path);
        }
    }

    fn below(&mut self, ctx: &Ctx, directory: &str) {
        for name in ctx.host.list(Path::new(directory)).unwrap_or_default() {
            let path = paths::join(&[directory.to_owned(), name]);
            self.paths.insert(path.clone());
            if ctx.host.stat(Path::new(&path)).is_ok_and(|stat| stat.kind == FileKind::Directory) {
                self.below(ctx, &path);
            }
        }
    }

    /// What is in a directory and is not kept. A directory in which something is excluded from the cleaning stays.
    pub fn others(&self, ctx: &Ctx, directory: &str, exclude: &Value) -> Result<Vec<String>, Fault> {
        let mut found = Vec::new();
        self.collect(ctx, directory, directory, exclude, &mut found)?;
        Ok(found)
    }

    /// Whether all of a directory is to go.
    fn collect(
        &self,
        ctx: &Ctx,
        root: &str,
        directory: &str,
        exclude: &Value,
        found: &mut Vec<String>,
    ) -> Result<bool, Fault> {
        let mut goes = true;
        for name in ctx.host.list(Path::new(directory)).unwrap_or_default() {
            let path = paths::join(&[directory.to_owned(), name]);
            let below = path.strip_prefix(root).unwrap_or(&path).trim_start_matches('/');
            let is_excluded = !passes(below, &Value::Null, exclude)?;
            let at = found.len();
            let is_directory = ctx.host.stat(Path::new(&path)).is_ok_and(|stat| stat.kind == FileKind::Directory);
            let empties = !is_directory || (!is_excluded && self.collect(ctx, root, &path, exclude, found)?);
            if is_excluded || self.paths.contains(&paths::normal(&path)) || !empties {
                goes = false;
            } else {
                found.insert(at, path);
            }
        }
        Ok(goes)
    }
}

/// Removes what is not kept, and says what was removed: what was in a directory is gone with it.
pub fn remove(ctx: &Ctx, found: &[String]) -> Result<Vec<String>, Fault> {
    let mut removed = Vec::new();
    for path in found {
        if ctx.host.stat(Path::new(path)).is_ok() {
            remove_all(ctx.host, Path::new(path)).map_err(|error| super::fault(path, &error))?;
            removed.push(path.clone());
        }
    }
    Ok(removed)
}

/// What test mode says of each path that goes.
pub fn removals(found: &[String]) -> Map {
    let change = || Value::from(Map::from_iter([("removed", "Removed due to clean")]));
    Map::from_iter(found.iter().map(|path| (Value::from(path.as_str()), change())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;

    #[test]
    fn what_is_kept_and_what_is_excluded_stays_with_its_directories() {
        let host = ["/d/a", "/d/keep/b", "/d/keep/c", "/d/gone/x", "/d/half/x.conf", "/d/half/y"]
            .iter()
            .fold(Fake::new().directory("/d"), |host, path| host.file(path, ""));
        let world = World::on(host);
        let mut kept = Kept::default();
        kept.add("/d/keep/b");
        let found = kept.others(&world.ctx(&NoMaster), "/d", &"*.conf".into()).unwrap();
        assert_eq!(found, ["/d/a", "/d/gone", "/d/gone/x", "/d/half/y", "/d/keep/c"]);
        let removed = remove(&world.ctx(&NoMaster), &found).unwrap();
        assert_eq!(removed, ["/d/a", "/d/gone", "/d/half/y", "/d/keep/c"]);
        assert!(world.host.text("/d/half/x.conf").is_some() && world.host.text("/d/gone/x").is_none());
    }
}
