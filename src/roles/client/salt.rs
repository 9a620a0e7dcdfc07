//! `salt`: runs a function on minions and shows what they answer, as it comes.

use super::gather::{Gather, Gathered};
use super::{Client, ClientError};
use crate::exec::regex::Regex;
use crate::roles::cli::arguments;
use crate::roles::cli::display::DisplayError;
use crate::roles::cli::salt::SaltLine;
use crate::roles::cli::{Display, Exit};
use crate::roles::config::{Config, Role, Surroundings};
use crate::wire::message::{EndState, LocalAnswer, LocalAsk, Outcome, Publish, Return};
use crate::wire::value::{Map, Value};
use std::time::Duration;

pub fn run(args: &[String]) -> u8 {
    let line = match SaltLine::read(args, std::io::stdin()) {
        Ok(line) => line,
        Err(stop) => return stop.report("salt").code(),
    };
    match smol::block_on(answer(&line)) {
        Ok(exit) => exit.code(),
        Err(Trouble { message, exit }) => {
            eprintln!("salt: error: {message}");
            exit.code()
        }
    }
}

/// Why a command could not be carried out.
struct Trouble {
    message: String,
    exit: Exit,
}

impl From<ClientError> for Trouble {
    fn from(error: ClientError) -> Trouble {
        Trouble { message: error.to_string(), exit: error.exit() }
    }
}

impl From<DisplayError> for Trouble {
    fn from(error: DisplayError) -> Trouble {
        Trouble { message: error.to_string(), exit: Exit::CannotCreate }
    }
}

fn trouble(exit: Exit, message: impl std::fmt::Display) -> Trouble {
    Trouble { message: message.to_string(), exit }
}

async fn answer(line: &SaltLine) -> Result<Exit, Trouble> {
    let [tgt, functions, words @ ..] = line.words.as_slice() else {
        return Err(trouble(Exit::Usage, "a target and a function are needed: salt '*' test.ping"));
    };
    let around = Surroundings::of_process(line.common.config_dir.as_ref().map(Into::into));
    let config = Config::load(Role::Master, &around).map_err(|error| trouble(Exit::Configuration, error))?;
    let options = config.master().map_err(|error| trouble(Exit::Configuration, error))?;
    let kind = line.target.kind().map_err(|stop| trouble(Exit::Usage, format!("{stop:?}")))?;
    let publish = read_job(line, tgt, kind, functions, words)?;
    let mut display = Display::new(&line.output, &config.opts)?;

    let client = Client::connect(&options.common.sock_dir).await?;
    if line.salt.preview_target {
        let ask = LocalAsk::Expand { tgt: publish.tgt, tgt_type: publish.tgt_type };
        if let LocalAnswer::Minions(minions) = client.ask(&ask).await? {
            display.show(&Value::list(minions), None, 0)?;
        }
        return Ok(Exit::Ok);
    }
    let LocalAnswer::Published { jid, minions, absent } = client.ask(&LocalAsk::Publish(Box::new(publish))).await?
    else {
        return Err(trouble(Exit::Internal, "the master did not say what became of the job"));
    };
    if minions.is_empty() && absent.is_empty() {
        display.say("No minions matched the target. No command was sent, no jid was assigned.\n");
        eprintln!("ERROR: No return received");
        return Ok(Exit::NoReturn);
    }
    if line.salt.r#async {
        display.say(&format!("Executed command with job ID: {jid}\n"));
        return Ok(Exit::Ok);
    }
    if line.salt.verbose {
        let title = format!("Executing job with jid {jid}");
        display.say(&format!("{title}\n{}\n\n", "-".repeat(title.len())));
    } else if line.salt.show_jid {
        display.say(&format!("jid: {jid}\n"));
    }
    let patience = line.salt.timeout.map_or(options.timeout, |seconds| Duration::from_secs(seconds.0));
    let mut shown = Shown::new(line, &mut display, &jid);
    let mut gather = Gather::new(&client, &jid, &minions, &absent, patience);
    loop {
        match gather.next().await? {
            Gathered::Outcome(outcome) => shown.outcome(*outcome)?,
            Gathered::Silent(ids) => ids.into_iter().try_for_each(|id| shown.without_return(&id, "No response"))?,
            Gathered::All => break,
        }
    }
    shown.finish(minions.len() + absent.len())
}

fn read_job(line: &SaltLine, tgt: &str, kind: &str, functions: &str, words: &[String]) -> Result<Publish, Trouble> {
    let separator = line.salt.args_separator.as_deref().unwrap_or(",");
    let calls = arguments::calls(functions, words, separator, &line.reading.unparsed()).map_err(|stop| {
        let exit = stop.report("salt");
        trouble(exit, "the words do not fit the functions")
    })?;
    let (fun, arg) = match calls.as_slice() {
        [one] => (Value::from(&one.fun), one.arguments.to_published()),
        several => {
            let functions = several.iter().map(|call| call.fun.as_str());
            (Value::list(functions), several.iter().map(|call| Value::List(call.arguments.to_published())).collect())
        }
    };
    let tgt = match kind {
        "list" => Value::list(tgt.split(',').map(str::trim).filter(|id| !id.is_empty())),
        _ => Value::from(tgt),
    };
    if kind == "pcre" {
        Regex::new(&tgt.to_text())
            .map_err(|error| trouble(Exit::Usage, format!("the target is no regular expression: {error}")))?;
    }
    Ok(Publish {
        fun,
        arg,
        tgt,
        tgt_type: kind.to_owned(),
        ret: line.salt.returner.clone().unwrap_or_default(),
        sudo_user: std::env::var("SUDO_USER").ok().filter(|user| !user.is_empty()),
        metadata: line.salt.metadata.as_deref().map(arguments::value),
        ..Publish::default()
    })
}

/// What has been shown of a job.
struct Shown<'a> {
    line: &'a SaltLine,
    display: &'a mut Display,
    jid: &'a str,
    /// For `--static`: all answers, to be shown together.
    together: Map,
    out: Option<String>,
    returned: usize,
    failed: usize,
    missing: usize,
    worst: i32,
}

impl<'a> Shown<'a> {
    fn new(line: &'a SaltLine, display: &'a mut Display, jid: &'a str) -> Shown<'a> {
        Shown { line, display, jid, together: Map::new(), out: None, returned: 0, failed: 0, missing: 0, worst: 0 }
    }

    fn outcome(&mut self, outcome: Outcome) -> Result<(), Trouble> {
        match (outcome.state, outcome.ret) {
            (EndState::Returned | EndState::Killed, Some(ret)) => self.returned(&outcome.id, ret),
            (EndState::Absent, _) => self.without_return(&outcome.id, "Not connected"),
            _ => self.without_return(&outcome.id, "Lost"),
        }
    }

    fn returned(&mut self, id: &str, ret: Return) -> Result<(), Trouble> {
        self.returned += 1;
        let retcode = i32::try_from(ret.retcode).unwrap_or(1);
        if retcode != 0 {
            self.failed += 1;
            self.worst = self.worst.max(retcode.max(1));
        }
        self.show(id, ret.value, ret.out.as_deref(), retcode)
    }

    fn without_return(&mut self, id: &str, why: &str) -> Result<(), Trouble> {
        self.missing += 1;
        if self.line.salt.hide_timeout {
            return Ok(());
        }
        let mut text = format!("Minion did not return. [{why}]");
        if why == "No response" {
            text.push_str(
                "\nThe minions may not have all finished running and any remaining minions will return upon \
                 completion. To look up the return data for this job later, run the following command:\n\n\
                 salt-run jobs.lookup_jid ",
            );
            text.push_str(self.jid);
        }
        self.show(id, text.into(), None, 1)
    }

    fn show(&mut self, id: &str, value: Value, out: Option<&str>, retcode: i32) -> Result<(), Trouble> {
        if self.line.salt.r#static {
            self.out = out.map(str::to_owned).or(self.out.take());
            self.together.insert(id, value);
            return Ok(());
        }
        Ok(self.display.show(&Value::from(Map::from_iter([(id, value)])), out, retcode)?)
    }

    fn finish(mut self, targeted: usize) -> Result<Exit, Trouble> {
        if self.line.salt.r#static {
            let mut together = std::mem::take(&mut self.together);
            together.sort_keys();
            self.display.show(&Value::Map(together), self.out.as_deref(), self.worst)?;
        }
        if self.line.salt.summary {
            let rule = "-".repeat(43);
            self.display.say(&format!(
                "\n\n{rule}\nSummary\n{rule}\n# of minions targeted: {targeted}\n# of minions returned: {}\n\
                 # of minions that did not return: {}\n# of minions with errors: {}\n{rule}\n",
                self.returned, self.missing, self.failed
            ));
        }
        if self.failed + self.missing > 0 {
            eprintln!("ERROR: Minions returned with non-zero exit code");
            return Ok(Exit::Failed);
        }
        Ok(Exit::Ok)
    }
}
