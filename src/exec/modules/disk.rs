//! `disk.*`: how full file systems are, and what devices say of themselves.

mod change;
mod devices;
mod hdparm;
mod iostat;
mod smart;

use halite_core::host::{Choice, Command, Finished};
use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "disk",
    doc: "Show how full file systems are, and what devices say of themselves.",
    functions: &[
        function::<devices::Blkid>("blkid"),
        function::<devices::Dump>("dump"),
        function::<change::Format>("format"),
        function::<devices::Fstype>("fstype"),
        function::<change::GetFstypeFromPath>("get_fstype_from_path"),
        function::<hdparm::Hdparms>("hdparms"),
        function::<hdparm::Hpa>("hpa"),
        function::<Inodeusage>("inodeusage"),
        function::<iostat::Iostat>("iostat"),
        function::<Percent>("percent"),
        function::<change::Resize2fs>("resize2fs"),
        function::<smart::SmartAttributes>("smart_attributes"),
        function::<change::Tune>("tune"),
        function::<Usage>("usage"),
        function::<change::Wipe>("wipe"),
    ],
};

/// Runs a command that only asks, in English.
fn ask(ctx: &Ctx, argv: &[&str]) -> Result<Finished, Fault> {
    let Some(program) = argv.first() else { return Err(Fault::execution("no command was given")) };
    if ctx.host.which(program).is_none() {
        return Err(Fault::execution(format!("The '{program}' binary was not found in $PATH.")));
    }
    let command = Command {
        argv: argv.iter().map(|word| word.to_string()).collect(),
        env: [("LC_ALL".to_owned(), Some("C".to_owned()))].into(),
        merge_stderr: Choice::No,
        ..Command::default()
    };
    let finished = ctx.host.query(&command).map_err(|error| Fault::execution(format!("{program}: {error}")))?;
    match finished.stdout_cut {
        0 => Ok(finished),
        _ => Err(Fault::execution(format!("{program}: its output is too long to be read"))),
    }
}

fn lines(output: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(output).lines().map(str::to_owned).collect()
}

/// A line of `df -P`.
struct Row {
    filesystem: String,
    /// Blocks or inodes: all, used, free.
    numbers: [String; 3],
    percent: String,
    mount: String,
}

impl Row {
    /// The numbers are the first three words of a row that are sizes, with a share behind them; what stands before is the
    /// name, what stands behind the place, and both may have blanks.
    fn read(line: &str) -> Option<Row> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_size =
            |word: &str| word == "-" || word.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse::<f64>().is_ok();
        let at = (1..words.len()).find(|at| match words.get(*at..at + 4) {
            Some([numbers @ .., percent]) => {
                numbers.iter().all(|word| is_size(word)) && (percent.ends_with('%') || *percent == "-")
            }
            _ => false,
        })?;
        let [all, used, free, percent] = words.get(at..at + 4)? else { return None };
        Some(Row {
            filesystem: words[..at].join(" "),
            numbers: [all, used, free].map(|word| word.to_string()),
            percent: percent.to_string(),
            mount: words[at + 4..].join(" "),
        })
    }
}

/// What `df` says, with flags that the caller adds.
fn rows(ctx: &Ctx, flags: &str) -> Result<Vec<Row>, Fault> {
    let finished = ask(ctx, &["df", flags])?;
    let told = lines(&finished.stdout);
    let rows: Vec<Row> =
        told.iter().filter(|line| !line.starts_with("Filesystem")).filter_map(|l| Row::read(l)).collect();
    // df ends with 1 when it may not look at one of many file systems: the others are shown.
    if rows.is_empty() && finished.code != 0 {
        let text = String::from_utf8_lossy(&finished.stderr);
        return Err(Fault::execution(format!("df {flags}: {}", text.trim())));
    }
    Ok(rows)
}

/// The flags of `df` that a caller may add: a text or a list of letters.
fn flags(base: &str, given: &Value, fun: &str) -> Result<String, Fault> {
    let given = match given {
        Value::Null => String::new(),
        Value::List(letters) => letters.iter().map(Value::to_text).collect(),
        other => other.to_text(),
    };
    match given.chars().all(|flag| "aBhHiklPtTxv".contains(flag)) {
        true => Ok(format!("{base}{given}")),
        false => Err(Fault::execution(format!("Invalid flag passed to {fun}"))),
    }
}

record! {
    /// Shows for each place where a file system is mounted how full it is.
    ///
    ///   salt '*' disk.usage
    ///   salt '*' disk.usage h
    pub struct Usage {
        /// Flags for `df`, such as `h` or `T`.
        args: Value = (),
    }
}

impl Run for Usage {
    fn run(self, ctx: &Ctx) -> Reply {
        let rows = rows(ctx, &flags("-P", &self.args, "disk.usage")?)?;
        let shown = rows.into_iter().map(|row| {
            let [all, used, free] = row.numbers;
            let usage = [
                ("filesystem", row.filesystem),
                ("1K-blocks", all),
                ("used", used),
                ("available", free),
                ("capacity", row.percent),
            ];
            (row.mount, Map::from_iter(usage))
        });
        Ok(shown.collect::<Map>().into())
    }
}

record! {
    /// Shows for each place where a file system is mounted how many inodes it has.
    ///
    ///   salt '*' disk.inodeusage
    pub struct Inodeusage {
        /// Flags for `df`, such as `T`.
        args: Value = (),
    }
}

impl Run for Inodeusage {
    fn run(self, ctx: &Ctx) -> Reply {
        let rows = rows(ctx, &flags("-iP", &self.args, "disk.inodeusage")?)?;
        let shown = rows.into_iter().map(|row| {
            let [all, used, free] = row.numbers;
            let usage =
                [("inodes", all), ("used", used), ("free", free), ("use", row.percent), ("filesystem", row.filesystem)];
            (row.mount, Map::from_iter(usage))
        });
        Ok(shown.collect::<Map>().into())
    }
}

record! {
    /// Shows for each place where a file system is mounted, or for one of them, which share of it is used.
    ///
    ///   salt '*' disk.percent
    ///   salt '*' disk.percent /var
    pub struct Percent {
        /// The place. An empty answer: nothing is mounted there.
        args: Option<String> = (),
    }
}

impl Run for Percent {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut shares: Map = rows(ctx, "-P")?.into_iter().map(|row| (row.mount, row.percent)).collect();
        match self.args.filter(|place| !place.is_empty()) {
            Some(place) => Ok(shares.remove(&place).unwrap_or_else(|| Map::new().into()).into()),
            None => Ok(shares.into()),
        }
    }
}

#[cfg(test)]
mod tests;
