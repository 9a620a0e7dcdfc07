//! `lvm.vg_present` and `lvm.vg_absent`: volume groups and the devices in them.

use super::{created, known, removed};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, change};
use halite_core::{Ctx, Fault, paths};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

record! {
    /// Makes sure that there is a volume group, and that devices belong to it.
    ///
    ///   my_vg:
    ///     lvm.vg_present:
    ///       - devices: /dev/sdb1,/dev/sdc1
    pub struct VgPresent {
        /// The group.
        name: String,
        /// Its devices: a list, or a text with commas between them.
        devices: Vec<String> = (),
        /// Options of vgcreate(8), for a group that is made.
        kwargs: Keywords,
    }
}

record! {
    /// Makes sure that there is no such volume group.
    ///
    ///   my_vg:
    ///     lvm.vg_absent: []
    pub struct VgAbsent {
        /// The group.
        name: String,
    }
}

/// What a device is to a group that is there.
enum Membership {
    /// It belongs to it.
    Member,
    /// It is a physical volume of no group.
    Free,
    /// It belongs to another one.
    Elsewhere(String),
    /// It is no physical volume.
    NoVolume,
}

impl State for VgPresent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let VgPresent { name, devices, kwargs: Keywords(words) } = self;
        if known(context.ctx, "lvm.vgdisplay", &name)?.is_empty() {
            return Ok(change(Map::new(), format!("Volume Group {name} is set to be created"), move |ctx: &Ctx| {
                create(ctx, &name, devices, words)
            }));
        }
        let mut lines = vec![format!("Volume Group {name} already present")];
        let mut free = Vec::new();
        let mut fits = true;
        for device in devices {
            match membership(context.ctx, &name, &device)? {
                Membership::Member => lines.push(format!("{device} is part of Volume Group")),
                Membership::Free => free.push(device),
                Membership::Elsewhere(other) => {
                    lines.push(format!("{device} is part of {other}"));
                    fits = false;
                }
                Membership::NoVolume => {
                    lines.push(format!("pv {device} is not present"));
                    fits = false;
                }
            }
        }
        if free.is_empty() {
            return Ok(Plan::Stands(Outcome::new(Some(fits), lines.join("\n"))));
        }
        let mut would = lines.clone();
        would.extend(free.iter().map(|device| format!("{device} is set to be added to {name}")));
        let would = Outcome::new(if fits { None } else { Some(false) }, would.join("\n"));
        let apply = move |ctx: &Ctx| {
            let mut changes = Map::new();
            for device in free {
                ask(ctx, "lvm.vgextend", [("vgname", name.as_str().into()), ("devices", device.as_str().into())])?;
                match membership(ctx, &name, &device)? {
                    Membership::Member => {
                        changes.insert(device.as_str(), format!("added to {name}"));
                    }
                    _ => {
                        lines.push(format!("{device} could not be added"));
                        fits = false;
                    }
                }
            }
            Ok(Outcome::new(Some(fits), lines.join("\n")).with_changes(changes))
        };
        Ok(Plan::Changes { would, apply: Box::new(apply) })
    }
}

fn create(ctx: &Ctx, name: &str, devices: Vec<String>, mut words: Map) -> Result<Outcome, Fault> {
    words.insert("vgname", name);
    words.insert("devices", devices);
    let said = ctx.run("lvm.vgcreate", Arguments::keywords(words))?;
    Ok(match known(ctx, "lvm.vgdisplay", name)?.is_empty() {
        true => Outcome::failed(format!("Failed to create Volume Group {name}")),
        false => created(&format!("Volume Group {name}"), said),
    })
}

fn membership(ctx: &Ctx, group: &str, device: &str) -> Result<Membership, Fault> {
    let device = paths::real(ctx.host, device);
    let volumes = ask(ctx, "lvm.pvdisplay", [("pvname", device.as_str().into()), ("real", true.into())])?;
    let Some(volume) = volumes.at(&device) else { return Ok(Membership::NoVolume) };
    Ok(match volume.at("Volume Group Name").and_then(Value::as_str).unwrap_or_default() {
        name if name == group => Membership::Member,
        // LVM of old names a group for those that have none.
        "" | "#orphans_lvm2" => Membership::Free,
        other => Membership::Elsewhere(other.to_owned()),
    })
}

impl State for VgAbsent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        if known(context.ctx, "lvm.vgdisplay", &name)?.is_empty() {
            return Ok(already(format!("Volume Group {name} already absent")));
        }
        Ok(change(Map::new(), format!("Volume Group {name} is set to be removed"), move |ctx: &Ctx| {
            let said = ask(ctx, "lvm.vgremove", [("vgname", name.as_str().into())])?;
            Ok(removed(&format!("Volume Group {name}"), &known(ctx, "lvm.vgdisplay", &name)?, said))
        }))
    }
}
