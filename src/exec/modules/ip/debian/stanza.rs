//! `/etc/network/interfaces`: read into interfaces, and written from them.

use super::options::{self, OPTIONS};
use super::{DIRECTORY, FAMILIES, FILE};
use halite_core::{Ctx, Fault, paths, text_file};
use halite_value::{Map, Value};

/// What the files say of one interface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    /// Comes up when the host boots.
    pub auto: bool,
    /// Comes up when it appears.
    pub hotplug: bool,
    /// Of IP version 4 and 6.
    pub stanzas: [Option<Stanza>; 2],
    /// Other files that are read.
    pub sources: Vec<String>,
    /// The file that names it first.
    pub file: String,
}

/// A stanza `iface`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stanza {
    /// How it gets its address: static, dhcp, ... Without one it is not written.
    pub method: Option<String>,
    /// By the names that [`OPTIONS`] has.
    pub options: Map,
    /// By the words of the file.
    pub ethtool: Map,
    /// Without `bond-` in front.
    pub bonding: Map,
    /// Without `bridge_` in front.
    pub bridging: Map,
}

/// Interfaces by name, in their order. What is read from where is an interface `source`.
#[derive(Debug, Default)]
pub struct Interfaces(pub Vec<(String, Interface)>);

impl Interfaces {
    /// All that the host has files for.
    pub fn read(ctx: &Ctx) -> Result<Interfaces, Fault> {
        let mut files = if paths::is_file(ctx.host, FILE) { vec![FILE.to_owned()] } else { Vec::new() };
        if let Ok(names) = ctx.host.list(std::path::Path::new(DIRECTORY)) {
            files.extend(names.into_iter().map(|name| format!("{DIRECTORY}/{name}")));
        }
        let mut all = Interfaces::default();
        for file in files {
            all.parse(&file, &text_file::read(ctx.host, &file)?)
                .map_err(|what| Fault::invocation(format!("{what} ({file})")))?;
        }
        all.0.retain(|(name, interface)| {
            let is_whole = name == SOURCE || interface.stanzas.iter().any(Option::is_some);
            if !is_whole {
                log::error!("Interface file malformed for interface: {name}.");
            }
            is_whole
        });
        Ok(all)
    }

    pub fn find(&self, name: &str) -> Option<&Interface> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, interface)| interface)
    }

    /// An interface, which is made in a file where there is none of that name.
    pub fn entry(&mut self, name: &str, file: &str) -> &mut Interface {
        let at = self.0.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.0.push((name.to_owned(), Interface { file: file.to_owned(), ..Interface::default() }));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    /// The lines of one of the files.
    pub fn text(&self, file: &str) -> String {
        let own = self.0.iter().filter(|(_, interface)| interface.file == file);
        own.map(|(name, interface)| if name == SOURCE { interface.sources_text() } else { interface.text(name) })
            .collect()
    }

    fn parse(&mut self, file: &str, text: &str) -> Result<(), String> {
        let mut current: Option<(String, usize)> = None;
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(first) = words.first().filter(|word| !word.starts_with('#')) else { continue };
            if line.starts_with(char::is_whitespace) {
                if let Some((name, family)) = &current {
                    let stanza = self.entry(name, file).stanzas[*family].get_or_insert_default();
                    stanza.read(first, line.trim_start().get(first.len()..).unwrap_or_default().trim(), *family)?;
                }
            } else if line.starts_with("iface") {
                let [_, name, family, method] = words.as_slice() else {
                    return Err(format!("Interface file malformed: {}.", Value::list(words).to_text()));
                };
                let Some(family) = FAMILIES.iter().position(|known| known == family) else {
                    return Err(format!("Interface file malformed: {}.", Value::list(words).to_text()));
                };
                self.entry(name, file).stanzas[family].get_or_insert_default().method = Some((*method).to_owned());
                current = Some(((*name).to_owned(), family));
            } else if line.starts_with("auto") {
                words[1..].iter().for_each(|name| self.entry(name, file).auto = true);
            } else if line.starts_with("allow-hotplug") {
                words[1..].iter().for_each(|name| self.entry(name, file).hotplug = true);
            } else if line.starts_with("source") {
                self.entry(SOURCE, file).sources.extend(words.get(1).map(|path| (*path).to_owned()));
            }
        }
        Ok(())
    }
}

/// The name of the interface that other files are kept under.
pub const SOURCE: &str = "source";

/// Words of a network card, which the file has among the others.
const ETHTOOL: [&str; 25] = [
    "link-speed",
    "link-duplex",
    "ethernet-autoneg",
    "ethernet-port",
    "ethernet-wol",
    "driver-message-level",
    "ethernet-pause-rx",
    "ethernet-pause-tx",
    "ethernet-pause-autoneg",
    "offload-rx",
    "offload-tx",
    "offload-sg",
    "offload-tso",
    "offload-ufo",
    "offload-gso",
    "offload-lro",
    "offload-gro",
    "hardware-irq-coalesce-adaptive-rx",
    "hardware-irq-coalesce-adaptive-tx",
    "hardware-irq-coalesce-rx-usecs",
    "hardware-irq-coalesce-rx-frames",
    "hardware-dma-ring-rx",
    "hardware-dma-ring-rx-mini",
    "hardware-dma-ring-rx-jumbo",
    "hardware-dma-ring-tx",
];

impl Stanza {
    fn read(&mut self, word: &str, value: &str, family: usize) -> Result<(), String> {
        if value.is_empty() {
            return Err(format!("Interface file malformed: '{word}' has no value."));
        }
        if let Some(known) = options::find(word) {
            let text = Value::from(value);
            // What is not as it should be is for ifupdown to refuse: it stays.
            let value = known.accepted(&text, family).unwrap_or(text);
            if word == "address" && self.options.contains(word) {
                if let Value::List(more) = self.options.entry_or("addresses", || Value::List(Vec::new())) {
                    more.push(value);
                }
            } else {
                self.options.insert(word, value);
            }
        } else if ETHTOOL.contains(&word) {
            self.ethtool.insert(word, value);
        } else if let Some(name) = word.strip_prefix("bond").and_then(behind_sign) {
            self.bonding.insert(name, value);
        } else if let Some(name) = word.strip_prefix("bridge").and_then(behind_sign) {
            self.bridging.insert(name, value);
        } else {
            let key = format!("{}_cmds", word.replace('-', "_"));
            if options::COMMANDS.contains(&key.as_str())
                && let Value::List(commands) = self.options.entry_or(key, || Value::List(Vec::new()))
            {
                commands.push(value.into());
            }
        }
        Ok(())
    }

    fn write(&self, out: &mut String) {
        for known in OPTIONS {
            match self.options.at(known.name) {
                None | Some(Value::Null | Value::Bool(false)) => {}
                Some(Value::List(items)) if items.is_empty() => {}
                Some(Value::List(items)) if known.name == "dns-nameservers" => {
                    out.push_str(&format!("    {} {}\n", known.word, joined(items)));
                }
                Some(Value::List(items)) => {
                    items.iter().for_each(|item| out.push_str(&format!("    {} {}\n", known.word, item.to_text())));
                }
                Some(value) if value.to_text().is_empty() => {}
                Some(value) => out.push_str(&format!("    {} {}\n", known.word, value.to_text())),
            }
        }
        for (prefix, options) in [("", &self.ethtool), ("bond-", &self.bonding), ("bridge_", &self.bridging)] {
            let mut sorted: Vec<(String, &Value)> =
                options.iter().map(|(name, value)| (name.to_text(), value)).collect();
            sorted.sort_by(|one, other| one.0.cmp(&other.0));
            for (name, value) in sorted {
                let text = match value {
                    Value::List(items) => joined(items),
                    other => other.to_text(),
                };
                out.push_str(&format!("    {prefix}{name} {text}\n"));
            }
        }
    }
}

fn behind_sign(rest: &str) -> Option<&str> {
    rest.strip_prefix(['-', '_'])
}

fn joined(items: &[Value]) -> String {
    items.iter().map(Value::to_text).collect::<Vec<String>>().join(" ")
}

impl Interface {
    /// The lines of the file that say this of an interface.
    pub fn text(&self, name: &str) -> String {
        let mut out = String::new();
        if self.auto {
            out.push_str(&format!("auto {name}\n"));
        }
        if self.hotplug {
            out.push_str(&format!("allow-hotplug {name}\n"));
        }
        for (family, stanza) in FAMILIES.iter().zip(&self.stanzas) {
            let Some(stanza) = stanza else { continue };
            let Some(method) = &stanza.method else { continue };
            out.push_str(&format!("iface {name} {family} {method}\n"));
            stanza.write(&mut out);
        }
        out
    }

    /// The lines that name other files.
    pub fn sources_text(&self) -> String {
        self.sources.iter().map(|path| format!("\nsource {path}\n")).collect()
    }
}
