//! How busy disks are.

use super::{ask, lines};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Shows how busy disks are, averaged over some samples; it takes as long as these do. Without disks also how busy the
    /// processors are, as `sys`.
    ///
    ///   salt '*' disk.iostat 1 5 disks=sda
    pub struct Iostat {
        /// Seconds between two samples.
        interval: i64 = 1,
        /// How many samples.
        count: i64 = 5,
        /// A disk or a list of them. Without it: all.
        disks: Option<Vec<String>> = (),
    }
}

impl Run for Iostat {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.interval < 1 || self.count < 1 {
            return Err(Fault::invocation("interval and count have to be at least 1"));
        }
        let (interval, count) = (self.interval.to_string(), self.count.to_string());
        let disks = self.disks.unwrap_or_default();
        let mut argv = vec!["iostat", if disks.is_empty() { "-x" } else { "-xd" }, &interval, &count];
        if let Some(disk) = disks.iter().find(|disk| disk.starts_with('-')) {
            return Err(Fault::invocation(format!("'{disk}' is no disk")));
        }
        argv.extend(disks.iter().map(String::as_str));
        Ok(averages(&lines(&ask(ctx, &argv)?.stdout)).into())
    }
}

/// The samples of one thing: the names of the numbers, their sums in hundredths, how many there were.
#[derive(Default)]
struct Samples {
    names: Vec<String>,
    sums: Vec<i64>,
    count: i64,
}

impl Samples {
    fn add<'a>(&mut self, names: &[String], numbers: impl Iterator<Item = &'a str>) {
        let numbers: Vec<i64> =
            numbers.map(|number| number.parse::<f64>().map_or(0, |number| (number * 100.0).round() as i64)).collect();
        if self.names.is_empty() {
            self.names = names.to_vec();
            self.sums = vec![0; numbers.len()];
        }
        self.sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum = sum.saturating_add(number));
        self.count += 1;
    }

    fn averages(&self) -> Value {
        let average = |sum: &i64| {
            let (whole, rest) = (sum.div_euclid(self.count), sum.rem_euclid(self.count));
            // Halves go to the even side, as Python's decimal numbers have it.
            let up = rest * 2 > self.count || (rest * 2 == self.count && whole % 2 != 0);
            (whole + i64::from(up)) as f64 / 100.0
        };
        self.names
            .iter()
            .zip(self.sums.iter().map(average))
            .map(|(name, number)| (name.as_str(), number))
            .collect::<Map>()
            .into()
    }
}

/// The report of `iostat -x`: for each sample a line of names and one of numbers for the processors, then a line of names
/// and one line for each disk.
fn averages(report: &[String]) -> Map {
    let mut all: Vec<(String, Samples)> = Vec::new();
    let mut of = |thing: &str, names: &[String], numbers: &mut dyn Iterator<Item = &str>| {
        let at = all.iter().position(|(known, _)| known == thing).unwrap_or_else(|| {
            all.push((thing.to_owned(), Samples::default()));
            all.len() - 1
        });
        all[at].1.add(names, &mut *numbers);
    };
    let mut lines = report.iter();
    while let Some(line) = lines.next() {
        let names = || line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<String>>();
        if line.starts_with("avg-cpu:") {
            if let Some(numbers) = lines.next() {
                of("sys", &names(), &mut numbers.split_whitespace());
            }
        } else if line.starts_with("Device") {
            let names = names();
            for row in lines.by_ref().take_while(|row| row.starts_with(|c: char| c.is_alphanumeric())) {
                let mut words = row.split_whitespace();
                let disk = words.next().unwrap_or_default();
                of(disk, &names, &mut words);
            }
        }
    }
    all.into_iter().map(|(thing, samples)| (thing, samples.averages())).collect()
}
