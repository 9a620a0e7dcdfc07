//! `kmod.*`: modules of the kernel.

use halite_core::accounts::tool;
use halite_core::module::{Module, Run, function};
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply, text_file};
use halite_value::record;
use halite_value::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub const MODULE: Module = Module {
    name: "kmod",
    doc: "Modules of the kernel.",
    functions: &[
        function::<Available>("available"),
        function::<CheckAvailable>("check_available"),
        function::<IsLoaded>("is_loaded"),
        function::<Load>("load"),
        function::<Lsmod>("lsmod"),
        function::<ModList>("mod_list"),
        function::<Remove>("remove"),
    ],
};

/// The file with the modules that are loaded at boot.
fn config(ctx: &Ctx) -> &'static str {
    let has_systemd = ctx.grains.contains("systemd");
    if has_systemd { "/etc/modules-load.d/salt_managed.conf" } else { "/etc/modules" }
}

/// All modules that there are, with doubles as they are found.
fn available(ctx: &Ctx) -> Vec<String> {
    let release = ctx.host.kernel_release();
    let directory = Path::new("/lib/modules").join(release);
    let built_in = text_file::read(ctx.host, &directory.join("modules.builtin").to_string_lossy()).unwrap_or_default();
    let base = |line: &str| line.rsplit('/').next().unwrap_or(line).trim_end_matches(".ko").to_owned();
    let mut names: Vec<String> = built_in.lines().map(base).collect();
    let mut todo: Vec<PathBuf> = vec![directory];
    while let Some(directory) = todo.pop() {
        for name in ctx.host.list(&directory).unwrap_or_default() {
            let path = directory.join(&name);
            if ctx.host.stat(&path).is_ok_and(|stat| stat.kind == halite_core::host::FileKind::Directory) {
                todo.push(path);
            } else if let Some(at) = name.find(".ko") {
                names.push(name[..at].replace('-', "_"));
            }
        }
    }
    names.sort();
    names
}

struct Loaded {
    name: String,
    size: String,
    users: String,
    by: Vec<String>,
}

fn loaded(ctx: &Ctx) -> Result<Vec<Loaded>, Fault> {
    let told = Program::new([tool(ctx, "lsmod")?]).query(ctx)?;
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, size, users, rest @ ..] = words.as_slice() else { return None };
        let by = rest.first().map(|by| by.split(',').map(str::to_owned).collect()).unwrap_or_default();
        (*name != "Module").then(|| Loaded {
            name: name.to_string(),
            size: size.to_string(),
            users: users.to_string(),
            by,
        })
    };
    Ok(told.stdout.lines().filter_map(line).collect())
}

/// Those that are loaded at boot.
fn persistent(ctx: &Ctx) -> Result<BTreeSet<String>, Fault> {
    let text = text_file::read(ctx.host, config(ctx))?;
    let names = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    Ok(names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}

record! {
    /// Lists all modules of the kernel that there are.
    ///
    ///   salt '*' kmod.available
    pub struct Available {}
}

impl Run for Available {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(available(ctx)).into())
    }
}

record! {
    /// Shows whether there is a module.
    ///
    ///   salt '*' kmod.check_available kvm
    pub struct CheckAvailable {
        /// Its name.
        r#mod: String,
    }
}

impl Run for CheckAvailable {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(available(ctx).contains(&self.r#mod).into())
    }
}

record! {
    /// Shows the modules that are loaded: name, size, how many use it and which.
    ///
    ///   salt '*' kmod.lsmod
    pub struct Lsmod {}
}

impl Run for Lsmod {
    fn run(self, ctx: &Ctx) -> Reply {
        let shown = loaded(ctx)?.into_iter().map(|module| {
            Map::from_iter([
                ("size", Value::from(module.size)),
                ("module", module.name.into()),
                ("depcount", module.users.into()),
                ("deps", Value::list(module.by)),
            ])
        });
        Ok(Value::list(shown).into())
    }
}

fn names(ctx: &Ctx, only_persist: bool) -> Result<BTreeSet<String>, Fault> {
    match only_persist {
        true => persistent(ctx),
        false => Ok(loaded(ctx)?.into_iter().map(|module| module.name).collect()),
    }
}

record! {
    /// Lists the modules that are loaded.
    ///
    ///   salt '*' kmod.mod_list
    pub struct ModList {
        /// Those that are loaded at boot.
        only_persist: bool = false,
    }
}

impl Run for ModList {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(Value::list(names(ctx, self.only_persist)?).into())
    }
}

record! {
    /// Shows whether a module is loaded.
    ///
    ///   salt '*' kmod.is_loaded kvm
    pub struct IsLoaded {
        /// Its name.
        r#mod: String,
    }
}

impl Run for IsLoaded {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(names(ctx, false)?.contains(&self.r#mod).into())
    }
}

record! {
    /// Loads a module. Returns what was loaded, or what modprobe complains about.
    ///
    ///   salt '*' kmod.load kvm
    pub struct Load {
        /// Its name, with parameters.
        r#mod: String,
        /// Load it at boot too.
        persist: bool = false,
    }
}

impl Run for Load {
    fn run(self, ctx: &Ctx) -> Reply {
        let before = names(ctx, false)?;
        let program = Program::new([tool(ctx, "modprobe")?]).args(self.r#mod.split_whitespace());
        let answer = program.run(ctx)?;
        if !answer.is_success() {
            return Ok(format!("Error loading module {}: {}", self.r#mod, answer.stderr).into());
        }
        let mut new: BTreeSet<String> = names(ctx, false)?.difference(&before).cloned().collect();
        let short = self.r#mod.split_whitespace().next().unwrap_or_default();
        if self.persist && !persistent(ctx)?.contains(short) && available(ctx).iter().any(|known| known == short) {
            let text = text_file::read(ctx.host, config(ctx))?;
            let is_off = |line: &str| line.strip_prefix('#').is_some_and(|rest| rest.trim() == self.r#mod);
            let mut lines: Vec<&str> =
                text.lines().map(|line| if is_off(line) { self.r#mod.as_str() } else { line }).collect();
            if !lines.contains(&self.r#mod.as_str()) {
                lines.push(&self.r#mod);
            }
            text_file::write(ctx.host, config(ctx), &(lines.join("\n") + "\n"))?;
            new.insert(short.to_owned());
        }
        Ok(Value::list(new).into())
    }
}

record! {
    /// Removes a module. Returns what was removed, or what rmmod complains about.
    ///
    ///   salt '*' kmod.remove kvm
    pub struct Remove {
        /// Its name.
        r#mod: String,
        /// Do not load it at boot any more.
        persist: bool = false,
        /// For that put a sign before its line, else remove the line.
        comment: bool = true,
    }
}

impl Run for Remove {
    fn run(self, ctx: &Ctx) -> Reply {
        let before = names(ctx, false)?;
        let answer = Program::new([tool(ctx, "rmmod")?, self.r#mod.clone()]).run(ctx)?;
        if !answer.is_success() {
            return Ok(format!("Error removing module {}: {}", self.r#mod, answer.stderr).into());
        }
        let mut gone: BTreeSet<String> = before.difference(&names(ctx, false)?).cloned().collect();
        let short = self.r#mod.split_whitespace().next().unwrap_or_default();
        if self.persist && persistent(ctx)?.contains(short) {
            let text = text_file::read(ctx.host, config(ctx))?;
            let is_it = |line: &&str| line.split_whitespace().next() == Some(short);
            let lines = text.lines().filter(|line| self.comment || !is_it(line));
            let lines: Vec<String> =
                lines.map(|line| if is_it(&line) { format!("#{line}") } else { line.to_owned() }).collect();
            text_file::write(ctx.host, config(ctx), &(lines.join("\n") + "\n"))?;
            gone.insert(short.to_owned());
        }
        Ok(Value::list(gone).into())
    }
}
