//! Directories that are missing above a file.

use super::access::{Access, normalized};
use super::refused;
use halite_core::{Ctx, Fault, paths};
use halite_value::Value;
use std::path::Path;

/// Makes the directory of a path and those above it; why not, where something is there.
pub fn make_above(ctx: &Ctx, path: &str, user: &Value, group: &Value, mode: &Value) -> Result<Option<String>, Fault> {
    let directory = paths::normal(&paths::directory_of(path));
    if paths::is_directory(ctx.host, &directory) {
        return Ok(Some(format!("Directory '{directory}' already exists")));
    }
    if paths::exists(ctx.host, &directory) {
        return Ok(Some(format!("The path '{directory}' already exists and is not a directory")));
    }
    make(ctx, &directory, user, group, mode)?;
    Ok(None)
}

/// Makes a directory and those above it.
pub fn make(ctx: &Ctx, path: &str, user: &Value, group: &Value, mode: &Value) -> Result<(), Fault> {
    let above = paths::directory_of(path);
    if !above.is_empty() && above != path && !paths::exists(ctx.host, &above) {
        make(ctx, &above, user, group, mode)?;
    }
    ctx.host.make_directory(Path::new(path), 0o777).map_err(|error| refused(path, &error))?;
    let mode = if mode.truthy() { normalized(mode) } else { None };
    Access { user: user.clone(), group: group.clone(), mode, ..Access::default() }.enforce(ctx, path, false)?;
    Ok(())
}
