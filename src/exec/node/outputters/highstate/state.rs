//! One state of a run: as a block of lines, or on one line.

use super::super::color::Color;
use super::super::{Style, harmless, nested};
use super::compress::{PREFIX, TOGETHER};
use super::{minion, run};
use halite_value::{Map, Value};

/// A state as the run reports it: its tag `module_|-id_|-name_|-function`, and what became of it.
pub struct State<'a> {
    module: &'a str,
    id: &'a str,
    name: &'a str,
    function: &'a str,
    pub report: &'a Map,
}

/// A state as text.
pub struct Shown {
    pub text: String,
    /// The colour that it gives to the minion's name.
    pub host: Option<Color>,
    /// Its warnings stand in it in full, and count.
    pub warned: bool,
}

/// Where comments and changes begin.
const COLUMN: usize = 14;

impl<'a> State<'a> {
    /// Nothing, where the entry is no state.
    pub fn of(tag: &'a Value, report: &'a Value) -> Option<State<'a>> {
        let report = report.as_map().filter(|report| report.contains("result"))?;
        let mut parts = tag.as_str().unwrap_or_default().split("_|-");
        let module = parts.next().unwrap_or_default();
        let id = parts.next().unwrap_or_default();
        let name = parts.next().unwrap_or_default();
        let function = parts.last().unwrap_or_default();
        Some(State { module, id, name, function, report })
    }

    pub fn number(&self) -> i64 {
        self.report.at("__run_num__").and_then(Value::as_int).unwrap_or(0)
    }

    pub fn result(&self) -> Option<bool> {
        self.report.at("result").and_then(Value::as_bool)
    }

    /// How many states it stands for; more than one with `state_compress_ids`.
    pub fn stands_for(&self) -> usize {
        let count = self.name.starts_with(PREFIX).then_some(self.id).and_then(|id| id.rsplit_once('('));
        count.and_then(|(_, count)| count.strip_suffix(')')?.parse().ok()).unwrap_or(1)
    }

    /// How many of those changed something, given that it did.
    pub fn changed_names(&self) -> usize {
        let together = self.report.at("changes").and_then(|changes| changes.at(TOGETHER)).and_then(Value::as_map);
        together.map_or(1, |names| names.len().max(1))
    }

    /// Milliseconds.
    pub fn duration(&self) -> f64 {
        match self.report.at("duration") {
            Some(Value::Str(text)) => text.trim_end_matches(" ms").parse().unwrap_or(0.0),
            Some(number) => number.as_float().unwrap_or(0.0),
            None => 0.0,
        }
    }

    /// What changed, ready to stand below `Changes:`; nothing where nothing did.
    pub fn changes(&self, style: &Style, depth: usize) -> Option<String> {
        let changes = self.report.at("changes")?;
        let name = self.report.str_at("name");
        if matches!(name, Some("state.orch" | "state.orchestrate" | "state.sls")) {
            let inner = run(changes, style, depth + 1).unwrap_or_else(|_| nested::text(changes, style));
            let before = " ".repeat(COLUMN * depth);
            return Some(format!("{before}\n{before}{}", inner.replace('\n', &format!("\n{before}"))));
        }
        let Value::Map(map) = changes else {
            return changes.truthy().then(|| format!("Invalid Changes data: {changes}"));
        };
        if map.is_empty() {
            return None;
        }
        match map.at("ret") {
            Some(Value::Map(hosts)) if map.str_at("out") == Some("highstate") => {
                let minions: Vec<_> =
                    hosts.iter().map(|(host, states)| minion(&host.to_text(), states, style, 1)).collect();
                let text: String = minions
                    .iter()
                    .flat_map(|minion| minion.text.lines())
                    .map(|line| format!("\n{:COLUMN$}{line}", ""))
                    .collect();
                minions.iter().any(|minion| minion.changed).then_some(text)
            }
            _ => Some(format!("\n{}", nested::indented(changes, style, COLUMN).trim_end())),
        }
    }

    /// As text; nothing where the configuration hides it.
    pub fn show(&self, changes: Option<&str>, style: &Style) -> Option<Shown> {
        let quiet = style.truth_opt("state_output_diff", false) || !style.truth_opt("state_verbose", true);
        if quiet && self.result() == Some(true) && changes.is_none() {
            return None;
        }
        let host = match self.report.at("result") {
            Some(Value::Bool(false)) => Some(Color::Red),
            Some(Value::Null) => Some(Color::LightYellow),
            _ => None,
        };
        let color = host.unwrap_or(if changes.is_some() { Color::Cyan } else { Color::Green });
        let output = style.text_opt("state_output").unwrap_or("full").to_lowercase();
        let name = if output.ends_with("_id") { self.id } else { self.name };
        let form = self.form(&output, changes.is_some(), style)?;
        Some(match form {
            Form::Line => Shown { text: self.line(name, color, changes.is_some(), style), host, warned: false },
            Form::Block => Shown {
                text: self.block(name, color, changes.unwrap_or_default(), style),
                host,
                warned: self.warnings().is_some(),
            },
        })
    }

    fn form(&self, output: &str, changed: bool, style: &Style) -> Option<Form> {
        let result = self.report.at("result").map(Value::to_text).unwrap_or_default();
        if output.starts_with("filter") {
            return match () {
                () if listed("terse", "state_output_terse", &result, style) => Some(Form::Line),
                () if listed("exclude", "state_output_exclude", &result, style) => None,
                () => Some(Form::Block),
            };
        }
        let line = output.starts_with("terse")
            || output.starts_with("mixed") && self.result() != Some(false)
            || output.starts_with("changes") && self.result() == Some(true) && !changed;
        Some(if line { Form::Line } else { Form::Block })
    }

    fn block(&self, name: &str, color: Color, changes: &str, style: &Style) -> String {
        let colors = style.colors;
        let mut out = vec![colors.paint(color, "----------")];
        let mut row = |label: &str, text: &str| {
            out.push(format!("    {}", colors.paint(color, &format!("{label:>8}: {}", harmless(text)))));
        };
        row("ID", self.id);
        row("Function", &format!("{}.{}", self.module, self.function));
        if self.id != name {
            row("Name", name);
        }
        row("Result", &self.text("result"));
        row("Comment", &self.comment());
        if style.truth_opt("state_output_profile", true) && self.report.contains("start_time") {
            row("Started", &self.text("start_time"));
            let duration = self.text("duration");
            row("Duration", &if duration.is_empty() { duration } else { format!("{duration} ms") });
        }
        out.push(colors.paint(color, &format!("     Changes:   {changes}")));
        if let Some(warnings) = self.warnings() {
            let text = fill(&warnings, COLUMN);
            out.push(format!("   {}", colors.paint(Color::LightRed, &format!(" Warnings: {text}"))));
        }
        out.join("\n")
    }

    fn line(&self, name: &str, color: Color, changed: bool, style: &Style) -> String {
        let colors = style.colors;
        let result = match self.report.at("result") {
            Some(Value::Bool(false)) => "Failed",
            Some(Value::Null) => "Differs",
            _ if changed => "Changed",
            _ => "Clean",
        };
        let profile = style.truth_opt("state_output_profile", true) && self.report.contains("start_time");
        let (started, duration) = (self.text("start_time"), self.text("duration"));
        let warnings = self.warnings();
        let (module, function, name) = (self.module, self.function, harmless(name));
        if style.truth_opt("state_tabular", false) {
            let warnings = warnings.map(|text| colors.paint(Color::LightRed, &format!("Warnings:\n{text}")) + "\n");
            let times = if profile { format!("{started} [{duration:>7} ms] ") } else { String::new() };
            let line = format!("{times}{module:>10}.{function:<10} {result:7}   Name: {name}");
            return warnings.unwrap_or_default() + &colors.paint(color, &line);
        }
        let warnings = warnings.map(|text| colors.paint(Color::LightRed, &format!("Warnings:\n{text}")));
        let times = if profile { format!(" - Started: {started} - Duration: {duration} ms") } else { String::new() };
        let line = format!(" Name: {name} - Function: {module}.{function} - Result: {result}{times}");
        format!("{} {}", warnings.unwrap_or_default(), colors.paint(color, &line))
    }

    fn comment(&self) -> String {
        let below = format!("\n{:COLUMN$}", "");
        let mut comment = self.text("comment").trim().replace('\n', &below);
        match self.report.at("data") {
            None => {}
            Some(Value::List(items)) => items.iter().for_each(|item| comment.push_str(&format!(" {item}"))),
            Some(Value::Map(map)) => {
                map.iter().for_each(|(key, item)| comment.push_str(&format!("\n\t\t{key}: {item}")));
            }
            Some(other) => comment.push_str(&format!(" {other}")),
        }
        comment
    }

    fn warnings(&self) -> Option<String> {
        let warnings = self.report.at("warnings")?.as_list()?;
        Some(warnings.iter().map(Value::to_text).collect::<Vec<_>>().join("\n"))
    }

    fn text(&self, field: &str) -> String {
        self.report.at(field).map(Value::to_text).unwrap_or_default()
    }
}

enum Form {
    Block,
    Line,
}

/// True when a result is in a list such as `True,None`: of the call's keyword, else of the configuration.
fn listed(keyword: &str, option: &str, result: &str, style: &Style) -> bool {
    let arguments = style.opts.at("arg").and_then(Value::as_list).unwrap_or_default();
    let given = arguments.iter().filter(|item| item.at("__kwarg__").is_some()).find_map(|item| item.at(keyword));
    match given.or_else(|| style.opts.at(option)) {
        Some(Value::Str(text)) => text.split(',').any(|item| item == result),
        Some(Value::List(items)) => items.iter().any(|item| item.to_text() == result),
        _ => false,
    }
}

/// Words on lines of at most 80 columns that begin in `column`, but for the first, which has begun.
fn fill(text: &str, column: usize) -> String {
    let mut out = String::new();
    let mut at = column;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if at > column && at + 1 + length > 80 {
            out.push_str(&format!("\n{:column$}", ""));
            at = column;
        } else if at > column {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += length;
    }
    out
}
