//! `lvm.*`: physical volumes, volume groups and logical volumes of LVM2.

mod group;
mod logical;
mod physical;

use halite_core::state::{Function, Module, Outcome, ask, single, state};
use halite_core::{Ctx, Fault};
use halite_value::{Map, Value};

pub const MODULE: Module =
    Module { name: "lvm", doc: "Physical volumes, volume groups and logical volumes of LVM2.", functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    state::<logical::LvAbsent>("lv_absent"),
    state::<logical::LvPresent>("lv_present"),
    state::<physical::PvAbsent>("pv_absent"),
    state::<physical::PvPresent>("pv_present"),
    state::<group::VgAbsent>("vg_absent"),
    state::<group::VgPresent>("vg_present"),
];

/// What LVM says of something by this name; empty where it does not know it.
fn known(ctx: &Ctx, fun: &str, name: &str) -> Result<Map, Fault> {
    let argument = match fun {
        "lvm.pvdisplay" => "pvname",
        "lvm.vgdisplay" => "vgname",
        _ => "lvname",
    };
    let answer = ask(ctx, fun, [(argument, name.into()), ("quiet", true.into())])?;
    Ok(answer.as_map().cloned().unwrap_or_default())
}

/// What was made, and what its program said.
fn created(what: &str, said: Value) -> Outcome {
    Outcome::done(format!("Created {what}")).with_changes(single("created", said))
}

/// What is gone, and what its program said; `remains`: it is still there.
fn removed(what: &str, remains: &Map, said: Value) -> Outcome {
    match remains.is_empty() {
        true => Outcome::done(format!("Removed {what}")).with_changes(single("removed", said)),
        false => Outcome::failed(format!("Failed to remove {what}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use crate::testing::{both, planned};
    use halite_core::host::Finished;
    use halite_core::host::fake::Fake;
    use halite_value::record::Arguments;

    const VOLUME: &str = "  /dev/vg0/data:vg0:3:1:-1:0:20480:2:-1:0:-1:254:0\n";

    fn arguments(pairs: &[(&str, &str)]) -> Arguments {
        Arguments::keywords(pairs.iter().map(|(name, value)| (Value::from(*name), Value::from(*value))).collect())
    }

    #[test]
    fn a_volume_of_the_right_size_stands_and_is_not_made_smaller_unasked() {
        let host = Fake::new().answers(["lvdisplay", "-c", "/dev/vg0/data"], VOLUME);
        let world = World::on(host);
        let cases = [
            ("10M", Some(true), "Logical Volume data already present"),
            ("10240k", Some(false), "Unit k is invalid."),
            ("5m", Some(false), "To reduce a Logical Volume option 'force' must be True."),
            ("1g", None, "Logical Volume data is set to be resized"),
        ];
        for (size, result, comment) in cases {
            let given = arguments(&[("name", "data"), ("vgname", "vg0"), ("size", size)]);
            let outcome = match planned(&world, "lvm.lv_present", given) {
                Ok(halite_core::state::Plan::Stands(outcome)) => outcome,
                Ok(halite_core::state::Plan::Changes { would, .. }) => would,
                Err(fault) => Outcome::failed(fault.to_string()),
            };
            assert_eq!((outcome.result, outcome.comment.as_str()), (result, comment), "{size}");
        }
    }

    #[test]
    fn what_lvm_refuses_is_a_failure() {
        let gone =
            || Finished { code: 5, stderr: b"  Volume group \"vg9\" not found\n".to_vec(), ..Finished::default() };
        let host = Fake::new()
            .command(["lvdisplay", "-c", "/dev/vg9/data"], gone())
            .command(["lvcreate", "-n", "data", "vg9", "-L", "10M", "-qq"], gone());
        let world = World::on(host);
        let given = arguments(&[("name", "data"), ("vgname", "vg9"), ("size", "10M")]);
        let (would, done) = both(&world, planned(&world, "lvm.lv_present", given));
        assert_eq!((would.result, would.changes.len()), (None, 0));
        assert_eq!(done.result, Some(false));
        let comment = "Failed to create Logical Volume data. Error: Volume group \"vg9\" not found";
        assert_eq!(done.comment, comment);
    }
}
