//! `lvm.*`: physical volumes, volume groups and logical volumes of LVM2.

mod group;
mod logical;
mod physical;

use super::{Function, Module, Outcome, ask, single, state};
use crate::exec::{Ctx, Fault};
use crate::wire::value::{Map, Value};

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
