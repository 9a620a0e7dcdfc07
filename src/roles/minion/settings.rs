//! What a minion needs to know to start, taken from its configuration.

use crate::wire::handshake::Purpose;
use crate::wire::value::Map;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The configuration of a minion as its parts use it.
#[derive(Clone)]
pub struct Settings {
    pub id: String,
    /// Names or addresses, tried in turn.
    pub masters: Vec<String>,
    pub master_port: u16,
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
    /// The longest random delay of a handshake after a master has forgotten the session.
    pub reauth_delay: Duration,
    /// What its sessions are for.
    pub purpose: Purpose,
    /// All options, defaults filled in.
    pub opts: Arc<Map>,
    pub grains: Arc<Map>,
}
