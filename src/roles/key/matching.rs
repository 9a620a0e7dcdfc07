//! Which keys a word of the command line means.

use halite_keys::store::StoreError;
use halite_keys::{KeyStatus, KeyStore};
use halite_lang::target::fnmatch::Pattern;

/// Ids by standing, each standing with at least one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Match {
    pub groups: Vec<(KeyStatus, Vec<String>)>,
}

impl Match {
    /// The keys of all standings whose id fits one of several patterns with commas between them.
    pub fn of(store: &KeyStore, patterns: &str) -> Result<Match, StoreError> {
        let patterns: Vec<Pattern> = patterns.split(',').map(Pattern::new).collect();
        let mut groups = Vec::new();
        for standing in KeyStatus::ALL {
            let mut ids = store.list(standing)?;
            ids.retain(|id| patterns.iter().any(|pattern| pattern.matches(id)));
            if !ids.is_empty() {
                groups.push((standing, ids));
            }
        }
        Ok(Match { groups })
    }

    /// Those of some standings, in their order.
    pub fn only(mut self, standings: &[KeyStatus]) -> Match {
        self.groups.retain(|(standing, _)| standings.contains(standing));
        self
    }
}

/// True when a name fits one of several patterns with commas between them.
pub fn fits(patterns: &str, name: &str) -> bool {
    patterns.split(',').any(|pattern| Pattern::new(pattern).matches(name))
}
