//! `salt`: runs a function on minions and shows what they answer, as it comes.

mod batch;
mod doc;
mod progress;
mod shown;

use super::gather::{FIRST_MS, Gather, Gathered};
use super::{Account, Client, ClientError, configured, sudo_user};
use crate::cli::arguments;
use crate::cli::arguments::Called;
use crate::cli::exit::{complain, print};
use crate::cli::salt::{Request, SaltLine};
use crate::cli::{Display, Exit, Trouble};
use crate::config::{Config, MasterOptions};
use halite_core::returners::JOB_CACHE;
use halite_lang::random;
use halite_lang::target::Target;
use halite_value::{Map, Value};
use halite_wire::message::{LocalAnswer, LocalAsk, Publish, Steps};
use shown::Shown;
use std::time::Duration;

pub fn run(args: &[String]) -> u8 {
    let line = match SaltLine::read(args, std::io::stdin()) {
        Ok(line) => line,
        Err(stop) => return stop.report("salt").code(),
    };
    match smol::block_on(answer(&line)) {
        Ok(exit) => exit.code(),
        Err(trouble) => trouble.report("salt").code(),
    }
}

async fn answer(line: &SaltLine) -> Result<Exit, Trouble> {
    if line.salt.config_dump {
        return dump(line);
    }
    let request = line.request()?;
    let (mut config, options) = configured(&line.common, &line.logging, Account::Callers)?;
    if line.salt.output_diff {
        config.opts.insert("state_output_diff", true);
    }
    let line = &with_defaults(line, &config);
    refuse_what_is_not_there(line)?;
    understand(&request, &config)?;
    let mut display = Display::new(&line.output, &config.opts)?;
    let client = Client::connect(&options.common.sock_dir).await?;
    let mut publish = publish(line, &request);
    if line.salt.preview_target {
        let minions = expand(&client, &publish).await?;
        let is_empty = minions.is_empty();
        display.show(&Value::list(minions), None, 0)?;
        if is_empty {
            complain("ERROR: No return received");
        }
        return Ok(if is_empty { Exit::NoReturn } else { Exit::Ok });
    }
    if let Some(count) = line.salt.subset {
        choose(&client, &mut publish, count).await?;
    }
    publish.batch = batch::plan(line, &config, timeout(line, &options), || expand(&client, &publish)).await?;
    let is_batch = publish.batch.is_some();
    let wanted = wanted(&publish);
    let LocalAnswer::Published { jid, minions, absent, steps } =
        client.ask(&LocalAsk::Publish(Box::new(publish))).await?
    else {
        return Err(Trouble::new(Exit::Internal, "the master did not say what became of the job"));
    };
    let job = Published { jid, minions, absent, first: *steps, wanted, is_batch };
    if job.minions.is_empty() && job.absent.is_empty() {
        display.say("No minions matched the target. No command was sent, no jid was assigned.\n");
        match is_batch {
            true => display.say("No minions matched the target.\n"),
            false => display.show(&Map::new().into(), None, 0)?,
        }
        complain("ERROR: No return received");
        return Ok(Exit::NoReturn);
    }
    if line.salt.r#async {
        let what = if is_batch { "batch command" } else { "command" };
        display.say(&format!("Executed {what} with job ID: {}\n", job.jid));
        return Ok(Exit::Ok);
    }
    follow(line, &options, &client, &job, display).await
}

/// The command line with what the configuration makes the rule.
fn with_defaults(line: &SaltLine, config: &Config) -> SaltLine {
    let mut line = line.clone();
    line.salt.show_jid |= config.truth("show_jid");
    line.salt.summary |= config.truth("cli_summary");
    line.salt.hide_timeout |= !config.truth("show_timeout");
    line
}

/// A job that the master has started.
struct Published {
    jid: String,
    minions: Vec<String>,
    absent: Vec<String>,
    /// What happened at once.
    first: Steps,
    /// The ids of a list target, as they were asked for.
    wanted: Vec<String>,
    is_batch: bool,
}

impl Published {
    /// Ids that were asked for by name and are no minions of this master.
    fn unknown(&self) -> impl Iterator<Item = &String> {
        self.wanted.iter().filter(|id| !self.minions.contains(id) && !self.absent.contains(id))
    }
}

/// Shows what becomes of a job until each target has ended.
async fn follow(
    line: &SaltLine,
    options: &MasterOptions,
    client: &Client,
    job: &Published,
    mut display: Display,
) -> Result<Exit, Trouble> {
    if job.is_batch {
        // Each answer names the job.
    } else if line.salt.verbose {
        let title = format!("Executing job with jid {}", job.jid);
        display.say(&format!("{title}\n{}\n\n", "-".repeat(title.len())));
    } else if line.salt.show_jid {
        display.say(&format!("jid: {}\n", job.jid));
    }
    let first = job.first.clone();
    let mut gather = match job.is_batch {
        true => Gather::of_batch(client, &job.jid, &job.minions, &job.absent, first),
        false => Gather::new(client, &job.jid, &job.minions, &job.absent, first, timeout(line, options)),
    };
    let mut shown = Shown::new(line, display, job);
    for id in job.unknown() {
        shown.without_return(id, "No such minion")?;
    }
    loop {
        match gather.next().await? {
            Gathered::Started(ids) => shown.started(&ids),
            Gathered::Outcome(outcome) => shown.outcome(*outcome)?,
            Gathered::Silent(ids) => ids.iter().try_for_each(|id| shown.without_return(id, "No response"))?,
            Gathered::All => break,
        }
    }
    shown.finish()
}

/// For how long a minion may say nothing of the job.
fn timeout(line: &SaltLine, options: &MasterOptions) -> Duration {
    let asked = line.salt.timeout.filter(|seconds| seconds.0 > 0);
    asked.map_or(options.timeout, |seconds| Duration::from_secs(seconds.0))
}

/// `--config-dump`: the master's configuration as YAML.
fn dump(line: &SaltLine) -> Result<Exit, Trouble> {
    let (config, _) = configured(&line.common, &line.logging, Account::Callers)?;
    let mut opts = config.opts;
    opts.sort_keys();
    let style = halite_node::outputters::Style {
        colors: halite_node::outputters::Colors::Off,
        indent: None,
        retcode: 0,
        opts: &Map::new(),
    };
    let text = halite_node::outputters::show(&Value::Map(opts), "yaml", &style).text;
    print(&(text + "\n")).map_err(Trouble::unprintable)?;
    Ok(Exit::Ok)
}

/// What was asked for and cannot be had must not be passed over in silence.
fn refuse_what_is_not_there(line: &SaltLine) -> Result<(), Trouble> {
    let salt = &line.salt;
    let mut returners = salt.returner.iter().flat_map(|names| names.split(','));
    let missing = returners.find(|name| *name != JOB_CACHE).map(|_| "--return");
    let missing = missing.or(salt.return_config.as_ref().map(|_| "--return_config"));
    if let Some(option) = missing.or(salt.return_kwargs.as_ref().map(|_| "--return_kwargs")) {
        let message = format!("{option}: returners are not part of this version: nothing was sent");
        return Err(Trouble::new(Exit::Unavailable, message));
    }
    if line.target.delimiter.as_deref().is_some_and(str::is_empty) {
        return Err(Trouble::new(Exit::Usage, "--delimiter is empty"));
    }
    Ok(())
}

/// A target that nobody understands is the command line's fault; it is said before anybody is asked.
fn understand(request: &Request, config: &Config) -> Result<(), Trouble> {
    let nodegroups = config.opts.at("nodegroups").and_then(Value::as_map);
    Target::parse_with(request.kind, &request.target, nodegroups, &request.delimiter)
        .map_err(|error| Trouble::new(Exit::Usage, error))?;
    Ok(())
}

fn publish(line: &SaltLine, request: &Request) -> Publish {
    let (fun, arg) = match request.calls.as_slice() {
        [one] => (Value::from(&one.fun), one.arguments.to_published()),
        several => {
            let arguments = |call: &Called| Value::List(call.arguments.to_published());
            (Value::list(several.iter().map(|call| call.fun.as_str())), several.iter().map(arguments).collect())
        }
    };
    let mut extra = Map::new();
    if request.delimiter != halite_lang::target::DELIMITER {
        extra.insert("delimiter", request.delimiter.as_str());
    }
    if line.salt.start_event {
        extra.insert("start_event", true);
    }
    Publish {
        fun,
        arg,
        tgt: request.target.clone(),
        tgt_type: request.kind.to_owned(),
        sudo_user: sudo_user(),
        metadata: line.salt.metadata.as_deref().map(arguments::value),
        wait_ms: if line.salt.r#async { 0 } else { FIRST_MS },
        extra,
        ..Publish::default()
    }
}

/// The ids of a list target.
fn wanted(publish: &Publish) -> Vec<String> {
    match (&publish.tgt, publish.tgt_type.as_str()) {
        (Value::List(ids), "list") => ids.iter().map(Value::to_text).filter(|id| !id.is_empty()).collect(),
        _ => Vec::new(),
    }
}

async fn expand(client: &Client, publish: &Publish) -> Result<Vec<String>, ClientError> {
    let ask = LocalAsk::Expand {
        tgt: publish.tgt.clone(),
        tgt_type: publish.tgt_type.clone(),
        delimiter: publish.extra.str_at("delimiter").map(str::to_owned),
    };
    match client.ask(&ask).await? {
        LocalAnswer::Minions(minions) => Ok(minions),
        _ => Err(ClientError::Malformed("no minions".to_owned())),
    }
}

/// `--subset`: so many of the targets, chosen at random among those that are connected, then among the others.
async fn choose(client: &Client, publish: &mut Publish, count: u64) -> Result<(), ClientError> {
    let mut minions = expand(client, publish).await?;
    let LocalAnswer::Presence { connected, .. } = client.ask(&LocalAsk::Presence).await? else {
        return Err(ClientError::Malformed("no presence".to_owned()));
    };
    let mut keyed: Vec<(bool, u64, String)> =
        minions.drain(..).map(|id| (!connected.contains(&id), random::bits(), id)).collect();
    keyed.sort();
    keyed.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    publish.tgt = Value::list(keyed.into_iter().map(|(_, _, id)| id));
    publish.tgt_type = "list".to_owned();
    publish.extra.remove("delimiter");
    Ok(())
}
