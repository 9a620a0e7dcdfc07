//! Making directories.

use halite_core::module::Run;
use halite_core::{Ctx, Reply, paths};
use halite_file::directories::{make, make_above};
use halite_value::Value;
use halite_value::record;

record! {
    /// Makes sure that there is a directory, and the ones above it.
    ///
    ///   salt '*' file.mkdir /opt/jetty/context
    pub struct Mkdir {
        /// The path.
        dir_path: String,
        /// The account that owns those that are made.
        user: Value = (),
        /// Their group.
        group: Value = (),
        /// Their mode.
        mode: Value = (),
    }
}

impl Run for Mkdir {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::normal(&paths::expand_user(ctx.host, &self.dir_path));
        if !paths::is_directory(ctx.host, &path) {
            make(ctx, &path, &self.user, &self.group, &self.mode)?;
        }
        Ok(true.into())
    }
}

record! {
    /// Makes sure that there is the directory of a path. Returns None, or that it is there already.
    ///
    ///   salt '*' file.makedirs /opt/code/
    pub struct Makedirs {
        /// The path: what stands behind its last slash is not made.
        path: String,
        /// The account that owns those that are made.
        user: Value = (),
        /// Their group.
        group: Value = (),
        /// Their mode.
        mode: Value = (),
    }
}

impl Run for Makedirs {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = paths::expand_user(ctx.host, &self.path);
        Ok(make_above(ctx, &path, &self.user, &self.group, &self.mode)?.map_or(Value::Null, Value::from).into())
    }
}

record! {
    /// Makes a directory that is not there, and the ones above it, with owner and mode.
    ///
    ///   salt '*' file.makedirs_perms /opt/code
    pub struct MakedirsPerms {
        /// The path.
        name: String,
        /// The account that owns those that are made.
        user: Value = (),
        /// Their group.
        group: Value = (),
        /// Their mode.
        mode: Value = "0755",
    }
}

impl Run for MakedirsPerms {
    fn run(self, ctx: &Ctx) -> Reply {
        let name = paths::expand_user(ctx.host, &self.name);
        let path = if name.len() > 1 { name.trim_end_matches('/') } else { &name };
        make(ctx, path, &self.user, &self.group, &self.mode)?;
        Ok(Value::Null.into())
    }
}
