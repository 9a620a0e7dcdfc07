//! What there is: `lvm.version`, `lvm.pvdisplay`, `lvm.vgdisplay`, `lvm.lvdisplay`.

use super::listed;
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Shows the version of LVM.
    ///
    ///   salt '*' lvm.version
    pub struct Version {}
}

impl Run for Version {
    fn run(self, ctx: &Ctx) -> Reply {
        let version = versions(ctx)?.into_iter().next().map(|(_, version)| version);
        Ok(version.ok_or_else(|| Fault::execution("lvm tells no version"))?.into())
    }
}

record! {
    /// Shows the versions of all parts of LVM.
    ///
    ///   salt '*' lvm.fullversion
    pub struct Fullversion {}
}

impl Run for Fullversion {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Map::from_iter(versions(ctx)?).into())
    }
}

fn versions(ctx: &Ctx) -> Result<Vec<(String, String)>, Fault> {
    let answer = Program::new(["lvm", "version"]).query(ctx)?.expect_success("lvm version")?;
    let parts = answer.stdout.lines().filter_map(|line| {
        let mut parts = line.split(':').map(str::trim);
        Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
    });
    Ok(parts.collect())
}

const PHYSICAL: [&str; 11] = [
    "Physical Volume Device",
    "Volume Group Name",
    "Physical Volume Size (kB)",
    "Internal Physical Volume Number",
    "Physical Volume Status",
    "Physical Volume (not) Allocatable",
    "Current Logical Volumes Here",
    "Physical Extent Size (kB)",
    "Total Physical Extents",
    "Free Physical Extents",
    "Allocated Physical Extents",
];

const GROUP: [&str; 17] = [
    "Volume Group Name",
    "Volume Group Access",
    "Volume Group Status",
    "Internal Volume Group Number",
    "Maximum Logical Volumes",
    "Current Logical Volumes",
    "Open Logical Volumes",
    "Maximum Logical Volume Size",
    "Maximum Physical Volumes",
    "Current Physical Volumes",
    "Actual Physical Volumes",
    "Volume Group Size (kB)",
    "Physical Extent Size (kB)",
    "Total Physical Extents",
    "Allocated Physical Extents",
    "Free Physical Extents",
    "UUID",
];

const LOGICAL: [&str; 13] = [
    "Logical Volume Name",
    "Volume Group Name",
    "Logical Volume Access",
    "Logical Volume Status",
    "Internal Logical Volume Number",
    "Open Logical Volumes",
    "Logical Volume Size",
    "Current Logical Extents Associated",
    "Allocated Logical Extents",
    "Allocation Policy",
    "Read Ahead Sectors",
    "Major Device Number",
    "Minor Device Number",
];

/// The fields of one volume by their names.
fn named(names: &[&str], fields: &[String]) -> Map {
    names.iter().zip(fields).map(|(name, field)| (Value::from(*name), Value::from(field.as_str()))).collect()
}

fn all(names: &[&str], volumes: &[Vec<String>]) -> Map {
    volumes
        .iter()
        .filter_map(|fields| Some((Value::from(fields.first()?.as_str()), Value::from(named(names, fields)))))
        .collect()
}

record! {
    /// Shows physical volumes: one, or all.
    ///
    ///   salt '*' lvm.pvdisplay
    ///   salt '*' lvm.pvdisplay /dev/md0
    pub struct Pvdisplay {
        /// The device; empty: all.
        pvname: String = "",
        /// Name devices by their real paths.
        real: bool = false,
        /// Taken, not used: a device that is no physical volume is no fault.
        quiet: bool = false,
    }
}

impl Run for Pvdisplay {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut volumes = Map::new();
        for fields in listed(ctx, "pvdisplay", &self.pvname)? {
            let Some(device) = fields.first() else { continue };
            let mut volume = named(&PHYSICAL, &fields);
            let device = match self.real {
                true => paths::real(ctx.host, device),
                false => device.clone(),
            };
            if self.real {
                volume.insert("Real Physical Volume Device", device.as_str());
            }
            volumes.insert(device.as_str(), volume);
        }
        Ok(volumes.into())
    }
}

record! {
    /// Shows volume groups: one, or all.
    ///
    ///   salt '*' lvm.vgdisplay
    ///   salt '*' lvm.vgdisplay nova-volumes
    pub struct Vgdisplay {
        /// The group; empty: all.
        vgname: String = "",
        /// Taken, not used: a name that there is not is no fault.
        quiet: bool = false,
    }
}

impl Run for Vgdisplay {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(groups(ctx, &self.vgname)?.into())
    }
}

pub(super) fn groups(ctx: &Ctx, name: &str) -> Result<Map, Fault> {
    Ok(all(&GROUP, &listed(ctx, "vgdisplay", name)?))
}

record! {
    /// Shows logical volumes: one, or all.
    ///
    ///   salt '*' lvm.lvdisplay
    ///   salt '*' lvm.lvdisplay /dev/vg_myserver/root
    pub struct Lvdisplay {
        /// The volume's device; empty: all.
        lvname: String = "",
        /// Taken, not used: a name that there is not is no fault.
        quiet: bool = false,
    }
}

impl Run for Lvdisplay {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(volumes(ctx, &self.lvname)?.into())
    }
}

pub(super) fn volumes(ctx: &Ctx, name: &str) -> Result<Map, Fault> {
    Ok(all(&LOGICAL, &listed(ctx, "lvdisplay", name)?))
}
