//! Python's `pprint`: on one line where it fits, else one entry a line.

use super::super::value::effort::WALK_LIMIT;
use super::super::value::{Dict, Val};

const WIDTH: usize = 80;

pub fn pretty(value: &Val) -> String {
    let mut left = WALK_LIMIT / 16;
    let sorted = sorted(value, 0, &mut left);
    let mut printer = Printer { out: String::new(), left: WALK_LIMIT };
    printer.write(&sorted, 0, 0);
    printer.out
}

/// The value with its maps sorted by key, as `pprint` shows them. What is too deep, or too much, stays as it is.
fn sorted(value: &Val, depth: usize, left: &mut usize) -> Val {
    *left = left.saturating_sub(1);
    match value {
        _ if depth > 100 || *left == 0 => value.clone(),
        Val::Dict(cell) => {
            let mut entries: Vec<(Val, Val)> =
                cell.0.borrow().iter().map(|(key, value)| (key.clone(), sorted(value, depth + 1, left))).collect();
            entries.sort_by(|a, b| match a.0.order(&b.0, "<") {
                Ok(order) => order.unwrap_or(std::cmp::Ordering::Equal),
                Err(_) => (a.0.type_name(), a.0.repr()).cmp(&(b.0.type_name(), b.0.repr())),
            });
            Val::dict(Dict::from_iter(entries))
        }
        Val::List(cell) => Val::list(cell.0.borrow().iter().map(|item| sorted(item, depth + 1, left)).collect()),
        Val::Tuple(cell) => Val::tuple(cell.0.iter().map(|item| sorted(item, depth + 1, left)).collect()),
        other => other.clone(),
    }
}

struct Printer {
    out: String,
    /// How many characters may still be tried to fit on a line.
    left: usize,
}

impl Printer {
    /// `column` is where the value begins, `after` what follows it on its last line.
    fn write(&mut self, value: &Val, column: usize, after: usize) {
        let line = value.repr();
        self.left = self.left.saturating_sub(line.len());
        if column + line.chars().count() + after <= WIDTH || column > WIDTH || self.left == 0 {
            return self.out.push_str(&line);
        }
        let separator = format!(",\n{}", " ".repeat(column + 1));
        match value {
            Val::Dict(cell) => {
                self.out.push('{');
                let dict = cell.0.borrow();
                for (at, (key, item)) in dict.iter().enumerate() {
                    let key = key.repr();
                    let last = at + 1 == dict.len();
                    self.out.push_str(if at > 0 { &separator } else { "" });
                    self.out.push_str(&key);
                    self.out.push_str(": ");
                    self.write(item, column + 3 + key.chars().count(), if last { after + 1 } else { 1 });
                    if self.left == 0 {
                        break;
                    }
                }
                self.out.push('}');
            }
            Val::List(cell) => self.items(&cell.0.borrow(), ['[', ']'], column, after, &separator),
            Val::Tuple(cell) => self.items(&cell.0, ['(', ')'], column, after, &separator),
            _ => self.out.push_str(&line),
        }
    }

    fn items(&mut self, items: &[Val], [open, close]: [char; 2], column: usize, after: usize, separator: &str) {
        self.out.push(open);
        for (at, item) in items.iter().enumerate() {
            self.out.push_str(if at > 0 { separator } else { "" });
            self.write(item, column + 1, if at + 1 == items.len() { after + 1 } else { 1 });
            // What does not fit any more is cut: the rendering ends for its size.
            if self.left == 0 {
                break;
            }
        }
        self.out.push(close);
    }
}
