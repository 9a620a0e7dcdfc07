//! What states are run in. Unlike a [`Ctx`] it can be taken along to another thread, and its grains and pillar can be
//! replaced on the way.

use halite_core::Ctx;
use halite_core::context::{Call, Master};
use halite_core::host::Host;
use halite_core::module::Functions;
use halite_core::pillar_request::Asked;
use halite_node::{grains, pillar};
use halite_value::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Clone)]
pub struct World<'a> {
    /// The host that states change.
    pub host: &'a dyn Host,
    pub opts: &'a Map,
    pub master: &'a dyn Master,
    functions: &'a dyn Functions,
    pub call: &'a Call,
    cancelled: &'a AtomicBool,
    grains: Arc<Map>,
    pillar: Arc<Map>,
    /// By what the pillar is compiled anew (`reload_pillar`).
    asked: Arc<Asked>,
}

impl<'a> World<'a> {
    pub fn new(ctx: &Ctx<'a>, asked: Asked) -> World<'a> {
        World {
            host: ctx.host,
            opts: ctx.opts,
            master: ctx.master,
            functions: ctx.functions,
            call: ctx.call,
            cancelled: ctx.cancelled,
            grains: Arc::new(ctx.grains.clone()),
            pillar: Arc::new(ctx.pillar.clone()),
            asked: Arc::new(asked),
        }
    }

    /// The same world as functions see it, on this host or a view of it.
    pub fn ctx<'c>(&'c self, host: &'c dyn Host) -> Ctx<'c> {
        Ctx {
            host,
            master: self.master,
            functions: self.functions,
            grains: &self.grains,
            pillar: &self.pillar,
            opts: self.opts,
            call: self.call,
            cancelled: self.cancelled,
            scratch: Default::default(),
            audience: Default::default(),
        }
    }

    /// Whether the job was killed.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub fn is_test(&self) -> bool {
        self.opts.at("test").is_some_and(Value::truthy)
    }

    /// Sees the grains that a state has written.
    pub fn take_written_grains(&mut self, scratch: &mut Map) {
        let Some(Value::Map(written)) = scratch.remove(grains::WRITTEN) else {
            return;
        };
        let all = Arc::make_mut(&mut self.grains);
        for (key, value) in written {
            match value {
                Value::List(mut values) if !values.is_empty() => drop(all.insert(key, values.remove(0))),
                _ => drop(all.remove_value(&key)),
            }
        }
    }

    /// Looks again at what a state says that it may have changed (`reload_grains`, `reload_pillar`).
    pub fn reload(&mut self, low: &Map) {
        let wants = |name: &str| low.at(name).is_some_and(Value::truthy);
        if wants("reload_grains") {
            let mut grains = grains::collect(self.host, self.opts);
            if let Some(id) = self.opts.at("id") {
                grains.insert("id", id.clone());
            }
            self.grains = Arc::new(grains);
        }
        if wants("reload_pillar") {
            let anew = pillar::gather(&self.ctx(self.host), &self.asked);
            match anew {
                Ok(pillar) => self.pillar = Arc::new(pillar),
                Err(fault) => log::error!("reload_pillar: there is no pillar, and the one before stays: {fault}"),
            }
        }
    }
}
