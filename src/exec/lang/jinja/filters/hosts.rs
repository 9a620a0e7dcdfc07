//! Salt's filters on addresses and networks.

use super::super::error::{Failure, Res};
use super::super::eval::{Bound, Interp, Rest};
use super::super::value::{Dict, Val};
use super::{Filter, filter, open};
use crate::net::PRIVATE;
use crate::{outside, random};
use halite_value::record::Arguments;
use num_bigint::BigInt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

pub const SALT: &[Filter] = &[
    filter("is_ip", &["options"], 0, |_, value, bound| {
        let options = bound.text_or(0, "")?;
        Ok(Val::Bool(valid(&value, 4, options)?.is_some() || valid(&value, 6, options)?.is_some()))
    }),
    filter("is_ipv4", &["options"], 0, |_, value, bound| {
        Ok(Val::Bool(valid(&value, 4, bound.text_or(0, "")?)?.is_some()))
    }),
    filter("is_ipv6", &["options"], 0, |_, value, bound| {
        Ok(Val::Bool(valid(&value, 6, bound.text_or(0, "")?)?.is_some()))
    }),
    filter("ipv4", &["options"], 0, |interp, value, bound| of_version(interp, &value, 4, bound.text_or(0, "")?)),
    filter("ipv6", &["options"], 0, |interp, value, bound| of_version(interp, &value, 6, bound.text_or(0, "")?)),
    filter("ipaddr", &["options"], 0, |interp, value, bound| addresses(interp, &value, bound.text_or(0, "")?)),
    filter("dns_check", &["port", "safe", "ipv6"], 1, reachable),
    open("http_query", &["method", "params", "data"], 0, Rest::Named, asked),
    filter("ip_host", &["options", "version"], 0, |interp, value, bound| {
        each(interp, value, bound, |_, network| Ok(Val::from(network.interface())))
    }),
    filter("network_hosts", &["options", "version"], 0, |interp, value, bound| each(interp, value, bound, hosts)),
    filter("network_size", &["options", "version"], 0, |interp, value, bound| {
        each(interp, value, bound, |_, network| Ok(Val::big(BigInt::from(1) << (network.bits() - network.prefix))))
    }),
    filter("filter_by_networks", &["networks"], 1, within),
    filter("ipwrap", &[], 0, wrap),
    filter("gen_mac", &[], 0, |_, value, _| {
        value.defined()?;
        let [a, b, c] = [(); 3].map(|()| random::up_to(255));
        Ok(Val::from(format!("{}:{a:02X}:{b:02X}:{c:02X}", value.text())))
    }),
    filter("mac_str_to_bytes", &[], 0, mac_bytes),
];

/// An address with the length of its network's prefix.
#[derive(Clone, Copy)]
struct Network {
    address: IpAddr,
    prefix: u32,
    /// The prefix was written.
    written: bool,
}

impl Network {
    fn parse(text: &str) -> Option<Network> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let length = match prefix {
            None => bits,
            Some(prefix) if prefix.bytes().all(|byte| byte.is_ascii_digit()) => {
                prefix.parse().ok().filter(|length| *length <= bits)?
            }
            Some(mask) => {
                let mask = u32::from(mask.parse::<Ipv4Addr>().ok().filter(|_| address.is_ipv4())?);
                match (mask.leading_ones(), mask.leading_zeros()) {
                    (ones, _) if ones + mask.trailing_zeros().min(32 - ones) == 32 => ones,
                    (_, zeros) if zeros + mask.trailing_ones() == 32 => zeros,
                    _ => return None,
                }
            }
        };
        Some(Network { address, prefix: length, written: prefix.is_some() })
    }

    fn of(value: &Val) -> Option<Network> {
        match value {
            Val::Str(text) | Val::Markup(text) => Network::parse(text),
            Val::Int(number) => {
                let small = u32::try_from(*number).ok()?;
                Some(Network { address: Ipv4Addr::from(small).into(), prefix: 32, written: false })
            }
            _ => None,
        }
    }

    fn bits(&self) -> u32 {
        if self.address.is_ipv4() { 32 } else { 128 }
    }

    fn number(&self) -> u128 {
        match self.address {
            IpAddr::V4(address) => u32::from(address).into(),
            IpAddr::V6(address) => address.into(),
        }
    }

    /// First and last address, as numbers.
    fn range(&self) -> (u128, u128) {
        let free = self.bits() - self.prefix;
        let mask = 1_u128.checked_shl(free).map_or(u128::MAX, |size| size - 1);
        (self.number() & !mask, self.number() | mask)
    }

    fn show(&self, number: u128) -> String {
        match self.address {
            IpAddr::V4(_) => Ipv4Addr::from(number as u32).to_string(),
            IpAddr::V6(_) => Ipv6Addr::from(number).to_string(),
        }
    }

    fn interface(&self) -> String {
        format!("{}/{}", self.address, self.prefix)
    }

    /// As Salt's filters give it back.
    fn text(&self) -> String {
        if self.written { self.interface() } else { self.address.to_string() }
    }

    fn holds(&self, other: &Network) -> bool {
        let (first, last) = self.range();
        self.address.is_ipv4() == other.address.is_ipv4() && (first..=last).contains(&other.number())
    }
}

/// Networks that the filters count as private beside [`PRIVATE`], as later Pythons do.
const PRIVATE_TOO: [&str; 2] = ["64:ff9b:1::/48", "2002::/16"];

const RESERVED: [&str; 16] = [
    "240.0.0.0/4",
    "::/8",
    "100::/8",
    "200::/7",
    "400::/6",
    "800::/5",
    "1000::/4",
    "4000::/3",
    "6000::/3",
    "8000::/3",
    "a000::/3",
    "c000::/3",
    "e000::/4",
    "f000::/5",
    "f800::/6",
    "fe00::/9",
];

fn one_of(network: &Network, blocks: &[&str]) -> bool {
    blocks.iter().filter_map(|block| Network::parse(block)).any(|block| block.holds(network))
}

fn is_private(network: &Network) -> bool {
    one_of(network, &PRIVATE) || one_of(network, &PRIVATE_TOO)
}

/// Whether an address has all properties that a list with commas names.
fn has_properties(network: &Network, options: &str) -> bool {
    options.split(',').map(str::trim).all(|option| match option {
        "global" | "public" => !is_private(network),
        "private" => is_private(network),
        "multicast" => network.address.is_multicast(),
        "loopback" | "lo" => network.address.is_loopback(),
        "unspecified" => network.address.is_unspecified(),
        "reserved" => one_of(network, &RESERVED),
        "link-local" | "linklocal" | "ll" | "link_local" => one_of(network, &["169.254.0.0/16", "fe80::/10"]),
        "site-local" | "sl" | "site_local" => one_of(network, &["fec0::/10"]),
        _ => true,
    })
}

fn valid(value: &Val, version: u32, options: &str) -> Res<Option<String>> {
    value.defined()?;
    let network = Network::of(value).filter(|network| network.address.is_ipv4() == (version == 4));
    Ok(network.filter(|network| options.is_empty() || has_properties(network, options)).map(|network| network.text()))
}

fn is_list(value: &Val) -> bool {
    matches!(value, Val::List(_) | Val::Tuple(_) | Val::Iter(_))
}

fn of_version(interp: &mut Interp, value: &Val, version: u32, options: &str) -> Res<Val> {
    if !is_list(value) {
        return Ok(valid(value, version, options)?.map_or(Val::None, Val::from));
    }
    let mut kept = Vec::new();
    for item in value.items(interp)? {
        kept.extend(valid(&item, version, options)?.map(Val::from));
    }
    Ok(Val::list(kept))
}

/// Those of version 4, then those of version 6.
fn addresses(interp: &mut Interp, value: &Val, options: &str) -> Res<Val> {
    if !is_list(value) {
        let found = valid(value, 4, options)?.or(valid(value, 6, options)?);
        return Ok(found.map_or(Val::None, Val::from));
    }
    let items = Val::list(value.items(interp)?);
    let mut all = of_version(interp, &items, 4, options)?.items(interp)?;
    all.extend(of_version(interp, &items, 6, options)?.items(interp)?);
    Ok(Val::list(all))
}

/// Something about the network of an address, or of each of several.
fn each(interp: &mut Interp, value: Val, bound: Bound, about: fn(&mut Interp, &Network) -> Res<Val>) -> Res<Val> {
    let options = bound.text_or(0, "")?;
    let found = match bound.int(1)? {
        Some(version) => of_version(interp, &value, u32::try_from(version).unwrap_or(0), options)?,
        None => addresses(interp, &value, options)?,
    };
    if !found.truth()? {
        return Ok(Val::None);
    }
    if !is_list(&value) {
        return Network::of(&found).map_or(Ok(Val::None), |network| about(interp, &network));
    }
    let mut out = Vec::new();
    for network in found.items(interp)?.iter().filter_map(Network::of) {
        out.push(about(interp, &network)?);
    }
    Ok(Val::list(out))
}

fn hosts(interp: &mut Interp, network: &Network) -> Res<Val> {
    let (first, last) = network.range();
    let (first, last) = match (network.bits() - network.prefix, network.address.is_ipv4()) {
        (0 | 1, _) => (first, last),
        (_, true) => (first + 1, last - 1),
        (_, false) => (first + 1, last),
    };
    interp.spend(usize::try_from(last - first).unwrap_or(usize::MAX).saturating_mul(8))?;
    Ok(Val::list((first..=last).map(|number| Val::from(network.show(number))).collect()))
}

fn within(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    value.defined()?;
    if bound.val(0).is_none() {
        return Ok(value);
    }
    let mut networks = Vec::new();
    for item in bound.val(0).items(interp)? {
        let wrong = || Failure::value_error(format!("{} does not appear to be an IPv4 or IPv6 network", item.repr()));
        let network = Network::of(&item).ok_or_else(wrong)?;
        if network.range().0 != network.number() {
            return Err(Failure::value_error(format!("{} has host bits set", item.text())));
        }
        networks.push(network);
    }
    let keep = |interp: &mut Interp, list: &Val| -> Res<Val> {
        let mut kept = Vec::new();
        for item in list.items(interp)? {
            let wrong =
                || Failure::value_error(format!("{} does not appear to be an IPv4 or IPv6 address", item.repr()));
            let address = Network::of(&item).filter(|address| !address.written).ok_or_else(wrong)?;
            let times = networks.iter().filter(|network| network.holds(&address)).count();
            kept.extend(std::iter::repeat_n(item, times));
        }
        Ok(Val::list(kept))
    };
    match &value {
        Val::Dict(dict) => {
            let dict = dict.0.borrow().clone();
            let mut out = Dict::new();
            for (name, list) in dict {
                let kept = keep(interp, &list)?;
                out.insert(name, kept);
            }
            Ok(Val::dict(out))
        }
        list => keep(interp, list),
    }
}

/// How long an address has for an answer, as in Salt.
const PATIENCE: Duration = Duration::from_secs(2);

/// An address of a name: the first that something listens at, else the first.
fn reachable(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let name = super::text::text(&value)?;
    let port = bound.int(0)?.and_then(|port| u16::try_from(port).ok());
    let port = port.ok_or_else(|| Failure::value_error("dns_check wants a port from 0 to 65535"))?;
    let Some(machine) = interp.env.functions.machine() else {
        return Err(Failure::runtime("dns_check looks at the network, which cannot be done here"));
    };
    outside::looked();
    let all = machine.resolve(&name);
    let of_version = |is_v4: bool| all.iter().filter(|address| address.is_ipv4() == is_v4).copied().collect::<Vec<_>>();
    let wanted = match bound.given(2) {
        None | Some(Val::None) => all.clone(),
        // Where a name has no such address, the other kind is better than none.
        Some(wanted) if wanted.truth()? => {
            Some(of_version(false)).filter(|v6| !v6.is_empty()).unwrap_or_else(|| of_version(true))
        }
        Some(_) => of_version(true),
    };
    let answers = |address: &&IpAddr| machine.answers(SocketAddr::new(**address, port), PATIENCE);
    match wanted.iter().find(answers).or(wanted.first()) {
        Some(IpAddr::V6(address)) => Ok(Val::from(format!("[{address}]"))),
        Some(address) => Ok(Val::from(address.to_string())),
        None => {
            let kind = if bound.truth(1, false)? { "SaltClientError" } else { "SaltSystemExit" };
            Err(Failure::python(kind, format!("DNS lookup or connection check of '{name}' failed.")))
        }
    }
}

/// What a web server answers: the function `http.query`.
fn asked(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let mut arguments = Arguments::positional([value.to_value()?]);
    for (at, name) in ["method", "params", "data"].into_iter().enumerate() {
        if let Some(given) = bound.given(at) {
            arguments = arguments.with(name, given.to_value()?);
        }
    }
    for (name, given) in &bound.named {
        arguments = arguments.with(name, given.to_value()?);
    }
    Ok(Val::from(&interp.env.functions.call("http.query", arguments)?))
}

/// Brackets around addresses of version 6.
fn wrap(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let one = |value: &Val| match Network::of(value) {
        Some(network) if network.address.is_ipv6() => Val::from(format!("[{}]", network.address)),
        _ => value.clone(),
    };
    value.defined()?;
    Ok(match &value {
        Val::List(_) | Val::Tuple(_) => Val::list(value.items(interp)?.iter().map(one).collect()),
        other => one(other),
    })
}

fn mac_bytes(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let text = super::text::text(&value)?;
    let digits: Vec<char> = match text.chars().count() {
        12 => text.chars().collect(),
        17 => {
            let separator = text.chars().nth(2).unwrap_or(':');
            text.chars().filter(|c| *c != separator).collect()
        }
        _ => return Err(Failure::value_error("Invalid MAC address")),
    };
    let pair = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).ok();
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(pair).collect();
    let bytes = bytes.ok_or_else(|| Failure::value_error("Invalid MAC address"))?;
    Ok(Val::Bytes(bytes.into()))
}
