//! Names that each template sees: jinja2's `range`, `dict`, `cycler`, ... and Salt's `raise`, `ifelse`, ...

use super::error::{Failure, Res};
use super::eval::{Bound, Interp, Rest, Signature};
use super::objects::{Builtin, Cycler, CyclerHandle, Joiner, Namespace, SaltFunctions};
use super::options::Dialect;
use super::value::{Dict, Range, Val};
use crate::random;
use halite_value::record::Arguments;
use std::cell::Cell;
use std::rc::Rc;

/// The longest range that jinja2's sandbox allows.
const RANGE_LIMIT: usize = 100_000;

pub fn find(name: &str, dialect: Dialect) -> Option<Val> {
    // External pillars know it by this name.
    if matches!(name, "salt" | "__salt__") {
        return Some(Val::object(SaltFunctions));
    }
    let plain = PLAIN.iter().find(|(own, _)| *own == name);
    let salt = || SALT.iter().find(|(own, _)| *own == name && dialect == Dialect::Salt);
    plain.or_else(salt).map(|(_, builtin)| Val::object(builtin))
}

static PLAIN: [(&str, Builtin); 6] = [
    ("range", Builtin { signature: Signature::new("range", &["start", "stop", "step"], 1), run: range }),
    ("dict", Builtin { signature: Signature::with("dict", &[], 0, Rest::Both), run: dict }),
    ("namespace", Builtin { signature: Signature::with("Namespace", &[], 0, Rest::Both), run: namespace }),
    ("cycler", Builtin { signature: Signature::with("Cycler", &[], 0, Rest::Positional), run: cycler }),
    ("joiner", Builtin { signature: Signature::new("Joiner", &["sep"], 0), run: joiner }),
    (
        "lipsum",
        Builtin { signature: Signature::new("generate_lorem_ipsum", &["n", "html", "min", "max"], 0), run: lipsum },
    ),
];

static SALT: [(&str, Builtin); 4] = [
    ("raise", Builtin { signature: Signature::new("jinja_raise", &["msg"], 1), run: raise }),
    ("odict", Builtin { signature: Signature::with("OrderedDict", &[], 0, Rest::Both), run: dict }),
    ("ifelse", Builtin { signature: Signature::with("ifelse", &[], 0, Rest::Both), run: ifelse }),
    ("show_full_context", Builtin { signature: Signature::new("show_full_context", &[], 0), run: show_full_context }),
];

fn range(_: &mut Interp, bound: Bound) -> Res<Val> {
    let (start, stop) = match bound.int(1)? {
        Some(stop) => (bound.int(0)?.unwrap_or(0), stop),
        None => {
            let stop = bound
                .int(0)?
                .ok_or_else(|| Failure::type_error("'NoneType' object cannot be interpreted as an integer"))?;
            (0, stop)
        }
    };
    let step = bound.int(2)?.unwrap_or(1);
    if step == 0 {
        return Err(Failure::value_error("range() arg 3 must not be zero"));
    }
    let range = Range::new(start, stop, step);
    if range.length > RANGE_LIMIT {
        return Err(Failure::python(
            "OverflowError",
            format!("Range too big. The sandbox blocks ranges larger than MAX_RANGE ({RANGE_LIMIT})."),
        ));
    }
    Ok(Val::Range(Rc::new(range)))
}

/// What `dict()` and `dict.update()` take: a map, pairs, keywords.
pub fn dict_of(interp: &mut Interp, bound: Bound) -> Res<Dict> {
    let mut dict = Dict::new();
    if bound.extra.len() > 1 {
        let given = bound.extra.len();
        return Err(Failure::type_error(format!("dict expected at most 1 argument, got {given}")));
    }
    if let Some(source) = bound.extra.first() {
        source.defined()?;
        match source {
            Val::Dict(source) => dict.extend(source.0.borrow().iter().map(|(key, value)| (key.clone(), value.clone()))),
            other => {
                for (at, pair) in other.items(interp)?.into_iter().enumerate() {
                    let pair = match pair.is_iterable() {
                        true => pair.items(interp)?,
                        false => {
                            let message =
                                format!("cannot convert dictionary update sequence element #{at} to a sequence");
                            return Err(Failure::type_error(message));
                        }
                    };
                    let Ok([key, value]) = <[Val; 2]>::try_from(pair) else {
                        return Err(Failure::value_error(format!(
                            "dictionary update sequence element #{at} has the wrong length; 2 is required"
                        )));
                    };
                    key.hashable()?;
                    dict.insert(key, value);
                }
            }
        }
    }
    dict.extend(bound.named.into_iter().map(|(name, value)| (Val::Str(name), value)));
    interp.spend(dict.len())?;
    Ok(dict)
}

fn dict(interp: &mut Interp, bound: Bound) -> Res<Val> {
    dict_of(interp, bound).map(Val::dict)
}

fn namespace(interp: &mut Interp, bound: Bound) -> Res<Val> {
    dict_of(interp, bound).map(|dict| Val::object(Namespace::new(dict)))
}

fn cycler(_: &mut Interp, bound: Bound) -> Res<Val> {
    if bound.extra.is_empty() {
        return Err(Failure::runtime("at least one item has to be provided"));
    }
    Ok(Val::object(CyclerHandle(Rc::new(Cycler::new(bound.extra)))))
}

fn joiner(_: &mut Interp, bound: Bound) -> Res<Val> {
    let separator = bound.given(0).cloned().unwrap_or_else(|| Val::from(", "));
    Ok(Val::object(Joiner { separator, used: Cell::new(false) }))
}

/// Words of the usual filler text.
const WORDS: &str = "a ac accumsan ad adipiscing aenean aliquam amet ante arcu at auctor bibendum commodo congue cras \
    cum cursus diam dictum dolor donec dui eget elit enim erat eros est et eu euismod felis fringilla fusce gravida \
    hendrerit iaculis id in integer ipsum justo lacus lectus leo libero lorem magna massa mattis mauris metus mi nec \
    neque nibh nisi nulla nunc odio orci ornare pede pellentesque porta proin purus quam quis risus sapien sed sem \
    sit tellus tempor tincidunt tortor turpis ultrices urna ut varius vel velit vestibulum vitae vivamus volutpat";

fn lipsum(interp: &mut Interp, bound: Bound) -> Res<Val> {
    let paragraphs = bound.int(0)?.unwrap_or(5).clamp(0, 1000);
    let html = bound.truth(1, true)?;
    let least = u64::try_from(bound.int(2)?.unwrap_or(20)).unwrap_or(0).min(10_000);
    let most = u64::try_from(bound.int(3)?.unwrap_or(100)).unwrap_or(0).clamp(least + 1, 10_001);
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut out = Vec::new();
    for _ in 0..paragraphs {
        let count = least + random::up_to(most - least - 1);
        let mut paragraph = String::new();
        for at in 0..count {
            let word = words[random::up_to(words.len() as u64 - 1) as usize % words.len()];
            if at == 0 {
                paragraph.push_str(&word[..1].to_uppercase());
                paragraph.push_str(&word[1..]);
            } else {
                paragraph.push(' ');
                paragraph.push_str(word);
            }
        }
        paragraph.push('.');
        interp.spend(paragraph.len())?;
        out.push(if html { format!("<p>{paragraph}</p>") } else { paragraph });
    }
    let text = out.join(if html { "\n" } else { "\n\n" });
    Ok(if html { Val::Markup(text.into()) } else { Val::from(text) })
}

fn raise(_: &mut Interp, bound: Bound) -> Res<Val> {
    Err(Failure::python("TemplateError", bound.val(0).text()))
}

/// Pairs of a target and a value, then what holds if none matches: the value of the first target that the minion is.
fn ifelse(interp: &mut Interp, bound: Bound) -> Res<Val> {
    if bound.extra.len().is_multiple_of(2) {
        let message = "The ifelse function must have an odd number of arguments!";
        return Err(Failure::python("SaltException", message));
    }
    let named = |name: &str| bound.named.iter().find(|(own, _)| &**own == name).map(|(_, value)| value);
    if named("merge").is_some_and(|merge| !merge.is_none()) {
        return merged_ifelse(interp, &bound);
    }
    let matcher = format!("match.{}", named("tgt_type").and_then(Val::as_str).unwrap_or("compound"));
    let minion = named("minion_id").filter(|value| !value.is_none()).map(Val::to_value).transpose()?;
    let mut args = bound.extra.iter();
    while let Some(target) = args.next() {
        let Some(value) = args.next() else { return Ok(target.clone()) };
        let matches = match target {
            Val::Bool(truth) => *truth,
            target => {
                let mut arguments = Arguments::positional([target.to_value()?]);
                if let Some(minion) = &minion {
                    arguments = arguments.with("minion_id", minion.clone());
                }
                interp.env.functions.call(&matcher, arguments)?.truthy()
            }
        };
        if matches {
            return Ok(value.clone());
        }
    }
    Ok(Val::None)
}

/// The same, with a map put over the value: the execution function does that, on values that nobody shares.
fn merged_ifelse(interp: &mut Interp, bound: &Bound) -> Res<Val> {
    let positional = bound.extra.iter().map(Val::to_value).collect::<Res<Vec<_>>>()?;
    let mut arguments = Arguments::positional(positional);
    for (name, value) in &bound.named {
        arguments = arguments.with(name, value.to_value()?);
    }
    Ok(Val::from(&interp.env.functions.call("match.ifelse", arguments)?))
}

/// All that can be seen here: a template asks for it on purpose, and prints it as it would any other value.
fn show_full_context(interp: &mut Interp, _: Bound) -> Res<Val> {
    let mut dict = Dict::new();
    for name in interp.visible() {
        let value = interp.name(&name);
        dict.insert(Val::from(name), value);
    }
    Ok(Val::dict(dict))
}
