//! Red Hat's family where NetworkManager has the network: keyfiles below `/etc/NetworkManager/system-connections`, which
//! nmcli(1) puts in force.

mod addresses;
mod device;
pub mod interface;
mod keyfile;
pub mod routes;
#[cfg(test)]
mod tests;

use super::Settings;
use halite_core::program::Program;
use halite_core::{Ctx, Fault};
use halite_lang::words::named;
use halite_value::Value;

/// What is configured of the network as a whole: nothing, for each keyfile stands for itself. What is asked for is told.
pub fn build_settings(settings: &Settings) -> Vec<String> {
    let mut names: Vec<String> = settings.0.keys().map(Value::to_text).collect();
    names.retain(|name| name != "test" && !name.starts_with("__"));
    if !names.is_empty() {
        log::warn!("NetworkManager has no settings of the network as a whole, {} has no effect", names.join(", "));
    }
    Vec::new()
}

/// Has the keyfiles read that were written.
pub fn apply(ctx: &Ctx, settings: &Settings) -> Result<bool, Fault> {
    if settings.is_test() {
        return Ok(true);
    }
    reload(ctx)?.run(ctx)?.expect_success("nmcli connection reload failed")?;
    Ok(true)
}

/// Brings the connection of an interface up, as its keyfile has it; what nmcli says.
pub fn up(ctx: &Ctx, iface: &str) -> Result<String, Fault> {
    // A fault in another keyfile is none of this interface's.
    reload(ctx)?.run(ctx)?;
    let answer = nmcli(ctx)?.args(["up", iface]).mixed().run(ctx)?;
    Ok(answer.expect_success(&format!("{iface} could not be brought up"))?.stdout)
}

/// Takes the connection of an interface down; what nmcli says. One that is not up is what was asked for.
pub fn down(ctx: &Ctx, iface: &str) -> Result<String, Fault> {
    Ok(nmcli(ctx)?.args(["down", iface]).mixed().run(ctx)?.stdout)
}

fn reload(ctx: &Ctx) -> Result<Program, Fault> {
    Ok(nmcli(ctx)?.arg("reload"))
}

fn nmcli(ctx: &Ctx) -> Result<Program, Fault> {
    match ctx.host.which("nmcli") {
        Some(program) => Ok(Program::new([program.to_string_lossy().into_owned(), "connection".to_owned()])),
        None => Err(Fault::execution("nmcli command not found")),
    }
}

impl Settings {
    /// A value that says something.
    fn told(&self, name: &str) -> Option<&Value> {
        self.at(name).filter(|value| value.truthy())
    }

    /// The names in the first of some settings that says something.
    fn items(&self, names: &[&str]) -> Vec<String> {
        names.iter().find_map(|name| self.told(name)).map(named).unwrap_or_default()
    }
}
