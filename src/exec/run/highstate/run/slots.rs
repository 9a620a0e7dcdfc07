//! Slots: arguments such as `__slot__:salt:test.echo(text).path ~ /more` that are replaced by what a function answers at
//! the moment when the state runs.

use halite_core::{Ctx, Fault};
use halite_value::record::Arguments;
use halite_value::{Map, Value};

const MARK: &str = "__slot__:";

/// The arguments with their slots filled: texts, and texts in a list or a map, and in maps in a list.
pub fn filled(ctx: &Ctx, arguments: Arguments) -> Result<Arguments, Fault> {
    let Arguments { positional, mut keywords } = arguments;
    for (_, value) in keywords.iter_mut() {
        fill(ctx, value)?;
    }
    Ok(Arguments { positional, keywords })
}

fn fill(ctx: &Ctx, value: &mut Value) -> Result<(), Fault> {
    match value {
        Value::Str(_) => fill_text(ctx, value),
        Value::Map(map) => fill_values(ctx, map),
        Value::List(items) => items.iter_mut().try_for_each(|item| match item {
            Value::Map(map) => fill_values(ctx, map),
            other => fill_text(ctx, other),
        }),
        _ => Ok(()),
    }
}

fn fill_values(ctx: &Ctx, map: &mut Map) -> Result<(), Fault> {
    map.iter_mut().try_for_each(|(_, value)| fill_text(ctx, value))
}

fn fill_text(ctx: &Ctx, value: &mut Value) -> Result<(), Fault> {
    if let Value::Str(text) = value
        && let Some(slot) = text.strip_prefix(MARK)
    {
        match Slot::read(slot).filter(|slot| ctx.functions.find(&slot.fun).is_some()) {
            Some(slot) => *value = slot.answer(ctx)?,
            None => log::warn!("Malformed slot: {text}: it stays as it is"),
        }
    }
    Ok(())
}

/// A slot, read.
#[derive(Clone, Debug, PartialEq)]
struct Slot {
    fun: String,
    arguments: Arguments,
    /// Which part of the answer.
    path: Option<String>,
    /// What is put behind an answer that is text.
    behind: Option<String>,
}

impl Slot {
    fn read(text: &str) -> Option<Slot> {
        let call = text.strip_prefix("salt:")?;
        let (call, behind) = match call.split_once('~') {
            Some((call, behind)) => (call, Some(unquoted(behind.trim()).to_owned())),
            None => (call, None),
        };
        let path =
            call.rsplit_once(')').and_then(|(_, rest)| rest.split_once('.')).map(|(_, path)| path.trim().to_owned());
        let (fun, arguments) = parsed(call)?;
        Some(Slot { fun, arguments, path, behind })
    }

    fn answer(self, ctx: &Ctx) -> Result<Value, Fault> {
        let mut answer = ctx.run(&self.fun, self.arguments)?;
        if let Some(path) = &self.path {
            answer = answer.traverse(path, ".").cloned().unwrap_or_default();
        }
        match (self.behind, &mut answer) {
            (Some(behind), Value::Str(text)) => text.push_str(&behind),
            (Some(_), _) => log::error!("Ignoring slot append, slot result is not a string"),
            (None, _) => {}
        }
        Ok(answer)
    }
}

fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// `mod.fun(a, 'b c', d=e)`: a name and its arguments, all of them text. Brackets are part of an argument.
fn parsed(text: &str) -> Option<(String, Arguments)> {
    let (fun, rest) = text.split_once('(')?;
    let fun: String = fun.chars().filter(|c| !c.is_whitespace()).collect();
    let mut arguments = Arguments::default();
    let (mut word, mut is_word, mut open) = (String::new(), false, Vec::new());
    let mut name: Option<String> = None;
    let mut letters = rest.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                is_word = true;
                loop {
                    match letters.next()? {
                        end if end == letter => break,
                        '\\' => word.push(letters.next()?),
                        inner => word.push(inner),
                    }
                }
            }
            ',' | ')' if open.is_empty() => {
                match name.take() {
                    Some(name) => drop(arguments.keywords.insert(name, std::mem::take(&mut word))),
                    None if is_word => arguments.positional.push(std::mem::take(&mut word).into()),
                    None => {}
                }
                is_word = false;
                if letter == ')' {
                    return Some((fun, arguments)).filter(|(fun, _)| !fun.is_empty());
                }
            }
            '=' if open.is_empty() => name = Some(std::mem::take(&mut word)),
            space if space.is_whitespace() => {}
            other => {
                match other {
                    '(' => open.push(')'),
                    '[' => open.push(']'),
                    '{' => open.push('}'),
                    ')' | ']' | '}' if open.pop() != Some(other) => return None,
                    _ => {}
                }
                is_word = true;
                word.push(other);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_lang::yaml;

    #[test]
    fn a_call_is_read_as_salt_reads_it() {
        let read = |text: &str| {
            parsed(text).map(|(fun, arguments)| {
                (fun, Value::List(arguments.positional).repr(), Value::Map(arguments.keywords).repr())
            })
        };
        for (text, expected) in [
            ("a.b()", Some(("a.b", "[]", "{}"))),
            ("a.b(x, 'y z' , k=\"v, w\")", Some(("a.b", "['x', 'y z']", "{'k': 'v, w'}"))),
            ("a.b(k=[1, {2: 3}], x)", Some(("a.b", "['x']", "{'k': '[1,{2:3}]'}"))),
            ("a.b('it\\'s', '')", Some(("a.b", "[\"it's\", '']", "{}"))),
            ("a.b(x", None),
            ("a.b([x)", None),
            ("a.b", None),
            ("(x)", None),
        ] {
            let expected = expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn slots_are_filled_where_they_stand() {
        let mut world = World::new();
        world.pillar = Map::from_iter([("a", Map::from_iter([("b", "deep")]))]);
        let given = "{plain: x, one: '__slot__:salt:test.echo(hi)', map: {k: '__slot__:salt:test.echo(in) ~ \" more\"'}, \
                     list: ['__slot__:salt:pillar.get(a).b', {k: '__slot__:salt:test.echo(far)'}], \
                     bad: '__slot__:other:x', unknown: '__slot__:salt:no.such(1)'}";
        let given = Arguments::keywords(yaml::load(given).unwrap().as_map().unwrap().clone());
        let filled = filled(&world.ctx(&NoMaster), given).unwrap();
        let expected = "{plain: x, one: hi, map: {k: in more}, list: [deep, {k: far}], bad: '__slot__:other:x', \
                        unknown: '__slot__:salt:no.such(1)'}";
        assert_eq!(Value::Map(filled.keywords), yaml::load(expected).unwrap());
    }
}
