//! Targets by address: one of the minion's addresses, or a network that holds one.

use halite_value::{Map, Value};
use std::net::IpAddr;

/// An address or a network, in the form `10.0.0.0/8`, `10.0.0.0/255.0.0.0`, `2001:db8::/32` or `10.1.2.3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Network {
    /// As bits, an IPv4 address in the lowest 32.
    bits: u128,
    mask: u128,
    family: Family,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    V4,
    V6,
}

impl Family {
    fn width(self) -> u32 {
        match self {
            Family::V4 => 32,
            Family::V6 => 128,
        }
    }

    fn grain(self) -> &'static str {
        match self {
            Family::V4 => "ipv4",
            Family::V6 => "ipv6",
        }
    }

    fn full(self) -> u128 {
        u128::MAX >> (128 - self.width())
    }
}

impl Network {
    pub fn parse(text: &str) -> Result<Network, String> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let (family, bits) = address_bits(address).ok_or_else(|| format!("'{address}' is not an IP address"))?;
        let mask = match length {
            None => family.full(),
            Some(length) => mask(family, length).ok_or_else(|| format!("'{length}' is not a length of a network"))?,
        };
        if bits & !mask != 0 {
            return Err(format!("'{text}' is not a network: its address has bits beyond the mask"));
        }
        Ok(Network { bits, mask, family })
    }

    /// Whether one of the addresses that the grains name is in it.
    pub fn has(&self, grains: &Map) -> bool {
        let addresses = grains.at(self.family.grain()).and_then(Value::as_list).unwrap_or_default();
        addresses
            .iter()
            .filter_map(|address| address_bits(address.as_str()?))
            .any(|(family, bits)| family == self.family && bits & self.mask == self.bits)
    }
}

fn address_bits(text: &str) -> Option<(Family, u128)> {
    match text.parse().ok()? {
        IpAddr::V4(address) => Some((Family::V4, u32::from(address).into())),
        IpAddr::V6(address) => Some((Family::V6, address.into())),
    }
}

/// A number of bits, or for IPv4 a mask as an address.
fn mask(family: Family, length: &str) -> Option<u128> {
    let full = family.full();
    if length.bytes().all(|byte| byte.is_ascii_digit()) {
        let length: u32 = length.parse().ok().filter(|length| *length <= family.width())?;
        let host = family.width() - length;
        return Some(if host == 128 { 0 } else { full >> host << host });
    }
    let (Family::V4, mask) = address_bits(length).filter(|_| family == Family::V4)? else {
        return None;
    };
    // The ones must stand together at the front.
    let host = !mask & full;
    (host & (host + 1) == 0).then_some(mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(network: &str, address: &str) -> bool {
        let grain = if address.contains(':') { "ipv6" } else { "ipv4" };
        let grains = Map::from_iter([(grain, Value::list([address]))]);
        Network::parse(network).unwrap().has(&grains)
    }

    #[test]
    fn a_network_holds_its_addresses() {
        for (network, address, expected) in [
            ("10.0.0.0/8", "10.255.255.255", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("10.0.0.0/255.0.0.0", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.4", false),
            ("0.0.0.0/0", "192.0.2.1", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "2001:db8::1", true),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
        ] {
            assert_eq!(has(network, address), expected, "{network} {address}");
        }
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for bad in [
            "300.1.1.1",
            "10.0.0.1/8",
            "10.0.0.0/33",
            "10.0.0.0/255.0.255.0",
            "10.0.0.0/",
            "::1/129",
            "",
            "/",
            "::/255.0.0.0",
        ] {
            assert!(Network::parse(bad).is_err(), "{bad}");
        }
    }
}
