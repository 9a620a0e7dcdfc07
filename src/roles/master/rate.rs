//! A bound on how often something may happen that unauthenticated can cause.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Allows a burst and then a steady rate, to whatever thread asks.
pub struct Rate {
    burst: f64,
    per_second: f64,
    /// How many are left, and when that was so.
    left: Mutex<(f64, Option<Instant>)>,
}

impl Rate {
    pub fn new(burst: u32, per: Duration) -> Rate {
        let burst = f64::from(burst);
        Rate { burst, per_second: burst / per.as_secs_f64(), left: Mutex::new((burst, None)) }
    }

    pub fn allows(&self, now: Instant) -> bool {
        let mut state = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, last) = *state;
        let passed = last.map_or(0.0, |last| now.saturating_duration_since(last).as_secs_f64());
        let left = (left + passed * self.per_second).min(self.burst);
        let allowed = left >= 1.0;
        *state = (if allowed { left - 1.0 } else { left }, Some(now));
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_and_then_the_rate() {
        let (rate, now) = (Rate::new(2, Duration::from_secs(10)), Instant::now());
        assert!(rate.allows(now) && rate.allows(now) && !rate.allows(now));
        assert!(!rate.allows(now + Duration::from_secs(4)));
        assert!(rate.allows(now + Duration::from_secs(6)));
    }
}
