//! Salt's filters on dates.

use super::super::error::{Failure, Res};
use super::super::eval::{Bound, Interp};
use super::super::value::Val;
use super::{Filter, filter};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, ZonedDateTime};

pub const SALT: &[Filter] =
    &[filter("strftime", &["format"], 0, strftime), filter("date_format", &["format"], 0, strftime)];

fn strftime(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let format = bound.text_or(0, "%Y-%m-%d")?;
    let unreadable = || Failure::value_error(format!("Unable to parse {}", value.text()));
    value.defined()?;
    let date = moment(&value).ok_or_else(unreadable)?;
    let text = jiff::fmt::strtime::format(format, &date)
        .map_err(|error| Failure::value_error(format!("the format {format} is none: {error}")))?;
    Ok(Val::from(text))
}

fn now() -> ZonedDateTime {
    crate::outside::looked();
    ZonedDateTime::now()
}

/// What a value says of a time: nothing is now, a number counts seconds since 1970, text is a date.
fn moment(value: &Val) -> Option<ZonedDateTime> {
    let zone = TimeZone::system();
    match value {
        Val::None => Some(now()),
        Val::Str(text) | Val::Markup(text) => written(text.trim(), &zone),
        other => seconds(other.as_float()?, &zone),
    }
}

fn seconds(seconds: f64, zone: &TimeZone) -> Option<ZonedDateTime> {
    if !(-1e11..1e12).contains(&seconds) {
        return None;
    }
    let whole = seconds.floor();
    let nanoseconds = ((seconds - whole) * 1e9) as i32;
    Some(Timestamp::new(whole as i64, nanoseconds).ok()?.to_zoned_datetime(zone.clone()))
}

/// The shapes of a date that are tried, one after the other.
const SHAPES: [&str; 20] = [
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%d %b %Y %H:%M:%S",
    "%d %B %Y",
    "%d %b %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%a, %d %b %Y %H:%M:%S",
];

fn written(text: &str, zone: &TimeZone) -> Option<ZonedDateTime> {
    let midnight = |days: i64| now().start_of_day().ok()?.checked_add(days.days()).ok();
    match text.to_ascii_lowercase().as_str() {
        "now" | "" => return Some(now()),
        "today" | "midnight" => return midnight(0),
        "tomorrow" => return midnight(1),
        "yesterday" => return midnight(-1),
        _ => {}
    }
    if let Ok(number) = text.parse::<f64>() {
        return seconds(number, zone);
    }
    if let Ok(zoned) = text.parse::<Timestamp>() {
        return Some(zoned.to_zoned_datetime(zone.clone()));
    }
    SHAPES.iter().find_map(|shape| {
        let parsed = jiff::fmt::strtime::parse(shape, text).ok()?;
        let time = parsed.to_time().unwrap_or_default();
        let date: DateTime = parsed.to_date().ok()?.to_datetime(time);
        date.to_zoned_datetime(zone.clone()).ok()
    })
}
