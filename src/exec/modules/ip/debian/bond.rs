//! `ip.get_bond` and `ip.build_bond`: the options of the driver, below `/etc/modprobe.d`.

use super::super::{Family, Settings, bond, lines_of, needs, write};
use halite_core::{Ctx, Fault};
use halite_value::Value;
use halite_value::record::Arguments;

fn path(iface: &str) -> String {
    format!("/etc/modprobe.d/{iface}.conf")
}

/// Its lines; an empty text where there are none.
pub fn shown(ctx: &Ctx, iface: &str) -> Result<Value, Fault> {
    Ok(lines_of(ctx, &path(iface)).map_or_else(|| "".into(), Value::list))
}

pub fn build(ctx: &Ctx, iface: &str, settings: &Settings) -> Result<Value, Fault> {
    let options = bond::options(ctx, Family::Debian, settings, iface)?;
    let words: String =
        options.iter().map(|(name, value)| format!("{}={} ", name.to_text(), value.to_text())).collect();
    let text = format!("alias {iface} bonding\noptions {iface} {words}");
    if settings.is_test() {
        return Ok(Value::list(super::lines(&text)));
    }
    write(ctx, &path(iface), &text, None)?;
    ctx.run("kmod.load", Arguments::positional(["bonding"]))?;
    needs(ctx, "ifenslave")?;
    shown(ctx, iface)
}
