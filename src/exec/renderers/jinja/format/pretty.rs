//! Python's `pprint`: on one line where it fits, else one entry a line.

use super::super::value::{Dict, Val};

const WIDTH: usize = 80;

pub fn pretty(value: &Val) -> String {
    let mut out = String::new();
    write(&sorted(value, 0), 0, 0, &mut out);
    out
}

/// The value with its maps sorted by key, as `pprint` shows them.
fn sorted(value: &Val, depth: usize) -> Val {
    match value {
        _ if depth > 100 => value.clone(),
        Val::Dict(cell) => {
            let mut entries: Vec<(Val, Val)> =
                cell.0.borrow().iter().map(|(key, value)| (key.clone(), sorted(value, depth + 1))).collect();
            entries.sort_by(|a, b| match a.0.order(&b.0, "<") {
                Ok(order) => order.unwrap_or(std::cmp::Ordering::Equal),
                Err(_) => (a.0.type_name(), a.0.repr()).cmp(&(b.0.type_name(), b.0.repr())),
            });
            Val::dict(Dict::from_iter(entries))
        }
        Val::List(cell) => Val::list(cell.0.borrow().iter().map(|item| sorted(item, depth + 1)).collect()),
        Val::Tuple(cell) => Val::tuple(cell.0.iter().map(|item| sorted(item, depth + 1)).collect()),
        other => other.clone(),
    }
}

/// `column` is where the value begins, `after` what follows it on its last line.
fn write(value: &Val, column: usize, after: usize, out: &mut String) {
    let line = value.repr();
    if column + line.chars().count() + after <= WIDTH || column > WIDTH {
        return out.push_str(&line);
    }
    let separator = format!(",\n{}", " ".repeat(column + 1));
    match value {
        Val::Dict(cell) => {
            out.push('{');
            let dict = cell.0.borrow();
            for (at, (key, item)) in dict.iter().enumerate() {
                let key = key.repr();
                let last = at + 1 == dict.len();
                out.push_str(if at > 0 { &separator } else { "" });
                out.push_str(&key);
                out.push_str(": ");
                write(item, column + 3 + key.chars().count(), if last { after + 1 } else { 1 }, out);
            }
            out.push('}');
        }
        Val::List(cell) => items(&cell.0.borrow(), ['[', ']'], column, after, &separator, out),
        Val::Tuple(cell) => items(&cell.0, ['(', ')'], column, after, &separator, out),
        _ => out.push_str(&line),
    }
}

fn items(items: &[Val], [open, close]: [char; 2], column: usize, after: usize, separator: &str, out: &mut String) {
    out.push(open);
    for (at, item) in items.iter().enumerate() {
        out.push_str(if at > 0 { separator } else { "" });
        write(item, column + 1, if at + 1 == items.len() { after + 1 } else { 1 }, out);
    }
    out.push(close);
}
