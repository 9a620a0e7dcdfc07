//! What the state `mount.mounted` remembers of what it has mounted.

use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, text_file};
use halite_lang::yaml;
use halite_value::record;
use halite_value::{Map, Value};

fn path(ctx: &Ctx) -> String {
    format!("{}/mounts", ctx.opts.str_at("cachedir").unwrap_or("/var/cache/salt/minion"))
}

/// All that is remembered, by place. A file that cannot be read is forgotten.
fn read(ctx: &Ctx) -> Result<Map, Fault> {
    let text = text_file::read(ctx.host, &path(ctx))?;
    let known = yaml::load(&text).unwrap_or_default();
    Ok(known.at("mounts").and_then(Value::as_map).cloned().unwrap_or_default())
}

fn write(ctx: &Ctx, mounts: Map) -> Result<(), Fault> {
    let whole = Value::from(Map::from_iter([("mounts", mounts)]));
    text_file::write(ctx.host, &path(ctx), &(whole.to_json() + "\n"))
}

record! {
    /// Shows what is remembered of a place.
    ///
    ///   salt '*' mount.read_mount_cache /mnt/share
    pub struct ReadMountCache {
        /// The place.
        name: String,
    }
}

impl Run for ReadMountCache {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(read(ctx)?.remove(&self.name).unwrap_or_else(|| Map::new().into()).into())
    }
}

record! {
    /// Remembers what was mounted at a place.
    ///
    ///   salt '*' mount.write_mount_cache /mnt/share /dev/sda1 False ext4 defaults,nosuid
    pub struct WriteMountCache {
        /// The place.
        real_name: String,
        /// The device.
        device: Value,
        /// Whether the place was made.
        mkmnt: Value,
        /// The kind of file system.
        fstype: Value,
        /// The options.
        mount_opts: Value,
    }
}

impl Run for WriteMountCache {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut mounts = read(ctx)?;
        let entry =
            [("device", self.device), ("fstype", self.fstype), ("mkmnt", self.mkmnt), ("opts", self.mount_opts)];
        mounts.insert(self.real_name, Map::from_iter(entry));
        write(ctx, mounts)?;
        Ok(true.into())
    }
}

record! {
    /// Forgets a place.
    ///
    ///   salt '*' mount.delete_mount_cache /mnt/share
    pub struct DeleteMountCache {
        /// The place.
        real_name: String,
    }
}

impl Run for DeleteMountCache {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut mounts = read(ctx)?;
        if mounts.remove(&self.real_name).is_some() {
            write(ctx, mounts)?;
        }
        Ok(true.into())
    }
}
