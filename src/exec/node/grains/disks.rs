//! Disks that turn, and disks that do not.

use super::Look;
use halite_value::{Map, Value};

pub(super) fn grains(look: &Look) -> Map {
    let (mut disks, mut ssds) = (Vec::new(), Vec::new());
    for name in look.names("/sys/block") {
        let path = format!("/sys/block/{name}");
        let target = look.host.stat(path.as_ref()).ok().and_then(|stat| stat.target);
        if target.is_some_and(|target| target.starts_with("../devices/virtual")) {
            continue;
        }
        match look.line(&format!("{path}/queue/rotational")).as_deref() {
            Some("0") => ssds.push(name),
            Some("1") => disks.push(name),
            _ => {}
        }
    }
    Map::from_iter([("disks", Value::list(disks)), ("ssds", Value::list(ssds))])
}

#[cfg(test)]
mod tests {
    use crate::grains::collect;
    use halite_core::host::fake::Fake;
    use halite_value::{Map, Value};

    #[test]
    fn disks_are_told_apart() {
        let host = Fake::new()
            .file("/sys/block/nvme0n1/queue/rotational", "0\n")
            .file("/sys/block/sda/queue/rotational", "1\n")
            .file("/sys/block/odd/size", "1\n");
        let grains = collect(&host, &Map::new());
        assert_eq!(grains.at("disks"), Some(&Value::list(["sda"])));
        assert_eq!(grains.at("ssds"), Some(&Value::list(["nvme0n1"])));
    }
}
