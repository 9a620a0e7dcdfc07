//! `iptables.build_rule`: keyword arguments as a rule.

use super::{has_option, program};
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

record! {
    /// Shows the version of iptables(8).
    ///
    ///   salt '*' iptables.version
    ///   salt '*' iptables.version family=ipv6
    pub struct Version {
        /// ipv4 or ipv6.
        family: String = "ipv4",
    }
}

impl Run for Version {
    fn run(self, ctx: &Ctx) -> Reply {
        let printed = Program::new([program(&self.family), "--version"]).query(ctx)?.stdout;
        let version = printed.split_whitespace().nth(1).map(str::to_owned);
        Ok(version.ok_or_else(|| Fault::execution("iptables tells no version"))?.into())
    }
}

record! {
    /// Writes keyword arguments as a rule of iptables(8), or as the whole command.
    ///
    ///   salt '*' iptables.build_rule match=state connstate=RELATED,ESTABLISHED jump=ACCEPT
    ///   salt '*' iptables.build_rule filter INPUT command=I position=3 full=True match=state connstate=RELATED jump=ACCEPT
    pub struct BuildRule {
        /// The table.
        table: String = "filter",
        /// The chain.
        chain: Option<String> = (),
        /// What is done with the rule, without its hyphen: `A` or `append`.
        command: Option<String> = (),
        /// The place of the rule.
        position: Value = "",
        /// The whole command.
        full: bool = false,
        /// ipv4 or ipv6.
        family: String = "ipv4",
        /// Options of the rule by their long names. A value that begins with `!` or `not` is negated.
        kwargs: Keywords,
    }
}

impl Run for BuildRule {
    fn run(self, ctx: &Ctx) -> Reply {
        let rule = match build(self.kwargs.0) {
            Ok(rule) => rule,
            Err(complaint) => return Ok(complaint.into()),
        };
        if !self.full {
            return Ok(rule.into());
        }
        let needed = |what: &str| Ok(format!("Error: {what} needs to be specified").into());
        if self.table.is_empty() {
            return needed("Table");
        }
        let Some(chain) = self.chain.filter(|chain| !chain.is_empty()) else { return needed("Chain") };
        let Some(command) = self.command.filter(|command| !command.is_empty()) else { return needed("Command") };
        let flag = if "ACDIRLSFZNXPE".contains(&command) { "-" } else { "--" };
        let wait = if has_option(ctx, &self.family, "--wait")? { "--wait" } else { "" };
        let name = program(&self.family);
        let path = ctx.host.which(name).map_or_else(|| name.to_owned(), |path| path.to_string_lossy().into_owned());
        let (table, position) = (self.table, self.position.to_text());
        Ok(format!("{path} {wait} -t {table} {flag}{command} {chain} {position} {rule}").into())
    }
}

/// Keywords of a state that are none of a rule.
const OF_STATES: [&str; 47] = [
    "chain",
    "save",
    "table",
    "require",
    "require_any",
    "watch",
    "watch_any",
    "onchanges",
    "onchanges_any",
    "onfail",
    "onfail_any",
    "onfail_all",
    "onfail_stop",
    "prereq",
    "listen",
    "require_in",
    "watch_in",
    "onchanges_in",
    "onfail_in",
    "prereq_in",
    "listen_in",
    "fun",
    "state",
    "check_cmd",
    "cmd_opts_exclude",
    "failhard",
    "onlyif",
    "unless",
    "creates",
    "retry",
    "order",
    "parallel",
    "reload_modules",
    "reload_grains",
    "reload_pillar",
    "runas",
    "runas_password",
    "no_log",
    "fire_event",
    "saltenv",
    "umask",
    "use",
    "use_in",
    "name",
    "__env__",
    "__sls__",
    "__id__",
];

/// What belongs behind the target: its own options.
const BEHIND_JUMP: &[&str] = &[
    "j",
    "jump",
    "add-set",
    "and-mark",
    "and-tos",
    "checksum-fill",
    "clamp-mss-to-pmtu",
    "clustermac",
    "ctevents",
    "ctmask",
    "del-set",
    "ecn-tcp-remove",
    "exist",
    "expevents",
    "gateway",
    "hash-init",
    "hashmode",
    "helper",
    "label",
    "local-node",
    "log-ip-options",
    "log-level",
    "log-prefix",
    "log-tcp-options",
    "log-tcp-sequence",
    "log-uid",
    "map-set",
    "mask",
    "mss",
    "new",
    "nfmask",
    "nflog-group",
    "nflog-prefix",
    "nflog-range",
    "nflog-threshold",
    "nodst",
    "notrack",
    "on-ip",
    "on-port",
    "or-mark",
    "or-tos",
    "persistent",
    "queue-balance",
    "queue-bypass",
    "queue-num",
    "random",
    "random-fully",
    "rateest-ewmalog",
    "rateest-interval",
    "rateest-name",
    "reject-with",
    "restore",
    "restore-mark",
    "sack-perm",
    "save-mark",
    "selctx",
    "set-class",
    "set-dscp",
    "set-dscp-class",
    "set-mark",
    "set-mss",
    "set-tos",
    "set-xmark",
    "strip-options",
    "timeout",
    "timestamp",
    "to",
    "to-destination",
    "to-ports",
    "to-source",
    "total-nodes",
    "tproxy-mark",
    "ttl-dec",
    "ttl-inc",
    "ttl-set",
    "type",
    "ulog-cprange",
    "ulog-nlgroup",
    "ulog-prefix",
    "ulog-qthreshold",
    "wscale",
    "xor-mark",
    "xor-tos",
    "zone",
    "zone-orig",
    "zone-reply",
    "dst-pfx",
    "hl-dec",
    "hl-inc",
    "hl-set",
    "hmark-dport-mask",
    "hmark-dst-prefix",
    "hmark-mod",
    "hmark-offset",
    "hmark-proto-mask",
    "hmark-rnd",
    "hmark-spi-mask",
    "hmark-sport-mask",
    "hmark-src-prefix",
    "hmark-tuple",
    "led-always-blink",
    "led-delay",
    "led-trigger-id",
    "queue-cpu-fanout",
    "src-pfx",
    "to-port",
    "addr",
    "and-mask",
    "delude",
    "honeypot",
    "or-mask",
    "prefix",
    "reset",
    "reuse",
    "set-mac",
    "shift",
    "static",
    "tarpit",
    "tname",
    "ttl",
];

/// The rule; the error is for whoever gave the arguments.
fn build(mut given: Map) -> Result<String, &'static str> {
    if let Some(target) = given.remove("target") {
        given.insert("jump", target);
    }
    let is_of_rule = |key: &Value| {
        let key = key.to_text();
        !OF_STATES.contains(&key.as_str()) && !key.starts_with("__")
    };
    let mut given: Map = given.into_iter().filter(|(key, _)| is_of_rule(key)).collect();
    let is_policy = given.str_at("match") == Some("policy");
    let mut rule: Vec<String> = Vec::new();
    let take = |given: &mut Map, name: &str, option: &str| {
        given.remove(name).map(|value| {
            let (sign, value) = negated(&value.to_text());
            format!("{sign}{option} {value}")
        })
    };
    rule.extend(take(&mut given, "if", "-i"));
    rule.extend(take(&mut given, "of", "-o"));
    if !is_policy && let Some(protocol) = given.remove("proto") {
        given.insert("protocol", protocol);
    }
    let protocol = take(&mut given, "protocol", "-p");
    let has_protocol = protocol.is_some();
    rule.extend(protocol);
    if let Some(matches) = given.remove("match") {
        let matches: Vec<String> = match matches {
            Value::List(items) => items.iter().map(Value::to_text).collect(),
            one => one.to_text().split(',').map(str::to_owned).collect(),
        };
        for one in matches {
            rule.push(format!("-m {one}"));
            if matches!(one.trim(), "pknock" | "quota2" | "recent")
                && let Some(name) = given.remove("name_")
            {
                rule.push(format!("--name {}", name.to_text()));
            }
        }
        if is_policy {
            rule.extend(take(&mut given, "proto", "--proto"));
        }
    }
    let sets = match given.remove("match-set") {
        Some(Value::List(items)) => items,
        set => set.into_iter().collect(),
    };
    for set in sets {
        let (sign, set) = negated(&set.to_text());
        rule.push(format!("-m set {sign}--match-set {set}"));
    }
    if let Some(state) = take(&mut given, "connstate", "--state") {
        once(&mut rule, "-m state");
        rule.push(state);
    }
    rule.extend(take(&mut given, "dport", "--dport"));
    rule.extend(take(&mut given, "sport", "--sport"));
    for name in ["dports", "sports"] {
        let Some(ports) = given.remove(name) else { continue };
        if once(&mut rule, "-m multiport") && !has_protocol {
            return Err("Error: protocol must be specified");
        }
        let ports: Vec<String> = match ports {
            Value::List(items) => items.iter().map(Value::to_text).collect(),
            one => vec![one.to_text()],
        };
        if ports.iter().any(|port| !negated(port).0.is_empty()) {
            rule.push("!".to_owned());
        }
        let ports: Vec<String> = ports.iter().map(|port| negated(port).1).collect();
        rule.push(format!("--{name} {}", ports.join(",")));
    }
    if let Some(comment) = given.remove("comment") {
        once(&mut rule, "-m comment");
        rule.push(format!("--comment \"{}\"", comment.to_text()));
    }
    if given.at("set").is_some_and(Value::truthy) {
        rule.extend(take(&mut given, "set", "--match-set"));
    }
    let mut behind = Vec::new();
    for name in BEHIND_JUMP {
        let Some(value) = given.remove(name).map(|value| if value.is_null() { String::new() } else { value.to_text() })
        else {
            continue;
        };
        behind.push(match value.as_str() {
            "" => format!("--{name}"),
            value if value.contains(char::is_whitespace) => format!("--{name} \"{value}\""),
            value => format!("--{name} {value}"),
        });
    }
    for (name, value) in given.iter() {
        let name = name.to_text();
        let value = if value.is_null() { String::new() } else { value.to_text() };
        let (sign, value) = negated(&value);
        let flag = if name.chars().count() == 1 { "-" } else { "--" };
        let value = if value.is_empty() { value } else { format!(" {value}") };
        rule.push(format!("{sign}{flag}{name}{value}"));
    }
    rule.extend(behind);
    Ok(rule.join(" "))
}

/// Adds a part that the rule does not have; whether it did.
fn once(rule: &mut Vec<String>, part: &str) -> bool {
    let is_new = !rule.iter().any(|known| known == part);
    if is_new {
        rule.push(part.to_owned());
    }
    is_new
}

/// `! 10.0.0.1` or `not 10.0.0.1`: the sign, and the value without it.
fn negated(value: &str) -> (&'static str, String) {
    if !value.starts_with('!') && !value.starts_with("not") {
        return ("", value.to_owned());
    }
    let without = ["not ", "! ", "not", "!"].iter().fold(value.to_owned(), |value, sign| value.replace(sign, ""));
    ("! ", without)
}
