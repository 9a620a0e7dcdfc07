//! The names by which a machine is known on networks of storage, where the configuration asks for them.

use super::{Look, is_on};
use halite_value::{Map, Value};

pub(super) fn grains(look: &Look) -> Map {
    let mut grains = Map::new();
    if is_on(look.opts, "fibre_channel_grains") {
        grains.insert("fc_wwn", adapters(look));
    }
    if is_on(look.opts, "iscsi_grains") {
        let lines = look.text("/etc/iscsi/initiatorname.iscsi").unwrap_or_default();
        grains.insert("iscsi_iqn", Value::list(lines.lines().filter_map(|l| l.trim().strip_prefix("InitiatorName="))));
    }
    if is_on(look.opts, "nvme_grains") {
        let lines = look.text("/etc/nvme/hostnqn").unwrap_or_default();
        grains.insert("nvme_nqn", Value::list(lines.lines().map(str::trim).filter(|line| line.starts_with("nqn."))));
    }
    grains
}

/// The names of the Fibre Channel adapters, without `0x`.
fn adapters(look: &Look) -> Value {
    let directory = "/sys/class/fc_host";
    let ports =
        look.names(directory).into_iter().filter_map(|name| look.line(&format!("{directory}/{name}/port_name")));
    Value::list(ports.map(|port| port.trim_start_matches("0x").to_owned()))
}

#[cfg(test)]
mod tests {
    use crate::grains::collect;
    use halite_core::host::fake::Fake;
    use halite_value::{Map, Value};

    #[test]
    fn names_of_storage_are_told_to_who_asks_for_them() {
        let host = Fake::new()
            .file("/sys/class/fc_host/host1/port_name", "0x21000024ff000001\n")
            .file("/etc/iscsi/initiatorname.iscsi", "# mine\nInitiatorName=iqn.1993-08.org.debian:01:d12f\n")
            .file("/etc/nvme/hostnqn", "nqn.2014-08.org.nvmexpress:uuid:02dd3a85\n");
        let silent = collect(&host, &Map::new());
        for (option, grain, value) in [
            ("fibre_channel_grains", "fc_wwn", "21000024ff000001"),
            ("iscsi_grains", "iscsi_iqn", "iqn.1993-08.org.debian:01:d12f"),
            ("nvme_grains", "nvme_nqn", "nqn.2014-08.org.nvmexpress:uuid:02dd3a85"),
        ] {
            assert_eq!(silent.at(grain), None);
            let grains = collect(&host, &Map::from_iter([(option, true)]));
            assert_eq!(grains.at(grain), Some(&Value::list([value])), "{option}");
        }
    }
}
