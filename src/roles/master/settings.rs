//! What a master needs to know to start, taken from its configuration.

use super::acl::Acl;
use super::trust::Rules;
use halite_value::Map;
use halite_wire::nng::Keepalive;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The configuration of a master as its parts use it.
pub struct Settings {
    /// The name of this master in events and returns.
    pub id: String,
    pub interface: IpAddr,
    pub publish_port: u16,
    pub ret_port: u16,
    pub keepalive: Keepalive,
    pub sock_dir: PathBuf,
    pub cachedir: PathBuf,
    pub pki_dir: PathBuf,
    pub rules: Rules,
    pub acl: Acl,
    pub presence_events: Events,
    /// Whether every event is kept in the database (`event_return`).
    pub keep_events: Events,
    /// Jobs older than this are removed; nothing: never.
    pub keep_jobs: Option<Duration>,
    pub loop_interval: Duration,
    /// A job that a minion has taken is lost when the minion stays away this long.
    pub lost_after: Duration,
    /// How many minions may be connected at the same time; zero: any number.
    pub max_minions: usize,
    /// How many keys may wait for a decision.
    pub pending_max: usize,
    /// The longest event that a minion may fire, in bytes.
    pub max_event_size: usize,
    /// All options, defaults filled in.
    pub opts: Map,
}

/// Whether a kind of event is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Events {
    On,
    Off,
}
