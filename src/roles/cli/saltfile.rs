//! A Saltfile: options that a user does not want to type each time, by program.
//!
//! ```yaml
//! salt:
//!   config_dir: etc
//!   output: json
//! ```

use super::Stop;
use halite_lang::yaml;
use halite_value::Value;
use std::path::{Path, PathBuf};

/// Options of a program from its Saltfile, as they stand in it: names with underscores or dashes.
pub struct Saltfile {
    path: PathBuf,
    pub options: Vec<(String, Value)>,
}

impl Saltfile {
    /// Reads the file that `--saltfile`, else SALT_SALTFILE names, else `Saltfile` in the directory where the program runs
    /// or `.salt/Saltfile` in the user's home, if there is one.
    pub fn find(program: &str, named: Option<&str>) -> Result<Saltfile, Stop> {
        let by_environment = || std::env::var("SALT_SALTFILE").ok().filter(|path| !path.is_empty());
        if let Some(path) = named.map(str::to_owned).or_else(by_environment) {
            let asker = if named.is_some() { "--saltfile" } else { "SALT_SALTFILE" };
            return match Path::new(&path).metadata() {
                Ok(_) => Saltfile::read(program, Path::new(&path)),
                Err(error) => Err(Stop::Usage(format!("{asker} {path}: {error}"))),
            };
        }
        let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".salt/Saltfile"));
        match [PathBuf::from("Saltfile")].into_iter().chain(home).find(|path| path.is_file()) {
            Some(path) => Saltfile::read(program, &path),
            None => Ok(Saltfile { path: PathBuf::new(), options: Vec::new() }),
        }
    }

    /// The part of a file that is for a program; a file without one gives nothing.
    pub fn read(program: &str, path: &Path) -> Result<Saltfile, Stop> {
        let at_fault = |why: String| Stop::Usage(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| at_fault(error.to_string()))?;
        let all = yaml::load(&text).map_err(|error| {
            let (line, column) = (error.line, error.column);
            Stop::Usage(format!("{}, line {line}, column {column}: {}", path.display(), error.message))
        })?;
        let options = match all.at(program) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Map(map)) => map.iter().map(|(name, value)| (name.to_text(), value.clone())).collect(),
            Some(other) => return Err(at_fault(format!("{program} holds options, not a {}", other.type_name()))),
        };
        Ok(Saltfile { path: path.to_owned(), options })
    }

    /// A complaint about one of its options.
    pub fn fault(&self, program: &str, name: &str, why: &str) -> Stop {
        Stop::Usage(format!("{}: {program}: {name}: {why}", self.path.display()))
    }
}
