//! Networks: addresses with a length.

use ipnet::{IpNet, ipv4_mask_to_prefix};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

/// A network: its first address, and how many of its bits are the network's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Net(IpNet);

impl Net {
    /// `10.0.0.1/8`, `10.0.0.1/255.0.0.0` or an address alone; with bits beyond the length, which are cut.
    pub fn parse(text: &str) -> Result<Net, String> {
        let wrong = || format!("'{text}' does not appear to be an IPv4 or IPv6 network");
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let Some(length) = length else { return Ok(Net::host(address)) };
        let length = match (length.parse::<u8>(), length.parse::<Ipv4Addr>()) {
            (Ok(length), _) => length,
            (_, Ok(mask)) if address.is_ipv4() => ipv4_mask_to_prefix(mask).map_err(|_| wrong())?,
            _ => return Err(wrong()),
        };
        IpNet::new(address, length).map(|net| Net(net.trunc())).map_err(|_| wrong())
    }

    /// An address as the only one of its network.
    pub fn host(address: IpAddr) -> Net {
        Net(address.into())
    }

    /// Whether a text is the network itself, without bits beyond its length.
    pub fn is_exact(text: &str) -> bool {
        let address = text.split('/').next().and_then(|address| address.parse::<IpAddr>().ok());
        Net::parse(text).is_ok_and(|net| Some(net.address()) == address)
    }

    pub fn address(&self) -> IpAddr {
        self.0.network()
    }

    pub fn length(&self) -> u8 {
        self.0.prefix_len()
    }

    pub fn has(&self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }

    pub fn mask(&self) -> IpAddr {
        self.0.netmask()
    }

    /// The last address in it.
    pub fn broadcast(&self) -> IpAddr {
        self.0.broadcast()
    }

    /// How many addresses are in it; more than can be counted are as many as can be.
    pub fn size(&self) -> u128 {
        1_u128.checked_shl(u32::from(self.0.max_prefix_len() - self.0.prefix_len())).unwrap_or(u128::MAX)
    }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Networks that are not for the whole world: those of IANA's special-purpose registries that Python 3.11 began with.
pub const PRIVATE: [&str; 24] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/29",
    "192.0.0.170/31",
    "192.0.2.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "240.0.0.0/4",
    "255.255.255.255/32",
    "::1/128",
    "::/128",
    "::ffff:0:0/96",
    "100::/64",
    "2001::/23",
    "2001:2::/48",
    "2001:db8::/32",
    "2001:10::/28",
    "fc00::/7",
    "fe80::/10",
];

pub fn is_private(address: IpAddr) -> bool {
    PRIVATE.iter().filter_map(|net| Net::parse(net).ok()).any(|net| net.has(address))
}

/// The name under which an address is asked for its name.
pub fn reverse(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa")
        }
        IpAddr::V6(address) => {
            let digits = format!("{:032x}", u128::from(address));
            let digits: Vec<String> = digits.chars().rev().map(String::from).collect();
            format!("{}.ip6.arpa", digits.join("."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_and_cut() {
        let net = |text: &str| Net::parse(text).map(|net| net.to_string());
        assert_eq!(net("172.17.0.5/255.255.255.240"), Ok("172.17.0.0/28".into()));
        assert_eq!(net("2404:6800::bbbb/64"), Ok("2404:6800::/64".into()));
        assert_eq!(net("10.1.2.3"), Ok("10.1.2.3/32".into()));
        assert!(net("10.0.0.0/33").is_err() && net("x/8").is_err() && net("10.0.0.0/255.0.255.0").is_err());
        let all = Net::parse("0.0.0.0/0").unwrap();
        assert!(all.has("8.8.8.8".parse().unwrap()) && !all.has("::1".parse().unwrap()));
        assert_eq!(
            (all.size(), all.broadcast().to_string(), all.mask().to_string()),
            (1 << 32, "255.255.255.255".into(), "0.0.0.0".into())
        );
        assert!(Net::parse("::/0").unwrap().has("fe80::1".parse().unwrap()));
        assert!(is_private("10.9.8.7".parse().unwrap()) && !is_private("8.8.8.8".parse().unwrap()));
        assert_eq!(reverse("127.0.0.1".parse().unwrap()), "1.0.0.127.in-addr.arpa");
    }
}
