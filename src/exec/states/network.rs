//! `network.*`: interfaces, their routes, and the network as a whole.

mod difference;
mod managed;
mod members;
mod status;

use difference::Difference;
use halite_core::state::{Function, Module, Outcome, Plan, PlanContext, State, already, ask, failed, single, state};
use halite_core::{Ctx, Fault};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

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
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
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
        let old = ask(context.ctx, "ip.get_routes", [("iface", name.as_str().into())])?;
        plan(context.ctx, old, Call { fun: "ip.build_routes", positional: vec![name.into()], settings }, words)
    }
}

impl State for System {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
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
        let old = ask(context.ctx, "ip.get_network_settings", [])?;
        let call = Call { fun: "ip.build_network_settings", positional: Vec::new(), settings: self.kwargs.0 };
        plan(context.ctx, old, call, words)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::fake::Fake;
    use halite_lang::yaml;

    fn world(host: Fake) -> World {
        World { grains: Map::from_iter([("os_family", "RedHat")]), ..World::on(host) }
    }

    fn arguments(text: &str) -> Arguments {
        Arguments::keywords(yaml::load(text).unwrap().as_map().unwrap().clone())
    }

    #[test]
    fn an_interface_is_written_once_and_then_stands() {
        let world = world(Fake::new().directory("/etc/sysconfig/network-scripts"));
        let wanted = "{name: eth7, proto: none, ipaddr: 10.0.0.1, hwaddr: '00:11:22:33:44:55', noifupdown: true}";
        let plan = || planned(&world, "network.managed", arguments(wanted));
        let written = || world.host.text("/etc/sysconfig/network-scripts/ifcfg-eth7");
        let Ok(Plan::Changes { would, .. }) = plan() else { panic!("there is no such interface") };
        assert_eq!((would.result, would.comment.as_str()), (None, "Interface eth7 is set to be added."));
        assert_eq!(written(), None, "planning changes nothing");
        let ctx = world.ctx(&halite_core::context::NoMaster);
        let arguments = Arguments::positional([Value::from("eth7"), "eth".into(), true.into()]);
        let settings = yaml::load("{proto: none, ipaddr: 10.0.0.1, hwaddr: '00:11:22:33:44:55'}").unwrap();
        let arguments = Arguments { keywords: settings.as_map().unwrap().clone(), ..arguments };
        ctx.run("ip.build_interface", arguments).unwrap();
        assert!(written().is_some_and(|text| text.contains("IPADDR=\"10.0.0.1\"\n")));
        let (same, _) = both(&world, plan());
        assert_eq!((same.result, same.comment.as_str()), (Some(true), "Interface eth7 is up to date."));
    }

    #[test]
    fn settings_that_cannot_be_are_a_failure_before_anything_is_written() {
        let world = world(Fake::new().directory("/etc/sysconfig/network-scripts"));
        let cases = [
            ("network.managed", "{name: eth7, proto: static}", "Option: static, Expected: [none|bootp|dhcp]"),
            ("network.managed", "{name: eth7, type: slave}", "master is a required setting"),
            ("network.routes", "{name: eth7}", "Expected: [List of routes]"),
            ("network.system", "{name: x, enabled: perhaps}", "Setting: networking"),
        ];
        for (fun, wanted, comment) in cases {
            let (outcome, _) = both(&world, planned(&world, fun, arguments(wanted)));
            assert_eq!(outcome.result, Some(false), "{wanted}");
            assert!(outcome.comment.contains(comment), "{wanted}: {}", outcome.comment);
        }
    }
    #[test]
    fn routes_of_netplan_stand_once_they_are_written() {
        let host = Fake::new().program("/usr/bin/netplan").directory("/etc/netplan");
        let world = World { grains: Map::from_iter([("os_family", "Debian")]), ..World::on(host) };
        let plan = || {
            let wanted = "{name: eth7, routes: [{ipaddr: 10.2.0.0, netmask: 16, gateway: 10.0.0.1}]}";
            planned(&world, "network.routes", arguments(wanted))
        };
        let Ok(Plan::Changes { would, .. }) = plan() else { panic!("there are no such routes") };
        assert_eq!(would.comment, "Interface eth7 routes are set to be added.");
        let ctx = world.ctx(&halite_core::context::NoMaster);
        let wanted = arguments("{routes: [{ipaddr: 10.2.0.0, netmask: 16, gateway: 10.0.0.1}]}");
        ctx.run("ip.build_routes", Arguments { positional: vec!["eth7".into()], ..wanted }).unwrap();
        let (same, _) = both(&world, plan());
        assert_eq!((same.result, same.comment.as_str()), (Some(true), "Interface eth7 routes are up to date."));
    }

    #[test]
    fn a_bond_of_netplan_is_one_file() {
        let host = Fake::new().program("/usr/bin/netplan").directory("/etc/netplan");
        let world = World { grains: Map::from_iter([("os_family", "Debian")]), ..World::on(host) };
        let wanted = "{name: bond0, type: bond, slaves: eth1, mode: 1, noifupdown: true}";
        let plan = planned(&world, "network.managed", arguments(wanted));
        let Ok(Plan::Changes { would, .. }) = plan else { panic!("there is no such bond") };
        assert_eq!(would.comment, "Interface bond0 is set to be added.");
    }
}
