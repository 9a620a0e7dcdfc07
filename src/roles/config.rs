//! The configuration of master, minion and clients: Salt's files, read as Salt reads them.
//!
//! [`Config::load`] finds the file (`-c DIR`, `SALT_MASTER_CONFIG`, `SALT_CONFIG_DIR`, `/etc/salt`), follows
//! `default_include` and `include`, checks each known option against its declaration ([`option::Opt`], in
//! [`options`]), fills in the defaults and puts paths below `root_dir`. The whole is a map, [`Config::opts`], for
//! `config.get`; what the programs themselves use is typed: [`MasterOptions`], [`MinionOptions`].
//!
//! An option that nobody declared is kept. A known one of the wrong kind is an error that names file, line and column;
//! where the meaning is plain (`'4505'`, `yes` in quotes, one name instead of a list) it is taken.

pub mod file;
pub mod id;
pub mod option;
pub mod options;
mod views;

use file::Settings;
use halite_lang::yaml::YamlError;
use halite_value::{Map, Value};
use option::{Effect, Kind, Opt};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub use views::{CommonOptions, LogOptions, MasterOptions, MinionOptions, TcpKeepalive};

/// Where the configuration is when nobody says otherwise.
pub const CONFIG_DIR: &str = "/etc/salt";

/// Which of the two files a program reads. Clients of the master read the master's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Master,
    Minion,
}

impl Role {
    /// The name of its file.
    pub fn name(self) -> &'static str {
        match self {
            Role::Master => "master",
            Role::Minion => "minion",
        }
    }

    fn variable(self) -> &'static str {
        match self {
            Role::Master => "SALT_MASTER_CONFIG",
            Role::Minion => "SALT_MINION_CONFIG",
        }
    }

    /// All options of the role, in the order of the sample file.
    pub fn options(self) -> impl Iterator<Item = &'static Opt> {
        self.sections().iter().flat_map(|section| section.options)
    }

    pub fn sections(self) -> &'static [&'static option::Section] {
        match self {
            Role::Master => options::MASTER,
            Role::Minion => options::MINION,
        }
    }
}

/// What the configuration depends on beside the files: given by `main`, made up by tests.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// `-c DIR`, when given.
    pub config_dir: Option<PathBuf>,
    /// The environment variables that matter, by name.
    pub variables: HashMap<String, String>,
}

impl Surroundings {
    /// Those of this process.
    pub fn of_process(config_dir: Option<PathBuf>) -> Surroundings {
        // A daemon changes its directory; what the user typed is relative to the one he typed it in.
        let config_dir = config_dir.map(|dir| std::path::absolute(&dir).unwrap_or(dir));
        let names = ["SALT_MASTER_CONFIG", "SALT_MINION_CONFIG", "SALT_CONFIG_DIR", "HOME"];
        let variables = names.iter().filter_map(|name| Some((name.to_string(), std::env::var(name).ok()?)));
        Surroundings { config_dir, variables: variables.collect() }
    }

    fn variable(&self, name: &str) -> Option<&Path> {
        self.variables.get(name).filter(|text| !text.is_empty()).map(Path::new)
    }

    /// `-c DIR` wins; then the variable of the file, then that of the directory, each if its file exists.
    fn file(&self, role: Role) -> PathBuf {
        let given = self.config_dir.as_deref().filter(|dir| *dir != Path::new(CONFIG_DIR));
        if let Some(dir) = given {
            return dir.join(role.name());
        }
        let by_file = self.variable(role.variable()).map(Path::to_owned);
        let by_directory = self.variable("SALT_CONFIG_DIR").map(|dir| dir.join(role.name()));
        let named = by_file.into_iter().chain(by_directory).find(|file| file.is_file());
        named.unwrap_or_else(|| Path::new(CONFIG_DIR).join(role.name()))
    }
}

/// Where an option was set. Line and column count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub file: PathBuf,
    pub line: usize,
    pub column: usize,
}

/// A configuration, complete.
#[derive(Clone, Debug)]
pub struct Config {
    pub role: Role,
    /// The main file, whether it exists or not.
    pub file: PathBuf,
    /// Every option, defaults filled in, unknown ones kept; what `config.get` reads and modules see.
    pub opts: Map,
    /// Where each option that was set stands.
    pub origins: HashMap<String, Origin>,
    /// For the log, once it is set up.
    pub warnings: Vec<String>,
}

impl Config {
    /// Reads and checks everything. A file that does not exist leaves the defaults; the id is not decided yet, see
    /// [`Config::resolve_id`].
    pub fn load(role: Role, around: &Surroundings) -> Result<Config, ConfigError> {
        let file = around.file(role);
        let mut warnings = Vec::new();
        if let Some(dir) = &around.config_dir
            && !dir.is_dir()
        {
            warnings.push(format!("the configuration directory {} does not exist", dir.display()));
        }
        let mut settings = Settings::read(&file)?;
        let home = around.variable("HOME");
        let default_include = Value::from(format!("{}.d/*.conf", role.name()));
        let by_default = settings.options.at("default_include").cloned().unwrap_or(default_include);
        let named = settings.options.at("include").cloned().unwrap_or_default();
        settings.replace_with(file::included(&by_default, &file, home)?);
        settings.replace_with(file::included(&named, &file, home)?);
        warnings.append(&mut settings.warnings);
        Config::complete(role, file, settings, warnings)
    }

    /// A configuration from a text, for programs that carry theirs with them. The path is for messages.
    pub fn from_text(role: Role, text: &str, file: &Path) -> Result<Config, ConfigError> {
        let mut settings = Settings::parse(text, file)?;
        let warnings = std::mem::take(&mut settings.warnings);
        Config::complete(role, file.to_owned(), settings, warnings)
    }

    fn complete(
        role: Role,
        file: PathBuf,
        mut settings: Settings,
        warnings: Vec<String>,
    ) -> Result<Config, ConfigError> {
        let mut opts = Map::with_capacity(512);
        for option in role.options() {
            let value = match settings.options.remove(option.name) {
                Some(given) => {
                    let shown = shown(option.name, &given);
                    option.accept(given).map_err(|wants| {
                        let problem = format!("the option '{}' wants {wants}, found {shown}", option.name);
                        ConfigError::at(settings.origins.get(option.name), problem)
                    })?
                }
                None => option.default_value(),
            };
            opts.insert(option.name, value);
        }
        // What is left was set and is not known.
        opts.extend(settings.options);
        opts.insert("conf_file", file.to_string_lossy().into_owned());
        opts.insert("__role", role.name());
        let mut config = Config { role, file, opts, origins: settings.origins, warnings };
        config.settle();
        Ok(config)
    }

    /// What follows from several options together.
    fn settle(&mut self) {
        self.rename_old();
        self.place_log();
        let cachedir = self.text("cachedir").to_owned();
        // A socket's path must be short.
        if self.text("sock_dir").len() > cachedir.len() + 10 {
            self.opts.insert("sock_dir", format!("{cachedir}/.salt-unix"));
        }
        if self.text("extension_modules").is_empty() {
            self.opts.insert("extension_modules", format!("{cachedir}/extmods"));
        }
        if self.role == Role::Master {
            self.opts.insert("token_dir", format!("{cachedir}/tokens"));
            self.opts.insert("syndic_dir", format!("{cachedir}/syndics"));
        }
        if self.list("utils_dirs").is_empty() {
            let dir = format!("{}/utils", self.text("extension_modules"));
            self.opts.insert("utils_dirs", Value::list([dir]));
        }
        for name in ["file_roots", "pillar_roots", "master_roots", "thorium_roots"] {
            if let Some(Value::Map(roots)) = self.opts.at_mut(name) {
                roots.iter_mut().for_each(|(_, directories)| *directories = existing_or_as_written(directories));
            }
        }
        let lower = self.text("hash_type").to_lowercase();
        self.opts.insert("hash_type", lower);
        self.put_below_root();
    }

    fn rename_old(&mut self) {
        if let Some(old) = self.opts.at("environment").filter(|old| !old.is_null()).cloned() {
            self.warnings.push("the option 'environment' is now called 'saltenv'".to_owned());
            if self.opts.at("saltenv").is_none_or(Value::is_null) {
                self.opts.insert("saltenv", old);
            }
        }
        if let Some(Value::List(backends)) = self.opts.at_mut("fileserver_backend") {
            for backend in backends {
                if let Some(short @ ("git" | "hg" | "svn" | "minion")) = backend.as_str() {
                    *backend = Value::from(format!("{short}fs"));
                }
            }
        }
    }

    fn place_log(&mut self) {
        let Some(dir) = self.opts.str_at("log_dir").filter(|dir| !dir.is_empty()).map(Path::new) else { return };
        let set = self.origins.contains_key("log_file");
        let file = if set { self.text("log_file") } else { self.role.name() };
        let file = dir.join(file).to_string_lossy().into_owned();
        self.opts.insert("log_file", file);
    }

    /// Paths that are not below `root_dir` are put there, absolute ones too; the addresses of log daemons are not.
    fn put_below_root(&mut self) {
        let root = PathBuf::from(self.text("root_dir"));
        let kinds = self.role.options().filter(|option| matches!(option.kind, Kind::Path | Kind::Log));
        let names = kinds.map(|option| option.name).filter(|name| !matches!(*name, "root_dir" | "conf_file"));
        for name in names.chain(["token_dir", "syndic_dir"]) {
            let Some(path) = self.opts.str_at(name).filter(|path| !path.is_empty() && !path.contains("://")) else {
                continue;
            };
            let path = Path::new(path);
            if path.starts_with(&root) {
                continue;
            }
            let below = root.join(path.strip_prefix("/").unwrap_or(path));
            self.opts.insert(name, below.to_string_lossy().into_owned());
        }
    }

    /// Decides the id, puts it into the options and checks it: the option `id`, else the one kept in `minion_id`, else
    /// a name of the host. A guessed minion id is kept where `keep` says so.
    pub fn resolve_id(&mut self, names: &id::Names, keep: KeepId) -> Result<String, ConfigError> {
        let given = self.text("id").to_owned();
        let (mut id, by_address) = if given.is_empty() { self.guess_id(names, keep)? } else { (given.clone(), false) };
        let domain = self.text("append_domain");
        if !by_address && !domain.is_empty() && !id.ends_with(domain) && !id.ends_with('.') {
            id = format!("{id}.{domain}");
        }
        if self.role == Role::Master && given.is_empty() {
            id.push_str("_master");
        }
        id::check(&id).map_err(|problem| ConfigError::at(self.origins.get("id"), problem))?;
        self.opts.insert("id", id.as_str());
        self.place_by_id(&id);
        Ok(id)
    }

    fn guess_id(&self, names: &id::Names, keep: KeepId) -> Result<(String, bool), ConfigError> {
        let caching = self.truth("minion_id_caching") || self.role == Role::Master;
        let directory = self.text("root_dir").trim_end_matches('/').to_owned() + CONFIG_DIR;
        let kept_in = Path::new(&directory).join("minion_id");
        if let Some(id) = id::remembered(&kept_in).filter(|_| caching) {
            return Ok((id, false));
        }
        let named = match self.role {
            Role::Minion => id::called(&self.opts).map_err(|problem| self.fault("id_function", problem))?,
            Role::Master => None,
        };
        let (mut id, by_address) = match named.map_or_else(|| names.guess(), id::Guess::Name) {
            id::Guess::Name(name) => (name, false),
            id::Guess::Address(address) => (address, true),
        };
        if self.truth("minion_id_lowercase") {
            id = id.to_lowercase();
        }
        match self.opts.at("minion_id_remove_domain") {
            Some(Value::Bool(true)) if !by_address => id.truncate(id.find('.').unwrap_or(id.len())),
            Some(Value::Str(domain)) if !domain.is_empty() => {
                let end = format!(".{domain}").to_lowercase();
                if id.to_lowercase().ends_with(&end) {
                    id.truncate(id.len() - end.len());
                }
            }
            _ => {}
        }
        if caching && keep == KeepId::Yes && self.role == Role::Minion {
            id::remember(&kept_in, &id);
        }
        Ok((id, by_address))
    }

    /// Directories that hosts with one disk keep apart by id (`append_minionid_config_dirs`).
    fn place_by_id(&mut self, id: &str) {
        let named: Vec<String> = self.list("append_minionid_config_dirs").iter().map(Value::to_text).collect();
        for name in named {
            let path = PathBuf::from(self.text(&name));
            let (Some(directory), Some(last)) = (path.parent(), path.file_name()) else { continue };
            let placed = match name.as_str() {
                "pki_dir" | "cachedir" | "extension_modules" => path.join(id),
                "pidfile" => directory.join("salt").join(id).join(last),
                _ => continue,
            };
            self.opts.insert(name, placed.to_string_lossy().into_owned());
        }
    }

    /// What the master's programs use.
    pub fn master(&self) -> Result<MasterOptions, ConfigError> {
        MasterOptions::from_config(self)
    }

    /// What the minion's programs use.
    pub fn minion(&self) -> Result<MinionOptions, ConfigError> {
        MinionOptions::from_config(self)
    }

    /// An option's text; empty where it is not text.
    pub fn text(&self, name: &str) -> &str {
        self.opts.str_at(name).unwrap_or_default()
    }

    pub fn truth(&self, name: &str) -> bool {
        self.opts.at(name).is_some_and(Value::truthy)
    }

    pub fn list(&self, name: &str) -> &[Value] {
        self.opts.at(name).and_then(Value::as_list).unwrap_or_default()
    }

    /// The fault of an option's value, with the place where it was set.
    pub fn fault(&self, name: &str, problem: impl fmt::Display) -> ConfigError {
        ConfigError::at(self.origins.get(name), format!("the option '{name}' {problem}"))
    }

    /// The options that were set and do nothing here, with the reason and how much that matters: for the log at start.
    pub fn without_effect(&self) -> impl Iterator<Item = (&'static str, String, log::Level)> {
        self.role.options().filter(|option| self.origins.contains_key(option.name)).filter_map(|option| {
            match option.effect {
                Effect::Acts => None,
                Effect::None(reason) => Some((option.name, reason.to_owned(), log::Level::Info)),
                Effect::Awaits(feature) => {
                    Some((option.name, format!("this version does not have {feature} yet"), log::Level::Warn))
                }
            }
        })
    }
}

/// Whether a guessed id is written down for the next start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepId {
    Yes,
    No,
}

/// Why a configuration cannot be used. The fault of whoever wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    pub message: String,
    pub origin: Option<Origin>,
}

impl ConfigError {
    fn at(origin: Option<&Origin>, message: String) -> ConfigError {
        ConfigError { message, origin: origin.cloned() }
    }

    fn of_file(path: &Path, problem: String) -> ConfigError {
        ConfigError {
            message: format!("Error parsing configuration file: {} - {problem}", path.display()),
            origin: None,
        }
    }

    fn from_yaml(error: YamlError) -> ConfigError {
        let file = error.source.clone().unwrap_or_default();
        let origin = Origin { file: PathBuf::from(&file), line: error.line, column: error.column };
        ConfigError { message: format!("Error parsing configuration file: {file} - {error}"), origin: Some(origin) }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            // The message of a file that is no YAML says all places itself.
            Some(Origin { file, line, column }) if !self.message.starts_with("Error parsing") => {
                write!(f, "{}, line {line}, column {column}: {}", file.display(), self.message)
            }
            _ => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ConfigError {}

/// The directories of one environment as a list, patterns among them replaced by what they find.
fn existing_or_as_written(directories: &Value) -> Value {
    let written = match directories {
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        Value::Null => Vec::new(),
        one => vec![one.to_text()],
    };
    let found = written.into_iter().flat_map(|directory| {
        let fitting = if directory.contains(['*', '?', '[']) { file::glob(Path::new(&directory)) } else { Vec::new() };
        let names: Vec<String> = fitting.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        if names.is_empty() { vec![directory] } else { names }
    });
    Value::list(found)
}

/// A value for a message; never the value of what is a secret.
fn shown(name: &str, value: &Value) -> String {
    let secret = ["pass", "secret", "token", "priv"].iter().any(|word| name.contains(word));
    match value {
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a map".to_owned(),
        Value::Str(_) if secret => "a text".to_owned(),
        other => other.repr().chars().take(60).collect(),
    }
}

#[cfg(test)]
mod tests;
