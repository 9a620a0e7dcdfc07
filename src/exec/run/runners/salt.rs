//! `salt.*`: execution functions, on the master itself or on minions.

use super::fleet::Order;
use super::{Ctx, Module, Run, function};
use halite_core::context::NoMaster;
use halite_core::{Call, Fault, Reply, module};
use halite_node::grains;
use halite_value::record;
use halite_value::record::{Arguments, Keywords, Rest};
use halite_value::{Map, Value};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub const MODULE: Module = Module {
    name: "salt",
    doc: "Calls execution functions, on the master itself or on minions.",
    functions: &[function::<Cmd>("cmd"), function::<Execute>("execute")],
};

record! {
    /// Calls an execution function on the master's own host.
    ///
    ///   salt-run salt.cmd test.ping
    ///   salt-run salt.cmd test.arg 1 2 3 key=value a=1
    pub struct Cmd {
        /// The function.
        fun: String,
        /// Its arguments.
        args: Rest,
        /// Its keyword arguments.
        kwargs: Keywords,
    }
}

impl Run for Cmd {
    fn run(mut self, ctx: &Ctx) -> Reply {
        if self.kwargs.0.remove("with_pillar").is_some_and(|wanted| wanted.truthy()) {
            return Err(Fault::invocation("with_pillar: this version compiles no pillar for the master"));
        }
        let (grains, pillar) = (grains::collect(ctx.host, ctx.opts), Map::new());
        let call = Call { fun: self.fun.clone(), jid: ctx.jid.to_owned(), ..Call::default() };
        let world = halite_core::Ctx {
            host: ctx.host,
            master: &NoMaster,
            functions: ctx.functions,
            grains: &grains,
            pillar: &pillar,
            opts: ctx.opts,
            call: &call,
            cancelled: &AtomicBool::new(false),
            scratch: Default::default(),
            audience: Default::default(),
        };
        module::call(&world, &self.fun, Arguments { positional: self.args.0, keywords: self.kwargs.0 })
    }
}

record! {
    /// Calls an execution function on minions: their answers by id. Who does not answer is left out.
    ///
    ///   salt-run salt.execute '*' test.ping
    ///   salt-run salt.execute 'G@os:Debian' cmd.run arg='[uptime]' tgt_type=compound
    pub struct Execute {
        /// The target.
        tgt: Value,
        /// The function.
        fun: String,
        /// Its arguments, as a list.
        arg: Vec<Value> = Value::List(Vec::new()),
        /// Seconds for which a minion may say nothing of the job.
        timeout: Option<f64> = (),
        /// The kind of target.
        tgt_type: String = "glob",
        /// Where else the answers go.
        ret: String = "",
        /// The job's id; empty: a new one.
        jid: String = "",
        /// Its keyword arguments, as a map.
        kwarg: Option<Map> = (),
        /// More keyword arguments.
        kwargs: Keywords,
    }
}

impl Run for Execute {
    fn run(self, ctx: &Ctx) -> Reply {
        if !self.ret.is_empty() {
            return Err(Fault::execution("ret: returners are not part of this version: nothing was sent"));
        }
        let mut keywords = self.kwarg.unwrap_or_default();
        keywords.extend(self.kwargs.0);
        let arguments = Arguments { positional: self.arg, keywords };
        let gathered = ctx.fleet.publish(Order {
            tgt: self.tgt,
            tgt_type: self.tgt_type,
            fun: self.fun,
            arg: arguments.to_published(),
            ret: self.ret,
            jid: self.jid,
            timeout: self.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        })?;
        if gathered.minions.is_empty() {
            (ctx.say)("No minions matched the target. No command was sent, no jid was assigned.\n")?;
        }
        let mut answers = gathered.by_minion();
        answers.sort_keys();
        Ok(answers.into())
    }
}
