//! `retry`: how often a state is tried.

use halite_value::Value;
use std::time::Duration;

/// What `retry` says, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The result that ends it.
    pub until: bool,
    pub attempts: i64,
    /// Seconds between two attempts.
    pub interval: i64,
    /// Seconds that are added by chance, at most.
    pub splay: i64,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry { until: true, attempts: 2, interval: 30, splay: 0 }
    }
}

impl Retry {
    pub fn of(value: &Value) -> Retry {
        let mut retry = Retry::default();
        match value {
            Value::Map(map) => {
                for (name, place) in
                    [("attempts", &mut retry.attempts), ("interval", &mut retry.interval), ("splay", &mut retry.splay)]
                {
                    match map.at(name) {
                        None => {}
                        Some(Value::Int(number)) => *place = *number,
                        Some(_) => log::warn!("retry: {name} is no whole number, and {place} is taken"),
                    }
                }
                match map.at("until") {
                    None => {}
                    Some(Value::Bool(until)) => retry.until = *until,
                    Some(_) => log::warn!("retry: until is neither True nor False, and True is taken"),
                }
            }
            Value::Bool(true) => {}
            Value::Bool(false) => retry.attempts = 0,
            _ => log::warn!("retry is neither True nor a map: two attempts are made"),
        }
        retry
    }

    /// How long to wait before the next attempt.
    pub fn pause(&self) -> Duration {
        let splay = u64::try_from(self.splay).unwrap_or(0);
        let chance = if splay > 0 { halite_lang::random::up_to(splay) } else { 0 };
        Duration::from_secs(u64::try_from(self.interval).unwrap_or(0).saturating_add(chance))
    }

    /// What test mode says of it.
    pub fn described(&self) -> String {
        let Retry { until, attempts, interval, splay } = self;
        let until = Value::Bool(*until);
        format!(
            "The state would be retried every {interval} seconds (with a splay of up to {splay} seconds) a maximum of \
             {attempts} times or until a result of {until} is returned"
        )
    }
}
