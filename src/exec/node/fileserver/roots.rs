//! `file_roots`: the directories of each environment.

use super::names::is_saltenv;
use halite_core::host::own;
use halite_lang::target::fnmatch::fnmatch;
use halite_value::Value;
use std::path::{Path, PathBuf};

/// Stands for every environment that is not named itself, as a key and inside of paths.
const ANY: &str = "__env__";

/// The directories of each environment, in the order in which they are searched.
#[derive(Clone, Debug, Default)]
pub struct Roots(Vec<(String, Vec<String>)>);

impl Roots {
    /// Reads the option. What is no list of directories gives an environment without files, as in Salt; patterns in a
    /// directory's path are expanded once, here.
    pub fn new(option: Option<&Value>) -> Roots {
        let directories = |value: &Value| match value {
            Value::List(items) => items.iter().map(Value::to_text).flat_map(expanded).collect(),
            _ => Vec::new(),
        };
        let environments = option
            .and_then(Value::as_map)
            .map(|map| map.iter().map(|(saltenv, value)| (saltenv.to_text(), directories(value))).collect::<Vec<_>>());
        Roots(environments.unwrap_or_default())
    }

    /// The environments that are named, sorted.
    pub fn environments(&self) -> Vec<String> {
        let mut names: Vec<String> = self.0.iter().map(|(saltenv, _)| saltenv.clone()).collect();
        names.sort();
        names
    }

    /// The directories of an environment; none for one that there is not, or whose name could lead elsewhere.
    pub fn of(&self, saltenv: &str) -> Vec<PathBuf> {
        let named = |name: &str| self.0.iter().find(|(other, _)| other == name).map(|(_, directories)| directories);
        if !is_saltenv(saltenv) {
            return Vec::new();
        }
        match (named(saltenv), named(ANY)) {
            (Some(directories), _) if saltenv != ANY => directories.iter().map(PathBuf::from).collect(),
            (_, Some(directories)) => {
                directories.iter().map(|directory| PathBuf::from(directory.replace(ANY, saltenv))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether there is such an environment.
    pub fn has(&self, saltenv: &str) -> bool {
        is_saltenv(saltenv) && self.0.iter().any(|(name, _)| name == saltenv || name == ANY)
    }

    /// Every directory, with environments that are not named left out.
    pub fn all(&self) -> impl Iterator<Item = PathBuf> {
        self.0.iter().flat_map(|(_, directories)| directories).map(PathBuf::from)
    }
}

/// The paths that a pattern means, sorted; a path without one is itself.
fn expanded(pattern: String) -> Vec<String> {
    if !pattern.contains(['*', '?', '[']) {
        return vec![pattern];
    }
    let start = if pattern.starts_with('/') { "/" } else { "" };
    let mut found = vec![start.to_owned()];
    for step in pattern.split('/').filter(|step| !step.is_empty()) {
        found = found.into_iter().flat_map(|before| matching(&before, step)).collect();
    }
    found
}

fn matching(before: &str, step: &str) -> Vec<String> {
    let joined = |name: &str| Path::new(before).join(name).to_string_lossy().into_owned();
    if !step.contains(['*', '?', '[']) {
        let path = joined(step);
        return if own::exists(Path::new(&path)) { vec![path] } else { Vec::new() };
    }
    let directory = if before.is_empty() { "." } else { before };
    let entries = own::entries(Path::new(directory)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    // A pattern means hidden names only where it says so.
    let shown = |name: &String| !name.starts_with('.') || step.starts_with('.');
    let mut paths: Vec<String> =
        names.filter(shown).filter(|name| fnmatch(name, step)).map(|name| joined(&name)).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::host::fake::Directory;
    use halite_lang::yaml;

    fn roots(text: &str) -> Roots {
        Roots::new(Some(&yaml::load(text).unwrap()))
    }

    #[test]
    fn every_other_environment_is_inside_the_directory_for_any() {
        let roots = roots("{base: [/srv/a, /srv/b], __env__: [/srv/envs/__env__/files], odd: 1}");
        assert_eq!(roots.environments(), ["__env__", "base", "odd"]);
        assert_eq!(roots.of("base"), [PathBuf::from("/srv/a"), PathBuf::from("/srv/b")]);
        assert_eq!(roots.of("qa"), [PathBuf::from("/srv/envs/qa/files")]);
        assert_eq!(roots.of("feature/x"), [PathBuf::from("/srv/envs/feature/x/files")]);
        assert!(roots.of("odd").is_empty() && roots.has("odd"));
        for saltenv in ["../../etc", "..", "/etc", "", "a/../../..", "x\0", "."] {
            assert!(roots.of(saltenv).is_empty() && !roots.has(saltenv), "{saltenv:?}");
        }
        assert!(!self::roots("{base: [/srv]}").has("qa"));
    }

    #[test]
    fn a_pattern_in_a_directory_means_those_that_match() {
        let directory = Directory::new();
        for name in ["one/files", "two/files", "three/other", ".four/files"] {
            std::fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        let root = directory.path().display();
        let roots = roots(&format!("{{base: ['{root}/*/files', '/srv/x']}}"));
        let expected =
            [directory.path().join("one/files"), directory.path().join("two/files"), PathBuf::from("/srv/x")];
        assert_eq!(roots.of("base"), expected);
    }
}
