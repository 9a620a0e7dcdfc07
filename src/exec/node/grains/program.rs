//! The minion itself: who it is, whom it serves, which Salt it follows.

use super::Look;
use halite_core::host::own;
use halite_core::{SALT_VERSION, VERSION};
use halite_value::{Map, Value};
use sha2::{Digest, Sha256};

pub(super) fn grains(look: &Look) -> Map {
    let id = look.opts.str_at("id").unwrap_or_default();
    let mut grains = Map::new();
    grains.insert("id", id);
    grains.insert("master", look.opts.at("master").cloned().unwrap_or_default());
    grains.insert("server_id", server_id(id));
    let machine = ["/etc/machine-id", "/var/lib/dbus/machine-id"].iter().find_map(|path| look.line(path));
    if let Some(machine) = machine.filter(|machine| !machine.is_empty()) {
        grains.insert("machine_id", machine);
    }
    let [major, minor] = SALT_VERSION;
    grains.insert("saltversion", format!("{major}.{minor}"));
    grains.insert("saltversioninfo", Value::list(SALT_VERSION));
    grains.insert("haliteversion", VERSION);
    if let Ok(path) = own::program() {
        grains.insert("saltpath", path.to_string_lossy().as_ref());
    }
    grains
}

/// A number below 2^31 that the id always has, for what wants a server's number (MySQL replication).
fn server_id(id: &str) -> i64 {
    let digest = Sha256::digest(id.as_bytes());
    let last = [digest[28], digest[29], digest[30], digest[31]];
    i64::from(u32::from_be_bytes(last) & 0x7fff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_id_is_the_one_that_salt_computes() {
        assert_eq!(server_id("web1"), 1_826_842_219);
    }
}
