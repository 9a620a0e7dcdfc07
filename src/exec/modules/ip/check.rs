//! What settings of an interface may be.

use halite_core::Fault;
use halite_lang::net::Net;
use halite_value::Value;
use std::net::{IpAddr, Ipv4Addr};

/// What is taken for yes and no, as it is told to those who say something else.
pub const SWITCHES: &str = "yes|on|true|1|True|no|off|false|0|False";

/// A yes or no.
pub fn switch(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(on) => Some(*on),
        Value::Int(1) => Some(true),
        Value::Int(0) => Some(false),
        Value::Str(word) => match word.as_str() {
            "yes" | "on" | "true" | "1" => Some(true),
            "no" | "off" | "false" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The fault of an option that is not as it must be.
pub fn wrong(iface: &str, option: &str, expected: &str) -> Fault {
    Fault::invocation(format!("Invalid option -- Interface: {iface}, Option: {option}, Expected: [{expected}]"))
}

/// The fault of a setting of the network as a whole.
pub fn wrong_setting(setting: &str, expected: &str) -> Fault {
    Fault::invocation(format!("Invalid network setting -- Setting: {setting}, Expected: [{expected}]"))
}

/// A whole number, which may be written as text.
pub fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Bool(on) => Some(i64::from(*on)),
        Value::Str(text) => text.trim().parse().ok(),
        _ => None,
    }
}

pub fn is_number(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::Float(_) | Value::Bool(_) => true,
        Value::Str(text) => text.trim().parse::<f64>().is_ok(),
        _ => false,
    }
}

/// An address of IP version 4, which may have the length of its network behind it.
pub fn is_ipv4(value: &Value) -> bool {
    address(value, 32).is_some_and(|ip| ip.is_ipv4())
}

pub fn is_ipv6(value: &Value) -> bool {
    address(value, 128).is_some_and(|ip| ip.is_ipv6())
}

fn address(value: &Value, longest: u8) -> Option<IpAddr> {
    let (ip, length) = value.as_str()?.rsplit_once('/').unwrap_or((value.as_str()?, "1"));
    let length: u8 = length.trim().parse().ok()?;
    (1..=longest).contains(&length).then(|| ip.parse().ok()).flatten()
}

/// A mask of IP version 4: dotted, from either end, or the number of its bits.
pub fn is_netmask(value: &Value) -> bool {
    let is_dotted = |text: &str| {
        text.parse::<Ipv4Addr>().is_ok_and(|mask| {
            let bits = mask.to_bits();
            bits.leading_ones() + bits.trailing_zeros() >= 32 || bits.leading_zeros() + bits.trailing_ones() >= 32
        })
    };
    match whole(value) {
        Some(length) => (0..=32).contains(&length),
        None => value.as_str().is_some_and(|text| is_dotted(text) || Net::parse(&format!("0.0.0.0/{text}")).is_ok()),
    }
}

/// Six pairs of hexadecimal digits with one sign between them.
pub fn is_hardware(value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    ['-', ':', '.'].into_iter().any(|sign| {
        let parts: Vec<&str> = text.split(sign).collect();
        let is_pair = |part: &&str| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        parts.len() == 6 && parts.iter().all(is_pair)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_masks_and_hardware_are_told_from_other_texts() {
        let v4 = ["10.0.0.1", "10.0.0.1/24"].map(Value::from);
        assert!(v4.iter().all(is_ipv4) && !v4.iter().any(is_ipv6));
        let none = ["10.0.0", "10.0.0.1/33", "10.0.0.1/0", "::1", ""].map(Value::from);
        assert!(!none.iter().any(is_ipv4) && !is_ipv4(&Value::from(10)));
        assert!(is_ipv6(&"fd00::1/64".into()) && !is_ipv6(&"fd00::1/129".into()));
        let masks = ["255.255.255.0", "24", "0.0.0.0", "0.0.0.255"].map(Value::from);
        assert!(masks.iter().all(is_netmask) && is_netmask(&Value::from(24)));
        assert!(!is_netmask(&"255.0.255.0".into()) && !is_netmask(&Value::from(33)) && !is_netmask(&"wide".into()));
        let cards = ["00:1a:2b:3c:4d:5e", "0-1-2-3-4-F"].map(Value::from);
        assert!(cards.iter().all(is_hardware) && !is_hardware(&"00:1a:2b:3c:4d".into()) && !is_hardware(&"x".into()));
    }

    #[test]
    fn only_the_known_words_are_a_yes_or_no() {
        assert_eq!(["yes", "on", "true", "1"].map(|word| switch(&word.into())), [Some(true); 4]);
        assert_eq!(["no", "off", "false", "0"].map(|word| switch(&word.into())), [Some(false); 4]);
        assert_eq!([Value::from("Yes"), 2.into(), ().into()].map(|value| switch(&value)), [None; 3]);
    }
}
