//! Options of a network card, as ethtool(8) has them.

use super::Settings;
use super::check::{SWITCHES, switch, wrong};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

const SPEEDS: [&str; 4] = ["10", "100", "1000", "10000"];
const ADVERTISED: [&str; 17] = [
    "0x001",
    "0x002",
    "0x004",
    "0x008",
    "0x010",
    "0x020",
    "0x20000",
    "0x8000",
    "0x1000",
    "0x40000",
    "0x80000",
    "0x200000",
    "0x400000",
    "0x800000",
    "0x1000000",
    "0x2000000",
    "0x4000000",
];
const OFFLOADS: [&str; 8] = ["rx", "tx", "sg", "tso", "ufo", "gso", "gro", "lro"];

/// Those that both families have, in front of what is offloaded to the card.
pub fn line(settings: &Settings, iface: &str) -> Result<Map, Fault> {
    let mut options = Map::new();
    if let Some(value) = settings.at("autoneg") {
        options.insert("autoneg", on_or_off(iface, "autoneg", value)?);
    }
    if let Some(value) = settings.at("duplex") {
        match value.as_str() {
            Some("full" | "half") => options.insert("duplex", value.clone()),
            _ => return Err(wrong(iface, "duplex", "full|half")),
        };
    }
    if let Some(value) = settings.at("speed") {
        if !SPEEDS.contains(&value.to_text().as_str()) {
            return Err(wrong(iface, &value.to_text(), &SPEEDS.join("|")));
        }
        options.insert("speed", value.clone());
    }
    Ok(options)
}

/// What the card does in place of the kernel.
pub fn offloads(settings: &Settings, iface: &str) -> Result<Map, Fault> {
    let mut options = Map::new();
    for name in OFFLOADS {
        if let Some(value) = settings.at(name) {
            options.insert(name, on_or_off(iface, name, value)?);
        }
    }
    Ok(options)
}

/// What only Red Hat's family has: the speeds that are offered to the other end, and queues.
pub fn channels(ctx: &Ctx, settings: &Settings, iface: &str) -> Result<Map, Fault> {
    let mut options = Map::new();
    if let Some(value) = settings.at("advertise") {
        if !ADVERTISED.contains(&value.to_text().as_str()) {
            return Err(wrong(iface, "advertise", &ADVERTISED.join("|")));
        }
        options.insert("advertise", value.clone());
    }
    let Some(channels) = settings.at("channels").and_then(Value::as_map) else { return Ok(options) };
    let most = ctx.grains.at("num_cpus").and_then(Value::as_int).unwrap_or(1);
    let mut words = Vec::new();
    for name in ["rx", "tx", "other", "combined"] {
        let Some(value) = channels.at(name) else { continue };
        if !value.as_int().is_some_and(|number| (1..=most).contains(&number)) {
            let valid: Vec<String> = (1..=most).map(|number| number.to_string()).collect();
            return Err(wrong(iface, &value.to_text(), &valid.join("|")));
        }
        words.push(format!("{name} {}", value.to_text()));
    }
    if !words.is_empty() {
        options.insert(format!("-L {iface}"), words.join(" "));
    }
    Ok(options)
}

fn on_or_off(iface: &str, name: &str, value: &Value) -> Result<&'static str, Fault> {
    match switch(value) {
        Some(true) => Ok("on"),
        Some(false) => Ok("off"),
        None => Err(wrong(iface, name, SWITCHES)),
    }
}
