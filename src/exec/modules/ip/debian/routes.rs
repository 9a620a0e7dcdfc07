//! `ip.get_routes` and `ip.build_routes` in Debian's family: scripts that add routes when an interface comes up and delete
//! them when it goes down.

use super::super::{Settings, lines_of, write};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

/// The scripts that add and delete. Names with a dot are not run by run-parts(8).
fn paths(iface: &str) -> [String; 2] {
    ["up", "down"].map(|when| format!("/etc/network/if-{when}.d/route-{}", iface.replace('.', "_")))
}

/// The lines of both; an empty text where there are none.
pub fn shown(ctx: &Ctx, iface: &str) -> Result<Value, Fault> {
    let lines: Vec<String> = paths(iface).iter().filter_map(|path| lines_of(ctx, path)).flatten().collect();
    Ok(if lines.is_empty() { "".into() } else { Value::list(lines) })
}

pub fn build(ctx: &Ctx, iface: &str, settings: &Settings) -> Result<Value, Fault> {
    let routes = settings.routes(iface)?;
    let [add, delete] = ["add", "del"].map(|verb| script(verb, iface, &routes));
    if settings.is_test() {
        return Ok(Value::list(super::lines(&(add + &delete))));
    }
    let [up, down] = paths(iface);
    write(ctx, &up, &add, Some(0o755))?;
    write(ctx, &down, &delete, Some(0o755))?;
    shown(ctx, iface)
}

fn script(verb: &str, iface: &str, routes: &[Map]) -> String {
    let mut text = format!("#!/bin/sh\n# {verb}\ntest \"${{IFACE}}\" = \"{iface}\" || exit 0\n");
    for route in routes {
        let part = |name: &str, before: &str| {
            let value = route.at(name).filter(|value| value.truthy());
            value.map_or_else(String::new, |value| format!("{before}{}", value.to_text()))
        };
        let name = part("name", "# ");
        if !name.is_empty() {
            text.push_str(&format!("{name}\n"));
        }
        let (network, gateway) = (part("ipaddr", "") + &part("netmask", "/"), part("gateway", "via "));
        text.push_str(&format!("ip route {verb} {network} {gateway} dev {iface}{}\n", part("metric", " metric ")));
    }
    text
}
