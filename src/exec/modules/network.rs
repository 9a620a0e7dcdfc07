//! `network.*`: interfaces, addresses, routes, names, and who can be reached.

mod arithmetic;
mod interfaces;
mod reach;
mod routes;
mod sockets;

use halite_core::accounts::tool;
use halite_core::module::{Module, Run, function};
use halite_core::names;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, text_file};
use halite_lang::net;
use halite_lang::net::Net;
use halite_value::record;
use halite_value::{Map, Value};
use std::collections::BTreeSet;
use std::net::IpAddr;

pub const MODULE: Module = Module {
    name: "network",
    doc: "Interfaces, addresses, routes, names, and who can be reached.",
    functions: &[
        function::<sockets::ActiveTcp>("active_tcp"),
        function::<reach::Arp>("arp"),
        function::<arithmetic::CalcNet>("calc_net").inline(),
        function::<reach::Connect>("connect"),
        function::<arithmetic::ConvertCidr>("convert_cidr").inline(),
        function::<routes::DefaultRoute>("default_route"),
        function::<reach::Dig>("dig"),
        function::<Fqdns>("fqdns"),
        function::<reach::GetBufsize>("get_bufsize"),
        function::<GetFqdn>("get_fqdn"),
        function::<GetHostname>("get_hostname"),
        function::<routes::GetRoute>("get_route"),
        function::<HwAddr>("hw_addr"),
        function::<HwAddr>("hwaddr"),
        function::<Ifacestartswith>("ifacestartswith"),
        function::<InSubnet>("in_subnet"),
        function::<InterfaceOf>("interface"),
        function::<InterfaceIp>("interface_ip"),
        function::<Interfaces>("interfaces"),
        function::<IpAddrs>("ip_addrs"),
        function::<IpAddrs6>("ip_addrs6"),
        function::<arithmetic::IpInSubnet>("ip_in_subnet").inline(),
        function::<reach::IpNeighs>("ip_neighs"),
        function::<reach::IpNeighs6>("ip_neighs6"),
        function::<IpNetworks>("ip_networks"),
        function::<IpNetworks6>("ip_networks6"),
        function::<IpAddrs>("ipaddrs"),
        function::<IpAddrs6>("ipaddrs6"),
        function::<arithmetic::Iphexval>("iphexval").inline(),
        function::<reach::IpNeighs>("ipneighs"),
        function::<reach::IpNeighs6>("ipneighs6"),
        function::<arithmetic::IsLoopback>("is_loopback").inline(),
        function::<arithmetic::IsPrivate>("is_private").inline(),
        function::<reach::ModBufsize>("mod_bufsize"),
        function::<ModHostname>("mod_hostname"),
        function::<sockets::Netstat>("netstat"),
        function::<reach::Ping>("ping"),
        function::<arithmetic::ReverseIp>("reverse_ip").inline(),
        function::<routes::Routes>("routes"),
        function::<Subnets>("subnets"),
        function::<Subnets6>("subnets6"),
        function::<reach::Traceroute>("traceroute"),
        function::<reach::Wol>("wol"),
    ],
};

/// Addresses of a family, sorted as numbers.
fn addresses(ctx: &Ctx, is_v4: bool, interface: Option<&str>, loopback: bool) -> Result<Vec<IpAddr>, Fault> {
    let found = interfaces::all(ctx)?;
    let wanted = found.iter().filter(|known| interface.is_none_or(|name| known.name == name));
    let own: BTreeSet<IpAddr> = wanted
        .flat_map(|known| &known.addresses)
        .map(|address| address.ip)
        .filter(|ip| ip.is_ipv4() == is_v4 && (loopback || !ip.is_loopback()))
        .collect();
    Ok(own.into_iter().collect())
}

fn network(text: &str) -> Result<Net, Fault> {
    Net::parse(text).map_err(Fault::invocation)
}

fn shown(addresses: Vec<IpAddr>) -> Value {
    Value::list(addresses.iter().map(IpAddr::to_string))
}

record! {
    /// Shows all network interfaces.
    ///
    ///   salt '*' network.interfaces
    pub struct Interfaces {}
}

impl Run for Interfaces {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(interfaces::all(ctx)?.iter().map(|known| (known.name.as_str(), known.shown())).collect::<Map>().into())
    }
}

/// An interface, or that there is none of that name.
fn interface(ctx: &Ctx, name: &str) -> Result<interfaces::Interface, Fault> {
    let all = interfaces::all(ctx)?;
    let names: Vec<&str> = all.iter().map(|known| known.name.as_str()).collect();
    let missing =
        || Fault::comment(format!("Interface \"{name}\" not in available interfaces: \"{}\"", names.join("\", \"")));
    all.iter().find(|known| known.name == name).cloned().ok_or_else(missing)
}

record! {
    /// Shows the hardware address of an interface.
    ///
    ///   salt '*' network.hw_addr eth0
    ///   salt '*' network.hwaddr eth0
    pub struct HwAddr {
        /// The interface.
        iface: String,
    }
}

impl Run for HwAddr {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(interface(ctx, &self.iface)?.hwaddr.unwrap_or_default().into())
    }
}

record! {
    /// Shows the addresses of an interface.
    ///
    ///   salt '*' network.interface eth0
    pub struct InterfaceOf {
        /// The interface.
        iface: String,
    }
}

impl Run for InterfaceOf {
    fn run(self, ctx: &Ctx) -> Reply {
        let found = interface(ctx, &self.iface)?.of_family(true);
        Ok(Some(found).filter(Value::truthy).unwrap_or_else(|| "".into()).into())
    }
}

record! {
    /// Shows the first address of an interface.
    ///
    ///   salt '*' network.interface_ip eth0
    pub struct InterfaceIp {
        /// The interface.
        iface: String,
    }
}

impl Run for InterfaceIp {
    fn run(self, ctx: &Ctx) -> Reply {
        let first = |known: interfaces::Interface| {
            known.addresses.iter().find(|own| own.ip.is_ipv4()).map(|own| own.ip.to_string())
        };
        Ok(first(interface(ctx, &self.iface)?).unwrap_or_default().into())
    }
}

record! {
    /// Lists the addresses of the host.
    ///
    ///   salt '*' network.ip_addrs
    ///   salt '*' network.ipaddrs cidr=10.0.0.0/8
    pub struct IpAddrs {
        /// Those of an interface alone.
        interface: Option<String> = (),
        /// Those of the host to itself too.
        include_loopback: bool = false,
        /// Those in a network alone.
        cidr: Option<String> = (),
        /// `public` or `private` ones alone.
        r#type: Option<String> = (),
    }
}

impl Run for IpAddrs {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut found = addresses(ctx, true, self.interface.as_deref(), self.include_loopback)?;
        match (self.cidr.filter(|cidr| !cidr.is_empty()), self.r#type.as_deref()) {
            (Some(cidr), _) => {
                let network = network(&cidr)?;
                found.retain(|ip| network.has(*ip));
            }
            (None, Some("public")) => found.retain(|ip| !net::is_private(*ip)),
            (None, Some("private")) => found.retain(|ip| net::is_private(*ip)),
            (None, _) => {}
        }
        Ok(shown(found).into())
    }
}

record! {
    /// Lists the IPv6 addresses of the host.
    ///
    ///   salt '*' network.ip_addrs6
    ///   salt '*' network.ipaddrs6 cidr=2000::/3
    pub struct IpAddrs6 {
        /// Those of an interface alone.
        interface: Option<String> = (),
        /// Those of the host to itself too.
        include_loopback: bool = false,
        /// Those in a network alone.
        cidr: Option<String> = (),
    }
}

impl Run for IpAddrs6 {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut found = addresses(ctx, false, self.interface.as_deref(), self.include_loopback)?;
        if let Some(cidr) = self.cidr.filter(|cidr| !cidr.is_empty()) {
            let network = network(&cidr)?;
            found.retain(|ip| network.has(*ip));
        }
        Ok(shown(found).into())
    }
}

/// The networks of a family that the host is in.
fn networks(ctx: &Ctx, is_v4: bool, names: Option<&[String]>, loopback: bool) -> Result<Vec<Net>, Fault> {
    let found = interfaces::all(ctx)?;
    let wanted = found.iter().filter(|known| names.is_none_or(|names| names.contains(&known.name)));
    let own: BTreeSet<Net> = wanted
        .flat_map(|known| &known.addresses)
        .filter(|address| address.ip.is_ipv4() == is_v4 && (loopback || !address.ip.is_loopback()))
        .map(|address| address.net)
        .collect();
    Ok(own.into_iter().collect())
}

fn listed(networks: Vec<Net>, verbose: bool) -> Value {
    if !verbose {
        return Value::list(networks.iter().map(Net::to_string));
    }
    let shown = networks.iter().map(|net| {
        let entry = [
            ("address", Value::from(net.address().to_string())),
            ("netmask", net.mask().to_string().into()),
            ("num_addresses", Value::from_big(net.size().into())),
            ("prefixlen", u32::from(net.length()).into()),
        ];
        (net.to_string(), Map::from_iter(entry))
    });
    shown.collect::<Map>().into()
}

record! {
    /// Lists the networks that the host is in.
    ///
    ///   salt '*' network.ip_networks
    pub struct IpNetworks {
        /// Those of an interface alone.
        interface: Option<String> = (),
        /// Those of the host to itself too.
        include_loopback: bool = false,
        /// Show address, mask and size of each.
        verbose: bool = false,
    }
}

impl Run for IpNetworks {
    fn run(self, ctx: &Ctx) -> Reply {
        let names: Option<Vec<String>> = self.interface.map(|name| vec![name]);
        Ok(listed(networks(ctx, true, names.as_deref(), self.include_loopback)?, self.verbose).into())
    }
}

record! {
    /// Lists the IPv6 networks that the host is in.
    ///
    ///   salt '*' network.ip_networks6
    pub struct IpNetworks6 {
        /// Those of an interface alone.
        interface: Option<String> = (),
        /// Those of the host to itself too.
        include_loopback: bool = false,
        /// Show address, mask and size of each.
        verbose: bool = false,
    }
}

impl Run for IpNetworks6 {
    fn run(self, ctx: &Ctx) -> Reply {
        let names: Option<Vec<String>> = self.interface.map(|name| vec![name]);
        Ok(listed(networks(ctx, false, names.as_deref(), self.include_loopback)?, self.verbose).into())
    }
}

record! {
    /// Lists the networks that the host is in.
    ///
    ///   salt '*' network.subnets
    ///   salt '*' network.subnets interfaces=eth1
    pub struct Subnets {
        /// Those of an interface, or of a list of them, alone.
        interfaces: Value = (),
    }
}

impl Run for Subnets {
    fn run(self, ctx: &Ctx) -> Reply {
        let names = match self.interfaces {
            Value::Null => None,
            Value::List(items) => Some(items.iter().map(Value::to_text).collect::<Vec<String>>()),
            one => Some(vec![one.to_text()]),
        };
        Ok(listed(networks(ctx, true, names.as_deref(), false)?, false).into())
    }
}

record! {
    /// Lists the IPv6 networks that the host is in.
    ///
    ///   salt '*' network.subnets6
    pub struct Subnets6 {}
}

impl Run for Subnets6 {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(listed(networks(ctx, false, None, false)?, false).into())
    }
}

record! {
    /// Shows whether the host is in a network.
    ///
    ///   salt '*' network.in_subnet 10.0.0.0/16
    pub struct InSubnet {
        /// The network.
        cidr: String,
    }
}

impl Run for InSubnet {
    fn run(self, ctx: &Ctx) -> Reply {
        if !Net::is_exact(&self.cidr) {
            return Ok(false.into());
        }
        let network = network(&self.cidr)?;
        let found = addresses(ctx, true, None, false)?.into_iter().chain(addresses(ctx, false, None, false)?);
        Ok(found.into_iter().any(|ip| network.has(ip)).into())
    }
}

record! {
    /// Lists the interfaces with an address that begins so.
    ///
    ///   salt '*' network.ifacestartswith 10.0
    pub struct Ifacestartswith {
        /// The beginning of an address.
        cidr: Value,
    }
}

impl Run for Ifacestartswith {
    fn run(self, ctx: &Ctx) -> Reply {
        let start = self.cidr.to_text();
        let mut names = Vec::new();
        for known in interfaces::all(ctx)? {
            for address in known.of_family(true).as_list().unwrap_or_default() {
                let text = |key: &str| address.at(key).map(Value::to_text).unwrap_or_default();
                if text("address").starts_with(&start) {
                    names.push(text("label"));
                }
            }
        }
        Ok(Value::list(names).into())
    }
}

record! {
    /// Shows the host's name.
    ///
    ///   salt '*' network.get_hostname
    pub struct GetHostname {}
}

impl Run for GetHostname {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(ctx.host.host_name().into())
    }
}

record! {
    /// Shows the host's full name.
    ///
    ///   salt '*' network.get_fqdn
    pub struct GetFqdn {}
}

impl Run for GetFqdn {
    fn run(self, ctx: &Ctx) -> Reply {
        let name = ctx.host.host_name();
        let full = ctx.grains.str_at("fqdn").filter(|full| full.split('.').next() == name.split('.').next());
        Ok(full.unwrap_or(&name).into())
    }
}

record! {
    /// Lists the names of the host's addresses, as the resolver gives them.
    ///
    ///   salt '*' network.fqdns
    pub struct Fqdns {}
}

impl Run for Fqdns {
    fn run(self, ctx: &Ctx) -> Reply {
        let own = addresses(ctx, true, None, false)?.into_iter().chain(addresses(ctx, false, None, false)?);
        Ok(Map::from_iter([("fqdns", Value::list(names::of(ctx.host, own)))]).into())
    }
}

record! {
    /// Sets the host's name, in /etc/hosts too.
    ///
    ///   salt '*' network.mod_hostname master.saltstack.com
    pub struct ModHostname {
        /// The name; None: nothing is done.
        hostname: Option<String>,
    }
}

impl Run for ModHostname {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(new) = self.hostname else { return Ok(false.into()) };
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if new.is_empty() || new.starts_with('-') || !new.chars().all(fits) {
            return Err(Fault::invocation(format!("'{new}' is not the name of a host")));
        }
        let old = ctx.host.host_name();
        match ctx.host.which("hostnamectl") {
            Some(path) => {
                let path = path.to_string_lossy().into_owned();
                if !Program::new([path.as_str(), "set-hostname", &new]).run(ctx)?.is_success() {
                    return Ok(false.into());
                }
            }
            None => drop(Program::new([tool(ctx, "hostname")?, new.clone()]).run(ctx)?),
        }
        let mut text = String::new();
        for line in text_file::read(ctx.host, "/etc/hosts")?.lines() {
            let words: Vec<&str> = line.split_whitespace().map(|word| if word == old { &new } else { word }).collect();
            text.push_str(&if words.contains(&new.as_str()) { words.join("\t") } else { line.to_owned() });
            text.push('\n');
        }
        text_file::write(ctx.host, "/etc/hosts", &text)?;
        match ctx.grains.str_at("os_family") {
            Some("Debian") => text_file::write(ctx.host, "/etc/hostname", &format!("{new}\n"))?,
            Some("RedHat") => {
                let path = "/etc/sysconfig/network";
                if text_file::read(ctx.host, path)?.lines().any(|line| line.starts_with("HOSTNAME=")) {
                    text_file::set_line(ctx.host, path, "HOSTNAME=", &format!("HOSTNAME={new}"))?;
                }
            }
            _ => {}
        }
        Ok(true.into())
    }
}
