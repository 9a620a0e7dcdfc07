//! Targets by address: one of the minion's addresses, or a network that holds one.

use halite_value::{Map, Value};
use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr};

/// An address or a network, in the form `10.0.0.0/8`, `10.0.0.0/255.0.0.0`, `2001:db8::/32` or `10.1.2.3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Network(IpNet);

impl Network {
    pub fn parse(text: &str) -> Result<Network, String> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| format!("'{address}' is not an IP address"))?;
        let net = match length {
            None => address.into(),
            Some(length) => net(address, length).ok_or_else(|| format!("'{length}' is not a length of a network"))?,
        };
        if net.network() != net.addr() {
            return Err(format!("'{text}' is not a network: its address has bits beyond the mask"));
        }
        Ok(Network(net))
    }

    /// Whether one of the addresses that the grains name is in it.
    pub fn has(&self, grains: &Map) -> bool {
        let grain = if self.0.addr().is_ipv4() { "ipv4" } else { "ipv6" };
        let addresses = grains.at(grain).and_then(Value::as_list).unwrap_or_default();
        let parsed = |address: &Value| address.as_str()?.parse::<IpAddr>().ok();
        addresses.iter().filter_map(parsed).any(|address| self.0.contains(&address))
    }
}

/// The length is a number of bits, or for IPv4 a mask as an address.
fn net(address: IpAddr, length: &str) -> Option<IpNet> {
    if length.bytes().all(|byte| byte.is_ascii_digit()) {
        return IpNet::new(address, length.parse().ok()?).ok();
    }
    let mask: Ipv4Addr = length.parse().ok().filter(|_| address.is_ipv4())?;
    IpNet::with_netmask(address, mask.into()).ok()
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
