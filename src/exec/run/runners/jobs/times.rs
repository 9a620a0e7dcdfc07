//! Times as users write them, as bounds for jids.

use halite_core::Fault;
use halite_value::Value;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

/// With a time of the day; without one it is midnight.
const WITH_TIME: [&str; 10] = [
    "%Y, %b %d %H:%M:%S.%f",
    "%Y, %b %d %H:%M:%S",
    "%Y, %b %d %H:%M",
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M:%S.%f",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M",
    "%b %d %Y %H:%M",
];
const DATES: [&str; 6] = ["%Y, %b %d", "%Y-%m-%d", "%Y/%m/%d", "%b %d %Y", "%b %d, %Y", "%d %b %Y"];
const TIMES: [&str; 2] = ["%H:%M:%S", "%H:%M"];

/// The jid that a job of that moment would have (local time, as jids are), to compare others with. Nothing is no bound;
/// what cannot be read is the caller's fault, named by `option`.
pub fn bound(option: &str, value: Option<&Value>) -> Result<Option<String>, Fault> {
    let Some(value) = value.filter(|value| value.truthy()) else {
        return Ok(None);
    };
    let text = value.to_text();
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // A jid, or its beginning: `20261129` is a day. A year alone is one too.
    if digits && (4..=20).contains(&text.len()) {
        return Ok(Some(text.to_owned()));
    }
    match moment(text) {
        Some(moment) => Ok(Some(moment.strftime("%Y%m%d%H%M%S%6f").to_string())),
        None => Err(Fault::invocation(format!(
            "{option}='{text}' is no time: write it as '2026-11-29 20:50', '2026, Nov 29 20:50:33' or as a jid"
        ))),
    }
}

fn moment(text: &str) -> Option<DateTime> {
    if let Some(moment) = WITH_TIME.iter().find_map(|format| DateTime::strptime(format, text).ok()) {
        return Some(moment);
    }
    if let Some(date) = DATES.iter().find_map(|format| Date::strptime(format, text).ok()) {
        return Some(date.into());
    }
    let time = TIMES.iter().find_map(|format| Time::strptime(format, text).ok())?;
    Some(TimeZone::system().to_datetime(Timestamp::now()).date().to_datetime(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        bound("start_time", Some(&text.into())).unwrap().unwrap()
    }

    #[test]
    fn times_become_jids_that_compare() {
        for text in ["2015, Mar 16 19:00", "2015-03-16 19:00", "2015-03-16T19:00:00", "Mar 16 2015 19:00"] {
            assert_eq!(read(text), "20150316190000000000", "{text}");
        }
        for text in ["2015, Mar 16", "2015-03-16", "2015/03/16", "Mar 16, 2015", "16 Mar 2015"] {
            assert_eq!(read(text), "20150316000000000000", "{text}");
        }
        assert_eq!(read("2026, Nov 29 20:50:33.700833"), "20261129205033700833");
        assert_eq!(read("20150316"), "20150316");
        assert!(read("12:30").ends_with("123000000000"));
        assert_eq!(bound("start_time", None).unwrap(), None);
    }

    #[test]
    fn what_is_no_time_is_named() {
        for text in ["yesterday", "2015-13-01", "25:00", "12"] {
            let error = bound("end_time", Some(&text.into())).unwrap_err().to_string();
            assert!(error.starts_with(&format!("end_time='{text}' is no time")), "{error}");
        }
    }
}
