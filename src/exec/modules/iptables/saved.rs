//! Rules and policies, of the kernel and of the file that they are saved in.

use super::{NO_CHAIN, listed, parse};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_lang::regex::Regex;
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Shows the rules of the kernel.
    ///
    ///   salt '*' iptables.get_rules
    ///   salt '*' iptables.get_rules family=ipv6
    pub struct GetRules {
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for GetRules {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(rules(ctx, &self.family)?.into())
    }
}

pub(super) fn rules(ctx: &Ctx, family: &str) -> Result<Map, Fault> {
    parse::tables(&listed(ctx, family, None)?)
}

record! {
    /// Shows the rules that are saved.
    ///
    ///   salt '*' iptables.get_saved_rules
    ///   salt '*' iptables.get_saved_rules conf_file=/etc/iptables.saved
    pub struct GetSavedRules {
        /// The file; without it the one that the distribution has.
        conf_file: Option<String> = (),
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for GetSavedRules {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(saved(ctx, self.conf_file, &self.family)?.into())
    }
}

fn saved(ctx: &Ctx, path: Option<String>, family: &str) -> Result<Map, Fault> {
    let path = named(ctx, path, family)?;
    let bytes = ctx.host.read(Path::new(&path)).map_err(|error| Fault::execution(format!("{path}: {error}")))?;
    parse::tables(&String::from_utf8_lossy(&bytes))
}

/// Where the distribution keeps the rules.
fn named(ctx: &Ctx, given: Option<String>, family: &str) -> Result<String, Fault> {
    if let Some(path) = given.filter(|path| !path.is_empty()) {
        return Ok(path);
    }
    let grain = |name: &str| ctx.grains.str_at(name).unwrap_or_default();
    let (four, six) = match (grain("os_family"), grain("os")) {
        ("RedHat", _) => ("/etc/sysconfig/iptables", "/etc/sysconfig/ip6tables"),
        ("Arch" | "Void", _) => ("/etc/iptables/iptables.rules", "/etc/iptables/ip6tables.rules"),
        ("Debian", _) => ("/etc/iptables/rules.v4", "/etc/iptables/rules.v6"),
        (_, "Gentoo") => ("/var/lib/iptables/rules-save", "/var/lib/ip6tables/rules-save"),
        ("Suse", _) => ("/etc/sysconfig/scripts/SuSEfirewall2-custom", "/etc/sysconfig/scripts/SuSEfirewall2-custom"),
        (_, "Alpine") => ("/etc/iptables/rules-save", "/etc/iptables/rules6-save"),
        (_, os) => {
            return Err(Fault::execution(format!(
                "it is not known where {os} saves the rules of iptables: give a file"
            )));
        }
    };
    Ok(if family == "ipv6" { six } else { four }.to_owned())
}

record! {
    /// Shows what becomes of packets for which a chain has no rule; None where there is no such chain.
    ///
    ///   salt '*' iptables.get_policy filter INPUT
    ///   salt '*' iptables.get_policy filter INPUT family=ipv6
    pub struct GetPolicy {
        /// The table.
        table: String = "filter",
        /// The chain.
        chain: Option<String> = (),
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for GetPolicy {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(chain) = self.chain.filter(|chain| !chain.is_empty()) else { return Ok(NO_CHAIN.into()) };
        Ok(policy(&rules(ctx, &self.family)?, &self.table, &chain).into())
    }
}

fn policy(tables: &Map, table: &str, chain: &str) -> Value {
    let chain = tables.at(table).and_then(|table| table.at(chain));
    chain.and_then(|chain| chain.at("policy")).cloned().unwrap_or_default()
}

record! {
    /// Shows what becomes of packets for which a chain has no rule, by the file with what is saved.
    ///
    ///   salt '*' iptables.get_saved_policy filter INPUT
    ///   salt '*' iptables.get_saved_policy filter INPUT conf_file=/etc/iptables.saved
    pub struct GetSavedPolicy {
        /// The table.
        table: String = "filter",
        /// The chain.
        chain: Option<String> = (),
        /// The file; without it the one that the distribution has.
        conf_file: Option<String> = (),
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for GetSavedPolicy {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(chain) = self.chain.filter(|chain| !chain.is_empty()) else { return Ok(NO_CHAIN.into()) };
        Ok(policy(&saved(ctx, self.conf_file, &self.family)?, &self.table, &chain).into())
    }
}

record! {
    /// Saves the rules of the kernel in a file. Lines that the option `iptables.save_filters` names are left out.
    ///
    ///   salt '*' iptables.save /etc/sysconfig/iptables
    pub struct Save {
        /// The file; without it the one that the distribution has.
        filename: Option<String> = (),
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for Save {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = named(ctx, self.filename, &self.family)?;
        let directory = paths::directory_of(&path);
        if !paths::is_directory(ctx.host, &directory) {
            ctx.run("file.mkdir", Arguments::positional([directory.as_str()]))?;
        }
        let mut text = listed(ctx, &self.family, None)?.trim_end().to_owned();
        let filters = ctx.run("config.option", Arguments::positional(["iptables.save_filters"]))?;
        for pattern in filters.as_list().unwrap_or_default().iter().map(Value::to_text) {
            match Regex::new(&pattern) {
                Ok(filter) => {
                    let stays = |line: &&str| !matches!(filter.search(line), Ok(Some(_)));
                    text = text.split_inclusive('\n').filter(stays).collect();
                }
                Err(error) => log::warn!("Skipping regex rule: '{pattern}': {error}"),
            }
        }
        ctx.run("file.write", Arguments::positional([path, text])).map(Into::into)
    }
}
