//! `ip.get_routes` and `ip.build_routes` with netplan. The routes have a file of their own, `91-salt-IFACE-routes.yaml`:
//! netplan joins the files of an interface, and the one of the interface itself is written anew with each change of it.

use super::super::check::{whole, wrong};
use super::super::{Settings, write};
use super::interface::{path as path_of_interface, with_length};
use super::{Declared, lines, network};
use halite_core::{Ctx, Fault};
use halite_lang::net::Net;
use halite_lang::yaml;
use halite_node::network_owner::NETPLAN;
use halite_value::{Map, Value};

fn path(iface: &str) -> String {
    format!("{NETPLAN}/91-salt-{iface}-routes.yaml")
}

/// The routes that were built; where none were, those that the interface itself has.
pub fn shown(ctx: &Ctx, iface: &str) -> Result<Vec<String>, Fault> {
    for path in [path(iface), path_of_interface(iface)] {
        let Some(network) = network(ctx, &path)? else { continue };
        let sections = network.values().filter_map(|section| section.at(iface));
        if let Some(routes) = sections.filter_map(|own| own.at("routes")).next() {
            return Ok(text(routes));
        }
    }
    Ok(Vec::new())
}

pub fn build(ctx: &Ctx, iface: &str, settings: &Settings) -> Result<Vec<String>, Fault> {
    let routes = match settings.at("routes") {
        Some(_) => settings.routes(iface)?,
        None => Vec::new(),
    };
    let routes = routes.iter().map(|given| route(iface, given)).collect::<Result<Vec<Map>, Fault>>()?;
    let routes = Value::from(routes);
    if !settings.is_test() {
        let declared = Declared::read(ctx);
        let own = Map::from_iter([(iface, Map::from_iter([("routes", routes.clone())]))]);
        let network = Map::from_iter([("version", Value::from(2)), (declared.section(iface), own.into())]);
        let document = Map::from_iter([("network", network)]);
        write(ctx, &path(iface), &yaml::dump(&document.into()), Some(0o600))?;
    }
    Ok(text(&routes))
}

fn text(routes: &Value) -> Vec<String> {
    match routes.truthy() {
        true => lines(&yaml::dump(&Map::from_iter([("routes", routes.clone())]).into())),
        false => Vec::new(),
    }
}

fn route(iface: &str, given: &Map) -> Result<Map, Fault> {
    let part = |name: &str| given.at(name).filter(|value| value.truthy()).map(Value::to_text);
    let target = match ["ipaddr", "destination", "name"].into_iter().find_map(part) {
        None => "default".to_owned(),
        Some(name) if matches!(name.as_str(), "default" | "0.0.0.0") => "default".to_owned(),
        Some(network) => {
            let joined = match part("netmask") {
                Some(mask) => with_length(&network, Some(&mask)),
                None => Some(network.clone()),
            };
            let fits = joined.filter(|network| Net::parse(network).is_ok());
            fits.ok_or_else(|| wrong(iface, &network, "a network, with netmask, or default"))?
        }
    };
    let mut route = Map::from_iter([("to", target)]);
    if let Some(gateway) = part("gateway") {
        route.insert("via", gateway);
    }
    if let Some(metric) = given.at("metric").filter(|metric| !metric.is_null()) {
        route.insert("metric", whole(metric).ok_or_else(|| wrong(iface, "metric", "integer"))?);
    }
    Ok(route)
}
