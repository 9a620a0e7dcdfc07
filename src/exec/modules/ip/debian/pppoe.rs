//! PPP over Ethernet: the options of an interface, and the file of its provider below `/etc/ppp/peers`.

use super::super::Settings;
use super::super::check::{SWITCHES, switch, wrong};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

const OPTIONS: [&str; 18] = [
    "user",
    "password",
    "provider",
    "pppoe_iface",
    "noipdefault",
    "usepeerdns",
    "defaultroute",
    "holdoff",
    "maxfail",
    "hide-password",
    "lcp-echo-interval",
    "lcp-echo-failure",
    "connect",
    "noauth",
    "persist",
    "mtu",
    "noaccomp",
    "linkname",
];
const SWITCHED: [&str; 7] =
    ["noipdefault", "usepeerdns", "defaultroute", "hide-password", "noauth", "persist", "noaccomp"];

pub fn options(settings: &Settings, iface: &str) -> Result<Map, Fault> {
    let mut options = Map::new();
    for name in OPTIONS {
        if let Some(value) = settings.at(name) {
            options.insert(name, value.clone());
        }
    }
    if options.at("provider").is_some_and(|provider| !provider.truthy()) {
        return Err(wrong(iface, "provider", SWITCHES));
    }
    for name in SWITCHED {
        let Some(value) = settings.at(name) else { continue };
        let on = switch(value).ok_or_else(|| wrong(iface, name, SWITCHES))?;
        options.insert(name, if on { "True" } else { "False" });
    }
    Ok(options)
}

/// Writes how the provider is dialled. There is a password in it: it is for root alone.
pub fn write(ctx: &Ctx, iface: &str, options: &Map) -> Result<(), Fault> {
    let Some(provider) = options.at("provider").map(Value::to_text) else {
        return Err(wrong(iface, "provider", "the name of a file below /etc/ppp/peers"));
    };
    if provider.contains(['/', '\0']) || provider.starts_with('.') {
        return Err(wrong(iface, "provider", "the name of a file below /etc/ppp/peers"));
    }
    super::super::write(ctx, &format!("/etc/ppp/peers/{provider}"), &text(options), Some(0o600))
}

fn text(options: &Map) -> String {
    let given = |name: &str| options.at(name).filter(|value| value.truthy()).map(Value::to_text);
    let Some(user) = given("user") else { return String::new() };
    let is_on = |name: &&str| options.str_at(name) != Some("False");
    let mut lines = vec![format!("user {user}")];
    lines.extend(given("password").map(|password| format!("password {password}")));
    lines.push(format!("plugin rp-pppoe.so {}", given("pppoe_iface").unwrap_or_else(|| "eth0".to_owned())));
    lines.extend(SWITCHED.iter().filter(|name| is_on(name)).map(|name| (*name).to_owned()));
    let numbers =
        [("holdoff", "15"), ("maxfail", "0"), ("lcp-echo-interval", "20"), ("lcp-echo-failure", "3"), ("mtu", "1492")];
    for (name, default) in numbers {
        let value = options.at(name).map_or(default.to_owned(), Value::to_text);
        if !value.is_empty() {
            lines.push(format!("{name} {value}"));
        }
    }
    for name in ["connect", "linkname"] {
        lines.extend(given(name).map(|value| format!("{name} {value}")));
    }
    lines.join("\n") + "\n"
}
