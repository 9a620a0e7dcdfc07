//! Who has the network of a host: files of the distribution, netplan or NetworkManager.

use halite_core::{Ctx, paths};

/// Where netplan has its files.
pub const NETPLAN: &str = "/etc/netplan";

/// Whether netplan has this host's network.
pub fn is_netplan(ctx: &Ctx) -> bool {
    ctx.host.which("netplan").is_some() && paths::is_directory(ctx.host, NETPLAN)
}

/// Whether NetworkManager runs, and the programs of network-scripts are not there.
pub fn is_network_manager(ctx: &Ctx) -> bool {
    let has = |program: &str| ctx.host.which(program).is_some();
    has("nmcli") && paths::is_directory(ctx.host, "/run/NetworkManager") && !has("ifup") && !has("ifdown")
}

/// Whether the options of a bond stand in a file of their own.
pub fn is_bond_apart(ctx: &Ctx) -> bool {
    ctx.grains.str_at("os_family") == Some("Debian") && !is_netplan(ctx)
}
