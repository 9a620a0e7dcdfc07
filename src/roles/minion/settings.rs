//! What a minion needs to know to start, taken from its configuration.

use halite_value::Map;
use halite_wire::handshake::Purpose;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The configuration of a minion as its parts use it.
#[derive(Clone)]
pub struct Settings {
    pub id: String,
    /// Tried in turn.
    pub masters: Vec<Place>,
    pub pki_dir: PathBuf,
    pub cachedir: PathBuf,
    /// Where local programs reach this minion; nothing: nowhere.
    pub sock_dir: Option<PathBuf>,
    /// `master_finger`.
    pub finger: Option<String>,
    /// How long a key that is not accepted waits before it asks again, and how long at most.
    pub acceptance_wait: Duration,
    pub acceptance_wait_max: Duration,
    /// How long until a connection that broke is made again, and how long at most.
    pub reconnect: Duration,
    pub reconnect_max: Duration,
    /// Up to so long is waited before the first connection, at random.
    pub startup_delay: Duration,
    /// How often the master is asked whether it is there; zero: never.
    pub ping_interval: Duration,
    /// The longest event that is sent, in bytes.
    pub max_event_size: usize,
    /// How long a handshake may take.
    pub auth_timeout: Duration,
    /// The longest random delay of a handshake after a master has forgotten the session; nothing: what that master has
    /// said before.
    pub reauth_delay: Option<Duration>,
    /// How many jobs may be worked on at the same time; nothing: any number.
    pub jobs_at_once: Option<u32>,
    /// What its sessions are for.
    pub purpose: Purpose,
    /// How long the master may say nothing before a request for a file fails.
    pub file_timeout: Duration,
    /// Who starts it again when it ends.
    pub keeper: Keeper,
    /// All options, defaults filled in.
    pub opts: Arc<Map>,
    pub grains: Arc<Map>,
}

/// Who starts a minion again when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// A process of the same program, which can try another version of it.
    Supervisor,
    /// Nobody that this minion knows of.
    Nobody,
}

/// Where a master is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// A name or an address.
    pub host: String,
    pub port: u16,
}

impl Place {
    /// A place as the option `master` names it: with a port of its own (`name:4606`, `[::1]:4606`) or without.
    pub fn read(text: &str, port: u16) -> Place {
        let with_port = text.rsplit_once(':').filter(|(host, _)| host.ends_with(']') || !host.contains(':'));
        match with_port.and_then(|(host, own)| Some((host, own.parse().ok()?))) {
            Some((host, own)) => Place { host: host.to_owned(), port: own },
            None => Place { host: text.to_owned(), port },
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_master_may_have_a_port_of_its_own() {
        for (text, host, port) in [
            ("salt", "salt", 4506),
            ("salt:1", "salt", 1),
            ("10.0.0.1:44506", "10.0.0.1", 44506),
            ("::1", "::1", 4506),
            ("[::1]", "[::1]", 4506),
            ("[::1]:7", "[::1]", 7),
            ("salt:x", "salt:x", 4506),
        ] {
            assert_eq!(Place::read(text, 4506), Place { host: host.to_owned(), port }, "{text}");
        }
    }
}
