//! Debian's family: `/etc/network/interfaces`, scripts of ifupdown, `/etc/default/networking`.

pub mod bond;
mod bridge;
pub mod interface;
mod options;
mod pppoe;
pub mod routes;
pub mod settings;
pub mod stanza;

const FILE: &str = "/etc/network/interfaces";
const DIRECTORY: &str = "/etc/network/interfaces.d";

/// IP version 4 and 6, as ifupdown names them.
const FAMILIES: [&str; 2] = ["inet", "inet6"];

/// The lines of a text as they are shown: each with its end, and the empty one behind the last.
fn shown(text: &str) -> Vec<String> {
    text.split('\n').map(|line| format!("{line}\n")).collect()
}

/// The lines of a text, each with its end.
fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}
