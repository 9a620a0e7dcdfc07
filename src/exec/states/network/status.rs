//! Whether an interface is up, and what is to be done about it.

use halite_core::state::ask;
use halite_core::{Ctx, Fault};
use halite_value::Value;

/// What is done with an interface when its configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is as it should be.
    Nothing,
    Up,
    Down,
    /// It is up, and its configuration is another one.
    Again,
}

impl Turn {
    pub fn of(is_up: bool, enabled: bool, is_changed: bool) -> Turn {
        match (is_up, enabled) {
            (true, true) if is_changed => Turn::Again,
            (false, true) => Turn::Up,
            (true, false) => Turn::Down,
            _ => Turn::Nothing,
        }
    }

    /// What is said of it in test mode.
    pub fn announced(self, name: &str) -> Option<String> {
        let what = match self {
            Turn::Nothing => return None,
            Turn::Up => "brought up",
            Turn::Down => "taken down",
            Turn::Again => "restarted",
        };
        Some(format!("Interface {name} is set to be {what}."))
    }

    /// Does it; what is shown of it.
    pub fn make(self, ctx: &Ctx, name: &str, kind: &str) -> Result<Option<String>, Fault> {
        let call = |fun: &str| ask(ctx, fun, [("iface", name.into()), ("iface_type", kind.into())]);
        Ok(match self {
            Turn::Nothing => None,
            Turn::Up => {
                call("ip.up")?;
                Some(format!("Interface {name} is up"))
            }
            Turn::Down => {
                call("ip.down")?;
                Some(format!("Interface {name} down"))
            }
            Turn::Again => {
                call("ip.down")?;
                call("ip.up")?;
                Some(format!("Interface {name} restart to validate"))
            }
        })
    }
}

/// Whether an interface is up, or an address with its name as a label is there.
pub fn is_up(ctx: &Ctx, name: &str) -> Result<bool, Fault> {
    let interfaces = ask(ctx, "network.interfaces", [])?;
    if let Some(interface) = interfaces.at(name) {
        return Ok(interface.at("up").is_some_and(Value::truthy));
    }
    let has_label = |address: &Value| address.at("label").and_then(Value::as_str) == Some(name);
    let all = interfaces.as_map().into_iter().flat_map(|interfaces| interfaces.iter());
    Ok(all.into_iter().any(|(own, interface)| {
        let listed = |key: &str| interface.at(key).and_then(Value::as_list).unwrap_or_default();
        let on_loopback =
            |key: &str| own.as_str() == Some("lo") && listed(key).len() > 1 && listed(key).iter().any(has_label);
        listed("secondary").iter().any(has_label) || on_loopback("inet") || on_loopback("inet6")
    }))
}
