//! Which states of which runs wait: a file for each run, `<cachedir>/state_pause/JID`, JSON by ID.

use halite_core::Fault;
use halite_core::host::own;
use halite_value::{Map, Value, parse_json};
use std::io;
use std::path::{Path, PathBuf};

/// Stands for every state of a run.
pub const ALL: &str = "__all__";

/// The pauses of a minion.
pub struct Pauses {
    directory: PathBuf,
}

impl Pauses {
    /// Nothing where there is no place for them.
    pub fn of(opts: &Map) -> Option<Pauses> {
        let cachedir = opts.str_at("cachedir").filter(|cachedir| !cachedir.is_empty())?;
        Some(Pauses { directory: Path::new(cachedir).join("state_pause") })
    }

    /// What is paused of a run, by ID; nothing at all for most.
    pub fn read(&self, jid: &str) -> Map {
        let text = own::read_text(&self.directory.join(jid)).unwrap_or_default();
        match parse_json(&text) {
            Ok(Value::Map(map)) => map,
            _ => Map::new(),
        }
    }

    /// Replaces it whole, so that no run reads half of it.
    pub fn write(&self, jid: &str, told: &Map) -> Result<(), Fault> {
        let failed = |error: io::Error| Fault::execution(format!("{}: {error}", self.directory.display()));
        own::make_directories(&self.directory).map_err(failed)?;
        let text = Value::Map(told.clone()).to_json();
        own::replace_private(&self.directory.join(jid), text.as_bytes()).map_err(failed)
    }

    /// The runs of which something is paused.
    pub fn jids(&self) -> Vec<String> {
        let names = own::entries(&self.directory).into_iter().flatten().flatten();
        let mut jids: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        jids.retain(|name| !name.starts_with('.'));
        jids.sort();
        jids
    }

    pub fn forget(&self, jid: &str) {
        let _ = own::remove(&self.directory.join(jid));
    }
}
