//! The number of a job: the local time at which it was made, twenty digits, `YYYYMMDDhhmmssffffff`.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// A job's number, known to be twenty digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Jid(String);

const DIGITS: usize = 20;

impl Jid {
    /// The number of a job that begins now. Never the same twice in one process: a moment that was used already becomes
    /// the next microsecond.
    pub fn now() -> Jid {
        static LAST: Mutex<i64> = Mutex::new(i64::MIN);
        let mut last = LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *last = jiff::Timestamp::now().as_microsecond().max(last.saturating_add(1));
        Jid::in_zone(jiff::Timestamp::from_microsecond(*last).unwrap_or_default(), &TimeZone::system())
    }

    /// The number that a job of that moment would have, to compare others with.
    pub fn at(moment: SystemTime) -> Jid {
        Jid::in_zone(jiff::Timestamp::try_from(moment).unwrap_or_default(), &TimeZone::system())
    }

    /// Exactly twenty digits; nothing else is a jid (it becomes a file name).
    pub fn parse(text: &str) -> Result<Jid, JidError> {
        match text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => Ok(Jid(text.to_owned())),
            false => Err(JidError(text.chars().take(40).collect())),
        }
    }

    /// When the job began; nothing for digits that are no moment.
    pub fn time(&self) -> Option<SystemTime> {
        let moment = self.civil()?;
        let moment = TimeZone::system().to_ambiguous_timestamp(moment).compatible().ok()?;
        let micros = u64::try_from(moment.as_microsecond()).ok()?;
        Some(SystemTime::UNIX_EPOCH + Duration::from_micros(micros))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// When the job began, as Salt's job lists show it: `2026, Nov 29 20:50:33.700833`. Empty for digits that are no
    /// moment.
    pub fn start_time(&self) -> String {
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let Some(moment) = self.civil() else { return String::new() };
        let month = MONTHS[usize::from(moment.month().unsigned_abs()) - 1];
        let digits = |from: usize, to: usize| &self.0[from..to];
        let (hour, minute, second) = (digits(8, 10), digits(10, 12), digits(12, 14));
        format!("{}, {month} {} {hour}:{minute}:{second}.{}", digits(0, 4), digits(6, 8), digits(14, 20))
    }

    fn in_zone(moment: jiff::Timestamp, zone: &TimeZone) -> Jid {
        let moment = zone.to_datetime(moment);
        // A year of more than four digits cannot come from a clock that jiff reads.
        Jid(moment.strftime("%Y%m%d%H%M%S%6f").to_string())
    }

    fn civil(&self) -> Option<DateTime> {
        let number = |from: usize, to: usize| self.0[from..to].parse::<i32>().ok();
        let small = |from: usize| number(from, from + 2).and_then(|number| i8::try_from(number).ok());
        let year = i16::try_from(number(0, 4)?).ok()?;
        let nanosecond = number(14, 20)? * 1000;
        DateTime::new(year, small(4)?, small(6)?, small(8)?, small(10)?, small(12)?, nanosecond).ok()
    }
}

/// The text was no jid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JidError(String);

impl std::fmt::Display for JidError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "'{}' is not a jid: a jid has {DIGITS} digits", self.0)
    }
}

impl std::error::Error for JidError {}

impl std::fmt::Display for Jid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn only_twenty_digits_are_a_jid() {
        let jid = Jid::parse("20261129205033700833").unwrap();
        assert_eq!(jid.start_time(), "2026, Nov 29 20:50:33.700833");
        for bad in ["", "2026112920503370083", "202611292050337008333", "2026112920503370083x", "../../../etc/passwd1"]
        {
            assert!(Jid::parse(bad).is_err(), "{bad}");
        }
        assert!(Jid::parse("٠٠٠٠٠٠٠٠٠٠").is_err());
    }

    #[test]
    fn digits_that_are_no_moment_have_no_start_time() {
        for text in ["20261329205033700833", "20260029205033700833", "20261129245033700833", "20260230205033700833"] {
            assert_eq!(Jid::parse(text).unwrap().start_time(), "", "{text}");
        }
    }

    #[test]
    fn no_two_jobs_have_the_same_number() {
        let made: HashSet<Jid> = (0..1000).map(|_| Jid::now()).collect();
        assert_eq!(made.len(), 1000);
        assert!(made.iter().all(|jid| Jid::parse(jid.as_str()).as_ref() == Ok(jid)));
    }

    #[test]
    fn a_jid_is_local_time() {
        let moment = jiff::Timestamp::from_microsecond(1_700_000_000_000_042).unwrap();
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(Jid::in_zone(moment, &zone).as_str(), "20231115001320000042");
    }

    #[test]
    fn the_time_of_a_jid_is_the_time_it_was_made_at() {
        let moment = SystemTime::UNIX_EPOCH + Duration::from_micros(1_700_000_000_000_042);
        assert_eq!(Jid::at(moment).time(), Some(moment));
        assert!(Jid::at(moment) < Jid::at(moment + Duration::from_secs(60)));
    }
}
