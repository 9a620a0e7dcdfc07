//! The tool for packages that a host has.

use halite_core::{Ctx, Fault};

/// `apt`, `dnf`, `zypper` or `apk`; a fault where the host has none of them.
pub fn package_tool(ctx: &Ctx) -> Result<&'static str, Fault> {
    let has = |program: &str| ctx.host.which(program).is_some();
    match ctx.grains.str_at("os_family") {
        Some("Debian") => Ok("apt"),
        Some("RedHat") => Ok("dnf"),
        Some("Suse") => Ok("zypper"),
        Some("Alpine") => Ok("apk"),
        _ if has("apt-get") => Ok("apt"),
        _ if has("dnf") || has("yum") => Ok("dnf"),
        _ if has("zypper") => Ok("zypper"),
        _ if has("apk") => Ok("apk"),
        _ => Err(Fault::execution("pkg: this host has none of apt-get, dnf, yum, zypper and apk")),
    }
}
