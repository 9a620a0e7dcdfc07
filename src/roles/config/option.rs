//! How an option of the configuration is declared: once, with everything that is to be known of it.
//!
//! From the declarations come the defaults, the check of what users write, the sample files and the reference.

use halite_lang::yaml;
use halite_value::{Map, Value};

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    pub name: &'static str,
    pub kind: Kind,
    pub default: Default,
    /// What it does, in a sentence or two, with its unit.
    pub doc: &'static str,
    pub effect: Effect,
}

/// Options that belong together, as the sample file and the reference show them.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    pub title: &'static str,
    pub options: &'static [Opt],
}

/// What an option takes. Users do not quote: a number is taken where text is wanted, and text where it reads as the
/// number, truth or list that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// A file or directory, below `root_dir` where that is set.
    Path,
    /// A path, or the URL of a log daemon (`file://`, `udp://`, `tcp://`), which `root_dir` does not touch.
    Log,
    Truth,
    /// True itself and nothing that may be read as it: a gate that no slip of the pen may open.
    OnlyTrue,
    Integer,
    /// Whole or not: seconds, mostly.
    Number,
    /// 1 to 65535, or 0 where it is off.
    Port,
    List,
    Map,
    /// Whatever the feature behind it takes.
    Any,
}

/// What an option is when nobody sets it.
#[derive(Clone, Copy, Debug)]
pub enum Default {
    Null,
    Truth(bool),
    Integer(i64),
    Number(f64),
    Text(&'static str),
    Texts(&'static [&'static str]),
    EmptyMap,
    /// Anything larger, as YAML.
    Yaml(&'static str),
}

/// Whether setting an option changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Acts,
    /// Accepted, and read back by `config.get`, so that Salt's files work as they are; and why nothing follows from it.
    None(&'static str),
    /// Accepted and read back in the same way; acts when this version has the feature that it belongs to.
    Awaits(&'static str),
}

impl Opt {
    const fn new(name: &'static str, kind: Kind, default: Default, doc: &'static str) -> Opt {
        Opt { name, kind, default, doc, effect: Effect::Acts }
    }

    pub const fn text(name: &'static str, default: &'static str, doc: &'static str) -> Opt {
        Opt::new(name, Kind::Text, Default::Text(default), doc)
    }

    pub const fn path(name: &'static str, default: &'static str, doc: &'static str) -> Opt {
        Opt::new(name, Kind::Path, Default::Text(default), doc)
    }

    pub const fn log(name: &'static str, default: &'static str, doc: &'static str) -> Opt {
        Opt::new(name, Kind::Log, Default::Text(default), doc)
    }

    pub const fn truth(name: &'static str, default: bool, doc: &'static str) -> Opt {
        Opt::new(name, Kind::Truth, Default::Truth(default), doc)
    }

    pub const fn only_true(name: &'static str, default: bool, doc: &'static str) -> Opt {
        Opt::new(name, Kind::OnlyTrue, Default::Truth(default), doc)
    }

    pub const fn integer(name: &'static str, default: i64, doc: &'static str) -> Opt {
        Opt::new(name, Kind::Integer, Default::Integer(default), doc)
    }

    pub const fn number(name: &'static str, default: f64, doc: &'static str) -> Opt {
        Opt::new(name, Kind::Number, Default::Number(default), doc)
    }

    /// Seconds that are whole by default and need not be.
    pub const fn seconds(name: &'static str, default: i64, doc: &'static str) -> Opt {
        Opt::new(name, Kind::Number, Default::Integer(default), doc)
    }

    pub const fn port(name: &'static str, default: i64, doc: &'static str) -> Opt {
        Opt::new(name, Kind::Port, Default::Integer(default), doc)
    }

    pub const fn list(name: &'static str, default: &'static [&'static str], doc: &'static str) -> Opt {
        Opt::new(name, Kind::List, Default::Texts(default), doc)
    }

    pub const fn map(name: &'static str, doc: &'static str) -> Opt {
        Opt::new(name, Kind::Map, Default::EmptyMap, doc)
    }

    pub const fn any(name: &'static str, default: Default, doc: &'static str) -> Opt {
        Opt::new(name, Kind::Any, default, doc)
    }

    /// The same option with another default, such as none.
    pub const fn or(self, default: Default) -> Opt {
        Opt { default, ..self }
    }

    pub const fn without_effect(self, reason: &'static str) -> Opt {
        Opt { effect: Effect::None(reason), ..self }
    }

    pub const fn awaits(self, feature: &'static str) -> Opt {
        Opt { effect: Effect::Awaits(feature), ..self }
    }

    pub fn default_value(&self) -> Value {
        match self.default {
            Default::Null => Value::Null,
            Default::Truth(truth) => Value::Bool(truth),
            Default::Integer(number) => Value::Int(number),
            Default::Number(number) => Value::Float(number),
            Default::Text(text) => Value::from(text),
            Default::Texts(texts) => Value::list(texts.iter().copied()),
            Default::EmptyMap => Value::Map(Map::new()),
            Default::Yaml(text) => yaml::load(text).unwrap_or_default(),
        }
    }

    /// What a user wrote, as what the option takes. Nothing written is the default. The error says what is wanted.
    pub fn accept(&self, value: Value) -> Result<Value, &'static str> {
        match self.kind.accept(value) {
            Ok(Value::Null) => Ok(self.default_value()),
            Ok(value) => Ok(value),
            // Nothing reads it, so nothing can go wrong with it.
            Err(Refused { value, .. }) if self.effect != Effect::Acts => Ok(value),
            Err(Refused { wants, .. }) => Err(wants),
        }
    }
}

struct Refused {
    value: Value,
    wants: &'static str,
}

impl Kind {
    fn accept(self, value: Value) -> Result<Value, Refused> {
        if value.is_null() {
            return Ok(value);
        }
        // Where a value is fetched from a secret store, its kind shows only then.
        if value.as_str().is_some_and(|text| text.starts_with("sdb://")) {
            return Ok(value);
        }
        let refuse = |value, wants| Err(Refused { value, wants });
        match (self, value) {
            (Kind::Any, value) => Ok(value),
            (Kind::Text | Kind::Path | Kind::Log, value) => match value {
                Value::Str(_) => Ok(value),
                Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) => Ok(Value::from(value.to_text())),
                value => refuse(value, "text"),
            },
            (Kind::Truth, value) => match truth(&value) {
                Some(truth) => Ok(Value::Bool(truth)),
                None => refuse(value, "True or False"),
            },
            (Kind::OnlyTrue, value) => Ok(Value::Bool(value == Value::Bool(true))),
            (Kind::Integer, value) => match integer(&value) {
                Some(number) => Ok(Value::Int(number)),
                None => refuse(value, "a whole number"),
            },
            (Kind::Number, value) => match number(&value) {
                Some(number) => Ok(number),
                None => refuse(value, "a number"),
            },
            (Kind::Port, value) => match integer(&value).filter(|port| (0..=65535).contains(port)) {
                Some(port) => Ok(Value::Int(port)),
                None => refuse(value, "a port from 1 to 65535"),
            },
            (Kind::List, value) => match value {
                Value::List(_) => Ok(value),
                Value::Str(text) if text.is_empty() => Ok(Value::List(Vec::new())),
                Value::Map(_) => refuse(value, "a list"),
                one => Ok(Value::List(vec![one])),
            },
            (Kind::Map, value) => match value {
                Value::Map(_) => Ok(value),
                Value::List(items) => match one_map(&items) {
                    Some(map) => Ok(Value::Map(map)),
                    None => refuse(Value::List(items), "a map"),
                },
                value => refuse(value, "a map"),
            },
        }
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::Int(0) => Some(false),
        Value::Int(1) => Some(true),
        Value::Str(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" | "none" | "" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(*number as i64),
        Value::Str(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn number(value: &Value) -> Option<Value> {
    match value {
        Value::Int(_) => Some(value.clone()),
        Value::Float(number) if number.is_finite() => Some(value.clone()),
        Value::Str(text) => match text.trim().parse::<i64>() {
            Ok(number) => Some(Value::Int(number)),
            Err(_) => text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::Float),
        },
        _ => None,
    }
}

/// Salt's files write a map as a list of maps too.
fn one_map(items: &[Value]) -> Option<Map> {
    items.iter().try_fold(Map::new(), |mut all, item| {
        all.extend(item.as_map()?.clone());
        Some(all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_write_becomes_what_is_wanted() {
        let accept = |kind: Kind, text: &str| kind.accept(yaml::load(text).unwrap()).map_err(|refused| refused.wants);
        for (kind, text, value) in [
            (Kind::Text, "15", Value::from("15")),
            (Kind::Truth, "'yes'", Value::Bool(true)),
            (Kind::Truth, "0", Value::Bool(false)),
            (Kind::Integer, "'42'", Value::Int(42)),
            (Kind::Number, "'2.5'", Value::Float(2.5)),
            (Kind::Port, "'4505'", Value::Int(4505)),
            (Kind::List, "a", Value::list(["a"])),
            (Kind::Map, "[{a: b}]", Value::from(Map::from_iter([("a", "b")]))),
            (Kind::Integer, "sdb://x/y", Value::from("sdb://x/y")),
        ] {
            assert_eq!(accept(kind, text), Ok(value), "{kind:?} {text}");
        }
        for (kind, text, wants) in [
            (Kind::Text, "[a]", "text"),
            (Kind::Truth, "maybe", "True or False"),
            (Kind::Integer, "1.5", "a whole number"),
            (Kind::Integer, "true", "a whole number"),
            (Kind::Number, ".inf", "a number"),
            (Kind::Port, "70000", "a port from 1 to 65535"),
            (Kind::List, "{a: 1}", "a list"),
            (Kind::Map, "[a]", "a map"),
        ] {
            assert_eq!(accept(kind, text), Err(wants), "{kind:?} {text}");
        }
    }

    #[test]
    fn an_option_without_effect_takes_anything() {
        let option = Opt::integer("zmq_backlog", 1000, "").without_effect("there is no ZeroMQ");
        assert_eq!(option.accept("many".into()), Ok("many".into()));
        assert_eq!(option.accept(Value::Null), Ok(1000.into()));
    }
}
