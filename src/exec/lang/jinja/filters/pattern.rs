//! Salt's filters with regular expressions and globs.

use super::super::error::{Failure, Res};
use super::super::eval::{Bound, Interp};
use super::super::value::Val;
use super::text::text;
use super::{Filter, filter};
use crate::regex::{Flags, Found, Regex, Template, escaped};
use crate::target::fnmatch::fnmatch;

pub const SALT: &[Filter] = &[
    filter("regex_search", &["rgx", "ignorecase", "multiline"], 1, |_, value, bound| {
        groups(&value, &bound, Regex::search)
    }),
    filter("regex_match", &["rgx", "ignorecase", "multiline"], 1, |_, value, bound| {
        groups(&value, &bound, Regex::match_start)
    }),
    filter("regex_replace", &["rgx", "val", "ignorecase", "multiline"], 2, replace),
    filter("regex_escape", &[], 0, |_, value, _| Ok(Val::from(escaped(&text(&value)?)))),
    filter("check_whitelist_blacklist", &["whitelist", "blacklist"], 0, listed),
];

fn compiled(bound: &Bound, flags_at: usize) -> Res<Regex> {
    let flags = Flags {
        ignore_case: bound.truth(flags_at, false)?,
        multi_line: bound.truth(flags_at + 1, false)?,
        ..Flags::default()
    };
    Regex::with_flags(&text(&bound.val(0))?, flags).map_err(|error| Failure::python("error", error.to_string()))
}

fn subject(value: &Val) -> Res<&str> {
    value.defined()?;
    value.as_str().ok_or_else(|| {
        Failure::type_error(format!("expected string or bytes-like object, got '{}'", value.type_name()))
    })
}

type Search = for<'t> fn(&Regex, &'t str) -> Result<Option<Found<'t>>, crate::regex::RegexError>;

/// The groups of what is found, or all of it where there are none.
fn groups(value: &Val, bound: &Bound, search: Search) -> Res<Val> {
    let regex = compiled(bound, 1)?;
    let found = search(&regex, subject(value)?).map_err(|error| Failure::limit(error.to_string()))?;
    let Some(found) = found else { return Ok(Val::None) };
    let mut parts: Vec<Val> = found.groups().map(|group| group.map_or(Val::None, Val::from)).collect();
    if parts.is_empty() {
        parts.push(found.group(0).map_or(Val::None, Val::from));
    }
    Ok(Val::tuple(parts))
}

fn replace(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let regex = compiled(&bound, 2)?;
    let template =
        Template::parse(&text(&bound.val(1))?, &regex).map_err(|error| Failure::python(error.kind, error.message))?;
    let source = subject(&value)?;
    let replaced = template.replace(source, usize::MAX).map_err(|error| Failure::limit(error.to_string()))?;
    interp.spend(replaced.text.len() / 16 + 1)?;
    Ok(Val::from(replaced.text))
}

/// Whether a name is on the white list and not on the black one.
fn listed(interp: &mut Interp, value: Val, bound: Bound) -> Res<Val> {
    let name = text(&value)?;
    let mut on = |at: usize| -> Res<Option<bool>> {
        let list = bound.val(at);
        if !list.truth()? {
            return Ok(None);
        }
        let patterns = if list.as_str().is_some() { vec![list] } else { list.items(interp)? };
        Ok(Some(patterns.iter().any(|pattern| fits(&name, &pattern.text()))))
    };
    let (white, black) = (on(0)?, on(1)?);
    Ok(Val::Bool(black != Some(true) && white != Some(false)))
}

fn fits(name: &str, pattern: &str) -> bool {
    let regex =
        || Regex::with_flags(&format!("^(?:{pattern})$"), Flags::default()).and_then(|regex| regex.is_match(name));
    fnmatch(name, pattern) || regex().unwrap_or(false)
}
