//! What is made, changed and removed of LVM.

use super::shown::{groups, volumes};
use super::{checked, devices, listed, options, outcome};
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_value::record;
use halite_value::record::Keywords;
use halite_value::{Map, Value};

/// Programs that would ask are told yes, or are silent.
fn consent(force: bool) -> &'static str {
    if force { "--yes" } else { "-qq" }
}

fn is_volume(ctx: &Ctx, device: &str) -> Result<bool, Fault> {
    Ok(!listed(ctx, "pvdisplay", device)?.is_empty())
}

record! {
    /// Makes devices physical volumes. True, or what is wrong.
    ///
    ///   salt '*' lvm.pvcreate /dev/sdb1,/dev/sdb2
    ///   salt '*' lvm.pvcreate /dev/sdb1 dataalignmentoffset=7s
    pub struct Pvcreate {
        /// The devices: a list, or commas between them.
        devices: Value,
        /// Leave out those that are physical volumes already.
        r#override: bool = true,
        /// Do not ask.
        force: bool = true,
        /// Options of pvcreate(8).
        kwargs: Keywords,
    }
}

const PVCREATE: [&str; 9] = [
    "metadatasize",
    "dataalignment",
    "dataalignmentoffset",
    "pvmetadatacopies",
    "metadatacopies",
    "metadataignore",
    "restorefile",
    "labelsector",
    "setphysicalvolumesize",
];

impl Run for Pvcreate {
    fn run(self, ctx: &Ctx) -> Reply {
        let devices = devices(&self.devices);
        if devices.is_empty() {
            return Ok("Error: at least one device is required".into());
        }
        let mut program = Program::new(["pvcreate", consent(self.force)]);
        let mut left = false;
        for device in &devices {
            checked("the device", device)?;
            if !paths::exists(ctx.host, device) {
                return Ok(format!("{device} does not exist").into());
            }
            if !is_volume(ctx, device)? {
                program = program.arg(device);
                left = true;
            } else if !self.r#override {
                return Ok(format!("Device \"{device}\" is already an LVM physical volume.").into());
            }
        }
        if !left {
            return Ok(true.into());
        }
        program = program.args(options(&self.kwargs.0, &PVCREATE));
        if self.kwargs.0.at("norestorefile").is_some_and(Value::truthy) {
            program = program.arg("--norestorefile");
        }
        let answer = program.run(ctx)?;
        if !answer.is_success() {
            return Ok(answer.stderr.into());
        }
        for device in &devices {
            if !is_volume(ctx, device)? {
                return Ok(format!("Device \"{device}\" was not affected.").into());
            }
        }
        Ok(true.into())
    }
}

record! {
    /// Takes the mark of a physical volume off devices. True, or what is wrong.
    ///
    ///   salt '*' lvm.pvremove /dev/sdb1,/dev/sdb2
    pub struct Pvremove {
        /// The devices: a list, or commas between them.
        devices: Value,
        /// Leave out those that are none.
        r#override: bool = true,
        /// Do not ask.
        force: bool = true,
    }
}

impl Run for Pvremove {
    fn run(self, ctx: &Ctx) -> Reply {
        let devices = devices(&self.devices);
        if let Some(answer) = on_volumes(ctx, "pvremove", &devices, self.r#override, self.force)? {
            return Ok(answer.into());
        }
        for device in &devices {
            if is_volume(ctx, device)? {
                return Ok(format!("Device \"{device}\" was not affected.").into());
            }
        }
        Ok(true.into())
    }
}

record! {
    /// Makes physical volumes as large as their devices. True, or what is wrong.
    ///
    ///   salt '*' lvm.pvresize /dev/sdb1,/dev/sdb2
    pub struct Pvresize {
        /// The devices: a list, or commas between them.
        devices: Value,
        /// Leave out those that are none.
        r#override: bool = true,
        /// Do not ask.
        force: bool = true,
    }
}

impl Run for Pvresize {
    fn run(self, ctx: &Ctx) -> Reply {
        let answer = on_volumes(ctx, "pvresize", &devices(&self.devices), self.r#override, self.force)?;
        Ok(answer.unwrap_or(Value::Bool(true)).into())
    }
}

/// Runs a program on those of some devices that are physical volumes; what is answered instead, where there are none or it
/// fails.
fn on_volumes(
    ctx: &Ctx,
    program: &str,
    devices: &[String],
    leaves_others: bool,
    force: bool,
) -> Result<Option<Value>, Fault> {
    let mut program = Program::new([program, consent(force)]);
    let mut left = false;
    for device in devices {
        if is_volume(ctx, device)? {
            program = program.arg(device);
            left = true;
        } else if !leaves_others {
            return Ok(Some(format!("{device} is not a physical volume").into()));
        }
    }
    if !left {
        return Ok(Some(true.into()));
    }
    let answer = program.run(ctx)?;
    Ok((!answer.is_success()).then(|| answer.stderr.into()))
}

record! {
    /// Makes a volume group of devices and shows it.
    ///
    ///   salt '*' lvm.vgcreate my_vg /dev/sdb1,/dev/sdb2
    ///   salt '*' lvm.vgcreate my_vg /dev/sdb1 clustered=y
    pub struct Vgcreate {
        /// The group.
        vgname: String,
        /// The devices: a list, or commas between them.
        devices: Value,
        /// Do not ask.
        force: bool = false,
        /// Options of vgcreate(8).
        kwargs: Keywords,
    }
}

const VGCREATE: [&str; 11] = [
    "addtag",
    "alloc",
    "autobackup",
    "clustered",
    "maxlogicalvolumes",
    "maxphysicalvolumes",
    "metadatatype",
    "vgmetadatacopies",
    "metadatacopies",
    "physicalextentsize",
    "zero",
];

/// A program on a group and its devices; nothing where one of both is missing.
fn on_group(program: &str, group: &str, given: &Value, force: bool, is_first: bool) -> Result<Option<Program>, Fault> {
    let devices = devices(given);
    if group.is_empty() || devices.is_empty() {
        return Ok(None);
    }
    for name in devices.iter().chain([&group.to_owned()]) {
        checked("the name", name)?;
    }
    let program = Program::new([program, group]);
    Ok(Some(match is_first {
        true => program.arg(consent(force)).args(devices),
        false => program.args(devices).arg(consent(force)),
    }))
}

const BOTH: &str = "Error: vgname and device(s) are both required";

impl Run for Vgcreate {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(program) = on_group("vgcreate", &self.vgname, &self.devices, self.force, false)? else {
            return Ok(BOTH.into());
        };
        let answer = program.args(options(&self.kwargs.0, &VGCREATE)).run(ctx)?;
        let out = outcome(&answer, format!("Volume group \"{}\" successfully created", self.vgname));
        let mut shown = groups(ctx, &self.vgname)?;
        shown.insert("Output from vgcreate", out);
        Ok(shown.into())
    }
}

record! {
    /// Adds devices to a volume group.
    ///
    ///   salt '*' lvm.vgextend my_vg /dev/sdb1,/dev/sdb2
    pub struct Vgextend {
        /// The group.
        vgname: String,
        /// The devices: a list, or commas between them.
        devices: Value,
        /// Do not ask.
        force: bool = false,
    }
}

impl Run for Vgextend {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(program) = on_group("vgextend", &self.vgname, &self.devices, self.force, true)? else {
            return Ok(BOTH.into());
        };
        let out = outcome(&program.run(ctx)?, format!("Volume group \"{}\" successfully extended", self.vgname));
        Ok(Map::from_iter([("Output from vgextend", out)]).into())
    }
}

record! {
    /// Removes a volume group.
    ///
    ///   salt '*' lvm.vgremove vgname
    ///   salt '*' lvm.vgremove vgname force=True
    pub struct Vgremove {
        /// The group.
        vgname: String,
        /// Do not ask.
        force: bool = true,
    }
}

impl Run for Vgremove {
    fn run(self, ctx: &Ctx) -> Reply {
        checked("the group", &self.vgname)?;
        let answer = Program::new(["vgremove", &self.vgname, consent(self.force)]).run(ctx)?;
        Ok(outcome(&answer, format!("Volume group \"{}\" successfully removed", self.vgname)).into())
    }
}

record! {
    /// Makes a logical volume and shows it.
    ///
    ///   salt '*' lvm.lvcreate new_volume_name vg_name size=10G
    ///   salt '*' lvm.lvcreate new_volume_name vg_name extents=100 pv=/dev/sdb
    ///   salt '*' lvm.lvcreate new_snapshot vg_name snapshot=volume_name size=3G
    ///   salt '*' lvm.lvcreate new_thin_pool vg_name extents=50%VG thinpool=True
    pub struct Lvcreate {
        /// The volume.
        lvname: String,
        /// Its group.
        vgname: String,
        /// Its size, as lvcreate(8) reads it.
        size: Value = (),
        /// Its size in extents.
        extents: Value = (),
        /// The volume that it is a snapshot of.
        snapshot: Option<String> = (),
        /// The physical volume that it goes on.
        pv: Option<String> = (),
        /// It is a thin volume.
        thinvolume: bool = false,
        /// It is a pool for thin volumes.
        thinpool: bool = false,
        /// Do not ask.
        force: bool = false,
        /// Options of lvcreate(8).
        kwargs: Keywords,
    }
}

const LVCREATE: [&str; 17] = [
    "activate",
    "chunksize",
    "contiguous",
    "discards",
    "stripes",
    "stripesize",
    "minor",
    "persistent",
    "mirrors",
    "monitor",
    "permission",
    "poolmetadatasize",
    "readahead",
    "regionsize",
    "type",
    "virtualsize",
    "zero",
];
const LVCREATE_FLAGS: [&str; 4] = ["nosync", "noudevsync", "ignoremonitoring", "thin"];

impl Run for Lvcreate {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.size.truthy() && self.extents.truthy() {
            return Ok("Error: Please specify only one of size or extents".into());
        }
        if self.thinvolume && self.thinpool {
            return Ok("Error: Please set only one of thinvolume or thinpool to True".into());
        }
        for (what, name) in [("the volume", &self.lvname), ("the group", &self.vgname)] {
            checked(what, name)?;
        }
        let kind = match (self.thinvolume, self.thinpool) {
            (true, _) => vec!["--thin", "-n"],
            (_, true) => vec!["--thinpool"],
            _ => vec!["-n"],
        };
        let mut program = Program::new(["lvcreate"]).args(kind).arg(&self.lvname);
        program = match self.snapshot.filter(|origin| !origin.is_empty()) {
            Some(origin) => program.args(["-s".to_owned(), format!("{}/{origin}", self.vgname)]),
            None => program.arg(&self.vgname),
        };
        program = match (self.size.truthy(), self.extents.truthy()) {
            (true, _) if self.thinvolume => program.args(["-V".to_owned(), self.size.to_text()]),
            (_, true) if self.thinvolume => return Ok("Error: Thin volume size cannot be specified as extents".into()),
            (true, _) => program.args(["-L".to_owned(), self.size.to_text()]),
            (_, true) => program.args(["-l".to_owned(), self.extents.to_text()]),
            _ => return Ok("Error: Either size or extents must be specified".into()),
        };
        if let Some(device) = self.pv.filter(|device| !device.is_empty()) {
            checked("the device", &device)?;
            program = program.arg(device);
        }
        for (name, value) in self.kwargs.0.iter() {
            let name = name.to_text();
            if LVCREATE_FLAGS.contains(&name.as_str()) {
                program = program.arg(format!("--{name}"));
            } else if LVCREATE.contains(&name.as_str()) {
                program = program.args([format!("--{name}"), value.to_text()]);
            }
        }
        let answer = program.arg(consent(self.force)).run(ctx)?;
        let out = outcome(&answer, format!("Logical volume \"{}\" created.", self.lvname));
        let mut shown = volumes(ctx, &format!("/dev/{}/{}", self.vgname, self.lvname))?;
        shown.insert("Output from lvcreate", out);
        Ok(shown.into())
    }
}

record! {
    /// Removes a logical volume.
    ///
    ///   salt '*' lvm.lvremove lvname vgname force=True
    pub struct Lvremove {
        /// The volume.
        lvname: String,
        /// Its group.
        vgname: String,
        /// Do not ask.
        force: bool = true,
    }
}

impl Run for Lvremove {
    fn run(self, ctx: &Ctx) -> Reply {
        let volume = format!("{}/{}", self.vgname, self.lvname);
        checked("the group", &volume)?;
        let answer = Program::new(["lvremove", &volume, consent(self.force)]).run(ctx)?;
        Ok(outcome(&answer, format!("Logical volume \"{}\" successfully removed", self.lvname)).into())
    }
}

record! {
    /// Sets the size of a logical volume. An empty answer: the arguments make no sense.
    ///
    ///   salt '*' lvm.lvresize +12M /dev/mapper/vg1-test
    ///   salt '*' lvm.lvresize lvpath=/dev/mapper/vg1-test extents=+100%FREE
    pub struct Lvresize {
        /// The size, as lvresize(8) reads it.
        size: Value = (),
        /// The volume's device.
        lvpath: Option<String> = (),
        /// The size in extents.
        extents: Value = (),
        /// Do not ask.
        force: bool = false,
        /// The file system on it too.
        resizefs: bool = false,
    }
}

impl Run for Lvresize {
    fn run(self, ctx: &Ctx) -> Reply {
        let consent = if self.force { "--force" } else { "-qq" };
        let size = Size { bytes: self.size, extents: self.extents };
        size.set(ctx, "lvresize", consent, self.lvpath, self.resizefs, "resized")
    }
}

record! {
    /// Makes a logical volume larger. An empty answer: the arguments make no sense.
    ///
    ///   salt '*' lvm.lvextend +12M /dev/mapper/vg1-test
    ///   salt '*' lvm.lvextend lvpath=/dev/mapper/vg1-test extents=+100%FREE
    pub struct Lvextend {
        /// The size, as lvextend(8) reads it.
        size: Value = (),
        /// The volume's device.
        lvpath: Option<String> = (),
        /// The size in extents.
        extents: Value = (),
        /// Do not ask.
        force: bool = false,
        /// The file system on it too.
        resizefs: bool = false,
    }
}

impl Run for Lvextend {
    fn run(self, ctx: &Ctx) -> Reply {
        let size = Size { bytes: self.size, extents: self.extents };
        size.set(ctx, "lvextend", consent(self.force), self.lvpath, self.resizefs, "extended")
    }
}

/// A size in one of the two ways in which it can be given.
struct Size {
    bytes: Value,
    extents: Value,
}

impl Size {
    fn set(
        self,
        ctx: &Ctx,
        name: &str,
        consent: &str,
        volume: Option<String>,
        resizes_files: bool,
        done: &str,
    ) -> Reply {
        let size = match (self.bytes.truthy(), self.extents.truthy()) {
            (true, false) => ["-L".to_owned(), self.bytes.to_text()],
            (false, true) => ["-l".to_owned(), self.extents.to_text()],
            (true, true) => {
                log::error!("Error: Please specify only one of size or extents");
                return Ok(Map::new().into());
            }
            (false, false) => {
                log::error!("Error: Either size or extents must be specified");
                return Ok(Map::new().into());
            }
        };
        let volume = volume.ok_or_else(|| Fault::invocation("lvpath is missing: the device of the volume"))?;
        checked("the volume", &volume)?;
        let mut program = Program::new([name, consent]);
        if resizes_files {
            program = program.arg("--resizefs");
        }
        let answer = program.args(size).arg(&volume).run(ctx)?;
        let out = outcome(&answer, format!("Logical volume \"{volume}\" successfully {done}."));
        Ok(Map::from_iter([(format!("Output from {name}"), out)]).into())
    }
}
