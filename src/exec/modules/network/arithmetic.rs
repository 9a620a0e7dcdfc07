//! Addresses and networks as numbers: nothing is looked at.

use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::net;
use halite_lang::net::Net;
use halite_value::record;
use halite_value::{Map, Value};
use std::net::{IpAddr, Ipv4Addr};

fn address(text: &str) -> Result<IpAddr, Fault> {
    text.parse().map_err(|_| Fault::invocation(format!("'{text}' does not appear to be an IPv4 or IPv6 address")))
}

record! {
    /// Shows the network of an address and its mask.
    ///
    ///   salt '*' network.calc_net 172.17.0.5 255.255.255.240
    ///   salt '*' network.calc_net 2a02:f6e:a000:80:84d8:8332:7866:4e07/64
    pub struct CalcNet {
        /// The address, with or without a length.
        ip_addr: String,
        /// The mask, or the length.
        netmask: Value = (),
    }
}

impl Run for CalcNet {
    fn run(self, _: &Ctx) -> Reply {
        let text = match self.netmask.is_null() {
            true => self.ip_addr,
            false => format!("{}/{}", self.ip_addr, self.netmask.to_text()),
        };
        Ok(Net::parse(&text).map_err(Fault::invocation)?.to_string().into())
    }
}

record! {
    /// Shows first and last address and the mask of a network.
    ///
    ///   salt '*' network.convert_cidr 172.31.0.0/16
    pub struct ConvertCidr {
        /// The network.
        cidr: String,
    }
}

impl Run for ConvertCidr {
    fn run(self, _: &Ctx) -> Reply {
        let net = Net::parse(&self.cidr).map_err(Fault::invocation)?;
        let shown = [("network", net.address()), ("netmask", net.mask()), ("broadcast", net.broadcast())];
        Ok(shown.into_iter().map(|(key, ip)| (key, ip.to_string())).collect::<Map>().into())
    }
}

record! {
    /// Shows whether an address is in a network.
    ///
    ///   salt '*' network.ip_in_subnet 172.17.0.4 172.16.0.0/12
    pub struct IpInSubnet {
        /// The address.
        ip_addr: String,
        /// The network.
        cidr: String,
    }
}

impl Run for IpInSubnet {
    fn run(self, _: &Ctx) -> Reply {
        if !Net::is_exact(&self.cidr) {
            return Ok(false.into());
        }
        let net = Net::parse(&self.cidr).map_err(Fault::invocation)?;
        Ok(net.has(address(&self.ip_addr)?).into())
    }
}

record! {
    /// Shows an address in hexadecimal.
    ///
    ///   salt '*' network.iphexval 10.0.0.1
    pub struct Iphexval {
        /// The address.
        ip: String,
    }
}

impl Run for Iphexval {
    fn run(self, _: &Ctx) -> Reply {
        let ip: Ipv4Addr =
            self.ip.parse().map_err(|_| Fault::invocation(format!("'{}' is not an IPv4 address", self.ip)))?;
        Ok(format!("{:08X}", u32::from(ip)).into())
    }
}

record! {
    /// Shows whether an address is one of the host to itself.
    ///
    ///   salt '*' network.is_loopback 127.0.0.1
    pub struct IsLoopback {
        /// The address.
        ip_addr: String,
    }
}

impl Run for IsLoopback {
    fn run(self, _: &Ctx) -> Reply {
        Ok(address(&self.ip_addr)?.is_loopback().into())
    }
}

record! {
    /// Shows whether an address is not for the whole world.
    ///
    ///   salt '*' network.is_private 10.0.0.3
    pub struct IsPrivate {
        /// The address.
        ip_addr: String,
    }
}

impl Run for IsPrivate {
    fn run(self, _: &Ctx) -> Reply {
        Ok(net::is_private(address(&self.ip_addr)?).into())
    }
}

record! {
    /// Shows the name under which an address is asked for its name.
    ///
    ///   salt '*' network.reverse_ip 172.17.0.4
    pub struct ReverseIp {
        /// The address.
        ip_addr: String,
    }
}

impl Run for ReverseIp {
    fn run(self, _: &Ctx) -> Reply {
        Ok(net::reverse(address(&self.ip_addr)?).into())
    }
}
