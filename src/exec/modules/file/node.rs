//! Devices and named pipes.

use super::refused;
use halite_core::host::{FileKind, Node};
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_file::access::{Access, normalized};
use halite_file::is_test;
use halite_value::record;
use halite_value::record::Arguments;
use halite_value::{Map, Value};
use std::io;
use std::path::Path;

/// The kind of what is at a path; nothing where there is nothing.
fn kind(ctx: &Ctx, path: &str) -> Result<Option<FileKind>, Fault> {
    let path = paths::expand_user(ctx.host, path);
    match paths::followed(ctx.host, Path::new(&path)) {
        Ok(stat) => Ok(Some(stat.kind)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refused(&path, &error)),
    }
}

record! {
    /// Shows whether a path is a block device.
    ///
    ///   salt '*' file.is_blkdev /dev/sda
    pub struct IsBlkdev {
        /// The path.
        name: String,
    }
}

impl Run for IsBlkdev {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok((kind(ctx, &self.name)? == Some(FileKind::BlockDevice)).into())
    }
}

record! {
    /// Shows whether a path is a character device.
    ///
    ///   salt '*' file.is_chrdev /dev/null
    pub struct IsChrdev {
        /// The path.
        name: String,
    }
}

impl Run for IsChrdev {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok((kind(ctx, &self.name)? == Some(FileKind::CharDevice)).into())
    }
}

record! {
    /// Shows whether a path is a named pipe.
    ///
    ///   salt '*' file.is_fifo /dev/initctl
    pub struct IsFifo {
        /// The path.
        name: String,
    }
}

impl Run for IsFifo {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok((kind(ctx, &self.name)? == Some(FileKind::Fifo)).into())
    }
}

record! {
    /// Shows the major and the minor number of a device; zeros for what is none.
    ///
    ///   salt '*' file.get_devmm /dev/null
    pub struct GetDevmm {
        /// The path.
        name: String,
    }
}

impl Run for GetDevmm {
    fn run(self, ctx: &Ctx) -> Reply {
        let is_device = matches!(kind(ctx, &self.name)?, Some(FileKind::BlockDevice | FileKind::CharDevice));
        let path = paths::expand_user(ctx.host, &self.name);
        let (major, minor) = match is_device {
            true => paths::followed(ctx.host, Path::new(&path)).map_err(|error| refused(&path, &error))?.node,
            false => (0, 0),
        };
        Ok(Value::list([major, minor]).into())
    }
}

record! {
    /// Makes a device or a named pipe, and the directories above it. Returns what a state returns.
    ///
    ///   salt '*' file.mknod /dev/chr c 180 31
    ///   salt '*' file.mknod /dev/fifo p
    pub struct Mknod {
        /// The path.
        name: String,
        /// `c`: character device, `b`: block device, `p`: named pipe.
        ntype: String,
        /// The major number.
        major: i64 = 0,
        /// The minor number.
        minor: i64 = 0,
        /// The account that owns it.
        user: Value = (),
        /// Its group.
        group: Value = (),
        /// Its mode.
        mode: Value = "0600",
    }
}

impl Run for Mknod {
    fn run(self, ctx: &Ctx) -> Reply {
        let directories =
            Arguments::positional([Value::from(self.name.as_str()), self.user.clone(), self.group.clone()]);
        if !matches!(self.ntype.as_str(), "c" | "b" | "p") {
            return Err(Fault::invocation(format!(
                "Node type unavailable: '{}'. Available node types are character ('c'), block ('b'), and pipe ('p').",
                self.ntype
            )));
        }
        ctx.run("file.makedirs", directories)?;
        let wanted = Made { user: self.user, group: self.group, mode: self.mode };
        match self.ntype.as_str() {
            "c" => wanted.device(ctx, &self.name, "Character device", self.major, self.minor),
            "b" => wanted.device(ctx, &self.name, "Block device", self.major, self.minor),
            _ => wanted.make(ctx, &self.name, "Fifo pipe", Node::Fifo),
        }
    }
}

record! {
    /// Makes a character device. Returns what a state returns.
    ///
    ///   salt '*' file.mknod_chrdev /dev/chr 180 31
    pub struct MknodChrdev {
        /// The path.
        name: String,
        /// The major number.
        major: i64,
        /// The minor number.
        minor: i64,
        /// The account that owns it.
        user: Value = (),
        /// Its group.
        group: Value = (),
        /// Its mode.
        mode: Value = "0660",
    }
}

impl Run for MknodChrdev {
    fn run(self, ctx: &Ctx) -> Reply {
        let wanted = Made { user: self.user, group: self.group, mode: self.mode };
        wanted.device(ctx, &self.name, "Character device", self.major, self.minor)
    }
}

record! {
    /// Makes a block device. Returns what a state returns.
    ///
    ///   salt '*' file.mknod_blkdev /dev/blk 8 999
    pub struct MknodBlkdev {
        /// The path.
        name: String,
        /// The major number.
        major: i64,
        /// The minor number.
        minor: i64,
        /// The account that owns it.
        user: Value = (),
        /// Its group.
        group: Value = (),
        /// Its mode.
        mode: Value = "0660",
    }
}

impl Run for MknodBlkdev {
    fn run(self, ctx: &Ctx) -> Reply {
        let wanted = Made { user: self.user, group: self.group, mode: self.mode };
        wanted.device(ctx, &self.name, "Block device", self.major, self.minor)
    }
}

record! {
    /// Makes a named pipe. Returns what a state returns.
    ///
    ///   salt '*' file.mknod_fifo /dev/fifo
    pub struct MknodFifo {
        /// The path.
        name: String,
        /// The account that owns it.
        user: Value = (),
        /// Its group.
        group: Value = (),
        /// Its mode.
        mode: Value = "0660",
    }
}

impl Run for MknodFifo {
    fn run(self, ctx: &Ctx) -> Reply {
        let wanted = Made { user: self.user, group: self.group, mode: self.mode };
        wanted.make(ctx, &self.name, "Fifo pipe", Node::Fifo)
    }
}

/// Owner and mode of what is made.
struct Made {
    user: Value,
    group: Value,
    mode: Value,
}

impl Made {
    fn device(self, ctx: &Ctx, name: &str, what: &str, major: i64, minor: i64) -> Reply {
        let number = |number: i64| {
            u32::try_from(number).map_err(|_| Fault::invocation(format!("{number} is not the number of a device")))
        };
        let (major, minor) = (number(major)?, number(minor)?);
        let node =
            if what == "Block device" { Node::BlockDevice(major, minor) } else { Node::CharDevice(major, minor) };
        self.make(ctx, name, what, node)
    }

    fn make(self, ctx: &Ctx, name: &str, what: &str, node: Node) -> Reply {
        let path = paths::expand_user(ctx.host, name);
        let digits = self.mode.to_text();
        let mode = u32::from_str_radix(digits.trim_start_matches(['0', 'O', 'o']), 8)
            .ok()
            .filter(|mode| *mode <= 0o7777)
            .ok_or_else(|| Fault::invocation(format!("the mode '{digits}' is no octal number such as '0660'")))?;
        let mut ret = Map::from_iter([
            ("name", Value::from(path.as_str())),
            ("changes", Map::new().into()),
            ("comment", "".into()),
            ("result", false.into()),
        ]);
        let created = Map::from_iter([("new", format!("{what} {path} created."))]);
        if is_test(ctx) {
            ret.insert("changes", created);
            ret.insert("result", Value::Null);
            return Ok(ret.into());
        }
        match ctx.host.make_node(Path::new(&path), node, mode) {
            Ok(()) => {
                ret.insert("changes", created);
                ret.insert("result", true);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                ret.insert("comment", format!("File {path} exists and cannot be overwritten"));
            }
            Err(error) => return Err(refused(&path, &error)),
        }
        let wanted = Access { user: self.user, group: self.group, mode: normalized(&self.mode), ..Access::default() };
        wanted.enforce(ctx, &path, false)?;
        Ok(ret.into())
    }
}
