//! What a zone has lists of, and by which functions they are read and changed.

use super::{Item, Lists, Step};
use halite_core::state::{ask, given};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

/// What a zone has a list of.
pub struct Kind {
    /// Its name among the changes.
    pub key: &'static str,
    /// The name of the argument by which one is added and removed.
    argument: &'static str,
    list: &'static str,
    add: &'static str,
    remove: &'static str,
}

pub const ICMP: Kind = Kind {
    key: "icmp_types",
    argument: "icmp",
    list: "firewalld.list_icmp_block",
    add: "firewalld.block_icmp",
    remove: "firewalld.allow_icmp",
};
pub const PORTS: Kind = Kind {
    key: "ports",
    argument: "port",
    list: "firewalld.list_ports",
    add: "firewalld.add_port",
    remove: "firewalld.remove_port",
};
pub const FORWARDS: Kind = Kind {
    key: "port_fwd",
    argument: "",
    list: "firewalld.list_port_fwd",
    add: "firewalld.add_port_fwd",
    remove: "firewalld.remove_port_fwd",
};
pub const SERVICES: Kind = Kind {
    key: "services",
    argument: "service",
    list: "firewalld.list_services",
    add: "firewalld.add_service",
    remove: "firewalld.remove_service",
};
pub const INTERFACES: Kind = Kind {
    key: "interfaces",
    argument: "interface",
    list: "firewalld.get_interfaces",
    add: "firewalld.add_interface",
    remove: "firewalld.remove_interface",
};
pub const SOURCES: Kind = Kind {
    key: "sources",
    argument: "source",
    list: "firewalld.get_sources",
    add: "firewalld.add_source",
    remove: "firewalld.remove_source",
};
pub const RULES: Kind = Kind {
    key: "rich_rules",
    argument: "rule",
    list: "firewalld.get_rich_rules",
    add: "firewalld.add_rich_rule",
    remove: "firewalld.remove_rich_rule",
};

/// A zone, which may be one that is still to be made.
pub struct Zone<'a> {
    pub name: &'a str,
    pub is_new: bool,
}

impl Kind {
    /// What is to be done about a zone's list of this kind; nothing where nothing is asked for, or all is there.
    pub fn step(&self, ctx: &Ctx, zone: &Zone, wanted: Vec<Value>, prune: bool) -> Result<Option<Step>, Fault> {
        if wanted.is_empty() && !prune {
            return Ok(None);
        }
        let there = match zone.is_new {
            true => Vec::new(),
            false => {
                let answer = ask(ctx, self.list, [("zone", zone.name.into()), ("permanent", true.into())])?;
                answer.as_list().unwrap_or_default().to_vec()
            }
        };
        let items = |values: Vec<Value>| values.into_iter().map(|value| self.item(zone.name, value)).collect();
        let lists = Lists { there: items(there), wanted: items(wanted), prune };
        Ok(lists.step(self.key, self.add, self.remove))
    }

    fn item(&self, zone: &str, shown: Value) -> Item {
        let mut words = given([("zone", zone.into()), ("permanent", true.into())]);
        match shown.as_map() {
            Some(forward) => {
                for (argument, field) in FORWARD {
                    words.insert(argument, forward.at(field).cloned().unwrap_or_default());
                }
            }
            None => {
                words.insert(self.argument, shown.clone());
            }
        }
        Item { shown, words }
    }
}

/// The arguments by which a port is forwarded, and how they are shown.
const FORWARD: [(&str, &str); 4] =
    [("src", "Source port"), ("dest", "Destination port"), ("proto", "Protocol"), ("dstaddr", "Destination address")];

/// `FROM:TO:PROTOCOL[:ADDRESS]` as firewalld lists it.
pub fn forward(text: &str) -> Result<Value, Fault> {
    let parts: Vec<&str> = text.splitn(4, ':').collect();
    let (from, to, protocol, address) = match parts.as_slice() {
        [from, to, protocol] => (from, to, protocol, &""),
        [from, to, protocol, address] => (from, to, protocol, address),
        _ => {
            let wants = "a port forward is FROM:TO:PROTOCOL or FROM:TO:PROTOCOL:ADDRESS";
            return Err(Fault::invocation(format!("port_fwd '{text}' is not one: {wants}")));
        }
    };
    let shown = FORWARD.map(|(_, field)| field).into_iter().zip([from, to, protocol, address]);
    Ok(Map::from_iter(shown.map(|(field, value)| (field, *value))).into())
}

/// A rich rule as firewalld lists it: its values in double quotes.
pub fn normal(rule: &str) -> String {
    let word = |word: &str| match word.split_once('=') {
        Some((name, value)) if !value.starts_with('"') && !value.ends_with('"') => {
            let bare = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')).unwrap_or(value);
            format!("{name}=\"{bare}\"")
        }
        _ => word.to_owned(),
    };
    rule.split(' ').map(word).collect::<Vec<String>>().join(" ").trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rich_rules_get_the_quotes_that_firewalld_lists() {
        let wanted = r#"rule family="ipv4" source address="192.168.0.0/16" port port="22" protocol="tcp" accept"#;
        let forms = [
            r#"rule family="ipv4" source address="192.168.0.0/16" port port=22 protocol=tcp accept"#,
            r#"rule family='ipv4' source address='192.168.0.0/16' port port='22' protocol=tcp accept"#,
            wanted,
        ];
        for form in forms {
            assert_eq!(normal(form), wanted);
        }
    }

    #[test]
    fn a_forward_may_have_an_address() {
        let shown = |text: &str| {
            let value = forward(text).unwrap();
            FORWARD.map(|(_, field)| value.at(field).unwrap().to_text())
        };
        assert_eq!(shown("22:2222:tcp"), ["22", "2222", "tcp", ""]);
        assert_eq!(shown("80:443:tcp:192.168.0.1"), ["80", "443", "tcp", "192.168.0.1"]);
        assert_eq!(shown("80:443:tcp:fd00::1"), ["80", "443", "tcp", "fd00::1"]);
        assert!(forward("80:443").is_err() && forward("").is_err());
    }
}
