//! `file.serialize`.

use super::check_cmd::{Check, checked};
use super::target::{Seen, above};
use super::{absolute, mode, own_name, single};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, failed, stands};
use halite_core::{Ctx, Fault, paths};
use halite_file::content::Body;
use halite_file::desired::Desired;
use halite_file::owner::Owner;
use halite_lang::merge::{Lists, update};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};
use std::path::Path;

record! {
    /// Makes sure that a file has some data in it, as YAML, JSON, TOML, msgpack or for Python's configparser.
    ///
    ///   /etc/dummy/package.json:
    ///     file.serialize:
    ///       - dataset:
    ///           name: naive
    ///           description: A package using naive versioning
    ///       - serializer: json
    pub struct Serialize {
        /// The path.
        name: String,
        /// The data.
        dataset: Value = (),
        /// The path in the pillar where the data is.
        dataset_pillar: Option<String> = (),
        /// The owner.
        user: Value = (),
        /// The group.
        group: Value = (),
        /// The mode, octal and quoted.
        mode: Value = (),
        /// `minion`: a copy of what is replaced is kept in the cache.
        backup: Option<String> = "",
        /// Make the directories above that are missing.
        makedirs: bool = false,
        /// Whether the difference is shown.
        show_changes: bool = true,
        /// Whether a file that is missing is made.
        create: bool = true,
        /// Add the data to what is there.
        merge_if_exists: bool = false,
        /// The encoding of the file.
        encoding: Option<String> = (),
        /// What is done about what this encoding does not have.
        encoding_errors: String = "strict",
        /// How: yaml, json, toml, msgpack, configparser.
        serializer: Value = (),
        /// Options of it, such as `indent`.
        serializer_opts: Value = (),
        /// Options for reading what is there.
        deserializer_opts: Value = (),
        /// A command that says whether the content is right, before it is put in place.
        check_cmd: Option<String> = (),
        /// The directory for the file that it sees.
        tmp_dir: Option<String> = (),
        /// The end of that file's name.
        tmp_ext: Option<String> = "",
        kwargs: Keywords,
    }
}

impl State for Serialize {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = own_name(ctx, &self.name);
        if name.is_empty() {
            return Ok(failed("Must provide name to file.serialize"));
        }
        if !self.create && !paths::is_file(ctx.host, &name) {
            return Ok(already(format!("File {name} is not present and is not set for creation")));
        }
        let formatter = self.kwargs.0.at("formatter").cloned().unwrap_or_default();
        if self.serializer.truthy() && formatter.truthy() {
            return Ok(failed("Only one of serializer and formatter are allowed"));
        }
        let chosen = if self.serializer.truthy() { &self.serializer } else { &formatter };
        let serializer = if chosen.truthy() { chosen.to_text().to_lowercase() } else { "yaml".to_owned() };
        let data = match (&self.dataset_pillar, self.dataset.truthy()) {
            (Some(path), true) if !path.is_empty() => {
                return Ok(failed("Only one of 'dataset' and 'dataset_pillar' is permitted"));
            }
            (Some(path), _) if !path.is_empty() => {
                // Without anything there it is an empty text, as `pillar.get` answers.
                Value::Map(ctx.pillar.clone()).traverse(path, ":").cloned().unwrap_or_else(|| "".into())
            }
            _ if self.dataset.is_null() => return Ok(failed("Neither 'dataset' nor 'dataset_pillar' was defined")),
            _ => self.dataset.clone(),
        };
        let own_mode = match mode(&self.mode) {
            Ok(mode) => mode,
            Err(wrong) => return Ok(failed(wrong)),
        };
        if let Err(wrong) = absolute(&name, "serialize") {
            return Ok(failed(wrong));
        }
        let merged = match self.merged(ctx, &name, &serializer, data)? {
            Ok(merged) => merged,
            Err(outcome) => return Ok(Plan::Stands(outcome)),
        };
        let text = match self.written(ctx, &serializer, &merged.data) {
            Ok(text) => text,
            Err(wrong) => return Ok(failed(wrong)),
        };
        let owner = Owner::new(ctx, &self.user, &self.group, own_mode);
        let missing = owner.missing();
        let desired = Desired {
            name: name.clone(),
            body: Some(Body::Bytes(text)),
            above: self.makedirs.then(|| above(&owner, None)),
            owner,
            keeps_backup: super::keeps_backup(ctx, self.backup.as_deref()),
            shows_changes: self.show_changes,
            ..Desired::default()
        };
        let seen = Seen::of(&desired, ctx)?;
        let unused = self.deserializer_opts.truthy() && !self.merge_if_exists;
        let mark = move |outcome: Outcome| {
            let outcome = match &merged.difference {
                Some(difference) => {
                    let mut changes = outcome.changes.clone();
                    changes.insert("diff", difference.clone());
                    outcome.with_changes(changes)
                }
                None => outcome,
            };
            const UNUSED: &str = "The 'deserializer_opts' option is ignored unless merge_if_exists is set to True.";
            if unused { outcome.with("warnings", Value::list([UNUSED])) } else { outcome }
        };
        let would = match seen.changes.is_empty() {
            true => Outcome::done(format!("The file {name} is in the correct state")),
            false => Outcome::new(None, format!("Dataset will be serialized and stored into {name}"))
                .with_changes(seen.changes.clone()),
        };
        let would = mark(would);
        if let Some(missing) = missing {
            return Ok(stands(would, Outcome::failed(missing)));
        }
        let check = self.check_cmd.clone().filter(|command| !command.is_empty() && !seen.changes.is_empty());
        let check = check.map(|command| Check {
            command,
            directory: self.tmp_dir.clone(),
            ending: self.tmp_ext.clone().unwrap_or_default(),
        });
        let apply = move |ctx: &Ctx| match checked(ctx, &desired, check)? {
            Some(complaint) => Ok(complaint),
            None => seen.make(ctx, &desired).map(mark),
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

/// The data that the file is to have.
struct Merged {
    data: Value,
    /// What is new in it, where it was added to what is there.
    difference: Option<Value>,
}

impl Serialize {
    /// The data, with what is there already where that is wished. An outcome: nothing is to be done, or cannot be.
    fn merged(&self, ctx: &Ctx, name: &str, serializer: &str, data: Value) -> Result<Result<Merged, Outcome>, Fault> {
        if !self.merge_if_exists || !paths::is_file(ctx.host, name) {
            return Ok(Ok(Merged { data, difference: None }));
        }
        let bytes = ctx.host.read(Path::new(name)).map_err(|error| super::fault(name, &error))?;
        let text = String::from_utf8(bytes).map_or_else(|error| Value::Bytes(error.into_bytes()), Value::from);
        let arguments = Arguments::positional([Value::from(serializer), text]);
        let old = match ctx.run("slsutil.deserialize", arguments) {
            Ok(old) => old,
            Err(fault) => return Ok(Err(Outcome::failed(format!("Failed to deserialize existing data: {fault}")))),
        };
        let (Value::Map(old), Value::Map(new)) = (&old, &data) else {
            return Ok(Ok(Merged { data: if old.is_null() { data } else { old }, difference: None }));
        };
        let mut all = old.clone();
        update(&mut all, new.clone(), Lists::Replace);
        if all == *old {
            return Ok(Err(Outcome::done(format!("The file {name} is in the correct state"))));
        }
        Ok(Ok(Merged { difference: Some(difference(old, &all).into()), data: all.into() }))
    }

    fn written(&self, ctx: &Ctx, serializer: &str, data: &Value) -> Result<Vec<u8>, String> {
        let mut options = match serializer {
            "json" => Map::from_iter([
                ("indent", Value::from(2)),
                ("separators", Value::list([",", ": "])),
                ("sort_keys", true.into()),
            ]),
            "yaml" => single("default_flow_style", false),
            _ => Map::new(),
        };
        if self.encoding.as_deref().is_some_and(|encoding| !encoding.is_empty()) {
            options.insert("ensure_ascii", false);
            options.insert("allow_unicode", true);
        }
        match &self.serializer_opts {
            Value::Map(map) => options.extend(map.clone()),
            Value::List(items) => items.iter().filter_map(Value::as_map).for_each(|map| options.extend(map.clone())),
            _ => {}
        }
        let arguments = Arguments { positional: vec![serializer.into(), data.clone()], keywords: options };
        let text = ctx.run("slsutil.serialize", arguments).map_err(|fault| match fault.to_string() {
            text if text.ends_with("not found.") => format!(
                "The {serializer} serializer could not be found. It either does not exist or its prerequisites are not \
                 installed."
            ),
            text => text,
        })?;
        match text {
            // Bytes are whole as they are.
            Value::Bytes(bytes) => Ok(bytes.to_vec()),
            text => super::encoded(text.to_text() + "\n", self.encoding.as_deref(), &self.encoding_errors),
        }
    }
}

/// What is new in a map, on every level: each value with what was there before.
fn difference(old: &Map, new: &Map) -> Map {
    let mut changes = Map::new();
    for (key, value) in new.iter() {
        match (old.at_value(key), value) {
            (Some(had), value) if had == value => {}
            (Some(Value::Map(had)), Value::Map(value)) => {
                changes.insert(key.clone(), difference(had, value));
            }
            (had, value) => {
                let had = had.cloned().unwrap_or_else(|| "<_null_>".into());
                changes.insert(key.clone(), Map::from_iter([("new", value.clone()), ("old", had)]));
            }
        }
    }
    changes
}
