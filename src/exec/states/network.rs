//! `network.*`: interfaces, their routes, and the network as a whole.

mod difference;
mod managed;
mod status;

use super::{Function, Look, Module, Outcome, Plan, State, already, ask, failed, single, state};
use crate::exec::{Ctx, Fault};
use crate::record;
use crate::wire::record::{Arguments, Keywords};
use crate::wire::value::{Map, Value};
use difference::Difference;

pub const MODULE: Module =
    Module { name: "network", doc: "Interfaces, their routes, and the network as a whole.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] =
    &[state::<managed::Managed>("managed"), state::<Routes>("routes"), state::<System>("system")];

record! {
    /// Makes sure that an interface has static routes.
    ///
    ///   eth0:
    ///     network.routes:
    ///       - routes:
    ///         - name: office
    ///           ipaddr: 10.2.0.0
    ///           netmask: 255.255.0.0
    ///           gateway: 10.1.0.1
    pub struct Routes {
        /// The interface.
        name: String,
        /// `routes`, and what `ip.apply_network_settings` takes.
        kwargs: Keywords,
    }
}

record! {
    /// Makes sure that the network as a whole is configured.
    ///
    ///   system:
    ///     network.system:
    ///       - enabled: True
    ///       - hostname: web1.example.com
    ///       - apply_hostname: True
    pub struct System {
        /// An ID.
        name: String,
        /// The settings that `ip.build_network_settings` takes, and what `ip.apply_network_settings` does.
        kwargs: Keywords,
    }
}

/// What a state says, and under which name it shows what has changed.
struct Words {
    up_to_date: String,
    /// In test mode: nothing is there yet, or something else is.
    would_add: String,
    would_update: String,
    /// When it is done.
    added: String,
    updated: String,
    key: &'static str,
    /// The change that is shown of what was not there.
    new: String,
}

impl State for Routes {
    fn plan(self, look: &Look) -> Result<Plan, Fault> {
        let Routes { name, kwargs: Keywords(settings) } = self;
        let words = Words {
            up_to_date: format!("Interface {name} routes are up to date."),
            would_add: format!("Interface {name} routes are set to be added."),
            would_update: format!("Interface {name} routes are set to be updated:"),
            added: format!("Interface {name} routes added."),
            updated: format!("Interface {name} routes updated."),
            key: "network_routes",
            new: format!("Added interface {name} routes."),
        };
        let old = ask(look.ctx, "ip.get_routes", [("iface", name.as_str().into())])?;
        plan(look.ctx, old, Call { fun: "ip.build_routes", positional: vec![name.into()], settings }, words)
    }
}

impl State for System {
    fn plan(self, look: &Look) -> Result<Plan, Fault> {
        let up_to_date = "Global network settings are up to date.".to_owned();
        let words = Words {
            would_add: "Global network settings are set to be added.".to_owned(),
            would_update: "Global network settings are set to be updated:".to_owned(),
            added: up_to_date.clone(),
            updated: up_to_date.clone(),
            up_to_date,
            key: "network_settings",
            new: "Added global network settings.".to_owned(),
        };
        let old = ask(look.ctx, "ip.get_network_settings", [])?;
        let call = Call { fun: "ip.build_network_settings", positional: Vec::new(), settings: self.kwargs.0 };
        plan(look.ctx, old, call, words)
    }
}

/// What is asked for of a function that writes configuration and shows what it writes.
struct Call {
    fun: &'static str,
    positional: Vec<Value>,
    settings: Map,
}

impl Call {
    /// What it would write.
    fn would(&self, ctx: &Ctx) -> Result<Value, Fault> {
        self.call(ctx, true)
    }

    /// Writes it.
    fn write(&self, ctx: &Ctx) -> Result<Value, Fault> {
        self.call(ctx, false)
    }

    fn call(&self, ctx: &Ctx, test: bool) -> Result<Value, Fault> {
        let mut keywords = self.settings.clone();
        keywords.insert("test", test);
        ctx.run(self.fun, Arguments { positional: self.positional.clone(), keywords })
    }
}

/// Has configuration written where it is not as it should be, and the network started anew.
fn plan(ctx: &Ctx, old: Value, call: Call, words: Words) -> Result<Plan, Fault> {
    let new = match call.would(ctx) {
        Ok(new) => new,
        Err(Fault::Invocation(what)) => return Ok(failed(what)),
        Err(fault) => return Err(fault),
    };
    let would = match Difference::of(&old, &new) {
        Difference::None => return Ok(already(words.up_to_date)),
        Difference::Added => words.would_add.clone(),
        Difference::Changed(text) => format!("{}\n{text}", words.would_update),
    };
    let apply = move |ctx: &Ctx| {
        let new = call.write(ctx)?;
        let outcome = match Difference::of(&old, &new) {
            Difference::None => return Ok(Outcome::done(words.up_to_date)),
            Difference::Added => Outcome::done(words.added).with_changes(single(words.key, words.new)),
            Difference::Changed(text) => Outcome::done(words.updated).with_changes(single(words.key, text)),
        };
        ctx.run("ip.apply_network_settings", Arguments::keywords(call.settings))?;
        Ok(outcome)
    };
    Ok(Plan::Changes { would: Outcome::new(None, would), apply: Box::new(apply) })
}
