//! Filters between values and text: JSON, YAML, XML, Python; and `default`.

use super::super::error::{Failure, Res};
use super::super::eval::{Bound, Interp};
use super::super::objects::Module;
use super::super::value::effort::WALK_LIMIT;
use super::super::value::{Dict, Val, yaml_quoted};
use super::text::text;
use super::{Filter, filter};
use crate::yaml;
use crate::yaml::{DumpStyle, Flow};
use halite_value::{JsonStyle, Value, parse_json};

pub const FILTERS: &[Filter] = &[
    filter("default", &["default_value", "boolean"], 0, default),
    filter("d", &["default_value", "boolean"], 0, default),
    filter("pprint", &[], 0, pretty),
    filter("tojson", &["indent"], 0, |_, value, bound| to_json(&value, bound.int(0)?, true, true)),
];

pub const SALT: &[Filter] = &[
    filter("tojson", &["indent", "sort_keys", "ensure_ascii", "separators"], 0, |_, value, bound| {
        to_json(&value, bound.int(0)?, bound.truth(1, false)?, bound.truth(2, true)?)
    }),
    filter("json", &["sort_keys", "indent"], 0, json),
    filter("yaml", &["flow_style"], 0, yaml_filter),
    filter("python", &[], 0, |_, value, _| {
        value.defined()?;
        Ok(Val::Markup(super::super::format::pretty(&value).into()))
    }),
    filter("xml", &[], 0, xml),
    filter("load_yaml", &[], 0, load_yaml),
    filter("load_json", &[], 0, load_json),
    filter("load_text", &[], 0, |_, value, _| {
        value.defined()?;
        Ok(if value.downcast::<Module>().is_some() { Val::from(value.text()) } else { value })
    }),
    filter("yaml_dquote", &[], 0, |_, value, _| Ok(Val::from(yaml_quoted(&text(&value)?)))),
    filter("yaml_squote", &[], 0, |_, value, _| Ok(Val::from(single_quoted(&text(&value)?)))),
    filter("yaml_encode", &[], 0, yaml_encode),
    filter("dict_to_sls_yaml_params", &["flow_style"], 0, sls_params),
];

fn default(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let missing = value.is_undefined() || bound.truth(1, false)? && !value.truth()?;
    Ok(match missing {
        true => bound.given(0).cloned().unwrap_or_else(|| Val::from("")),
        false => value,
    })
}

fn pretty(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    value.defined()?;
    Ok(Val::from(super::super::format::pretty(&value)))
}

fn spaces(indent: Option<i64>) -> Option<usize> {
    indent.map(|indent| usize::try_from(indent).unwrap_or(0).min(100))
}

fn to_json(value: &Val, indent: Option<i64>, sort_keys: bool, ascii: bool) -> Res<Val> {
    let style = JsonStyle { indent: spaces(indent), sort_keys, ascii, tight: false };
    let json = json_text(value, style)?;
    let safe = json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026").replace('\'', "\\u0027");
    Ok(Val::Markup(safe.into()))
}

fn json(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let style = JsonStyle { indent: spaces(bound.int(1)?), sort_keys: bound.truth(0, true)?, ..JsonStyle::default() };
    Ok(Val::Markup(json_text(&value, style)?.trim().into()))
}

fn json_text(value: &Val, style: JsonStyle) -> Res<String> {
    let value = value.to_value()?;
    match style.indent.is_some_and(|indent| margins(&value, indent, 1) > WALK_LIMIT) {
        true => Err(Failure::limit("the text would be too long: too many entries, indented too far")),
        false => Ok(value.to_json_with(style)),
    }
}

/// How many blanks the margins of an indented text have.
fn margins(value: &Value, indent: usize, depth: usize) -> usize {
    let inner = |items: &mut dyn Iterator<Item = &Value>| {
        items.fold(0, |sum: usize, item| {
            sum.saturating_add(indent * depth).saturating_add(margins(item, indent, depth + 1))
        })
    };
    match value {
        Value::List(items) => inner(&mut items.iter()),
        Value::Map(map) => inner(&mut map.values()),
        _ => 0,
    }
}

fn dumped(value: &Value, flow: Flow) -> Val {
    let text = yaml::dump_with(value, DumpStyle { flow, ..DumpStyle::default() });
    let text = text.trim();
    Val::Markup(text.strip_suffix("\n...").unwrap_or(text).into())
}

fn flow(bound: &Bound, at: usize, default: bool) -> Res<Flow> {
    Ok(match bound.given(at) {
        Some(Val::None) => Flow::Leaves,
        _ if bound.truth(at, default)? => Flow::Flow,
        _ => Flow::Block,
    })
}

fn yaml_filter(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    Ok(dumped(&value.to_value()?, flow(&bound, 0, true)?))
}

fn sls_params(_: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    value.defined()?;
    let Val::Dict(dict) = &value else {
        let kind = value.type_name();
        return Err(Failure::python("AttributeError", format!("'{kind}' object has no attribute 'items'")));
    };
    let single = |(key, value): (&Val, &Val)| Val::dict(Dict::from_iter([(key.clone(), value.clone())]));
    let list = Val::list(dict.0.borrow().iter().map(single).collect());
    Ok(dumped(&list.to_value()?, flow(&bound, 0, false)?))
}

fn load_yaml(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    value.defined()?;
    let source = match (&value, value.downcast::<Module>()) {
        (_, Some(module)) => module.text.clone(),
        (Val::Str(text) | Val::Markup(text), None) => text.to_string(),
        _ => return Err(Failure::runtime(format!("Unable to load yaml from {}", value.type_name()))),
    };
    match yaml::load(&source) {
        Ok(value) => Ok(Val::from(&value)),
        Err(error) => Err(Failure::runtime(format!("Encountered error loading yaml: {error}"))),
    }
}

fn load_json(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    value.defined()?;
    let source = value.text();
    match parse_json(&source) {
        Ok(value) => Ok(Val::from(&value)),
        // Not the text itself: it may be a secret.
        Err(error) => Err(Failure::runtime(format!("Unable to load json: {error}"))),
    }
}

/// A single-quoted scalar on one line: line ends are doubled, as the emitter folds them.
fn single_quoted(text: &str) -> String {
    let mut out = String::from("'");
    let mut rest = text;
    while let Some(at) = rest.find('\n') {
        let lines = rest[at..].len() - rest[at..].trim_start_matches('\n').len();
        out.push_str(&rest[..at].replace('\'', "''"));
        out.push_str(&"\n".repeat(lines + 1));
        rest = &rest[at + lines..];
    }
    out.push_str(&rest.replace('\'', "''"));
    out.push('\'');
    out
}

fn yaml_encode(_: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    value.defined()?;
    Ok(match &value {
        Val::Str(text) | Val::Markup(text) => Val::from(yaml_quoted(text)),
        Val::None | Val::Bool(_) | Val::Int(_) | Val::Big(_) | Val::Float(_) => {
            let text = yaml::dump(&value.to_value()?);
            let text = text.trim();
            Val::from(text.strip_suffix("...").unwrap_or(text).trim())
        }
        other => {
            let kind = other.type_name();
            let message = format!("yaml_encode() only works with YAML scalar data; failed for <class '{kind}'>");
            return Err(Failure::type_error(message));
        }
    })
}

fn xml(interp: &mut Interp, value: Val, _: Bound) -> Res<Val> {
    let document = value.to_value()?;
    let (tag, content) = match &document {
        Value::Map(map) => match map.first() {
            Some((tag, content)) => (tag.to_text(), content.clone()),
            None => return Err(Failure::runtime("Value is not a dict or list. Cannot render as XML")),
        },
        _ => return Err(Failure::runtime("Value is not a dict or list. Cannot render as XML")),
    };
    let mut out = String::from("<?xml version=\"1.0\" ?>\n");
    element(&tag, &content, 0, &mut out);
    interp.spend(out.len())?;
    Ok(Val::Markup(out.into()))
}

/// Plain values of a map are attributes, lists repeat the tag.
fn element(tag: &str, content: &Value, depth: usize, out: &mut String) {
    let margin = " ".repeat(depth);
    let quote =
        |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace('>', "&gt;");
    match content {
        Value::List(items) => items.iter().for_each(|item| element(tag, item, depth, out)),
        Value::Map(map) => {
            out.push_str(&format!("{margin}<{tag}"));
            let nested = |value: &&Value| matches!(value, Value::Map(_) | Value::List(_));
            for (key, value) in map.iter().filter(|(_, value)| !nested(value)) {
                out.push_str(&format!(" {key}=\"{}\"", quote(&value.to_text())));
            }
            if !map.values().any(|value| nested(&value)) {
                return out.push_str("/>\n");
            }
            out.push_str(">\n");
            for (key, value) in map.iter().filter(|(_, value)| nested(value)) {
                element(&key.to_text(), value, depth + 1, out);
            }
            out.push_str(&format!("{margin}</{tag}>\n"));
        }
        plain => out.push_str(&format!("{margin}<{tag}>{}</{tag}>\n", quote(&plain.to_text()))),
    }
}
