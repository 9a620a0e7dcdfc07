//! Who can be reached, and how.

use halite_core::accounts::tool;
use halite_core::host::Protocol;
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// A name or an address, without characters that neither has.
fn sanitized(host: &str) -> Result<String, Fault> {
    if host.parse::<IpAddr>().is_ok() {
        return Ok(host.to_owned());
    }
    let fits = |c: &char| c.is_ascii_alphanumeric() || ".-_".contains(*c);
    let name: String = host.chars().take(255).filter(fits).collect();
    match name.is_empty() || name.starts_with('-') {
        true => Err(Fault::invocation(format!("'{host}' is not the name of a host"))),
        false => Ok(name),
    }
}

record! {
    /// Pings a host four times. Returns what ping prints, or whether it answered.
    ///
    ///   salt '*' network.ping archlinux.org
    ///   salt '*' network.ping archlinux.org return_boolean=True timeout=3
    pub struct Ping {
        /// The host.
        host: String,
        /// For how many seconds an answer is waited for.
        timeout: Value = false,
        /// Return whether it answered.
        return_boolean: bool = false,
    }
}

impl Run for Ping {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut program = Program::new(["ping"]);
        if self.timeout.truthy() {
            program = program.args(["-W".to_owned(), self.timeout.to_text()]);
        }
        let answer = program.args(["-c".to_owned(), "4".to_owned(), sanitized(&self.host)?]).mixed().query(ctx)?;
        Ok(if self.return_boolean { Value::Bool(answer.is_success()) } else { answer.stdout.into() }.into())
    }
}

record! {
    /// Shows the way to a host, hop by hop.
    ///
    ///   salt '*' network.traceroute archlinux.org
    pub struct Traceroute {
        /// The host.
        host: String,
    }
}

impl Run for Traceroute {
    fn run(self, ctx: &Ctx) -> Reply {
        let program =
            Program::new([tool(ctx, "traceroute")?, sanitized(&self.host)?]).timeout(Duration::from_secs(120));
        let mut hops = Vec::new();
        for line in
            program.query(ctx)?.stdout.lines().filter(|line| line.contains(' ') && !line.starts_with("traceroute"))
        {
            // " 1  gateway (192.0.2.1)  0.5 ms  0.6 ms  0.4 ms"
            let parts: Vec<&str> = line.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
            let mut hop = Map::new();
            let count = parts.first().and_then(|count| count.parse::<i64>().ok());
            match (count, parts.as_slice()) {
                (Some(count), [_, "* * *"]) => {
                    hop.insert("count", count);
                    hop.insert("hostname", "*");
                }
                (Some(count), [_, host, times @ ..]) if times.len() >= 3 => {
                    let mut words = host.split_whitespace();
                    hop.insert("count", count);
                    hop.insert("hostname", words.next().unwrap_or_default());
                    hop.insert("ip", words.next().unwrap_or_default().trim_matches(['(', ')']));
                    for (at, time) in times.iter().take(3).enumerate() {
                        let time: Option<f64> = time.split_whitespace().next().and_then(|time| time.parse().ok());
                        hop.insert(format!("ms{}", at + 1), time);
                    }
                }
                _ => {}
            }
            hops.push(hop);
        }
        Ok(Value::list(hops).into())
    }
}

record! {
    /// Shows what dig(1) says of a name.
    ///
    ///   salt '*' network.dig archlinux.org
    pub struct Dig {
        /// The name.
        host: String,
    }
}

impl Run for Dig {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Program::new([tool(ctx, "dig")?, sanitized(&self.host)?]).mixed().query(ctx)?.stdout.into())
    }
}

record! {
    /// Shows the hardware addresses of neighbours, with their addresses, as arp(8) has them.
    ///
    ///   salt '*' network.arp
    pub struct Arp {}
}

impl Run for Arp {
    fn run(self, ctx: &Ctx) -> Reply {
        let told = Program::new([tool(ctx, "arp")?, "-an".to_owned()]).query(ctx)?;
        let line = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            Some((words.get(3)?.to_string(), words.get(1)?.trim_matches(['(', ')']).to_owned()))
        };
        Ok(told.stdout.lines().filter_map(line).collect::<Map>().into())
    }
}

/// Neighbours of a family by their hardware addresses.
fn neighbours(ctx: &Ctx, sign: char) -> Reply {
    let told = Program::new(["ip", "neigh", "show"]).query(ctx)?;
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, _, _, _, hardware, ..] = words.as_slice() else { return None };
        address.contains(sign).then(|| (hardware.to_string(), address.to_string()))
    };
    Ok(told.stdout.lines().filter_map(line).collect::<Map>().into())
}

record! {
    /// Shows the hardware addresses of neighbours, with their IPv4 addresses.
    ///
    ///   salt '*' network.ip_neighs
    ///   salt '*' network.ipneighs
    pub struct IpNeighs {}
}

impl Run for IpNeighs {
    fn run(self, ctx: &Ctx) -> Reply {
        neighbours(ctx, '.')
    }
}

record! {
    /// Shows the hardware addresses of neighbours, with their IPv6 addresses.
    ///
    ///   salt '*' network.ip_neighs6
    ///   salt '*' network.ipneighs6
    pub struct IpNeighs6 {}
}

impl Run for IpNeighs6 {
    fn run(self, ctx: &Ctx) -> Reply {
        neighbours(ctx, ':')
    }
}

record! {
    /// Shows whether something listens on a port of a host.
    ///
    ///   salt '*' network.connect archlinux.org 80
    ///   salt '*' network.connect archlinux.org port=53 proto=udp timeout=3
    pub struct Connect {
        /// The host.
        host: Value,
        /// The port.
        port: Value = (),
        /// `proto`: tcp or udp; `timeout`: seconds (5); `family`: ipv4 or ipv6.
        kwargs: Keywords,
    }
}

impl Run for Connect {
    fn run(self, ctx: &Ctx) -> Reply {
        let told = |result: bool, comment: String| {
            let told = Map::from_iter([("result", Value::from(result)), ("comment", comment.into())]);
            Ok(told.into())
        };
        for (name, given) in [("host", &self.host), ("port", &self.port)] {
            if !given.truthy() {
                return told(false, format!("Required argument, {name}, is missing."));
            }
        }
        let text = |name: &str| self.kwargs.0.at(name).map(Value::to_text);
        let (proto, protocol) = match text("proto").as_deref() {
            Some("udp") => ("udp", Protocol::Udp),
            _ => ("tcp", Protocol::Tcp),
        };
        let seconds = self.kwargs.0.at("timeout").and_then(Value::as_float).unwrap_or(5.0);
        let time =
            Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero()).unwrap_or(Duration::from_secs(5));
        let (host, port) = (self.host.to_text(), self.port.to_text());
        let wanted = |ip: &IpAddr| match text("family").as_deref() {
            Some("ipv4") => ip.is_ipv4(),
            Some("ipv6") => ip.is_ipv6(),
            _ => true,
        };
        let found = ctx.host.resolve(&sanitized(&host)?).unwrap_or_default().into_iter().find(wanted);
        let (Some(ip), Ok(number)) = (found, port.parse::<u16>()) else {
            return told(false, format!("Unable to resolve host {host} on {proto} port {port}"));
        };
        match ctx.host.reach(SocketAddr::new(ip, number), protocol, time) {
            Ok(()) => told(true, format!("Successfully connected to {host} ({ip}) on {proto} port {port}")),
            Err(_) => told(false, format!("Unable to connect to {host} ({ip}) on {proto} port {port}")),
        }
    }
}

record! {
    /// Wakes a host: sends its hardware address to all.
    ///
    ///   salt '*' network.wol 08-00-27-13-69-77
    ///   salt '*' network.wol 080027136977 255.255.255.255 7
    pub struct Wol {
        /// The hardware address.
        mac: Value,
        /// The address that means all.
        bcast: String = "255.255.255.255",
        /// The port.
        destport: i64 = 9,
    }
}

impl Run for Wol {
    fn run(self, ctx: &Ctx) -> Reply {
        let wrong = || Fault::invocation("Invalid MAC address");
        let text = self.mac.to_text();
        let digits: String = match text.len() {
            12 => text,
            17 => text.chars().enumerate().filter(|(at, _)| at % 3 != 2).map(|(_, c)| c).collect(),
            _ => return Err(wrong()),
        };
        let byte = |at: usize| {
            let pair = digits.get(at * 2..at * 2 + 2).ok_or_else(wrong)?;
            u8::from_str_radix(pair, 16).map_err(|_| wrong())
        };
        let address = (0..6).map(byte).collect::<Result<Vec<u8>, Fault>>()?;
        let mut packet = vec![0xff; 6];
        packet.extend(address.repeat(16));
        let ip = ctx.host.resolve(&self.bcast).ok().and_then(|found| found.first().copied());
        let ip = ip.ok_or_else(|| Fault::invocation(format!("'{}' is not an address", self.bcast)))?;
        let port = u16::try_from(self.destport).map_err(|_| Fault::invocation("there is no such port"))?;
        let sent = ctx.host.send(SocketAddr::new(ip, port), &packet);
        sent.map_err(|error| Fault::execution(format!("{ip}: {error}")))?;
        Ok(true.into())
    }
}

const ETHTOOL: &str = "/sbin/ethtool";

record! {
    /// Shows the sizes of an interface's buffers, with ethtool(8). Nothing where that is not there.
    ///
    ///   salt '*' network.get_bufsize eth0
    pub struct GetBufsize {
        /// The interface.
        iface: String,
    }
}

impl Run for GetBufsize {
    fn run(self, ctx: &Ctx) -> Reply {
        if !halite_core::paths::exists(ctx.host, ETHTOOL) {
            return Ok(Map::new().into());
        }
        let answer = Program::new([ETHTOOL, "-g", &self.iface]).mixed().query(ctx)?;
        let mut shown = Map::from_iter([("result", false)]);
        let mut suffix = "max-";
        for line in answer.stdout.lines() {
            let number = line.rsplit_once(':').and_then(|(name, size)| Some((name, size.trim().parse::<i64>().ok()?)));
            if let Some((name, size)) = number {
                shown.insert(format!("{}{suffix}", name.to_lowercase().replace(' ', "-")), size);
                shown.insert("result", true);
            } else if line.ends_with("maximums:") {
                suffix = "-max";
            } else if line.ends_with("settings:") {
                suffix = "";
            }
        }
        if shown.len() == 1 {
            shown.insert("comment", answer.stdout);
        }
        Ok(shown.into())
    }
}

record! {
    /// Sets the sizes of an interface's buffers, with ethtool(8). False where that is not there.
    ///
    ///   salt '*' network.mod_bufsize eth0 tx=1024 rx=1024
    pub struct ModBufsize {
        /// The interface.
        iface: String,
        args: Rest,
        /// `rx`, `tx`, `rx-mini`, `rx-jumbo`: the sizes.
        kwargs: Keywords,
    }
}

impl Run for ModBufsize {
    fn run(self, ctx: &Ctx) -> Reply {
        if !halite_core::paths::exists(ctx.host, ETHTOOL) {
            return Ok(false.into());
        }
        let told = |result: bool, comment: String| {
            Ok(Map::from_iter([("result", Value::from(result)), ("comment", comment.into())]).into())
        };
        if !self.args.0.is_empty() {
            let words: Vec<String> = self.args.0.iter().map(Value::to_text).collect();
            return told(false, format!("Unknown arguments: {}", words.join(" ")));
        }
        let sizes = ["rx", "tx", "rx-mini", "rx-jumbo"];
        let given = sizes.iter().filter_map(|size| Some([size.to_string(), self.kwargs.0.at(size)?.to_text()]));
        let words: Vec<String> = given.flatten().collect();
        if words.is_empty() {
            return told(false, "Requires rx=<val> tx==<val> rx-mini=<val> and/or rx-jumbo=<val>".to_owned());
        }
        let answer = Program::new([ETHTOOL, "-G", &self.iface]).args(words.iter().cloned()).mixed().run(ctx)?;
        match answer.stdout.is_empty() {
            true => told(true, words.join(" ")),
            false => told(false, answer.stdout),
        }
    }
}
