//! The sections `[ipv4]` and `[ipv6]`: how an interface gets its addresses, and what goes with them.

use super::super::Settings;
use super::keyfile::Section;
use halite_core::Fault;
use halite_lang::net::Net;
use halite_value::Value;
use std::net::{IpAddr, Ipv4Addr};

const MANUAL: &str = "manual";
const DISABLED: &str = "disabled";

pub fn ipv4(settings: &Settings) -> Result<Section, Fault> {
    let mut addresses = own(settings, "ipaddr", "netmask")?;
    for address in settings.items(&["ipaddrs", "addresses"]) {
        addresses.push(with_length(&address, settings.at("netmask"))?);
    }
    let method = match protocol(settings, "proto").as_str() {
        "dhcp" | "dhcp4" | "bootp" => "auto",
        _ if !addresses.is_empty() => MANUAL,
        "none" | "disabled" | "off" => DISABLED,
        _ => "auto",
    };
    Ok(section("ipv4", method, &addresses, settings, "gateway"))
}

pub fn ipv6(settings: &Settings) -> Result<Section, Fault> {
    let mut addresses = own(settings, "ipv6ipaddr", "ipv6netmask")?;
    addresses.extend(settings.items(&["ipv6addrs"]));
    let method = match protocol(settings, "ipv6proto").as_str() {
        "none" | "disabled" | "off" => DISABLED,
        "dhcp" | "dhcp6" => "dhcp",
        _ if !addresses.is_empty() => MANUAL,
        _ => "auto",
    };
    Ok(section("ipv6", method, &addresses, settings, "ipv6gateway"))
}

/// The word of a protocol. `off` is a no to YAML.
fn protocol(settings: &Settings, name: &str) -> String {
    match settings.at(name) {
        Some(Value::Bool(false)) => "off".to_owned(),
        word => word.map(Value::to_text).unwrap_or_default().to_lowercase(),
    }
}

fn section(name: &'static str, method: &str, addresses: &[String], settings: &Settings, gateway: &str) -> Section {
    let mut section = Section::new(name);
    section.add("method", method);
    if method == MANUAL {
        let mut addresses = addresses.to_vec();
        if let (Some(first), Some(gateway)) = (addresses.first_mut(), settings.told(gateway)) {
            first.push_str(&format!(",{}", gateway.to_text()));
        }
        section.number("address", &addresses);
    }
    let mut servers = settings.items(&["dns", "nameservers"]);
    servers.retain(|server| server.contains(':') == (name == "ipv6"));
    let domains = if method == DISABLED { Vec::new() } else { settings.items(&["dns_search", "domain"]) };
    for (key, items) in [("dns", servers), ("dns-search", domains)] {
        if !items.is_empty() {
            section.add(key, format!("{};", items.join(";")));
        }
    }
    section
}

/// The address of its own that an interface has, or none.
fn own(settings: &Settings, name: &str, mask: &str) -> Result<Vec<String>, Fault> {
    let Some(address) = settings.text(name).filter(|address| !address.is_empty()) else { return Ok(Vec::new()) };
    Ok(vec![with_length(&address, settings.at(mask))?])
}

/// An address with the length of its network behind it, which a mask tells if it does not.
pub fn with_length(address: &str, mask: Option<&Value>) -> Result<String, Fault> {
    if address.contains('/') {
        return Ok(address.to_owned());
    }
    let Some(mask) = mask.filter(|mask| !mask.is_null()).map(Value::to_text) else {
        return Err(Fault::execution(format!("the address {address} has no netmask")));
    };
    let wrong = || Fault::execution(format!("Invalid address/netmask {address}/{mask}"));
    let ip: IpAddr = address.parse().map_err(|_| wrong())?;
    // From the other end, as routers have it.
    let turned = mask.parse().map(|mask: Ipv4Addr| Ipv4Addr::from_bits(!mask.to_bits()).to_string());
    let length = [Some(mask.clone()), turned.ok()]
        .into_iter()
        .flatten()
        .find_map(|mask| Net::parse(&format!("{address}/{mask}")).ok().map(|net| net.length()));
    Ok(format!("{ip}/{}", length.ok_or_else(wrong)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_a_length_or_dotted_from_either_end() {
        let told = |address: &str, mask: Value| with_length(address, Some(&mask));
        for mask in ["255.255.255.0", "24", "0.0.0.255"] {
            assert_eq!(told("10.0.0.5", mask.into()).as_deref(), Ok("10.0.0.5/24"), "{mask}");
        }
        assert_eq!(told("FD00:0::5", 64.into()).as_deref(), Ok("fd00::5/64"));
        assert_eq!(told("10.0.0.5/8", 24.into()).as_deref(), Ok("10.0.0.5/8"));
        for (address, mask) in [("10.0.0.5", "33"), ("10.0.0.5", "255.0.255.0"), ("fd00::5", "ffff::"), ("ten", "8")] {
            assert!(told(address, mask.into()).is_err(), "{address} {mask}");
        }
        assert!(with_length("10.0.0.5", None).is_err() && told("10.0.0.5", ().into()).is_err());
    }
}
