//! `mount.*`: file systems and swap, as they are and as they are at boot.

mod automaster;
mod cache;
mod fstab;
mod swap;

use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths, text_file};
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "mount",
    doc: "File systems and swap, as they are and as they are at boot.",
    functions: &[
        function::<Active>("active"),
        function::<automaster::Automaster>("automaster"),
        function::<cache::DeleteMountCache>("delete_mount_cache"),
        function::<fstab::Fstab>("fstab"),
        function::<GetDeviceFromPath>("get_device_from_path"),
        function::<GetMountFromPath>("get_mount_from_path"),
        function::<IsFuseExec>("is_fuse_exec"),
        function::<IsMounted>("is_mounted"),
        function::<Mount>("mount"),
        function::<cache::ReadMountCache>("read_mount_cache"),
        function::<Remount>("remount"),
        function::<automaster::RmAutomaster>("rm_automaster"),
        function::<fstab::RmFstab>("rm_fstab"),
        function::<automaster::SetAutomaster>("set_automaster"),
        function::<fstab::SetFstab>("set_fstab"),
        function::<swap::Swapoff>("swapoff"),
        function::<swap::Swapon>("swapon"),
        function::<swap::Swaps>("swaps"),
        function::<Umount>("umount"),
        function::<cache::WriteMountCache>("write_mount_cache"),
    ],
};

/// Options with the names of users and groups in place of their numbers.
fn options(ctx: &Ctx, text: &str) -> Value {
    let option = |option: &str| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let found = match (name, value.parse::<u32>()) {
            ("uid", Ok(uid)) => ctx.host.user_by_uid(uid).ok().flatten().map(|user| user.name),
            ("gid", Ok(gid)) => ctx.host.group_by_gid(gid).ok().flatten(),
            _ => None,
        };
        found.map_or_else(|| option.to_owned(), |found| format!("{name}={found}"))
    };
    Value::list(text.split(',').map(option))
}

/// What `mount -l` calls the devices, by the places where they are mounted.
fn devices(ctx: &Ctx) -> Map {
    let told = Program::new(["mount", "-l"]).query(ctx).map(|answer| answer.stdout).unwrap_or_default();
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        Some((words.get(2)?.to_string(), words.first()?.to_string()))
    };
    told.lines().filter_map(line).collect()
}

fn active(ctx: &Ctx) -> Result<Map, Fault> {
    let devices = devices(ctx);
    let mut shown = Map::new();
    for line in text_file::read(ctx.host, "/proc/self/mounts")?.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [device, place, kind, opts, ..] = words.as_slice() else { continue };
        let entry = [
            ("device", Value::from(*device)),
            ("alt_device", devices.at(place).cloned().unwrap_or_default()),
            ("fstype", (*kind).into()),
            ("opts", options(ctx, opts)),
        ];
        shown.insert(*place, Map::from_iter(entry));
    }
    Ok(shown)
}

record! {
    /// Shows what is mounted, by place.
    ///
    ///   salt '*' mount.active
    pub struct Active {
        /// Show more: numbers of devices, labels, options of the file system itself.
        extended: bool = false,
    }
}

impl Run for Active {
    fn run(self, ctx: &Ctx) -> Reply {
        if !self.extended {
            return Ok(active(ctx)?.into());
        }
        let devices = devices(ctx);
        let labels = ctx.run("disk.blkid", Arguments::default()).unwrap_or_default();
        let mut shown = Map::new();
        for line in text_file::read(ctx.host, "/proc/self/mountinfo")?.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(dash) = words.iter().position(|word| *word == "-") else { continue };
            let ([id, parent, numbers, root, place, opts, ..], [kind, device, superopts, ..]) =
                (words.as_slice(), &words[dash + 1..])
            else {
                continue;
            };
            let (major, minor) = numbers.split_once(':').unwrap_or((numbers, ""));
            let label = |key: &str| labels.at(device).and_then(|entry| entry.at(key)).cloned().unwrap_or_default();
            let uuid = label("UUID").as_str().map(str::to_lowercase);
            let entry = [
                ("mountid", Value::from(*id)),
                ("parentid", (*parent).into()),
                ("major", major.into()),
                ("minor", minor.into()),
                ("root", (*root).into()),
                ("opts", options(ctx, opts)),
                ("fstype", (*kind).into()),
                ("device", device.replace("\\040", "\\ ").into()),
                ("alt_device", devices.at(place).cloned().unwrap_or_default()),
                ("superopts", options(ctx, superopts)),
                ("device_uuid", uuid.into()),
                ("device_label", label("LABEL")),
            ];
            shown.insert(*place, Map::from_iter(entry));
        }
        Ok(shown.into())
    }
}

record! {
    /// Shows whether something is mounted at a place.
    ///
    ///   salt '*' mount.is_mounted /mnt/share
    pub struct IsMounted {
        /// The place.
        name: String,
    }
}

impl Run for IsMounted {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(active(ctx)?.contains(&self.name).into())
    }
}

/// Options as text: a list, or text with commas.
fn joined(opts: &Value) -> String {
    match opts {
        Value::Null => String::new(),
        Value::List(items) => items.iter().map(Value::to_text).collect::<Vec<String>>().join(","),
        text => text.to_text(),
    }
}

/// A device as given; False and nothing are none.
fn device(given: &Value) -> Option<String> {
    given.truthy().then(|| given.to_text())
}

/// A word that mount takes for a path or a device, and not for an option.
fn check(word: &str) -> Result<(), Fault> {
    match word.is_empty() || word.starts_with('-') {
        true => Err(Fault::invocation(format!("'{word}' can be neither a place nor a device"))),
        false => Ok(()),
    }
}

record! {
    /// Mounts something. Returns True, or what mount complains about.
    ///
    ///   salt '*' mount.mount /mnt/foo /dev/sdz1 True
    pub struct Mount {
        /// The place.
        name: String,
        /// The device; without it what fstab has for the place.
        device: Value = false,
        /// Make the place.
        mkmnt: bool = false,
        /// The kind of file system.
        fstype: String = "",
        /// Options: a list, or text with commas.
        opts: Value = "defaults",
        /// The account that mounts it.
        user: Option<String> = (),
        /// `mount` alone in this version.
        util: String = "mount",
    }
}

impl Run for Mount {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.util != "mount" {
            return Err(Fault::invocation(format!("this version mounts nothing with {}", self.util)));
        }
        check(&self.name)?;
        if self.mkmnt && !paths::exists(ctx.host, &self.name) {
            let arguments = Arguments::positional([self.name.as_str()]).with("user", Value::from(self.user.clone()));
            ctx.run("file.mkdir", arguments)?;
        }
        mount(ctx, &self.name, device(&self.device).as_deref(), &self.fstype, &joined(&self.opts), self.user.as_deref())
    }
}

fn mount(ctx: &Ctx, name: &str, device: Option<&str>, fstype: &str, opts: &str, user: Option<&str>) -> Reply {
    let mut program = Program::new(["mount"]);
    if let Some(device) = device {
        check(device)?;
        if !opts.is_empty() {
            program = program.args(["-o", opts]);
        }
        if !fstype.is_empty() {
            program = program.args(["-t", fstype]);
        }
        program = program.arg(device);
    }
    let answer = program.arg(name).runas_name(ctx, user)?.run(ctx)?;
    Ok(if answer.is_success() { Value::Bool(true) } else { answer.stderr.into() }.into())
}

record! {
    /// Mounts something anew with other options, or mounts it. Returns True, or what mount complains about.
    ///
    ///   salt '*' mount.remount /mnt/foo /dev/sdz1 True
    pub struct Remount {
        /// The place.
        name: String,
        /// The device.
        device: Value,
        /// Make the place.
        mkmnt: bool = false,
        /// The kind of file system.
        fstype: String = "",
        /// Options: a list, or text with commas.
        opts: Value = "defaults",
        /// The account that mounts it.
        user: Option<String> = (),
    }
}

impl Run for Remount {
    fn run(self, ctx: &Ctx) -> Reply {
        check(&self.name)?;
        if !active(ctx)?.contains(&self.name) {
            let Remount { name, device, mkmnt, fstype, opts, user } = self;
            return Mount { name, device, mkmnt, fstype, opts, user, util: "mount".to_owned() }.run(ctx);
        }
        let mut opts = joined(&self.opts);
        if !opts.split(',').any(|option| option == "remount") {
            opts.push_str(if opts.is_empty() { "remount" } else { ",remount" });
        }
        mount(ctx, &self.name, device(&self.device).as_deref(), &self.fstype, &opts, self.user.as_deref())
    }
}

record! {
    /// Unmounts a place. Returns True, or what umount complains about.
    ///
    ///   salt '*' mount.umount /mnt/foo
    pub struct Umount {
        /// The place.
        name: String,
        /// The device that is named in place of it.
        device: Value = (),
        /// The account that unmounts it.
        user: Option<String> = (),
        /// `mount` alone in this version.
        util: String = "mount",
        /// Take it out now and let it go when nobody uses it any more.
        lazy: bool = false,
    }
}

impl Run for Umount {
    fn run(self, ctx: &Ctx) -> Reply {
        if !active(ctx)?.contains(&self.name) {
            return Ok(format!("{} does not have anything mounted", self.name).into());
        }
        let what = device(&self.device).unwrap_or(self.name);
        check(&what)?;
        let mut program = Program::new(["umount"]);
        if self.lazy {
            program = program.arg("-l");
        }
        let answer = program.arg(what).runas_name(ctx, self.user.as_deref())?.run(ctx)?;
        Ok(if answer.is_success() { Value::Bool(true) } else { answer.stderr.into() }.into())
    }
}

record! {
    /// Shows whether a program is one of FUSE.
    ///
    ///   salt '*' mount.is_fuse_exec sshfs
    pub struct IsFuseExec {
        /// Its name.
        cmd: String,
    }
}

impl Run for IsFuseExec {
    fn run(self, ctx: &Ctx) -> Reply {
        let Some(path) = ctx.host.which(&self.cmd) else { return Ok(false.into()) };
        if ctx.host.which("ldd").is_none() {
            return Err(Fault::execution("ldd is not there"));
        }
        let told = Program::new(["ldd".to_owned(), path.to_string_lossy().into_owned()]).mixed().query(ctx)?;
        Ok(told.stdout.contains("libfuse").into())
    }
}

/// The place whose file system a path is on.
fn place_of(ctx: &Ctx, path: &str) -> Result<String, Fault> {
    let active = active(ctx)?;
    let mut path = paths::real(ctx.host, path);
    while path != "/" && !active.contains(&path) {
        path = paths::directory_of(&path);
        if path.is_empty() {
            path = "/".to_owned();
        }
    }
    Ok(path)
}

record! {
    /// Shows the place whose file system a path is on.
    ///
    ///   salt '*' mount.get_mount_from_path /opt/some/nested/path
    pub struct GetMountFromPath {
        /// The path.
        path: String,
    }
}

impl Run for GetMountFromPath {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(place_of(ctx, &self.path)?.into())
    }
}

record! {
    /// Shows the device that a path is on.
    ///
    ///   salt '*' mount.get_device_from_path /
    pub struct GetDeviceFromPath {
        /// The path.
        path: String,
    }
}

impl Run for GetDeviceFromPath {
    fn run(self, ctx: &Ctx) -> Reply {
        let place = place_of(ctx, &self.path)?;
        let device = active(ctx)?.at(&place).and_then(|entry| entry.at("device")).cloned();
        Ok(device.unwrap_or_default().into())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::World;
    use halite_core::context::NoMaster;
    use halite_core::host::Finished;
    use halite_core::host::fake::Fake;
    use halite_core::module::call;
    use halite_value::Value;
    use halite_value::record::Arguments;

    fn world() -> World {
        let host = Fake::new().file("/proc/self/mounts", "/dev/sda1 / ext4 rw,uid=0 0 0\ntmpfs /mnt/a tmpfs rw 0 0\n");
        World::on(host.answers(["mount", "-l"], "/dev/sda1 on / type ext4 (rw) [root]\n"))
    }

    #[test]
    fn what_is_mounted_is_known() {
        let mut world = world();
        let failed = Finished { code: 32, stderr: b"busy\n".to_vec(), ..Finished::default() };
        world.host = world.host.command(["umount", "/mnt/a"], failed);
        world.host = world.host.answers(["mount", "-o", "ro,remount", "-t", "tmpfs", "tmpfs", "/mnt/a"], "");
        let run = |fun: &str, words: &[&str]| {
            call(&world.ctx(&NoMaster), fun, Arguments::positional(words.iter().copied())).map(|told| told.value)
        };
        assert_eq!(run("mount.get_device_from_path", &["/etc/x"]), Ok("/dev/sda1".into()));
        assert_eq!(run("mount.get_mount_from_path", &["/mnt/a/b"]), Ok("/mnt/a".into()));
        assert_eq!(run("mount.umount", &["/mnt/a"]), Ok("busy".into()));
        assert_eq!(run("mount.umount", &["/mnt/b"]), Ok("/mnt/b does not have anything mounted".into()));
        assert!(run("mount.mount", &["--bind", "/etc"]).is_err());
        let arguments =
            Arguments::positional([Value::from("/mnt/a"), "tmpfs".into()]).with("fstype", "tmpfs").with("opts", "ro");
        assert_eq!(call(&world.ctx(&NoMaster), "mount.remount", arguments).unwrap().value, true.into());
    }
}
