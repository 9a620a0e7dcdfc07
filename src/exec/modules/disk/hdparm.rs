//! `disk.hdparms` and `disk.hpa`: what disks say of themselves to hdparm(8).

use super::change::{checked, hdparm, hide, single};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Shows what hdparm(8) tells of disks.
    ///
    ///   salt '*' disk.hdparms /dev/sda
    pub struct Hdparms {
        /// A disk, or a list of them.
        disks: Value,
        /// The letters of what is asked: text, or a list.
        args: Value = "aAbBcCdgHiJkMmNnQrRuW",
    }
}

impl Run for Hdparms {
    fn run(self, ctx: &Ctx) -> Reply {
        let letters = match &self.args {
            Value::List(letters) => letters.iter().map(Value::to_text).collect(),
            text => text.to_text(),
        };
        Ok(of_disks(ctx, &self.disks, &letters)?.into())
    }
}

fn of_disks(ctx: &Ctx, disks: &Value, letters: &str) -> Result<Map, Fault> {
    if !letters.chars().all(|letter| letter.is_ascii_alphanumeric()) {
        return Err(Fault::invocation(format!("'{letters}' are no letters of hdparm")));
    }
    let disks = match disks {
        Value::List(disks) => disks.iter().map(Value::to_text).collect(),
        one => vec![one.to_text()],
    };
    let mut all = Map::new();
    for disk in disks {
        let disk = if disk.starts_with("/dev") { disk } else { format!("/dev/{disk}") };
        checked(&disk)?;
        let text = hdparm(ctx, letters, &disk)?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != format!("{disk}:"));
        let told: Map = lines.filter_map(told).map(|(key, value)| (Value::from(key), value)).collect();
        all.insert(disk, told);
    }
    Ok(all)
}

/// `readahead = 256 (on)`, `geometry = 1/2/3, sectors = 6, start = 0`: a name and one value, or several.
fn told(line: &str) -> Option<(String, Value)> {
    let (key, values) = match line.split_once(':') {
        Some((key, values)) => (key.strip_suffix(" is").unwrap_or(key), values),
        None => line.split_once('=')?,
    };
    let (key, values) = (key.trim().to_lowercase().replace(' ', "_"), values.trim());
    if let Some((number, rest)) = values.split_once(' ')
        && let (Ok(number), true) = (number.parse::<i64>(), rest.starts_with('(') && rest.contains(')'))
    {
        let word = rest.split(' ').next().unwrap_or(rest).trim_matches(['(', ')']);
        return Some((key, Value::List(vec![number.into(), word.into()])));
    }
    let (mut several, mut named) = (Vec::new(), Map::new());
    for value in values.split(['/', ',']).map(str::trim) {
        match (value.parse::<i64>(), value.split_once('=')) {
            (Ok(number), _) => several.push(Value::Int(number)),
            (_, Some((name, value))) if !value.trim().is_empty() => drop(named.insert(name.trim(), value.trim())),
            (_, Some(_)) => {}
            (_, None) if !value.is_empty() => several.push(value.into()),
            _ => {}
        }
    }
    if !named.is_empty() {
        several.push(named.into());
    }
    match several.len() {
        0 => None,
        1 => Some((key, several.remove(0))),
        _ => Some((key, Value::List(several))),
    }
}

record! {
    /// Shows how much of disks the host does not see (the host protected area), or sets how much of them it sees.
    ///
    ///   salt '*' disk.hpa /dev/sda
    ///   salt '*' disk.hpa /dev/sda 5%
    ///   salt '*' disk.hpa /dev/sda 10543256
    pub struct Hpa {
        /// A disk, or a list of them.
        disks: Value,
        /// How many sectors are hidden, or the share of them in per cent.
        size: Value = (),
    }
}

impl Run for Hpa {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut areas = Map::new();
        for (disk, told) in of_disks(ctx, &self.disks, "N")?.iter() {
            let numbers = told.as_map().and_then(Map::first).map(|(_, value)| value);
            let Some(Value::List(values)) = numbers else {
                return Err(Fault::execution(format!("{} does not tell its size", disk.to_text())));
            };
            let ([Value::Int(visible), Value::Int(total), ..], status) = (values.as_slice(), values.last()) else {
                return Err(Fault::execution(format!("{} does not tell its size", disk.to_text())));
            };
            let is_whole = visible == total || status.is_some_and(|status| status.to_text().contains("disabled"));
            let mut area = single("total", *total);
            if !is_whole {
                area.insert("visible", *visible);
                area.insert("hidden", total - visible);
            }
            areas.insert(disk.to_text(), area);
        }
        if self.size.is_null() {
            return Ok(areas.into());
        }
        for (disk, area) in areas.iter() {
            let total = area.at("total").and_then(Value::as_int).unwrap_or_default();
            let text = self.size.to_text();
            let visible = match text.strip_suffix('%') {
                Some(share) => share.parse::<i64>().ok().map(|share| total / 100 * (100 - share)),
                None => text.parse::<i64>().ok().map(|hidden| total - hidden),
            };
            let visible =
                visible.ok_or_else(|| Fault::invocation(format!("size: '{text}' is neither sectors nor a share")))?;
            hide(ctx, &disk.to_text(), if visible <= 0 { total } else { visible })?;
        }
        Ok(().into())
    }
}
