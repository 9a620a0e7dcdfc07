//! `'{0.name:>5} {x!r}'.format(...)`.

use super::super::error::{Failure, Res};
use super::super::eval::{Args, Interp, escape};
use super::super::value::Val;
use super::number::{self, Shape};
use super::pad;
use halite_value::str_repr;

/// `safe` escapes what is put in and makes the result markup.
pub fn format(interp: &mut Interp, template: &str, args: &Args, safe: bool) -> Res<Val> {
    let mut writer = Writer { args, next: Numbering::Unknown, safe };
    let out = writer.write(interp, template, 0)?;
    interp.spend(out.len())?;
    Ok(if safe { Val::Markup(out.into()) } else { Val::from(out) })
}

#[derive(Clone, Copy)]
enum Numbering {
    Unknown,
    Automatic(usize),
    Manual,
}

struct Writer<'a> {
    args: &'a Args,
    next: Numbering,
    safe: bool,
}

impl Writer<'_> {
    fn write(&mut self, interp: &mut Interp, template: &str, depth: usize) -> Res<String> {
        if depth > 2 {
            return Err(Failure::value_error("Max string recursion exceeded"));
        }
        let mut out = String::new();
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            out.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(behind) = rest.strip_prefix(brace) {
                out.push_str(brace);
                rest = behind;
                continue;
            }
            if brace == "}" {
                return Err(Failure::value_error("Single '}' encountered in format string"));
            }
            if rest.is_empty() {
                return Err(Failure::value_error("Single '{' encountered in format string"));
            }
            let end = closing(rest).ok_or_else(|| Failure::value_error("expected '}' before end of string"))?;
            out.push_str(&self.field(interp, &rest[..end], depth)?);
            rest = &rest[end + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }

    fn field(&mut self, interp: &mut Interp, field: &str, depth: usize) -> Res<String> {
        let name_end = field.find(['!', ':']).unwrap_or(field.len());
        let (name, mut rest) = field.split_at(name_end);
        let mut conversion = None;
        if let Some(behind) = rest.strip_prefix('!') {
            let kind = behind
                .chars()
                .next()
                .ok_or_else(|| Failure::value_error("end of string while looking for conversion specifier"))?;
            conversion = Some(kind);
            rest = &behind[kind.len_utf8()..];
            if !rest.is_empty() && !rest.starts_with(':') {
                return Err(Failure::value_error("expected ':' after conversion specifier"));
            }
        }
        let value = self.value(interp, name)?;
        value.defined()?;
        let spec = self.write(interp, rest.strip_prefix(':').unwrap_or(""), depth + 1)?;
        let value = match conversion {
            None => value,
            Some('s') => Val::from(value.text()),
            Some('r' | 'a') => Val::from(value.repr()),
            Some(kind) => {
                return Err(Failure::value_error(format!(
                    "Unknown conversion specifier {}",
                    str_repr(&kind.to_string())
                )));
            }
        };
        let text = formatted(&value, &spec)?;
        Ok(if self.safe && !matches!(value, Val::Markup(_)) { escape(&text) } else { text })
    }

    fn value(&mut self, interp: &mut Interp, name: &str) -> Res<Val> {
        let first_end = name.find(['.', '[']).unwrap_or(name.len());
        let (first, mut rest) = name.split_at(first_end);
        let mut value = self.argument(first)?;
        while !rest.is_empty() {
            if let Some(behind) = rest.strip_prefix('.') {
                let end = behind.find(['.', '[']).unwrap_or(behind.len());
                value = interp.attribute(&value, &behind[..end].into())?;
                value.defined()?;
                rest = &behind[end..];
            } else if let Some(behind) = rest.strip_prefix('[') {
                let end = behind.find(']').ok_or_else(|| Failure::value_error("Missing ']' in format string"))?;
                let key = match behind[..end].parse::<i64>() {
                    Ok(index) => Val::Int(index),
                    Err(_) => Val::from(&behind[..end]),
                };
                value = interp.item(&value, &key)?;
                value.defined()?;
                rest = &behind[end + 1..];
            } else {
                return Err(Failure::value_error("Only '.' or '[' may follow ']' in format field specifier"));
            }
        }
        Ok(value)
    }

    fn argument(&mut self, name: &str) -> Res<Val> {
        let index = if name.is_empty() {
            let index = match self.next {
                Numbering::Unknown => 0,
                Numbering::Automatic(index) => index,
                Numbering::Manual => {
                    return Err(Failure::value_error(
                        "cannot switch from manual field specification to automatic field numbering",
                    ));
                }
            };
            self.next = Numbering::Automatic(index + 1);
            index
        } else if let Ok(index) = name.parse::<usize>() {
            if matches!(self.next, Numbering::Automatic(_)) {
                return Err(Failure::value_error(
                    "cannot switch from automatic field numbering to manual field specification",
                ));
            }
            self.next = Numbering::Manual;
            index
        } else {
            let found = self.args.named.iter().find(|(own, _)| &**own == name).map(|(_, value)| value.clone());
            return found.ok_or_else(|| Failure::python("KeyError", str_repr(name)));
        };
        self.args
            .positional
            .get(index)
            .cloned()
            .ok_or_else(|| Failure::python("IndexError", "tuple index out of range"))
    }
}

/// Where the field ends whose inside begins here.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => open += 1,
            '}' if open == 0 => return Some(at),
            '}' => open -= 1,
            _ => {}
        }
    }
    None
}

/// A value by a format specification: `[[fill]align][sign][#][0][width][grouping][.precision][kind]`.
pub fn formatted(value: &Val, spec: &str) -> Res<String> {
    if spec.is_empty() {
        return Ok(value.text());
    }
    let chars: Vec<char> = spec.chars().collect();
    let mut at = 0;
    let mut fill = ' ';
    let mut align = None;
    if chars.len() > 1 && "<>=^".contains(chars[1]) {
        (fill, align, at) = (chars[0], Some(chars[1]), 2);
    } else if "<>=^".contains(chars[0]) {
        (align, at) = (Some(chars[0]), 1);
    }
    let mut shape = Shape::default();
    let peek = |at: usize| chars.get(at).copied().unwrap_or('\0');
    if "+- ".contains(peek(at)) {
        shape.sign = Some(peek(at)).filter(|sign| *sign != '-');
        at += 1;
    }
    if peek(at) == '#' {
        shape.alternate = true;
        at += 1;
    }
    if peek(at) == '0' && align.is_none() {
        (fill, align) = ('0', Some('='));
        at += 1;
    }
    let amount = |at: &mut usize| {
        let mut amount = None;
        while let Some(digit) = peek(*at).to_digit(10) {
            amount = Some((amount.unwrap_or(0_usize) * 10 + digit as usize).min(super::WIDTH_LIMIT));
            *at += 1;
        }
        amount
    };
    let width = amount(&mut at);
    if ",_".contains(peek(at)) {
        shape.grouping = Some(peek(at));
        at += 1;
    }
    if peek(at) == '.' {
        at += 1;
        shape.precision = amount(&mut at);
        if shape.precision.is_none() {
            return Err(Failure::value_error("Format specifier missing precision"));
        }
    }
    let kind = chars.get(at).copied();
    if at + 1 < chars.len() {
        let kind = value.type_name();
        return Err(Failure::value_error(format!("Invalid format specifier '{spec}' for object of type '{kind}'")));
    }
    let text = body(value, kind, shape)?;
    let number = matches!(value, Val::Int(_) | Val::Big(_) | Val::Float(_) | Val::Bool(_));
    if align == Some('=') && !number {
        if fill == '0' {
            align = Some('<');
        } else {
            return Err(Failure::value_error("'=' alignment not allowed in string format specifier"));
        }
    }
    let align = align.unwrap_or(if number { '>' } else { '<' });
    Ok(pad(&text, width.unwrap_or(0), fill, align))
}

fn body(value: &Val, kind: Option<char>, mut shape: Shape) -> Res<String> {
    let unknown = |kind: char| {
        let name = value.type_name();
        Failure::value_error(format!("Unknown format code '{kind}' for object of type '{name}'"))
    };
    match value {
        Val::Float(float) => match kind {
            None => Ok(number::plain_float(*float, shape)),
            Some(kind) if "eEfFgGn%".contains(kind) => number::float(*float, kind, shape),
            Some(kind) => Err(unknown(kind)),
        },
        Val::Bool(_) if kind.is_none() => Ok(value.text()),
        Val::Int(_) | Val::Big(_) | Val::Bool(_) => {
            let whole = value.as_big().unwrap_or_default();
            match kind.unwrap_or('d') {
                'd' | 'n' => Ok(number::integer(&whole, 'd', shape)),
                'c' => {
                    let code = value.as_index().and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32);
                    let out_of_range = || Failure::python("OverflowError", "%c arg not in range(0x110000)");
                    code.map(String::from).ok_or_else(out_of_range)
                }
                kind if "xXob".contains(kind) => {
                    shape.precision = None;
                    Ok(number::integer(&whole, kind, shape))
                }
                kind if "eEfFgG%".contains(kind) => {
                    number::float(value.as_float().unwrap_or(f64::INFINITY), kind, shape)
                }
                kind => Err(unknown(kind)),
            }
        }
        Val::Str(text) | Val::Markup(text) => match kind {
            None | Some('s') => Ok(match shape.precision {
                Some(most) => text.chars().take(most).collect(),
                None => text.to_string(),
            }),
            Some(kind) => Err(unknown(kind)),
        },
        other => {
            let kind = other.type_name();
            Err(Failure::type_error(format!("unsupported format string passed to {kind}.__format__")))
        }
    }
}
