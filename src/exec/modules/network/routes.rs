//! Where packets go.

use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_lang::net::Net;
use halite_value::record;
use halite_value::{Map, Value};

fn route(family: &str, destination: &str, gateway: &str, netmask: &str, flags: &str, interface: &str) -> Map {
    Map::from_iter([
        ("addr_family", family),
        ("destination", destination),
        ("gateway", gateway),
        ("netmask", netmask),
        ("flags", flags),
        ("interface", interface),
    ])
}

/// From netstat, where the host has it, else from ip.
fn all(ctx: &Ctx) -> Result<Vec<Map>, Fault> {
    if ctx.host.which("netstat").is_none() {
        return by_ip(ctx);
    }
    let mut routes = Vec::new();
    let told = Program::new(["netstat", "-A", "inet", "-rn"]).query(ctx)?;
    for line in told.stdout.lines().skip(2) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [destination, gateway, netmask, flags, _, _, _, interface, ..] = words.as_slice() {
            routes.push(route("inet", destination, gateway, netmask, flags, interface));
        }
    }
    let told = Program::new(["netstat", "-A", "inet6", "-rn"]).query(ctx)?;
    for line in told.stdout.lines().skip(2) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [destination, gateway, flags, .., interface] = words.as_slice()
            && (6..=7).contains(&words.len())
        {
            routes.push(route("inet6", destination, gateway, "", flags, interface));
        }
    }
    Ok(routes)
}

fn by_ip(ctx: &Ctx) -> Result<Vec<Map>, Fault> {
    let behind = |words: &[&str], name: &str| {
        let at = words.iter().position(|word| *word == name);
        at.and_then(|at| words.get(at + 1)).map(|word| word.to_string()).unwrap_or_default()
    };
    let mut routes = Vec::new();
    for line in Program::new(["ip", "-4", "route", "show", "table", "main"]).query(ctx)?.stdout.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let interface = behind(&words, "dev");
        match words.first() {
            None | Some(&"unreachable") => {}
            Some(&"default") => {
                routes.push(route("inet", "0.0.0.0", &behind(&words, "via"), "0.0.0.0", "UG", &interface));
            }
            Some(first) => {
                let Ok(net) = Net::parse(first) else { continue };
                let (address, mask) = (net.address().to_string(), net.mask().to_string());
                routes.push(route("inet", &address, "0.0.0.0", &mask, "U", &interface));
            }
        }
    }
    const OTHERS: [&str; 9] =
        ["unicast", "broadcast", "throw", "unreachable", "prohibit", "blackhole", "nat", "anycast", "multicast"];
    for line in Program::new(["ip", "-6", "route", "show", "table", "all"]).query(ctx)?.stdout.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let interface = behind(&words, "dev");
        match words.as_slice() {
            [first, ..] if OTHERS.contains(first) => {}
            ["default", ..] => routes.push(route("inet6", "::/0", &behind(&words, "via"), "", "UG", &interface)),
            ["local", address, ..] => routes.push(route("inet6", &format!("{address}/128"), "::", "", "U", &interface)),
            [first, ..] => routes.push(route("inet6", first, "::", "", "U", &interface)),
            [] => {}
        }
    }
    Ok(routes)
}

fn of_family(ctx: &Ctx, family: Option<&str>) -> Result<Vec<Map>, Fault> {
    match family {
        None => all(ctx),
        Some("inet" | "inet6") => {
            let mut routes = all(ctx)?;
            routes.retain(|route| route.str_at("addr_family") == family);
            Ok(routes)
        }
        Some(other) => Err(Fault::execution(format!("Invalid address family {other}"))),
    }
}

record! {
    /// Lists the routes of the host.
    ///
    ///   salt '*' network.routes
    pub struct Routes {
        /// `inet` or `inet6` alone.
        family: Option<String> = (),
    }
}

impl Run for Routes {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(of_family(ctx, self.family.as_deref())?).into())
    }
}

record! {
    /// Lists the routes that are taken where no other one is.
    ///
    ///   salt '*' network.default_route
    pub struct DefaultRoute {
        /// `inet` or `inet6` alone.
        family: Option<String> = (),
    }
}

impl Run for DefaultRoute {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut routes = of_family(ctx, self.family.as_deref())?;
        routes.retain(|route| {
            let destination = route.str_at("destination").unwrap_or_default();
            ["0.0.0.0", "default", "::/0"].contains(&destination)
        });
        Ok(Value::list(routes).into())
    }
}

record! {
    /// Shows the way to an address: gateway, interface, own address.
    ///
    ///   salt '*' network.get_route 10.10.10.10
    pub struct GetRoute {
        /// The address.
        ip: String,
    }
}

impl Run for GetRoute {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.ip.starts_with('-') {
            return Err(Fault::invocation(format!("'{}' is not an address", self.ip)));
        }
        let told = Program::new(["ip", "route", "get", &self.ip]).query(ctx)?;
        let told = told.expect_success(&format!("there is no way to {}", self.ip))?;
        let words: Vec<&str> = told.stdout.lines().next().unwrap_or_default().split_whitespace().collect();
        let behind = |name: &str| {
            let at = words.iter().position(|word| *word == name)?;
            words.get(at + 1).map(|word| word.to_string())
        };
        let shown = [
            ("destination", Value::from(self.ip.as_str())),
            ("gateway", behind("via").into()),
            ("interface", behind("dev").into()),
            ("source", behind("src").into()),
        ];
        Ok(Map::from_iter(shown).into())
    }
}
