//! Language and time zone.

use super::Look;
use halite_value::{Map, Value};

pub(super) fn grains(look: &Look) -> Map {
    let set =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| look.host.env(name).filter(|value| !value.is_empty()));
    let (language, encoding) = parts(&set.unwrap_or_default());
    let mut info = Map::new();
    info.insert("defaultlanguage", language);
    info.insert("defaultencoding", encoding);
    info.insert("detectedencoding", "utf-8");
    info.insert("timezone", zone());
    Map::from_iter([("locale_info", info)])
}

/// `de_DE.UTF-8@euro` is a language and an encoding. The C locale has none; with UTF-8 it counts as American.
fn parts(locale: &str) -> (Value, Value) {
    let locale = locale.split('@').next().unwrap_or_default();
    match locale.split_once('.') {
        Some(("C" | "POSIX", encoding)) => ("en_US".into(), encoding.to_uppercase().into()),
        Some((language, encoding)) => (language.into(), encoding.into()),
        None if matches!(locale, "" | "C" | "POSIX") => (Value::Null, Value::Null),
        None => (locale.into(), "ISO8859-1".into()),
    }
}

/// The short name of the zone at this moment, CET or UTC.
fn zone() -> String {
    let zone = jiff::tz::TimeZone::system();
    zone.to_offset_info(jiff::Timestamp::now()).abbreviation().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_is_a_language_and_an_encoding() {
        assert_eq!(parts("de_DE.UTF-8@euro"), ("de_DE".into(), "UTF-8".into()));
        assert_eq!(parts("C.UTF-8"), ("en_US".into(), "UTF-8".into()));
        assert_eq!(parts("C"), (Value::Null, Value::Null));
        assert_eq!(parts(""), (Value::Null, Value::Null));
        assert!(!zone().is_empty());
    }
}
