//! `event.*`: events for the master's bus and for the minion itself.

use halite_core::module::{Module, Run, function};
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "event",
    doc: "Put events on the master's bus, or tell the minion something.",
    functions: &[function::<Fire>("fire"), function::<FireMaster>("fire_master"), function::<Send>("send")],
};

record! {
    /// Tells the daemon of this minion something. The event does not leave the host.
    ///
    ///   salt '*' event.fire '{stuff: things}' my/tag
    pub struct Fire {
        /// The event's data.
        data: Map,
        /// The event's tag.
        tag: String,
    }
}

impl Run for Fire {
    fn run(self, ctx: &Ctx) -> Reply {
        ctx.master.tell_minion(&self.tag, self.data)?;
        Ok(true.into())
    }
}

record! {
    /// Puts an event on the master's bus; True when the master has taken it.
    ///
    ///   salt '*' event.fire_master '{stuff: things}' my/tag
    pub struct FireMaster {
        /// The event's data.
        data: Value,
        /// The event's tag.
        tag: String,
        /// Taken, not used: what else the request to the master should hold.
        preload: Value = (),
        /// Taken, not used: an event is kept until the master has it.
        timeout: Value = 60,
    }
}

impl Run for FireMaster {
    fn run(self, ctx: &Ctx) -> Reply {
        let data = if self.data.is_null() { Map::new().into() } else { self.data };
        fire(ctx, &self.tag, data)
    }
}

record! {
    /// Puts an event on the master's bus, with as much of the minion in it as is asked for.
    ///
    ///   salt '*' event.send my/tag '{foo: bar}'
    ///   salt '*' event.send my/tag foo=bar with_grains='[os, id]'
    pub struct Send {
        /// The event's tag.
        tag: String,
        /// The event's data; comes over all the rest.
        data: Option<Map> = (),
        /// Taken, not used: what else the request to the master should hold.
        preload: Value = (),
        /// Add the environment as `environ`: True, or a list of variables.
        with_env: Value = false,
        /// Add grains: True, or a list of them.
        with_grains: Value = false,
        /// Add pillar: True, or a list of keys.
        with_pillar: Value = false,
        /// Add `saltenv` and `pillarenv`.
        with_env_opts: bool = false,
        /// More data.
        kwargs: Keywords,
    }
}

impl Run for Send {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut data = Map::new();
        if self.with_env.truthy() {
            data.insert("environ", self.environment(ctx)?);
        }
        if self.with_grains.truthy() {
            data.insert("grains", part(&self.with_grains, ctx.grains));
        }
        if self.with_pillar.truthy() {
            data.insert("pillar", part(&self.with_pillar, ctx.pillar));
        }
        if self.with_env_opts {
            data.insert("saltenv", ctx.opt("saltenv").filter(|env| !env.is_null()).cloned().unwrap_or("base".into()));
            data.insert("pillarenv", ctx.opt("pillarenv").cloned().unwrap_or_default());
        }
        data.extend(self.kwargs.0);
        data.extend(self.data.unwrap_or_default());
        fire(ctx, &self.tag, data.into())
    }
}

/// Puts an event on the master's bus. What the caller says stands below `data`, beside what the master adds of the minion.
fn fire(ctx: &Ctx, tag: &str, data: Value) -> Reply {
    ctx.master.fire_event(tag, Map::from_iter([("data", data), ("pretag", Value::Null)]))?;
    Ok(true.into())
}

impl Send {
    fn environment(&self, ctx: &Ctx) -> Result<Map, Fault> {
        if let Value::List(names) = &self.with_env {
            return Ok(names.iter().map(|name| (name.clone(), Value::from(ctx.host.env(&name.to_text())))).collect());
        }
        let bytes = ctx
            .host
            .read("/proc/self/environ".as_ref())
            .map_err(|error| Fault::execution(format!("the environment cannot be read: {error}")))?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.split('\0').filter_map(|variable| variable.split_once('=')).collect())
    }
}

fn part(wanted: &Value, all: &Map) -> Map {
    match wanted {
        Value::List(keys) => keys.iter().filter_map(|key| Some((key.clone(), all.at_value(key)?.clone()))).collect(),
        _ => all.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use halite_core::context::{Master, NoMaster};
    use halite_core::module::call;
    use halite_value::record::Arguments;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Bus(Mutex<Vec<(String, Map)>>);

    impl Master for Bus {
        fn fire_event(&self, tag: &str, data: Map) -> Result<(), Fault> {
            self.0.lock().unwrap().push((format!("master {tag}"), data));
            Ok(())
        }

        fn tell_minion(&self, tag: &str, data: Map) -> Result<(), Fault> {
            self.0.lock().unwrap().push((format!("minion {tag}"), data));
            Ok(())
        }
    }

    #[test]
    fn an_event_holds_what_was_asked_for() {
        let bus = Bus::default();
        let world = World { grains: Map::from_iter([("os", "X"), ("id", "m")]), ..World::new() };
        let data = Map::from_iter([("a", 1)]);
        let arguments = Arguments::positional([Value::from("my/tag"), data.into()])
            .with("a", 2)
            .with("b", 3)
            .with("with_grains", Value::list(["os"]));
        assert_eq!(call(&world.ctx(&bus), "event.send", arguments).unwrap().value, true.into());
        let local = Arguments::positional([Value::from(Map::from_iter([("x", 1)])), "t".into()]);
        call(&world.ctx(&bus), "event.fire", local).unwrap();
        let sent = bus.0.lock().unwrap();
        assert_eq!(sent[0].0, "master my/tag");
        assert_eq!(
            Value::from(sent[0].1.clone()).to_json(),
            r#"{"data": {"grains": {"os": "X"}, "a": 1, "b": 3}, "pretag": null}"#
        );
        assert_eq!(sent[1].0, "minion t");
    }

    #[test]
    fn without_a_master_an_event_is_a_fault() {
        let world = World::new();
        let fault = call(&world.ctx(&NoMaster), "event.send", Arguments::positional(["t"])).unwrap_err();
        assert!(fault.to_string().contains("no master"));
    }
}
