//! Whether SELinux enforces, and its booleans.

use halite_core::host::FileKind;
use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_value::record;
use halite_value::{Map, Value};
use std::path::Path;

const CONFIG: &str = "/etc/selinux/config";

record! {
    /// Shows where SELinux's file system is mounted; None where it is not.
    ///
    ///   salt '*' selinux.selinux_fs_path
    pub struct SelinuxFsPath {}
}

impl Run for SelinuxFsPath {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(mounted(ctx).map_or(Value::Null, Value::from).into())
    }
}

fn mounted(ctx: &Ctx) -> Option<&'static str> {
    let is_there = |directory: &&str| {
        ctx.host.stat(&Path::new(directory).join("enforce")).is_ok_and(|stat| stat.kind == FileKind::File)
    };
    ["/sys/fs/selinux", "/selinux"].into_iter().find(is_there)
}

record! {
    /// Shows the mode that SELinux is in: Enforcing, Permissive or Disabled.
    ///
    ///   salt '*' selinux.getenforce
    pub struct Getenforce {}
}

impl Run for Getenforce {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(mode(ctx).into())
    }
}

fn mode(ctx: &Ctx) -> &'static str {
    let enforce = mounted(ctx).map(|directory| Path::new(directory).join("enforce"));
    match enforce.and_then(|path| ctx.host.read(&path).ok()) {
        Some(text) if text.trim_ascii() == b"0" => "Permissive",
        Some(_) => "Enforcing",
        None => "Disabled",
    }
}

record! {
    /// Shows the mode that SELinux will be in after a restart; None where nothing is configured.
    ///
    ///   salt '*' selinux.getconfig
    pub struct Getconfig {}
}

impl Run for Getconfig {
    fn run(self, ctx: &Ctx) -> Reply {
        let Ok(bytes) = ctx.host.read(Path::new(CONFIG)) else { return Ok(().into()) };
        let text = String::from_utf8_lossy(&bytes);
        let mode = text.lines().find_map(|line| line.trim().strip_prefix("SELINUX="));
        let capitalized = |mode: &str| {
            let mode = mode.to_lowercase();
            let mut letters = mode.chars();
            letters.next().map(|first| first.to_uppercase().to_string() + letters.as_str()).unwrap_or_default()
        };
        Ok(mode.map_or(Value::Null, |mode| capitalized(mode).trim_start().into()).into())
    }
}

record! {
    /// Sets the mode of SELinux, for now and for the time after a restart, and shows it.
    ///
    ///   salt '*' selinux.setenforce enforcing
    pub struct Setenforce {
        /// enforcing, permissive or disabled.
        mode: Value,
    }
}

impl Run for Setenforce {
    fn run(self, ctx: &Ctx) -> Reply {
        let wanted = self.mode.to_text().to_lowercase();
        let digit = match wanted.as_str() {
            "enforcing" => "1",
            "permissive" | "disabled" => "0",
            _ => return Err(Fault::invocation(format!("Invalid mode {}", self.mode.to_text()))),
        };
        if let Some(directory) = mounted(ctx) {
            // A file of the kernel: it cannot be replaced, only written to.
            ctx.host
                .append(&Path::new(directory).join("enforce"), digit.as_bytes())
                .map_err(|error| Fault::execution(format!("Could not write SELinux enforce file: {error}")))?;
        }
        let read = ctx.host.read(Path::new(CONFIG));
        let bytes = read.map_err(|error| Fault::execution(format!("Could not read SELinux config file: {error}")))?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: String = text
            .split_inclusive('\n')
            .map(|line| if line.starts_with("SELINUX=") { format!("SELINUX={wanted}\n") } else { line.to_owned() })
            .collect();
        ctx.host
            .write(Path::new(CONFIG), lines.as_bytes(), Default::default())
            .map_err(|error| Fault::execution(format!("Could not write SELinux config file: {error}")))?;
        Ok(mode(ctx).into())
    }
}

record! {
    /// Shows the booleans of SELinux: their state, their default and what they are for.
    ///
    ///   salt '*' selinux.list_sebool
    pub struct ListSebool {}
}

impl Run for ListSebool {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(booleans(ctx)?.into())
    }
}

fn booleans(ctx: &Ctx) -> Result<Map, Fault> {
    let text = Program::new(["semanage", "boolean", "--list"]).query(ctx)?.stdout;
    let boolean = |line: &str| {
        // ftp_home_dir                   (off  ,  off)  Allow ftp to read and write files in the user home directories
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, state, _, default, rest @ ..] = words.as_slice() else { return None };
        let shown = [
            ("State", state.trim_start_matches('(').to_owned()),
            ("Default", default.trim_end_matches(')').to_owned()),
            ("Description", rest.join(" ")),
        ];
        Some((Value::from(*name), Value::from(Map::from_iter(shown))))
    };
    Ok(text.lines().skip(1).filter_map(boolean).collect())
}

record! {
    /// Shows one boolean of SELinux; empty where there is none of that name.
    ///
    ///   salt '*' selinux.getsebool virt_use_usb
    pub struct Getsebool {
        /// The boolean.
        boolean: String,
    }
}

impl Run for Getsebool {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(booleans(ctx)?.remove(self.boolean.as_str()).unwrap_or_else(|| Map::new().into()).into())
    }
}

record! {
    /// Sets a boolean of SELinux.
    ///
    ///   salt '*' selinux.setsebool virt_use_usb off
    pub struct Setsebool {
        /// The boolean.
        boolean: String,
        /// on or off, true or false, 1 or 0.
        value: Value,
        /// For the time after a restart too.
        persist: bool = false,
    }
}

impl Run for Setsebool {
    fn run(self, ctx: &Ctx) -> Reply {
        let program = Program::new(["setsebool"]).args(self.persist.then_some("-P"));
        let program = program.args([checked(self.boolean)?, word(&self.value)]);
        Ok(program.run(ctx)?.is_success().into())
    }
}

record! {
    /// Sets some booleans of SELinux.
    ///
    ///   salt '*' selinux.setsebools '{virt_use_usb: on, squid_use_tproxy: off}'
    pub struct Setsebools {
        /// The booleans and their values.
        pairs: Map,
        /// For the time after a restart too.
        persist: bool = false,
    }
}

impl Run for Setsebools {
    fn run(self, ctx: &Ctx) -> Reply {
        let mut program = Program::new(["setsebool"]).args(self.persist.then_some("-P"));
        for (name, value) in self.pairs.iter() {
            program = program.arg(format!("{}={}", checked(name.to_text())?, word(value)));
        }
        Ok(program.run(ctx)?.is_success().into())
    }
}

/// A name must not be taken for an option.
fn checked(name: String) -> Result<String, Fault> {
    match name.starts_with('-') {
        true => Err(Fault::invocation(format!("'{name}' is not the name of a boolean"))),
        false => Ok(name),
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::Bool(true) => "on".to_owned(),
        Value::Bool(false) => "off".to_owned(),
        other => other.to_text(),
    }
}
