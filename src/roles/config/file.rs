//! Reading configuration files: one map of options, where each stands, and what they include.

use super::{ConfigError, Origin};
use halite_lang::target::fnmatch::Pattern;
use halite_lang::yaml;
use halite_value::{Map, Value};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Files may include files, so far.
const INCLUDE_DEPTH: usize = 20;

/// What one or several files say.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub options: Map,
    pub origins: HashMap<String, Origin>,
    /// What is allowed and seldom meant, one sentence each, with its file.
    pub warnings: Vec<String>,
}

impl Settings {
    /// Reads a file; nothing is set by one that does not exist.
    pub fn read(path: &Path) -> Result<Settings, ConfigError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Settings::default());
            }
            // Programs that need no secrets work for everybody, as in Salt.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let warning = format!("{} may not be read by this user; what it sets does not count", path.display());
                return Ok(Settings { warnings: vec![warning], ..Settings::default() });
            }
            Err(error) => return Err(ConfigError::of_file(path, format!("it cannot be read: {error}"))),
        };
        let text = String::from_utf8(bytes).map_err(|error| {
            let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
            ConfigError::of_file(path, format!("line {line} is not UTF-8 text"))
        })?;
        Settings::parse(&text, path)
    }

    /// Takes the text of a file apart. The path is for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Settings, ConfigError> {
        let document = yaml::load_document(text)
            .map_err(|error| ConfigError::from_yaml(error.named(path.display().to_string())))?;
        let mut settings = Settings {
            warnings: document.warnings.iter().map(|warning| format!("{}, {warning}", path.display())).collect(),
            ..Settings::default()
        };
        let options = match document.value {
            Value::Map(options) => options,
            Value::Null => return Ok(settings),
            other => {
                let problem = format!("it must hold options (NAME: VALUE), not a {}", other.type_name());
                return Err(ConfigError::of_file(path, problem));
            }
        };
        for (index, (name, value)) in options.into_iter().enumerate() {
            let at = document.marks.key(index);
            let name = name.to_text();
            settings.origins.insert(name.clone(), Origin { file: path.to_owned(), line: at.line, column: at.column });
            settings.options.insert(name, value);
        }
        Ok(settings)
    }

    /// The options of another replace those of the same name.
    pub fn replace_with(&mut self, other: Settings) {
        self.options.extend(other.options);
        self.origins.extend(other.origins);
        self.warnings.extend(other.warnings);
    }

    /// Maps are merged, lists joined, everything else replaced: how files of one directory add to each other.
    fn merge(&mut self, other: Settings) {
        merge_maps(&mut self.options, other.options);
        self.origins.extend(other.origins);
        self.warnings.extend(other.warnings);
    }
}

/// Reads what an `include` or `default_include` names: paths or patterns, relative to the file that names them.
pub fn included(include: &Value, from: &Path, home: Option<&Path>) -> Result<Settings, ConfigError> {
    included_at(include, from, home, 0)
}

fn included_at(include: &Value, from: &Path, home: Option<&Path>, depth: usize) -> Result<Settings, ConfigError> {
    if depth > INCLUDE_DEPTH {
        return Err(ConfigError::of_file(from, format!("files include each other more than {INCLUDE_DEPTH} deep")));
    }
    let patterns = match include {
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        Value::Str(text) if !text.is_empty() => vec![text.to_string()],
        _ => Vec::new(),
    };
    let mut all = Settings::default();
    for pattern in patterns {
        let files = glob(&absolute(&pattern, from, home));
        let plain = Pattern::new(&pattern).literal().is_some();
        if files.is_empty() && plain {
            all.warnings.push(format!("{}: the included file {pattern} does not exist", from.display()));
        }
        for file in files {
            let mut settings = match Settings::read(&file) {
                Ok(settings) => settings,
                // The scheduler writes this one; a broken one must not keep the minion from starting.
                Err(error) if file.to_string_lossy().ends_with("_schedule.conf") => {
                    all.warnings.push(format!("ignored: {error}"));
                    continue;
                }
                Err(error) => return Err(error),
            };
            if let Some(more) = settings.options.at("include").cloned() {
                settings.replace_with(included_at(&more, &file, home, depth + 1)?);
            }
            all.merge(settings);
        }
    }
    Ok(all)
}

fn absolute(pattern: &str, from: &Path, home: Option<&Path>) -> PathBuf {
    match (pattern.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => from.parent().unwrap_or(Path::new("/")).join(pattern),
    }
}

fn merge_maps(into: &mut Map, from: Map) {
    for (key, value) in from {
        match (into.at_value_mut(&key), value) {
            (Some(Value::Map(old)), Value::Map(new)) => merge_maps(old, new),
            (Some(Value::List(old)), Value::List(new)) => {
                let more: Vec<Value> = new.into_iter().filter(|item| !old.contains(item)).collect();
                old.extend(more);
            }
            (Some(old), new) => *old = new,
            (None, new) => {
                into.insert(key, new);
            }
        }
    }
}

/// The files and directories that fit a path whose parts may be patterns, sorted. A pattern finds no hidden name.
pub fn glob(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let Component::Normal(name) = part else {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        };
        let name = name.to_string_lossy();
        let step = Pattern::new(&name);
        if step.literal().is_some() {
            found.iter_mut().for_each(|path| path.push(&*name));
            continue;
        }
        found = found.iter().flat_map(|directory| fitting(directory, &step, name.starts_with('.'))).collect();
    }
    found.retain(|path| path.exists());
    found.sort();
    found
}

fn fitting(directory: &Path, step: &Pattern, hidden: bool) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    let fits = |name: &str| (hidden || !name.starts_with('.')) && step.matches(name);
    names.filter(|name| name.to_str().is_some_and(fits)).map(|name| directory.join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_directory_add_to_each_other() {
        let parse = |text| Settings::parse(text, Path::new("/x.conf")).unwrap();
        let mut all = parse("a: {x: 1}\nl: [1]\ns: 1\n");
        all.merge(parse("a: {y: 2}\nl: [1, 2]\ns: 2\n"));
        assert_eq!(Value::from(all.options).to_json(), r#"{"a": {"x": 1, "y": 2}, "l": [1, 2], "s": 2}"#);
    }

    #[test]
    fn a_file_that_holds_no_options_is_refused() {
        let refusal = |text| Settings::parse(text, Path::new("/etc/salt/master")).unwrap_err().to_string();
        assert!(refusal("just text\n").contains("/etc/salt/master"), "{}", refusal("just text\n"));
        assert!(refusal("a: b: c\n").contains("line 1, column 5"), "{}", refusal("a: b: c\n"));
        assert!(Settings::parse("# nothing\n", Path::new("/x")).unwrap().options.is_empty());
    }
}
