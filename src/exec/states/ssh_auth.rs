//! `ssh_auth.*`: keys that may log in.

mod key;

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, failed, given, single, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};
use key::Key;

pub const MODULE: Module = Module { name: "ssh_auth", doc: "Keys that may log in by SSH.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[state::<Absent>("absent"), state::<Manage>("manage"), state::<Present>("present")];

/// Whose keys, and where they stand.
#[derive(Clone)]
struct Place {
    user: String,
    config: String,
    fingerprint: Value,
}

impl Place {
    fn arguments(&self) -> Map {
        given([
            ("user", self.user.as_str().into()),
            ("config", self.config.as_str().into()),
            ("fingerprint_hash_type", self.fingerprint.clone()),
        ])
    }

    fn call(&self, ctx: &Ctx, function: &str, more: Map) -> Result<Value, Fault> {
        let mut arguments = self.arguments();
        arguments.extend(more);
        ctx.run(function, Arguments::keywords(arguments))
    }
}

record! {
    /// Makes sure that a key may log in.
    ///
    ///   AAAAB3NzaC1kc3MAAACBAL0sQ9fJ5bYTEyY==:
    ///     ssh_auth.present:
    ///       - user: root
    ///       - enc: ssh-dss
    pub struct Present {
        /// The key: alone, or as a whole line with its kind and a comment.
        name: String,
        /// The account.
        user: String,
        /// The kind of the key.
        enc: String = "ssh-rsa",
        /// A comment.
        comment: Option<String> = "",
        /// The address of a file with keys, in place of the name.
        source: Option<String> = "",
        /// Options before the key.
        options: Value = (),
        /// The file of the account; `%h` and `%u` are its home and its name.
        config: String = ".ssh/authorized_keys",
        /// The kind of hash that fingerprints have.
        fingerprint_hash_type: Value = (),
        kwargs: Keywords,
    }
}

impl Present {
    fn place(&self) -> Place {
        Place { user: self.user.clone(), config: self.config.clone(), fingerprint: self.fingerprint_hash_type.clone() }
    }

    fn key(&self) -> Key {
        let options: Vec<String> = match &self.options {
            Value::List(items) => items.iter().map(Value::to_text).collect(),
            _ => Vec::new(),
        };
        Key::read(&self.name, &self.enc, self.comment.as_deref().unwrap_or_default(), options)
    }
}

impl State for Present {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let place = self.place();
        if let Some(source) = self.source.clone().filter(|source| !source.is_empty()) {
            return from_file(context, place, source, self.name.clone(), self.options.clone());
        }
        let key = self.key();
        let (name, user) = (key.name.clone(), place.user.clone());
        let check = match place.call(ctx, "ssh.check_key", key.arguments()) {
            Ok(check) => check.to_text(),
            Err(fault) => return Ok(failed(fault.to_string())),
        };
        let would = match check.as_str() {
            "exists" => {
                let comment = format!("The authorized host key {name} is already present for user {user}");
                return Ok(halite_core::state::already(comment));
            }
            "update" => format!("Key {name} for user {user} is set to be updated"),
            _ => format!("Key {name} for user {user} is set to be added"),
        };
        let apply = move |ctx: &Ctx| {
            let answer = place.call(ctx, "ssh.set_auth_key", key.arguments());
            Ok(match answer {
                Ok(answer) => told(&answer.to_text(), &name, &user, ""),
                Err(fault) => Outcome::failed(fault.to_string()),
            })
        };
        Ok(Plan::Changes { would: Outcome::new(None, would), apply: Box::new(apply) })
    }
}

/// What is told of what a function answers.
fn told(answer: &str, name: &str, user: &str, source: &str) -> Outcome {
    let key = format!("The authorized host key {name}");
    match answer {
        "replace" => Outcome::done(format!("{key} for user {user} was updated")).with_changes(single(name, "Updated")),
        "no change" => Outcome::done(format!("{key} is already present for user {user}")),
        "new" => Outcome::done(format!("{key} for user {user} was added")).with_changes(single(name, "New")),
        "no key" => Outcome::failed(format!("Failed to add the ssh key. Source file {source} is missing")),
        "invalid" | "Invalid public key" => {
            Outcome::failed("Invalid public ssh key, most likely has spaces or invalid syntax")
        }
        _ => Outcome::failed(
            "Failed to add the ssh key. Is the home directory available, and/or does the key file exist?",
        ),
    }
}

/// All keys of a file.
fn from_file(context: &PlanContext, place: Place, source: String, name: String, options: Value) -> Result<Plan, Fault> {
    let of_file = |source: &str| given([("source", source.into()), ("saltenv", context.saltenv.into())]);
    let checked = match place.call(context.ctx, "ssh.check_key_file", of_file(&source)) {
        Ok(checked) => checked.as_map().cloned().unwrap_or_default(),
        Err(fault) => return Ok(failed(fault.to_string())),
    };
    let lines = checked.iter().filter(|(_, status)| status.as_str() != Some("exists"));
    let comment: String =
        lines.map(|(key, status)| format!("Set to {}: {}\n", status.to_text(), key.to_text())).collect();
    let would = match comment.is_empty() {
        true => Outcome::done(format!("All host keys in file {source} are already present")),
        false => Outcome::new(None, comment),
    };
    let arguments = of_file(&source);
    let apply = move |ctx: &Ctx| {
        let found = ctx.run(
            "cp.cache_file",
            Arguments::positional([source.as_str()]).with("saltenv", arguments.at("saltenv").cloned()),
        )?;
        if !found.truthy() {
            return Ok(told("no key", &name, &place.user, &source));
        }
        let mut arguments = arguments;
        arguments.extend(given([("options", options)]));
        Ok(match place.call(ctx, "ssh.set_auth_key_from_file", arguments) {
            Ok(answer) => told(&answer.to_text(), &name, &place.user, &source),
            Err(fault) => Outcome::failed(fault.to_string()),
        })
    };
    Ok(Plan::Changes { would, apply: Box::new(apply) })
}

record! {
    /// Makes sure that a key may not log in.
    ///
    ///   AAAAB3NzaC1kc3MAAACBAL0sQ9fJ5bYTEyY==:
    ///     ssh_auth.absent:
    ///       - user: root
    pub struct Absent {
        /// The key: alone, or as a whole line with its kind and a comment.
        name: String,
        /// The account.
        user: String,
        /// The kind of the key.
        enc: String = "ssh-rsa",
        /// A comment.
        comment: Option<String> = "",
        /// The address of a file with keys, in place of the name.
        source: Option<String> = "",
        /// Options before the key.
        options: Value = (),
        /// The file of the account.
        config: String = ".ssh/authorized_keys",
        /// The kind of hash that fingerprints have.
        fingerprint_hash_type: Value = (),
    }
}

impl State for Absent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let place = Place { user: self.user, config: self.config, fingerprint: self.fingerprint_hash_type };
        if let Some(source) = self.source.filter(|source| !source.is_empty()) {
            return without_file(context, place, source, self.name);
        }
        let key = Key::read(&self.name, &self.enc, self.comment.as_deref().unwrap_or_default(), Vec::new());
        let name = key.name.clone();
        let check = match place.call(context.ctx, "ssh.check_key", key.arguments()) {
            Ok(check) => check.to_text(),
            Err(fault) => return Ok(failed(fault.to_string())),
        };
        let would = match check.as_str() {
            "update" | "exists" => Outcome::new(None, format!("Key {name} for user {} is set for removal", place.user)),
            _ => Outcome::done("Key is already absent"),
        };
        let apply = move |ctx: &Ctx| place.remove(ctx, &name);
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

impl Place {
    fn remove(&self, ctx: &Ctx, name: &str) -> Result<Outcome, Fault> {
        let answer = self.call(ctx, "ssh.rm_auth_key", given([("key", name.into())]))?.to_text();
        Ok(removed(answer, name))
    }
}

fn removed(answer: String, name: &str) -> Outcome {
    match answer.as_str() {
        "User authorized keys file not present" => Outcome::failed(answer),
        "Key removed" => Outcome::done(answer).with_changes(single(name, "Removed")),
        _ => Outcome::done(answer),
    }
}

fn without_file(context: &PlanContext, place: Place, source: String, name: String) -> Result<Plan, Fault> {
    let arguments = given([("source", source.as_str().into()), ("saltenv", context.saltenv.into())]);
    let checked = match place.call(context.ctx, "ssh.check_key_file", arguments.clone()) {
        Ok(checked) => checked.as_map().cloned().unwrap_or_default(),
        Err(fault) => return Ok(failed(fault.to_string())),
    };
    let there = checked.iter().filter(|(_, status)| status.as_str() != Some("add"));
    let comment: String = there.map(|(key, _)| format!("Set to remove: {}\n", key.to_text())).collect();
    let would = match comment.is_empty() {
        true => Outcome::done(format!("All host keys in file {source} are already absent")),
        false => Outcome::new(None, comment),
    };
    let apply = move |ctx: &Ctx| {
        let answer = place.call(ctx, "ssh.rm_auth_key_from_file", arguments)?.to_text();
        Ok(removed(answer, &name))
    };
    Ok(Plan::Changes { would, apply: Box::new(apply) })
}

record! {
    /// Makes sure that these keys may log in, and no others.
    ///
    ///   manage keys:
    ///     ssh_auth.manage:
    ///       - user: root
    ///       - ssh_keys:
    ///         - AAAAB3NzaC1kc3MAAACBAL0sQ9fJ5bYTEyY==
    pub struct Manage {
        /// Any text.
        name: String,
        /// The keys: each alone, or as a whole line.
        ssh_keys: Vec<String>,
        /// The account.
        user: String,
        /// The kind of those that do not say it.
        enc: String = "ssh-rsa",
        /// A comment for those that have none.
        comment: Option<String> = "",
        /// Taken, not used.
        source: Option<String> = "",
        /// Options before the keys.
        options: Value = (),
        /// The file of the account.
        config: String = ".ssh/authorized_keys",
        /// The kind of hash that fingerprints have.
        fingerprint_hash_type: Value = (),
        kwargs: Keywords,
    }
}

impl State for Manage {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let place = Place {
            user: self.user.clone(),
            config: self.config.clone(),
            fingerprint: self.fingerprint_hash_type.clone(),
        };
        let own = match place.call(context.ctx, "ssh.auth_keys", Map::new()) {
            Ok(own) => own.as_map().cloned().unwrap_or_default(),
            Err(fault) => return Ok(failed(fault.to_string())),
        };
        let words: Vec<&str> = self.ssh_keys.iter().flat_map(|key| key.split(' ')).collect();
        let others: Vec<String> = own.keys().map(Value::to_text).filter(|key| !words.contains(&key.as_str())).collect();
        let mut would = Outcome::done("");
        if let Some(other) = others.last() {
            would = Outcome::new(None, format!("{other} Key set for removal"));
        }
        let mut plans = Vec::new();
        for key in &self.ssh_keys {
            let present = Present {
                name: key.clone(),
                user: self.user.clone(),
                enc: self.enc.clone(),
                comment: self.comment.clone(),
                source: None,
                options: self.options.clone(),
                config: self.config.clone(),
                fingerprint_hash_type: self.fingerprint_hash_type.clone(),
                kwargs: Keywords::default(),
            };
            let plan = present.planned(context)?;
            let outcome = match &plan {
                Plan::Stands(outcome) => outcome,
                Plan::Changes { would, .. } => would,
            };
            add(&mut would, outcome.clone());
            plans.push(plan);
        }
        let apply = move |ctx: &Ctx| {
            let mut outcome = Outcome::done("");
            for other in others {
                let comment = place.remove(ctx, &other)?.comment;
                outcome.changes.insert(other, comment);
            }
            for plan in plans {
                let one = match plan {
                    Plan::Stands(outcome) => outcome,
                    Plan::Changes { apply, .. } => apply(ctx)?,
                };
                add(&mut outcome, one);
            }
            Ok(outcome.with("name", ""))
        };
        Ok(Plan::Changes { would: would.with("name", ""), apply: Box::new(apply) })
    }
}

/// Adds what is told of one key to what is told of all.
fn add(all: &mut Outcome, one: Outcome) {
    match one.changes.is_empty() {
        false => all.changes.extend(one.changes),
        true => all.comment = format!("{}\n{}", all.comment, one.comment).trim().to_owned(),
    }
    match one.result {
        None => all.result = None,
        Some(false) => all.result = Some(false),
        Some(true) => {}
    }
}
