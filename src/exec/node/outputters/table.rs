//! `table`: each list of rows that an answer holds, as a table with borders.
//!
//! Options of the configuration, each with `out.table.` before it: `has_header`, `row_delimiter`, `delim`, `justify`
//! (center, left, right), `separate_rows`, `prefix`, `suffix`, `width`, `rows_key`, `labels_key`.

use super::color::Color;
use super::{Style, Unfit, harmless, sorted};
use halite_value::Value;

pub fn show(value: &Value, style: &Style) -> Result<String, Unfit> {
    let mut table = Table { style, out: Vec::new() };
    table.add(value, 0);
    Ok(table.out.join("\n"))
}

struct Table<'a> {
    style: &'a Style<'a>,
    out: Vec<String>,
}

impl Table<'_> {
    fn add(&mut self, value: &Value, indent: usize) {
        let rows_key = self.option("rows_key");
        match value {
            Value::Map(map) => {
                let wanted = rows_key.as_ref().map(Value::to_text);
                // The rows wanted are further down.
                if wanted.as_deref().is_some_and(|wanted| !map.contains(wanted)) {
                    return sorted(map).into_iter().for_each(|(_, item)| self.add(item, indent));
                }
                for (key, item) in sorted(map) {
                    match wanted.as_deref() {
                        Some(wanted) if key.to_text() != wanted => continue,
                        Some(_) => {}
                        None => {
                            let name = self.style.colors.paint(Color::DarkGray, &harmless(&key.to_text()));
                            self.out.push(format!("{:indent$}{name}:", ""));
                            self.line(indent, Color::DarkGray, "----------");
                        }
                    }
                    match item {
                        Value::List(rows) => {
                            let labels = self.option("labels_key").and_then(|key| map.at(&key.to_text()).cloned());
                            self.rows(rows, labels.as_ref(), indent);
                        }
                        other => self.add(other, indent + 4),
                    }
                }
            }
            Value::List(rows) if rows_key.is_none() => self.rows(rows, None, indent),
            _ => {}
        }
    }

    /// Rows of one kind: maps with the same keys, lists, or single texts. Others are no table.
    fn rows(&mut self, rows: &[Value], labels: Option<&Value>, indent: usize) {
        let Some(first) = rows.first() else { return };
        if rows.iter().any(|row| row.type_name() != first.type_name()) {
            return;
        }
        let mut labels: Option<Vec<String>> = match labels {
            Some(Value::Map(map)) => Some(sorted(map).into_iter().map(|(_, label)| label.to_text()).collect()),
            Some(Value::List(items)) => Some(items.iter().map(Value::to_text).collect()),
            _ => None,
        };
        let mut cells: Vec<Vec<String>> = Vec::new();
        for row in rows {
            match row {
                Value::Map(map) => {
                    let entries = sorted(map);
                    labels.get_or_insert_with(|| entries.iter().map(|(key, _)| title(&key.to_text())).collect());
                    cells.push(entries.into_iter().map(|(_, item)| item.to_text()).collect());
                }
                Value::List(items) => cells.push(items.iter().map(Value::to_text).collect()),
                other => cells.push(vec![other.to_text()]),
            }
        }
        let header = labels.is_some() && self.style.truth_opt("out.table.has_header", true);
        if let Some(labels) = labels {
            cells.insert(0, labels);
        }
        self.draw(&cells, header, indent + 4);
    }

    fn draw(&mut self, rows: &[Vec<String>], mut header: bool, indent: usize) {
        let width = self.option("width").and_then(|width| usize::try_from(width.as_int()?).ok()).unwrap_or(50);
        let (prefix, suffix) = (self.text("prefix", "| "), self.text("suffix", " |"));
        let (delimiter, justify) = (self.text("delim", " | "), self.text("justify", "center"));
        let separate = self.style.truth_opt("out.table.separate_rows", true);
        let wrapped: Vec<Vec<Vec<String>>> =
            rows.iter().map(|row| row.iter().map(|cell| wrap(cell, width)).collect()).collect();
        let columns = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                wrapped.iter().filter_map(|row| row.get(column)).flatten().map(|line| length(line)).max().unwrap_or(0)
            })
            .collect();
        let whole = length(&prefix)
            + length(&suffix)
            + widths.iter().sum::<usize>()
            + length(&delimiter) * columns.saturating_sub(1);
        let rule = self.text("row_delimiter", "-").repeat(whole);
        if separate {
            self.line(indent, Color::LightGray, &rule);
        }
        for row in &wrapped {
            for at in 0..row.iter().map(Vec::len).max().unwrap_or(0) {
                let cells: Vec<String> = widths
                    .iter()
                    .enumerate()
                    .map(|(column, width)| {
                        let text = row.get(column).and_then(|lines| lines.get(at)).map_or("", String::as_str);
                        fit(text, *width, &justify)
                    })
                    .collect();
                self.line(indent, Color::White, &format!("{prefix}{}{suffix}", cells.join(&delimiter)));
            }
            if separate || header {
                self.line(indent, Color::LightGray, &rule);
                header = false;
            }
        }
    }

    fn line(&mut self, indent: usize, color: Color, text: &str) {
        self.out.push(format!("{:indent$}{}", "", self.style.colors.paint(color, &harmless(text))));
    }

    fn option(&self, name: &str) -> Option<Value> {
        self.style.opts.at(&format!("out.table.{name}")).filter(|value| value.truthy()).cloned()
    }

    fn text(&self, name: &str, default: &str) -> String {
        self.option(name).map_or_else(|| default.to_owned(), |value| value.to_text())
    }
}

/// Breaks a cell at its spaces once a line is as wide as the column may be.
fn wrap(cell: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, word) in cell.split(' ').enumerate() {
        let first = word.split('\n').next().unwrap_or_default();
        match lines.last_mut() {
            Some(line) if at > 0 && length(line) + length(first) < width => {
                line.push(' ');
                line.push_str(first);
            }
            _ => lines.push(first.to_owned()),
        }
        lines.extend(word.split('\n').skip(1).map(str::to_owned));
    }
    lines
}

/// Python's `str.center`, `ljust` or `rjust`.
fn fit(text: &str, width: usize, justify: &str) -> String {
    let space = width.saturating_sub(length(text));
    let left = match justify {
        "left" => 0,
        "right" => space,
        _ => space / 2 + (space & width & 1),
    };
    format!("{:left$}{text}{:right$}", "", "", right = space - left)
}

/// A name as the title of a column: `last_move` is `Last Move`.
fn title(name: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in name.chars().map(|c| if c == '_' { ' ' } else { c }) {
        match inside {
            true => out.extend(c.to_lowercase()),
            false => out.extend(c.to_uppercase()),
        }
        inside = c.is_alphabetic();
    }
    out
}

fn length(text: &str) -> usize {
    text.chars().count()
}
