//! `lvm.pv_present` and `lvm.pv_absent`: devices that are physical volumes.

use super::{created, known, removed};
use halite_core::state::{Outcome, Plan, PlanContext, State, already, ask, change};
use halite_core::{Ctx, Fault};
use halite_value::Map;
use halite_value::record;
use halite_value::record::{Arguments, Keywords};

record! {
    /// Makes sure that a device is a physical volume.
    ///
    ///   /dev/sdb1:
    ///     lvm.pv_present: []
    pub struct PvPresent {
        /// The device.
        name: String,
        /// Options of pvcreate(8), for a volume that is made.
        kwargs: Keywords,
    }
}

record! {
    /// Makes sure that a device is no physical volume.
    ///
    ///   /dev/sdb1:
    ///     lvm.pv_absent: []
    pub struct PvAbsent {
        /// The device.
        name: String,
    }
}

impl State for PvPresent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let PvPresent { name, kwargs: Keywords(mut words) } = self;
        if !known(context.ctx, "lvm.pvdisplay", &name)?.is_empty() {
            return Ok(already(format!("Physical Volume {name} already present")));
        }
        Ok(change(Map::new(), format!("Physical Volume {name} is set to be created"), move |ctx: &Ctx| {
            words.insert("devices", name.as_str());
            let said = ctx.run("lvm.pvcreate", Arguments::keywords(words))?;
            Ok(match known(ctx, "lvm.pvdisplay", &name)?.is_empty() {
                true => Outcome::failed(format!("Failed to create Physical Volume {name}")),
                false => created(&format!("Physical Volume {name}"), said),
            })
        }))
    }
}

impl State for PvAbsent {
    fn plan(self, context: &PlanContext) -> Result<Plan, Fault> {
        let name = self.name;
        if known(context.ctx, "lvm.pvdisplay", &name)?.is_empty() {
            return Ok(already(format!("Physical Volume {name} does not exist")));
        }
        Ok(change(Map::new(), format!("Physical Volume {name} is set to be removed"), move |ctx: &Ctx| {
            let said = ask(ctx, "lvm.pvremove", [("devices", name.as_str().into())])?;
            Ok(removed(&format!("Physical Volume {name}"), &known(ctx, "lvm.pvdisplay", &name)?, said))
        }))
    }
}
