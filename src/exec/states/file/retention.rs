//! `file.retention_schedule`.

use super::own_name;
use halite_core::paths::remove_all;
use halite_core::state::{Outcome, Plan, PlanContext, State, failed, stands};
use halite_core::{Ctx, Fault, paths};
use halite_value::record;
use halite_value::{Map, Value};
use jiff::civil::DateTime;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

record! {
    /// Keeps so many of the backups in a directory, by their age, and removes the others.
    ///
    ///   /var/backups/example_directory:
    ///     file.retention_schedule:
    ///       - retain:
    ///           most_recent: 5
    ///           first_of_hour: 4
    ///           first_of_day: 7
    ///           first_of_week: 6
    ///           first_of_month: 6
    ///           first_of_year: all
    ///       - strptime_format: example_name_%Y%m%dT%H%M%S.tar.bz2
    pub struct RetentionSchedule {
        /// The directory.
        name: String,
        /// How many are kept: most_recent, first_of_hour, first_of_day, first_of_week, first_of_month, first_of_year,
        /// each with a number or `all`.
        retain: Map,
        /// How a name says when it was made; without it, that is when the file was last written.
        strptime_format: Option<String> = (),
        /// The time zone of files that were written; the one of the host, if not given.
        timezone: Option<String> = (),
    }
}

impl State for RetentionSchedule {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let ctx = context.ctx;
        let name = own_name(ctx, &self.name);
        if name.is_empty() {
            return Ok(failed("Must provide name to file.retention_schedule"));
        }
        if !paths::is_directory(ctx.host, &name) {
            return Ok(failed("Name provided to file.retention must be a directory"));
        }
        let zone = match self.timezone.as_deref() {
            None => jiff::tz::TimeZone::system(),
            Some(zone) => jiff::tz::TimeZone::get(zone).map_err(|error| Fault::invocation(error.to_string()))?,
        };
        let mut files = Vec::new();
        let mut ignored: Vec<String> = vec!["..".to_owned(), ".".to_owned()];
        for file in ctx.host.list(Path::new(&name)).map_err(|error| super::fault(&name, &error))? {
            let time = match &self.strptime_format {
                Some(format) => DateTime::strptime(format, &file).ok(),
                None => ctx.host.stat(Path::new(&format!("{name}/{file}"))).ok().and_then(|stat| {
                    jiff::Timestamp::try_from(stat.modified).ok().map(|stamp| zone.to_datetime(stamp))
                }),
            };
            match time {
                Some(time) => files.push((time, file)),
                None => ignored.push(file),
            }
        }
        let retained = retained(&files, &self.retain)?;
        let mut deleted: Vec<String> =
            files.into_iter().map(|(_, file)| file).filter(|file| !retained.contains(file)).collect();
        deleted.sort_by(|one, other| other.cmp(one));
        ignored.sort_by(|one, other| other.cmp(one));
        let count = deleted.len();
        let done = format!("{count} backups were removed from {name}.\n");
        let would = format!("{count} backups would have been removed from {name}.\n");
        if deleted.is_empty() {
            return Ok(stands(Outcome::done(would), Outcome::done(done)));
        }
        let changes = Map::from_iter([
            ("retained", Value::list(retained.iter().rev().map(String::as_str))),
            ("deleted", Value::list(deleted.iter().map(String::as_str))),
            ("ignored", Value::list(ignored)),
        ]);
        let would = Outcome::new(None, would).with_changes(changes.clone());
        let apply = move |ctx: &Ctx| {
            for file in &deleted {
                let path = paths::join(&[name.clone(), file.clone()]);
                remove_all(ctx.host, Path::new(&path)).map_err(|error| super::fault(&path, &error))?;
            }
            Ok(Outcome::done(done).with_changes(changes))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

/// Files by when they were made, in units that get smaller: the first of each unit is what a rule keeps.
type ByUnits = BTreeMap<Vec<i64>, String>;

fn retained(files: &[(DateTime, String)], rules: &Map) -> Result<BTreeSet<String>, Fault> {
    let (mut by_day, mut by_week) = (ByUnits::new(), ByUnits::new());
    for (time, file) in files {
        let [year, month, day, hour] =
            [i64::from(time.year()), time.month().into(), time.day().into(), time.hour().into()];
        let moment = jiff::tz::TimeZone::UTC.to_timestamp(*time).map(|stamp| stamp.as_microsecond());
        let moment = moment.unwrap_or_default();
        by_day.insert(vec![year, month, day, hour, moment], file.clone());
        let week = i64::from(time.date().iso_week_date().week());
        let weekday = i64::from(time.weekday().to_monday_zero_offset());
        by_week.insert(vec![year, week, weekday, moment], file.clone());
    }
    let mut all = BTreeSet::new();
    for (rule, count) in rules.iter() {
        let rule = rule.to_text();
        let count = match count {
            Value::Str(text) if text == "all" => usize::MAX,
            count => count.to_text().parse().map_err(|_| {
                Fault::invocation(format!("file.retention_schedule: {rule} is '{}' and no number", count.to_text()))
            })?,
        };
        let (units, depth, count) = match rule.as_str() {
            "first_of_year" => (&by_day, 1, count),
            "first_of_month" => (&by_day, 2, count),
            "first_of_day" => (&by_day, 3, count),
            "first_of_hour" => (&by_day, 4, count),
            "most_recent" => (&by_day, 5, count),
            "first_of_week" => (&by_week, 2, count.saturating_add(1)),
            other => return Err(Fault::invocation(format!("file.retention_schedule: there is no rule '{other}'"))),
        };
        all.extend(firsts(units, depth, count));
    }
    Ok(all)
}

/// The first file of each unit, for so many of the latest units.
fn firsts(files: &ByUnits, depth: usize, count: usize) -> Vec<String> {
    let mut first: BTreeMap<&[i64], &String> = BTreeMap::new();
    for (units, file) in files {
        first.entry(&units[..depth.min(units.len())]).or_insert(file);
    }
    first.values().rev().take(count).map(|file| (*file).clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_each_unit_is_kept() {
        let file = |text: &str| (DateTime::strptime("%Y%m%dT%H", text).unwrap(), text.to_owned());
        let files: Vec<_> =
            ["20250101T01", "20250101T05", "20250102T03", "20250203T04", "20250203T09"].map(file).to_vec();
        let kept = |rule: &str, count: i64| {
            let found = retained(&files, &Map::from_iter([(rule, count)])).unwrap();
            found.into_iter().collect::<Vec<String>>()
        };
        assert_eq!(kept("most_recent", 2), ["20250203T04", "20250203T09"]);
        assert_eq!(kept("first_of_day", 2), ["20250102T03", "20250203T04"]);
        assert_eq!(kept("first_of_month", 9), ["20250101T01", "20250203T04"]);
        assert!(retained(&files, &Map::from_iter([("first_of_age", 1)])).is_err());
    }
}
