//! A bound on how often something may happen that strangers can cause.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Allows a burst and then a steady rate.
pub struct Rate {
    burst: f64,
    per_second: f64,
    left: Cell<f64>,
    last: Cell<Option<Instant>>,
}

impl Rate {
    pub fn new(burst: u32, per: Duration) -> Rate {
        let burst = f64::from(burst);
        Rate { burst, per_second: burst / per.as_secs_f64(), left: Cell::new(burst), last: Cell::new(None) }
    }

    pub fn allows(&self, now: Instant) -> bool {
        let passed = self.last.replace(Some(now)).map_or(0.0, |last| now.saturating_duration_since(last).as_secs_f64());
        let left = (self.left.get() + passed * self.per_second).min(self.burst);
        let allowed = left >= 1.0;
        self.left.set(if allowed { left - 1.0 } else { left });
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
