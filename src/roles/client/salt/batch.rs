//! Whether a job is run in a batch, and how.

use crate::cli::exit::print;
use crate::cli::options::Seconds;
use crate::cli::options::batch_size;
use crate::cli::salt::SaltLine;
use crate::cli::{Exit, Trouble};
use crate::client::ClientError;
use crate::config::Config;
use halite_value::Value;
use halite_wire::message::{AtFailure, Batch, BatchSize};
use std::time::Duration;

/// How many at a time in a batch that a limit makes, where nothing says so.
const SAFE_SIZE: BatchSize = BatchSize::Count(8);

/// The batch that the command line asks for, else the one that `batch_safe_limit` makes of a job for so many minions.
pub async fn plan<F>(
    line: &SaltLine,
    config: &Config,
    timeout: Duration,
    targets: impl FnOnce() -> F,
) -> Result<Option<Batch>, Trouble>
where
    F: Future<Output = Result<Vec<String>, ClientError>>,
{
    let size = match (line.salt.batch, safe_limit(line, config)?) {
        (Some(size), _) => size,
        (None, Some(limit)) if targets().await?.len() >= limit => {
            if !line.salt.r#static {
                print("\nNOTICE: Too many minions targeted, switching to batch execution.\n")
                    .map_err(Trouble::unprintable)?;
            }
            safe_size(line, config)?
        }
        _ => return Ok(None),
    };
    let stops = line.salt.failhard || config.truth("failhard");
    Ok(Some(Batch {
        size,
        wait_s: line.salt.batch_wait.map_or(0, |Seconds(seconds)| seconds),
        at_failure: if stops { AtFailure::Stop } else { AtFailure::GoOn },
        timeout_s: timeout.as_secs().max(1),
    }))
}

/// From how many targets on a job is run in a batch. One and less is no limit, as in Salt.
fn safe_limit(line: &SaltLine, config: &Config) -> Result<Option<usize>, Trouble> {
    let limit = match (line.salt.batch_safe_limit, config.opts.at("batch_safe_limit")) {
        (Some(limit), _) => limit,
        (None, None | Some(Value::Null)) => 0,
        (None, Some(value)) => value
            .as_int()
            .and_then(|limit| u64::try_from(limit).ok())
            .ok_or_else(|| wrong("batch_safe_limit", value, "not a number of minions"))?,
    };
    Ok(usize::try_from(limit).ok().filter(|limit| *limit > 1))
}

fn safe_size(line: &SaltLine, config: &Config) -> Result<BatchSize, Trouble> {
    match (line.salt.batch_safe_size, config.opts.at("batch_safe_size")) {
        (Some(size), _) => Ok(size),
        (None, None | Some(Value::Null)) => Ok(SAFE_SIZE),
        (None, Some(value)) => batch_size(&value.to_text()).map_err(|why| wrong("batch_safe_size", value, &why)),
    }
}

fn wrong(option: &str, value: &Value, why: &str) -> Trouble {
    Trouble::new(Exit::Configuration, format!("the master's option {option}: {value}: {why}"))
}
