//! netplan, in Debian's family: for each interface a file of `/etc/netplan`, and one for its routes. There are none for the
//! network as a whole.

pub mod interface;
pub mod routes;
#[cfg(test)]
mod tests;

use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths, text_file};
use halite_lang::yaml;
use halite_node::network_owner::NETPLAN;
use halite_value::{Map, Value};

const ETHERNETS: &str = "ethernets";

/// Has the files put in force. They are checked first: what is wrong with them shows before the network is touched.
pub fn apply(ctx: &Ctx) -> Result<bool, Fault> {
    let program = ctx.host.which("netplan").ok_or_else(|| Fault::execution("there is no program netplan"))?;
    for verb in ["generate", "apply"] {
        let words = [program.to_string_lossy().into_owned(), verb.to_owned()];
        Program::new(words).run(ctx)?.expect_success(&format!("netplan {verb} failed"))?;
    }
    Ok(true)
}

/// netplan has no word for taking an interface down.
pub fn down(ctx: &Ctx, iface: &str) -> Reply {
    Ok(Program::new(["ip", "link", "set", "dev", iface, "down"]).mixed().run(ctx)?.stdout.into())
}

/// What the files have under `network`, each by itself.
struct Declared(Vec<Map>);

impl Declared {
    /// Files that netplan cannot read either say nothing.
    fn read(ctx: &Ctx) -> Declared {
        let files = ["yaml", "yml"].map(|end| paths::glob(ctx.host, &format!("{NETPLAN}/*.{end}")));
        let mut files = files.concat();
        files.sort();
        Declared(files.iter().filter_map(|path| network(ctx, path).ok().flatten()).collect())
    }

    /// Which program is to have the network.
    fn renderer(&self) -> Value {
        let given = self.0.iter().find_map(|network| network.at("renderer").filter(|name| name.truthy()));
        given.cloned().unwrap_or_else(|| "networkd".into())
    }

    /// Among what an interface is. Members of others are declared as cards too, so whatever else is said of it counts.
    fn section(&self, iface: &str) -> &str {
        let mut all = self.0.iter().flat_map(Map::iter).filter_map(|(name, section)| Some((name.as_str()?, section)));
        let other = all.find(|(name, section)| *name != ETHERNETS && section.at(iface).is_some());
        other.map_or(ETHERNETS, |(name, _)| name)
    }
}

/// What a file has under `network`; nothing where there is no such file.
fn network(ctx: &Ctx, path: &str) -> Result<Option<Map>, Fault> {
    if !paths::is_file(ctx.host, path) {
        return Ok(None);
    }
    let text = text_file::read(ctx.host, path)?;
    // Files of netplan hold passwords: nothing of their text goes into an error.
    let document = yaml::load(&text).map_err(|_| Fault::execution(format!("{path} is no YAML")))?;
    Ok(document.at("network").and_then(Value::as_map).cloned())
}

fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

/// The items of a list, or the words of a text.
fn words(value: Option<&Value>) -> Vec<String> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::List(items)) => items.iter().map(Value::to_text).collect(),
        Some(text) => {
            let text = text.to_text();
            let words = text.split([',', ' ', '\t', '\n']).filter(|word| !word.is_empty());
            words.map(str::to_owned).collect()
        }
    }
}
