//! The reference in Markdown: every option of the configuration, every function, every runner.

use super::Made;
use crate::config::Role;
use crate::config::option::{Effect, Opt};
use halite_run::{modules, runners};
use halite_value::Value;
use halite_value::record::{Field, Info, Kind};

pub(super) fn documents() -> Vec<Made> {
    let modules = modules::FUNCTIONS.modules().into_iter().map(|module| {
        let functions = module.functions.iter().map(|function| (function.name, function.info)).collect();
        (module.name, module.doc, functions)
    });
    let runners = runners::RUNNERS.iter().map(|module| {
        let functions = module.functions.iter().map(|function| (function.name, function.info)).collect();
        (module.name, module.doc, functions)
    });
    let of_minions = "What `salt TARGET FUNCTION` and `salt-call FUNCTION` can call.";
    let of_master = "What `salt-run FUNCTION` can call.";
    vec![
        Made { path: "options.md".to_owned(), text: options() },
        Made { path: "functions.md".to_owned(), text: functions("Functions", of_minions, modules.collect()) },
        Made { path: "runners.md".to_owned(), text: functions("Runners", of_master, runners.collect()) },
    ]
}

const MADE: &str = "<!-- Made by: halite generate reference -->\n";

/// One option by its name: of the master, of the minion, or of both.
struct Row {
    title: &'static str,
    master: Option<&'static Opt>,
    minion: Option<&'static Opt>,
}

impl Row {
    /// Where both have it, they say the same of it.
    fn option(&self) -> Option<&'static Opt> {
        self.master.or(self.minion)
    }

    fn files(&self) -> &'static str {
        match (self.master, self.minion) {
            (Some(_), Some(_)) => "both",
            (Some(_), None) => "master",
            _ => "minion",
        }
    }

    fn default(&self) -> String {
        let default = |option: &Opt| shown(&option.default_value());
        match (self.master, self.minion) {
            (Some(master), Some(minion)) if default(master) != default(minion) => {
                format!("master {}, minion {}", default(master), default(minion))
            }
            (master, minion) => master.or(minion).map(default).unwrap_or_default(),
        }
    }
}

fn options() -> String {
    let rows = rows();
    let mut out = format!(
        "# Options\n\n{MADE}\nEvery option that `/etc/salt/master` and `/etc/salt/minion` may hold. One that is in no \
         table here is kept, and\n`config.get` shows it.\n"
    );
    let mut titles: Vec<&str> = Vec::new();
    rows.iter().for_each(|row| {
        if !titles.contains(&row.title) {
            titles.push(row.title)
        }
    });
    for title in titles {
        let acting: Vec<(&Row, &Opt)> = rows
            .iter()
            .filter(|row| row.title == title)
            .filter_map(|row| row.option().filter(|option| option.effect == Effect::Acts).map(|option| (row, option)))
            .collect();
        if acting.is_empty() {
            continue;
        }
        out.push_str(&format!("\n## {title}\n\n| option | file | default | |\n|---|---|---|---|\n"));
        for (row, option) in acting {
            let doc = cell(option.doc);
            out.push_str(&format!("| `{}` | {} | {} | {doc} |\n", option.name, row.files(), row.default()));
        }
    }
    let table = |effect: fn(Effect) -> Option<&'static str>| {
        let row = |row: &Row| {
            let option = row.option()?;
            Some(format!("| `{}` | {} | {} |\n", option.name, row.files(), cell(effect(option.effect)?)))
        };
        let mut lines: Vec<String> = rows.iter().filter_map(row).collect();
        lines.sort();
        lines.concat()
    };
    let awaiting = table(|effect| if let Effect::Awaits(feature) = effect { Some(feature) } else { None });
    let without = table(|effect| if let Effect::None(reason) = effect { Some(reason) } else { None });
    out.push_str(&format!(
        "\n## Waiting for what is to come\n\nThese are known, checked by nobody, and shown by `config.get`; they act in a \
         version that has what they belong to. A\ndaemon names those that are set, at its start.\n\n\
         | option | file | belongs to |\n|---|---|---|\n{awaiting}"
    ));
    out.push_str(&format!(
        "\n## Accepted without effect\n\nSalt's files work as they are: these are known, checked by nobody, and shown by \
         `config.get`; nothing follows from\nthem. A daemon names those that are set, at its start.\n\n\
         | option | file | why nothing follows |\n|---|---|---|\n{without}"
    ));
    out
}

/// All options in the order of the sample files.
fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for role in [Role::Master, Role::Minion] {
        for section in role.sections() {
            for option in section.options {
                let known = rows.iter_mut().find(|row| row.option().is_some_and(|other| other.name == option.name));
                match (known, role) {
                    (Some(row), Role::Minion) => row.minion = Some(option),
                    (Some(row), Role::Master) => row.master = Some(option),
                    (None, Role::Master) => {
                        rows.push(Row { title: section.title, master: Some(option), minion: None });
                    }
                    (None, Role::Minion) => {
                        rows.push(Row { title: section.title, master: None, minion: Some(option) });
                    }
                }
            }
        }
    }
    rows
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "unset".to_owned(),
        Value::Str(text) if text.is_empty() => "empty".to_owned(),
        Value::Str(text) => format!("`{}`", cell(text)),
        other => format!("`{}`", cell(&other.repr())),
    }
}

/// What a table takes.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

type Group = (&'static str, &'static str, Vec<(&'static str, &'static Info)>);

fn functions(title: &str, about: &str, modules: Vec<Group>) -> String {
    let mut out = format!("# {title}\n\n{MADE}\n{about}\n");
    for (module, doc, functions) in modules {
        out.push_str(&format!("\n## {module}\n\n{doc}\n"));
        for (name, info) in functions {
            let signature: Vec<String> = info.fields.iter().map(argument).collect();
            out.push_str(&format!("\n### {module}.{name}\n\n`{module}.{name}({})`\n\n", signature.join(", ")));
            out.push_str(&paragraphs(info.doc));
            let documented: Vec<&Field> = info.fields.iter().filter(|field| !field.doc.is_empty()).collect();
            for (at, field) in documented.iter().enumerate() {
                out.push_str(if at == 0 { "\n" } else { "" });
                let words: Vec<&str> = field.doc.iter().flat_map(|line| line.split_whitespace()).collect();
                out.push_str(&format!("- `{}`: {}\n", field.name(), words.join(" ")));
            }
        }
    }
    out
}

fn argument(field: &Field) -> String {
    match (field.kind, field.default) {
        (Kind::Rest, _) => format!("*{}", field.name()),
        (Kind::Keywords, _) => format!("**{}", field.name()),
        (_, Some(default)) => format!("{}={}", field.name(), default().repr()),
        (_, None) => field.name().to_owned(),
    }
}

/// A doc comment: what is indented in it is code, which Markdown wants further in.
fn paragraphs(doc: &[&str]) -> String {
    let lines = doc.iter().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    let lines = lines.map(|line| if line.starts_with("  ") { format!("  {line}\n") } else { format!("{line}\n") });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_and_function_is_in_the_reference() {
        let options = options();
        for option in Role::Master.options().chain(Role::Minion.options()) {
            let row = options.lines().filter(|line| line.starts_with(&format!("| `{}` |", option.name))).count();
            assert_eq!(row, 1, "{}", option.name);
            if let Effect::None(reason) = option.effect {
                assert!(options.contains(&cell(reason)), "{}", option.name);
            }
        }
        let documents = documents();
        for name in modules::names() {
            assert!(documents[1].text.contains(&format!("\n### {name}\n")), "{name}");
        }
        for name in runners::names() {
            assert!(documents[2].text.contains(&format!("\n### {name}\n")), "{name}");
        }
    }
}
