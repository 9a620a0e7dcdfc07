//! Red Hat's family: `/etc/sysconfig/network` and the files of `/etc/sysconfig/network-scripts`.

pub mod interface;
pub mod routes;
pub mod settings;

use halite_core::{Ctx, text_file};

const DIRECTORY: &str = "/etc/sysconfig/network-scripts";
const NETWORK: &str = "/etc/sysconfig/network";

/// The lines of a file; none where it cannot be read.
fn lines_of(ctx: &Ctx, path: &str) -> Vec<String> {
    shown(&text_file::read(ctx.host, path).unwrap_or_default())
}

/// The lines of a text as they are shown, without the first empty one.
fn shown(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if let Some(at) = lines.iter().position(String::is_empty) {
        lines.remove(at);
    }
    lines
}
