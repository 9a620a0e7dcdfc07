//! `batch.*`: the jobs that are handed to so many minions at a time (`salt --batch`).

use super::fleet::Order;
use super::{Ctx, Module, Run, function};
use halite_core::jid::Jid;
use halite_core::{Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "batch",
    doc: "Shows and stops batches.",
    functions: &[function::<ListActive>("list_active"), function::<Status>("status"), function::<Stop>("stop")],
};

record! {
    /// Lists the batches that are under way: how many minions each has, how many have returned (`completed`), have the
    /// job now (`active`), wait for their turn (`pending`), or ended without a return (`failed`).
    ///
    ///   salt-run batch.list_active
    pub struct ListActive {}
}

impl Run for ListActive {
    fn run(self, ctx: &Ctx) -> Reply {
        let under_way = |batch: &Map| ["active", "pending"].iter().any(|key| batch.at(key).is_some_and(Value::truthy));
        Ok(Value::List(ctx.fleet.batches()?.into_iter().filter(under_way).map(Value::Map).collect()).into())
    }
}

record! {
    /// Shows a batch in numbers, as batch.list_active does, also when it is over; nothing for a job that is no batch.
    ///
    ///   salt-run batch.status 20240610120000000000
    pub struct Status {
        /// The job's id.
        jid: String,
    }
}

impl Run for Status {
    fn run(self, ctx: &Ctx) -> Reply {
        Jid::parse(&self.jid).map_err(|error| Fault::invocation(error.to_string()))?;
        // Only the master knows of one that is under way. Where it does not run, none is.
        let live = ctx.fleet.batches().unwrap_or_default();
        if let Some(batch) = live.into_iter().find(|batch| batch.str_at("jid") == Some(&self.jid)) {
            return Ok(batch.into());
        }
        let load = ctx.archive.job(&self.jid)?.unwrap_or_default();
        match load.at("batch").and_then(Value::as_map) {
            Some(plan) => Ok(ended(ctx, &self.jid, &load, plan)?.into()),
            None => Ok(().into()),
        }
    }
}

/// A batch that the master does not hold any more, from what is kept of it.
fn ended(ctx: &Ctx, jid: &str, load: &Map, plan: &Map) -> Result<Map, Fault> {
    let (returns, mut ends) = (ctx.archive.returns(jid)?, ctx.archive.ends(jid)?);
    ends.retain(|(id, _)| !returns.iter().any(|(returned, _)| returned == id));
    let is_halted = ends.iter().any(|(_, state)| state == "cancelled");
    let has_failed = |ret: &Map| ret.at("retcode").is_some_and(Value::truthy);
    let by_failure = plan.at("failhard").is_some_and(Value::truthy)
        && (returns.iter().any(|(_, ret)| has_failed(ret)) || ends.iter().any(|(_, state)| state == "lost"));
    let reason = match is_halted {
        true if by_failure => "failhard".into(),
        true => "stop".into(),
        false => Value::Null,
    };
    let field = |key: &str| load.at(key).cloned().unwrap_or_default();
    let absent = ends.iter().filter(|(_, state)| state == "absent").map(|(id, _)| Value::from(id));
    let targets: Vec<Value> = load.at("Minions").and_then(Value::as_list).unwrap_or_default().to_vec();
    let others = absent.filter(|id| !targets.contains(id)).count();
    let total = targets.len() + others;
    Ok(Map::from_iter([
        ("jid", Value::from(jid)),
        ("fun", field("fun")),
        ("tgt", field("tgt")),
        ("tgt_type", field("tgt_type")),
        ("total", total.into()),
        ("completed", returns.len().into()),
        ("active", 0.into()),
        ("pending", 0.into()),
        ("failed", total.saturating_sub(returns.len()).into()),
        ("batch_size", plan.at("size").cloned().unwrap_or_default()),
        ("halted", is_halted.into()),
        ("halted_reason", reason),
        ("driver", "master".into()),
        ("user", field("user")),
    ]))
}

record! {
    /// Stops a batch: minions whose turn has not come never get the job, those that have it go on. False where there is
    /// no such batch under way.
    ///
    ///   salt-run batch.stop 20240610120000000000
    ///   salt-run batch.stop 20240610120000000000 kill=True
    pub struct Stop {
        /// The job's id.
        jid: String,
        /// Kill it on the minions that work on it, too.
        kill: bool = false,
    }
}

impl Run for Stop {
    fn run(self, ctx: &Ctx) -> Reply {
        Jid::parse(&self.jid).map_err(|error| Fault::invocation(error.to_string()))?;
        let stopped = ctx.fleet.stop_batch(&self.jid)?;
        if stopped && self.kill {
            let states = ctx.fleet.states(&self.jid)?;
            let works = states.iter().filter(|(_, state)| matches!(state.as_str(), Some("sent" | "taken")));
            let ids: Vec<Value> = works.map(|(id, _)| id.clone()).collect();
            if !ids.is_empty() {
                ctx.fleet.publish(Order {
                    tgt: Value::List(ids),
                    tgt_type: "list".to_owned(),
                    fun: "saltutil.kill_job".to_owned(),
                    arg: vec![self.jid.into()],
                    ..Order::default()
                })?;
            }
        }
        Ok(stopped.into())
    }
}

#[cfg(test)]
mod tests {
    use crate::runners::tests::Made;
    use halite_value::record::Arguments;
    use halite_value::{Map, Value, parse_json};

    const JID: &str = "20261129205033700833";

    fn map(json: &str) -> Map {
        parse_json(json).unwrap().as_map().unwrap().clone()
    }

    fn made() -> Made {
        let load = format!(
            r#"{{"fun": "cmd.run", "tgt": "*", "tgt_type": "glob", "user": "root", "Minions": ["a", "b", "c"],
                "batch": {{"size": 1, "failhard": true}}, "jid": "{JID}"}}"#
        );
        let live = |jid: &str, active: i64| map(&format!(r#"{{"jid": "{jid}", "active": {active}, "pending": 0}}"#));
        Made {
            jobs: vec![(JID.to_owned(), map(&load)), ("20261129205033700830".to_owned(), map("{}"))],
            returns: vec![("a".to_owned(), map(r#"{"retcode": 1}"#))],
            ends: vec![
                ("b".into(), "cancelled".into()),
                ("c".into(), "cancelled".into()),
                ("x".into(), "absent".into()),
            ],
            batches: vec![live("20261129205033700835", 1), live("20261129205033700836", 0)],
            states: map(r#"{"a": "taken", "b": "waiting", "c": "returned"}"#),
            ..Made::default()
        }
    }

    fn value(fun: &str, jid: &str) -> Value {
        made().value(fun, Arguments::positional([jid]))
    }

    #[test]
    fn a_batch_is_shown_from_the_master_else_from_what_is_kept() {
        assert_eq!(made().value("batch.list_active", Arguments::default()).as_list().unwrap().len(), 1);
        assert_eq!(value("batch.status", "20261129205033700836").at("active"), Some(&0.into()));
        let kept = value("batch.status", JID);
        let numbers = ["total", "completed", "failed", "batch_size"].map(|key| kept.at(key).unwrap().as_int().unwrap());
        assert_eq!((numbers, kept.at("halted_reason")), ([4, 1, 3, 1], Some(&"failhard".into())));
        assert_eq!(value("batch.status", "20261129205033700830"), Value::Null, "no batch");
        assert!(made().call("batch.status", Arguments::positional(["x"])).is_err());
    }

    #[test]
    fn a_batch_is_stopped_and_killed_where_it_runs() {
        assert_eq!(value("batch.stop", JID), false.into());
        let made = made();
        let arguments = Arguments::positional(["20261129205033700835"]).with("kill", true);
        assert_eq!(made.value("batch.stop", arguments), true.into());
        let killed = &made.started.borrow()[0];
        assert_eq!((killed.fun.as_str(), &killed.tgt), ("saltutil.kill_job", &Value::list(["a"])));
    }
}
