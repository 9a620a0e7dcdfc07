//! Sources of packages that have a name and settings, as dnf and zypper know them.

use super::{Absent, CAUTION, Managed, disabled, is_on};
use halite_core::state::{Outcome, Plan, already, failed, from_to, single};
use halite_core::{Ctx, Fault};
use halite_lang::ini::comment_lines;
use halite_node::package_tool::package_tool;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

/// Whether the host's packages come from such sources.
pub fn has_names(ctx: &Ctx) -> bool {
    is_redhat(ctx) || package_tool(ctx).ok() == Some("zypper")
}

fn is_redhat(ctx: &Ctx) -> bool {
    package_tool(ctx).ok() == Some("dnf")
}

fn found(ctx: &Ctx, repo: &str, more: &Map) -> Result<Map, Fault> {
    let mut keywords = Map::new();
    for key in ["basedir", "strict_config", "root"] {
        keywords.extend(more.at(key).map(|value| (key, value.clone())).into_iter().collect());
    }
    let answer = ctx.run("pkg.get_repo", Arguments { positional: vec![repo.into()], keywords })?;
    Ok(answer.as_map().cloned().unwrap_or_default())
}

/// Whether a setting of a source is as it should be.
fn is_same(ctx: &Ctx, key: &str, own: Option<&Value>, wanted: &Value) -> bool {
    let Some(own) = own else {
        return match key {
            // dnf has a source on that says nothing of it.
            "enabled" => is_redhat(ctx) && is_on(wanted),
            "comps" | "key_url" => false,
            _ => true,
        };
    };
    let lines = |value: &Value| match value {
        Value::List(lines) => comment_lines(&lines.iter().map(Value::to_text).collect::<Vec<String>>()),
        line => comment_lines(&[line.to_text()]),
    };
    match (own, wanted) {
        _ if key == "comments" && is_redhat(ctx) => lines(own) == lines(wanted),
        (Value::Bool(_), _) | (_, Value::Bool(_)) => is_on(own) == is_on(wanted),
        _ => own.to_text() == wanted.to_text(),
    }
}

pub fn managed(state: Managed, ctx: &Ctx) -> Result<Plan, Fault> {
    let name = state.name.clone();
    let mut wanted = state.kwargs.0.clone();
    wanted.remove("allow_insecure_key");
    let is_disabled = match disabled(&mut wanted) {
        Ok(is_disabled) => is_disabled,
        Err(wrong) => return Ok(failed(wrong)),
    };
    let repo = match &state.copr {
        Some(copr) if is_redhat(ctx) => format!("copr:{copr}"),
        _ => name.clone(),
    };
    let human = wanted.remove("humanname").unwrap_or_else(|| name.as_str().into());
    wanted.insert("name", human);
    wanted.insert("enabled", !is_disabled);
    let before = match found(ctx, &repo, &wanted) {
        Ok(before) => before,
        Err(fault) => return Ok(failed(format!("Failed to examine repo '{name}': {fault}"))),
    };
    let settles = |(key, value): (&Value, &Value)| is_same(ctx, &key.as_text(), before.at_value(key), value);
    if !before.is_empty() && wanted.iter().all(settles) {
        return Ok(already(format!("Package repo '{name}' already configured")));
    }
    let changes = match before.is_empty() {
        true => single("repo", name.as_str()),
        false => differences(&wanted, &before, &wanted),
    };
    let would = Outcome::new(None, format!("Package repo '{name}' would be configured. {CAUTION}"));
    let apply = move |ctx: &Ctx| {
        let arguments = Arguments { positional: vec![repo.as_str().into()], keywords: wanted.clone() };
        if let Err(fault) = ctx.run("pkg.mod_repo", arguments) {
            return Ok(Outcome::failed(format!("Failed to configure repo '{name}': {fault}")));
        }
        let after = match found(ctx, &repo, &wanted) {
            Ok(after) => after,
            Err(fault) => return Ok(Outcome::failed(format!("Failed to confirm config of repo '{name}': {fault}"))),
        };
        let changes = match before.is_empty() {
            true => single("repo", repo.as_str()),
            false => differences(&wanted, &before, &after),
        };
        Ok(Outcome::done(format!("Configured package repo '{name}'")).with_changes(changes))
    };
    Ok(Plan::Changes { would: would.with_changes(changes), apply: Box::new(apply) })
}

/// What of the settings that are wanted is other than before.
fn differences(wanted: &Map, before: &Map, after: &Map) -> Map {
    let changed = wanted.keys().filter(|key| before.at_value(key) != after.at_value(key));
    let value = |map: &Map, key: &Value| map.at_value(key).cloned().unwrap_or_default();
    changed.map(|key| (key.clone(), from_to(value(before, key), value(after, key)))).collect()
}

pub fn absent(state: Absent, ctx: &Ctx) -> Result<Plan, Fault> {
    let more = state.kwargs.0;
    let name = match more.str_at("copr").filter(|_| is_redhat(ctx)) {
        Some(copr) if copr.starts_with("copr:") => copr.to_owned(),
        Some(copr) => format!("copr:{copr}"),
        None => state.name,
    };
    if ["keyid", "keyid_ppa"].iter().any(|key| more.at(key).is_some_and(|value| !value.is_null())) {
        return Ok(failed("Repo key management is not implemented for this platform"));
    }
    match found(ctx, &name, &more) {
        Ok(before) if before.is_empty() => return Ok(already(format!("Package repo {name} is absent"))),
        Ok(_) => {}
        Err(fault) => return Ok(failed(format!("Failed to configure repo '{name}': {fault}"))),
    }
    let would = Outcome::new(None, format!("Package repo '{name}' will be removed. {CAUTION}"));
    let apply = move |ctx: &Ctx| {
        let arguments = Arguments { positional: vec![name.as_str().into()], keywords: more.clone() };
        if let Err(fault) = ctx.run("pkg.del_repo", arguments) {
            return Ok(Outcome::failed(fault.to_string()));
        }
        match found(ctx, &name, &more)?.is_empty() {
            true => Ok(Outcome::done(format!("Removed repo {name}")).with_changes(single("repo", name.as_str()))),
            false => Ok(Outcome::failed(format!("Failed to remove repo {name}"))),
        }
    };
    Ok(Plan::Changes { would, apply: Box::new(apply) })
}
