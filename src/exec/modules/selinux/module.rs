//! Modules of SELinux's policy.

use halite_core::module::Run;
use halite_core::program::Program;
use halite_core::{Ctx, Fault, Reply};
use halite_node::fileserver::client::{FileClient, Wanted, saltenv};
use halite_value::record;
use halite_value::{Map, Value};

record! {
    /// Lists the modules of the policy, and whether they are enabled.
    ///
    ///   salt '*' selinux.list_semod
    pub struct ListSemod {}
}

impl Run for ListSemod {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(modules(ctx)?.into())
    }
}

fn modules(ctx: &Ctx) -> Result<Map, Fault> {
    let text = Program::new(["semodule", "--list-modules=full"]).query(ctx)?.stdout;
    let module = |line: &str| {
        // 100 ada               pp disabled
        let words: Vec<&str> = line.split_whitespace().collect();
        let shown = [("Enabled", Value::Bool(words.len() != 4)), ("Version", Value::Null)];
        Some((Value::from(*words.get(1)?), Value::from(Map::from_iter(shown))))
    };
    Ok(text.lines().filter_map(module).collect())
}

record! {
    /// Shows one module of the policy; empty where there is none of that name.
    ///
    ///   salt '*' selinux.getsemod mysql
    pub struct Getsemod {
        /// The module.
        module: String,
    }
}

impl Run for Getsemod {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(modules(ctx)?.remove(self.module.as_str()).unwrap_or_else(|| Map::new().into()).into())
    }
}

record! {
    /// Enables or disables a module of the policy.
    ///
    ///   salt '*' selinux.setsemod nagios Enabled
    pub struct Setsemod {
        /// The module.
        module: String,
        /// enabled or disabled.
        state: String,
    }
}

impl Run for Setsemod {
    fn run(self, ctx: &Ctx) -> Reply {
        match self.state.to_lowercase().as_str() {
            "enabled" => changed(ctx, "--enable", &self.module),
            "disabled" => changed(ctx, "--disable", &self.module),
            _ => Err(Fault::invocation(format!("Invalid state {}", self.state))),
        }
    }
}

record! {
    /// Installs a module of the policy from a file, which may be on the file server.
    ///
    ///   salt '*' selinux.install_semod salt://module.pp
    pub struct InstallSemod {
        /// The file.
        module_path: String,
    }
}

impl Run for InstallSemod {
    fn run(self, ctx: &Ctx) -> Reply {
        let path = match self.module_path.starts_with("salt://") {
            true => {
                let kept =
                    FileClient::new(ctx).cache_file(&self.module_path, &saltenv(ctx, None), &Wanted::default())?;
                kept.ok_or_else(|| Fault::execution(format!("{} is not on the file server", self.module_path)))?
            }
            false => self.module_path,
        };
        changed(ctx, "--install", &path)
    }
}

record! {
    /// Removes a module of the policy.
    ///
    ///   salt '*' selinux.remove_semod module_name
    pub struct RemoveSemod {
        /// The module.
        module: String,
    }
}

impl Run for RemoveSemod {
    fn run(self, ctx: &Ctx) -> Reply {
        changed(ctx, "--remove", &self.module)
    }
}

fn changed(ctx: &Ctx, option: &str, name: &str) -> Reply {
    if name.starts_with('-') {
        return Err(Fault::invocation(format!("'{name}' is not the name of a module")));
    }
    Ok(Program::new(["semodule", option, name]).run(ctx)?.is_success().into())
}
