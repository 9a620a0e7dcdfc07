//! `ini.*`: settings in files of sections.

use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, given, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

pub const MODULE: Module = Module { name: "ini", doc: "Settings in files of sections.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    state::<OptionsAbsent>("options_absent"),
    state::<OptionsPresent>("options_present"),
    state::<SectionsAbsent>("sections_absent"),
    state::<SectionsPresent>("sections_present"),
];

const NOTHING: &str = "No anomaly detected";
const CHANGED: &str = "Changes take effect";

/// A file and how it is read.
struct File {
    name: String,
    separator: String,
    encoding: Option<String>,
}

impl File {
    fn arguments(&self) -> Map {
        given([
            ("file_name", self.name.as_str().into()),
            ("separator", self.separator.as_str().into()),
            ("encoding", self.encoding.clone().into()),
        ])
    }

    fn call(&self, ctx: &Ctx, function: &str, more: &[(&str, Value)]) -> Result<Value, Fault> {
        let arguments =
            more.iter().fold(Arguments::keywords(self.arguments()), |all, (name, value)| all.with(name, value.clone()));
        ctx.run(function, arguments)
    }

    fn read(&self, ctx: &Ctx) -> Result<Map, Fault> {
        Ok(self.call(ctx, "ini.get_ini", &[])?.as_map().cloned().unwrap_or_default())
    }
}

record! {
    /// Makes sure that a file has settings.
    ///
    ///   /home/saltminion/api-paste.ini:
    ///     ini.options_present:
    ///       - separator: '='
    ///       - strict: True
    ///       - sections:
    ///           test:
    ///             testkey: 'testval'
    ///           toplevelkey: 'value'
    pub struct OptionsPresent {
        /// The file.
        name: String,
        /// Sections with their settings; a value beside them is a setting above all sections.
        sections: Map = Value::Map(Map::new()),
        /// What stands between a name and its value.
        separator: String = "=",
        /// Remove the other settings of these sections, and the other sections.
        strict: bool = false,
        /// The encoding of the file.
        encoding: Option<String> = (),
        /// Whether there are no blanks around the separator.
        no_spaces: bool = false,
    }
}

/// What is to be done, in order.
enum Step {
    Set(Value),
    RemoveOption(Option<String>, String),
    RemoveSection(String),
}

impl State for OptionsPresent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let file = File { name: self.name.clone(), separator: self.separator.clone(), encoding: self.encoding.clone() };
        let own = match file.read(context.ctx) {
            Ok(own) => own,
            Err(fault) => return Ok(halite_core::state::failed(fault.to_string())),
        };
        let mut comment = String::new();
        let mut steps = Vec::new();
        let mut changes = false;
        let mut top = Map::new();
        for (name, value) in self.sections.iter().filter(|(_, value)| value.as_map().is_none()) {
            let same = own.at_value(name).is_some_and(|own| own.to_text() == value.to_text());
            comment.push_str(&format!("{} key {}.\n", if same { "Unchanged" } else { "Changed" }, name.to_text()));
            changes |= !same;
            top.insert(name.clone(), value.clone());
        }
        steps.push(Step::Set(top.clone().into()));
        if self.strict {
            for (name, value) in own.iter() {
                let text = name.to_text();
                match value.as_map() {
                    None if !top.contains_value(name) => {
                        comment.push_str(&format!("Removed key {text}.\n"));
                        steps.push(Step::RemoveOption(None, text));
                        changes = true;
                    }
                    Some(_) if self.sections.at_value(name).is_none_or(|body| body.as_map().is_none()) => {
                        comment.push_str(&format!("Removed section {text}.\n"));
                        steps.push(Step::RemoveSection(text));
                        changes = true;
                    }
                    _ => {}
                }
            }
        }
        for (section, body) in self.sections.iter().filter_map(|(name, body)| Some((name, body.as_map()?))) {
            let section_name = section.to_text();
            let place = if section_name.is_empty() { String::new() } else { format!(" in section {section_name}") };
            let own = own.at_value(section).and_then(Value::as_map).cloned().unwrap_or_default();
            if self.strict {
                for name in own.keys().filter(|name| !body.contains_value(name)).map(Value::to_text) {
                    comment.push_str(&format!("Deleted key {name}{place}.\n"));
                    steps.push(Step::RemoveOption(Some(section_name.clone()), name));
                    changes = true;
                }
            }
            for (name, value) in body.iter() {
                let same = own.at_value(name).is_some_and(|own| own.to_text() == value.to_text());
                let word = if same { "Unchanged" } else { "Changed" };
                comment.push_str(&format!("{word} key {}{place}.\n", name.to_text()));
                changes |= !same;
            }
            steps.push(Step::Set(Map::from_iter([(section.clone(), Value::from(body.clone()))]).into()));
        }
        if !changes {
            return Ok(halite_core::state::stands(Outcome::done(comment), Outcome::done(NOTHING)));
        }
        let apply = move |ctx: &Ctx| self.change(ctx, &file, own, steps);
        Ok(Plan::Changes { would: Outcome::new(None, comment), apply: Box::new(apply) })
    }
}

impl OptionsPresent {
    fn change(&self, ctx: &Ctx, file: &File, own: Map, steps: Vec<Step>) -> Result<Outcome, Fault> {
        let mut changes = Map::new();
        let before = |section: Option<&str>, name: &str| match section {
            None => own.at(name).cloned().unwrap_or_default(),
            Some(section) => own.at(section).and_then(|section| section.at(name)).cloned().unwrap_or_default(),
        };
        let gone = |old: Value| Value::from(Map::from_iter([("before", old), ("after", Value::Null)]));
        for step in steps {
            match step {
                Step::Set(sections) => {
                    let no_spaces = ("no_spaces", self.no_spaces.into());
                    let done = file.call(ctx, "ini.set_option", &[("sections", sections), no_spaces])?;
                    for (name, value) in
                        done.as_map().into_iter().flat_map(Map::iter).filter(|(_, value)| value.truthy())
                    {
                        merge(&mut changes, name, value.clone());
                    }
                }
                Step::RemoveOption(section, name) => {
                    let arguments = [("section", section.clone().into()), ("option", name.as_str().into())];
                    file.call(ctx, "ini.remove_option", &arguments)?;
                    let change = gone(before(section.as_deref(), &name));
                    match section {
                        None => drop(changes.insert(name, change)),
                        Some(section) => {
                            merge(&mut changes, &section.into(), Map::from_iter([(name, change)]).into());
                        }
                    }
                }
                Step::RemoveSection(name) => {
                    file.call(ctx, "ini.remove_section", &[("section", name.as_str().into())])?;
                    changes.insert(name.as_str(), gone(own.at(&name).cloned().unwrap_or_default()));
                }
            }
        }
        let comment = if changes.is_empty() { NOTHING } else { CHANGED };
        Ok(Outcome::done(comment).with_changes(changes))
    }
}

/// Adds what has changed in a section to what is known of it.
fn merge(changes: &mut Map, name: &Value, value: Value) {
    match (changes.at_value_mut(name), value) {
        (Some(Value::Map(own)), Value::Map(more)) => own.extend(more),
        (_, value) => drop(changes.insert(name.clone(), value)),
    }
}

record! {
    /// Makes sure that a file does not have settings.
    ///
    ///   /home/saltminion/api-paste.ini:
    ///     ini.options_absent:
    ///       - sections:
    ///           test:
    ///             - testkey
    pub struct OptionsAbsent {
        /// The file.
        name: String,
        /// Sections with the names of their settings; a name beside them is one above all sections.
        sections: Map = Value::Map(Map::new()),
        /// What stands between a name and its value.
        separator: String = "=",
        /// The encoding of the file.
        encoding: Option<String> = (),
    }
}

impl State for OptionsAbsent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let file = File { name: self.name, separator: self.separator, encoding: self.encoding };
        let mut comment = String::new();
        let mut found = Vec::new();
        let own = match file.read(context.ctx) {
            Ok(own) => own,
            Err(fault) => return Ok(halite_core::state::failed(fault.to_string())),
        };
        for (section, names) in self.sections.iter() {
            let section_name = section.to_text();
            let place = if section_name.is_empty() { String::new() } else { format!(" in section {section_name}") };
            let Some(names) = names.as_list() else {
                match own.at_value(section).is_some_and(|value| value.as_map().is_none()) {
                    true => {
                        comment.push_str(&format!("Deleted key {section_name}.\n"));
                        found.push((None, section_name));
                    }
                    false => comment.push_str(&format!("Key {section_name} does not exist.\n")),
                }
                continue;
            };
            for name in names.iter().map(Value::to_text) {
                let is_there = own.at_value(section).and_then(|own| own.at(&name)).is_some_and(Value::truthy);
                match is_there {
                    true => {
                        comment.push_str(&format!("Deleted key {name}{place}.\n"));
                        found.push((Some(section_name.clone()), name));
                    }
                    false => comment.push_str(&format!("Key {name}{place} does not exist.\n")),
                }
            }
        }
        if comment.is_empty() {
            comment = "No changes detected.".to_owned();
        }
        if found.is_empty() {
            return Ok(halite_core::state::stands(Outcome::done(comment), Outcome::done(NOTHING)));
        }
        let apply = move |ctx: &Ctx| {
            let mut changes = Map::new();
            for (section, name) in found {
                let arguments = [("section", section.clone().into()), ("option", name.as_str().into())];
                let old = file.call(ctx, "ini.remove_option", &arguments)?;
                match section {
                    None => drop(changes.insert(name, old)),
                    Some(section) => merge(&mut changes, &section.into(), Map::from_iter([(name, old)]).into()),
                }
            }
            Ok(Outcome::done(CHANGED).with_changes(changes))
        };
        Ok(Plan::Changes { would: Outcome::new(None, comment), apply: Box::new(apply) })
    }
}

record! {
    /// Makes sure that a file has sections.
    ///
    ///   /home/saltminion/api-paste.ini:
    ///     ini.sections_present:
    ///       - sections:
    ///         - section_one
    ///         - section_two
    pub struct SectionsPresent {
        /// The file.
        name: String,
        /// Their names.
        sections: Value = (),
        /// What stands between a name and its value.
        separator: String = "=",
        /// The encoding of the file.
        encoding: Option<String> = (),
    }
}

fn names(sections: &Value) -> Vec<String> {
    match sections {
        Value::Map(map) => map.keys().map(Value::to_text).collect(),
        Value::List(items) => items.iter().map(Value::to_text).collect(),
        _ => Vec::new(),
    }
}

impl State for SectionsPresent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let file = File { name: self.name, separator: self.separator, encoding: self.encoding };
        let own = match file.read(context.ctx) {
            Ok(own) => own,
            Err(fault) => return Ok(halite_core::state::failed(fault.to_string())),
        };
        let (there, missing): (Vec<String>, Vec<String>) =
            names(&self.sections).into_iter().partition(|name| own.contains(name));
        let mut comment: String = there.iter().map(|name| format!("Section unchanged {name}.\n")).collect();
        comment.extend(missing.iter().map(|name| format!("Created new section {name}.\n")));
        if comment.is_empty() {
            comment = "No changes detected.".to_owned();
        }
        if missing.is_empty() {
            return Ok(halite_core::state::stands(Outcome::done(comment), Outcome::done(NOTHING)));
        }
        let apply = move |ctx: &Ctx| {
            let empty = || Value::from(Map::new());
            let sections = Map::from_iter(missing.iter().map(|name| (name.as_str(), empty())));
            file.call(ctx, "ini.set_option", &[("sections", sections.clone().into())])?;
            Ok(Outcome::done(CHANGED).with_changes(sections))
        };
        Ok(Plan::Changes { would: Outcome::new(None, comment), apply: Box::new(apply) })
    }
}

record! {
    /// Makes sure that a file does not have sections.
    ///
    ///   /home/saltminion/api-paste.ini:
    ///     ini.sections_absent:
    ///       - sections:
    ///         - test
    pub struct SectionsAbsent {
        /// The file.
        name: String,
        /// Their names.
        sections: Value = (),
        /// What stands between a name and its value.
        separator: String = "=",
        /// The encoding of the file.
        encoding: Option<String> = (),
    }
}

impl State for SectionsAbsent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let file = File { name: self.name, separator: self.separator, encoding: self.encoding };
        let own = match file.read(context.ctx) {
            Ok(own) => own,
            Err(fault) => return Ok(halite_core::state::failed(fault.to_string())),
        };
        let wanted = names(&self.sections);
        let said = |name: &String| match own.contains(name) {
            true => format!("Deleted section {name}.\n"),
            false => format!("Section {name} does not exist.\n"),
        };
        let mut comment: String = wanted.iter().map(said).collect();
        let there: Vec<String> = wanted.into_iter().filter(|name| own.contains(name)).collect();
        if comment.is_empty() {
            comment = "No changes detected.".to_owned();
        }
        if there.is_empty() {
            return Ok(halite_core::state::stands(Outcome::done(comment), Outcome::done(NOTHING)));
        }
        let apply = move |ctx: &Ctx| {
            let mut changes = Map::new();
            for name in there {
                let old = file.call(ctx, "ini.remove_section", &[("section", name.as_str().into())])?;
                if old.truthy() {
                    changes.insert(name, old);
                }
            }
            match changes.is_empty() {
                true => Ok(Outcome::done(NOTHING)),
                false => Ok(Outcome::done(CHANGED).with_changes(changes)),
            }
        };
        Ok(Plan::Changes { would: Outcome::new(None, comment), apply: Box::new(apply) })
    }
}
