//! Values as YAML, in the forms that Salt's dumper writes (libyaml's emitter does the writing).

use super::resolve::{Tag, resolve};
use super::scalar;
use halite_value::{Map, Value, float_repr};
use libyaml_safer::{Emitter, Encoding, Event, MappingStyle, ScalarStyle, SequenceStyle};
use std::cmp::Ordering;

/// How collections are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flow {
    /// One entry a line.
    #[default]
    Block,
    /// In braces and brackets.
    Flow,
    /// In braces and brackets where a collection holds nothing but plain scalars: Salt's dumper, unless told otherwise.
    Leaves,
}

/// The order of a map's keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keys {
    /// As Python sorts them; as they are where it cannot (`1` and `a`).
    #[default]
    Sorted,
    AsTheyAre,
}

/// The choices of Salt's dumper.
#[derive(Clone, Copy, Debug)]
pub struct DumpStyle {
    pub flow: Flow,
    pub keys: Keys,
    /// Spaces a level, 2 to 9; anything else is 2.
    pub indent: usize,
    /// Where long text is folded, in columns; nothing: never.
    pub width: Option<usize>,
}

impl Default for DumpStyle {
    fn default() -> DumpStyle {
        DumpStyle { flow: Flow::Block, keys: Keys::Sorted, indent: 2, width: Some(80) }
    }
}

/// A document in block style with sorted keys, as Salt writes files and `--out=yaml`. It ends with a line end.
pub fn dump(value: &Value) -> String {
    dump_with(value, DumpStyle::default())
}

pub fn dump_with(value: &Value, style: DumpStyle) -> String {
    let mut out = Vec::new();
    let mut emitter = Emitter::new();
    emitter.set_output(&mut out);
    emitter.set_unicode(true);
    emitter.set_indent(i32::try_from(style.indent).unwrap_or(2));
    emitter.set_width(style.width.map_or(-1, |width| i32::try_from(width).unwrap_or(-1)));
    let mut events = vec![Event::stream_start(Encoding::Utf8), Event::document_start(None, &[], true)];
    push(value, style, &mut events);
    events.extend([Event::document_end(true), Event::stream_end()]);
    for event in events {
        // It fails when its output does, and a vector takes everything.
        if emitter.emit(event).is_err() {
            break;
        }
    }
    drop(emitter);
    String::from_utf8_lossy(&out).into_owned()
}

fn push(value: &Value, style: DumpStyle, events: &mut Vec<Event>) {
    match value {
        Value::List(items) => {
            events.push(Event::sequence_start(None, None, true, sequence_style(items, style.flow)));
            items.iter().for_each(|item| push(item, style, events));
            events.push(Event::sequence_end());
        }
        Value::Map(map) => {
            events.push(Event::mapping_start(None, None, true, mapping_style(map, style.flow)));
            for (key, item) in ordered(map, style.keys) {
                push(key, style, events);
                push(item, style, events);
            }
            events.push(Event::mapping_end());
        }
        Value::Null => events.push(plain("null")),
        Value::Bool(truth) => events.push(plain(if *truth { "true" } else { "false" })),
        Value::Int(number) => events.push(plain(&number.to_string())),
        Value::Big(number) => events.push(plain(&number.to_string())),
        Value::Float(number) => events.push(plain(&float_text(*number))),
        Value::Str(text) => {
            let plain = resolve(text) == Tag::Str;
            events.push(Event::scalar(None, None, text, plain, true, ScalarStyle::Plain));
        }
        Value::Bytes(bytes) => {
            let tag = Tag::Binary.text();
            let text = scalar::binary_text(bytes);
            events.push(Event::scalar(None, Some(&tag), &text, false, false, ScalarStyle::Literal));
        }
    }
}

fn plain(text: &str) -> Event {
    Event::scalar(None, None, text, true, false, ScalarStyle::Plain)
}

/// YAML's floats must have a point, and words of their own for what is no number.
fn float_text(number: f64) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let text = float_repr(number);
    if text.contains('.') { text } else { text.replacen('e', ".0e", 1) }
}

fn sequence_style(items: &[Value], flow: Flow) -> SequenceStyle {
    match flow {
        Flow::Flow => SequenceStyle::Flow,
        Flow::Leaves if items.iter().all(is_plain) => SequenceStyle::Flow,
        Flow::Block | Flow::Leaves => SequenceStyle::Block,
    }
}

fn mapping_style(map: &Map, flow: Flow) -> MappingStyle {
    match flow {
        Flow::Flow => MappingStyle::Flow,
        Flow::Leaves if map.iter().all(|(key, value)| is_plain(key) && is_plain(value)) => MappingStyle::Flow,
        Flow::Block | Flow::Leaves => MappingStyle::Block,
    }
}

fn is_plain(value: &Value) -> bool {
    !matches!(value, Value::List(_) | Value::Map(_) | Value::Bytes(_))
}

fn ordered(map: &Map, keys: Keys) -> Vec<(&Value, &Value)> {
    let mut entries: Vec<_> = map.iter().collect();
    let comparable = map.first().is_none_or(|(first, _)| map.keys().all(|key| compare(first, key).is_some()));
    if keys == Keys::Sorted && comparable {
        entries.sort_by(|(a, _), (b, _)| compare(a, b).unwrap_or(Ordering::Equal));
    }
    entries
}

/// Python's `<` among keys; nothing where it raises.
fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
        (Value::Null, Value::Null) => Some(Ordering::Equal),
        _ => Some(number(a)?.total_cmp(&number(b)?)),
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        Value::Big(number) => number.to_string().parse().ok(),
        other => other.as_float(),
    }
}
