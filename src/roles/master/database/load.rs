//! A job as Salt's job cache keeps it, its `load`: written from a job and read into one again.

use super::Kept;
use halite_value::{Map, Value};
use halite_wire::message::{AtFailure, Batch, BatchSize, Job, Return};

/// A job as Salt's job cache keeps it (its `load`), with the minions that are expected to answer.
pub(super) fn load_of(job: &Job, minions: &[String]) -> Value {
    let mut load = Map::from_iter([
        ("cmd", Value::from("publish")),
        ("fun", job.fun.clone()),
        ("arg", Value::List(job.arg.clone())),
        ("tgt", job.tgt.clone()),
        ("tgt_type", Value::from(&job.tgt_type)),
        ("jid", Value::from(&job.jid)),
        ("ret", Value::from(&job.ret)),
        ("user", Value::from(&job.user)),
        ("Minions", Value::list(minions.iter().map(String::as_str))),
    ]);
    if let Some(metadata) = &job.metadata {
        load.insert("metadata", metadata.clone());
    }
    if !job.extra.is_empty() {
        load.insert("extra", job.extra.clone());
    }
    if let Some(batch) = &job.batch {
        load.insert("batch", kept_batch(batch));
    }
    Value::Map(load)
}

/// How a batch stands in the load of its job. Its size was made a number before.
fn kept_batch(batch: &Batch) -> Map {
    let size = match batch.size {
        BatchSize::Count(count) => Value::from(count),
        BatchSize::Percent(percent) => Value::from(format!("{percent}%")),
    };
    Map::from_iter([
        ("size", size),
        ("wait", batch.wait_s.into()),
        ("failhard", (batch.at_failure == AtFailure::Stop).into()),
        ("timeout", batch.timeout_s.into()),
    ])
}

fn batch_of(kept: &Map) -> Batch {
    let number = |key: &str| kept.at(key).and_then(Value::as_int).and_then(|n| u64::try_from(n).ok());
    Batch {
        size: BatchSize::Count(number("size").unwrap_or(1)),
        wait_s: number("wait").unwrap_or_default(),
        at_failure: if kept.at("failhard").is_some_and(Value::truthy) { AtFailure::Stop } else { AtFailure::GoOn },
        timeout_s: number("timeout").unwrap_or_default(),
    }
}

/// The load of a job that a minion started by itself, from what it returned.
pub(super) fn own_load(id: &str, ret: &Return) -> Value {
    let job = Job {
        jid: ret.jid.clone(),
        fun: ret.fun.clone(),
        arg: ret.fun_args.clone(),
        tgt: id.into(),
        tgt_type: "list".to_owned(),
        metadata: ret.metadata.clone(),
        ..Job::default()
    };
    load_of(&job, &[id.to_owned()])
}

/// The job that is kept.
pub(super) fn job_of(kept: &Kept) -> Job {
    let text = |key: &str| kept.load.str_at(key).unwrap_or_default().to_owned();
    Job {
        jid: kept.jid.clone(),
        fun: kept.load.at("fun").cloned().unwrap_or_default(),
        arg: kept.load.at("arg").and_then(Value::as_list).unwrap_or_default().to_vec(),
        tgt: kept.load.at("tgt").cloned().unwrap_or_default(),
        tgt_type: text("tgt_type"),
        ret: text("ret"),
        user: text("user"),
        metadata: kept.load.at("metadata").cloned(),
        extra: kept.load.at("extra").and_then(Value::as_map).cloned().unwrap_or_default(),
        batch: kept.load.at("batch").and_then(Value::as_map).map(batch_of),
    }
}
