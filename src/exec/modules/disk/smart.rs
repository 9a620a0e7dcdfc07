//! What disks say of their health.

use super::{ask, lines};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Shows the SMART attributes of a disk, by their numbers.
    ///
    ///   salt '*' disk.smart_attributes /dev/sda
    ///   salt '*' disk.smart_attributes /dev/sda attributes='[1, 5]' values='[raw_value]'
    pub struct SmartAttributes {
        /// The disk, with or without `/dev/`.
        dev: String,
        /// The numbers of the attributes to show. Without it: all.
        attributes: Option<Vec<i64>> = (),
        /// The names of the columns to show. Without it: all.
        values: Option<Vec<String>> = (),
    }
}

impl Run for SmartAttributes {
    fn run(self, ctx: &Ctx) -> Reply {
        let dev = if self.dev.starts_with("/dev/") { self.dev } else { format!("/dev/{}", self.dev) };
        let finished = ask(ctx, &["smartctl", "--attributes", &dev])?;
        if finished.code != 0 {
            // smartctl writes what is wrong to its standard output.
            let told = [finished.stderr, finished.stdout].concat();
            return Err(Fault::execution(String::from_utf8_lossy(&told).trim().to_owned()));
        }
        let told = lines(&finished.stdout);
        let mut rest = told.iter().skip_while(|line| !line.starts_with("ID#"));
        let header = rest.next().map(String::as_str).unwrap_or_default();
        let columns: Vec<String> = header.split_whitespace().skip(1).map(str::to_lowercase).collect();
        let mut shown = Map::new();
        for line in rest {
            let Some((number, cells)) = row(line, columns.len()) else { break };
            if self.attributes.as_ref().is_some_and(|wanted| !wanted.contains(&number)) {
                continue;
            }
            let is_wanted = |column: &&String| self.values.as_ref().is_none_or(|wanted| wanted.contains(column));
            let pairs = columns.iter().zip(cells).filter(|(column, _)| is_wanted(column));
            shown.insert(number, pairs.map(|(column, cell)| (column.as_str(), read(cell))).collect::<Map>());
        }
        Ok(shown.into())
    }
}

/// The number of an attribute and its cells; the last cell may have blanks.
fn row(line: &str, columns: usize) -> Option<(i64, Vec<&str>)> {
    let (number, mut rest) = line.trim().split_once(char::is_whitespace)?;
    let mut cells = Vec::new();
    while cells.len() + 1 < columns
        && let Some((cell, behind)) = rest.trim_start().split_once(char::is_whitespace)
    {
        cells.push(cell);
        rest = behind;
    }
    cells.push(rest.trim());
    Some((number.parse().ok()?, cells))
}

/// A number, numbers, or text.
fn read(cell: &str) -> Value {
    let numbers: Result<Vec<i64>, _> = cell.split(' ').map(str::parse).collect();
    match numbers.as_deref() {
        Ok([number]) => (*number).into(),
        Ok(numbers) => Value::list(numbers.iter().copied()),
        Err(_) => cell.into(),
    }
}
