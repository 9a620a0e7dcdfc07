//! The options of an interface in `/etc/network/interfaces`: their order, and what they may be.

use super::super::check::{is_hardware, is_ipv4, is_ipv6, is_netmask, whole};
use halite_value::Value;

/// What an option may be in a stanza of one version of IP.
#[derive(Clone, Copy)]
enum Check {
    /// There is no such option.
    Never,
    Any,
    Number,
    Ipv4,
    Ipv6,
    /// The mask of version 4.
    Mask,
    /// The length of a network of version 6.
    Length,
    Hardware,
    OneOf(&'static [&'static str]),
    Below(i64),
    Words,
}

use Check::*;

/// One option.
pub struct Known {
    /// The name by which it is set; commands and members of bonds are set otherwise.
    pub name: &'static str,
    /// The word that stands in the file.
    pub word: &'static str,
    /// For `inet` and `inet6`.
    checks: [Check; 2],
}

const fn known(name: &'static str, inet: Check, inet6: Check) -> Known {
    Known { name, word: name, checks: [inet, inet6] }
}

/// One that is written with another word than it is set by.
const fn as_word(name: &'static str, word: &'static str, inet: Check, inet6: Check) -> Known {
    Known { name, word, checks: [inet, inet6] }
}

/// In the order in which they are written.
pub const OPTIONS: &[Known] = &[
    known("autoconf", Never, Below(2)),
    known("privext", Never, Below(3)),
    known("dhcp", Never, Below(2)),
    known("hwaddress", Hardware, Hardware),
    as_word("hwaddr", "hwaddress", Hardware, Never),
    known("vlan-raw-device", Any, Any),
    known("address", Ipv4, Ipv6),
    as_word("addresses", "address", Any, Any),
    known("netmask", Mask, Length),
    known("metric", Number, Never),
    known("gateway", Ipv4, Ipv6),
    known("pointopoint", Ipv4, Never),
    known("scope", OneOf(&["global", "link", "host"]), OneOf(&["global", "site", "link", "host"])),
    known("hostname", Any, Never),
    known("media", Never, Any),
    known("leasehours", Number, Never),
    known("leasetime", Number, Never),
    known("vendor", Any, Never),
    known("client", Any, Never),
    known("bootfile", Any, Never),
    known("server", Ipv4, Never),
    known("mode", OneOf(TUNNELS), OneOf(TUNNELS)),
    known("endpoint", Ipv4, Ipv4),
    known("dstaddr", Ipv4, Never),
    known("local", Ipv4, Ipv4),
    known("ttl", Number, Number),
    known("mtu", Number, Number),
    known("provider", Any, Never),
    known("unit", Number, Never),
    known("options", Any, Never),
    as_word("master", "bond-master", Never, Never),
    known("dns-nameservers", Words, Words),
    known("wireless-mode", Any, Any),
    known("wpa-ap-scan", Below(3), Below(3)),
    known("wpa-conf", Any, Any),
    known("wpa-driver", Any, Any),
    known("wpa-group", Any, Any),
    known("wpa-key-mgmt", Any, Any),
    known("wpa-pairwise", Any, Any),
    known("wpa-proto", Any, Any),
    known("wpa-psk", Any, Any),
    known("wpa-roam", Any, Any),
    known("wpa-ssid", Any, Any),
    known("accept_ra", Never, Below(3)),
    as_word("up_cmds", "up", Never, Never),
    as_word("down_cmds", "down", Never, Never),
    as_word("pre_up_cmds", "pre-up", Never, Never),
    as_word("post_up_cmds", "post-up", Never, Never),
    as_word("pre_down_cmds", "pre-down", Never, Never),
    as_word("post_down_cmds", "post-down", Never, Never),
];

const TUNNELS: &[&str] = &["gre", "GRE", "ipip", "IPIP", "802.3ad"];
const METHODS: [&[&str]; 2] = [
    &["bootp", "dhcp", "static", "manual", "loopback", "ppp"],
    &["auto", "loopback", "static", "manual", "dhcp", "v4tunnel", "6to4"],
];

/// Commands that are run when an interface comes and goes.
pub const COMMANDS: [&str; 6] =
    ["up_cmds", "pre_up_cmds", "post_up_cmds", "down_cmds", "pre_down_cmds", "post_down_cmds"];

/// The option that is set by this name.
pub fn find(name: &str) -> Option<&'static Known> {
    let can_be_set = |known: &Known| known.checks.iter().any(|check| !matches!(check, Never));
    OPTIONS.iter().find(|known| known.name == name && can_be_set(known))
}

/// Whether an interface of a version of IP, by its place in [`FAMILIES`](super::FAMILIES), can get its address so.
pub fn is_method(method: &str, family: usize) -> bool {
    METHODS.get(family).is_some_and(|methods| methods.contains(&method))
}

impl Known {
    /// A value as it is written in a stanza of a version of IP; nothing where it cannot be.
    pub fn accepted(&self, value: &Value, family: usize) -> Option<Value> {
        let number = |fits: &dyn Fn(i64) -> bool| whole(value).filter(|number| fits(*number)).map(Value::from);
        let when = |fits: bool| fits.then(|| value.clone());
        match *self.checks.get(family)? {
            Never => None,
            Any => Some(value.clone()),
            Number => number(&|_| true),
            Below(end) => number(&|number| (0..end).contains(&number)),
            Length => number(&|length| (0..=128).contains(&length)),
            Mask => when(is_netmask(value)).map(|mask| whole(&mask).map_or(mask, Value::from)),
            Ipv4 => when(is_ipv4(value)),
            Ipv6 => when(is_ipv6(value)),
            Hardware => when(is_hardware(value)),
            OneOf(words) => when(words.contains(&value.to_text().as_str())),
            Words => words(value),
        }
    }
}

/// Words of a text, or a list of them.
fn words(value: &Value) -> Option<Value> {
    let words: Vec<Value> = match value {
        Value::Str(text) => text.split_whitespace().map(Value::from).collect(),
        Value::List(items) => items.clone(),
        _ => Vec::new(),
    };
    (!words.is_empty()).then(|| words.into())
}
