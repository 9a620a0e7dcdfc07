//! The options of a bridge.

use super::super::Settings;
use super::super::check::{SWITCHES, is_hardware, is_number, switch, wrong};
use halite_core::Fault;
use halite_value::{Map, Value};

/// By the words of the file, without `bridge_` in front.
pub fn options(settings: &Settings, iface: &str) -> Result<Map, Fault> {
    let mut options = Map::new();
    if let Some(ports) = settings.list("ports") {
        options.insert("ports", ports.join(" "));
    }
    for name in ["ageing", "fd", "gcint", "hello", "maxage"] {
        let Some(value) = settings.at(name) else { continue };
        if !is_number(value) {
            return Err(wrong(iface, name, "float"));
        }
        options.insert(name, value.clone());
    }
    for name in ["bridgeprio", "maxwait"] {
        let Some(value) = settings.at(name) else { continue };
        if value.as_int().is_none() {
            return Err(wrong(iface, name, "integer"));
        }
        options.insert(name, value.clone());
    }
    if let Some(address) = settings.at("hw") {
        if !is_hardware(address) {
            return Err(wrong(iface, "hw", "valid MAC address"));
        }
        options.insert("hw", address.clone());
    }
    for name in ["pathcost", "portprio"] {
        let Some(words) = settings.list(name) else { continue };
        match words.as_slice() {
            [port, number] if number.parse::<i64>().is_ok() => options.insert(name, format!("{port} {number}")),
            _ => return Err(wrong(iface, name, "interface integer")),
        };
    }
    if let Some(value) = settings.at("stp") {
        let word = match switch(value) {
            Some(true) => "on",
            Some(false) => "off",
            None => return Err(wrong(iface, "stp", SWITCHES)),
        };
        options.insert("stp", word);
    }
    match settings.at("waitport") {
        None => {}
        Some(seconds @ Value::Int(_)) => {
            options.insert("waitport", seconds.clone());
        }
        Some(given) => {
            let text = given.to_text();
            let words: Vec<&str> = text.split_whitespace().collect();
            let fits =
                words.len() > 1 && words.first().is_some_and(|time| time.bytes().all(|byte| byte.is_ascii_digit()));
            if !fits {
                return Err(wrong(iface, "waitport", "integer [interfaces]"));
            }
            options.insert("waitport", words.join(" "));
        }
    }
    Ok(options)
}
