//! `salt-cp`: copies files of this host to minions, as jobs.
//!
//! Short files go whole in one job (`cp.recv`); with `--chunked`, files of any length and directories go in parts, a job each
//! (`cp.recv_chunked`).

mod sources;

use super::gather::{FIRST_MS, Gather, Gathered};
use super::{Account, Client, ClientError, configured, sudo_user};
use crate::cli::exit::complain;
use crate::cli::salt_cp::{Copy, SaltCpLine};
use crate::cli::{Display, Exit, Trouble};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use halite_value::{Map, Value};
use halite_wire::message::{EndState, LocalAnswer, LocalAsk, Publish};
use sources::{Source, Sources};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::time::Duration;

/// What fits in a job without parts: a job has less than 1 MiB.
const WHOLE: u64 = 900_000;
/// Bytes of a part, in bounds that a job can carry.
const PARTS: std::ops::RangeInclusive<i64> = 1..=500_000;

pub fn run(args: &[String]) -> u8 {
    let line = match SaltCpLine::read(args, io::stdin()) {
        Ok(line) => line,
        Err(stop) => return stop.report("salt-cp").code(),
    };
    match smol::block_on(answer(&line)) {
        Ok(exit) => exit.code(),
        Err(trouble) => trouble.report("salt-cp").code(),
    }
}

async fn answer(line: &SaltCpLine) -> Result<Exit, Trouble> {
    let copy = line.copy()?;
    let (config, options) = configured(&line.common, &line.logging, Account::Callers)?;
    let sources = Sources::find(&copy.sources)?;
    let mut display = Display::new(&line.output, &config.opts)?;
    let client = Client::connect(&options.common.sock_dir).await?;
    let timeout = line.cp.timeout.filter(|seconds| seconds.0 > 0);
    let timeout = timeout.map_or(options.timeout, |seconds| Duration::from_secs(seconds.0));
    let part = config.opts.at("salt_cp_chunk_size").and_then(Value::as_int).unwrap_or(65_536);
    let mut sending = Sending {
        client: &client,
        line,
        copy: &copy,
        timeout,
        part: (*PARTS.start()).max(part).min(*PARTS.end()) as usize,
        answers: BTreeMap::new(),
        failed: false,
    };
    match line.cp.chunked {
        true => sending.in_parts(&sources).await?,
        false => sending.whole(&sources).await?,
    }
    if sending.answers.is_empty() {
        display.say("No minions matched the target. No command was sent, no jid was assigned.\n");
        display.show(&Map::new().into(), None, 0)?;
        complain("ERROR: No return received");
        return Ok(Exit::NoReturn);
    }
    let (answers, failed) = (sending.answers, sending.failed);
    let answers: Map = answers.into_iter().map(|(id, answer)| (id, answer.shown())).collect();
    display.show(&answers.into(), None, i32::from(failed))?;
    Ok(if failed { Exit::Failed } else { Exit::Ok })
}

/// What became of the files on one minion.
enum Answer {
    /// What it said of all at once, or why it said nothing.
    Whole(Value),
    /// By path on the minion: the first word that was not True, else True.
    Files(Map),
}

impl Answer {
    fn shown(self) -> Value {
        match self {
            Answer::Whole(value) => value,
            Answer::Files(files) => files.into(),
        }
    }
}

struct Sending<'a> {
    client: &'a Client,
    line: &'a SaltCpLine,
    copy: &'a Copy,
    timeout: Duration,
    /// Bytes of a part.
    part: usize,
    answers: BTreeMap<String, Answer>,
    failed: bool,
}

impl Sending<'_> {
    /// All files in one job.
    async fn whole(&mut self, sources: &Sources) -> Result<(), Trouble> {
        if let Some(directory) = sources.directories.first() {
            let message = format!(
                "{} is a directory, only files are supported in non-chunked mode. Use \"--chunked\" command line argument.",
                directory.display()
            );
            return Err(Trouble::new(Exit::Failed, message));
        }
        let bytes: u64 = sources.files.iter().map(|source| source.size).sum();
        if bytes > WHOLE {
            let message = format!("{bytes} bytes are too much for one job: use --chunked, which sends files in parts");
            return Err(Trouble::new(Exit::Failed, message));
        }
        let mut files = Map::new();
        for source in &sources.files {
            let bytes = std::fs::read(&source.path).map_err(|error| unreadable(source, error))?;
            let text = String::from_utf8(bytes).map_or_else(|error| Value::Bytes(error.into_bytes()), Value::from);
            files.insert(source.path.to_string_lossy().into_owned(), text);
        }
        for (id, value, is_good) in self.job("cp.recv", vec![files.into(), self.copy.dest.as_str().into()]).await? {
            let all_good = value.as_map().is_some_and(|files| files.values().all(|done| *done == Value::Bool(true)));
            self.failed |= !is_good || !all_good;
            self.answers.insert(id, Answer::Whole(value));
        }
        Ok(())
    }

    /// Each file part by part, then the empty directories.
    async fn in_parts(&mut self, sources: &Sources) -> Result<(), Trouble> {
        let into_directory = !sources.empty_directories.is_empty()
            || sources.files.len() > 1
            || !sources.directories.is_empty()
            || self.copy.dest.ends_with(['/', '\\']);
        for source in &sources.files {
            let place = source.place(&self.copy.dest, into_directory);
            let mut file = File::open(&source.path).map_err(|error| unreadable(source, error))?;
            let mut is_first = true;
            loop {
                let part = self.next_part(&mut file).map_err(|error| unreadable(source, error))?;
                // An empty file has one part, which is empty.
                if part.is_empty() && !is_first {
                    break;
                }
                let chunk = self.packed(&part).map_err(|error| unreadable(source, error))?;
                let arguments = vec![
                    place.as_str().into(),
                    STANDARD.encode(chunk).into(),
                    Value::Bool(!is_first),
                    Value::Bool(!self.line.cp.no_compression),
                    source.mode.into(),
                ];
                if !self.file_job(&place, arguments).await? || part.len() < self.part {
                    break;
                }
                is_first = false;
            }
        }
        for directory in &sources.empty_directories {
            let place = directory.place(&self.copy.dest, into_directory);
            self.file_job(&place, vec![place.as_str().into(), Value::Null]).await?;
        }
        Ok(())
    }

    /// Sends a part; whether anybody is left to whom more can be sent.
    async fn file_job(&mut self, place: &str, arguments: Vec<Value>) -> Result<bool, Trouble> {
        let mut anybody = false;
        for (id, value, is_good) in self.job("cp.recv_chunked", arguments).await? {
            let is_good = is_good && value == Value::Bool(true);
            self.failed |= !is_good;
            let answer = self.answers.entry(id).or_insert_with(|| Answer::Files(Map::new()));
            if let Answer::Files(files) = answer {
                // The first trouble is the one to tell; what comes after it cannot make the file good.
                let known = files.entry_or(place, || value.clone());
                if *known == Value::Bool(true) {
                    *known = value;
                }
                anybody |= *known == Value::Bool(true);
            }
        }
        Ok(anybody)
    }

    /// Runs a job and waits for each target: its id, its answer, and whether it is one.
    async fn job(&self, fun: &str, arg: Vec<Value>) -> Result<Vec<(String, Value, bool)>, ClientError> {
        let mut extra = Map::new();
        if let Some(delimiter) = self.line.target.delimiter.as_deref().filter(|delimiter| !delimiter.is_empty()) {
            extra.insert("delimiter", delimiter);
        }
        let publish = Publish {
            fun: fun.into(),
            arg,
            tgt: self.copy.target.clone(),
            tgt_type: self.copy.kind.to_owned(),
            sudo_user: sudo_user(),
            extra,
            wait_ms: FIRST_MS,
            ..Publish::default()
        };
        let published = self.client.ask(&LocalAsk::Publish(Box::new(publish))).await?;
        let LocalAnswer::Published { jid, minions, absent, steps } = published else {
            return Err(ClientError::Malformed("no job".to_owned()));
        };
        let mut answers = Vec::new();
        let mut gather = Gather::new(self.client, &jid, &minions, &absent, *steps, self.timeout);
        loop {
            match gather.next().await? {
                Gathered::Outcome(outcome) => answers.push(match (outcome.state, outcome.ret) {
                    (_, Some(ret)) => (outcome.id, ret.value, ret.retcode == 0),
                    (EndState::Absent, _) => (outcome.id, without_return("Not connected"), false),
                    (EndState::Killed, _) => (outcome.id, without_return("Killed"), false),
                    _ => (outcome.id, without_return("Lost"), false),
                }),
                Gathered::Started(_) => {}
                Gathered::Silent(ids) => {
                    answers.extend(ids.into_iter().map(|id| (id, without_return("No response"), false)));
                }
                Gathered::All => return Ok(answers),
            }
        }
    }

    fn next_part(&self, file: &mut File) -> io::Result<Vec<u8>> {
        let mut part = Vec::with_capacity(self.part);
        file.take(self.part as u64).read_to_end(&mut part)?;
        Ok(part)
    }

    fn packed(&self, part: &[u8]) -> io::Result<Vec<u8>> {
        if self.line.cp.no_compression {
            return Ok(part.to_vec());
        }
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(part)?;
        packed.finish()
    }
}

fn without_return(why: &str) -> Value {
    format!("Minion did not return. [{why}]").into()
}

fn unreadable(source: &Source, error: io::Error) -> Trouble {
    Trouble::new(Exit::Failed, format!("{}: {error}", source.path.display()))
}
