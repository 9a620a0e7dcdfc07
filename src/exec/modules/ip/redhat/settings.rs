//! `ip.get_network_settings` and `ip.build_network_settings` in Red Hat's family.

use super::super::check::{SWITCHES, switch, wrong_setting};
use super::super::{Settings, write};
use super::{NETWORK, lines_of};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

/// The settings that have a line, by the name they are set by.
const LINES: [(&str, &str); 9] = [
    ("networking", "NETWORKING"),
    ("networking_ipv6", "NETWORKING_IPV6"),
    ("hostname", "HOSTNAME"),
    ("gateway", "GATEWAY"),
    ("gatewaydev", "GATEWAYDEV"),
    ("nisdomain", "NISDOMAIN"),
    ("networkdelay", "NETWORKDELAY"),
    ("devtimeout", "DEVTIMEOUT"),
    ("nozeroconf", "NOZEROCONF"),
];

pub fn shown(ctx: &Ctx) -> Result<Vec<String>, Fault> {
    Ok(lines_of(ctx, NETWORK))
}

pub fn build(ctx: &Ctx, settings: &Settings) -> Result<Vec<String>, Fault> {
    let current = parsed(&shown(ctx)?);
    let new = settled(settings, &current)?;
    let text = text(&new);
    if settings.is_test() {
        return Ok(super::shown(&text));
    }
    write(ctx, NETWORK, &text, None)?;
    shown(ctx)
}

fn parsed(lines: &[String]) -> Map {
    let mut settings = Map::new();
    for line in lines.iter().map(|line| line.trim()).filter(|line| !line.starts_with(['#', '!'])) {
        if let Some((name, value)) = line.split_once('=') {
            settings.insert(name.trim_end().to_lowercase(), value.trim_end());
        }
    }
    settings
}

/// What the file is to have; values are quoted as the one is by which the network is on or off.
fn settled(settings: &Settings, current: &Map) -> Result<Map, Fault> {
    let mut new = if settings.is_on("retain_settings") { current.clone() } else { Map::new() };
    let found = current.at("networking");
    let quote = match settings.at("enabled") {
        None => found.and_then(Value::as_str).and_then(quote_of).map_or(String::new(), String::from),
        Some(_) => String::new(),
    };
    let quoted = |value: &str| format!("{quote}{value}{quote}");
    let yes_or_no = |name: &str, value: Option<&Value>| match value.map(bare).and_then(|value| switch(&value)) {
        Some(true) => Ok(quoted("yes")),
        Some(false) => Ok(quoted("no")),
        None => Err(wrong_setting(name, SWITCHES)),
    };
    new.insert("networking", yes_or_no("networking", settings.at("enabled").or(found))?);
    match settings.at("hostname").or(current.at("hostname")).filter(|name| name.truthy()) {
        Some(name) => new.insert("hostname", quoted(&bare(name).to_text())),
        None => return Err(wrong_setting("hostname", "server1.example.com")),
    };
    if let Some(value) = settings.at("nozeroconf") {
        new.insert("nozeroconf", yes_or_no("nozeroconf", Some(value))?);
    }
    for (name, value) in settings.0.iter() {
        let name = name.to_text();
        match value {
            Value::Bool(false) if name == "enable_ipv6" => {}
            _ if matches!(name.as_str(), "networking" | "hostname" | "nozeroconf") => {}
            value => drop(new.insert(name, quoted(&bare(value).to_text()))),
        }
    }
    Ok(new)
}

fn quote_of(text: &str) -> Option<char> {
    let first = text.chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
    (text.len() > 1 && text.ends_with(first)).then_some(first)
}

/// A value without the quotes around it.
fn bare(value: &Value) -> Value {
    match value.as_str() {
        Some(text) => match quote_of(text) {
            Some(sign) => text.trim_matches(sign).into(),
            None => value.clone(),
        },
        None => value.clone(),
    }
}

fn text(settings: &Map) -> String {
    let given = |name: &str| settings.at(name).filter(|value| value.truthy()).map(Value::to_text);
    let mut text = String::new();
    for (name, key) in LINES {
        if let Some(value) = given(name) {
            text.push_str(&format!("{key}={value}\n"));
        }
    }
    if given("enable_ipv6").is_some() {
        text.push_str("IPV6INIT=\"yes\"\n");
    }
    if let Some(gateway) = given("ipv6gateway") {
        text.push_str(&format!("IPV6_DEFAULTGW=\"{gateway}\"\n"));
    }
    text
}
