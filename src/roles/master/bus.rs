//! The event bus: everything that happens, with Salt's tags and data, to whoever listens.
//!
//! Events go out on a publisher in `sock_dir`. Each has a number; a listener that is too slow loses its own events alone
//! and counts them from the numbers.

use halite_value::Map;
use halite_wire::cbor;
use halite_wire::link::LinkError;
use halite_wire::message::Numbered;
use halite_wire::nng::Publisher;
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// Where the bus of a master is.
pub fn path_in(sock_dir: &Path) -> PathBuf {
    sock_dir.join("master_event_pub.ipc")
}

pub struct Bus {
    publisher: Publisher,
    number: Cell<u64>,
}

impl Bus {
    /// Only the owner of the master may listen: events hold arguments and returns.
    pub fn open(sock_dir: &Path) -> Result<Bus, LinkError> {
        Ok(Bus { publisher: Publisher::local(&path_in(sock_dir), 0o600)?, number: Cell::new(0) })
    }

    /// Puts an event on the bus. The time stamp is added here.
    pub fn fire(&self, tag: impl Into<String>, mut data: Map) -> Numbered {
        data.insert("_stamp", stamp_now());
        self.number.set(self.number.get() + 1);
        let event = Numbered { number: self.number.get(), tag: tag.into(), data };
        if !self.publisher.is_alone() {
            let published =
                cbor::encode(&event).map_err(LinkError::from).and_then(|frame| self.publisher.publish(frame));
            if let Err(error) = published {
                log::error!("the event '{}' does not reach those who listen: {error}", event.tag.escape_debug());
            }
        }
        event
    }
}

/// The time as events carry it: UTC, microseconds, `+00:00`.
pub fn stamp_now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00").to_string()
}
