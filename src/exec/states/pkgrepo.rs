//! `pkgrepo.*`: where packages come from. What is said here is of apt's sources, which are lines.

mod named;

use halite_core::state::{
    Function, Module, Outcome, Plan, PlanContext, State, already, failed, from_to, single, state,
};
use halite_core::{Ctx, Fault, paths};
use halite_node::apt_sources::described;
use halite_node::package_tool::package_tool;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;

pub const MODULE: Module = Module { name: "pkgrepo", doc: "Where packages come from.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Absent>("absent"), state::<Managed>("managed")];

/// What is said in test mode of what may follow.
const CAUTION: &str = "This may cause pkg states to behave differently than stated if this action is repeated without \
                       test=True, due to the differences in the configured repositories.";

record! {
    /// Makes sure that there is a source of packages.
    ///
    ///   base:
    ///     pkgrepo.managed:
    ///       - name: deb [signed-by=/etc/apt/keyrings/e.asc] https://deb.example.org/debian stable main
    ///       - file: /etc/apt/sources.list.d/e.list
    ///       - key_url: https://deb.example.org/key.asc
    pub struct Managed {
        /// The source, as it stands in sources.list; with dnf and zypper its name.
        name: String,
        /// `OWNER/NAME` of a source on Launchpad, on Ubuntu.
        ppa: Option<String> = (),
        /// `OWNER/PROJECT` of a source on Copr, with dnf.
        copr: Option<String> = (),
        /// Whether keys go to apt-key, where there is one.
        aptkey: bool = true,
        /// `file`, `comps`, `architectures`, `enabled` or `disabled`, `comments`, `trusted`, `clean_file`; `key_url`,
        /// `key_text`, or `keyid` with `keyserver`; `refresh`. With dnf and zypper `humanname`, `baseurl`, `mirrorlist`,
        /// `gpgcheck`, `gpgkey`, `priority`, `comments` and what `pkg.mod_repo` takes besides.
        kwargs: Keywords,
    }
}

impl State for Managed {
    fn plan(mut self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = self.name.clone();
        if let Some(wrong) = self.wrong(ctx) {
            return Ok(failed(wrong));
        }
        if named::has_names(ctx) {
            return named::managed(self, ctx);
        }
        let more = &mut self.kwargs.0;
        more.remove("allow_insecure_key");
        let is_disabled = match disabled(more) {
            Ok(is_disabled) => is_disabled,
            Err(wrong) => return Ok(failed(wrong)),
        };
        more.insert("disabled", is_disabled);
        let repo = self.ppa.as_ref().map_or_else(|| name.clone(), |ppa| format!("ppa:{ppa}"));
        let found = found(ctx, &repo).and_then(|before| Ok((before, described(ctx, &repo, &self.kwargs.0)?)));
        let (before, wanted) = match found {
            Ok(found) => found,
            Err(fault) => return Ok(failed(format!("Failed to examine repo '{name}': {fault}"))),
        };
        let differs = DESCRIBED.iter().filter(|key| !is_same(key, before.at(key), wanted.at(key)));
        let differs: Vec<&str> = differs.copied().collect();
        if !before.is_empty() && differs.is_empty() && !self.has_others(ctx) {
            return Ok(already(format!("Package repo '{name}' already configured")));
        }
        let changes = match before.is_empty() {
            true => single("repo", name.as_str()),
            false => differences(&before, &wanted),
        };
        let would = Outcome::new(None, format!("Package repo '{name}' would be configured. {CAUTION}"));
        let apply = move |ctx: &Ctx| self.configure(ctx, &repo, before, wanted);
        Ok(Plan::Changes { would: would.with_changes(changes), apply: Box::new(apply) })
    }
}

/// What is compared of a source.
const DESCRIBED: [&str; 10] =
    ["architectures", "comps", "disabled", "dist", "line", "signedby", "suites", "type", "types", "uri"];

/// Whether a source is to be off, as `enabled` or `disabled` says, which are taken out.
fn disabled(more: &mut Map) -> Result<bool, &'static str> {
    match (more.remove("enabled"), more.remove("disabled")) {
        (Some(enabled), Some(disabled)) if !enabled.is_null() && !disabled.is_null() => {
            Err("Only one of enabled/disabled is allowed")
        }
        (Some(enabled), _) if !enabled.is_null() => Ok(!is_on(&enabled)),
        (_, Some(disabled)) => Ok(is_on(&disabled)),
        _ => Ok(false),
    }
}

fn is_on(value: &Value) -> bool {
    match value {
        Value::Str(text) => matches!(text.to_lowercase().as_str(), "true" | "yes" | "on" | "1"),
        other => other.truthy(),
    }
}

fn found(ctx: &Ctx, repo: &str) -> Result<Map, Fault> {
    let answer = ctx.run("pkg.get_repo", Arguments::positional([repo]))?;
    Ok(answer.as_map().cloned().unwrap_or_default())
}

/// Whether a setting of a source is as it should be; the order of components and architectures does not matter.
fn is_same(key: &str, own: Option<&Value>, wanted: Option<&Value>) -> bool {
    let words = |value: Option<&Value>| -> BTreeSet<String> {
        value.and_then(Value::as_list).unwrap_or_default().iter().map(Value::to_text).collect()
    };
    let text = |value: Option<&Value>| value.map(Value::to_text).unwrap_or_default();
    match key {
        "comps" => words(own) == words(wanted),
        "architectures" => words(wanted).is_empty() || words(own) == words(wanted),
        "uri" => text(own).trim_end_matches('/') == text(wanted).trim_end_matches('/'),
        "line" => {
            let parts = |value: Option<&Value>| {
                let line = text(value);
                let line = line.split('#').find(|part| !part.trim().is_empty()).unwrap_or_default().to_owned();
                let mut parts: Vec<String> =
                    line.split_whitespace().map(|part| part.trim_end_matches('/').to_owned()).collect();
                let at = parts.len().min(3);
                parts[at..].sort();
                parts
            };
            // What stands in stanzas has no line of its own.
            parts(own) == parts(wanted) || own.is_some_and(|own| own.to_text().contains('\n'))
        }
        _ => text(own) == text(wanted),
    }
}

/// The settings that differ; `enabled` says the same as `disabled`.
fn differences(before: &Map, after: &Map) -> Map {
    let is_told = |key: &Value| !matches!(key.as_str(), Some("file" | "enabled"));
    let changed = after.iter().filter(|(key, value)| is_told(key) && before.at_value(key) != Some(*value));
    Map::from_iter(
        changed.map(|(key, value)| (key.clone(), Value::from(from_to(before.at_value(key).cloned(), value.clone())))),
    )
}

impl Managed {
    /// What cannot be, for whoever wrote the SLS.
    fn wrong(&self, ctx: &Ctx) -> Option<String> {
        let has = |name: &str| self.kwargs.0.contains(name);
        let by_id = has("keyid") || has("keyserver");
        let is_copr = self.copr.is_some() && package_tool(ctx).ok() != Some("dnf");
        if is_copr || package_tool(ctx).ok() == Some("apk") || package_tool(ctx).ok().is_none() {
            return Some("Repo management not implemented on this platform".to_owned());
        }
        let both = |one: &str, other: &str| Some(format!("You may not use both {one} and \"{other}\" argument."));
        match () {
            () if has("key_url") && by_id => both("\"keyid\"/\"keyserver\"", "key_url"),
            () if has("key_text") && by_id => both("\"keyid\"/\"keyserver\"", "key_text"),
            () if has("key_text") && has("key_url") => both("\"key_url\"", "key_text"),
            () if has("repo") => Some(
                "'repo' is not a supported argument for this state. The 'name' argument is probably what was intended."
                    .to_owned(),
            ),
            () if self.kwargs.0.at("allow_insecure_key") == Some(&Value::Bool(false))
                && self.kwargs.0.str_at("key_url").is_some_and(|url| url.trim().starts_with("http:")) =>
            {
                Some("Cannot have 'key_url' using http with 'allow_insecure_key' set to True".to_owned())
            }
            () => None,
        }
    }

    /// Whether the file has sources that are not this one, and is to be cleaned of them.
    fn has_others(&self, ctx: &Ctx) -> bool {
        let file = self.kwargs.0.str_at("file").filter(|_| self.kwargs.0.at("clean_file").is_some_and(Value::truthy));
        let text = file.and_then(|file| ctx.host.read(Path::new(file)).ok()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        text.lines().map(str::trim).any(|line| !line.is_empty() && !line.starts_with('#') && line != self.name.trim())
    }

    fn configure(self, ctx: &Ctx, repo: &str, before: Map, wanted: Map) -> Result<Outcome, Fault> {
        let name = &self.name;
        let more = &self.kwargs.0;
        if let Some(file) = more.str_at("file").filter(|_| more.at("clean_file").is_some_and(Value::truthy)) {
            let real = paths::real(ctx.host, file);
            let cleaned = ctx.host.write(Path::new(&real), b"", Default::default());
            cleaned.map_err(|error| Fault::execution(format!("{file}: {error}")))?;
        }
        let arguments = Arguments { positional: vec![repo.into()], keywords: more.clone() };
        if let Err(fault) = ctx.run("pkg.mod_repo", arguments.with("aptkey", self.aptkey)) {
            return Ok(Outcome::failed(format!("Failed to configure repo '{name}': {fault}")));
        }
        let after = match found(ctx, repo) {
            Ok(after) => after,
            Err(fault) => return Ok(Outcome::failed(format!("Failed to confirm config of repo '{name}': {fault}"))),
        };
        let changes = match before.is_empty() {
            true => single("repo", repo),
            false => {
                let mut changes = differences(&before, &after);
                changes.retain(|key, _| wanted.contains_value(key));
                changes
            }
        };
        Ok(Outcome::done(format!("Configured package repo '{name}'")).with_changes(changes))
    }
}

record! {
    /// Makes sure that there is no such source of packages.
    ///
    ///   base:
    ///     pkgrepo.absent:
    ///       - name: deb https://deb.example.org/debian stable main
    pub struct Absent {
        /// The source, as it stands in sources.list; with dnf and zypper its name.
        name: String,
        /// `ppa`, in place of the name, on Ubuntu, `copr` with dnf; `keyid`: remove this key too, with apt.
        kwargs: Keywords,
    }
}

impl State for Absent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        if named::has_names(ctx) {
            return named::absent(self, ctx);
        }
        let name = match self.kwargs.0.str_at("ppa") {
            Some(ppa) if ppa.starts_with("ppa:") => ppa.to_owned(),
            Some(ppa) => format!("ppa:{ppa}"),
            None => self.name.clone(),
        };
        let before = match found(ctx, &name) {
            Ok(before) => before,
            Err(fault) => return Ok(failed(format!("Failed to configure repo '{name}': {fault}"))),
        };
        let wanted = described(ctx, &name, &Map::new());
        let is_other = wanted.is_ok_and(|wanted| {
            let of = |map: &Map| map.at("architectures").cloned().unwrap_or_default();
            of(&wanted) != of(&before)
        });
        if before.is_empty() || is_other {
            return Ok(already(format!("Package repo {name} is absent")));
        }
        let would = Outcome::new(None, format!("Package repo '{name}' will be removed. {CAUTION}"));
        let apply = move |ctx: &Ctx| {
            let arguments = || Arguments { positional: vec![name.as_str().into()], keywords: self.kwargs.0.clone() };
            if let Err(fault) = ctx.run("pkg.del_repo", arguments()) {
                return Ok(Outcome::failed(fault.to_string()));
            }
            if !found(ctx, &name)?.is_empty() {
                return Ok(Outcome::failed(format!("Failed to remove repo {name}")));
            }
            let mut outcome = Outcome::done(format!("Removed repo {name}")).with_changes(single("repo", name.as_str()));
            let is_given = |key: &&str| self.kwargs.0.at(key).is_some_and(|value| !value.is_null());
            if ["keyid", "keyid_ppa"].iter().any(is_given) {
                match ctx.run("pkg.del_repo_key", arguments()) {
                    Ok(key) => {
                        outcome.comment.push_str(&format!(", and keyid {}", key.to_text()));
                        outcome.changes.insert("keyid", key);
                    }
                    Err(fault) => {
                        outcome.result = Some(false);
                        outcome.comment.push_str(&format!(", but failed to remove key: {fault}"));
                    }
                }
            }
            Ok(outcome)
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
