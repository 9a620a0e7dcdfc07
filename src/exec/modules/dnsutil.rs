//! `dnsutil.*`: names of the net, in files and from servers (with the host's dig).

use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths, text_file};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::net::IpAddr;

pub const MODULE: Module = Module {
    name: "dnsutil",
    doc: "Names of the net.",
    functions: &[
        function::<A>("A"),
        function::<Aaaa>("AAAA"),
        function::<Mx>("MX"),
        function::<Ns>("NS"),
        function::<Spf>("SPF"),
        function::<CheckIp>("check_ip"),
        function::<HostsAppend>("hosts_append"),
        function::<HostsRemove>("hosts_remove"),
        function::<ParseHosts>("parse_hosts"),
        function::<ParseZone>("parse_zone"),
        function::<Serial>("serial"),
    ],
};

fn parse_hosts(text: &str) -> Vec<(String, Vec<String>)> {
    let mut shown: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace().map(str::to_owned);
        let Some(address) = words.next() else { continue };
        match shown.iter_mut().find(|(known, _)| *known == address) {
            Some((_, names)) => names.extend(words),
            None => shown.push((address, words.collect())),
        }
    }
    shown
}

record! {
    /// Shows the names in a hosts file, by address.
    ///
    ///   salt '*' dnsutil.parse_hosts
    pub struct ParseHosts {
        /// The file.
        hostsfile: String = "/etc/hosts",
        /// Its text, instead of a file.
        hosts: Option<String> = (),
    }
}

impl Run for ParseHosts {
    fn run(self, ctx: &Ctx) -> Reply {
        let given = self.hosts.filter(|text| !text.is_empty());
        let read =
            || paths::is_file(ctx.host, &self.hostsfile).then(|| text_file::read(ctx.host, &self.hostsfile).ok());
        match given.or_else(|| read().flatten()) {
            Some(text) => {
                let hosts = parse_hosts(&text).into_iter();
                Ok(hosts.map(|(address, names)| (address, Value::list(names))).collect::<Map>().into())
            }
            None => Ok("Error: hosts data was not found".into()),
        }
    }
}

record! {
    /// Adds a line to a hosts file.
    ///
    ///   salt '*' dnsutil.hosts_append /etc/hosts 127.0.0.1 ad1.yuk.co,ad2.yuk.co
    pub struct HostsAppend {
        /// The file.
        hostsfile: String = "/etc/hosts",
        /// The address.
        ip_addr: String,
        /// The names, between commas.
        entries: Vec<String>,
    }
}

impl Run for HostsAppend {
    fn run(self, ctx: &Ctx) -> Reply {
        let text = text_file::read(ctx.host, &self.hostsfile)?;
        let hosts = parse_hosts(&text);
        let known = hosts.iter().find(|(address, _)| *address == self.ip_addr).map(|(_, names)| names.as_slice());
        let new: Vec<String> =
            self.entries.into_iter().filter(|name| !known.unwrap_or_default().contains(name)).collect();
        if new.is_empty() {
            return Ok(format!("No additional hosts were added to {}", self.hostsfile).into());
        }
        let line = format!("\n{} {}", self.ip_addr, new.join(" "));
        text_file::write(ctx.host, &self.hostsfile, &format!("{text}{line}"))?;
        Ok(format!("The following line was added to {}:{line}", self.hostsfile).into())
    }
}

record! {
    /// Removes names from a hosts file, and lines without a name left.
    ///
    ///   salt '*' dnsutil.hosts_remove /etc/hosts ad1.yuk.co
    pub struct HostsRemove {
        /// The file.
        hostsfile: String = "/etc/hosts",
        /// The names, between commas.
        entries: Vec<String>,
    }
}

impl Run for HostsRemove {
    fn run(self, ctx: &Ctx) -> Reply {
        if !paths::is_file(ctx.host, &self.hostsfile) {
            return Err(Fault::execution(format!("{}: no such file", self.hostsfile)));
        }
        let text = text_file::read(ctx.host, &self.hostsfile)?;
        let mut new = String::new();
        for line in text.lines() {
            if line.is_empty() || line.trim().starts_with('#') {
                new.push_str(line);
            } else {
                let mut words: Vec<&str> = line.split_whitespace().collect();
                for name in &self.entries {
                    if let Some(at) = words.iter().skip(1).position(|word| word == name) {
                        words.remove(at + 1);
                    }
                }
                if words.len() < 2 {
                    continue;
                }
                new.push_str(&words.join(" "));
            }
            new.push('\n');
        }
        text_file::write(ctx.host, &self.hostsfile, &new)?;
        Ok(Value::Null.into())
    }
}

fn seconds(text: &str) -> i64 {
    const WEEK: i64 = 604_800;
    let text = text.to_uppercase();
    let times = [('H', 3600), ('D', 86400)].into_iter().find(|(unit, _)| text.contains(*unit));
    let found = match times {
        Some((unit, factor)) => text.replace(unit, "").parse::<i64>().ok().map(|number| number.saturating_mul(factor)),
        None => text.parse().ok(),
    };
    found.unwrap_or(WEEK).min(WEEK)
}

fn parse_zone(text: &str) -> Option<Map> {
    let mut shown = Map::new();
    let mut origin: Option<String> = None;
    let mut open: Option<String> = None;
    let add = |shown: &mut Map, kind: &str, name: &str, value: Value| {
        let mut names = shown.at(kind).and_then(Value::as_map).cloned().unwrap_or_default();
        names.insert(name, value);
        shown.insert(kind, names);
    };
    for line in text.lines() {
        let line = line.split(';').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if line.starts_with('$') {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (name, value) = (words.first()?.replace('$', ""), *words.get(1)?);
            if name == "ORIGIN" {
                origin = Some(value.to_owned());
            }
            shown.insert(name, value);
            continue;
        }
        let mut line = line.to_owned();
        if line.contains('(') && !line.contains(')') {
            open = Some(String::new());
        }
        if let Some(so_far) = &mut open {
            so_far.push(' ');
            so_far.push_str(&line);
            if !line.contains(')') {
                continue;
            }
            line = open.take()?.replace(['(', ')'], "");
        }
        if let Some(origin) = &origin {
            line = line.replace('@', origin);
        }
        let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        if line.contains("SOA") {
            if words.get(1)? != "IN" {
                words.remove(1);
            }
            origin = Some(words.first()?.clone());
            shown.insert("ORIGIN", words.first()?.as_str());
            shown.insert("NETWORK", words.get(1)?.as_str());
            shown.insert("SOURCE", words.get(3)?.as_str());
            shown.insert("CONTACT", words.get(4)?.replacen('.', "@", 1));
            shown.insert("SERIAL", words.get(5)?.as_str());
            for (name, at) in [("REFRESH", 6), ("RETRY", 7), ("EXPIRE", 8), ("MINTTL", 9)] {
                shown.insert(name, seconds(words.get(at)?));
            }
            continue;
        }
        if words.first()? == "IN" {
            words.insert(0, origin.clone()?);
        }
        if !words.first()?.ends_with('.') && !line.contains("NS") {
            words[0] = format!("{}.{}", words[0], origin.as_ref()?);
        }
        let word = |at: usize| words.get(at).map(String::as_str);
        match (word(2)?, word(3)?) {
            ("NS", server) => {
                let mut servers = shown.at("NS").and_then(Value::as_list).unwrap_or_default().to_vec();
                servers.push(server.into());
                shown.insert("NS", servers);
            }
            ("MX", priority) => {
                if shown.at("MX").is_none() {
                    let entry = Map::from_iter([("priority", priority), ("host", word(4)?)]);
                    shown.insert("MX", Value::list([entry]));
                }
            }
            (_, kind @ ("A" | "AAAA")) => {
                let entry = Map::from_iter([("TARGET", word(4)?), ("TTL", word(1)?)]);
                add(&mut shown, kind, word(0)?, entry.into());
            }
            (kind, value) => add(&mut shown, kind, word(0)?, value.into()),
        }
    }
    Some(shown)
}

record! {
    /// Shows what a zone file says.
    ///
    ///   salt '*' dnsutil.parse_zone /var/lib/named/example.com.zone
    pub struct ParseZone {
        /// The file.
        zonefile: Option<String> = (),
        /// Its text, instead of a file.
        zone: Option<String> = (),
    }
}

impl Run for ParseZone {
    fn run(self, ctx: &Ctx) -> Reply {
        let read = self.zonefile.and_then(|path| text_file::read(ctx.host, &path).ok());
        match read.or(self.zone).filter(|text| !text.is_empty()) {
            Some(text) => match parse_zone(&text) {
                Some(shown) => Ok(shown.into()),
                None => Err(Fault::execution("The zone data cannot be understood")),
            },
            None => Ok("Error: Zone data was not found".into()),
        }
    }
}

/// As Salt has it: an address, for networks with its length.
fn is_address(text: &str) -> bool {
    let (address, length) = match text.rsplit_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (text, None),
    };
    let least_most = match address.parse() {
        Ok(IpAddr::V4(_)) => 1..=32,
        Ok(IpAddr::V6(_)) => 8..=128,
        Err(_) => return false,
    };
    length.is_none_or(|length| length.parse().is_ok_and(|length: u32| least_most.contains(&length)))
}

const NO_DIG: &str = "This function requires dig, which is not currently available";

/// What dig answers; nothing where it fails.
fn dig(ctx: &Ctx, name: &str, kind: &str, server: Option<&str>) -> Result<Option<String>, Fault> {
    if name.starts_with(['-', '+', '@']) {
        return Err(Fault::invocation(format!("'{name}' is not a name to look up")));
    }
    let mut program = Program::new(["dig", "+short", name, kind]);
    if let Some(server) = server {
        program = program.arg(format!("@{server}"));
    }
    let answer = program.query(ctx)?;
    if !answer.is_success() {
        log::warn!("dig returned exit code '{}'. Returning empty list as fallback.", answer.retcode);
        return Ok(None);
    }
    Ok(Some(answer.stdout))
}

fn lines(told: Option<String>) -> Vec<String> {
    told.map_or_else(Vec::new, |told| told.split('\n').map(str::to_owned).collect())
}

fn addresses(ctx: &Ctx, name: &str, kind: &str, server: Option<&str>) -> Result<Vec<String>, Fault> {
    Ok(lines(dig(ctx, name, kind, server)?).into_iter().filter(|line| is_address(line)).collect())
}

fn shown_addresses(ctx: &Ctx, name: &str, kind: &str, server: Option<&str>) -> Reply {
    if ctx.host.which("dig").is_some() {
        return Ok(Value::list(addresses(ctx, name, kind, server)?).into());
    }
    if server.is_some() {
        return Ok(NO_DIG.into());
    }
    let wanted = |address: &&IpAddr| address.is_ipv4() == (kind == "A");
    let found: Vec<String> =
        ctx.host.resolve(name).unwrap_or_default().iter().filter(wanted).map(IpAddr::to_string).collect();
    Ok(if found.is_empty() { Value::from(format!("Unable to resolve {name}")) } else { Value::list(found) }.into())
}

record! {
    /// Shows the IPv4 addresses of a host.
    ///
    ///   salt '*' dnsutil.A www.example.com
    pub struct A {
        /// The name of the host.
        host: String,
        /// The server to ask.
        nameserver: Option<String> = (),
    }
}

impl Run for A {
    fn run(self, ctx: &Ctx) -> Reply {
        shown_addresses(ctx, &self.host, "A", self.nameserver.as_deref())
    }
}

record! {
    /// Shows the IPv6 addresses of a host.
    ///
    ///   salt '*' dnsutil.AAAA www.example.com
    pub struct Aaaa {
        /// The name of the host.
        host: String,
        /// The server to ask.
        nameserver: Option<String> = (),
    }
}

impl Run for Aaaa {
    fn run(self, ctx: &Ctx) -> Reply {
        shown_addresses(ctx, &self.host, "AAAA", self.nameserver.as_deref())
    }
}

record! {
    /// Shows the addresses of the name servers of a domain.
    ///
    ///   salt '*' dnsutil.NS example.com
    pub struct Ns {
        /// The domain.
        domain: String,
        /// Show addresses and not names.
        resolve: bool = true,
        /// The server to ask.
        nameserver: Option<String> = (),
    }
}

impl Run for Ns {
    fn run(self, ctx: &Ctx) -> Reply {
        if ctx.host.which("dig").is_none() {
            return Ok(NO_DIG.into());
        }
        let server = self.nameserver.as_deref();
        let servers = lines(dig(ctx, &self.domain, "NS", server)?);
        if !self.resolve {
            return Ok(Value::list(servers).into());
        }
        let mut found = Vec::new();
        for name in servers.iter().filter(|name| !name.is_empty()) {
            found.extend(addresses(ctx, name, "A", server)?);
        }
        Ok(Value::list(found).into())
    }
}

record! {
    /// Shows the mail servers of a domain, each with its preference.
    ///
    ///   salt '*' dnsutil.MX example.com
    pub struct Mx {
        /// The domain.
        domain: String,
        /// Show an address and not a name.
        resolve: bool = false,
        /// The server to ask.
        nameserver: Option<String> = (),
    }
}

impl Run for Mx {
    fn run(self, ctx: &Ctx) -> Reply {
        if ctx.host.which("dig").is_none() {
            return Ok(NO_DIG.into());
        }
        let server = self.nameserver.as_deref();
        let mut shown = Vec::new();
        for line in lines(dig(ctx, &self.domain, "MX", server)?) {
            let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            if self.resolve
                && let Some(name) = words.get(1)
            {
                words[1] = addresses(ctx, name, "A", server)?.into_iter().next().unwrap_or_default();
            }
            shown.push(Value::list(words));
        }
        Ok(Value::List(shown).into())
    }
}

/// Not more than this many records after each other: they may go round.
const MOST_RECORDS: usize = 20;

fn senders(ctx: &Ctx, domain: &str, record: &str, server: Option<&str>, left: usize) -> Result<Vec<String>, Fault> {
    let Some(told) = dig(ctx, domain, record, server)?.filter(|_| left > 0) else { return Ok(Vec::new()) };
    if told.is_empty() && record == "SPF" {
        return senders(ctx, domain, "TXT", server, left - 1);
    }
    let text = told.replace('"', "");
    let mut words = text.split_whitespace();
    if words.next() != Some("v=spf1") {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for word in words {
        if let Some(other) = word.strip_prefix("redirect=") {
            return senders(ctx, other, "SPF", server, left - 1);
        }
        match word.trim_start_matches(['+', '~']).split_once(':') {
            Some(("include", other)) => found.extend(senders(ctx, other, "SPF", server, left - 1)?),
            Some(("ip4" | "ip6", network)) if is_address(network) => found.push(network.to_owned()),
            _ => {}
        }
    }
    Ok(found)
}

record! {
    /// Shows the networks that may send mail of a domain.
    ///
    ///   salt '*' dnsutil.SPF example.com
    pub struct Spf {
        /// The domain.
        domain: String,
        /// The kind of record: SPF or TXT.
        record: String = "SPF",
        /// The server to ask.
        nameserver: Option<String> = (),
    }
}

impl Run for Spf {
    fn run(self, ctx: &Ctx) -> Reply {
        if ctx.host.which("dig").is_none() {
            return Ok(NO_DIG.into());
        }
        let found = senders(ctx, &self.domain, &self.record, self.nameserver.as_deref(), MOST_RECORDS)?;
        Ok(Value::list(found).into())
    }
}

record! {
    /// Tells whether a text is an address, or a network with its length.
    ///
    ///   salt '*' dnsutil.check_ip 127.0.0.1
    ///   salt '*' dnsutil.check_ip 1111:2222:3333:4444:5555:6666:7777:8888
    pub struct CheckIp {
        /// The text.
        ip_addr: Value,
    }
}

impl Run for CheckIp {
    fn run(self, _: &Ctx) -> Reply {
        Ok(self.ip_addr.as_str().is_some_and(is_address).into())
    }
}

record! {
    /// Shows the serial number for a zone: the one of this host's grains, or the first one of today.
    ///
    ///   salt '*' dnsutil.serial example.com
    ///   salt '*' dnsutil.serial example.com update=True
    pub struct Serial {
        /// The zone.
        zone: String = "",
        /// Take the next one, and keep it in the grains.
        update: bool = false,
    }
}

impl Run for Serial {
    fn run(self, ctx: &Ctx) -> Reply {
        let key = if self.zone.is_empty() { "dnsserial".to_owned() } else { format!("dnsserial_{}", self.zone) };
        let kept = ctx.run("grains.get", Arguments::positional([key.as_str()]))?;
        let kept = Some(kept).filter(Value::truthy).map(|value| value.to_text());
        let now = jiff::Timestamp::try_from(ctx.host.now()).map_err(|error| Fault::Internal(error.to_string()))?;
        let today = jiff::tz::TimeZone::system().to_datetime(now).strftime("%Y%m%d01").to_string();
        if !self.update {
            return Ok(kept.unwrap_or(today).into());
        }
        let next = match kept.filter(|kept| *kept >= today) {
            Some(kept) => match kept.parse::<u64>() {
                Ok(number) => (number + 1).to_string(),
                Err(_) => return Err(Fault::execution(format!("The grain {key} is no number: {kept}"))),
            },
            None => today,
        };
        ctx.run("grains.setval", Arguments::positional([key.as_str(), next.as_str()]))?;
        Ok(next.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_have_a_length() {
        for text in ["127.0.0.1", "10.0.0.0/8", "::1", "fe80::/64"] {
            assert!(is_address(text), "{text}");
        }
        for text in ["127.0.0", "10.0.0.0/33", "10.0.0.0/x", "::/4", "", "a"] {
            assert!(!is_address(text), "{text}");
        }
    }

    #[test]
    fn zones_are_understood() {
        let text = "$TTL 3600\n$ORIGIN example.com.\n@ IN SOA ns1.example.com. root.example.com. (\n 2024 ; serial\n 1H\n \
                    15 \n 1W 1D )\n@ IN NS ns1.example.com.\nwww 300 IN A 10.0.0.1\n";
        let zone = parse_zone(text).unwrap();
        assert_eq!(zone.str_at("CONTACT"), Some("root@example.com."));
        assert_eq!(zone.at("EXPIRE"), Some(&Value::Int(604_800)));
        assert_eq!(zone.at("A").unwrap().at("www.example.com.").unwrap().at("TARGET"), Some(&"10.0.0.1".into()));
        assert!(parse_zone("@ IN SOA").is_none());
    }
}
