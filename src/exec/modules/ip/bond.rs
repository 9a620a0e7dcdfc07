//! The options of bonds, in each of their seven modes.

use super::check::{SWITCHES, switch, whole, wrong};
use super::{Family, Settings};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

/// The modes, each at its number.
pub const MODES: [&str; 7] =
    ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"];

/// Options of a bond by their names, in the order in which they are written.
pub fn options(ctx: &Ctx, family: Family, settings: &Settings, iface: &str) -> Result<Map, Fault> {
    let bond = Bond { settings, iface };
    let mode = bond.mode()?;
    let mut options = Map::from_iter([("mode", mode.to_string())]);
    match family {
        Family::Debian | Family::Netplan => bond.debian(ctx, mode, &mut options)?,
        Family::RedHat | Family::NetworkManager => bond.redhat(ctx, mode, &mut options)?,
    }
    Ok(options)
}

struct Bond<'a> {
    settings: &'a Settings,
    iface: &'a str,
}

impl Bond<'_> {
    fn mode(&self) -> Result<usize, Fault> {
        let given = self.settings.text("mode").unwrap_or_default();
        let known = |mode: usize| given == mode.to_string() || Some(given.as_str()) == MODES.get(mode).copied();
        (0..MODES.len()).find(|mode| known(*mode)).ok_or_else(|| {
            let numbers: Vec<String> = (0..MODES.len()).map(|mode| mode.to_string()).collect();
            self.wrong("mode", &format!("{}|{}", numbers.join("|"), MODES.join("|")))
        })
    }

    fn debian(&self, ctx: &Ctx, mode: usize, options: &mut Map) -> Result<(), Fault> {
        if matches!(mode, 0 | 2) {
            options.insert("arp_ip_target", self.targets()?);
            self.number("arp_interval", Some("250"), options)?;
        } else {
            for (name, default) in [("miimon", "100"), ("downdelay", "200"), ("updelay", "0")] {
                self.number(name, Some(default), options)?;
            }
        }
        if mode == 1 {
            self.primary(options);
        }
        if mode == 4 {
            self.link_aggregation(options)?;
        }
        // Ubuntu's scripts do not know it in this mode.
        let is_known = !(mode == 1 && is_new_ubuntu(ctx));
        if !matches!(mode, 0 | 2) && is_known {
            self.carrier("on", options)?;
        }
        if matches!(mode, 5 | 6) {
            self.primary(options);
        }
        if matches!(mode, 2 | 4) {
            self.hashing(&["layer2", "layer2+3", "layer3+4"], options)?;
        }
        Ok(())
    }

    fn redhat(&self, ctx: &Ctx, mode: usize, options: &mut Map) -> Result<(), Fault> {
        let is_watched = self.settings.at("miimon").is_some();
        let mut asks = false;
        self.monitoring(options)?;
        if matches!(mode, 0 | 2) {
            if self.settings.at("arp_interval").is_some() {
                self.number("arp_interval", None, options)?;
                options.insert("arp_ip_target", self.targets()?);
                asks = true;
            }
            if !is_watched && !asks {
                return Err(self.wrong("miimon or arp_interval", "at least one of these is required"));
            }
        } else if !is_watched {
            return Err(self.wrong("miimon", "integer"));
        }
        if matches!(mode, 1 | 5 | 6) {
            self.primary(options);
        }
        if mode == 4 {
            self.link_aggregation(options)?;
        }
        let new = ["layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac"];
        match mode {
            2 => self.hashing(&new[..3], options),
            4 if ctx.grains.at("osmajorrelease").and_then(Value::as_int).is_some_and(|major| major < 8) => {
                self.hashing(&new[..5], options)
            }
            4 => self.hashing(&new, options),
            _ => Ok(()),
        }
    }

    /// How often the link is looked at, and how long it must be up or down before that counts: multiples of it.
    fn monitoring(&self, options: &mut Map) -> Result<(), Fault> {
        for name in ["miimon", "downdelay", "updelay"] {
            self.number(name, None, options)?;
        }
        let Some(every) = options.at("miimon").and_then(whole) else { return Ok(()) };
        if every == 0 {
            return Err(self.wrong("miimon", "nonzero integer"));
        }
        if !options.contains("downdelay") {
            options.insert("downdelay", every * 2);
        }
        for name in ["downdelay", "updelay"] {
            if options.at(name).and_then(whole).is_some_and(|delay| delay % every != 0) {
                return Err(self.wrong(name, &format!("0 or a multiple of miimon ({every})")));
            }
        }
        self.carrier("0", options)
    }

    fn number(&self, name: &str, default: Option<&str>, options: &mut Map) -> Result<(), Fault> {
        match (self.settings.at(name), default) {
            (Some(value), _) if whole(value).is_none() => return Err(self.wrong(name, "integer")),
            (Some(value), _) => options.insert(name, value.clone()),
            (None, Some(default)) => options.insert(name, default),
            (None, None) => None,
        };
        Ok(())
    }

    fn carrier(&self, default: &str, options: &mut Map) -> Result<(), Fault> {
        let word = match self.settings.at("use_carrier") {
            None => default,
            Some(value) => match switch(value) {
                Some(true) => "1",
                Some(false) => "0",
                None => return Err(self.wrong("use_carrier", SWITCHES)),
            },
        };
        options.insert("use_carrier", word);
        Ok(())
    }

    fn primary(&self, options: &mut Map) {
        if let Some(primary) = self.settings.at("primary") {
            options.insert("primary", primary.clone());
        }
    }

    fn link_aggregation(&self, options: &mut Map) -> Result<(), Fault> {
        let rate = match self.settings.at("lacp_rate").map(Value::to_text).as_deref() {
            None | Some("slow" | "0") => "0",
            Some("fast" | "1") => "1",
            Some(_) => return Err(self.wrong("lacp_rate", "fast|1|slow|0")),
        };
        options.insert("lacp_rate", rate);
        self.number("ad_select", Some("0"), options)
    }

    fn hashing(&self, valid: &[&str], options: &mut Map) -> Result<(), Fault> {
        let Some(policy) = self.settings.text("hashing-algorithm") else { return Ok(()) };
        if !valid.contains(&policy.as_str()) {
            return Err(self.wrong("hashing-algorithm", &valid.join("|")));
        }
        options.insert("xmit_hash_policy", policy);
        Ok(())
    }

    /// Addresses that are asked whether the link is there.
    fn targets(&self) -> Result<String, Fault> {
        match self.settings.at("arp_ip_target") {
            Some(Value::List(targets)) if (1..=16).contains(&targets.len()) => {
                Ok(targets.iter().map(Value::to_text).collect::<Vec<String>>().join(","))
            }
            _ => Err(self.wrong("arp_ip_target", "list of ips (up to 16)")),
        }
    }

    fn wrong(&self, option: &str, expected: &str) -> Fault {
        wrong(self.iface, option, expected)
    }
}

fn is_new_ubuntu(ctx: &Ctx) -> bool {
    let release = ctx.grains.at("osmajorrelease").and_then(Value::as_int);
    ctx.grains.str_at("os") == Some("Ubuntu") && release.is_some_and(|major| major >= 16)
}
