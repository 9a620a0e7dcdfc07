//! Runs a job's functions and makes its return. The same for the daemon's threads, a worker and `salt-call`.

use super::sudo;
use halite_core::context::Master;
use halite_core::host::Host;
use halite_core::module::Place;
use halite_core::{Call, Ctx, Fault, Reply, Returned};
use halite_run::modules;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use halite_wire::message::{Job, Return};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

/// The world that a job runs in.
pub struct World<'a> {
    pub host: &'a dyn Host,
    pub master: &'a dyn Master,
    pub grains: &'a Map,
    pub pillar: &'a Map,
    pub opts: &'a Map,
    pub cancelled: &'a AtomicBool,
}

/// True when every function of the job may run on a thread of the daemon.
pub fn is_inline(job: &Job) -> bool {
    calls(job).iter().all(|(fun, _)| modules::find(fun).is_none_or(|function| function.place == Place::Inline))
}

/// Whether one of the job's functions may look at the pillar; of those that are inline, the ones that look at all that a
/// minion is configured with.
pub fn may_see_pillar(job: &Job) -> bool {
    calls(job).iter().any(|(fun, _)| sees_pillar(fun))
}

/// Whether a function may look at the pillar.
pub fn sees_pillar(fun: &str) -> bool {
    let is_inline = modules::find(fun).is_none_or(|function| function.place == Place::Inline);
    !is_inline || fun.starts_with("config.")
}

/// Runs the job. A function that fails, or that panics, is a return like any other.
pub fn execute(world: &World, job: &Job) -> Return {
    let mut ret = Return {
        jid: job.jid.clone(),
        fun: job.fun.clone(),
        fun_args: job.arg.clone(),
        metadata: job.metadata.clone(),
        ..Return::default()
    };
    let Value::List(_) = &job.fun else {
        let (fun, arguments) = calls(job).pop().unwrap_or_default();
        let done = call(world, job, &fun, arguments);
        ret.value = done.value;
        ret.retcode = i64::from(done.retcode);
        ret.success = done.retcode == 0;
        ret.out = done.out.map(str::to_owned);
        return ret;
    };
    // Several functions: the job has failed when one has.
    let mut answers = Vec::new();
    for (fun, arguments) in calls(job) {
        let done = call(world, job, &fun, arguments);
        ret.retcode = ret.retcode.max(i64::from(done.retcode));
        answers.push((fun, done.value));
    }
    ret.success = ret.retcode == 0;
    // In a list a function that is called twice has two answers; in a map, which is Salt's default, the last one.
    ret.value = match world.opts.at("multifunc_ordered").is_some_and(Value::truthy) {
        true => Value::List(answers.into_iter().map(|(_, answer)| answer).collect()),
        false => Value::Map(answers.into_iter().collect()),
    };
    ret
}

/// Each function of the job with its arguments.
fn calls(job: &Job) -> Vec<(String, Arguments)> {
    let Value::List(functions) = &job.fun else {
        return vec![(job.fun.to_text(), Arguments::from_published(&job.arg))];
    };
    let arguments = |at: usize| job.arg.get(at).and_then(Value::as_list).unwrap_or_default();
    functions.iter().enumerate().map(|(at, fun)| (fun.to_text(), Arguments::from_published(arguments(at)))).collect()
}

fn call(world: &World, job: &Job, fun: &str, arguments: Arguments) -> Returned {
    let reply = match sudo::user(world.opts) {
        Some(user) => sudo::call(world, user, fun, &arguments),
        None => reply(world, job, fun, arguments),
    };
    match reply {
        Ok(returned) => {
            let retcode = modules::exit_code(&returned);
            returned.with_retcode(retcode)
        }
        Err(fault) => {
            let (value, retcode) = fault.shown(fun);
            Returned::from(value).with_retcode(retcode)
        }
    }
}

/// Calls one function for a job. A panic in it is a fault like any other.
pub fn reply(world: &World, job: &Job, fun: &str, arguments: Arguments) -> Reply {
    let call = Call {
        fun: fun.to_owned(),
        jid: job.jid.clone(),
        tgt: job.tgt.clone(),
        tgt_type: job.tgt_type.clone(),
        ret: job.ret.clone(),
        user: job.user.clone(),
        metadata: job.metadata.clone(),
    };
    let ctx = Ctx {
        host: world.host,
        master: world.master,
        functions: &modules::FUNCTIONS,
        grains: world.grains,
        pillar: world.pillar,
        opts: world.opts,
        call: &call,
        cancelled: world.cancelled,
        scratch: Default::default(),
        audience: Default::default(),
    };
    let reply = catch_unwind(AssertUnwindSafe(|| modules::call_published(&ctx, arguments)));
    reply.unwrap_or_else(|panic| Err(Fault::Internal(format!("a fault in '{fun}': {}", panic_text(&panic)))))
}

fn panic_text(panic: &Box<dyn std::any::Any + Send>) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| text.to_string())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_core::context::NoMaster;
    use halite_core::host::fake::Fake;

    fn answer(opts: &Map) -> Value {
        let host = Fake::new();
        let (nothing, cancelled) = (Map::new(), AtomicBool::new(false));
        let world =
            World { host: &host, master: &NoMaster, grains: &nothing, pillar: &nothing, opts, cancelled: &cancelled };
        let echo = |text: &str| Value::list([text]);
        let fun = Value::list(["test.echo", "test.ping", "test.echo"]);
        let job = Job { fun, arg: vec![echo("a"), Value::List(vec![]), echo("b")], ..Job::default() };
        execute(&world, &job).value
    }

    #[test]
    fn several_functions_answer_by_name_or_in_their_order() {
        assert_eq!(
            answer(&Map::new()),
            Value::Map(Map::from_iter([("test.echo", Value::from("b")), ("test.ping", true.into())]))
        );
        let ordered = Map::from_iter([("multifunc_ordered", true)]);
        assert_eq!(answer(&ordered), Value::List(vec!["a".into(), true.into(), "b".into()]));
    }
}
