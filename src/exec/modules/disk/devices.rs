//! What block devices say of themselves.

use super::{ask, lines};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Shows what is known of block devices: label, UUID, type.
    ///
    ///   salt '*' disk.blkid
    ///   salt '*' disk.blkid /dev/sda
    ///   salt '*' disk.blkid token='UUID=6a38ee5-7235-44e7-8b22-816a403bad5d'
    pub struct Blkid {
        /// One device.
        device: Option<String> = (),
        /// Those that have this tag, `NAME=value`.
        token: Option<String> = (),
    }
}

impl Run for Blkid {
    fn run(self, ctx: &Ctx) -> Reply {
        let given = |word: &Option<String>| word.clone().filter(|word| !word.is_empty());
        let finished = match (given(&self.device), given(&self.token)) {
            (Some(device), _) => ask(ctx, &["blkid", "--", &device])?,
            (None, Some(token)) => ask(ctx, &["blkid", "-t", &token])?,
            (None, None) => ask(ctx, &["blkid"])?,
        };
        if finished.code != 0 {
            return Ok(Map::new().into());
        }
        let shown = lines(&finished.stdout).into_iter().filter_map(|line| {
            let (device, tags) = line.split_once(' ')?;
            Some((device.trim_end_matches(':').to_owned(), self::tags(tags)))
        });
        Ok(shown.collect::<Map>().into())
    }
}

/// `LABEL="a b" TYPE="ext4"`
fn tags(text: &str) -> Map {
    let mut parts = text.split('"');
    let mut tags = Map::new();
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        tags.insert(name.trim_matches([' ', '=']), value);
    }
    tags
}

/// What is asked of a device, in the order in which the answers come.
const QUESTIONS: [&str; 12] = [
    "getro",
    "getsz",
    "getss",
    "getpbsz",
    "getiomin",
    "getioopt",
    "getalignoff",
    "getmaxsect",
    "getsize",
    "getsize64",
    "getra",
    "getfra",
];

record! {
    /// Shows the sizes and settings of a block device; False when it cannot be asked.
    ///
    ///   salt '*' disk.dump /dev/sda
    ///   salt '*' disk.dump /dev/sda '[getsize64, getro]'
    pub struct Dump {
        /// The device.
        device: String,
        /// The names of some of the answers.
        args: Option<Vec<String>> = (),
    }
}

impl Run for Dump {
    fn run(self, ctx: &Ctx) -> Reply {
        let questions = QUESTIONS.map(|question| format!("--{question}"));
        let mut argv = vec!["blockdev"];
        argv.extend(questions.iter().map(String::as_str));
        argv.push(&self.device);
        if self.device.starts_with('-') {
            return Err(Fault::invocation(format!("'{}' is no device", self.device)));
        }
        let finished = ask(ctx, &argv)?;
        if finished.code != 0 {
            return Ok(false.into());
        }
        let answers = lines(&finished.stdout).into_iter().filter(|line| !line.is_empty());
        let all: Map = QUESTIONS.into_iter().zip(answers).collect();
        let Some(wanted) = self.args.filter(|wanted| !wanted.is_empty()) else { return Ok(all.into()) };
        let mut some = Map::new();
        for name in wanted {
            let answer = all.at(&name).cloned();
            let answer =
                answer.ok_or_else(|| Fault::invocation(format!("'{name}' is none of {}", QUESTIONS.join(", "))))?;
            some.insert(name, answer);
        }
        Ok(some.into())
    }
}

record! {
    /// Shows which kind of file system is on a device; empty where none is known.
    ///
    ///   salt '*' disk.fstype /dev/sdX1
    pub struct Fstype {
        /// The device.
        device: String,
    }
}

impl Run for Fstype {
    fn run(self, ctx: &Ctx) -> Reply {
        if ctx.host.which("lsblk").is_none() && ctx.host.which("df").is_none() {
            return Err(Fault::execution("None of provided binaries ['lsblk', 'df'] was not found in $PATH."));
        }
        let second_line = |argv: &[&str]| -> Option<String> {
            let told = lines(&ask(ctx, argv).ok()?.stdout);
            told.into_iter().nth(1).map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
        };
        let listed = second_line(&["lsblk", "-o", "fstype", "--", &self.device]);
        // Its second word: the first is the device.
        let used = || second_line(&["df", "-T", "--", &self.device])?.split_whitespace().nth(1).map(str::to_owned);
        Ok(listed.or_else(used).map_or(Value::from(""), Value::from).into())
    }
}
