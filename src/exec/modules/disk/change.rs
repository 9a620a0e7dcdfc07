//! What makes, changes and wipes file systems and devices.

use super::ask;
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::record::{Arguments, Keywords};
use halite_value::{Map, Value};

/// A device must not be taken for an option.
pub(super) fn checked(device: &str) -> Result<(), Fault> {
    match device.is_empty() || device.starts_with('-') {
        true => Err(Fault::invocation(format!("'{device}' is no device"))),
        false => Ok(()),
    }
}

record! {
    /// Makes a file system on a device. What was on it is lost.
    ///
    ///   salt '*' disk.format /dev/sdX1
    pub struct Format {
        /// The device.
        device: String,
        /// The kind of file system.
        fs_type: String = "ext4",
        /// Bytes of an inode (xfs), or of the files for each inode (ext).
        inode_size: Option<i64> = (),
        /// Whether the kernel makes the tables of inodes later: 1 or 0 (ext).
        lazy_itable_init: Value = (),
        /// Bits of the allocation table: 12, 16 or 32 (fat).
        fat: Option<i64> = (),
        /// Also where there is a file system already (ext, xfs).
        force: bool = false,
    }
}

impl Run for Format {
    fn run(self, ctx: &Ctx) -> Reply {
        checked(&self.device)?;
        let (is_ext, is_xfs) = (self.fs_type.starts_with("ext"), self.fs_type == "xfs");
        let mut mkfs = Program::new(["mkfs", "-t", &self.fs_type]);
        if let Some(size) = self.inode_size {
            mkfs = match (is_ext, is_xfs) {
                (true, _) => mkfs.args(["-i".to_owned(), size.to_string()]),
                (_, true) => mkfs.args(["-i".to_owned(), format!("size={size}")]),
                _ => mkfs,
            };
        }
        if is_ext && !self.lazy_itable_init.is_null() {
            mkfs = mkfs.args(["-E".to_owned(), format!("lazy_itable_init={}", self.lazy_itable_init.to_text())]);
        }
        if let Some(bits @ (12 | 16 | 32)) = self.fat
            && self.fs_type.ends_with("fat")
        {
            mkfs = mkfs.args(["-F".to_owned(), bits.to_string()]);
        }
        if self.force {
            mkfs = match (is_ext, is_xfs) {
                (true, _) => mkfs.arg("-F"),
                (_, true) => mkfs.arg("-f"),
                _ => mkfs,
            };
        }
        let made = mkfs.arg(&self.device).run(ctx)?.is_success();
        let synced = Program::new(["sync"]).run(ctx)?.is_success();
        Ok((made && synced).into())
    }
}

record! {
    /// Makes a file system of the kind ext as large as its device. None: it did not work.
    ///
    ///   salt '*' disk.resize2fs /dev/sda1
    pub struct Resize2fs {
        /// The device.
        device: String,
    }
}

impl Run for Resize2fs {
    fn run(self, ctx: &Ctx) -> Reply {
        checked(&self.device)?;
        let done = Program::new(["resize2fs", &self.device]).run(ctx)?.is_success();
        Ok(if done { Value::Bool(true) } else { Value::Null }.into())
    }
}

record! {
    /// Takes the marks of file systems, tables and RAIDs off a device.
    ///
    ///   salt '*' disk.wipe /dev/sda1
    pub struct Wipe {
        /// The device.
        device: String,
    }
}

impl Run for Wipe {
    fn run(self, ctx: &Ctx) -> Reply {
        checked(&self.device)?;
        let answer = Program::new(["wipefs", "-a", &self.device]).run(ctx)?;
        if !answer.is_success() {
            log::error!("Error wiping device {}: {}", self.device, answer.stderr);
        }
        Ok(answer.is_success().into())
    }
}

record! {
    /// Sets what the kernel does with a device, and shows it.
    ///
    ///   salt '*' disk.tune /dev/sda1 read-ahead=1024 read-write=True
    pub struct Tune {
        /// The device.
        device: String,
        /// `read-ahead` and `filesystem-read-ahead`: sectors; `read-only`, `read-write`: True.
        kwargs: Keywords,
    }
}

impl Run for Tune {
    fn run(self, ctx: &Ctx) -> Reply {
        checked(&self.device)?;
        let (mut program, mut shown) = (Program::new(["blockdev"]), Vec::new());
        let mut invalid = Vec::new();
        for (key, value) in self.kwargs.0.iter() {
            let (key, text) = (key.to_text(), value.to_text());
            let is_number = text.parse::<u64>().is_ok();
            let (set, get) = match key.as_str() {
                "read-ahead" if is_number => ("--setra", "getra"),
                "filesystem-read-ahead" if is_number => ("--setfra", "getfra"),
                "read-only" if text == "True" => ("--setro", "getro"),
                "read-write" if text == "True" => ("--setrw", "getro"),
                key if key.starts_with("__") => continue,
                _ => {
                    invalid.push(format!("{key}={text}"));
                    continue;
                }
            };
            program = program.arg(set);
            if is_number {
                program = program.arg(text);
            }
            shown.push(Value::from(get));
        }
        if !invalid.is_empty() {
            return Err(Fault::invocation(format!("Invalid keyword arguments: {}", invalid.join(", "))));
        }
        program.arg(&self.device).run(ctx)?.expect_success("blockdev")?;
        ctx.run("disk.dump", Arguments::positional([self.device.into(), Value::List(shown)])).map(Into::into)
    }
}

record! {
    /// Shows which kind of file system a path is on.
    ///
    ///   salt '*' disk.get_fstype_from_path /root
    pub struct GetFstypeFromPath {
        /// The path.
        path: String,
    }
}

impl Run for GetFstypeFromPath {
    fn run(self, ctx: &Ctx) -> Reply {
        let device = ctx.run("mount.get_device_from_path", Arguments::positional([self.path.as_str()]))?;
        match device {
            Value::Null => Ok(().into()),
            device => ctx.run("disk.fstype", Arguments::positional([device])).map(Into::into),
        }
    }
}

/// What hdparm(8) prints for a disk; a failure is told in the log, since many disks know not all of it.
pub(super) fn hdparm(ctx: &Ctx, letters: &str, disk: &str) -> Result<String, Fault> {
    let finished = ask(ctx, &["hdparm", &format!("-{letters}"), disk])?;
    if finished.code != 0 {
        log::warn!("hdparm -{letters} {disk}: {}", String::from_utf8_lossy(&finished.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&finished.stdout).into_owned())
}

/// Hides the end of a disk from the host.
pub(super) fn hide(ctx: &Ctx, disk: &str, visible: i64) -> Result<(), Fault> {
    let argv = ["hdparm", "--yes-i-know-what-i-am-doing", &format!("-Np{visible}"), disk].map(str::to_owned);
    Program::new(argv).run(ctx)?.expect_success("hdparm").map(drop)
}

/// A map with one entry.
pub(super) fn single(key: &str, value: impl Into<Value>) -> Map {
    Map::from_iter([(key, value.into())])
}
