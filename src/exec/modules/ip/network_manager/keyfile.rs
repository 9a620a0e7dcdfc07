//! The keyfile of a connection: sections of names and values.

use super::super::{lines_of, write};
use halite_core::{Ctx, Fault};
use halite_lang::{digest, ini};

/// The name space of the UUIDs that Salt gives its connections.
const NAMESPACE: [u8; 16] =
    [0x6f, 0x7a, 0x2c, 0x1e, 0x3b, 0x4d, 0x5e, 0x6f, 0x8a, 0x9b, 0x0c, 0x1d, 0x2e, 0x3f, 0x4a, 0x5b];

/// A section, with its entries in their order.
#[derive(Debug)]
pub struct Section {
    pub name: &'static str,
    entries: Vec<(String, String)>,
}

impl Section {
    pub fn new(name: &'static str) -> Section {
        Section { name, entries: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn add(&mut self, name: impl Into<String>, value: impl ToString) {
        self.entries.push((name.into(), value.to_string()));
    }

    /// Adds values under a name with a number: `route1`, `route2`, ...
    pub fn number(&mut self, name: &str, values: &[String]) {
        for (at, value) in (1..).zip(values) {
            self.add(format!("{name}{at}"), value);
        }
    }

    /// The lines, and an empty one behind them.
    fn lines(&self) -> Result<Vec<String>, Fault> {
        let mut lines = vec![ini::header_line(self.name)];
        for (name, value) in &self.entries {
            if value.contains(['\n', '\r', '\0']) {
                return Err(Fault::execution(format!("the value of {name} in [{}] is more than a line", self.name)));
            }
            lines.push(ini::setting_lines(name, "=", value, ""));
        }
        lines.push("\n".to_owned());
        Ok(lines)
    }
}

/// The lines of some sections.
pub fn lines(sections: &[Section]) -> Result<Vec<String>, Fault> {
    let mut all = Vec::new();
    for section in sections {
        all.extend(section.lines()?);
    }
    Ok(all)
}

/// An interface has the same UUID each time.
pub fn uuid(iface: &str) -> String {
    digest::uuid(NAMESPACE, &format!("salt-{iface}"))
}

pub fn path(iface: &str) -> String {
    format!("/etc/NetworkManager/system-connections/{iface}.nmconnection")
}

/// The lines of the keyfile of an interface, where there is one.
pub fn read(ctx: &Ctx, iface: &str) -> Option<Vec<String>> {
    lines_of(ctx, &path(iface))
}

/// Writes the keyfile of an interface. NetworkManager takes none that others can read.
pub fn save(ctx: &Ctx, iface: &str, lines: &[String]) -> Result<(), Fault> {
    write(ctx, &path(iface), &lines.concat(), Some(0o600))
}

/// The name of the section that begins with a line.
pub fn section_of(line: &str) -> Option<&str> {
    ini::section_of(line, ini::Header::AtEndOfLine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_bring_lines_of_its_own() {
        let mut section = Section::new("ethernet");
        section.number("route", &["10.0.0.0/8".to_owned(), "fd00::/8".to_owned()]);
        let all = lines(&[section]).unwrap();
        assert_eq!(all, ["[ethernet]\n", "route1=10.0.0.0/8\n", "route2=fd00::/8\n", "\n"]);
        let mut section = Section::new("ethernet");
        section.add("mac-address", "x\n[vpn]");
        assert!(lines(&[section]).unwrap_err().to_string().contains("mac-address"));
        assert_eq!(
            (section_of("[ipv4]\n"), section_of(" [ipv6] "), section_of("a=[b]")),
            (Some("ipv4"), Some("ipv6"), None)
        );
    }
}
