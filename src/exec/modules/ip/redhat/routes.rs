//! `ip.get_routes` and `ip.build_routes` in Red Hat's family: `route-IFACE` and `route6-IFACE`.

use super::super::check::is_ipv6;
use super::super::{Settings, write};
use super::{DIRECTORY, lines_of};
use halite_core::{Ctx, Fault};
use halite_value::Map;

fn paths(iface: &str) -> [String; 2] {
    ["route", "route6"].map(|name| format!("{DIRECTORY}/{name}-{iface}"))
}

pub fn shown(ctx: &Ctx, iface: &str) -> Result<Vec<String>, Fault> {
    Ok(paths(iface).iter().flat_map(|path| lines_of(ctx, path)).collect())
}

pub fn build(ctx: &Ctx, iface: &str, settings: &Settings) -> Result<Vec<String>, Fault> {
    let mut texts = [String::new(), String::new()];
    for route in settings.routes(iface)? {
        let Some(address) = route.at("ipaddr").filter(|address| address.truthy()) else {
            return Err(Fault::invocation(format!("Route interface: {iface}: a route has no ipaddr")));
        };
        texts[usize::from(is_ipv6(address))].push_str(&line(iface, &route));
    }
    if settings.is_test() {
        return Ok(texts.iter().flat_map(|text| super::shown(text)).collect());
    }
    for (path, text) in paths(iface).iter().zip(&texts) {
        write(ctx, path, text, None)?;
    }
    shown(ctx, iface)
}

/// A route as ip-route(8) takes it, behind a line with its name.
fn line(iface: &str, route: &Map) -> String {
    let part = |name: &str, before: &str| {
        let value = route.at(name).filter(|value| value.truthy())?;
        Some(format!("{before}{}", value.to_text()))
    };
    format!(
        "{}\n{}{}{}{}\n",
        part("name", "# ").unwrap_or_default(),
        part("ipaddr", "").unwrap_or_default(),
        part("netmask", "/").unwrap_or_default(),
        part("gateway", " via ").unwrap_or_else(|| format!(" dev {iface}")),
        part("metric", " metric ").unwrap_or_default(),
    )
}
