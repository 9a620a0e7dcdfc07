//! Making folders.

use super::owner::{Wanted, normalized};
use super::refused;
use halite_core::module::Run;
use halite_core::{Ctx, Fault, Reply, paths};
use halite_value::Value;
use halite_value::record;
use std::path::Path;

record! {
    /// Makes sure that there is a folder, and the ones above it.
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
        if !paths::is_folder(ctx.host, &path) {
            make(ctx, &path, &self.user, &self.group, &self.mode)?;
        }
        Ok(true.into())
    }
}

/// Makes a folder and those above it.
pub(super) fn make(ctx: &Ctx, path: &str, user: &Value, group: &Value, mode: &Value) -> Result<(), Fault> {
    let above = paths::folder_of(path);
    if !above.is_empty() && above != path && !paths::exists(ctx.host, &above) {
        make(ctx, &above, user, group, mode)?;
    }
    ctx.host.make_folder(Path::new(path), 0o777).map_err(|error| refused(path, &error))?;
    let mode = if mode.truthy() { normalized(mode) } else { None };
    Wanted { user: user.clone(), group: group.clone(), mode, ..Wanted::default() }.enforce(ctx, path, false)?;
    Ok(())
}

record! {
    /// Makes sure that there is the folder of a path. Returns None, or that it is there already.
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

/// Makes the folder of a path and those above it; why not, where something is there.
pub(super) fn make_above(
    ctx: &Ctx,
    path: &str,
    user: &Value,
    group: &Value,
    mode: &Value,
) -> Result<Option<String>, Fault> {
    let folder = paths::normal(&paths::folder_of(path));
    if paths::is_folder(ctx.host, &folder) {
        return Ok(Some(format!("Directory '{folder}' already exists")));
    }
    if paths::exists(ctx.host, &folder) {
        return Ok(Some(format!("The path '{folder}' already exists and is not a directory")));
    }
    make(ctx, &folder, user, group, mode)?;
    Ok(None)
}

record! {
    /// Makes a folder that is not there, and the ones above it, with owner and mode.
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
