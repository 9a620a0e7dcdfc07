//! `git.config_set`, `git.config_unset`.

use super::{Account, complaint};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, failed, from_to, single, stands};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

/// Whether it is the account's configuration, and what names it to a function.
type Place = (bool, Vec<(&'static str, Value)>);

/// Which configuration: that of the account, or that of a checkout.
fn place(repo: &Value, more: &Map) -> Result<Place, String> {
    let is_global = more.at("global").is_some_and(Value::truthy);
    if !is_global && !repo.truthy() {
        return Err("Non-global config options require the 'repo' argument to be set".to_owned());
    }
    Ok((is_global, vec![("cwd", repo.clone()), ("global", is_global.into())]))
}

fn unknown(more: &Map, known: &[&str]) -> Option<String> {
    let others = more.iter().filter(|(name, _)| !known.contains(&name.to_text().as_str()));
    let others: Vec<String> = others.map(|(name, value)| format!("{}={}", name.to_text(), value.to_text())).collect();
    (!others.is_empty()).then(|| format!("The following keyword arguments are not valid: {}", others.join(", ")))
}

record! {
    /// Makes sure that git has a setting.
    ///
    ///   user.name:
    ///     git.config_set:
    ///       - value: Foo Bar
    ///       - global: True
    pub struct ConfigSet {
        /// The setting.
        name: String,
        /// Its value.
        value: Value = (),
        /// Several values.
        multivar: Value = (),
        /// The checkout.
        repo: Value = (),
        /// The account that does it.
        user: Value = (),
        /// Taken, not used: for Windows.
        password: Value = (),
        /// The encoding of what git says.
        output_encoding: Value = (),
        /// `global`: it is one of the account.
        kwargs: Keywords,
    }
}

impl State for ConfigSet {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let more = &self.kwargs.0;
        if !self.value.is_null() && !self.multivar.is_null() {
            return Ok(failed("Only one of 'value' and 'multivar' is permitted"));
        }
        if let Some(wrong) = unknown(more, &["global"]) {
            return Ok(failed(wrong));
        }
        let (is_global, place) = match place(&self.repo, more) {
            Ok(found) => found,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let desired: Vec<String> = match (&self.value, &self.multivar) {
            (Value::Null, Value::List(items)) => items.iter().map(Value::to_text).collect(),
            (Value::Null, Value::Null) => return Ok(failed("git.config_set needs a 'value' or a 'multivar'")),
            (Value::Null, text) => text.to_text().split(',').map(str::to_owned).collect(),
            (value, _) => vec![value.to_text()],
        };
        let shown = match self.multivar.is_null() {
            true => format!("'{}'", self.value.to_text()),
            false => Value::list(desired.iter().map(String::as_str)).to_text(),
        };
        let account = Account {
            user: self.user,
            password: self.password,
            output_encoding: self.output_encoding,
            ..Account::default()
        };
        let name = self.name;
        let global = if is_global { "Global key " } else { "" };
        let mut words = place.clone();
        words.extend([("key", name.as_str().into()), ("all", true.into()), ("ignore_retcode", true.into())]);
        let wanted = Value::list(desired.iter().map(String::as_str));
        let old = match account.ask(context.ctx, "git.config_get", &words) {
            Ok(old) => old,
            // A state before this one may make the repository.
            Err(fault) if !is_global => {
                let would = Outcome::new(None, format!("'{name}' would be added as {shown}"));
                let would = would.with_changes(from_to(Value::Null, wanted));
                return Ok(stands(would, Outcome::failed(complaint(&fault))));
            }
            Err(fault) => return Err(fault),
        };
        if old == wanted {
            return Ok(already(format!("{global}'{name}' is already set to {shown}")));
        }
        let verb = if old.is_null() { "added as" } else { "set to" };
        let would = Outcome::new(None, format!("{global}'{name}' would be {verb} {shown}"))
            .with_changes(from_to(old.clone(), wanted.clone()));
        let value = (!self.value.is_null()).then(|| Value::from(self.value.to_text()));
        let multivar = (!self.multivar.is_null()).then(|| wanted.clone());
        let apply = move |ctx: &Ctx| {
            let lower = if is_global { "global key " } else { "" };
            let mut words = place;
            words.extend([("key", name.as_str().into()), ("value", value.into()), ("multivar", multivar.into())]);
            let new = match account.ask(ctx, "git.config_set", &words) {
                Ok(new) => new,
                Err(fault) => {
                    let text = complaint(&fault);
                    return Ok(Outcome::failed(format!("Failed to set {lower}'{name}' to {shown}: {text}")));
                }
            };
            let changes = single(&name, from_to(old, new.clone()));
            Ok(match new == wanted {
                true => Outcome::done(format!("{global}'{name}' was {verb} {shown}")).with_changes(changes),
                false => Outcome::failed(format!("Failed to set {lower}'{name}' to {shown}")).with_changes(changes),
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

record! {
    /// Makes sure that git does not have a setting.
    ///
    ///   foo.bar:
    ///     git.config_unset:
    ///       - value_regex: 'foo.+'
    ///       - global: True
    pub struct ConfigUnset {
        /// The setting, or a pattern for several.
        name: String,
        /// Only values that this pattern matches.
        value_regex: Option<String> = (),
        /// The checkout.
        repo: Value = (),
        /// The account that does it.
        user: Value = (),
        /// Taken, not used: for Windows.
        password: Value = (),
        /// The encoding of what git says.
        output_encoding: Value = (),
        /// `global`: it is one of the account; `all`: also where there are several values.
        kwargs: Keywords,
    }
}

impl State for ConfigUnset {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let more = &self.kwargs.0;
        if let Some(wrong) = unknown(more, &["global", "all"]) {
            return Ok(failed(wrong));
        }
        let all = more.at("all").is_some_and(Value::truthy);
        let (_, place) = match place(&self.repo, more) {
            Ok(found) => found,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let account = Account {
            user: self.user,
            password: self.password,
            output_encoding: self.output_encoding,
            ..Account::default()
        };
        let (name, regex) = (self.name, self.value_regex);
        let key = format!("^{}$", name.trim_start_matches('^').trim_end_matches('$'));
        let found = {
            let (account, place) = (account.clone(), place.clone());
            move |ctx: &Ctx, regex: Option<&String>| -> Result<Map, Fault> {
                let mut words = place.clone();
                words.extend([("key", key.as_str().into()), ("ignore_retcode", true.into())]);
                words.push(("value_regex", regex.map(String::as_str).map(Value::from).into()));
                let answer = account.ask(ctx, "git.config_get_regexp", &words)?;
                Ok(answer.as_map().cloned().unwrap_or_default())
            }
        };
        let matches = found(context.ctx, regex.as_ref())?;
        if matches.is_empty() {
            return Ok(already("No matching keys are set"));
        }
        let listed = |map: &Map, least: usize| {
            let entries = map.iter().filter_map(|(key, values)| Some((key.to_text(), values.as_list()?)));
            let entries = entries.filter(|(_, values)| values.len() >= least);
            let shown = entries.map(|(key, values)| {
                format!("{key} ({})", values.iter().map(Value::to_text).collect::<Vec<String>>().join(", "))
            });
            shown.collect::<Vec<String>>().join("; ")
        };
        let several = listed(&matches, 2);
        if !all && !several.is_empty() {
            let what = match regex.is_some() {
                true => "Multiple values are matched by value_regex for the following keys",
                false => "Multivar(s) matched by the key expression",
            };
            return Ok(failed(format!("{what} (set 'all' to True to force removal): {several}")));
        }
        let would = Outcome::new(None, format!("{} key(s) would have value(s) unset", matches.len()))
            .with_changes(matches.clone());
        let apply = move |ctx: &Ctx| {
            let before = found(ctx, None)?;
            let mut failures = Vec::new();
            for key in matches.keys().map(Value::to_text) {
                let mut words = place.clone();
                words.extend([("key", name.as_str().into()), ("all", all.into())]);
                words.push(("value_regex", regex.clone().into()));
                if let Err(fault) = account.ask(ctx, "git.config_unset", &words) {
                    log::error!("Failed to unset '{key}': {}", complaint(&fault));
                    failures.push(key);
                }
            }
            if !failures.is_empty() {
                return Ok(Outcome::failed(format!(
                    "Error(s) occurred unsetting values for the following keys (see the minion log for details): {}",
                    failures.join(", ")
                )));
            }
            let after = found(ctx, None)?;
            let mut changes = Map::new();
            for (key, values) in before.iter() {
                let now = after.at_value(key).and_then(Value::as_list).unwrap_or_default();
                let gone = values.as_list().unwrap_or_default().iter().filter(|value| !now.contains(value));
                let gone: Vec<Value> = gone.cloned().collect();
                if !gone.is_empty() {
                    changes.insert(key.clone(), Value::List(gone));
                }
            }
            let left = found(ctx, regex.as_ref())?;
            Ok(match left.is_empty() {
                true => Outcome::done("Value(s) successfully unset").with_changes(changes),
                false => {
                    Outcome::failed(format!("Failed to unset value(s): {}", listed(&left, 0))).with_changes(changes)
                }
            })
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}
