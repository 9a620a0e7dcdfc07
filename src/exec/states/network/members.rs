//! The members of a bond or a bridge that NetworkManager has: each has a keyfile of its own, which is written with that of
//! the whole and of which that of the whole says nothing.

use halite_core::state::ask;
use halite_core::{Ctx, Fault};
use halite_lang::words::named;
use halite_value::{Map, Value};

/// The members whose keyfiles are not as they would be written.
pub fn stale(ctx: &Ctx, whole: &str, kind: &str, enabled: bool, settings: &Map) -> Result<Vec<String>, Fault> {
    let keys: &[&str] = match kind {
        "bond" => &["slaves", "interfaces"],
        "bridge" => &["ports", "bridge_ports", "interfaces"],
        _ => return Ok(Vec::new()),
    };
    if ctx.grains.str_at("os_family") != Some("RedHat") || !ask(ctx, "ip.nm_managed", [])?.truthy() {
        return Ok(Vec::new());
    }
    let mut stale = Vec::new();
    let members = keys.iter().find_map(|key| settings.at(key).filter(|names| names.truthy()));
    for member in members.map(named).unwrap_or_default() {
        if member == whole {
            continue;
        }
        let name = ("iface", Value::from(member.as_str()));
        let wanted = [
            name.clone(),
            ("iface_type", "slave".into()),
            ("enabled", enabled.into()),
            ("master", whole.into()),
            ("slave_type", kind.into()),
            ("test", true.into()),
        ];
        if ask(ctx, "ip.get_interface", [name])? != ask(ctx, "ip.build_interface", wanted)? {
            stale.push(member);
        }
    }
    Ok(stale)
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::fake::Fake;
    use halite_core::state::Plan;
    use halite_lang::yaml;
    use halite_value::Map;
    use halite_value::record::Arguments;

    #[test]
    fn a_new_member_of_a_bond_that_stands_is_a_change() {
        let directory = "/etc/NetworkManager/system-connections";
        let host = Fake::new().env("PATH", "/usr/bin").program("/usr/bin/nmcli").directory("/run/NetworkManager");
        let world = World { grains: Map::from_iter([("os_family", "RedHat")]), ..World::on(host.directory(directory)) };
        let plan = |members: &str| {
            let wanted = format!("{{name: bond0, type: bond, mode: 1, slaves: {members}, noifupdown: true}}");
            planned(
                &world,
                "network.managed",
                Arguments::keywords(yaml::load(&wanted).unwrap().as_map().unwrap().clone()),
            )
        };
        let apply = |plan| match plan {
            Ok(Plan::Changes { apply, .. }) => apply(&world.ctx(&halite_core::context::NoMaster)).unwrap(),
            _ => panic!("nothing would change"),
        };
        apply(plan("eth1"));
        assert_eq!(both(&world, plan("eth1")).0.comment, "Interface bond0 is up to date.");
        let Ok(Plan::Changes { would, .. }) = plan("'eth1,eth2'") else { panic!("eth2 is new") };
        assert_eq!(would.comment, "Interface bond0 is set to get the members eth2.");
        let done = apply(plan("'eth1,eth2'"));
        assert_eq!(done.comment, "Interface bond0 got the members eth2.");
        assert_eq!(done.changes, Map::from_iter([("members", "eth2")]));
        assert!(world.host.text(&format!("{directory}/eth2.nmconnection")).is_some());
        assert_eq!(both(&world, plan("[eth1, eth2]")).0.comment, "Interface bond0 is up to date.");
    }
}
