//! `sysctl.*`: settings of the kernel.

use halite_core::accounts::tool;
use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, paths, text_file};
use halite_value::record;
use halite_value::{Map, Value};

pub const MODULE: Module = Module {
    name: "sysctl",
    doc: "Settings of the kernel.",
    functions: &[
        function::<Assign>("assign"),
        function::<DefaultConfig>("default_config"),
        function::<Get>("get"),
        function::<Persist>("persist"),
        function::<Show>("show"),
    ],
};

fn default_config(ctx: &Ctx) -> &'static str {
    match paths::exists(ctx.host, "/run/systemd/system") {
        true => "/etc/sysctl.d/99-salt.conf",
        false => "/etc/sysctl.conf",
    }
}

record! {
    /// Shows the file that `sysctl.persist` writes to.
    ///
    ///   salt '*' sysctl.default_config
    pub struct DefaultConfig {}
}

impl Run for DefaultConfig {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(default_config(ctx).into())
    }
}

record! {
    /// Shows all settings: those of the kernel, or those in a file.
    ///
    ///   salt '*' sysctl.show
    ///   salt '*' sysctl.show config_file=/etc/sysctl.conf
    pub struct Show {
        /// The file.
        config_file: Value = false,
    }
}

impl Run for Show {
    fn run(self, ctx: &Ctx) -> Reply {
        if !self.config_file.truthy() {
            let told = Program::new([tool(ctx, "sysctl")?, "-a".to_owned()]).query(ctx)?;
            return Ok(told.stdout.lines().filter_map(|line| line.split_once(" = ")).collect::<Map>().into());
        }
        let path = self.config_file.to_text();
        if !paths::exists(ctx.host, &path) {
            return Ok(Value::List(Vec::new()).into());
        }
        let text = text_file::read(ctx.host, &path)?;
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        let set = lines.filter_map(|line| line.split_once('='));
        Ok(set.map(|(name, value)| (name.trim_end(), value.trim_start())).collect::<Map>().into())
    }
}

fn get(ctx: &Ctx, name: &str) -> Result<String, Fault> {
    Ok(Program::new([tool(ctx, "sysctl")?]).args(["-n", name]).mixed().query(ctx)?.stdout)
}

record! {
    /// Shows a setting.
    ///
    ///   salt '*' sysctl.get net.ipv4.ip_forward
    pub struct Get {
        /// Its name.
        name: String,
    }
}

impl Run for Get {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(get(ctx, &self.name)?.into())
    }
}

record! {
    /// Sets something until the next boot.
    ///
    ///   salt '*' sysctl.assign net.ipv4.ip_forward 1
    pub struct Assign {
        /// The name of the setting.
        name: String,
        /// Its value.
        value: Value,
    }
}

impl Run for Assign {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(assign(ctx, &self.name, &self.value.to_text())?.into())
    }
}

fn assign(ctx: &Ctx, name: &str, value: &str) -> Result<Map, Fault> {
    let swap = |c: char| match c {
        '.' => '/',
        '/' => '.',
        c => c,
    };
    let file = format!("/proc/sys/{}", name.chars().map(swap).collect::<String>());
    if name.contains("..") || !paths::exists(ctx.host, &file) {
        return Err(Fault::execution(format!("sysctl {name} does not exist")));
    }
    let answer = Program::new([tool(ctx, "sysctl")?]).args(["-w".to_owned(), format!("{name}={value}")]).run(ctx)?;
    let is_set = answer.stdout.split_once(" = ").is_some_and(|(own, set)| own == name && set == value);
    if !is_set || answer.stderr.contains("Invalid argument") {
        let complaint = if !answer.is_success() && !answer.stderr.is_empty() { &answer.stderr } else { &answer.stdout };
        return Err(Fault::execution(format!("sysctl -w failed: {complaint}")));
    }
    Ok(Map::from_iter([(name, value)]))
}

record! {
    /// Sets something now and at each boot. Returns `Updated` or `Already set`.
    ///
    ///   salt '*' sysctl.persist net.ipv4.ip_forward 1
    pub struct Persist {
        /// The name of the setting.
        name: String,
        /// Its value.
        value: Value,
        /// The file.
        config: Option<String> = (),
    }
}

impl Run for Persist {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = self.config.unwrap_or_else(|| default_config(ctx).to_owned());
        let value = self.value.to_text();
        let same = |a: &str, b: &str| a.split_whitespace().eq(b.split_whitespace());
        let mut text = match paths::is_file(ctx.host, &path) {
            true => text_file::read(ctx.host, &path)?,
            false => "#\n# Kernel sysctl configuration\n#\n".to_owned(),
        };
        let line = format!("{} = {value}\n", self.name);
        let mut found = false;
        let mut new = String::new();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        for old in text.split_inclusive('\n') {
            match old.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
                Some((name, set)) if name == self.name => {
                    if same(set, &value) {
                        if same(&get(ctx, &self.name)?, &value) {
                            return Ok("Already set".into());
                        }
                        assign(ctx, &self.name, &value)?;
                        return Ok("Updated".into());
                    }
                    new.push_str(&line);
                    found = true;
                }
                _ => new.push_str(old),
            }
        }
        if !found {
            new.push_str(&line);
        }
        text_file::write(ctx.host, &path, &new)?;
        assign(ctx, &self.name, &value)?;
        Ok("Updated".into())
    }
}
