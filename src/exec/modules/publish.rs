//! `publish.*`: has the master start jobs on other minions, or call a runner, where its options `peer` and `peer_run` let
//! this minion.

use halite_core::context::{PeerJob, PeerReturn};
use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply};
use halite_lang::yaml;
use halite_value::record;
use halite_value::{Map, Value};
use std::time::Duration;

pub const MODULE: Module = Module {
    name: "publish",
    doc: "Have other minions, and the master, do something.",
    functions: &[function::<FullData>("full_data"), function::<Publish>("publish"), function::<Runner>("runner")],
};

record! {
    /// Runs a function on other minions and returns what they answer within the time. Empty where the master does not let
    /// this minion, or has none.
    ///
    ///   salt '*' publish.publish '*' cmd.run 'ls -la /tmp'
    ///   salt '*' publish.publish 'os:Fedora' network.interfaces '' grain
    ///   salt '*' publish.publish '*' test.kwarg arg='["cheese=spam", "spam=cheese"]'
    pub struct Publish {
        /// Which minions.
        tgt: Value,
        /// The function, or several with commas between them.
        fun: String,
        /// Its arguments: one, or a list; `name=value` is a keyword.
        arg: Value = (),
        /// How the target is read.
        tgt_type: String = "glob",
        /// Where else the minions send their answers.
        returner: Option<String> = "",
        /// How long they are waited for, in seconds.
        timeout: f64 = 5.0,
        /// The master that is asked, where there are several.
        via_master: Option<String> = (),
    }
}

impl Run for Publish {
    fn run(self, ctx: &Ctx) -> Reply {
        if let Some(wanted) = self.via_master.filter(|wanted| !wanted.is_empty()) {
            let own = ctx.opt("master").map(Value::to_text).unwrap_or_default();
            if own != wanted {
                return Err(Fault::invocation(format!(
                    "Could not find match for {wanted} in list of configured masters ['{own}'] when using `via_master` option"
                )));
            }
        }
        let job = job(self.tgt, self.fun, &self.arg, self.tgt_type, self.returner)?;
        let returns = returns(ctx, &job, self.timeout)?;
        Ok(returns.into_iter().map(|one| (Value::from(one.id), one.value)).collect::<Map>().into())
    }
}

record! {
    /// The same as publish.publish, with all that a return has: under `ret` what was answered, under `out` how it is shown.
    ///
    ///   salt '*' publish.full_data '*' cmd.run 'ls -la /tmp'
    pub struct FullData {
        /// Which minions.
        tgt: Value,
        /// The function, or several with commas between them.
        fun: String,
        /// Its arguments: one, or a list; `name=value` is a keyword.
        arg: Value = (),
        /// How the target is read.
        tgt_type: String = "glob",
        /// Where else the minions send their answers.
        returner: Option<String> = "",
        /// How long they are waited for, in seconds.
        timeout: f64 = 5.0,
    }
}

impl Run for FullData {
    fn run(self, ctx: &Ctx) -> Reply {
        let job = job(self.tgt, self.fun, &self.arg, self.tgt_type, self.returner)?;
        let full = |one: PeerReturn| {
            let mut data = Map::from_iter([("ret", one.value)]);
            if let Some(out) = one.out {
                data.insert("out", out);
            }
            (Value::from(one.id), Value::from(data))
        };
        Ok(returns(ctx, &job, self.timeout)?.into_iter().map(full).collect::<Map>().into())
    }
}

fn job(tgt: Value, fun: String, arg: &Value, tgt_type: String, ret: Option<String>) -> Result<PeerJob, Fault> {
    Ok(PeerJob { fun, arg: listed(arg)?, tgt, tgt_type, ret: ret.unwrap_or_default() })
}

/// One argument or a list of them, which may be written as YAML.
fn listed(arg: &Value) -> Result<Vec<Value>, Fault> {
    Ok(match arg {
        Value::Null => Vec::new(),
        Value::List(items) => items.clone(),
        Value::Str(text) if text.is_empty() => Vec::new(),
        Value::Str(text) if text.starts_with('[') => match yaml::load(text) {
            Ok(Value::List(items)) => items,
            _ => vec![arg.clone()],
        },
        one => vec![one.clone()],
    })
}

/// What the minions answer, until all have or the time is over.
fn returns(ctx: &Ctx, job: &PeerJob, timeout: f64) -> Result<Vec<PeerReturn>, Fault> {
    let mut all = Vec::new();
    if job.fun.split(',').any(|fun| fun.trim().starts_with("publish.")) {
        log::info!("Cannot publish publish calls. Returning {{}}");
        return Ok(all);
    }
    let Some(jid) = ctx.master.publish(job)? else { return Ok(all) };
    let end = ctx.host.now() + Duration::try_from_secs_f64(timeout).unwrap_or_default();
    let mut seen = 0;
    loop {
        let news = ctx.master.peer_returns(&jid, seen)?;
        seen = news.seen;
        all.extend(news.returns);
        if news.open == 0 || ctx.host.now() >= end {
            return Ok(all);
        }
        if ctx.is_cancelled() {
            return Err(Fault::Cancelled);
        }
    }
}

record! {
    /// Has the master call a runner and returns what it answers. Empty where the master does not let this minion.
    ///
    ///   salt '*' publish.runner manage.down
    pub struct Runner {
        /// The runner.
        fun: String,
        /// Its arguments: one, or a list; `name=value` is a keyword.
        arg: Value = (),
        /// How long it is waited for, in seconds.
        timeout: f64 = 5.0,
    }
}

impl Run for Runner {
    fn run(self, ctx: &Ctx) -> Reply {
        let time = Duration::try_from_secs_f64(self.timeout).unwrap_or_default();
        match ctx.master.call_runner(&self.fun, &listed(&self.arg)?, time)? {
            Some(value) => Ok(value.into()),
            None => Ok(format!("'{}' runner publish timed out", self.fun).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::context::{Master, NoMaster, PeerReturns};
    use halite_core::module::call;
    use halite_value::record::Arguments;
    use std::sync::Mutex;

    /// A master that lets everybody do everything, and tells the returns one by one.
    #[derive(Default)]
    struct Kind(Mutex<Vec<PeerJob>>);

    impl Master for Kind {
        fn fire_event(&self, _: &str, _: Map) -> Result<(), Fault> {
            Ok(())
        }

        fn tell_minion(&self, _: &str, _: Map) -> Result<(), Fault> {
            Ok(())
        }

        fn publish(&self, job: &PeerJob) -> Result<Option<String>, Fault> {
            self.0.lock().unwrap().push(job.clone());
            Ok(Some("20260101000000000000".to_owned()))
        }

        fn peer_returns(&self, _: &str, seen: usize) -> Result<PeerReturns, Fault> {
            let ids = ["a", "b"];
            let one =
                PeerReturn { id: ids[seen].to_owned(), value: true.into(), out: (seen == 0).then(|| "x".to_owned()) };
            Ok(PeerReturns { returns: vec![one], seen: seen + 1, open: 1 - seen })
        }

        fn call_runner(&self, fun: &str, arg: &[Value], _: Duration) -> Result<Option<Value>, Fault> {
            Ok((fun == "manage.up").then(|| Value::List(arg.to_vec())))
        }
    }

    fn run(master: &dyn Master, fun: &str, words: &[&str]) -> String {
        let world = World::new();
        let arguments = Arguments::positional(words.iter().copied());
        call(&world.ctx(master), fun, arguments).unwrap().value.to_json()
    }

    #[test]
    fn all_returns_are_waited_for() {
        let master = Kind::default();
        assert_eq!(run(&master, "publish.publish", &["*", "test.ping"]), r#"{"a": true, "b": true}"#);
        let full = run(&master, "publish.full_data", &["*", "cmd.run", "ls -la"]);
        assert_eq!(full, r#"{"a": {"ret": true, "out": "x"}, "b": {"ret": true}}"#);
        run(&master, "publish.publish", &["*", "test.kwarg", "[a=1, b]"]);
        let arguments: Vec<usize> = master.0.lock().unwrap().iter().map(|job| job.arg.len()).collect();
        assert_eq!(arguments, [0, 1, 2]);
        assert_eq!(run(&master, "publish.publish", &["*", "test.ping,publish.publish"]), "{}");
        assert_eq!(run(&master, "publish.runner", &["manage.up", "x"]), r#"["x"]"#);
        assert_eq!(run(&master, "publish.runner", &["manage.down"]), r#""'manage.down' runner publish timed out""#);
    }

    #[test]
    fn without_a_master_nobody_answers() {
        assert_eq!(run(&NoMaster, "publish.publish", &["*", "test.ping"]), "{}");
        let told = run(&NoMaster, "publish.runner", &["manage.up"]);
        assert_eq!(told, r#""No access to master. If using salt-call with --local, please remove.""#);
    }
}
