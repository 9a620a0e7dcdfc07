//! `'%s and %(name)05d' % values`.

use super::super::error::{Failure, Res};
use super::super::eval::{Interp, escape};
use super::super::value::Val;
use super::number::{self, Shape};
use super::pad;
use std::iter::Peekable;
use std::str::Chars;

/// `safe` escapes what is put in and makes the result markup.
pub fn percent(interp: &mut Interp, template: &str, values: &Val, safe: bool) -> Res<Val> {
    let mut writer = Writer { values, next: 0, mapped: false, safe };
    let mut out = String::new();
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '%' {
            out.push_str(&writer.field(interp, &mut chars)?);
        } else {
            out.push(c);
        }
        if out.len() > (64 << 20) {
            return Err(Failure::limit("the text is too long"));
        }
    }
    writer.all_used()?;
    interp.spend(out.len())?;
    Ok(if safe { Val::Markup(out.into()) } else { Val::from(out) })
}

struct Writer<'v> {
    values: &'v Val,
    next: usize,
    /// Values were taken by name.
    mapped: bool,
    safe: bool,
}

impl Writer<'_> {
    fn field(&mut self, interp: &mut Interp, chars: &mut Peekable<Chars>) -> Res<String> {
        let incomplete = || Failure::value_error("incomplete format");
        let key = match chars.next_if_eq(&'(') {
            Some(_) => {
                let mut key = String::new();
                let mut open = 1;
                loop {
                    let c = chars.next().ok_or_else(|| Failure::value_error("incomplete format key"))?;
                    open += i32::from(c == '(') - i32::from(c == ')');
                    if open == 0 {
                        break Some(key);
                    }
                    key.push(c);
                }
            }
            None => None,
        };
        let named = match key {
            Some(key) => Some(self.named(interp, &key)?),
            None => None,
        };
        let mut shape = Shape::default();
        let (mut left, mut zero) = (false, false);
        while let Some(flag) = chars.next_if(|c| "-+ #0".contains(*c)) {
            match flag {
                '-' => left = true,
                '+' => shape.sign = Some('+'),
                ' ' => shape.sign = shape.sign.or(Some(' ')),
                '#' => shape.alternate = true,
                _ => zero = true,
            }
        }
        let width = self.amount(chars)?;
        if chars.next_if_eq(&'.').is_some() {
            shape.precision = Some(self.amount(chars)?.unwrap_or(0));
        }
        while chars.next_if(|c| matches!(c, 'h' | 'l' | 'L')).is_some() {}
        let kind = chars.next().ok_or_else(incomplete)?;
        if kind == '%' {
            return Ok("%".to_owned());
        }
        let value = match named {
            Some(value) => value,
            None => self.positional()?,
        };
        value.defined()?;
        let text = self.text(&value, kind, shape)?;
        let numeric = !matches!(kind, 's' | 'r' | 'a' | 'c');
        Ok(match width {
            Some(width) if left => pad(&text, width, ' ', '<'),
            Some(width) if zero && numeric => pad(&text, width, '0', '='),
            Some(width) => pad(&text, width, ' ', '>'),
            None => text,
        })
    }

    fn text(&self, value: &Val, kind: char, shape: Shape) -> Res<String> {
        let cut = |text: String| match shape.precision {
            Some(most) => text.chars().take(most).collect(),
            None => text,
        };
        let number = |wanted: &str| {
            let got = value.type_name();
            Failure::type_error(format!("%{kind} format: {wanted} is required, not {got}"))
        };
        Ok(match kind {
            's' if self.safe && !matches!(value, Val::Markup(_)) => cut(escape(&value.text())),
            's' => cut(value.text()),
            'r' | 'a' => cut(value.repr()),
            'c' => match value.as_str() {
                Some(text) if text.chars().count() == 1 => text.to_owned(),
                Some(_) => return Err(Failure::type_error("%c requires int or char")),
                None => {
                    let code = value.as_index().and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32);
                    code.map(String::from).ok_or_else(|| Failure::type_error("%c requires int or char"))?
                }
            },
            'd' | 'i' | 'u' => {
                let whole = number::whole(value).ok_or_else(|| number("a real number"))?;
                number::integer(&whole, 'd', shape)
            }
            'x' | 'X' | 'o' => {
                let whole = value.as_big().ok_or_else(|| number("an integer"))?;
                number::integer(&whole, kind, shape)
            }
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
                let float = value
                    .as_float()
                    .ok_or_else(|| Failure::type_error(format!("must be real number, not {}", value.type_name())))?;
                number::float(float, kind, shape)?
            }
            _ => {
                let code = u32::from(kind);
                return Err(Failure::value_error(format!("unsupported format character '{kind}' (0x{code:x})")));
            }
        })
    }

    fn named(&mut self, interp: &mut Interp, key: &str) -> Res<Val> {
        self.mapped = true;
        let Val::Dict(dict) = self.values else { return Err(Failure::type_error("format requires a mapping")) };
        let _ = interp;
        let found = dict.0.borrow().get(key).cloned();
        found.ok_or_else(|| Failure::python("KeyError", halite_value::str_repr(key)))
    }

    fn positional(&mut self) -> Res<Val> {
        let at = self.next;
        self.next += 1;
        let value = match self.values {
            Val::Tuple(items) => items.0.get(at).cloned(),
            one => (at == 0).then(|| one.clone()),
        };
        value.ok_or_else(|| Failure::type_error("not enough arguments for format string"))
    }

    fn amount(&mut self, chars: &mut Peekable<Chars>) -> Res<Option<usize>> {
        if chars.next_if_eq(&'*').is_some() {
            let amount = self.positional()?.as_index().ok_or_else(|| Failure::type_error("* wants int"))?;
            return Ok(Some(usize::try_from(amount).unwrap_or(0).min(super::WIDTH_LIMIT)));
        }
        let mut amount = None;
        while let Some(digit) = chars.next_if(char::is_ascii_digit) {
            let digit = digit.to_digit(10).unwrap_or(0) as usize;
            amount = Some((amount.unwrap_or(0_usize) * 10 + digit).min(super::WIDTH_LIMIT));
        }
        Ok(amount)
    }

    fn all_used(&self) -> Res<()> {
        let unused = match self.values {
            Val::Tuple(items) => self.next < items.0.len() && !self.mapped,
            Val::Dict(_) | Val::List(_) | Val::Object(_) => false,
            _ => self.next == 0 && !self.mapped,
        };
        match unused {
            true => Err(Failure::type_error("not all arguments converted during string formatting")),
            false => Ok(()),
        }
    }
}
