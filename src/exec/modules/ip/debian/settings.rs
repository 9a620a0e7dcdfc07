//! `ip.get_network_settings` and `ip.build_network_settings` in Debian's family.

use super::super::Settings;
use super::super::check::{SWITCHES, switch, wrong_setting};
use halite_core::{Ctx, Fault, paths, text_file};
use halite_value::Value;
use halite_value::record::Arguments;

const NETWORKING: &str = "/etc/default/networking";
const RESOLVER: &str = "/etc/resolv.conf";

/// What there is of the network as a whole.
#[derive(Default)]
struct Network {
    /// yes, no or nothing.
    networking: String,
    hostname: String,
    domain: String,
    /// Domains in which names are looked for; a list as it was found, a text as it was given.
    search: Value,
}

impl Network {
    fn read(ctx: &Ctx) -> Result<Network, Fault> {
        let mut network = Network { search: Value::List(Vec::new()), ..Network::default() };
        for line in text_file::read(ctx.host, NETWORKING)?.lines() {
            if let Some((name, value)) = line.split_once('=')
                && name.starts_with("CONFIGURE_INTERFACES")
            {
                network.networking = value.trim().to_owned();
            }
        }
        network.hostname = text_file::read(ctx.host, "/etc/hostname")?.lines().next().unwrap_or_default().to_owned();
        for line in text_file::read(ctx.host, RESOLVER)?.lines() {
            let words = line.split_whitespace().take_while(|word| !word.starts_with(['#', ';']));
            match words.map(str::to_owned).collect::<Vec<String>>().as_slice() {
                [word, domain, ..] if word.to_lowercase() == "domain" => network.domain = domain.clone(),
                [word, search @ ..] if word.to_lowercase() == "search" => network.search = Value::list(search.to_vec()),
                _ => {}
            }
        }
        Ok(network)
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let texts = [("NETWORKING", &self.networking), ("HOSTNAME", &self.hostname), ("DOMAIN", &self.domain)];
        for (name, value) in texts.into_iter().filter(|(_, value)| !value.is_empty()) {
            lines.push(format!("{name}={value}\n"));
        }
        if self.search.truthy() {
            lines.push(format!("SEARCH={}\n", self.search.to_text()));
        }
        lines
    }
}

/// Ubuntu has services in the place of a file.
fn has_services(ctx: &Ctx) -> bool {
    let release = ctx.grains.at("osmajorrelease").and_then(Value::as_int);
    ctx.grains.str_at("osfullname") == Some("Ubuntu") && release.is_none_or(|major| major >= 12)
}

fn service(ctx: &Ctx, fun: &str, name: &str) -> Result<bool, Fault> {
    Ok(ctx.run(fun, Arguments::positional([name]))?.truthy())
}

pub fn shown(ctx: &Ctx) -> Result<Vec<String>, Fault> {
    let mut network = Network::read(ctx)?;
    if has_services(ctx) {
        let runs = service(ctx, "service.available", "networking")? && service(ctx, "service.status", "networking")?;
        network.networking = if runs { "yes" } else { "no" }.to_owned();
        network.search = Value::Null;
    }
    Ok(network.lines())
}

pub fn build(ctx: &Ctx, settings: &Settings) -> Result<Vec<String>, Fault> {
    let mut network = Network::read(ctx)?;
    let enabled = match settings.at("enabled") {
        Some(value) => switch(value),
        None => switch(&network.networking.as_str().into()),
    };
    let enabled = enabled.ok_or_else(|| wrong_setting("networking", SWITCHES))?;
    let hostname = settings.text("hostname").unwrap_or_else(|| network.hostname.clone());
    if hostname.is_empty() {
        return Err(wrong_setting("hostname", "server1.example.com"));
    }
    if !settings.is_test() {
        enable(ctx, enabled)?;
    }
    let (name, domain) = hostname.split_once('.').map_or((hostname.as_str(), None), |(name, rest)| (name, Some(rest)));
    let new_domain = domain.filter(|domain| *domain != network.domain);
    let new_search = settings.at("search").filter(|search| !is_search(&network.search, search));
    if new_domain.is_some() || new_search.is_some() {
        let domain = new_domain.unwrap_or(&network.domain).to_owned();
        let search = new_search.unwrap_or(&network.search).clone();
        if !settings.is_test() {
            resolve(ctx, &domain, &words(&search))?;
        }
        network = Network { domain, search, ..network };
    }
    network.networking = if enabled { "yes" } else { "no" }.to_owned();
    network.hostname = name.to_owned();
    if has_services(ctx) {
        network.search = settings.at("search").cloned().unwrap_or_default();
    }
    Ok(network.lines())
}

fn is_search(found: &Value, given: &Value) -> bool {
    words(found) == words(given)
}

fn words(search: &Value) -> String {
    match search {
        Value::List(domains) => domains.iter().map(Value::to_text).collect::<Vec<String>>().join(" "),
        Value::Null => String::new(),
        text => text.to_text(),
    }
}

/// Whether interfaces come up when the host boots.
fn enable(ctx: &Ctx, enabled: bool) -> Result<(), Fault> {
    if !has_services(ctx) {
        let line = format!("CONFIGURE_INTERFACES={}", if enabled { "yes" } else { "no" });
        return text_file::set_line(ctx.host, NETWORKING, "CONFIGURE_INTERFACES", &line);
    }
    let fun = if enabled { "service.enable" } else { "service.disable" };
    for name in ["NetworkManager", "networking"] {
        if service(ctx, "service.available", name)? {
            service(ctx, fun, name)?;
        }
    }
    Ok(())
}

/// Writes domain and search into the file of the resolver; what else it has stays.
fn resolve(ctx: &Ctx, domain: &str, search: &str) -> Result<(), Fault> {
    if !paths::exists(ctx.host, RESOLVER) {
        return Err(Fault::invocation(format!("{RESOLVER} cannot be written: it does not exist")));
    }
    let mut others = Vec::new();
    let text = text_file::read(ctx.host, RESOLVER)?;
    for line in text.lines() {
        let word = line.split_whitespace().next().unwrap_or_default().to_lowercase();
        if !matches!(word.as_str(), "domain" | "search") {
            others.push(line.to_owned());
        }
    }
    let own = [("domain", domain), ("search", search)];
    let own = own.iter().filter(|(_, value)| !value.is_empty()).map(|(word, value)| format!("{word} {value}"));
    let all: Vec<String> = own.chain(others).collect();
    text_file::write(ctx.host, RESOLVER, &(all.join("\n") + "\n"))
}
